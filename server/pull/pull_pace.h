/*
 * pull_pace - a limit of read units a second: how long to wait behind requests. It has no clock of
 * its own.
 *
 * Waiting is by what was consumed since the beginning, so the limit holds however long the requests
 * and the work between them take, if these leave any time. Time that was lost is made up for, by a
 * second at most.
 */
#ifndef DYNALITH_SERVER_PULL_PACE_H
#define DYNALITH_SERVER_PULL_PACE_H

#include <stdint.h>

struct pull_pace {
	double per_second, units; /* units: consumed since began_ns */
	uint64_t began_ns;
};

struct pull_pace pull_pace_begin(double per_second, uint64_t now_ns);

/* Milliseconds to wait when those units were consumed; 0: none. */
int64_t pull_pace_wait_ms(struct pull_pace *pace, double units, uint64_t now_ns);

#endif
