/*
 * tables - what a page that shows tables asks first, in one request each: all tables with their
 * descriptions, and one with a sample of its items.
 *
 * Nothing is counted as traffic, no fault fires and no capacity is taken.
 */
#include "server/control/endpoints.h"

#include <math.h>

#include "protocol/op.h"
#include "server/messages.h"
#include "server/seed/json_text.h"

#define TABLES_MAX 200  /* shown */
#define PROBES_MAX 1024 /* segments that are looked into for one item */
#define SEGMENTS_MAX 4096
#define SEGMENT_ITEMS 200       /* that a segment is to have */
#define PARTITIONS_OF_SEGMENT 3 /* by which few segments are empty: e^-3 is 5 % */
#define PLACES 32               /* of the sample */
#define SAMPLE_ITEMS 512        /* of all places */
#define SAMPLE_BYTES (1024 * 1024)

/* Runs an operation for the namespace of the call. Where it fails *err has its message. */
static enum code ask_of(const struct control_call *call, struct arena *arena, const char *operation,
			struct str body, struct str *answer, struct err *err)
{
	struct op_request request = op_request_inside(arena, &call->ns, str_of(operation), body);
	struct op_response response = {0};

	request.is_unseen = true;
	if (!op_run(call->control->service, &request, &response))
		return err_default(err, ERR_SERVICE_UNAVAILABLE);
	if (response.code == ERR_RESOURCE_NOT_FOUND)
		return err_default(err, response.code);
	if (response.code == ERR_VALIDATION) { /* no table can have such a name */
		struct str type, message;

		json_text_error(arena, response.body, &type, &message);
		return err_set(err, MSG_TABLES_NAME, STR_ARG(message));
	}
	if (response.code != OK)
		return err_default(err, ERR_SERVICE_UNAVAILABLE);
	*answer = response.body;
	return OK;
}

/* `name` is as it stands in JSON: letters, digits, '.', '_' and '-'. */
static struct str table_body(struct arena *arena, struct str name)
{
	return str_printf(arena, "{\"TableName\":\"" STR_FMT "\"}", STR_ARG(name));
}

/* Adds the members of both descriptions, without brackets. */
static enum code add_description(const struct control_call *call, struct str name, struct buf *buf,
				 struct str *table, struct err *err)
{
	struct str ttl, body = table_body(call->arena, name);
	enum code code = ask_of(call, call->arena, "DescribeTable", body, table, err);

	if (code != OK)
		return code;
	code = ask_of(call, call->arena, "DescribeTimeToLive", body, &ttl, err);
	if (code != OK)
		return code;
	buf_add(buf, table->p + 1, table->n - 2);
	buf_add_byte(buf, ',');
	buf_add(buf, ttl.p + 1, ttl.n - 2);
	return OK;
}

/* Adds a page of ListTables. A table that was deleted meanwhile is left out. */
static enum code add_tables(const struct control_call *call, struct str listed, struct buf *buf,
			    size_t *n, struct err *err)
{
	struct str rest = json_text_inside(json_text_find(listed, STR("TableNames"))), name, table;

	while (json_text_element(&rest, &name)) {
		struct buf one = buf_in(call->arena);
		enum code code = add_description(call, (struct str){name.p + 1, name.n - 2}, &one,
						 &table, err);

		if (code == ERR_RESOURCE_NOT_FOUND)
			continue;
		if (code != OK)
			return code;
		buf_add_str(buf, (*n)++ > 0 ? STR(",{") : STR("{"));
		buf_add_str(buf, buf_str(&one));
		buf_add_byte(buf, '}');
	}
	return OK;
}

/*
 * GET tables: {"tables": [{"Table": T, "TimeToLiveDescription": D}, ...], "more": false}: the
 * first 200, by name, as DescribeTable and DescribeTimeToLive show them.
 */
enum code tables_show(const struct control_call *call, struct str *answer, struct err *err)
{
	struct buf buf = buf_in(call->arena);
	struct str listed, last = STR_ABSENT;
	size_t n = 0;

	buf_add_lit(&buf, "{\"tables\":[");
	do {
		struct str start =
			str_is_set(last)
				? str_printf(call->arena, ",\"ExclusiveStartTableName\":" STR_FMT,
					     STR_ARG(last))
				: STR("");
		enum code code = ask_of(
			call, call->arena, "ListTables",
			str_printf(call->arena, "{\"Limit\":100" STR_FMT "}", STR_ARG(start)),
			&listed, err);

		if (code != OK)
			return code;
		code = add_tables(call, listed, &buf, &n, err);
		if (code != OK)
			return code;
		last = json_text_find(listed, STR("LastEvaluatedTableName"));
	} while (str_is_set(last) && n < TABLES_MAX);
	buf_printf(&buf, "],\"more\":%s}", str_is_set(last) ? "true" : "false");
	*answer = buf_str(&buf);
	return OK;
}

struct sampling {
	const struct control_call *call;
	struct str name;
	uint64_t wanted;         /* segments, by the items of the table */
	unsigned probed, filled; /* segments */
	unsigned taken;          /* items of a place */
	struct buf samples;      /* runs, with commas between them */
};

/* Looks into one segment. Its items go into the sample where `is_taken` says so. */
static enum code probe(struct sampling *sampling, unsigned segment, bool is_taken, struct err *err)
{
	struct arena *arena = arena_new(0);
	struct str answer, items,
		body = str_printf(arena,
				  "{\"TableName\":\"" STR_FMT "\",\"Segment\":%u,"
				  "\"TotalSegments\":%u,\"Limit\":%u,\"ConsistentRead\":true}",
				  STR_ARG(sampling->name), segment, sampling->probed,
				  is_taken ? sampling->taken : 1);
	enum code code = ask_of(sampling->call, arena, "Scan", body, &answer, err);

	if (code == OK) {
		items = json_text_find(answer, STR("Items"));
		sampling->filled += items.n > 2;
		if (is_taken && items.n > 2 && sampling->samples.n + items.n < SAMPLE_BYTES) {
			if (sampling->samples.n > 0)
				buf_add_byte(&sampling->samples, ',');
			buf_add_str(&sampling->samples, items);
		}
	}
	arena_free(arena);
	return code;
}

/*
 * How many segments of that many items each a parallel scan can have, so that most of them have
 * items: partitions, not items, fall into segments by chance. Of n segments n * e^(-p / n) are
 * empty where there are p partitions.
 */
static unsigned segments_for(const struct sampling *sampling)
{
	uint64_t wanted = sampling->wanted < SEGMENTS_MAX ? sampling->wanted : SEGMENTS_MAX;
	double n = sampling->probed,
	       empty = sampling->filled < sampling->probed ? n - sampling->filled : 0.5,
	       partitions = n * log(n / empty);
	uint64_t most = (uint64_t)(partitions / PARTITIONS_OF_SEGMENT) + 1;

	if (sampling->probed == 1 || sampling->filled == 0)
		return 1;
	if (sampling->filled == sampling->probed)
		most = SEGMENTS_MAX;
	return (unsigned)(wanted < most ? wanted : most);
}

/*
 * The same members of the table NAME, and "segments": the number for a parallel scan of which most
 * segments have items; "filled" of "probed" segments had some; "samples": runs of items that stand
 * together, from up to 63 places, 512 items and 1 MB in all. It reads at most 1,536 items, however
 * large the table is. ERR_RESOURCE_NOT_FOUND.
 */
enum code tables_sample(const struct control_call *call, struct str *answer, struct err *err)
{
	struct sampling sampling = {
		.call = call,
		.name = call->name,
		.wanted = 1,
		.samples = buf_in(call->arena),
	};
	struct buf buf = buf_in(call->arena);
	const struct json *root;
	struct str table;
	int64_t items = 0;
	enum code code;

	buf_add_byte(&buf, '{');
	code = add_description(call, call->name, &buf, &table, err);
	if (code != OK)
		return code;
	code = json_parse(call->arena, table, &root, err);
	if (code != OK)
		return code;
	const struct json *count =
		json_text_get(json_member(root, "Table"), "ItemCount", JSON_NUMBER);
	if (count && json_integer(count, &items) && items > 0)
		sampling.wanted += (uint64_t)items / SEGMENT_ITEMS;
	sampling.probed = (unsigned)(sampling.wanted < PROBES_MAX ? sampling.wanted : PROBES_MAX);
	unsigned step = sampling.probed > PLACES ? sampling.probed / PLACES : 1;
	sampling.taken = SAMPLE_ITEMS * step / sampling.probed;
	for (unsigned i = 0; i < sampling.probed && code == OK; i++)
		code = probe(&sampling, i, i % step == 0, err);
	if (code != OK && code != ERR_RESOURCE_NOT_FOUND) /* it is not active: it has no items */
		return code;
	buf_printf(&buf, ",\"segments\":%u,\"probed\":%u,\"filled\":%u,\"samples\":[",
		   segments_for(&sampling), sampling.probed, sampling.filled);
	buf_add_str(&buf, buf_str(&sampling.samples));
	buf_add_lit(&buf, "]}");
	*answer = buf_str(&buf);
	return OK;
}
