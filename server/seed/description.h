/*
 * description - CreateTable's body for a table like one that DescribeTable shows.
 */
#ifndef DYNALITH_SERVER_SEED_DESCRIPTION_H
#define DYNALITH_SERVER_SEED_DESCRIPTION_H

#include "core/arena.h"
#include "core/str.h"
#include "protocol/wire/json.h"

struct str description_to_create(struct arena *arena, const struct json *table);

#endif
