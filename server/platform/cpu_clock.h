/*
 * cpu_clock - the calling thread's CPU time, read seldom.
 *
 * To read it is a system call, and a request of 20 us looks at it once or twice. No thread takes
 * more CPU time than time passes. So for CPU_CLOCK_GUESS_NS after a reading the clock shows what
 * was read and the time since.
 */
#ifndef DYNALITH_SERVER_CPU_CLOCK_H
#define DYNALITH_SERVER_CPU_CLOCK_H

#include <stdint.h>

#define CPU_CLOCK_GUESS_NS 1000000u

/* Nanoseconds: never less than the thread has taken, at most CPU_CLOCK_GUESS_NS more, and never
 * less than at the last call. `now_ns` is by monotonic_ns(). */
uint64_t cpu_clock_ns(uint64_t now_ns);

#endif
