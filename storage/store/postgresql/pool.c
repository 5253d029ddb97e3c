#include "storage/store/postgresql/pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "storage/monotonic.h"
#include "storage/store/postgresql/reason.h"

#define FIRST_PAUSE_MS 50
#define LAST_PAUSE_MS 3000
#define OPENED_MAX 8 /* at a time, for those who do not wait */

struct pool {
	const struct link_options *options;
	struct link_counts counts;
	pthread_mutex_t mutex;  /* of all that follows */
	pthread_cond_t given;
	struct link *links;
	unsigned n;
	struct link *free;
	unsigned missed;        /* times that none was open */
	unsigned failures;      /* to connect, one after another */
	int64_t due_ms;         /* when to try again */
	uint64_t draws;
	bool is_refusing;       /* see pool_judge() */
	char state[6], problem[400]; /* of the last failure */
};

struct pool *pool_new(const struct libpq *pq, const struct link_options *options, unsigned links)
{
	struct pool *pool = arena_checked(calloc(1, sizeof(*pool)));

	pool->options = options;
	pool->n = links;
	pool->links = arena_checked(calloc(links, sizeof(*pool->links)));
	pthread_mutex_init(&pool->mutex, NULL);
	pthread_cond_init(&pool->given, NULL);
	if (getentropy(&pool->draws, sizeof(pool->draws)) != 0)
		pool->draws = (uint64_t)monotonic_ns();
	for (unsigned i = 0; i < links; i++) {
		pool->links[i].pq = pq;
		pool->links[i].counts = &pool->counts;
		pool->links[i].next_free = pool->free;
		pool->free = &pool->links[i];
	}
	return pool;
}

void pool_free(struct pool *pool)
{
	for (unsigned i = 0; i < pool->n; i++)
		link_free(&pool->links[i]);
	pthread_mutex_destroy(&pool->mutex);
	pthread_cond_destroy(&pool->given);
	free(pool->links);
	free(pool);
}

/* Waits for a link. False: it is closed, and it is not yet time to try again; the link is not taken
 * then. */
static bool take_link(struct pool *pool, struct link **link)
{
	pthread_mutex_lock(&pool->mutex);
	while (!pool->free)
		pthread_cond_wait(&pool->given, &pool->mutex);
	*link = pool->free;
	bool may_try = pool->failures == 0 || (*link)->conn || monotonic_ms() >= pool->due_ms;
	if (may_try)
		pool->free = (*link)->next_free;
	if (may_try && pool->failures > 0) /* the others wait for what this one finds */
		pool->due_ms = monotonic_ms() + LAST_PAUSE_MS;
	pthread_mutex_unlock(&pool->mutex);
	return may_try;
}

static void keep_problem(struct pool *pool, const struct link *link)
{
	memcpy(pool->state, link->state, sizeof(pool->state));
	memcpy(pool->problem, link->problem, sizeof(pool->problem));
}

static void note_link_outcome(struct pool *pool, const struct link *link, enum code code)
{
	uint64_t most = FIRST_PAUSE_MS;

	pthread_mutex_lock(&pool->mutex);
	pool->failures = code == OK ? 0 : pool->failures + 1;
	for (unsigned i = 1; i < pool->failures && most < LAST_PAUSE_MS; i++)
		most *= 2;
	pool->draws = pool->draws * 6364136223846793005u + 1442695040888963407u;
	pool->due_ms = monotonic_ms() + (int64_t)((pool->draws >> 33) %
						  (most < LAST_PAUSE_MS ? most : LAST_PAUSE_MS));
	if (code != OK)
		keep_problem(pool, link);
	pthread_mutex_unlock(&pool->mutex);
}

void pool_judge(struct pool *pool, const struct link *link, enum code code)
{
	pthread_mutex_lock(&pool->mutex);
	pool->is_refusing = code != OK && code != ERR_CONFLICT;
	if (pool->is_refusing)
		keep_problem(pool, link);
	pthread_mutex_unlock(&pool->mutex);
}

enum code pool_take(struct pool *pool, struct link **link, struct err *err)
{
	if (!take_link(pool, link))
		return err_default(err, ERR_STORE_UNAVAILABLE);
	if (link_is_alive(*link))
		return OK;
	enum code code = link_open(*link, pool->options, err);
	note_link_outcome(pool, *link, code);
	if (code != OK)
		pool_give(pool, *link);
	return code;
}

struct link *pool_take_open(struct pool *pool)
{
	pthread_mutex_lock(&pool->mutex);
	struct link **at = &pool->free;
	while (*at && !(*at)->conn)
		at = &(*at)->next_free;
	struct link *link = *at;
	if (link)
		*at = link->next_free;
	pool->missed += !link;
	pthread_mutex_unlock(&pool->mutex);
	if (!link || link_is_alive(link))
		return link;
	link_close(link);
	pool_give(pool, link);
	return NULL;
}

/* A free link that is closed, where one was missed; NULL: there is none, or none is to be opened
 * now. */
static struct link *take_closed(struct pool *pool)
{
	struct link *link = NULL;

	pthread_mutex_lock(&pool->mutex);
	if (pool->missed > 0 && (pool->failures == 0 || monotonic_ms() >= pool->due_ms)) {
		struct link **at = &pool->free;

		while (*at && (*at)->conn)
			at = &(*at)->next_free;
		link = *at;
		if (link)
			*at = link->next_free;
		pool->missed = link ? pool->missed - 1 : 0;
	}
	pthread_mutex_unlock(&pool->mutex);
	return link;
}

void pool_open_missed(struct pool *pool)
{
	struct arena *arena = arena_new(0);
	struct err err = err_in(arena);
	enum code code = OK;
	struct link *link;

	for (unsigned i = 0; i < OPENED_MAX && code == OK && (link = take_closed(pool)) != NULL;
	     i++) {
		code = link_open(link, pool->options, &err);
		note_link_outcome(pool, link, code);
		pool_give(pool, link);
	}
	pthread_mutex_lock(&pool->mutex);
	pool->missed = 0;
	pthread_mutex_unlock(&pool->mutex);
	arena_free(arena);
}

void pool_give(struct pool *pool, struct link *link)
{
	pthread_mutex_lock(&pool->mutex);
	link->next_free = pool->free;
	pool->free = link;
	pthread_cond_signal(&pool->given);
	pthread_mutex_unlock(&pool->mutex);
}

struct str pool_problem(struct pool *pool, struct arena *arena)
{
	pthread_mutex_lock(&pool->mutex);
	struct str problem = pool->failures > 0 || pool->is_refusing
				     ? str_copy(arena, str_of(pool->problem))
				     : STR_ABSENT;
	pthread_mutex_unlock(&pool->mutex);
	return problem;
}

enum store_reason pool_reason(struct pool *pool)
{
	pthread_mutex_lock(&pool->mutex);
	enum store_reason reason = pool->failures > 0 || pool->is_refusing
					   ? reason_of(pool->state, pool->problem)
					   : STORE_REASON_NONE;
	pthread_mutex_unlock(&pool->mutex);
	return reason;
}

const struct link_counts *pool_counts(const struct pool *pool)
{
	return &pool->counts;
}
