/*
 * tables - tables in the API's own words: CreateTable's body, DescribeTable's answer.
 */
#ifndef DYNALITH_SERVER_IMPORTERS_TABLES_H
#define DYNALITH_SERVER_IMPORTERS_TABLES_H

#include "server/seed/seed.h"

/* Whether a JSON document is one of these: {"Table": {...}}, {"TableDescription": {...}},
 * CreateTable's body, or an array of these. */
bool tables_are_in(const struct json *root);

/* Makes the tables of such a document. */
enum code tables_read(struct seed *seed, const struct json *root, struct err *err) WARN_UNUSED;

#endif
