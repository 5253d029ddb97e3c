/*
 * race_anomaly - what may be wrong in an order of requests, whatever the program says. Pure.
 *
 * Requests are about the same item where they name a value in common (race_trace_conflict()).
 */
#ifndef DYNALITH_SERVER_RACE_ANOMALY_H
#define DYNALITH_SERVER_RACE_ANOMALY_H

#include "server/races/race_trace.h"

/*
 * A read, another chain's write, and behind it a write by the reader, which has not read again and
 * looks at nothing: the places, from `from` on. `is_whole`: the last one is a PutItem, which keeps
 * nothing of what was there.
 */
bool race_anomaly_overwrite(const struct race_trace *trace, size_t from, bool is_whole,
			    size_t places[3]);

/* Two chains that have each read what the other one writes then, without a condition: the places
 * of the first write, the second one, and of the reads before them. */
bool race_anomaly_skew(const struct race_trace *trace, size_t places[4]);

#endif
