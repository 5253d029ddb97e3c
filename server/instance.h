/*
 * instance - a server without its front end: the store, the catalog, work in the background and the
 * routes that answer requests.
 *
 * `dynalith` puts HTTP before it (main), libdynalith calls its routes (library/). It installs no
 * signal handlers and prints nothing but lines of the log, and a process may have several.
 */
#ifndef DYNALITH_SERVER_INSTANCE_H
#define DYNALITH_SERVER_INSTANCE_H

#include "core/arena.h"
#include "core/err.h"
#include "server/start/config.h"
#include "server/http/http.h"
#include "server/routes.h"

struct instance;

/*
 * Opens the store that the options name and fills it as --init says. The arena and the options must
 * outlive the instance. On failure nothing is left of it, and the error's message names the option
 * or the file.
 */
enum code instance_open(struct arena *arena, const struct config *config, struct instance **out,
			struct err *err) WARN_UNUSED;

/* Starts the threads for the background, where they do not run yet. Requests may be under way: none
 * waits for these threads to come up. */
enum code instance_start(struct instance *instance, struct err *err) WARN_UNUSED;

/*
 * Where the host has no threads (platform_has_threads), instance_start() starts none, and this does
 * the background's work: a piece of what is due. Returns the ms until more is due, 500 at most.
 */
int64_t instance_tick(struct instance *instance);

/* Stops the threads, writes the reports that the options ask for, closes the store. No request may
 * be under way. NULL is fine. */
void instance_close(struct instance *instance);

/* What http_options.handler takes as its context. */
struct routes *instance_routes(struct instance *instance);

/* The limits and gauges of requests, which the routes use. The front end sets all that is its own
 * before the first request. */
struct http_options *instance_limits(struct instance *instance);

/* How many requests are worked on at a time. */
unsigned instance_workers(const struct config *config);

#endif
