#include "protocol/transfer/usage.h"

#include "core/buf.h"
#include "storage/store/row.h"

#define HEAD 10 /* bytes before an entry's name: kind, length of the name, bytes */

/* The table's bytes (8), then each index: kind (1), length of its name (1), bytes (8), name. */
struct usage usage_read(struct arena *arena, struct str packed)
{
	struct usage usage = {.arena = arena};
	size_t n;

	if (packed.n < 8)
		return usage;
	usage.table = str_be(packed.p, 8);
	for (struct str rest = row_behind(packed, 8); rest.n >= HEAD;
	     rest = row_behind(rest, HEAD + n)) {
		n = (unsigned char)rest.p[1];
		if (rest.n < HEAD + n || (unsigned char)rest.p[0] >= USAGE_KINDS)
			return usage;
		usage_add(&usage, (enum usage_kind)rest.p[0], (struct str){rest.p + HEAD, n},
			  str_be(rest.p + 2, 8));
	}
	return usage;
}

void usage_add(struct usage *usage, enum usage_kind kind, struct str name, uint64_t bytes)
{
	for (size_t i = 0; i < usage->n; i++) {
		if (usage->v[i].kind == kind && str_eq(usage->v[i].name, name)) {
			usage->v[i].bytes += bytes;
			return;
		}
	}
	usage->v = arena_room(usage->arena, usage->v, usage->n, sizeof(*usage->v));
	usage->v[usage->n++] = (struct usage_entry){kind, name, bytes};
}

struct str usage_pack(const struct usage *usage)
{
	struct buf buf = buf_in(usage->arena);

	buf_add_be64(&buf, usage->table);
	for (size_t i = 0; i < usage->n; i++) {
		const struct usage_entry *entry = &usage->v[i];

		buf_add_byte(&buf, (int)entry->kind);
		buf_add_byte(&buf, (int)entry->name.n);
		buf_add_be64(&buf, entry->bytes);
		buf_add_str(&buf, entry->name);
	}
	return buf_str(&buf);
}
