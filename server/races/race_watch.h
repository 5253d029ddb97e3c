/*
 * race_watch - attributes that only rise, as versions do. Behind each write that names a watched
 * table all of its items are read, and held against those behind the write before: an item that was
 * changed has a greater number, or text, there. An item that is new, or comes again after it was
 * deleted, may begin anywhere, and where it has no such attribute nothing is said until it has.
 *
 * It asks as the client of the write would. Thread-safe.
 */
#ifndef DYNALITH_SERVER_RACE_WATCH_H
#define DYNALITH_SERVER_RACE_WATCH_H

#include "server/http/http.h"
#include "server/races/race_trace.h"

struct race_watch;

struct race_watch_server {
	http_handler *handler; /* of the routes, */
	void *context;         /* with its context */
	bool (*is_held)(const void *hold);
};

struct race_watch *race_watch_new(const struct race_watch_server *server);
void race_watch_free(struct race_watch *watch);

/* `table` and `attribute` outlive the watch. */
void race_watch_add(struct race_watch *watch, struct str table, struct str attribute);

/* Behind a write that was done; `number` is its own in the trace. */
void race_watch_look(struct race_watch *watch, const struct http_request *request,
		     const struct race_request *about, size_t number);

/* The first time that it did not rise: behind which request, and how, in the arena. False: it
 * always did. */
bool race_watch_has_fallen(struct race_watch *watch, struct str table, struct str attribute,
			   struct arena *arena, size_t *number, struct str *how);

#endif
