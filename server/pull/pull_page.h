/*
 * pull_page - items on their way to the file: masked, and written by the batch.
 */
#ifndef DYNALITH_SERVER_PULL_PAGE_H
#define DYNALITH_SERVER_PULL_PAGE_H

#include "core/buf.h"
#include "server/pull/pull_ask.h"

/* Begins with these three members. All lies in the arena, until the end. */
struct pull_page {
	const struct pull *pull;
	const struct pull_table *table;
	struct arena *arena;
	struct buf body;
	size_t in_batch;
	uint64_t n, removed; /* items so far */
};

/* ERR_VALIDATION: the file refuses items. */
enum code pull_page_add(struct pull_page *page, struct str item, struct err *err) WARN_UNUSED;
/* An item that is masked already; a key, as masked, whose item is deleted. Not two of one key in a
 * page. */
enum code pull_page_put(struct pull_page *page, struct str masked, struct err *err) WARN_UNUSED;
enum code pull_page_remove(struct pull_page *page, struct str key, struct err *err) WARN_UNUSED;
/* Writes what is left. ERR_VALIDATION: as above, or the mask lacks rules. */
enum code pull_page_end(struct pull_page *page, struct err *err) WARN_UNUSED;

#endif
