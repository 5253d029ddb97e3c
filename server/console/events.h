/*
 * events - the requests of the API as they are answered, for those who watch: server-sent events at
 * GET /_dynalith/events.
 *
 * While somebody watches, the latest requests are kept with their bodies, up to a number and to a
 * size. Each watcher goes through them at its own speed. One that is too slow loses the oldest, and
 * gets to know how many.
 *
 * While nobody watches, a few of the latest are kept for those who come afterwards (enum
 * events_past): usually those that were refused, so that an answer of success costs one look at a
 * counter and at its status.
 *
 * An event is a line of JSON. It has the bodies with their values masked (masked.h), as they are,
 * or not at all, as the watcher asked. Thread-safe.
 */
#ifndef DYNALITH_SERVER_EVENTS_H
#define DYNALITH_SERVER_EVENTS_H

#include <stdatomic.h>

#include "protocol/faults/reply.h"
#include "server/http/http.h"
#include "storage/cost.h"

#define EVENTS_WATCHERS_MAX 32

#define EVENTS_PAST_MAX 1024 /* that a watcher may ask for */

struct event_ring;
struct event;

/* What is kept while nobody watches. */
enum events_past { EVENTS_PAST_NONE, EVENTS_PAST_REFUSED, EVENTS_PAST_ALL };

struct events {
	atomic_uint watchers;
	enum events_past past;
	struct event_ring *ring;
	void (*observe)(void *context,
			const struct event *event); /* gets each as it happens; or NULL */
	void *context;
};

/* A request that was answered. All of it is copied. */
struct event {
	struct ns ns;
	int64_t time_ms;    /* when it was answered, by the machine's clock */
	uint64_t took_ns;
	struct str id, operation, caller; /* operation, caller: or empty */
	int status;
	struct str error;   /* its name, or empty */
	struct units consumed;
	struct fault_reply fault;
	struct str request, response;
	bool is_unseen; /* of the console: those who watch meanwhile get it, others do not */
};

enum event_bodies { EVENT_BODIES_MASKED, EVENT_BODIES_OPEN, EVENT_BODIES_NONE };

struct events *events_new(enum events_past past);
/* When nobody watches any more. NULL is fine. */
void events_free(struct events *events);

static inline bool events_are_watched(const struct events *events)
{
	return atomic_load_explicit(&events->watchers, memory_order_relaxed) > 0;
}

/* Whether a request with that answer is kept though nobody watches. */
static inline bool events_keep_past(const struct events *events, int status, bool is_unseen)
{
	return !is_unseen && (events->past == EVENTS_PAST_ALL ||
			      (events->past == EVENTS_PAST_REFUSED && status >= 400));
}

/* Whether events_note() has a use for it. */
static inline bool events_want(const struct events *events, int status, bool is_unseen)
{
	return events_are_watched(events) || events_keep_past(events, status, is_unseen);
}

/* From now on, before anybody asks: it counts as a watcher. Unseen events are left out. */
void events_observe(struct events *events,
		    void (*observe)(void *context, const struct event *event), void *context);

void events_note(struct events *events, const struct event *event);

/* What is answered from now on, of one namespace, or of all (NULL); before that, those of the last
 * `past` requests that are still kept, which say so. NULL where EVENTS_WATCHERS_MAX watch. */
struct http_stream *events_watch(struct events *events, const struct ns *ns,
				 enum event_bodies bodies, unsigned past);

#endif
