#include "protocol/stream_messages.h"
#include "protocol/streams.h"
#include "protocol/work/work.h"
#include "storage/stream/stream_read.h"

#define LIMIT_MAX 1000 /* records per page, also by default. AWS: API Reference, GetRecords */
#define ITERATOR_LIFE_MS (15 * 60 * 1000LL) /* AWS: API Reference, GetShardIterator */

static void write_records(struct call *call, const struct stream_cursor *cursor,
			  const struct stream_page *page)
{
	json_out_name(&call->out, STR("Records"));
	json_out_open(&call->out, '[');
	for (size_t i = 0; i < page->n; i++) {
		const struct stream_entry *entry = &page->v[i];
		const struct streams_change change = {cursor->table, cursor->stream, &entry->record,
						      &entry->keys, entry->size};

		streams_write_record(&call->out, call->arena, &change, STREAMS_RECORD);
	}
	json_out_close(&call->out, ']');
}

static enum code check_get_records(const struct call *call, const struct get_records_input *input,
				   struct streams_iterator *iterator, struct err *err)
{
	if (input->limit.is_set && input->limit.value > LIMIT_MAX)
		return err_set(err, MSG_STREAM_RECORD_LIMIT, LIMIT_MAX);
	if (!streams_read_iterator(call->arena, input->shard_iterator, iterator))
		return err_set(err, MSG_STREAM_ITERATOR);
	return call->now_ms - iterator->issued_ms > ITERATOR_LIFE_MS
		       ? err_default(err, ERR_EXPIRED_ITERATOR)
		       : OK;
}

enum code op_get_records(struct call *call, const struct get_records_input *input, struct err *err)
{
	size_t limit = input->limit.is_set ? (size_t)input->limit.value : LIMIT_MAX;
	struct stream_cursor cursor = {0};
	struct stream_page page;
	struct streams_iterator iterator;
	struct table *table;
	enum code code = call_refresh(call, err);

	cursor.now_ms = call->now_ms;
	if (code != OK)
		return code;
	code = check_get_records(call, input, &iterator, err);
	if (code != OK)
		return code;
	code = streams_find(call, iterator.arn, &table, &cursor.stream, err);
	if (code != OK)
		return code;
	struct work work = {.call = call, .kind = WORK_OF_TABLE, .table = table->identity.name};
	code = work_meet(&work, err);
	if (code != OK)
		return code;
	cursor.table = table;
	cursor.shard = iterator.shard;
	cursor.position = iterator.position;
	code = stream_read_page(catalog_store(call->service->catalog), call->arena, &cursor, limit,
				&page, err);
	if (code != OK)
		return code;
	json_out_open(&call->out, '{');
	write_records(call, &cursor, &page);
	if (!cursor.is_at_end) {
		iterator.position = cursor.position;
		iterator.issued_ms = call->now_ms;
		json_out_field_string(&call->out, "NextShardIterator",
				      streams_iterator_text(call->arena, &iterator));
	}
	json_out_close(&call->out, '}');
	return OK;
}
