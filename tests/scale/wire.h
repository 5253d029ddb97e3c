/*
 * wire - libpq's calls for storage/store/postgresql/, over the simulated database: the backend
 * above them is the one that ships.
 *
 * The program is linked with --wrap=libpq_load. A connection is a session of the database with a
 * fiber of its own, which takes one pipeline after another from it: half a round trip after it was
 * sent, the answers half a round trip after they are complete.
 */
#ifndef DYNALITH_SCALE_WIRE_H
#define DYNALITH_SCALE_WIRE_H

#include <stdint.h>

#include "storage/store/postgresql/link.h"

/* Of all connections. */
struct wire_counts {
	uint64_t pipelines, statements[STATEMENT_COUNT];
};

extern struct wire_counts wire_counts;

#endif
