/*
 * pool - the connections of a store: one per transaction that is under way, opened when they are
 * needed, and kept.
 *
 * When the database cannot be reached, one caller after another tries it, at random moments that
 * grow apart up to some seconds; the others are answered at once. So a database that comes back is
 * not met by all at the same moment.
 */
#ifndef DYNALITH_STORAGE_POOL_H
#define DYNALITH_STORAGE_POOL_H

#include "storage/store/postgresql/link.h"

struct pool;

/* `pq` and the texts of `options` must outlive it. */
struct pool *pool_new(const struct libpq *pq, const struct link_options *options, unsigned links);
void pool_free(struct pool *pool);

/* A link that is open, as far as can be seen; waits while all are in use. ERR_STORE_UNAVAILABLE,
 * ERR_INTERNAL as link_open(). */
enum code pool_take(struct pool *pool, struct link **link, struct err *err) WARN_UNUSED;
/* One that is open and free; NULL where there is none: nobody waits. */
struct link *pool_take_open(struct pool *pool);
/* Opens as many as were missed by that since the last call, a few at most, and none where it is not
 * yet time to try again. */
void pool_open_missed(struct pool *pool);
void pool_give(struct pool *pool, struct link *link);

/* What the database said of a statement that does what requests do: from now on that decides,
 * besides connections that fail, whether it can be used. */
void pool_judge(struct pool *pool, const struct link *link, enum code code);

/* Why the database could not be used when it was last tried, in the arena; absent: it could. Waits
 * for nobody. */
struct str pool_problem(struct pool *pool, struct arena *arena);

/* The same in a word, for whoever may not see hosts and users. */
enum store_reason pool_reason(struct pool *pool);

const struct link_counts *pool_counts(const struct pool *pool);

#endif
