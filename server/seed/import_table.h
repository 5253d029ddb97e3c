/*
 * import_table - a table that ImportTable makes, from CreateTable's body and a source in S3: what
 * templates and Terraform's plans say of imports.
 */
#ifndef DYNALITH_SERVER_SEED_IMPORT_TABLE_H
#define DYNALITH_SERVER_SEED_IMPORT_TABLE_H

#include "server/seed/seed.h"

struct import_table {
	struct str name;
	struct str create; /* CreateTable's body */
	struct str source; /* S3BucketSource, InputFormat, ...: an object as ImportTable has them */
	struct str region, account;
	struct origin origin;        /* of the table */
	struct origin source_origin; /* of the import, at that path */
	struct str path;
};

/*
 * Makes the table and imports its items. What ImportTable does not take of `create` follows by
 * UpdateTable, TagResource and PutResourcePolicy, then come `follow_ups`. A trial has no buckets:
 * it makes the table and warns.
 */
enum code import_table_make(struct seed *seed, const struct import_table *from,
			    const struct seed_request *follow_ups, size_t n,
			    struct err *err) WARN_UNUSED;

#endif
