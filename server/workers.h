/*
 * workers - decides how many of the server's workers serve connections, and which worker serves which connection.
 *
 * Each worker is a thread with connections of its own. A worker with many connections finds several requests when it wakes, handles them in one turn and
 * sends their answers together. Fewer workers also leave cores to clients on the same machine. More workers shorten the wait of requests for each other.
 *
 * So one worker serves all connections at the start. Another worker joins when, within WORKERS_WINDOW_NS, turns of several requests take more than
 * WORKERS_CROWDED_NS on the mean, and half of the time. A worker leaves when the turns of the others would stay below WORKERS_CALM_NS without it, for
 * WORKERS_CALM_FOR_NS. Time under the writers' lock (write_turn.h) does not count, since another worker would wait for that lock too.
 *
 * Where the server and its clients use all cores of the machine, another worker takes from the clients what it gains, and wakes for fewer requests. So with
 * turns of up to WORKERS_CROWDED_TIGHT_NS a worker joins only where 0.6 of a core was idle, or this worker waited for a core for a quarter of the time: then
 * other programs have the cores, and two threads get more than one. And a worker leaves at once when turns are below WORKERS_CROWDED_NS, less than 0.3 of a
 * core was idle, and the worker that judges waited for less than 0.4 of the time. Both over WORKERS_LOOK_NS, or WORKERS_LOOK_ONE_NS while one serves. Where
 * the system does not say how its cores are used, none of this applies.
 *
 * But a single request of more than WORKERS_STUCK_NS, or as much of a turn between requests, has held up all connections of its worker, for whatever
 * reason. Then all workers serve for WORKERS_STUCK_TIMES as long, at most WORKERS_STUCK_FOR_NS, so that what comes again and again holds up others for a
 * hundredth of the time. Many requests that take as long together only make a turn crowded.
 *
 * An era begins when their number changes. Each connection gets its worker of that era when its next request comes: the one that has got fewest
 * connections so far. Connections without requests stay where they are. The caller moves the socket.
 *
 * For sockets up to CONNECTIONS_FILES_MAX. Others, and sockets that were not placed, are not moved.
 */
#ifndef DYNALITH_SERVER_WORKERS_H
#define DYNALITH_SERVER_WORKERS_H

#include <stdbool.h>
#include <stdint.h>

#include "server/platform/platform.h"

#define WORKERS_MAX 64
#define WORKERS_WINDOW_NS 20000000u
#define WORKERS_CROWDED_NS 200000u
#define WORKERS_CROWDED_TIGHT_NS 400000u
#define WORKERS_CALM_NS 150000u
#define WORKERS_CALM_FOR_NS 100000000u
#define WORKERS_LOOK_NS 100000000u
#define WORKERS_LOOK_ONE_NS 200000000u
#define WORKERS_STUCK_NS 20000000u
#define WORKERS_STUCK_TIMES 100u
#define WORKERS_STUCK_FOR_NS 10000000000u

/*
 * Begins with up to `most` workers and no connections. Without `start` all workers serve, always. With it the first worker serves, and a worker's thread calls
 * `start` for each other one when that is first needed, one call at a time; false where it cannot start. Each worker reports its turns then. `core_times` is
 * platform_core_times(), but in tests.
 */
void workers_begin(unsigned most, bool (*start)(unsigned worker), struct platform_core_times (*core_times)(void));

/* Starts no worker and moves no connection from now on. Waits for moves that are under way. */
void workers_freeze(void);

/* How many serve now; how many connections were moved since the start. */
unsigned workers_serving(void);
uint64_t workers_moves(void);

/* The worker of a new connection. */
unsigned workers_place(int fd);
/* It has been closed. */
void workers_forget(int fd);

/*
 * Called by the worker's thread before it reads a request. Gives the other worker that is to serve the connection from now on, or -1 where it stays. With
 * another worker the caller calls workers_put() with the descriptor for that worker, or with -1 where the connection stays after all; hands the connection
 * over; and calls workers_moved().
 */
int workers_next(int fd);
void workers_put(int from, int to, unsigned worker);
void workers_moved(void);

#define WORKERS_HANDED_ON 4u /* long requests for each brief one */
#define WORKERS_HANDED_ON_MAX 16u

/*
 * Whether the calling thread should hand on a request that takes long: it should while it gets brief ones as well. Where all requests take long, handing on
 * gains nothing and costs up to a tenth more CPU.
 */
bool workers_hand_on(void);

/*
 * The calling thread's turn begins, with so many events. A request of it took so long, and was a brief one or not. The turn ends; `locked_ns` of it the
 * thread had the writers' lock, or waited for it.
 */
void workers_begin_turn(int events, uint64_t now_ns);
void workers_took(uint64_t request_ns, bool is_brief);
void workers_end_turn(uint64_t now_ns, uint64_t locked_ns);

#endif
