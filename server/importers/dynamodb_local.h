/*
 * dynamodb_local - tables and items of DynamoDB Local's data files: shared-local-instance.db, and
 * those of one access key and region.
 */
#ifndef DYNALITH_SERVER_IMPORTERS_DYNAMODB_LOCAL_H
#define DYNALITH_SERVER_IMPORTERS_DYNAMODB_LOCAL_H

#include "server/seed/seed.h"

/* The file is read by its path; its text is not looked at. */
enum code dynamodb_local_read(struct seed *seed, const struct seed_file *file,
			      struct err *err) WARN_UNUSED;

#endif
