/*
 * pull_change - a record of an incremental export on its way to the file: the masked item is put,
 * or the masked key deleted.
 */
#ifndef DYNALITH_SERVER_PULL_CHANGE_H
#define DYNALITH_SERVER_PULL_CHANGE_H

#include "protocol/transfer/records.h"
#include "server/mask/strict.h"
#include "server/pull/pull_page.h"

/* Whether the key of an item that changed can only be masked with its old image: a rule for it
 * depends on another attribute. */
bool pull_change_needs_old(const struct pull *pull, const struct pull_table *table,
			   struct arena *arena);

/* Adds what the change is for the file. `strict` knows the items that were put before.
 * ERR_VALIDATION: the mask makes keys equal, or leaves one out; or as pull_page_put(). */
enum code pull_change_add(struct pull_page *page, struct strict *strict,
			  const struct record_put *record, struct err *err) WARN_UNUSED;

#endif
