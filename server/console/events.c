#include "server/console/events.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/utf8.h"
#include "server/console/masked.h"
#include "storage/monotonic.h"

#define KEPT EVENTS_PAST_MAX
#define QUIET_MS                                                                                   \
	10000 /* after which a watcher gets an empty line, so that a client that has gone is       \
		 noticed */
#define ARENA_KEEP 65536

/* How much is kept. Larger bodies are not: the event says how large they are. The latest event is
 * kept however large. */
struct limits {
	uint64_t events;
	size_t bytes, body;
};

static const struct limits while_watched = {KEPT, 8 * 1024 * 1024, 64 * 1024},
			   while_alone = {256, 1024 * 1024, 8 * 1024}, nothing = {0, 0, 0};

/* One block of memory: the texts lie behind it. */
struct entry {
	unsigned references; /* of the ring and of watchers; under the ring's mutex */
	size_t size;
	size_t request_size, response_size; /* as they were */
	struct event event;
};

struct event_ring {
	pthread_mutex_t mutex; /* of all below */
	uint64_t first, next;  /* numbers of the oldest that is kept, and of the one to come */
	size_t bytes;
	struct entry *kept[KEPT]; /* by number */
};

struct watcher {
	struct http_stream stream; /* first */
	struct events *events;
	struct arena *arena;
	bool is_of_one;
	struct str account, region;
	enum event_bodies bodies;
	uint64_t next;         /* the number that it has not seen */
	uint64_t came;         /* what has a lower one was answered before */
	struct str pending;    /* text that had no room yet, in the arena */
	int64_t spoke_ms;
};

struct events *events_new(enum events_past past)
{
	struct events *events = arena_checked(calloc(1, sizeof(*events)));

	events->past = past;
	events->ring = arena_checked(calloc(1, sizeof(*events->ring)));
	pthread_mutex_init(&events->ring->mutex, NULL);
	return events;
}

static void unref(struct entry *entry)
{
	if (--entry->references == 0)
		free(entry);
}

static void drop_first(struct event_ring *ring)
{
	struct entry *entry = ring->kept[ring->first++ % KEPT];

	ring->bytes -= entry->size;
	unref(entry);
}

/* Makes room for `more` events of `bytes` in all. */
static void drop_beyond(struct event_ring *ring, const struct limits *limits, uint64_t more,
			size_t bytes)
{
	while (ring->first < ring->next && (ring->next - ring->first + more > limits->events ||
					    ring->bytes + bytes > limits->bytes))
		drop_first(ring);
}

void events_free(struct events *events)
{
	if (!events)
		return;
	drop_beyond(events->ring, &nothing, 0, 0);
	pthread_mutex_destroy(&events->ring->mutex);
	free(events->ring);
	free(events);
}

/* The text's copy at *at, which moves on. */
static struct str put(char **at, struct str text)
{
	struct str copy = {*at, text.n};

	if (text.n > 0)
		memcpy(*at, text.p, text.n);
	*at += text.n;
	return copy;
}

static struct str body_of(struct str body, const struct limits *limits)
{
	return body.n > limits->body ? STR("") : body;
}

static struct entry *entry_of(const struct event *event, const struct limits *limits)
{
	struct str request = body_of(event->request, limits),
		   response = body_of(event->response, limits);
	size_t size = sizeof(struct entry) + event->ns.account.n + event->ns.region.n +
		      event->id.n + event->operation.n + event->caller.n + event->error.n +
		      request.n + response.n;
	struct entry *entry = arena_checked(malloc(size));
	char *at = (char *)(entry + 1);

	*entry = (struct entry){.references = 1,
				.size = size,
				.request_size = event->request.n,
				.response_size = event->response.n,
				.event = *event};
	entry->event.ns.account = put(&at, event->ns.account);
	entry->event.ns.region = put(&at, event->ns.region);
	entry->event.id = put(&at, event->id);
	entry->event.operation = put(&at, event->operation);
	entry->event.caller = put(&at, event->caller);
	entry->event.error = put(&at, event->error);
	entry->event.request = put(&at, request);
	entry->event.response = put(&at, response);
	return entry;
}

void events_observe(struct events *events,
		    void (*observe)(void *context, const struct event *event), void *context)
{
	events->observe = observe;
	events->context = context;
	atomic_fetch_add(&events->watchers, 1);
}

/* Whether somebody watches who is not the observer. */
static bool has_watchers(const struct events *events)
{
	return atomic_load(&events->watchers) > (events->observe ? 1 : 0);
}

void events_note(struct events *events, const struct event *event)
{
	struct event_ring *ring = events->ring;
	bool is_watched = has_watchers(events);
	const struct limits *limits = is_watched ? &while_watched : &while_alone;

	if (events->observe && !event->is_unseen)
		events->observe(events->context, event);
	if (!is_watched && !events_keep_past(events, event->status, event->is_unseen))
		return;
	struct entry *entry = entry_of(event, limits);
	pthread_mutex_lock(&ring->mutex);
	drop_beyond(ring, limits, 1, entry->size);
	ring->kept[ring->next++ % KEPT] = entry;
	ring->bytes += entry->size;
	pthread_mutex_unlock(&ring->mutex);
}

static bool concerns(const struct watcher *watcher, const struct entry *entry)
{
	return !watcher->is_of_one || (str_eq(watcher->account, entry->event.ns.account) &&
				       str_eq(watcher->region, entry->event.ns.region));
}

/* The next one for the watcher, with a reference; NULL: none is there. *lost are those that are
 * gone. */
static struct entry *take_event(struct watcher *watcher, uint64_t *lost, bool *is_past)
{
	struct event_ring *ring = watcher->events->ring;
	struct entry *found = NULL;

	pthread_mutex_lock(&ring->mutex);
	*lost = watcher->next < ring->first ? ring->first - watcher->next : 0;
	watcher->next += *lost;
	while (!found && watcher->next < ring->next) {
		struct entry *entry = ring->kept[watcher->next++ % KEPT];

		found = concerns(watcher, entry) ? entry : NULL;
	}
	*is_past = watcher->next <= watcher->came;
	if (found)
		found->references++;
	pthread_mutex_unlock(&ring->mutex);
	return found;
}

static void give_back(struct watcher *watcher, struct entry *entry)
{
	struct event_ring *ring = watcher->events->ring;

	pthread_mutex_lock(&ring->mutex);
	unref(entry);
	pthread_mutex_unlock(&ring->mutex);
}

/* Bodies as they are go as texts: what a client sent need not be JSON. */
static void write_bodies(const struct watcher *watcher, struct json_out *out,
			 const struct entry *entry)
{
	struct arena *arena = watcher->arena;
	bool is_masked = watcher->bodies == EVENT_BODIES_MASKED,
	     has_request = entry->event.request.n == entry->request_size,
	     has_response = entry->event.response.n == entry->response_size;

	json_out_name(out, STR("request"));
	if (watcher->bodies == EVENT_BODIES_NONE || !has_request)
		json_out_null(out);
	else if (is_masked)
		masked_write(out, arena, entry->event.request);
	else
		json_out_string(out, utf8_printable(arena, entry->event.request));
	json_out_name(out, STR("response"));
	if (watcher->bodies == EVENT_BODIES_NONE || !has_response)
		json_out_null(out);
	else if (is_masked)
		masked_write_answer(out, arena, has_request ? entry->event.request : STR_ABSENT,
				    entry->event.response);
	else
		json_out_string(out, utf8_printable(arena, entry->event.response));
}

static void write_fault(struct json_out *out, const struct fault_reply *fault)
{
	json_out_name(out, STR("fault"));
	json_out_open(out, '{');
	if (fault->rule)
		json_out_field_integer(out, "rule", fault->rule);
	json_out_field_integer(out, "delayMs", (int64_t)fault->delay_ms);
	json_out_field_boolean(out, "isDropped", fault->is_dropped);
	json_out_field_boolean(out, "isCrcWrong", fault->is_crc_wrong);
	json_out_field_integer(out, "pieceBytes", fault->piece_bytes);
	json_out_close(out, '}');
}

static bool is_faulty(const struct fault_reply *fault)
{
	return fault->rule || fault->delay_ms || fault->is_dropped || fault->is_crc_wrong ||
	       fault->piece_bytes;
}

static struct str describe_event(const struct watcher *watcher, const struct entry *entry,
				 uint64_t lost, bool is_past)
{
	const struct event *event = &entry->event;
	struct json_out out = json_out_in(watcher->arena);

	json_out_open(&out, '{');
	json_out_field_string(&out, "id", event->id);
	json_out_name(&out, STR("time"));
	json_out_time_ms(&out, event->time_ms);
	json_out_field_string(&out, "account", event->ns.account);
	json_out_field_string(&out, "region", event->ns.region);
	json_out_field_string(&out, "operation", event->operation);
	json_out_field_string(&out, "caller", event->caller);
	json_out_field_integer(&out, "status", event->status);
	json_out_field_string(&out, "error", event->error);
	json_out_name(&out, STR("ms"));
	json_out_double(&out, (double)event->took_ns / 1e6);
	json_out_name(&out, STR("readUnits"));
	json_out_units(&out, event->consumed.read);
	json_out_name(&out, STR("writeUnits"));
	json_out_units(&out, event->consumed.write);
	if (is_faulty(&event->fault))
		write_fault(&out, &event->fault);
	if (is_past)
		json_out_field_boolean(&out, "isPast", true);
	json_out_field_integer(&out, "requestBytes", (int64_t)entry->request_size);
	json_out_field_integer(&out, "responseBytes", (int64_t)entry->response_size);
	write_bodies(watcher, &out, entry);
	json_out_field_integer(&out, "lost", (int64_t)lost);
	json_out_close(&out, '}');
	return str_printf(watcher->arena, "data: " STR_FMT "\n\n", STR_ARG(json_out_str(&out)));
}

/* Sets the text that comes next, or none. */
static void find_next_event(struct watcher *watcher)
{
	int64_t now_ms = monotonic_ms();
	uint64_t lost;
	bool is_past;
	struct entry *entry = take_event(watcher, &lost, &is_past);

	arena_reset(watcher->arena);
	if (entry) {
		watcher->pending = describe_event(watcher, entry, lost, is_past);
		give_back(watcher, entry);
	} else if (now_ms - watcher->spoke_ms >= QUIET_MS) {
		watcher->pending = STR(":\n\n");
	}
	if (watcher->pending.n)
		watcher->spoke_ms = now_ms;
}

static size_t read_events(struct http_stream *stream, char *to, size_t room)
{
	struct watcher *watcher = (struct watcher *)stream;
	size_t n = 0;

	while (n < room) {
		if (watcher->pending.n == 0)
			find_next_event(watcher);
		if (watcher->pending.n == 0)
			break;
		size_t part = watcher->pending.n < room - n ? watcher->pending.n : room - n;
		memcpy(to + n, watcher->pending.p, part);
		watcher->pending =
			(struct str){watcher->pending.p + part, watcher->pending.n - part};
		n += part;
	}
	return n;
}

static void free_watcher(struct watcher *watcher)
{
	arena_free(watcher->arena);
	free((char *)(uintptr_t)watcher->account.p);
	free(watcher);
}

/* With the last watcher goes what is kept for those who watch. */
static void end_watch(struct http_stream *stream)
{
	struct watcher *watcher = (struct watcher *)stream;
	struct event_ring *ring = watcher->events->ring;

	pthread_mutex_lock(&ring->mutex);
	atomic_fetch_sub(&watcher->events->watchers, 1);
	if (!has_watchers(watcher->events))
		drop_beyond(ring,
			    watcher->events->past == EVENTS_PAST_NONE ? &nothing : &while_alone, 0,
			    0);
	pthread_mutex_unlock(&ring->mutex);
	free_watcher(watcher);
}

/* Account and region in one block. */
static void keep_namespace(struct watcher *watcher, const struct ns *ns)
{
	char *at = arena_checked(malloc(ns->account.n + ns->region.n + 1));

	watcher->is_of_one = true;
	watcher->account = put(&at, ns->account);
	watcher->region = put(&at, ns->region);
}

struct http_stream *events_watch(struct events *events, const struct ns *ns,
				 enum event_bodies bodies, unsigned past)
{
	struct watcher *watcher = arena_checked(calloc(1, sizeof(*watcher)));
	struct event_ring *ring = events->ring;

	watcher->stream = (struct http_stream){read_events, end_watch};
	watcher->events = events;
	watcher->arena = arena_new(ARENA_KEEP);
	watcher->bodies = bodies;
	watcher->spoke_ms = monotonic_ms();
	watcher->pending = STR("retry: 1000\n\n"); /* so that the head is sent now */
	if (ns)
		keep_namespace(watcher, ns);
	pthread_mutex_lock(&ring->mutex);
	bool is_in = atomic_load(&events->watchers) < EVENTS_WATCHERS_MAX;
	if (is_in)
		atomic_fetch_add(&events->watchers, 1);
	watcher->came = ring->next;
	watcher->next =
		ring->next - (past < ring->next - ring->first ? past : ring->next - ring->first);
	pthread_mutex_unlock(&ring->mutex);
	if (is_in)
		return &watcher->stream;
	free_watcher(watcher);
	return NULL;
}
