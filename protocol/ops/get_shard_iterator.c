#include "protocol/stream_messages.h"
#include "protocol/streams.h"
#include "storage/messages.h"
#include "storage/stream/stream_read.h"

static const enum stream_start starts[] = {
	[SHARD_ITERATOR_TYPE_TRIM_HORIZON] = STREAM_START_TRIM_HORIZON,
	[SHARD_ITERATOR_TYPE_LATEST] = STREAM_START_LATEST,
	[SHARD_ITERATOR_TYPE_AT_SEQUENCE_NUMBER] = STREAM_START_AT_SEQUENCE,
	[SHARD_ITERATOR_TYPE_AFTER_SEQUENCE_NUMBER] = STREAM_START_AFTER_SEQUENCE,
	[SHARD_ITERATOR_TYPE_AT_TIMESTAMP] = STREAM_START_AT_TIME,
};

/* Each type has the parameters that it needs and no other. */
static enum code check_get_shard_iterator(const struct call *call,
					  const struct get_shard_iterator_input *input,
					  uint64_t *sequence, struct err *err)
{
	enum stream_start start = starts[input->shard_iterator_type];
	bool wants_sequence =
		start == STREAM_START_AT_SEQUENCE || start == STREAM_START_AFTER_SEQUENCE;

	uint64_t read = 0;

	if (!wants_sequence && str_is_set(input->sequence_number))
		return err_set(err, MSG_STREAM_SEQUENCE_REFUSED);
	if (wants_sequence && !str_is_set(input->sequence_number))
		return err_set(err, MSG_STREAM_SEQUENCE_REQUIRED);
	if (wants_sequence && !streams_read_sequence(input->sequence_number, &read))
		return err_set(err, MSG_SEQUENCE_OUTSIDE);
	bool wants_time = start == STREAM_START_AT_TIME;
	if (!wants_time && input->timestamp.is_set)
		return err_set(err, MSG_STREAM_TIME_REFUSED);
	if (wants_time && !input->timestamp.is_set)
		return err_set(err, MSG_STREAM_TIME_REQUIRED);
	if (wants_time && input->timestamp.value > call->now_ms)
		return err_set(err, MSG_STREAM_TIME_FUTURE);
	*sequence = read;
	return OK;
}

enum code op_get_shard_iterator(struct call *call, const struct get_shard_iterator_input *input,
				struct err *err)
{
	struct stream_cursor cursor = {.shard = streams_shard_stamp(input->shard_id)};
	struct table *table;
	uint64_t sequence = 0;
	enum code code = call_refresh(call, err);

	cursor.now_ms = call->now_ms;
	if (code != OK)
		return code;
	code = check_get_shard_iterator(call, input, &sequence, err);
	if (code != OK)
		return code;
	code = streams_find(call, input->stream_arn, &table, &cursor.stream, err);
	if (code != OK)
		return code;
	cursor.table = table;
	/* a name with the right stamp and another table's hash is not a shard of this table */
	if (!str_eq(streams_shard_id(call->arena, table, cursor.shard), input->shard_id))
		cursor.shard = 0;
	code = stream_read_start(catalog_store(call->service->catalog), call->arena, &cursor,
				 starts[input->shard_iterator_type], sequence,
				 input->timestamp.value, err);
	if (code != OK)
		return code;
	struct streams_iterator iterator = {input->stream_arn, cursor.shard, cursor.position,
					    call->now_ms};
	json_out_open(&call->out, '{');
	json_out_field_string(&call->out, "ShardIterator",
			      streams_iterator_text(call->arena, &iterator));
	json_out_close(&call->out, '}');
	return OK;
}
