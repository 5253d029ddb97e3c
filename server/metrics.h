/*
 * metrics - what was asked and how it went, in counters; /_dynalith/metrics shows them in the text format of Prometheus.
 */
#ifndef DYNALITH_SERVER_METRICS_H
#define DYNALITH_SERVER_METRICS_H

#include "protocol/op.h"

struct metrics;

struct metrics *metrics_new(void);
void metrics_free(struct metrics *metrics);

/* Counts a response; `op` NULL for a request that named no operation. Thread-safe. */
void metrics_count(struct metrics *metrics, const struct op *op, enum code code);

struct str metrics_text(const struct metrics *metrics, struct arena *arena);

#endif
