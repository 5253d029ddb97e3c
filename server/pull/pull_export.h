/*
 * pull_export - the items of a table from an export to S3 in DynamoDB's JSON, as files of a folder.
 *
 * AWS: Developer Guide, "DynamoDB table export output format". The folder is AWSDynamoDB/ID of an
 * export: manifest-files.json, and the files that it names in data/.
 */
#ifndef DYNALITH_SERVER_PULL_EXPORT_H
#define DYNALITH_SERVER_PULL_EXPORT_H

#include "server/pull/pull_ask.h"

#define PULL_EXPORT_FILE_MAX ((size_t)2 << 30) /* bytes of a file without its compression */

/* From the file where an earlier pull stopped. *items: how many were written in all. ERR_INTERNAL:
 * a file is missing, broken or cut off. ERR_VALIDATION: as pull_pages(). */
enum code pull_export_items(const struct pull *pull, const struct pull_table *table,
			    const char *folder, uint64_t *items, struct err *err) WARN_UNUSED;

#endif
