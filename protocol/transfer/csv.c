#include "protocol/transfer/csv.h"

#include "core/buf.h"

static bool is_end_of_field(const struct csv *csv)
{
	struct str rest = csv->rest;

	return rest.n == 0 || rest.p[0] == csv->delimiter || rest.p[0] == '\n' ||
	       (rest.p[0] == '\r' && rest.n > 1 && rest.p[1] == '\n');
}

static void skip(struct csv *csv)
{
	csv->line += csv->rest.p[0] == '\n';
	csv->rest.p++;
	csv->rest.n--;
}

/* Beyond the most that there may be they only count. */
static void add_field(struct csv *csv, struct arena *arena, struct str field)
{
	if (csv->n < CSV_FIELDS_MAX) {
		csv->fields = arena_room(arena, csv->fields, csv->n, sizeof(*csv->fields));
		csv->fields[csv->n] = field;
	}
	csv->n++;
}

/* A quoted field that is no piece of the bytes: it has doubled quotes, or text behind the closing
 * one. False where it does not end. */
static bool unquote(struct csv *csv, struct arena *arena)
{
	struct buf buf = buf_in(arena);
	bool is_quoted = true;

	while (csv->rest.n > 0 && (is_quoted || !is_end_of_field(csv))) {
		bool is_quote = is_quoted && csv->rest.p[0] == '"';

		if (is_quote && (csv->rest.n == 1 || csv->rest.p[1] != '"')) {
			skip(csv);
			is_quoted = false;
			continue;
		}
		if (is_quote)
			skip(csv);
		buf_add_byte(&buf, csv->rest.p[0]);
		skip(csv);
	}
	add_field(csv, arena, buf_str(&buf));
	return !is_quoted;
}

/* False where a quoted one does not end. */
static bool take_field(struct csv *csv, struct arena *arena)
{
	bool is_quoted = csv->rest.n > 0 && csv->rest.p[0] == '"';
	struct csv at = *csv;
	struct str field;

	if (is_quoted)
		skip(&at);
	field = (struct str){at.rest.p, 0};
	while (at.rest.n > 0 && (is_quoted ? at.rest.p[0] != '"' : !is_end_of_field(&at)))
		skip(&at);
	field.n = (size_t)(at.rest.p - field.p);
	if (is_quoted && at.rest.n > 0)
		skip(&at);
	if (is_quoted && (at.rest.p == field.p + field.n || !is_end_of_field(&at))) {
		skip(csv);
		return unquote(csv, arena);
	}
	csv->rest = at.rest;
	csv->line = at.line;
	add_field(csv, arena, field);
	return true;
}

static enum csv_result take_record(struct csv *csv, struct arena *arena)
{
	while (csv->rest.n > 0 && (csv->rest.p[0] == '\n' || csv->rest.p[0] == '\r'))
		skip(csv); /* empty lines */
	csv->record_line = csv->line;
	if (csv->rest.n == 0)
		return csv->is_last ? CSV_END : CSV_MORE;
	for (;;) {
		if (!take_field(csv, arena))
			return csv->is_last ? CSV_BROKEN : CSV_MORE;
		if (csv->rest.n == 0 && !csv->is_last)
			return CSV_MORE; /* the field may go on */
		if (csv->rest.n == 0 || csv->rest.p[0] != csv->delimiter)
			return CSV_RECORD;
		skip(csv);
	}
}

enum csv_result csv_next(struct csv *csv, struct arena *arena)
{
	struct str before = csv->rest;
	size_t line = csv->line;

	csv->fields = NULL;
	csv->n = 0;
	enum csv_result result = take_record(csv, arena);
	if (result == CSV_MORE) {
		csv->rest = before;
		csv->line = line;
	}
	return result;
}
