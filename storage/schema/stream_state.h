/*
 * stream_state - what the write path remembers of a table's stream between transactions, so that a change need not look for the latest
 * shard and record. Shared by all snapshots of the table; used within write transactions only, so by one thread at a time.
 */
#ifndef DYNALITH_STORAGE_STREAM_STATE_H
#define DYNALITH_STORAGE_STREAM_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A row, see stream_shard.h. */
struct stream_shard {
	uint64_t stamp;
	uint64_t parent;    /* stamp; 0: none */
	uint64_t stream;    /* struct stream's number */
	uint64_t start;     /* first sequence number of the shard; never a record's, so that an empty shard has one too */
	uint64_t end;       /* the first one after it; 0: open */
	uint64_t trimmed;   /* records below are gone; 0: none is */
	int64_t created_ms;
	int64_t closed_ms;  /* 0: open */
};

struct stream_state {
	atomic_uint refs;
	bool is_loaded;
	bool is_dirty;             /* holds what the transaction under way did to shards */
	uint64_t next;             /* sequence number */
	struct stream_shard last;  /* the latest shard; stamp 0: none */
	bool is_empty;
	int64_t oldest_ms;         /* time of the oldest record */
};

/* A reference each: what _new and _ref return, _unref gives back. */
struct stream_state *stream_state_new(void);
struct stream_state *stream_state_ref(struct stream_state *state);
void stream_state_unref(struct stream_state *state);

#endif
