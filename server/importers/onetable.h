/*
 * onetable - the table of a schema of OneTable, as JSON or YAML: {"format": "onetable:1.1.0",
 * "indexes": {...}, "models": {...}}.
 *
 * It is the table that OneTable's own createTable() makes: a number where a model says "number",
 * else a string, and billing by request. The field with "ttl" is when items expire. A schema has no
 * name of a table: that is the file's, or --table's.
 */
#ifndef DYNALITH_SERVER_IMPORTERS_ONETABLE_H
#define DYNALITH_SERVER_IMPORTERS_ONETABLE_H

#include "server/seed/seed.h"

bool onetable_is_in(const struct json *root);
enum code onetable_read(struct seed *seed, const struct json *root, struct err *err) WARN_UNUSED;

#endif
