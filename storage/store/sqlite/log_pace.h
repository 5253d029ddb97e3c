/*
 * log_pace - backpressure on writers whose log grows faster than checkpoints move it; internal to
 * storage/store/sqlite.
 *
 * Without it the log reaches its limit, and all writers stop until it is moved and the disk has it:
 * 100 ms for a log of 64 MB on a disk that takes 200 MB a second. So a transaction pauses for the
 * pages of the one before it once 5/8 of the log's room are used. At 6/8 the pause is
 * LOG_PACE_SLOWER times what a checkpoint takes for as many pages, so that each of its rounds finds
 * about half as many pages as the one before. A log that the checkpoint keeps up with never gets
 * there.
 */
#ifndef DYNALITH_STORAGE_SQLITE_LOG_PACE_H
#define DYNALITH_STORAGE_SQLITE_LOG_PACE_H

#include <stdbool.h>
#include <stdint.h>

#define LOG_PACE_SLOWER 2

/* All zeros before the first checkpoint of a long log: there are no pauses. */
struct log_pace {
	uint64_t page_ns; /* of moving a page and syncing it, beside writers */
};

/* What a round of a checkpoint did: times in ns. */
struct log_pace_round {
	bool is_first;
	int moved, synced; /* pages */
	uint64_t moving, syncing;
};

/* Of the rounds of a checkpoint the fastest counts: the sync of a few pages takes longer for each.
 */
void log_pace_note(struct log_pace *pace, const struct log_pace_round *round);

/*
 * How long the next transaction pauses, in ns, where the last one took `growth` pages and the log
 * has `pages` now. `room`: the pages that the log usually may have; `allowed`: beyond so many, at
 * least `room`, writers wait for the checkpoint anyway, and the result is 0.
 */
uint64_t log_pace_pause(const struct log_pace *pace, int room, int allowed, int pages, int growth);

#endif
