/*
 * events - the requests of the API as they are answered, for those who watch: server-sent events at
 * GET /_dynalith/events.
 *
 * While nobody watches, a request costs one look at a counter, and nothing is kept. While somebody
 * does, the latest requests are kept with their bodies, up to a number and to a size. Each watcher
 * goes through them at its own speed. One that is too slow loses the oldest, and gets to know how
 * many.
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

struct event_ring;
struct event;

struct events {
	atomic_uint watchers;
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
	bool is_unseen;     /* of the console: watchers get it, events_observe() does not */
};

enum event_bodies { EVENT_BODIES_MASKED, EVENT_BODIES_OPEN, EVENT_BODIES_NONE };

struct events *events_new(void);
/* When nobody watches any more. NULL is fine. */
void events_free(struct events *events);

static inline bool events_are_watched(const struct events *events)
{
	return atomic_load_explicit(&events->watchers, memory_order_relaxed) > 0;
}

/* From now on, before anybody asks: it counts as a watcher. Unseen events are left out. */
void events_observe(struct events *events,
		    void (*observe)(void *context, const struct event *event), void *context);

void events_note(struct events *events, const struct event *event);

/* What is answered from now on, of one namespace, or of all (NULL). NULL where EVENTS_WATCHERS_MAX
 * watch already. */
struct http_stream *events_watch(struct events *events, const struct ns *ns,
				 enum event_bodies bodies);

#endif
