#include <stdlib.h>

#include "protocol/stream_messages.h"
#include "protocol/streams.h"

#define LIMIT_MAX 100 /* streams per page, also by default. AWS: API Reference, ListStreams */

struct listed {
	struct str arn;
	const struct table *table;
	const struct stream *stream;
};

static int compare(const void *a, const void *b)
{
	return str_cmp(((const struct listed *)a)->arn, ((const struct listed *)b)->arn);
}

/* All streams of the namespace that can be read, in the order of their ARNs. */
static enum code collect(struct call *call, struct str table_name, struct listed **out, size_t *listed, struct err *err)
{
	struct table_list list = {0, NULL};
	enum code code = call_refresh(call, err);
	size_t all = 0, count = 0;

	if (code == OK)
		code = catalog_streamed(call->service->catalog, &call->ns, table_name, call->arena, &list, err);
	struct table **tables = list.v;
	size_t n = list.n;
	for (size_t i = 0; i < n; i++)
		all += tables[i]->streams.n;
	*out = ARENA_ARRAY(call->arena, struct listed, all);
	for (size_t i = 0; i < n; i++) {
		call_hold(call, tables[i]);
		for (size_t k = 0; k < tables[i]->streams.n; k++) {
			const struct stream *stream = &tables[i]->streams.v[k];

			if (!stream_is_gone(stream, call->now_ms))
				(*out)[count++] = (struct listed){streams_arn(call->arena, tables[i], stream), tables[i], stream};
		}
	}
	qsort(*out, count, sizeof(**out), compare);
	*listed = count;
	return code;
}

enum code op_list_streams(struct call *call, const struct list_streams_input *input, struct err *err)
{
	size_t limit = input->limit.is_set ? (size_t)input->limit.value : LIMIT_MAX, first = 0;
	struct json_out *out = &call->out;
	struct listed *listed;
	enum code code = OK;
	size_t n;

	if (limit > LIMIT_MAX)
		return err_set(err, MSG_STREAM_LIST_LIMIT, LIMIT_MAX);
	if (str_is_set(input->exclusive_start_stream_arn))
		code = streams_check_arn(input->exclusive_start_stream_arn, err);
	if (code == OK)
		code = collect(call, input->table_name, &listed, &n, err);
	if (code != OK)
		return code;
	while (str_is_set(input->exclusive_start_stream_arn) && first < n && str_cmp(listed[first].arn, input->exclusive_start_stream_arn) <= 0)
		first++;
	size_t end = n - first > limit ? first + limit : n;
	json_out_open(out, '{');
	json_out_name(out, STR("Streams"));
	json_out_open(out, '[');
	for (size_t i = first; i < end; i++) {
		json_out_open(out, '{');
		json_out_field_string(out, "StreamArn", listed[i].arn);
		json_out_field_string(out, "TableName", listed[i].table->identity.name);
		json_out_field_string(out, "StreamLabel", listed[i].stream->label);
		json_out_close(out, '}');
	}
	json_out_close(out, ']');
	if (end < n)
		json_out_field_string(out, "LastEvaluatedStreamArn", listed[end - 1].arn);
	json_out_close(out, '}');
	return OK;
}
