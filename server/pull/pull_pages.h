/*
 * pull_pages - the items of a table: read page by page from segments, masked, written to the file.
 */
#ifndef DYNALITH_SERVER_PULL_PAGES_H
#define DYNALITH_SERVER_PULL_PAGES_H

#include "server/pull/pull_ask.h"

#define PULL_SEGMENTS_MAX 64
#define PULL_UNIT_BYTES 8192.0 /* of a read unit of an eventually consistent Scan */

/* From where an earlier pull stopped. *items: how many were written in all. Errors: as
 * pull_ask() and pull_ask_file(), and ERR_VALIDATION for values that no rule names. */
enum code pull_pages(const struct pull *pull, const struct pull_table *table, uint64_t *items,
		     struct err *err) WARN_UNUSED;

/* Asks for a sample: at most PULL_SAMPLE items, from all over the table; `each` gets them one by
 * one. ERR_INTERNAL: the source failed. */
#define PULL_SAMPLE 1024
enum code pull_pages_sample(const struct pull *pull, const struct pull_table *table,
			    void (*each)(void *context, struct arena *arena, struct str item),
			    void *context, struct err *err) WARN_UNUSED;

#endif
