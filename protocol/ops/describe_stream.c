#include "protocol/tables/describe.h"
#include "protocol/stream_messages.h"
#include "protocol/streams.h"
#include "protocol/timing/timing.h"
#include "storage/stream/stream_read.h"

#define LIMIT_MAX 100 /* shards per page, also by default. AWS: API Reference, DescribeStream */

static enum code check_describe_stream(const struct describe_stream_input *input, struct err *err)
{
	if (input->limit.is_set && input->limit.value > LIMIT_MAX)
		return err_set(err, MSG_STREAM_SHARD_LIMIT, LIMIT_MAX);
	if (!input->shard_filter)
		return OK;
	if (!input->shard_filter->type)
		return err_set(err, MSG_STREAM_FILTER_TYPE);
	if (!str_is_set(input->shard_filter->shard_id))
		return err_set(err, MSG_STREAM_FILTER_SHARD);
	return str_is_set(input->exclusive_start_shard_id) ? err_set(err, MSG_STREAM_FILTER_START)
							   : OK;
}

/* AWS: shards start behind ExclusiveStartShardId in the order of their names, also where it is the
 * name of none. */
static enum code read_shards_page(struct call *call, const struct describe_stream_input *input,
				  const struct table *table, const struct stream *stream,
				  struct stream_shard_page *page, struct err *err)
{
	uint64_t parent =
		input->shard_filter ? streams_shard_stamp(input->shard_filter->shard_id) : 0;

	*page = (struct stream_shard_page){.limit = input->limit.is_set ? (size_t)input->limit.value
									: LIMIT_MAX};
	if (str_is_set(input->exclusive_start_shard_id))
		page->from =
			streams_shard_after(call->arena, table, input->exclusive_start_shard_id);
	if (!input->shard_filter)
		return stream_read_shards(catalog_store(call->service->catalog), call->arena, table,
					  stream, call->now_ms, page, err);
	return parent ? stream_read_child(catalog_store(call->service->catalog), call->arena, table,
					  stream, call->now_ms, parent, page, err)
		      : OK;
}

static void write_shard(struct call *call, const struct table *table,
			const struct stream_shard *shard)
{
	struct json_out *out = &call->out;

	json_out_open(out, '{');
	json_out_field_string(out, "ShardId", streams_shard_id(call->arena, table, shard->stamp));
	json_out_name(out, STR("SequenceNumberRange"));
	json_out_open(out, '{');
	json_out_field_string(out, "StartingSequenceNumber",
			      streams_sequence(call->arena, shard->start));
	if (shard->end)
		json_out_field_string(out, "EndingSequenceNumber",
				      streams_sequence(call->arena, shard->end - 1));
	json_out_close(out, '}');
	if (shard->parent)
		json_out_field_string(out, "ParentShardId",
				      streams_shard_id(call->arena, table, shard->parent));
	json_out_close(out, '}');
}

static void write_shards(struct call *call, const struct table *table,
			 const struct stream_shard_page *page)
{
	json_out_name(&call->out, STR("Shards"));
	json_out_open(&call->out, '[');
	for (size_t i = 0; i < page->n; i++)
		write_shard(call, table, &page->shards[i]);
	json_out_close(&call->out, ']');
	if (page->is_cut)
		json_out_field_string(
			&call->out, "LastEvaluatedShardId",
			streams_shard_id(call->arena, table, page->shards[page->n - 1].stamp));
}

static struct str status_of(const struct call *call, const struct table *table,
			    const struct stream *stream)
{
	bool is_changing = timing_stream_changes(call, table, stream);
	bool is_new =
		table->state.status == STATUS_CREATING && table->state.settles_ms > call->now_ms;

	if (stream->disabled_ms)
		return is_changing ? STR("DISABLING") : STR("DISABLED");
	return is_new || is_changing ? STR("ENABLING") : STR("ENABLED");
}

enum code op_describe_stream(struct call *call, const struct describe_stream_input *input,
			     struct err *err)
{
	const struct stream *stream;
	struct stream_shard_page page;
	struct json_out *out = &call->out;
	struct table *table;
	enum code code = check_describe_stream(input, err);

	if (code != OK)
		return code;
	code = call_refresh(call, err);
	if (code != OK)
		return code;
	code = streams_find(call, input->stream_arn, &table, &stream, err);
	if (code != OK)
		return code;
	code = read_shards_page(call, input, table, stream, &page, err);
	if (code != OK)
		return code;
	json_out_open(out, '{');
	json_out_name(out, STR("StreamDescription"));
	json_out_open(out, '{');
	json_out_field_string(out, "StreamArn", input->stream_arn);
	json_out_field_string(out, "StreamLabel", stream->label);
	json_out_field_string(out, "StreamStatus", status_of(call, table, stream));
	json_out_field_string(out, "StreamViewType", streams_view_name(stream->view));
	json_out_name(out, STR("CreationRequestDateTime"));
	json_out_time_ms(out, stream->created_ms);
	json_out_field_string(out, "TableName", table->identity.name);
	describe_keys(out, &table->keys);
	write_shards(call, table, &page);
	json_out_close(out, '}');
	json_out_close(out, '}');
	return OK;
}
