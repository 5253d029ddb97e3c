/*
 * trace_store - a decorator around any backend, for tests: counts calls, logs them, fails the n-th,
 * lets others in between two of them.
 */
#ifndef DYNALITH_STORAGE_TRACE_STORE_H
#define DYNALITH_STORAGE_TRACE_STORE_H

#include <stdint.h>
#include <stdio.h>

#include "storage/store/store.h"

enum trace_call {
	TRACE_BEGIN,
	TRACE_COMMIT,
	TRACE_ABORT,
	TRACE_CREATE,
	TRACE_DROP,
	TRACE_STAT,
	TRACE_GET,
	TRACE_PUT,
	TRACE_DEL,
	TRACE_GET_MANY, /* counted and logged once per call, in the keyspace of its first key */
	TRACE_PAGE,
	TRACE_DEL_RANGE,
	TRACE_ADD,
	TRACE_ROW, /* a row in a page */
	TRACE_CALL_COUNT
};

/* Wraps `inner`; closing the wrapper closes it too. */
struct store *trace_store_new(struct store *inner);

/* Calls since the last reset, of all keyspaces or of one. */
uint64_t trace_store_count(const struct store *store, enum trace_call call);
uint64_t trace_store_count_in(const struct store *store, enum trace_call call,
			      struct keyspace keyspace);
void trace_store_reset(struct store *store);

/* The n-th call from now (1 is the next, rows not counted) fails with `code`; 0 turns it off. Any
 * call but abort. */
void trace_store_fail(struct store *store, uint64_t n, enum code code);
/* The same for the next call of that kind. */
void trace_store_fail_next(struct store *store, enum trace_call call, enum code code);

/*
 * The n-th put, del, del_range or add from now is done, but the commit of its transaction fails
 * with `code`: as where writes are buffered. 0 turns it off.
 */
void trace_store_fail_late(struct store *store, uint64_t n, enum code code);

/*
 * `hook` runs once, on the caller's thread, when the next such call is done, also one that failed,
 * and has not yet returned: what others may do between it and what follows. Not for TRACE_ROW.
 * Behind commit and abort the transaction is over; else the hook must not use the store but by
 * another thread, and not wait for what the open transaction keeps from others.
 */
typedef void trace_hook(void *context);
void trace_store_after(struct store *store, enum trace_call call, trace_hook *hook, void *context);

/* From now on the store keeps copies, as one that cannot refer (store_refers). */
void trace_store_copy(struct store *store);

/* One line per call to `file`; NULL turns it off. */
void trace_store_log(struct store *store, FILE *file);

#endif
