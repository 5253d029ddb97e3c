/*
 * description - bodies of requests that make a table: CreateTable's for one like another that
 * DescribeTable shows, UpdateTimeToLive's for an attribute by which items expire.
 */
#ifndef DYNALITH_SERVER_SEED_DESCRIPTION_H
#define DYNALITH_SERVER_SEED_DESCRIPTION_H

#include "core/arena.h"
#include "core/str.h"
#include "protocol/wire/json.h"

struct str description_to_create(struct arena *arena, const struct json *table);
struct str description_to_expire(struct arena *arena, struct str table, struct str attribute);

#endif
