#include "storage/store/postgresql/followers.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "storage/monotonic.h"

#define PARTS 8      /* marks in the time of the bound */
#define MARKS 16     /* that are remembered */
#define PERIOD_MIN_MS 5
#define ANSWER_MIN_MS                                                                              \
	100 /* for the answer of a standby: what comes later than the bound is mostly too old, and \
	       nobody waits for long for one that is gone */
#define ANSWER_MAX_MS 5000
#define KEPT_SECONDS 86400 /* rows of servers that are gone */

struct mark {
	uint64_t number;
	int64_t at_ms; /* when all was committed that a snapshot with this mark has at least */
};

struct follower {
	struct link_options options;
	struct link_host host;
	struct pool *pool;
	int64_t due_ms; /* not before that */
};

struct followers {
	size_t n;
	struct follower *v;
	int64_t bound_ms, period_ms;
	char id[16];           /* the key of its marks */
	atomic_uint_fast64_t ends[STORE_BEHIND_COUNT];
	pthread_mutex_t mutex; /* of all that follows, and of the due_ms */
	struct mark marks[MARKS];
	uint64_t number;       /* the last one */
	size_t next;           /* whose turn it is */
};

struct followers *followers_new(const struct libpq *pq, const struct followers_options *options)
{
	struct followers *followers = arena_checked(calloc(1, sizeof(*followers)));

	followers->bound_ms = options->bound_ms;
	followers->period_ms = options->bound_ms / PARTS > PERIOD_MIN_MS ? options->bound_ms / PARTS
									 : PERIOD_MIN_MS;
	followers->n = options->host_count;
	followers->v = arena_checked(calloc(options->host_count + 1, sizeof(*followers->v)));
	pthread_mutex_init(&followers->mutex, NULL);
	if (getentropy(followers->id, sizeof(followers->id)) != 0)
		memcpy(followers->id, &(uint64_t){monotonic_ns()}, sizeof(uint64_t));
	for (size_t i = 0; i < followers->n; i++) {
		struct follower *follower = &followers->v[i];

		follower->host = options->hosts[i];
		follower->options = *options->link;
		follower->options.standby = &follower->host;
		follower->options.answer_ms = options->bound_ms < ANSWER_MIN_MS ? ANSWER_MIN_MS
					      : options->bound_ms > ANSWER_MAX_MS
						      ? ANSWER_MAX_MS
						      : options->bound_ms;
		follower->pool = pool_new(pq, &follower->options, options->links);
	}
	return followers;
}

void followers_free(struct followers *followers)
{
	for (size_t i = 0; i < followers->n; i++)
		pool_free(followers->v[i].pool);
	pthread_mutex_destroy(&followers->mutex);
	free(followers->v);
	free(followers);
}

void followers_open(struct followers *followers)
{
	for (size_t i = 0; i < followers->n; i++)
		pool_open_missed(followers->v[i].pool);
}

/* The next mark, where it is time for one; false: it is not. */
static bool next_mark(struct followers *followers, int64_t now_ms, struct mark *mark)
{
	pthread_mutex_lock(&followers->mutex);
	const struct mark *last = &followers->marks[followers->number % MARKS];
	bool is_due = last->number == 0 || now_ms - last->at_ms >= followers->period_ms;
	if (is_due) {
		followers->number++;
		*mark = (struct mark){followers->number, now_ms};
		followers->marks[followers->number % MARKS] = *mark;
	}
	pthread_mutex_unlock(&followers->mutex);
	return is_due;
}

/* Nobody waits for it. One that does not come to pass is a number that no standby will show. */
static void write_mark(const struct followers *followers, struct link *link,
		       const struct mark *mark)
{
	struct timespec now;
	struct link_number ks, before;
	char bytes[16];
	struct str id = {followers->id, sizeof(followers->id)};
	const struct str row[] = {
		link_number(&ks, LINK_MARKS), id, STR_ABSENT, {bytes, sizeof(bytes)}};

	clock_gettime(CLOCK_REALTIME, &now);
	memcpy(bytes, link_number(&before, (int64_t)mark->number).p, 8);
	memcpy(bytes + 8, link_number(&before, now.tv_sec).p, 8);
	link_send(link, STATEMENT_LOCALLY, NULL, 0);
	link_send(link, STATEMENT_UPSERT, row, 4);
	if (mark->number == 1)
		link_send(link, STATEMENT_MARKS_PAST,
			  (struct str[]){id, link_number(&before, now.tv_sec - KEPT_SECONDS)}, 2);
	link_leave(link);
}

/* Whether a standby can have a mark that is young enough, and whose turn it is; NULL: none. */
static struct follower *choose_standby(struct followers *followers, int64_t now_ms)
{
	struct follower *chosen = NULL;
	bool may_be_fresh = false;

	pthread_mutex_lock(&followers->mutex);
	for (size_t i = 0; i < MARKS && !may_be_fresh; i++)
		may_be_fresh = followers->marks[i].number > 0 &&
			       followers->marks[i].at_ms < now_ms &&
			       now_ms - followers->marks[i].at_ms <= followers->bound_ms;
	for (size_t i = 0; i < followers->n && may_be_fresh && !chosen; i++) {
		struct follower *next = &followers->v[followers->next++ % followers->n];

		chosen = next->due_ms <= now_ms ? next : NULL;
	}
	pthread_mutex_unlock(&followers->mutex);
	return chosen;
}

struct link *followers_take(struct followers *followers, struct pool *primary, struct pool **pool)
{
	int64_t now_ms = monotonic_ms();
	struct link *link = NULL;
	struct mark mark;

	if (next_mark(followers, now_ms, &mark)) {
		link = pool_take_open(primary);
		if (link) {
			write_mark(followers, link, &mark);
			pool_give(primary, link);
		}
	}
	link = NULL;
	for (size_t i = 0; i < followers->n && !link; i++) {
		struct follower *follower = choose_standby(followers, now_ms);

		*pool = follower ? follower->pool : NULL;
		link = follower ? pool_take_open(follower->pool) : NULL;
	}
	if (!link)
		followers_count(followers, STORE_BEHIND_NONE);
	return link;
}

void followers_ask(const struct followers *followers, struct link *link)
{
	link_send_mark(link, (struct str){followers->id, sizeof(followers->id)});
}

bool followers_is_fresh(struct followers *followers, const struct link *link,
			const struct pool *pool)
{
	int64_t now_ms = monotonic_ms();

	pthread_mutex_lock(&followers->mutex);
	const struct mark *mark = &followers->marks[link->mark % MARKS];
	bool is_fresh = link->mark > 0 && mark->number == link->mark &&
			now_ms - mark->at_ms <= followers->bound_ms;
	for (size_t i = 0; i < followers->n && !is_fresh; i++) {
		if (followers->v[i].pool == pool)
			followers->v[i].due_ms = now_ms + followers->period_ms;
	}
	pthread_mutex_unlock(&followers->mutex);
	return is_fresh;
}

void followers_count(struct followers *followers, enum store_behind end)
{
	atomic_fetch_add_explicit(&followers->ends[end], 1, memory_order_relaxed);
}

uint64_t followers_counted(const struct followers *followers, enum store_behind end)
{
	return atomic_load_explicit(&followers->ends[end], memory_order_relaxed);
}
