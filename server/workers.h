/*
 * workers - how many of the server's workers serve connections now, and which of them serves which.
 *
 * Each worker is a thread with connections of its own. Where few workers have many connections each, a worker finds several requests at once when it wakes,
 * and handles and sends them together; and cores are left for clients on the same machine. Where many workers have few each, requests wait less for
 * others of the same worker. So one worker serves all connections at the start. Another one comes as soon as those that serve take more than
 * WORKERS_CROWDED_NS for a turn of several requests, on the mean of WORKERS_WINDOW_NS in which such turns take half of the time. One goes where, without it,
 * turns would stay below WORKERS_CALM_NS, for WORKERS_CALM_FOR_NS. What is done under the writers' lock (write_turn.h) does not count: other workers would wait
 * for it. But a turn of more than WORKERS_STUCK_NS, whatever it waited for, held up all of its worker's connections: then all workers serve, for
 * WORKERS_STUCK_FOR_NS.
 *
 * When their number changes, an era begins. A connection gets its worker of the era when its next request comes, whichever has got fewest so far. Connections
 * that ask for nothing stay where they are. The caller moves the socket.
 *
 * For sockets up to CONNECTIONS_FILES_MAX; others, and those that were not placed, are nobody's.
 */
#ifndef DYNALITH_SERVER_WORKERS_H
#define DYNALITH_SERVER_WORKERS_H

#include <stdbool.h>
#include <stdint.h>

#define WORKERS_MAX 64
#define WORKERS_WINDOW_NS 20000000u
#define WORKERS_CROWDED_NS 200000u
#define WORKERS_CALM_NS 150000u
#define WORKERS_CALM_FOR_NS 300000000u
#define WORKERS_STUCK_NS 20000000u
#define WORKERS_STUCK_FOR_NS 10000000000u

/*
 * There are up to `most` workers from now on, and no connections. With `start` the first one serves, and reports its turns as the others do, each of which
 * `start` begins when it is first needed: false where it cannot. It is called by a worker's thread, one call after the other. Without it all serve.
 */
void workers_begin(unsigned most, bool (*start)(unsigned worker));

/* No worker begins and no connection changes its worker from now on. When it returns none is about to. */
void workers_freeze(void);

/* How many serve now; how many connections were moved since the start. */
unsigned workers_serving(void);
uint64_t workers_moves(void);

/* The worker of a new connection. */
unsigned workers_place(int fd);
/* It has been closed. */
void workers_forget(int fd);

/*
 * Called by the worker's thread before it reads a request: the worker that is to serve the connection from now on, or -1: this one. Else the caller says with
 * workers_put() by which descriptor that worker gets it, or that it stays (-1), hands it over, and calls workers_moved().
 */
int workers_next(int fd);
void workers_put(int from, int to, unsigned worker);
void workers_moved(void);

/* The calling thread's turn begins, with so many events; and ends, having spent `locked_ns` of it with the writers' lock, or waiting for it. */
void workers_begin_turn(int events, uint64_t now_ns);
void workers_end_turn(uint64_t now_ns, uint64_t locked_ns);

#endif
