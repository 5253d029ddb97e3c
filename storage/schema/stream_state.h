/*
 * stream_state - what a process remembers of the end of a table's stream between transactions, so
 * that a change need not look for the latest shard and record. Only a hint: other processes append
 * too, so each transaction verifies it (stream.h). Shared by all snapshots of the table; for any
 * thread.
 */
#ifndef DYNALITH_STORAGE_STREAM_STATE_H
#define DYNALITH_STORAGE_STREAM_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A row, see stream_shard.h. */
struct stream_shard {
	uint64_t stamp;
	uint64_t parent;    /* stamp; 0: none */
	uint64_t stream;    /* struct stream's number */
	uint64_t start; /* first sequence number of the shard; never a record's, so that an empty
			   shard has one too */
	uint64_t end;       /* the first one after it; 0: open */
	uint64_t trimmed;   /* records below are gone; 0: none is */
	int64_t created_ms;
	int64_t closed_ms;  /* 0: open */
};

#define STREAM_LANES 32 /* beside lane 0: storage/stream/stream_lane.h */

/* The end of one lane of a table's stream as one transaction saw or left it. */
struct stream_tail {
	struct stream_shard last; /* the latest shard of the lane; stamp 0: none is known */
	uint64_t next;            /* sequence number */
	int64_t latest_ms; /* the latest time in records and shards: what follows is no older */
	bool is_empty;
	int64_t oldest_ms;        /* time of the oldest record */
};

struct stream_state {
	atomic_uint refs;
	pthread_mutex_t lock;    /* guards the tail */
	struct stream_tail tail; /* of a committed transaction; of lane 0 */
	struct stream_tail
		*lanes; /* the same of the further ones, once one of them was appended to */
};

/* A reference each: what _new and _ref return, _unref gives back. */
struct stream_state *stream_state_new(void);
struct stream_state *stream_state_ref(struct stream_state *state);
void stream_state_unref(struct stream_state *state);

struct stream_tail stream_state_tail(struct stream_state *state, unsigned lane);

/* What it remembers has turned out to be wrong. */
void stream_state_forget(struct stream_state *state, unsigned lane);

/* Remembers the tail of a transaction that was committed, unless that of a later one is there. */
void stream_state_keep(struct stream_state *state, unsigned lane, const struct stream_tail *tail);

#endif
