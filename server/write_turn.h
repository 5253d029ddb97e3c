/*
 * write_turn - lets one worker at a time handle small writes, all those of its turn of events.
 *
 * The store lets one writer in at a time. Workers that all have writes to handle would meet at each of them: one sleeps and is woken again, which takes
 * longer than the write, and then the other one. So the first small write of a turn takes a lock, and the thread keeps it until the turn ends (it is about to
 * wait for events), until a request of another kind comes, or for WRITE_TURN_BYTES of requests. A thread that waits then is the next. Parsing of these requests
 * is under the lock too; sending of their answers is not.
 *
 * While a thread has the lock, its writes are committed together where the store can (store_group_open()).
 *
 * A turn with a single event takes no lock, nor does a thread that has no turns: these writes meet others at the store alone. Nor does a thread whose writes
 * mostly come between requests of other kinds, fewer than three in a row: its reads would wait for the other thread's writes.
 *
 * Nothing else is locked when a thread waits here, and no request that runs under the lock waits for another request.
 */
#ifndef DYNALITH_SERVER_WRITE_TURN_H
#define DYNALITH_SERVER_WRITE_TURN_H

#include <stdbool.h>
#include <stddef.h>

#include "storage/store/store.h"

#define WRITE_TURN_BYTES 32768 /* of bodies of requests; beyond them others get the lock */

/* The calling thread's turn begins, with so many events; and ends. Returns the nanoseconds of it in which the thread had the lock, or waited for it. */
void write_turn_begin(int events);
uint64_t write_turn_end(void);

/*
 * The thread is about to handle a small write of so many bytes to the store: waits while another thread has the lock. 0: a request of another kind. `store`
 * may be NULL: its transactions are in no group.
 */
void write_turn_next(size_t bytes, struct store *store);

/*
 * The group of writes that the thread's requests joined, or saw something of, since the last call; 0: none. An answer that depends on it must not be sent
 * before write_turn_commit() gives true, after the commit. False: its writes are lost.
 */
uint64_t write_turn_seen(void);
bool write_turn_commit(uint64_t group);

/* Commits the group that write_turn_seen() gives, if any, without waiting for the turn's end. False: its writes are lost, and the request must run again. */
bool write_turn_commit_seen(void);

#endif
