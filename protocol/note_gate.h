/*
 * note_gate - at most one note a second goes to the log. The next one says how many were left out.
 *
 * A client that asks for a missing table in a loop must not fill the log, nor make the workers wait
 * for it.
 */
#ifndef DYNALITH_PROTOCOL_NOTE_GATE_H
#define DYNALITH_PROTOCOL_NOTE_GATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define NOTE_PERIOD_MS 1000

struct note_gate {
	_Atomic int64_t opens_ms; /* monotonic time from which the next note goes through */
	atomic_uint left_out;
};

/* Whether a note goes through at this moment; *left_out: how many did not since the last one. */
static inline bool note_gate_opens(struct note_gate *gate, int64_t now_ms, unsigned *left_out)
{
	int64_t opens = atomic_load_explicit(&gate->opens_ms, memory_order_relaxed);

	if (now_ms < opens ||
	    !atomic_compare_exchange_strong(&gate->opens_ms, &opens, now_ms + NOTE_PERIOD_MS)) {
		atomic_fetch_add(&gate->left_out, 1);
		return false;
	}
	*left_out = atomic_exchange(&gate->left_out, 0);
	return true;
}

#endif
