/*
 * name_index - the keys of the catalog by the names of their tables.
 *
 * A request for a table that its namespace does not have asks who else has one of that name. The catalog is sorted by namespace first, so
 * this order by name saves a walk over all tables. A key is account NUL region NUL name, or NUL name; the index keeps the caller's bytes.
 */
#ifndef DYNALITH_STORAGE_NAME_INDEX_H
#define DYNALITH_STORAGE_NAME_INDEX_H

#include <stdbool.h>
#include <stddef.h>

#include "core/str.h"

struct name_index {
	size_t n, capacity;
	struct str *keys;
};

void name_index_free(struct name_index *index);

/* The key must stay where it is until it is removed. */
void name_index_add(struct name_index *index, struct str key);
void name_index_remove(struct name_index *index, struct str key);

typedef bool name_visit(void *context, struct str key);

/* Visits the keys of that name in byte order until the visitor gives false. */
void name_index_walk(const struct name_index *index, struct str name, name_visit *visit, void *context);

#endif
