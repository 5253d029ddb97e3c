/*
 * model - tables of NoSQL Workbench for DynamoDB: its data models, version 3.0, with the sample
 * data of tables and facets.
 */
#ifndef DYNALITH_SERVER_IMPORTERS_MODEL_H
#define DYNALITH_SERVER_IMPORTERS_MODEL_H

#include "server/seed/seed.h"

bool model_is_in(const struct json *root);
enum code model_read(struct seed *seed, const struct json *root, struct err *err) WARN_UNUSED;

#endif
