/*
 * followers - connections to standbys, for reads that may be of a moment shortly past, and how far
 * the standbys are behind.
 *
 * A server writes marks: now and then, before it reads from a standby, it puts the next number into
 * a row of its own in the primary, and notes the time before that. A read at a standby brings that
 * row of the same snapshot. So the standby has at least all that was committed when the mark it
 * shows was noted; that moment must not be longer ago than the bound. No two machines' clocks are
 * compared, no standby is asked how it is, and a standby that was promoted, cut off or put back to
 * an older state shows no mark that is too good.
 *
 * A server that reads seldom asks the primary: its last mark is too old then. A standby that was
 * late is left alone for a moment.
 */
#ifndef DYNALITH_STORAGE_FOLLOWERS_H
#define DYNALITH_STORAGE_FOLLOWERS_H

#include "storage/store/postgresql/pool.h"

struct followers;

struct followers_options {
	const struct link_options *link; /* of the primary; its URL must outlive it */
	const struct link_host *hosts;   /* any of them: those that are standbys are used */
	size_t host_count;
	unsigned links;                  /* to each, at most */
	int64_t bound_ms;
};

struct followers *followers_new(const struct libpq *pq, const struct followers_options *options);
void followers_free(struct followers *followers);

/* Opens what was missed; for a call each second, by a thread that may wait. */
void followers_open(struct followers *followers);

/* A link to a standby that may be fresh enough, and its pool, which takes it back; NULL: the
 * primary must be asked. Waits for nobody. */
struct link *followers_take(struct followers *followers, struct pool *primary, struct pool **pool);

/* Puts the read of the mark into the pipeline, in front of what it is to vouch for. */
void followers_ask(const struct followers *followers, struct link *link);

/* Whether what the link's last wait brought is fresh enough now. If not, its standby is left alone
 * for a while. */
bool followers_is_fresh(struct followers *followers, const struct link *link,
			const struct pool *pool);

void followers_count(struct followers *followers, enum store_behind end);
uint64_t followers_counted(const struct followers *followers, enum store_behind end);

#endif
