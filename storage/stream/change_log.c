#include "storage/stream/change_log.h"

#include "storage/item_key.h"
#include "storage/store/row.h"

void change_log_set(struct table *next, unsigned reasons, int64_t now_ms)
{
	if (next->log.reasons == reasons)
		return;
	next->log.reasons = reasons;
	next->log.is_there = next->log.is_there || reasons != 0;
	next->log.changed_ms = now_ms;
}

enum code change_log_after(struct store_txn *txn, const struct table *table, int64_t moment_ms,
			   uint64_t *sequence, struct err *err)
{
	struct stream_peek peek;
	uint64_t low = 0;
	enum code code = stream_next(txn, table, sequence, err);

	if (code != OK)
		return code;
	/* records below low are not later than the moment, those from *sequence on are */
	while (low < *sequence) {
		uint64_t middle = low + (*sequence - low) / 2;

		code = stream_record_peek(txn, table, middle, *sequence, false, &peek, err);
		if (code == OK && peek.is_found && peek.created_ms <= moment_ms)
			low = peek.sequence + 1;
		else
			*sequence = middle;
		if (code != OK)
			return code;
	}
	return OK;
}

enum code change_log_read(struct store_txn *txn, struct arena *arena, const struct table *table,
			  struct change_log_page *page, struct err *err)
{
	struct store_range range = stream_shard_range(arena, page->from, page->to);
	struct store_page rows = {.n = 0};

	page->n = 0;
	page->is_more = false;
	if (page->to && page->from >= page->to)
		return OK;
	range.is_reverse = page->is_reverse;
	enum code code =
		store_page(txn, stream_keyspace(table), &range, page->bounds, arena, &rows, err);
	page->v = ARENA_ARRAY(arena, struct stream_record, rows.n);
	for (; page->n < rows.n && code == OK; page->n++) {
		if (!stream_record_decode(rows.v[page->n].key, rows.v[page->n].value,
					  &page->v[page->n]))
			return row_malformed(err, stream_keyspace(table), rows.v[page->n].key);
	}
	page->is_more = rows.is_more;
	if (code != OK)
		return code;
	if (page->n > 0 && page->is_reverse)
		page->to = page->v[page->n - 1].sequence;
	else if (page->n > 0)
		page->from = page->v[page->n - 1].sequence + 1;
	return OK;
}

enum code change_log_key(struct arena *arena, const struct table *table,
			 const struct stream_record *record, struct str *row_key, struct err *err)
{
	struct value *keys = ARENA_NEW(arena, struct value);

	if (!stream_record_keys(arena, table, record, keys))
		return row_malformed(err, stream_keyspace(table),
				     stream_shard_record_key(arena, record->sequence));
	return item_key_of_key(arena, table, keys, row_key, err);
}
