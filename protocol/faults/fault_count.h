/*
 * fault_count - how often a rule matched, per key: what makes faults the same with any number of
 * threads, as long as each key's requests are.
 */
#ifndef DYNALITH_PROTOCOL_FAULTS_COUNT_H
#define DYNALITH_PROTOCOL_FAULTS_COUNT_H

#include <stdint.h>

#define FAULT_KEYS_MAX 1000000 /* keys with a counter of their own; all others share one */

struct fault_counts;

struct fault_counts *fault_counts_new(void);
void fault_counts_free(struct fault_counts *counts);

/* One more of the key whose hash that is; returns how many there are, from 1. Thread-safe. */
uint64_t fault_counts_next(struct fault_counts *counts, uint64_t key);

#endif
