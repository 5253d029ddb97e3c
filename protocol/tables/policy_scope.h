/*
 * policy_scope - what the statements of a resource policy may be about: the actions and resources of a table, or of a stream.
 */
#ifndef DYNALITH_PROTOCOL_POLICY_SCOPE_H
#define DYNALITH_PROTOCOL_POLICY_SCOPE_H

#include "core/arena.h"
#include "core/err.h"
#include "protocol/wire/json.h"

/* One statement, an object. Actions of other services pass: AWS's words about them are not known. */
enum code policy_scope_check(struct arena *arena, const struct json *statement, bool is_stream, struct err *err) WARN_UNUSED;

#endif
