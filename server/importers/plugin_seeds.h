/*
 * plugin_seeds - items that plugins of the Serverless Framework put: what serverless.yml has of
 * them in "custom".
 *
 *   serverless-dynamodb-local, serverless-dynamodb   dynamodb.seed.CATEGORY.sources: [ENTRY],
 *                                                    serverless-dynamodb.seed likewise
 *   serverless-dynamodb-seed                         seed.NAME: ENTRY
 *   serverless-dynamodb-fixtures                     fixtures.rules: [ENTRY]
 *   serverless-dynalite                              dynalite.seed: [ENTRY]
 *
 * An entry is {table, sources: [FILE], rawsources: [FILE], source: FILE}. Its files are JSON beside
 * serverless.yml: an item or an array of items.
 */
#ifndef DYNALITH_SERVER_IMPORTERS_PLUGIN_SEEDS_H
#define DYNALITH_SERVER_IMPORTERS_PLUGIN_SEEDS_H

#include "server/importers/intrinsics.h"

/* Puts the items; *entries is how many entries there are. in->problem may be set. */
enum code plugin_seeds_put(struct seed *seed, struct intrinsics *in, size_t *entries,
			   struct err *err) WARN_UNUSED;

#endif
