/*
 * usage - the bytes that a bulk operation wrote to its table and to each of its indexes, as its
 * progress keeps them. AWS: API Reference, BulkOperationUsage.
 */
#ifndef DYNALITH_PROTOCOL_USAGE_H
#define DYNALITH_PROTOCOL_USAGE_H

#include "core/arena.h"
#include "core/str.h"

enum usage_kind { USAGE_LOCAL, USAGE_GLOBAL, USAGE_VECTOR, USAGE_KINDS };

struct usage_entry {
	enum usage_kind kind;
	struct str name;
	uint64_t bytes;
};

struct usage {
	struct arena *arena;
	uint64_t table; /* without the indexes */
	size_t n;
	struct usage_entry *v;
};

/* Of what usage_pack() made, or of an empty text; older data files have the table's alone. */
struct usage usage_read(struct arena *arena, struct str packed);
void usage_add(struct usage *usage, enum usage_kind kind, struct str name, uint64_t bytes);
struct str usage_pack(const struct usage *usage);

#endif
