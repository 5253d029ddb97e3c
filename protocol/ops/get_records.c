#include "protocol/stream_messages.h"
#include "protocol/streams.h"
#include "storage/stream/stream_read.h"

#define LIMIT_MAX 1000                      /* records per page, also where none is asked for. AWS: API Reference, GetRecords */
#define ITERATOR_LIFE_MS (15 * 60 * 1000LL) /* AWS: API Reference, GetShardIterator */

struct writing {
	struct call *call;
	const struct stream_cursor *cursor;
};

static void write_identity(struct json_out *out)
{
	json_out_name(out, STR("userIdentity"));
	json_out_open(out, '{');
	json_out_field_string(out, "PrincipalId", STR("dynamodb.amazonaws.com"));
	json_out_field_string(out, "Type", STR("Service"));
	json_out_close(out, '}');
}

static void write_image(struct json_out *out, struct str name, struct str image)
{
	if (!str_is_set(image))
		return;
	json_out_name(out, name);
	json_out_image(out, image);
}

static void write_change(struct writing *writing, const struct stream_record *record, const struct value *keys, size_t size)
{
	struct json_out *out = &writing->call->out;

	json_out_name(out, STR("dynamodb"));
	json_out_open(out, '{');
	json_out_field_integer(out, "ApproximateCreationDateTime", record->created_ms / 1000);
	json_out_name(out, STR("Keys"));
	json_out_item(out, keys);
	write_image(out, STR("NewImage"), record->new_image);
	write_image(out, STR("OldImage"), record->old_image);
	json_out_field_string(out, "SequenceNumber", streams_sequence(writing->call->arena, record->sequence));
	json_out_field_integer(out, "SizeBytes", (int64_t)size);
	json_out_field_string(out, "StreamViewType", streams_view_name(writing->cursor->stream->view));
	json_out_close(out, '}');
}

/* A stream_sink. */
static void write_record(void *context, const struct stream_record *record, const struct value *keys, size_t size)
{
	static const char *const events[] = {[STREAM_INSERT] = "INSERT", [STREAM_MODIFY] = "MODIFY", [STREAM_REMOVE] = "REMOVE"};
	struct writing *writing = context;
	const struct table *table = writing->cursor->table;
	struct json_out *out = &writing->call->out;

	json_out_open(out, '{');
	json_out_field_string(out, "eventID", streams_event_id(writing->call->arena, table, record->sequence));
	json_out_field_string(out, "eventName", str_of(events[record->event]));
	json_out_field_string(out, "eventVersion", STR("1.1"));
	json_out_field_string(out, "eventSource", STR("aws:dynamodb"));
	json_out_field_string(out, "awsRegion", table->identity.region);
	write_change(writing, record, keys, size);
	if (record->is_service_delete)
		write_identity(out);
	json_out_close(out, '}');
}

static enum code check(const struct call *call, const struct get_records_input *input, struct streams_iterator *iterator, struct err *err)
{
	if (input->limit.is_set && input->limit.value > LIMIT_MAX)
		return err_set(err, MSG_STREAM_RECORD_LIMIT, LIMIT_MAX);
	if (!streams_read_iterator(call->arena, input->shard_iterator, iterator))
		return err_set(err, MSG_STREAM_ITERATOR);
	return call->now_ms - iterator->issued_ms > ITERATOR_LIFE_MS ? err_default(err, ERR_EXPIRED_ITERATOR) : OK;
}

enum code op_get_records(struct call *call, const struct get_records_input *input, struct err *err)
{
	size_t limit = input->limit.is_set ? (size_t)input->limit.value : LIMIT_MAX;
	struct stream_cursor cursor = {.now_ms = call->now_ms};
	struct writing writing = {call, &cursor};
	struct streams_iterator iterator;
	struct table *table;
	enum code code = check(call, input, &iterator, err);

	if (code == OK)
		code = streams_find(call, iterator.arn, &table, &cursor.stream, err);
	if (code != OK)
		return code;
	cursor.table = table;
	cursor.shard = iterator.shard;
	cursor.position = iterator.position;
	json_out_open(&call->out, '{');
	json_out_name(&call->out, STR("Records"));
	json_out_open(&call->out, '[');
	code = stream_read_page(catalog_store(call->service->catalog), call->arena, &cursor, limit, write_record, &writing, err);
	if (code != OK)
		return code;
	json_out_close(&call->out, ']');
	if (!cursor.is_at_end) {
		iterator.position = cursor.position;
		iterator.issued_ms = call->now_ms;
		json_out_field_string(&call->out, "NextShardIterator", streams_iterator_text(call->arena, &iterator));
	}
	json_out_close(&call->out, '}');
	return OK;
}
