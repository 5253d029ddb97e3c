#include "server/races/race_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/wire/json.h"
#include "protocol/wire/json_out.h"
#include "server/races/messages.h"
#include "server/report/document.h"
#include "server/seed/json_text.h"

#define COLUMN 44      /* characters of a chain's column */
#define SHOWN_BEFORE 4 /* requests before the first difference */
#define SHOWN_MAX 60
#define FILE_MAX (4u << 20)

size_t race_report_switches(const struct race_trace *trace)
{
	size_t n = 0;

	for (size_t k = 1; k < trace->order_n; k++) {
		size_t before = trace->requests[trace->order[k - 1]].chain;
		bool goes_on = false;

		if (trace->requests[trace->order[k]].chain == before)
			continue;
		for (size_t i = k + 1; i < trace->order_n && !goes_on; i++)
			goes_on = trace->requests[trace->order[i]].chain == before;
		n += goes_on;
	}
	return n;
}

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
		add_item(&buf, item, COLUMN - 6);
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

static struct columns columns_from(struct arena *arena, const struct race_trace *trace, size_t from)
{
	struct columns columns = {ARENA_ARRAY(arena, size_t, trace->chains + 1), 0};

	for (size_t i = 0; i < trace->chains; i++)
		columns.of[i] = RACE_NONE;
	for (size_t k = from; k < trace->order_n; k++) {
		size_t chain = trace->requests[trace->order[k]].chain;

		if (columns.of[chain] == RACE_NONE)
			columns.of[chain] = columns.n++;
	}
	return columns;
}

static char letter(const struct columns *columns, size_t chain)
{
	size_t column = columns->of[chain];

	return column < 26 ? (char)('A' + column) : '*';
}

static void print_cell(FILE *out, size_t column, const char *lead, struct str text)
{
	fprintf(out, "%s%*s" STR_FMT "\n", lead, (int)(column > 3 ? 3 * COLUMN : column * COLUMN),
		"", STR_ARG(text));
}

static const char *const troubles[TROUBLE_KINDS] = {
	[TROUBLE_NONE] = "",
	[TROUBLE_LOST] = "  -> done, but the answer was lost",
	[TROUBLE_THROTTLED] = "  -> throttled",
	[TROUBLE_CONFLICT] = "  -> refused: another transaction was under way",
};

static void print_request(FILE *out, struct arena *arena, const struct columns *columns,
			  const struct race_trace *trace, size_t k, struct race_trouble trouble)
{
	const struct race_request *request = &trace->requests[trace->order[k]];
	size_t column = columns->of[request->chain];
	struct str lead = str_printf(arena, "%4zu  %c  ", k + 1, letter(columns, request->chain));
	struct str came = outcome(arena, request);
	struct str about = subject(arena, request, COLUMN - 4 - request->operation.n);

	print_cell(out, column, lead.p,
		   str_printf(arena, STR_FMT " " STR_FMT "%s", STR_ARG(request->operation),
			      STR_ARG(about), request->is_repeat ? " (sent again)" : ""));
	if (request->id == trouble.request)
		print_cell(out, column, "         ", str_of(troubles[trouble.kind]));
	else if (str_is_set(came))
		print_cell(out, column, "         ",
			   str_printf(arena, "  -> " STR_FMT, STR_ARG(came)));
}

static const struct race_request *request_in(const struct race_trace *trace, size_t place)
{
	return &trace->requests[trace->order[place]];
}

/* Whether both may be about the same item. */
static bool may_share_item(const struct race_request *a, const struct race_request *b)
{
	bool is_close;

	return race_trace_conflict(a, b, &is_close) && is_close;
}

/* The last write of another chain before that place, of what the write there is about. */
static size_t other_write_before(const struct race_trace *trace, size_t place, size_t end)
{
	const struct race_request *write = request_in(trace, place);

	while (end-- > 0) {
		const struct race_request *other = request_in(trace, end);

		if (other->chain != write->chain && other->status == 200 && other->is_write &&
		    may_share_item(other, write))
			return end;
	}
	return RACE_NONE;
}

/* The last read of that chain before the place, of what the write there is about. */
static size_t read_before(const struct race_trace *trace, size_t chain, size_t place)
{
	const struct race_request *write = request_in(trace, place);

	while (place-- > 0) {
		const struct race_request *read = request_in(trace, place);

		if (read->chain == chain && !read->is_write && may_share_item(read, write))
			return place;
	}
	return RACE_NONE;
}

/* A read, another chain's write, and a write behind it that looks at nothing: the places. */
static bool find_overwrite(const struct race_trace *trace, size_t from, size_t places[3])
{
	for (size_t last = from; last < trace->order_n; last++) {
		const struct race_request *write = request_in(trace, last);
		size_t other = last;

		if (!write->is_write || write->status != 200 ||
		    str_contains(write->body, STR("Condition")))
			continue;
		while ((other = other_write_before(trace, last, other)) != RACE_NONE) {
			size_t read = read_before(trace, write->chain, other);

			if (read != RACE_NONE) {
				places[0] = read, places[1] = other, places[2] = last;
				return true;
			}
		}
	}
	return false;
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

static void print_sentence(FILE *out, const struct columns *columns, const struct race_trace *usual,
			   const struct race_trace *trace, size_t from)
{
	size_t places[3], early, late;

	if (find_overwrite(trace, from, places)) {
		char a = letter(columns, trace->requests[trace->order[places[2]]].chain);
		char b = letter(columns, trace->requests[trace->order[places[1]]].chain);

		fprintf(out,
			"%c read in step %zu, before %c wrote in step %zu, and wrote in step %zu "
			"without a condition:\nwhat %c wrote may be lost.\n",
			a, places[0] + 1, b, places[1] + 1, places[2] + 1, b);
	} else if (find_reversal(usual, trace, &early, &late)) {
		fprintf(out,
			"Step %zu comes before step %zu here, and behind it where the command "
			"passes.\n",
			early + 1, late + 1);
	}
}

void race_report_print(FILE *out, struct arena *arena, const struct race_trace *usual,
		       const struct race_trace *trace, struct race_trouble trouble)
{
	size_t difference = first_difference(usual, trace);
	size_t from = difference > SHOWN_BEFORE ? difference - SHOWN_BEFORE : 0;
	struct columns columns = columns_from(arena, trace, from);

	if (from > 0)
		fprintf(out, "      (%zu requests as usual)\n", from);
	for (size_t k = from; k < trace->order_n && k < from + SHOWN_MAX; k++)
		print_request(out, arena, &columns, trace, k, trouble);
	if (trace->order_n > from + SHOWN_MAX)
		fprintf(out, "      (%zu more)\n", trace->order_n - from - SHOWN_MAX);
	fprintf(out, "\n");
	print_sentence(out, &columns, usual, trace, from);
}

struct str race_report_name(struct arena *arena, const struct race_trace *trace,
			    struct race_trouble trouble)
{
	uint64_t hash = trouble.request * (unsigned)trouble.kind;

	for (size_t k = 0; k < trace->order_n; k++)
		hash = hash * 31 + trace->requests[trace->order[k]].id;
	return str_printf(arena, "%08" PRIx32, (uint32_t)(hash ^ hash >> 32));
}

static struct str hex(struct arena *arena, uint64_t id)
{
	return str_printf(arena, "%016" PRIx64, id);
}

struct str race_report_json(struct arena *arena, const struct race_trace *trace, struct str why,
			    struct race_trouble trouble)
{
	struct json_out out = json_out_in(arena);
	struct columns columns = columns_from(arena, trace, 0);

	json_out_open(&out, '{');
	json_out_name(&out, STR("version"));
	json_out_integer(&out, 1);
	json_out_name(&out, STR("why"));
	json_out_string(&out, why);
	if (trouble.kind != TROUBLE_NONE) {
		json_out_name(&out, str_of(race_trouble_name(trouble.kind)));
		json_out_string(&out, hex(arena, trouble.request));
	}
	json_out_name(&out, STR("order"));
	json_out_open(&out, '[');
	for (size_t k = 0; k < trace->order_n; k++) {
		const struct race_request *request = &trace->requests[trace->order[k]];
		char client = letter(&columns, request->chain);

		json_out_open(&out, '{');
		json_out_name(&out, STR("id"));
		json_out_string(&out, hex(arena, request->id));
		json_out_name(&out, STR("client"));
		json_out_string(&out, (struct str){&client, 1});
		json_out_name(&out, STR("operation"));
		json_out_string(&out, request->operation);
		json_out_name(&out, STR("on"));
		json_out_string(&out, subject(arena, request, COLUMN));
		json_out_close(&out, '}');
	}
	json_out_close(&out, ']');
	json_out_close(&out, '}');
	buf_add_byte(&out.buf, '\n');
	return buf_str(&out.buf);
}

static bool read_id(struct arena *arena, const struct json *value, uint64_t *id)
{
	const char *text = value ? json_c_string(arena, value) : NULL;
	char *end = NULL;

	*id = text ? strtoull(text, &end, 16) : 0;
	return end && *end == '\0' && *text != '\0';
}

enum code race_report_json_of(struct arena *arena, const char *path, size_t max,
			      const struct json **root, struct err *err)
{
	struct str text;

	if (document_read(arena, path, &text, err) != OK || text.n >= max)
		return err_set(err, MSG_RACES_READ, path, "it cannot be read, or is too large");
	if (json_parse(arena, text, root, err) != OK)
		return err_set(err, MSG_RACES_READ, path, "it is no JSON");
	return OK;
}

static enum code read_trouble(struct arena *arena, const char *path, const struct json *root,
			      struct race_trouble *trouble, struct err *err)
{
	*trouble = (struct race_trouble){.kind = TROUBLE_NONE};
	for (enum race_trouble_kind kind = TROUBLE_NONE + 1; kind < TROUBLE_KINDS; kind++) {
		const struct json *id = json_member(root, race_trouble_name(kind));

		if (!id)
			continue;
		if (!read_id(arena, id, &trouble->request))
			return err_set(err, MSG_RACES_TROUBLE, path, race_trouble_name(kind));
		trouble->kind = kind;
	}
	return OK;
}

enum code race_report_read(struct arena *arena, const char *path, uint64_t **ids, size_t *n,
			   struct race_trouble *trouble, struct err *err)
{
	const struct json *root, *order;
	size_t at = 0;

	enum code code = race_report_json_of(arena, path, FILE_MAX, &root, err);
	if (code != OK)
		return code;
	order = json_type(root) == JSON_OBJECT ? json_member(root, "order") : NULL;
	if (!order || json_type(order) != JSON_ARRAY || json_count(order) == 0)
		return err_set(err, MSG_RACES_JSON, path, "\"order\" is no list of requests");
	*ids = ARENA_ARRAY(arena, uint64_t, json_count(order));
	for (const struct json *one = json_first(order); one; one = json_next(one)) {
		const struct json *id =
			json_type(one) == JSON_OBJECT ? json_member(one, "id") : NULL;

		if (!id || json_type(id) != JSON_STRING || !read_id(arena, id, &(*ids)[at++]))
			return err_set(err, MSG_RACES_JSON, path, "a request has no \"id\"");
	}
	*n = at;
	return read_trouble(arena, path, root, trouble, err);
}
