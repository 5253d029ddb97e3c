/*
 * fiber - threads of the server as fibers of one thread, in virtual time.
 *
 * The program is linked with --wrap for the calls of libpthread and the clocks that the rooms use:
 * pthread_create makes a fiber, a lock that another fiber holds or a condition that is waited for
 * lets others run, and the clocks show virtual time. Which fiber runs next, and where one stops for
 * another, is drawn from a seed. So a run depends on its seed alone.
 *
 * Fibers change places only in those calls. What stands between two of them is not interrupted:
 * races within are for ThreadSanitizer.
 */
#ifndef DYNALITH_SIMULATION_FIBER_H
#define DYNALITH_SIMULATION_FIBER_H

#include <stdbool.h>
#include <stdint.h>

#define FIBER_NEVER INT64_MAX

struct fiber;

/* Starts over: the time in Unix nanoseconds, and the seed of all draws of the scheduler. No fiber
 * may be left. */
void fiber_reset(int64_t now_ns, uint64_t seed);

/* A fiber that runs `run` and is gone when that returns. */
struct fiber *fiber_start(void (*run)(void *context), void *context);

/* The running fiber, or NULL outside of all: in the scheduler's own caller. */
struct fiber *fiber_self(void);

/* One in `n` calls that could let others run does so; 0: only those that must wait. */
void fiber_set_switching(uint32_t n);

/* From now on the running fiber is not interrupted, but where it must wait; calls nest. */
void fiber_hold(void);
void fiber_release(void);

/* Lets others run now, perhaps. */
void fiber_yield(void);

/* Waits until woken or, at the latest, until that time (Unix nanoseconds). False: the time came. */
bool fiber_wait(const void *what, int64_t until_ns);
void fiber_wake(const void *what);

/* Outside of all fibers: runs one of those that are ready, up to where it stops. False where none
 * is. */
bool fiber_run_one(void);

/* When the first of those that wait for a time is due; FIBER_NEVER: none is. */
int64_t fiber_next_due(void);

int64_t fiber_now_ns(void);
void fiber_advance(int64_t ns);

/* Fibers that are not gone. */
unsigned fiber_count(void);

/* Switches from fiber to fiber since the start. */
uint64_t fiber_switches(void);

#endif
