#include "server/write_turn.h"

#include <pthread.h>
#include <stdbool.h>

#include "server/log.h"
#include "storage/monotonic.h"

static struct {
	pthread_mutex_t mutex; /* of what follows */
	pthread_cond_t cond;
	bool is_taken;
	bool is_reserved;      /* for a thread that waits already */
	unsigned waiting;      /* threads */
} turn = {.mutex = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};

#define RUN_LEAST 3
#define RUN_UNIT 64 /* own.usual counts in such parts */

static pthread_key_t ends;

static _Thread_local struct {
	bool is_open;      /* the turn of events has several */
	bool is_known;     /* this thread's end lets go */
	bool has_turn;
	bool has_group;
	struct store *store; /* in which it had a group last; or NULL */
	size_t bytes;      /* written since */
	unsigned run;      /* small writes since the turn began or a request of another kind came */
	unsigned usual;    /* the mean length of the last runs */
	uint64_t since_ns; /* when it asked for the lock */
	uint64_t locked_ns; /* in this turn */
} own = {.usual = 4 * RUN_LEAST * RUN_UNIT};

uint64_t write_turn_seen(void)
{
	return own.store ? store_group_seen(own.store) : 0;
}

/* The requests that an error is about get errors of their own: this line says why. */
static void end_group(enum code (*end)(struct store *store, struct err *err))
{
	struct arena *arena = arena_new(0);
	struct err err = err_in(arena);

	if (end(own.store, &err) != OK)
		log_line(LOG_ERROR, "writes that were to be committed together are lost: " STR_FMT, STR_ARG(err.message));
	arena_free(arena);
}

bool write_turn_commit(uint64_t group)
{
	if (group == 0)
		return true;
	if (store_group_pending(own.store) == group)
		end_group(store_group_commit);
	return !store_group_is_lost(own.store, group);
}

bool write_turn_commit_seen(void)
{
	return write_turn_commit(write_turn_seen());
}

static void take(struct store *store)
{
	bool has_waited = false;

	own.since_ns = monotonic_ns();
	pthread_mutex_lock(&turn.mutex);
	while (turn.is_taken || (turn.is_reserved && !has_waited)) {
		turn.waiting++;
		pthread_cond_wait(&turn.cond, &turn.mutex);
		turn.waiting--;
		has_waited = true;
	}
	turn.is_taken = true;
	turn.is_reserved = false;
	pthread_mutex_unlock(&turn.mutex);
	own.has_turn = true;
	own.bytes = 0;
	own.has_group = store && store_group_open(store);
	if (own.has_group)
		own.store = store;
}

/* A thread that asks for it again at once would be the first, while those that wait are only woken: so it can be kept for these. */
static void let_go(bool is_for_others)
{
	if (!own.has_turn)
		return;
	if (own.has_group)
		end_group(store_group_close);
	own.has_group = false;
	own.has_turn = false;
	pthread_mutex_lock(&turn.mutex);
	bool is_awaited = turn.waiting > 0;
	turn.is_taken = false;
	turn.is_reserved = is_for_others && is_awaited;
	pthread_mutex_unlock(&turn.mutex);
	if (is_awaited)
		pthread_cond_signal(&turn.cond);
	own.locked_ns += monotonic_ns() - own.since_ns;
}

/* libmicrohttpd's threads end without a last wait for events. */
static void end_thread(void *unused)
{
	(void)unused;
	(void)write_turn_end();
}

static void make_key(void)
{
	pthread_key_create(&ends, end_thread);
}

static void know_thread(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_key);
	own.is_known = pthread_setspecific(ends, &own) == 0;
}

static void end_run(void)
{
	if (own.run > 0)
		own.usual += own.run * (RUN_UNIT / 8) - own.usual / 8;
	own.run = 0;
}

void write_turn_begin(int events)
{
	own.is_open = events > 1;
}

uint64_t write_turn_end(void)
{
	let_go(true);
	end_run();
	own.is_open = false;
	uint64_t locked_ns = own.locked_ns;
	own.locked_ns = 0;
	return locked_ns;
}

void write_turn_next(size_t bytes, struct store *store)
{
	if (bytes == 0 || own.bytes >= WRITE_TURN_BYTES)
		let_go(bytes > 0);
	if (bytes == 0)
		end_run();
	if (bytes == 0 || !own.is_open)
		return;
	own.run++;
	if (own.usual < RUN_LEAST * RUN_UNIT)
		return;
	if (!own.is_known)
		know_thread();
	if (!own.has_turn && own.is_known)
		take(store);
	own.bytes += bytes;
}
