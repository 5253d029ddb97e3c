/*
 * maintenance - what a backend can do with its own files: check their pages and copy them.
 * Optional: struct store has NULL where it cannot.
 *
 * The two calls for a store in use take it a piece at a time; they may be made by one thread at a
 * time, beside any transactions.
 */
#ifndef DYNALITH_STORAGE_STORE_MAINTENANCE_H
#define DYNALITH_STORAGE_STORE_MAINTENANCE_H

#include "storage/store/store.h"

struct live_copy;

struct live_copy_progress {
	uint64_t pages, total; /* that were copied, and that there are */
	bool is_whole;
	uint64_t bytes;        /* of the copy, once it is whole */
};

struct store_maintenance {
	/*
	 * Looks at every page of a store that nobody else uses: its checksum, those of free pages
	 * too, and the structure. Reports a line per finding and counts them. ERR_INTERNAL where
	 * the file cannot be read at all.
	 */
	enum code (*verify)(struct store *store, store_tell *tell, void *context,
			    uint64_t *findings, struct err *err);
	/*
	 * Looks at the checksums of up to `n` pages from number `from` (1: the first) while the
	 * store is in use. *next is the number to go on with; 0: that was the last one, as always
	 * in memory.
	 */
	enum code (*verify_some)(struct store *store, uint32_t from, uint32_t n, uint32_t *next,
				 store_tell *tell, void *context, uint64_t *findings,
				 struct err *err);
	/*
	 * Writes a copy of a store that nobody else uses: its pages as they are, with their
	 * checksums, safe on the disk when this returns; the name is the caller's to sync.
	 * ERR_INTERNAL: `target` exists, a page is damaged, no room; then a piece may be left.
	 */
	enum code (*copy)(struct store *store, const char *target, struct err *err);
	/*
	 * A copy of a store in use: begin, steps of some milliseconds until it is whole, reads,
	 * end; it must end before the store does. ERR_STORE_FULL: too little room. ERR_INTERNAL
	 * with one line for the operator: no file can be made for it. A read begins at a multiple
	 * of a page; *n is less at the end.
	 */
	enum code (*copy_begin)(struct store *store, struct live_copy **out, struct err *err);
	enum code (*copy_step)(struct live_copy *copy, struct live_copy_progress *progress,
			       struct err *err);
	enum code (*copy_read)(struct live_copy *copy, uint64_t at, void *out, size_t *n,
			       struct err *err);
	void (*copy_end)(struct live_copy *copy);
};

#endif
