/*
 * resources - what takes time in the simulation: cores on which work waits for its turn, and a disk
 * that one flush after another keeps busy.
 *
 * All calls are made within fibers, in virtual time.
 */
#ifndef DYNALITH_SCALE_RESOURCES_H
#define DYNALITH_SCALE_RESOURCES_H

#include <stdint.h>

struct turn;

/* First come, first served; what has a core keeps it until it gives it back. Begins as {.n = N}. */
struct cores {
	unsigned n, busy;
	struct turn *first, *last;
	int64_t used_ns;
};

void cores_take(struct cores *cores);
void cores_give(struct cores *cores);
/* While a core is taken. */
void cores_work(struct cores *cores, int64_t ns);

/* Commits that come while a flush is under way share the next one. Begins as {.flush_ns = N}. */
struct disk {
	int64_t flush_ns, end_ns, next_end_ns;
	uint64_t flushes;
};

void disk_flush(struct disk *disk);

void resources_sleep(int64_t ns);

#endif
