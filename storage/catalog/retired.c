#include "storage/catalog/retired.h"

#include <stdlib.h>

#include "core/buf.h"
#include "storage/stream/stream.h"

#define PREFIX STR("\0\0")

static const struct keyspace tables_keyspace = {0, SYSTEM_TABLES};

void retired_add(struct retired *retired, struct table *table)
{
	retired->tables = arena_checked(realloc(retired->tables, (retired->n + 1) * sizeof(*retired->tables)));
	retired->tables[retired->n++] = table;
}

void retired_put(struct retired *retired, struct table *table)
{
	for (size_t i = 0; i < retired->n; i++) {
		if (retired->tables[i]->identity.number == table->identity.number) {
			table_unref(retired->tables[i]);
			retired->tables[i] = table;
			return;
		}
	}
	retired_add(retired, table);
}

bool retired_remove(struct retired *retired, const struct table *table)
{
	for (size_t i = 0; i < retired->n; i++) {
		if (retired->tables[i] == table) {
			retired->tables[i] = retired->tables[--retired->n];
			return true;
		}
	}
	return false;
}

void retired_clear(struct retired *retired)
{
	for (size_t i = 0; i < retired->n; i++)
		table_unref(retired->tables[i]);
	free(retired->tables);
	*retired = (struct retired){0, NULL};
}

struct str retired_prefix(void)
{
	return PREFIX;
}

bool retired_is_key(struct str key)
{
	return str_starts_with(key, PREFIX);
}

static struct str key_of(struct arena *arena, const struct table *table)
{
	struct buf buf = buf_in(arena);

	buf_add_str(&buf, PREFIX);
	buf_add_be64(&buf, table->identity.number);
	return buf_str(&buf);
}

struct table *retired_of(const struct table *table, int64_t now_ms)
{
	const struct stream *latest = table->streams.n ? &table->streams.v[table->streams.n - 1] : NULL;

	if (!latest || stream_is_gone(latest, now_ms))
		return NULL;
	struct table *kept = table_clone(table);
	if (!latest->disabled_ms)
		kept->streams.v[kept->streams.n - 1].disabled_ms = now_ms;
	kept->streams.view = STREAM_OFF;
	kept->state.status = STATUS_DELETING;
	return kept;
}

enum code retired_store(struct store_txn *txn, const struct table *table, const struct table *kept, struct err *err)
{
	if (!kept)
		return table->streams.n ? store_drop(txn, stream_keyspace(table), err) : OK;
	enum code code = stream_change_table(txn, err->arena, table, kept, err);
	return code != OK ? code : store_put(txn, tables_keyspace, key_of(err->arena, kept), table_encode(err->arena, kept), err);
}

enum code retired_drop(struct store_txn *txn, const struct table *kept, struct err *err)
{
	struct str key = key_of(err->arena, kept), record;
	enum code code = store_get(txn, tables_keyspace, key, err->arena, &record, err);

	if (code != OK || !str_is_set(record)) /* another process dropped it */
		return code;
	code = store_drop(txn, stream_keyspace(kept), err);
	return code != OK ? code : store_del(txn, tables_keyspace, key, err);
}
