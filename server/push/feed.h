/*
 * feed - the records of a table's stream for one reader, in order: from shard to child shard, from
 * stream to the next stream, and when the table is deleted and made again, from table to table. Of
 * a stream with several open shards, one lane (storage/stream/stream_lane.h) is read at a time, and
 * each batch is of one; the next lane's turn is after it. So what concerns one item is in order.
 *
 * How far the reader has come is a row in the store (storage/stream/stream_position.h), a further
 * one for each further lane: it goes on there after a restart. The first one says in which stream
 * the reader is; those of other streams do not count. Where several processes have the same reader,
 * one of them reads at a time, by a lease; when it dies, another goes on from the row. So records
 * that were handed out before the row was saved come twice, and none is left out.
 *
 * A feed is used by one thread.
 */
#ifndef DYNALITH_SERVER_FEED_H
#define DYNALITH_SERVER_FEED_H

#include "protocol/service.h"
#include "storage/stream/stream_position.h"
#include "storage/upkeep/lease.h"

#define FEED_KEPT_MS                                                                               \
	(24 * 60 * 60 * 1000LL) /* a row of real time that no server has saved for so long is no   \
				   reader's any more */

/* A lane between its turns. */
struct feed_lane {
	struct stream_position at, saved;
	bool is_at_end, is_known; /* its row was read */
};

struct feed {
	struct service *service;
	struct leases *leases;  /* NULL: no other process reads */
	struct str name;        /* of the table, in whatever namespace it is */
	struct str reader;      /* its positions are found under this name */
	struct str lease;
	bool is_from_latest;    /* where the reader has no row: behind the newest record, not at the
				   oldest */
	struct table *table;    /* a reference; NULL: none is found yet */
	const struct stream *stream;
	int64_t now_ms;         /* by the clock of the table's namespace */
	uint64_t number;        /* of the table that the positions are in; 0: none yet */
	struct stream_position at, saved; /* in the lane whose turn it is, like the next */
	bool is_at_end;         /* the shard is closed and read */
	unsigned turn;          /* from 0 on */
	struct feed_lane lanes[STREAM_LANES]; /* of the others */
	bool is_stale;          /* the lease was another process's: rows may have moved */
	bool is_lost;           /* another process has moved the row */
	bool is_failing;        /* the log says so already */
};

/* A record as a function's event holds it. */
struct feed_record {
	struct str json, sequence; /* its number as text */
	uint64_t number;
	int64_t made_s;
};

/* Whether a record is wanted; the others are passed over. */
typedef bool feed_filter(void *context, struct str json);

struct feed_batch {
	size_t n, limit;
	struct feed_record *v; /* room for `limit` */
	size_t seen;           /* also those that are passed over */
	uint64_t next;         /* sequence number behind the last one seen */
	feed_filter *filter;
	void *filter_context;
};

/*
 * Finds the table, and where the reader is in it. False: there is nothing to read from. The first
 * call decides whether is_from_latest counts: of a stream that is made later every record is read.
 */
bool feed_find(struct feed *feed, struct arena *arena);

/* Adds records to the batch until it is full or there are no more. False: they cannot be read now.
 * Behind feed_find. */
bool feed_read(struct feed *feed, struct arena *arena, struct feed_batch *batch);

/* Whether this process is the one that reads: call it before records are handed out. False also
 * where the position turned out to be elsewhere. */
bool feed_take(struct feed *feed, struct arena *arena);

/* Renews what feed_take took, while something takes long; `feed` is a struct feed. */
void feed_hold(void *feed);

/* What is before the sequence number is done. False: another process has moved on, so stop. */
bool feed_move(struct feed *feed, struct arena *arena, uint64_t next);

/* Goes on from a shard that is at its end; false: nothing follows yet. */
bool feed_go_on(struct feed *feed, struct arena *arena);

/* Lets go of what is held between calls. */
void feed_close(struct feed *feed);

#endif
