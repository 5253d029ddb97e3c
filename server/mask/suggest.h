/*
 * suggest - a mask for tables, from the names and the values of a sample of their items.
 *
 * It masks what it is unsure of. Its text holds names of the schema and words of kinds.def, and no
 * value of an item: names of maps' members that look like values become "*", and parts of composite
 * keys stand in a template only where they are such words.
 */
#ifndef DYNALITH_SERVER_MASK_SUGGEST_H
#define DYNALITH_SERVER_MASK_SUGGEST_H

#include "core/arena.h"
#include "core/str.h"
#include "protocol/wire/json.h"

struct suggest;

struct suggest *suggest_new(void);
void suggest_free(struct suggest *suggest); /* NULL is allowed */

/* The items that follow are of this table. `description`: what DescribeTable shows. */
void suggest_table(struct suggest *suggest, struct str table, const struct json *description);
/* The values that follow are of another item. */
void suggest_next_item(struct suggest *suggest);
/* `met` of struct mask_options, with a suggest as its context. */
void suggest_met(void *suggest, const struct str *names, size_t depth, struct str type,
		 struct str text);

/* The mask as JSON, once, when all was met. */
struct str suggest_write(struct suggest *suggest, struct arena *arena);

/* The next path from *at on that it is unsure of, with the reason. False: there is none. */
bool suggest_unsure(const struct suggest *suggest, size_t *at, struct arena *arena,
		    struct str *path, const char **reason);

#endif
