#include "protocol/stream_messages.h"
#include "protocol/streams.h"
#include "storage/catalog/mark_walk.h"

#define LIMIT_MAX 100 /* streams per page, also by default. AWS: API Reference, ListStreams */

struct listed {
	size_t n;
	const struct mark **v; /* streams, in the order of their ARNs */
	bool is_more;
};

/* Whether the ARNs of the namespace begin as this one, of which none need be; else whether they are
 * all behind it. */
static bool begins_there(const struct call *call, struct str arn, bool *are_behind)
{
	struct str own = str_printf(call->arena, "arn:aws:dynamodb:" STR_FMT ":" STR_FMT ":table/",
				    STR_ARG(call->ns.region), STR_ARG(call->ns.account));

	*are_behind = str_cmp(own, arn) > 0;
	return str_starts_with(arn, own) || catalog_options(call->service->catalog)->is_shared;
}

/* Some streams that can be read, from behind `after` on. */
static enum code collect_streams(struct call *call, struct marks *marks, size_t limit,
				 struct listed *listed, struct err *err)
{
	enum code code = OK;

	*listed = (struct listed){.v = ARENA_ARRAY(call->arena, const struct mark *, limit)};
	while (code == OK && marks->is_more && !listed->is_more) {
		marks->limit = limit - listed->n + 1;
		code = mark_walk_page(call->service->catalog, call->arena, marks, err);
		for (size_t i = 0; i < marks->n && code == OK && !listed->is_more; i++) {
			if (marks->v[i].ms < call->now_ms)
				continue;
			listed->is_more = listed->n == limit;
			if (!listed->is_more)
				listed->v[listed->n++] = &marks->v[i];
		}
	}
	return code;
}

static enum code list_streams_page(struct call *call, const struct list_streams_input *input,
				   size_t limit, struct listed *listed, struct err *err)
{
	struct str space = catalog_key(call->arena, call->service->catalog, call->ns, STR("")),
		   from = input->exclusive_start_stream_arn, name, label;
	struct marks marks = {.kind = MARK_STREAM, .within = space, .is_more = true};
	bool are_behind = true;
	enum code code = call_refresh(call, err);

	if (code != OK)
		return code;
	if (str_is_set(input->table_name))
		marks.within = table_rows_streams(call->arena, space, input->table_name);
	if (str_is_set(from) && begins_there(call, from, &are_behind) &&
	    streams_read_arn(from, &name, &label))
		marks.after = table_rows_last_stream(call->arena, space, name, label);
	else
		marks.is_more = are_behind;
	return collect_streams(call, &marks, limit, listed, err);
}

enum code op_list_streams(struct call *call, const struct list_streams_input *input,
			  struct err *err)
{
	size_t limit = input->limit.is_set ? (size_t)input->limit.value : LIMIT_MAX;
	struct json_out *out = &call->out;
	struct listed listed;
	enum code code = OK;

	if (limit > LIMIT_MAX)
		return err_set(err, MSG_STREAM_LIST_LIMIT, LIMIT_MAX);
	if (str_is_set(input->exclusive_start_stream_arn))
		code = streams_check_arn(input->exclusive_start_stream_arn, err);
	if (code != OK)
		return code;
	code = list_streams_page(call, input, limit, &listed, err);
	if (code != OK)
		return code;
	json_out_open(out, '{');
	json_out_name(out, STR("Streams"));
	json_out_open(out, '[');
	for (size_t i = 0; i < listed.n; i++) {
		json_out_open(out, '{');
		json_out_field_string(out, "StreamArn", streams_mark_arn(call->arena, listed.v[i]));
		json_out_field_string(out, "TableName", listed.v[i]->name);
		json_out_field_string(out, "StreamLabel", listed.v[i]->label);
		json_out_close(out, '}');
	}
	json_out_close(out, ']');
	if (listed.is_more)
		json_out_field_string(out, "LastEvaluatedStreamArn",
				      streams_mark_arn(call->arena, listed.v[listed.n - 1]));
	json_out_close(out, '}');
	return OK;
}
