/*
 * monotonic - real time that nobody turns and that never goes back: for durations, deadlines and
 * sleeps within the process, not for what users see.
 */
#ifndef DYNALITH_STORAGE_MONOTONIC_H
#define DYNALITH_STORAGE_MONOTONIC_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds since some moment before the process began. */
static inline uint64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The same in milliseconds. */
static inline int64_t monotonic_ms(void)
{
	return (int64_t)(monotonic_ns() / 1000000u);
}

/* Sleeps so long, or until a signal. */
static inline void monotonic_sleep_ms(int64_t ms)
{
	nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

#endif
