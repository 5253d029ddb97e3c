/*
 * front - what the options say of the HTTP front end: where it listens, its threads, its limits.
 */
#ifndef DYNALITH_SERVER_FRONT_H
#define DYNALITH_SERVER_FRONT_H

#include "server/http/http.h"
#include "server/start/config.h"

struct tls_context;

/* Adds it to the instance's limits (instance_limits). `certificate` may be NULL. Warns where the
 * limit of open files leaves room for fewer connections than the options want. */
void front_set(struct http_options *http, const struct config *config,
	       struct tls_context *certificate);

#endif
