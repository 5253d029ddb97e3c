#include "server/races/race_lines.h"

#include <string.h>

#include "server/races/race_anomaly.h"
#include "server/seed/json_text.h"

#define SHOWN_BEFORE 4 /* requests before the first difference */

/* "pk=a sk=1 n=5": of an item in DynamoDB's form. */
static void add_item(struct buf *buf, struct str item, size_t room)
{
	struct str rest = json_text_inside(item), name, value, type, plain;
	size_t from = buf->n;

	while (json_text_member(&rest, &name, &value) && buf->n - from < room) {
		struct str inside = json_text_inside(value);

		if (buf->n > from)
			buf_add_byte(buf, ' ');
		buf_add_str(buf, name);
		buf_add_byte(buf, '=');
		if (!json_text_member(&inside, &type, &plain))
			plain = value;
		if (plain.n >= 2 && *plain.p == '"')
			plain = (struct str){plain.p + 1, plain.n - 2};
		buf_add_str(buf, plain);
	}
	if (buf->n - from > room) {
		buf->n = from + room - 2;
		buf_add_str(buf, STR(".."));
	}
}

static struct str text_member(struct str body, const char *name)
{
	return body.n > 0 && *body.p == '{' ? json_text_find(body, str_of(name)) : STR_ABSENT;
}

static void add_unquoted(struct buf *buf, struct str text)
{
	if (text.n >= 2 && *text.p == '"')
		text = (struct str){text.p + 1, text.n - 2};
	buf_add_str(buf, text);
}

/* What the request is about. */
static struct str subject(struct arena *arena, const struct race_request *request, size_t room)
{
	struct buf buf = buf_in(arena);
	struct str key = text_member(request->body, "Key");
	struct str item = text_member(request->body, "Item");
	struct str values = text_member(request->body, "ExpressionAttributeValues");

	add_unquoted(&buf, text_member(request->body, "TableName"));
	add_unquoted(&buf, text_member(request->body, "Statement"));
	if (buf.n > 0)
		buf_add_byte(&buf, ' ');
	if (str_is_set(key) || str_is_set(item))
		add_item(&buf, str_is_set(key) ? key : item, room > buf.n + 8 ? room - buf.n : 8);
	else if (str_is_set(values))
		add_item(&buf, values, room > buf.n + 8 ? room - buf.n : 8);
	return buf_str(&buf);
}

/* What came of it; absent: nothing worth saying. */
static struct str outcome(struct arena *arena, const struct race_request *request)
{
	struct buf buf = buf_in(arena);
	struct str item = text_member(request->answer, "Item");
	struct str type = text_member(request->answer, "__type");
	struct str count = text_member(request->answer, "Count");

	if (request->status == 0)
		return STR("no answer");
	if (request->status != 200) {
		const char *hash = type.n ? memchr(type.p, '#', type.n) : NULL;

		if (hash)
			type = (struct str){hash + 1, type.n - (size_t)(hash + 1 - type.p) - 1};
		buf_add_str(&buf, type);
	} else if (str_is_set(item)) {
		add_item(&buf, item, RACE_COLUMN - 6);
	} else if (str_eq(request->operation, STR("GetItem"))) {
		buf_add_str(&buf, STR("no item"));
	} else if (str_is_set(count)) {
		buf_printf(&buf, STR_FMT " items", STR_ARG(count));
	}
	return buf.n > 0 ? buf_str(&buf) : STR_ABSENT;
}

/* Columns of chains by their first request that is shown. */
struct columns {
	size_t *of; /* by chain; RACE_NONE: none */
	size_t n;
};

static size_t first_difference(const struct race_trace *usual, const struct race_trace *trace)
{
	size_t k = 0;

	while (k < trace->order_n && k < usual->order_n &&
	       trace->requests[trace->order[k]].id == usual->requests[usual->order[k]].id)
		k++;
	return k;
}

static void add_columns(struct columns *columns, const struct race_trace *trace, size_t from,
			size_t to)
{
	for (size_t k = from; k < to; k++) {
		size_t chain = trace->requests[trace->order[k]].chain;

		if (columns->of[chain] == RACE_NONE)
			columns->of[chain] = columns->n++;
	}
}

static char letter(const struct columns *columns, size_t chain)
{
	size_t column = columns->of[chain];

	return column < 26 ? (char)('A' + column) : '*';
}

static const char *const troubles[TROUBLE_KINDS] = {
	[TROUBLE_NONE] = "",
	[TROUBLE_LOST] = "done, but the answer was lost",
	[TROUBLE_THROTTLED] = "throttled",
	[TROUBLE_CONFLICT] = "refused: another transaction was under way",
	[TROUBLE_LAGGED] = "not up to date",
	[TROUBLE_KEPT] = "what had expired was gone now",
};

static const struct race_request *request_in(const struct race_trace *trace, size_t place)
{
	return &trace->requests[trace->order[place]];
}

/* The first two requests that conflict and came the other way round as usual. */
static bool find_reversal(const struct race_trace *usual, const struct race_trace *trace,
			  size_t *before, size_t *after)
{
	bool is_close;

	for (size_t k = 0; k < trace->order_n; k++) {
		size_t late = race_trace_place(usual, request_in(trace, k)->id);

		for (size_t i = 0; i < k; i++) {
			size_t early = race_trace_place(usual, request_in(trace, i)->id);

			if (early == RACE_NONE || late >= early ||
			    !race_trace_conflict(request_in(trace, i), request_in(trace, k),
						 &is_close))
				continue;
			*before = i;
			*after = k;
			return true;
		}
	}
	return false;
}

/* Of time that goes its own way; absent: of another trouble. */
static struct str sentence_of_delay(struct arena *arena, const struct race_trace *trace,
				    struct race_trouble trouble)
{
	size_t at = race_trace_place(trace, trouble.request);
	size_t since = race_trace_place(trace, trouble.since);

	if (trouble.kind == TROUBLE_KEPT && at == RACE_NONE)
		return STR("What had expired was not removed yet, and could be read.");
	if (trouble.kind == TROUBLE_KEPT)
		return str_printf(arena, "What had expired was removed right before step %zu.",
				  at + 1);
	if (trouble.kind != TROUBLE_LAGGED || at == RACE_NONE)
		return STR_ABSENT;
	if (since == RACE_NONE)
		return str_printf(arena, "In step %zu the stream had no records yet.", at + 1);
	return str_printf(arena, "The read in step %zu did not see the write of step %zu yet.",
			  at + 1, since + 1);
}

static struct str sentence_of(struct arena *arena, const struct columns *columns,
			      const struct race_trace *usual, const struct race_trace *trace,
			      size_t from)
{
	size_t places[3], early, late;

	if (race_anomaly_overwrite(trace, from, false, places)) {
		char a = letter(columns, request_in(trace, places[2])->chain);
		char b = letter(columns, request_in(trace, places[1])->chain);

		return str_printf(arena,
				  "%c read in step %zu, before %c wrote in step %zu, and wrote in "
				  "step %zu without a condition:\nwhat %c wrote may be lost.",
				  a, places[0] + 1, b, places[1] + 1, places[2] + 1, b);
	}
	if (find_reversal(usual, trace, &early, &late))
		return str_printf(arena,
				  "Step %zu comes before step %zu here, and behind it where the "
				  "command passes.",
				  early + 1, late + 1);
	return STR_ABSENT;
}

/* What a trouble leaves as it is comes first. */
static struct str troubled_outcome(struct arena *arena, const struct race_request *request,
				   enum race_trouble_kind kind)
{
	struct str came = kind >= TROUBLE_LAGGED ? outcome(arena, request) : STR_ABSENT;

	return str_is_set(came) ? str_printf(arena, STR_FMT ": %s", STR_ARG(came), troubles[kind])
				: str_of(troubles[kind]);
}

static struct race_line line_of(struct arena *arena, const struct columns *columns,
				const struct race_request *request, struct race_trouble trouble)
{
	bool is_troubled = trouble.kind != TROUBLE_NONE && request->id == trouble.request;

	return (struct race_line){
		.request = request,
		.column = columns->of[request->chain],
		.client = letter(columns, request->chain),
		.about = subject(arena, request, RACE_COLUMN - 4 - request->operation.n),
		.came = is_troubled ? troubled_outcome(arena, request, trouble.kind)
				    : outcome(arena, request),
		.is_troubled = is_troubled,
	};
}

struct race_lines race_lines_of(struct arena *arena, const struct race_trace *usual,
				const struct race_trace *trace, struct race_trouble trouble)
{
	size_t difference = first_difference(usual, trace);
	struct columns columns = {ARENA_ARRAY(arena, size_t, trace->chains + 1), 0};
	struct race_lines lines = {
		.from = difference > SHOWN_BEFORE ? difference - SHOWN_BEFORE : 0,
		.n = trace->order_n,
		.v = ARENA_ARRAY(arena, struct race_line, trace->order_n + 1),
	};

	for (size_t i = 0; i < trace->chains; i++)
		columns.of[i] = RACE_NONE;
	add_columns(&columns, trace, lines.from, trace->order_n);
	lines.columns = columns.n;
	add_columns(&columns, trace, 0, lines.from);
	for (size_t k = 0; k < trace->order_n; k++)
		lines.v[k] = line_of(arena, &columns, request_in(trace, k), trouble);
	lines.to = lines.n - lines.from > RACE_SHOWN_MAX ? lines.from + RACE_SHOWN_MAX : lines.n;
	lines.sentence = sentence_of_delay(arena, trace, trouble);
	if (!str_is_set(lines.sentence))
		lines.sentence = sentence_of(arena, &columns, usual, trace, lines.from);
	return lines;
}
