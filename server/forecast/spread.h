/*
 * spread - which key each cell of a pattern's requests has, and where the key lies among hashes.
 */
#ifndef DYNALITH_SERVER_FORECAST_SPREAD_H
#define DYNALITH_SERVER_FORECAST_SPREAD_H

#include "server/forecast/plan.h"

#define CELLS 1000
#define SPREAD_REST (-1) /* one of many keys: none stands out */

struct spread {
	const struct plan_keys *keys;
	struct str space; /* table and index: the same key is at the same place there */
	uint64_t seed;
	int32_t key[CELLS];
	uint32_t place[CELLS]; /* the hash of its partition key */
};

/* `is_mixed`: cells are in another order than those of the same pattern's other spreads. */
void spread_make(struct arena *arena, struct spread *spread, bool is_mixed);

/* SPREAD_TIME: the keys of that hour. Returns whether they are new. */
bool spread_move(struct arena *arena, struct spread *spread, int64_t hour);

/* The key's name in reports. */
struct str spread_name(struct arena *arena, const struct spread *spread, int32_t key, int64_t hour);

#endif
