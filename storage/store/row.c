#include "storage/store/row.h"

#include "core/buf.h"
#include "storage/store/store_messages.h"

#define KEY_SHOWN 48 /* bytes */

static const char *const system_parts[] = {
	[SYSTEM_TABLES] = "tables",     [SYSTEM_COUNTERS] = "counters",
	[SYSTEM_TOKENS] = "tokens",     [SYSTEM_TOKEN_EXPIRY] = "token expiry",
	[SYSTEM_VERSIONS] = "versions", [SYSTEM_HISTORY] = "history",
};
static const char *const parts[] = {
	[PART_ITEMS] = "items",
	[PART_STREAM] = "stream",
	[PART_EXPIRY] = "expiry",
	[PART_JOURNAL] = "journal",
	[PART_STACK] = "checkpoints",
	[PART_SNAPSHOT] = "snapshot",
	[PART_REPLICATION] = "replication",
};

static const char *name_of(const char *const *names, size_t n, uint32_t part)
{
	return part < n && names[part] ? names[part] : "unknown";
}

/* Words of ASCII are shown as they are, "counters 'lease/ttl'"; other keys in hexadecimal digits.
 */
static void add_shown_key(struct buf *buf, struct str key)
{
	struct str shown = row_first(key, KEY_SHOWN);
	bool is_text = key.n > 0;

	for (size_t i = 0; i < shown.n && is_text; i++)
		is_text = row_at(shown, i) >= ' ' && row_at(shown, i) <= '~';
	if (is_text)
		buf_printf(buf, "'" STR_FMT "'", STR_ARG(shown));
	else
		buf_add_hex(buf, shown.p, shown.n);
	if (key.n > shown.n)
		buf_add_str(buf, STR("..."));
}

struct str row_name(struct arena *arena, struct keyspace keyspace, struct str key)
{
	struct buf buf = buf_in(arena);

	if (keyspace.table == 0)
		buf_printf(&buf, "%s",
			   name_of(system_parts, sizeof(system_parts) / sizeof(system_parts[0]),
				   keyspace.part));
	else if (keyspace.part >= PART_INDEX)
		buf_printf(&buf, "index %u of table %llu", (unsigned)(keyspace.part - PART_INDEX),
			   (unsigned long long)keyspace.table);
	else
		buf_printf(&buf, "%s %llu",
			   name_of(parts, sizeof(parts) / sizeof(parts[0]), keyspace.part),
			   (unsigned long long)keyspace.table);
	buf_add_str(&buf, STR(", key "));
	add_shown_key(&buf, key);
	return buf_str(&buf);
}

enum code row_malformed(struct err *err, struct keyspace keyspace, struct str key)
{
	return err_set(err, MSG_STORE_ROW, STR_ARG(row_name(err->arena, keyspace, key)));
}

enum code row_get_number(struct store_txn *txn, struct keyspace keyspace, struct str key,
			 struct arena *arena, uint64_t *number, struct err *err)
{
	struct str row = STR_ABSENT;
	enum code code = store_get(txn, keyspace, key, arena, &row, err);

	*number = 0;
	if (code != OK)
		return code;
	return row_is_number(row, number) ? OK : row_malformed(err, keyspace, key);
}
