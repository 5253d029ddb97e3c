/*
 * rotate - POST /_dynalith/streams/rotate?table=NAME: closes the open shard of a table's stream and
 * opens a child, as AWS does every few hours, so that a test sees whether its poller follows.
 */
#ifndef DYNALITH_SERVER_ROTATE_H
#define DYNALITH_SERVER_ROTATE_H

#include "protocol/op.h"

/*
 * Rotates the streams of the tables of that name: in a namespace, or, where `ns` is NULL, in every
 * one. *rotated is how many. ERR_RESOURCE_NOT_FOUND where none has an enabled stream.
 */
enum code rotate_streams(struct service *service, const struct ns *ns, struct str table_name,
			 size_t *rotated, struct err *err) WARN_UNUSED;

#endif
