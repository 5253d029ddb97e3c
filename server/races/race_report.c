#include "server/races/race_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/wire/json.h"
#include "protocol/wire/json_out.h"
#include "server/races/messages.h"
#include "server/report/document.h"

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

static void print_cell(FILE *out, size_t column, const char *lead, struct str text)
{
	fprintf(out, "%s%*s" STR_FMT "\n", lead,
		(int)(column > 3 ? 3 * RACE_COLUMN : column * RACE_COLUMN), "", STR_ARG(text));
}

static void print_line(FILE *out, struct arena *arena, const struct race_line *line, size_t step)
{
	const struct race_request *request = line->request;
	struct str lead = str_printf(arena, "%4zu  %c  ", step, line->client);

	print_cell(out, line->column, lead.p,
		   str_printf(arena, STR_FMT " " STR_FMT "%s", STR_ARG(request->operation),
			      STR_ARG(line->about), request->is_repeat ? " (sent again)" : ""));
	if (str_is_set(line->came))
		print_cell(out, line->column, "         ",
			   str_printf(arena, "  -> " STR_FMT, STR_ARG(line->came)));
}

/* Of the clients that name themselves, in the order of letters. */
static void print_names(FILE *out, const struct race_lines *lines)
{
	const char *between = "";

	for (size_t column = 0; column < lines->columns; column++) {
		size_t k = lines->from;

		while (k < lines->n &&
		       (lines->v[k].column != column || !str_is_set(lines->v[k].request->client)))
			k++;
		if (k == lines->n)
			continue;
		fprintf(out, "%s%c is " STR_FMT, between, lines->v[k].client,
			STR_ARG(lines->v[k].request->client));
		between = ", ";
	}
	fprintf(out, "%s", *between ? ".\n" : "");
}

void race_report_print(FILE *out, struct arena *arena, const struct race_lines *lines)
{
	if (lines->from > 0)
		fprintf(out, "      (%zu requests as usual)\n", lines->from);
	for (size_t k = lines->from; k < lines->to; k++)
		print_line(out, arena, &lines->v[k], k + 1);
	if (lines->n > lines->to)
		fprintf(out, "      (%zu more)\n", lines->n - lines->to);
	fprintf(out, "\n");
	print_names(out, lines);
	if (str_is_set(lines->sentence))
		fprintf(out, STR_FMT "\n", STR_ARG(lines->sentence));
}

struct str race_report_name(struct arena *arena, const struct race_trace *trace,
			    struct race_trouble trouble)
{
	uint64_t hash = (trouble.request ^ trouble.since) * (unsigned)trouble.kind + trouble.kind;

	for (size_t k = 0; k < trace->order_n; k++)
		hash = hash * 31 + trace->requests[trace->order[k]].id;
	return str_printf(arena, "%08" PRIx32, (uint32_t)(hash ^ hash >> 32));
}

static struct str hex(struct arena *arena, uint64_t id)
{
	return str_printf(arena, "%016" PRIx64, id);
}

static void add_line(struct json_out *out, struct arena *arena, const struct race_line *line)
{
	json_out_open(out, '{');
	json_out_name(out, STR("id"));
	json_out_string(out, hex(arena, line->request->id));
	json_out_name(out, STR("client"));
	json_out_string(out, (struct str){&line->client, 1});
	if (str_is_set(line->request->client)) {
		json_out_name(out, STR("name"));
		json_out_string(out, line->request->client);
	}
	json_out_name(out, STR("operation"));
	json_out_string(out, line->request->operation);
	json_out_name(out, STR("on"));
	json_out_string(out, line->about);
	if (line->request->is_write)
		json_out_field_boolean(out, "is_write", true);
	if (str_is_set(line->came))
		json_out_field_string(out, "came", line->came);
	json_out_close(out, '}');
}

struct str race_report_json(struct arena *arena, const struct race_lines *lines, struct str why,
			    struct race_trouble trouble)
{
	struct json_out out = json_out_in(arena);

	json_out_open(&out, '{');
	json_out_name(&out, STR("version"));
	json_out_integer(&out, 1);
	json_out_name(&out, STR("why"));
	json_out_string(&out, why);
	if (str_is_set(lines->sentence)) {
		json_out_name(&out, STR("sentence"));
		json_out_string(&out, lines->sentence);
	}
	if (trouble.kind != TROUBLE_NONE) {
		json_out_name(&out, str_of(race_trouble_name(trouble.kind)));
		json_out_string(&out, hex(arena, trouble.request));
	}
	if (trouble.since) {
		json_out_name(&out, STR("since"));
		json_out_string(&out, hex(arena, trouble.since));
	}
	if (lines->from > 0) /* those before are as usual */
		json_out_field_integer(&out, "from", (int64_t)lines->from);
	json_out_name(&out, STR("order"));
	json_out_open(&out, '[');
	for (size_t k = 0; k < lines->n; k++)
		add_line(&out, arena, &lines->v[k]);
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
	const struct json *since = json_member(root, "since");

	*trouble = (struct race_trouble){.kind = TROUBLE_NONE};
	if (since && !read_id(arena, since, &trouble->since))
		return err_set(err, MSG_RACES_TROUBLE, path, "since");
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

/* Whose a request is, by its letter. False: it has none, or one that several clients share. */
static bool read_chain(struct arena *arena, const struct json *one, size_t *chain)
{
	const struct json *client = json_member(one, "client");
	struct str letter = client && json_type(client) == JSON_STRING ? json_string(arena, client)
								       : STR_ABSENT;

	if (letter.n != 1 || *letter.p < 'A' || *letter.p > 'Z')
		return false;
	*chain = (size_t)(*letter.p - 'A');
	return true;
}

enum code race_report_read(struct arena *arena, const char *path, struct race_plan *plan,
			   struct err *err)
{
	const struct json *root, *order;
	struct race_trouble trouble;
	bool has_chains = true;
	size_t at = 0;

	enum code code = race_report_json_of(arena, path, FILE_MAX, &root, err);
	if (code != OK)
		return code;
	order = json_type(root) == JSON_OBJECT ? json_member(root, "order") : NULL;
	if (!order || json_type(order) != JSON_ARRAY || json_count(order) == 0)
		return err_set(err, MSG_RACES_JSON, path, "\"order\" is no list of requests");
	uint64_t *ids = ARENA_ARRAY(arena, uint64_t, json_count(order));
	size_t *chains = ARENA_ARRAY(arena, size_t, json_count(order));
	for (const struct json *one = json_first(order); one; one = json_next(one), at++) {
		const struct json *id =
			json_type(one) == JSON_OBJECT ? json_member(one, "id") : NULL;

		if (!id || json_type(id) != JSON_STRING || !read_id(arena, id, &ids[at]))
			return err_set(err, MSG_RACES_JSON, path, "a request has no \"id\"");
		has_chains = has_chains && read_chain(arena, one, &chains[at]);
	}
	code = read_trouble(arena, path, root, &trouble, err);
	if (code != OK)
		return code;
	*plan = (struct race_plan){.kind = PLAN_ORDER,
				   .order = ids,
				   .chains = has_chains ? chains : NULL,
				   .order_n = at,
				   .trouble = trouble};
	return OK;
}
