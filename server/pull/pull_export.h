/*
 * pull_export - the items of a table from exports to S3: a full one, and the changes of incremental
 * ones behind it, in DynamoDB's JSON or in Ion.
 */
#ifndef DYNALITH_SERVER_PULL_EXPORT_H
#define DYNALITH_SERVER_PULL_EXPORT_H

#include "server/export/export_manifest.h"
#include "server/pull/pull_ask.h"

struct pull_export {
	const struct export_manifest *manifests; /* as export_manifest_chain() accepts them */
	size_t n;
	uint64_t put, removed; /* out: items by incremental ones */
};

/* Whether the first one has changes only: they are for a table that the file has. */
bool pull_export_is_changes(const struct pull_export *exports);

/* Says in a line each what they are. */
void pull_export_show(const struct pull_export *exports, struct arena *arena);

/* ERR_VALIDATION: an incremental export does not have what the mask needs. */
enum code pull_export_check(const struct pull *pull, const struct pull_table *table,
			    const struct pull_export *exports, struct err *err) WARN_UNUSED;

/*
 * All of them, with the same check; the table in the file is of the last one's moment then. From
 * the data file where an earlier pull stopped, unless they are changes only. Sets table->read.
 * ERR_INTERNAL: a file is missing, broken or cut off. ERR_VALIDATION: as pull_pages(), or the mask
 * makes keys equal.
 */
enum code pull_export_items(const struct pull *pull, struct pull_table *table,
			    struct pull_export *exports, struct err *err) WARN_UNUSED;

#endif
