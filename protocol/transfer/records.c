#include "protocol/transfer/records.h"

#include <string.h>

#include "core/base64.h"
#include "core/image.h"
#include "core/seen.h"
#include "protocol/expressions.h"
#include "protocol/transfer/messages.h"
#include "protocol/wire/shape_bind.h"
#include "protocol/wire/shape_tables.h"

struct records {
	struct arena *arena;
	const struct records_form *form;
	struct str rest;
	bool is_last;
	struct ion_symbols symbols;
	bool is_binary, is_known; /* ION: which of its two encodings */
	struct csv csv;
	bool is_begun;            /* CSV: its first bytes were looked at */
	const struct str *head;   /* CSV */
	const enum type *types;   /* of the columns; TYPE_NONE: a string */
	size_t head_n;
};

struct records *records_new(struct arena *arena, const struct records_form *form)
{
	struct records *records = ARENA_NEW(arena, struct records);

	records->arena = arena;
	records->form = form;
	records->symbols.arena = arena;
	records->csv =
		(struct csv){.delimiter = form->delimiter ? form->delimiter : ',', .line = 1};
	return records;
}

void records_give(struct records *records, struct str bytes, bool is_last)
{
	records->rest = bytes;
	records->is_last = is_last;
}

struct str records_rest(const struct records *records)
{
	return records->rest;
}

/* Why there is nothing yet: too much is left, or more must come. */
static enum record_kind more(const struct records *records, struct err *err)
{
	if (records->rest.n <= RECORD_BYTES_MAX)
		return RECORD_MORE;
	(void)(err_set(err, MSG_RECORD_TOO_LONG, (size_t)RECORD_BYTES_MAX) == OK);
	return RECORD_BROKEN;
}

static enum record_kind bad(enum code code)
{
	return code == OK ? RECORD_ITEM : RECORD_BAD;
}

/* The record of a bound line. */
static void take_bound(const void *input, const struct records_form *form,
		       struct record_put *record)
{
	const struct bulk_put_record *bulk = input;

	*record = (struct record_put){.condition = STR_ABSENT};
	if (form->is_changes) {
		const struct change_record *change = input;

		record->keys = change->keys;
		record->new_image = change->new_image;
		record->old_image = change->old_image;
		return;
	}
	if (!form->takes_conditions) {
		record->item = *((const struct put_request *)input)->item;
		return;
	}
	record->item = *bulk->item;
	record->condition = bulk->condition_expression;
	record->names = bulk->expression_attribute_names;
	record->values = bulk->expression_attribute_values;
}

static enum record_kind read_record_line(struct arena *arena, struct str line,
					 const struct records_form *form, struct record_put *record,
					 struct err *err)
{
	const struct shape *shape = form->is_changes         ? &shape_change_record
				    : form->takes_conditions ? &shape_bulk_put_record
							     : &shape_put_request;
	struct err reason = err_in(arena);
	struct shape_bound bound;
	const struct json *root;

	if (json_parse(arena, line, &root, &reason) != OK || json_type(root) != JSON_OBJECT) {
		(void)(err_set(err, MSG_RECORD_NOT_JSON) == OK);
		return RECORD_BROKEN;
	}
	if (form->is_changes && !json_member(root, "Keys"))
		return bad(err_set(err, MSG_RECORD_NO_KEYS));
	if (!form->is_changes && !json_member(root, "Item"))
		return bad(err_set(err, MSG_RECORD_NO_ITEM));
	enum code code = shape_bind(arena, shape, SURFACE_OLDER, root, &bound, err);
	if (code != OK)
		return bad(code);
	if (bound.value_err.code != OK) {
		*err = bound.value_err;
		return bad(err->code);
	}
	take_bound(bound.input, form, record);
	return RECORD_ITEM;
}

/*
 * The offset behind the first record: behind its object, or its line feed. SIZE_MAX: the record is
 * incomplete. AWS: objects may follow one another without a line feed.
 */
static size_t record_end(struct str text)
{
	size_t depth = 0;
	bool is_quoted = false;

	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];

		if (c == '\n')
			return i;
		if (is_quoted && c == '\\')
			i++;
		else if (c == '"')
			is_quoted = !is_quoted;
		else if (!is_quoted && (c == '{' || c == '['))
			depth++;
		else if (!is_quoted && (c == '}' || c == ']') && depth > 0 && --depth == 0)
			return i + 1;
	}
	return SIZE_MAX;
}

static bool is_between(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static enum record_kind next_record_line(struct records *records, struct arena *arena,
					 struct record_put *record, struct err *err)
{
	struct str *rest = &records->rest;

	while (rest->n > 0 && is_between(*rest->p))
		*rest = (struct str){rest->p + 1, rest->n - 1};
	if (rest->n == 0)
		return records->is_last ? RECORD_END : RECORD_MORE;
	size_t n = record_end(*rest);
	if (n == SIZE_MAX && !records->is_last)
		return more(records, err);
	struct str text = {rest->p, n < rest->n ? n : rest->n};
	*rest = (struct str){text.p + text.n, rest->n - text.n};
	return read_record_line(arena, text, records->form, record, err);
}

static enum ion_result next_ion_value(struct records *records, struct arena *arena,
				      struct value *value, struct err *value_err, struct err *err)
{
	if (!records->is_known && records->rest.n < 4 && !records->is_last)
		return ION_MORE;
	if (!records->is_known) {
		records->is_known = true;
		records->is_binary = ion_binary_is(records->rest);
	}
	if (!records->is_binary)
		return ion_text_next(arena, &records->rest, records->is_last, value, value_err,
				     err);
	struct str rest = records->rest;
	if (records->is_last && rest.n > 0)
		rest.n--; /* the line feed is none of it */
	enum ion_result result = ion_binary_next(arena, &records->symbols, &rest, records->is_last,
						 value, value_err, err);
	rest.n += records->is_last && records->rest.n > 0;
	records->rest = rest;
	return result;
}

static bool ion_names(struct arena *arena, const struct value *names,
		      struct expression_attribute_name_map *out)
{
	out->n = names->n;
	out->v = arena_alloc(arena, names->n * sizeof(*out->v) + 1);
	for (uint32_t i = 0; i < names->n; i++) {
		if (names->members[i].value.type != TYPE_S)
			return false;
		out->v[i].key = names->members[i].name;
		out->v[i].value = value_str(&names->members[i].value);
	}
	return true;
}

/* What stands beside Item. False where it is of wrong types. */
static bool ion_condition(struct arena *arena, const struct value *value, struct record_put *record)
{
	const struct value *text = value_member(value, STR("ConditionExpression")),
			   *names = value_member(value, STR("ExpressionAttributeNames"));
	const struct value *values = value_member(value, STR("ExpressionAttributeValues"));

	if ((text && text->type != TYPE_S) || (names && names->type != TYPE_M) ||
	    (values && values->type != TYPE_M))
		return false;
	if (text)
		record->condition = value_str(text);
	record->values = values;
	return !names || ion_names(arena, names, &record->names);
}

/* A struct's field where it is a struct too; or NULL. */
static const struct value *ion_struct_in(const struct value *value, struct str name)
{
	const struct value *found =
		value && value->type == TYPE_M ? value_member(value, name) : NULL;

	return found && found->type == TYPE_M ? found : NULL;
}

static enum record_kind take_ion_change(const struct value *value, struct record_put *record,
					struct err *err)
{
	const struct value *change = ion_struct_in(value, STR("Record"));

	*record = (struct record_put){.condition = STR_ABSENT,
				      .keys = ion_struct_in(change, STR("Keys")),
				      .new_image = ion_struct_in(change, STR("NewImage")),
				      .old_image = ion_struct_in(change, STR("OldImage"))};
	if (!record->keys)
		return bad(err_set(err, MSG_RECORD_NO_KEYS));
	if ((record->new_image && value_depth(record->new_image) > VALUE_DEPTH_MAX) ||
	    (record->old_image && value_depth(record->old_image) > VALUE_DEPTH_MAX))
		return bad(err_set(err, MSG_ION_DEPTH));
	return RECORD_ITEM;
}

static enum record_kind next_ion_record(struct records *records, struct arena *arena,
					struct record_put *record, struct err *err)
{
	struct err value_err = err_in(arena);
	struct value value;
	enum ion_result result = next_ion_value(records, arena, &value, &value_err, err);

	if (result == ION_MORE)
		return more(records, err);
	if (result != ION_VALUE)
		return result == ION_END ? RECORD_END : RECORD_BROKEN;
	if (value_err.code != OK) {
		*err = value_err;
		return RECORD_BAD;
	}
	if (records->form->is_changes)
		return take_ion_change(&value, record, err);
	const struct value *found = ion_struct_in(&value, STR("Item"));
	if (!found)
		return bad(err_set(err, MSG_RECORD_NO_ITEM));
	*record = (struct record_put){.item = *found, .condition = STR_ABSENT};
	if (records->form->takes_conditions && !ion_condition(arena, &value, record))
		return bad(err_set(err, MSG_RECORD_CONDITION));
	if (value_depth(found) > VALUE_DEPTH_MAX ||
	    (record->values && value_depth(record->values) > VALUE_DEPTH_MAX))
		return bad(err_set(err, MSG_ION_DEPTH));
	return RECORD_ITEM;
}

static bool set_head(struct records *records, const struct str *names, size_t n)
{
	enum type *types = ARENA_ARRAY(records->arena, enum type, n);
	struct seen seen = seen_new(records->arena, n);

	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < records->form->key_n; k++) {
			if (str_eq(names[i], records->form->keys[k].name))
				types[i] = records->form->keys[k].type;
		}
		if (names[i].n == 0 || !seen_add(&seen, names[i]))
			return false;
	}
	records->head = names;
	records->head_n = n;
	records->types = types;
	return true;
}

static enum csv_result next_fields(struct records *records, struct arena *arena)
{
	records->csv.rest = records->rest;
	records->csv.is_last = records->is_last;
	enum csv_result result = csv_next(&records->csv, arena);
	records->rest = records->csv.rest;
	return result;
}

/* The byte order mark that spreadsheets begin with. A second one is data. */
static void skip_mark(struct records *records)
{
	struct str *rest = &records->rest;

	if (records->is_begun || rest->n < 3)
		return;
	records->is_begun = true;
	if (memcmp(rest->p, "\xef\xbb\xbf", 3) == 0)
		*rest = (struct str){rest->p + 3, rest->n - 3};
}

/* The columns' names. RECORD_ITEM: they are there. */
static enum record_kind read_csv_head(struct records *records, struct err *err)
{
	if (records->form->head) {
		if (set_head(records, records->form->head, records->form->head_n))
			return RECORD_ITEM;
	} else {
		skip_mark(records);
		enum csv_result result = next_fields(records, records->arena);
		size_t n = records->csv.n <= CSV_FIELDS_MAX ? records->csv.n : 0;
		struct str *names = ARENA_ARRAY(records->arena, struct str, n);

		if (result == CSV_MORE)
			return more(records, err);
		if (result == CSV_END)
			return RECORD_END;
		for (size_t i = 0; i < n; i++)
			names[i] = str_copy(records->arena, records->csv.fields[i]);
		if (result == CSV_RECORD && n > 0 && set_head(records, names, n))
			return RECORD_ITEM;
	}
	(void)(err_set(err, MSG_RECORD_CSV_HEAD) == OK);
	return RECORD_BROKEN;
}

/* A field by its column's type. */
static enum code field_value(struct arena *arena, enum type type, struct str field,
			     struct value *out, struct err *err)
{
	struct err reason = err_in(arena);
	struct value value = value_of_str(TYPE_S, field);
	struct str bytes;

	if (type == TYPE_N && !ion_text_number(arena, field, &value, &reason)) {
		*err = reason;
		return reason.code;
	}
	if (type == TYPE_B && !base64_decode(arena, field, &bytes))
		return err_set(err, MSG_RECORD_CSV_BASE64);
	*out = type == TYPE_B ? value_of_str(TYPE_B, bytes) : value;
	return OK;
}

static enum code fields_item(struct records *records, struct arena *arena, struct value *item,
			     struct err *err)
{
	const struct csv *csv = &records->csv;
	struct member *members = ARENA_ARRAY(arena, struct member, records->head_n);
	enum code code = OK;
	uint32_t n = 0;

	if (csv->n != records->head_n)
		return err_set(err, MSG_RECORD_CSV_FIELDS, csv->n, records->head_n);
	for (size_t i = 0; i < csv->n && code == OK; i++) {
		if (csv->fields[i].n == 0)
			continue;
		members[n].name = records->head[i];
		code = field_value(arena, records->types[i], csv->fields[i], &members[n].value,
				   err);
		n++;
	}
	(void)value_sort_members(members, n, NULL);
	return RESULT(code, item, ((struct value){.type = TYPE_M, .n = n, .members = members}));
}

static enum record_kind next_csv(struct records *records, struct arena *arena,
				 struct record_put *record, struct err *err)
{
	if (!records->head) {
		enum record_kind kind = read_csv_head(records, err);

		if (kind != RECORD_ITEM)
			return kind;
	}
	enum csv_result result = next_fields(records, arena);
	if (result == CSV_MORE)
		return more(records, err);
	if (result == CSV_END)
		return RECORD_END;
	if (result == CSV_BROKEN) {
		(void)(err_set(err, MSG_RECORD_CSV_QUOTE) == OK);
		return RECORD_BROKEN;
	}
	*record = (struct record_put){.condition = STR_ABSENT};
	return bad(fields_item(records, arena, &record->item, err));
}

static enum record_kind next_record(struct records *records, struct arena *arena,
				    struct record_put *record, struct err *err)
{
	switch (records->form->form) {
	case RECORD_JSON:
		return next_record_line(records, arena, record, err);
	case RECORD_ION:
		return next_ion_record(records, arena, record, err);
	case RECORD_CSV:
		break;
	}
	return next_csv(records, arena, record, err);
}

enum record_kind records_next(struct records *records, struct arena *arena,
			      struct record_put *record, struct err *err)
{
	enum record_kind kind = next_record(records, arena, record, err);

	if (!arena_is_over(arena) || kind == RECORD_MORE || kind == RECORD_END)
		return kind;
	(void)(err_set(err, MSG_RECORD_MEMORY) == OK);
	return kind == RECORD_BROKEN ? RECORD_BROKEN : RECORD_BAD;
}

/* In an arena that outlives the record. */
static void copy_names(struct arena *arena, struct expression_attribute_name_map *names)
{
	const struct expression_attribute_name_map from = *names;

	if (!from.v)
		return;
	names->v = arena_alloc(arena, from.n * sizeof(*names->v) + 1);
	for (size_t i = 0; i < from.n; i++) {
		names->v[i].key = str_copy(arena, from.v[i].key);
		names->v[i].value = str_copy(arena, from.v[i].value);
	}
}

static bool copy_values(struct arena *arena, const struct value **values)
{
	struct value *own = ARENA_NEW(arena, struct value);
	struct buf image = buf_in(arena);

	if (!*values)
		return true;
	image_encode(*values, &image);
	if (!image_decode(arena, buf_str(&image), own))
		return false;
	*values = own;
	return true;
}

enum code records_condition(struct arena *arena, const struct record_put *record,
			    const struct node **condition, struct err *err)
{
	struct call call = {.arena = arena};
	struct expression_attribute_name_map names = record->names;
	const struct value *values = record->values;
	struct expressions expressions = {0};

	copy_names(arena, &names);
	if (!copy_values(arena, &values))
		return err_default(err, ERR_INTERNAL);
	const struct expression_request request = {
		.condition = str_is_set(record->condition) ? str_copy(arena, record->condition)
							   : STR_ABSENT,
		.valued = "ConditionExpression is",
		.is_write = true,
		.names = &names,
		.values = values,
	};
	enum code code = expressions_check(&call, &request, err);
	if (code != OK)
		return code;
	code = expressions_parse(&call, &request, &expressions, err);
	return RESULT(code, condition, expressions.condition);
}
