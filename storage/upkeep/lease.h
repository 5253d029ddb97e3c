/*
 * lease - which of several processes on one store does a piece of upkeep.
 *
 * A lease is a row under the name of the work: the process that holds it, an epoch that rises when
 * another one takes it, and until when. A process takes it in a transaction before it does the
 * work, and renews it while there is work. Then it gives it back, or lets it run out. The lease of
 * a process that died runs out, and another one takes it.
 *
 * A lease saves work and nothing else: whatever is done under one looks in its own transaction
 * whether it still is to be done. So it does no harm that the clocks of two machines differ, or
 * that a process goes on with a lease that it lost meanwhile.
 *
 * Leases go by the machine's real time, which nobody turns. Where only one process can have the
 * store open, no row is written.
 */
#ifndef DYNALITH_STORAGE_LEASE_H
#define DYNALITH_STORAGE_LEASE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/err.h"
#include "storage/store/store.h"

#define LEASE_MS                                                                                   \
	6000 /* renewed when a third of it is over; the work of a process that died waits for so   \
		long */

struct lease_options {
	struct store *store;
	bool is_alone; /* no other process can have the store open: every lease is held, for nothing
			*/
	int64_t length_ms;          /* 0: LEASE_MS */
	int64_t (*now_ms)(void);    /* NULL: the machine's real time */
};

/* The leases of one process, whose id is made here. Thread-safe. */
struct leases;

struct leases *lease_open(const struct lease_options *options);

/* Whether the row is one of a lease, which means nothing in a copy of the store. */
bool lease_is_row(struct keyspace keyspace, struct str key);

/* Gives back what is held. NULL is allowed. */
void lease_close(struct leases *leases);

/*
 * Takes the lease, or renews it where a third of its time is over; else only memory is looked at.
 * *is_held false: another process has it. `leases` NULL: it is held. Where *is_held and *is_new (or
 * NULL) the process had not held it until now: another may have done some of the work.
 */
enum code lease_take(struct leases *leases, struct str name, bool *is_held, bool *is_new,
		     struct err *err) WARN_UNUSED;

/* Takes it the same way. False also where the store cannot say. */
bool lease_is_ours(struct leases *leases, struct str name);

/* Whether it is held now, by what is in memory: of all calls the one that costs nothing. */
bool lease_is_held(struct leases *leases, struct str name);

/* The work is done: deletes the row. What fails is left to run out. */
void lease_release(struct leases *leases, struct str name);

/* Deletes the rows of leases that ran out long ago. */
enum code lease_sweep(struct leases *leases, struct err *err) WARN_UNUSED;

/* Whether the row of a lease can be read. One that cannot has run out. */
bool lease_is_sound(struct arena *arena, const struct store_row *row);

#endif
