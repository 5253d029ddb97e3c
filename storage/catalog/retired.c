#include "storage/catalog/retired.h"

#include <stdlib.h>

#include "core/buf.h"
#include "storage/stream/stream.h"

#define PREFIX STR("\0\0")

static const struct keyspace tables_keyspace = {0, SYSTEM_TABLES};

/* Where the table of that number stands, or would stand. */
static size_t position(const struct retired *retired, uint64_t number, bool *is_there)
{
	size_t low = 0, high = retired->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (retired->tables[middle]->identity.number < number)
			low = middle + 1;
		else
			high = middle;
	}
	*is_there = low < retired->n && retired->tables[low]->identity.number == number;
	return low;
}

void retired_put(struct retired *retired, struct table *table)
{
	bool is_there;
	size_t at = position(retired, table->identity.number, &is_there);

	if (is_there) {
		table_unref(retired->tables[at]);
		retired->tables[at] = table;
		return;
	}
	if (retired->n == retired->capacity) {
		retired->capacity = retired->capacity ? retired->capacity * 2 : 16;
		retired->tables = arena_checked(realloc(retired->tables, retired->capacity * sizeof(*retired->tables)));
	}
	memmove(&retired->tables[at + 1], &retired->tables[at], (retired->n - at) * sizeof(*retired->tables));
	retired->tables[at] = table;
	retired->n++;
}

void retired_remove(struct retired *retired, uint64_t number)
{
	bool is_there;
	size_t at = position(retired, number, &is_there);

	if (!is_there)
		return;
	table_unref(retired->tables[at]);
	retired->n--;
	memmove(&retired->tables[at], &retired->tables[at + 1], (retired->n - at) * sizeof(*retired->tables));
}

void retired_take(struct retired *retired, struct retired *found)
{
	for (size_t i = 0, k = 0; i < found->n; i++) {
		uint64_t number = found->tables[i]->identity.number;

		while (k < retired->n && retired->tables[k]->identity.number < number)
			k++;
		if (k == retired->n || retired->tables[k]->identity.number != number)
			continue;
		table_unref(found->tables[i]);
		found->tables[i] = table_ref(retired->tables[k]);
	}
	retired_clear(retired);
	*retired = *found;
	*found = (struct retired){0, 0, NULL};
}

void retired_clear(struct retired *retired)
{
	for (size_t i = 0; i < retired->n; i++)
		table_unref(retired->tables[i]);
	free(retired->tables);
	*retired = (struct retired){0, 0, NULL};
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
	kept->log.reasons = 0;
	kept->log.changed_ms = now_ms;
	kept->state.status = STATUS_DELETING;
	return kept;
}

enum code retired_store(struct store_txn *txn, const struct table *table, const struct table *kept, struct err *err)
{
	if (!kept)
		return table_has_log(table) ? store_drop(txn, stream_keyspace(table), err) : OK;
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
