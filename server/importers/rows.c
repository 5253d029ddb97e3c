#include "server/importers/rows.h"

#include <string.h>

#include "core/seen.h"
#include "protocol/transfer/csv.h"
#include "protocol/transfer/ion_binary.h"
#include "protocol/wire/json_out.h"
#include "server/seed/json_text.h"
#include "server/seed/messages.h"

#define PIECE (1 << 16) /* of memory kept from item to item */

/* What PutItem's body may have beside a table and an item, and no effect here. */
static const char *const shown_by_put[] = {"ReturnConsumedCapacity", "ReturnItemCollectionMetrics",
					   "ReturnValues", "ReturnValuesOnConditionCheckFailure"};

/* What stands around an Item: the table of a PutItem. Anything else is an error. */
static enum code open_envelope(struct str object, struct str *table, struct err *err)
{
	struct str rest = json_text_inside(object), name, value;

	while (json_text_member(&rest, &name, &value)) {
		if (str_eq(name, STR("TableName")) && value.n > 2 && value.p[0] == '"')
			*table = (struct str){value.p + 1, value.n - 2};
		else if (!str_eq(name, STR("Item")) && !JSON_TEXT_IS_AMONG(name, shown_by_put))
			return err_set(err, MSG_SEED_ENVELOPE, STR_ARG(name));
	}
	return OK;
}

/* An object of any of the forms: the item within its envelope, in DynamoDB's form. */
static enum code item_of(struct arena *arena, struct str object, struct str *table,
			 struct str *item, struct err *err)
{
	struct str inner = json_text_find(object, STR("Item"));
	struct buf buf = buf_in(arena);

	if (str_is_set(inner) && inner.p[0] == '{' && json_text_is_item(inner)) {
		enum code code = open_envelope(object, table, err);

		return RESULT(code, item, inner);
	}
	if (!json_text_is_item(object))
		json_text_add_item(&buf, object);
	*item = json_text_is_item(object) ? object : buf_str(&buf);
	return OK;
}

/* `arena` is given back. */
static enum code put(struct seed *seed, struct arena *arena, struct str table, struct str object,
		     size_t line, struct err *err)
{
	bool is_object = object.n > 0 && object.p[0] == '{';
	struct str item;
	enum code code = is_object ? item_of(arena, object, &table, &item, err)
				   : err_set(err, MSG_SEED_NOT_ITEM);

	code = code == OK ? seed_item(seed, table, item, line, err)
			  : seed_bad_line(seed, line, err);
	arena_reset(arena);
	return code;
}

enum code rows_put_value(struct seed *seed, struct str table, const struct json *item,
			 struct err *err)
{
	struct arena *arena = arena_new(PIECE);
	struct json_out out = json_out_in(arena);

	source_use_all(seed_source(seed), item);
	json_text_write(&out, arena, item);
	enum code code = put(seed, arena, table, json_out_str(&out),
			     source_origin(seed_source(seed), item).line, err);
	arena_free(arena);
	return code;
}

static enum code put_line(struct seed *seed, struct arena *arena, struct str table, struct str text,
			  size_t line, struct err *err)
{
	const struct json *root;
	struct err reason = err_in(arena);

	if (json_parse(arena, text, &root, &reason) == OK)
		return put(seed, arena, table, str_trim(text), line, err);
	err_set(err, MSG_SEED_NOT_JSON);
	arena_reset(arena);
	return seed_bad_line(seed, line, err);
}

enum code rows_read_lines(struct seed *seed, struct str text, size_t first_line, struct err *err)
{
	struct str table = seed_table_name(seed);
	struct arena *arena = arena_new(PIECE);
	enum code code = OK;

	for (size_t line = first_line; text.n > 0 && code == OK; line++) {
		struct str bytes = str_cut(&text, '\n');

		if (bytes.n > 0 && bytes.p[bytes.n - 1] == '\r')
			bytes.n--;
		if (str_trim(bytes).n > 0)
			code = put_line(seed, arena, table, bytes, line, err);
	}
	arena_free(arena);
	return code;
}

/* Where a document has been read to. */
struct place {
	const char *at;
	size_t line;
};

/* The line of a part, which stands behind all parts asked for before. */
static size_t line_of(struct place *place, struct str part)
{
	for (; place->at < part.p; place->at++)
		place->line += *place->at == '\n';
	return place->line;
}

static enum code put_all(struct seed *seed, struct str table, struct str array, struct place *place,
			 struct err *err)
{
	struct str rest = json_text_inside(array), element;
	struct arena *arena = arena_new(PIECE);
	enum code code = OK;

	while (code == OK && json_text_element(&rest, &element))
		code = put(seed, arena, table, element, line_of(place, element), err);
	arena_free(arena);
	return code;
}

/* The member of an object that has nothing else; else absent. */
static struct str only_member(struct str object, struct str name)
{
	struct str rest = str_is_set(object) ? json_text_inside(object) : STR(""), found, value,
		   other;
	bool is_only = str_is_set(object) && object.p[0] == '{' &&
		       json_text_member(&rest, &found, &value) && str_eq(found, name) &&
		       !json_text_member(&rest, &found, &other);

	return is_only ? value : STR_ABSENT;
}

static enum code put_requests(struct seed *seed, struct str table, struct str requests,
			      struct place *place, struct err *err)
{
	struct str rest = json_text_inside(requests), element;
	struct arena *arena = arena_new(PIECE);
	enum code code = OK;

	while (code == OK && json_text_element(&rest, &element)) {
		struct str request = only_member(element, STR("PutRequest"));
		struct str item = only_member(request, STR("Item"));

		if (str_is_set(item)) {
			code = put(seed, arena, table, request, line_of(place, element), err);
			continue;
		}
		err_set(err, MSG_SEED_NOT_PUT);
		code = seed_bad_line(seed, line_of(place, element), err);
	}
	arena_free(arena);
	return code;
}

/* Whether it is BatchWriteItem's RequestItems. */
static bool is_batch(const struct json *root)
{
	if (json_type(root) != JSON_OBJECT || !json_first(root))
		return false;
	for (const struct json *table = json_first(root); table; table = json_next(table)) {
		const struct json *first =
			json_type(table) == JSON_ARRAY ? json_first(table) : NULL;

		if (!first || json_type(first) != JSON_OBJECT || !json_member(first, "PutRequest"))
			return false;
	}
	return true;
}

static enum code put_batch(struct seed *seed, struct str batch, bool is_answer, struct place *place,
			   struct err *err)
{
	struct str rest = json_text_inside(batch), name, part;
	enum code code = OK;

	while (code == OK && json_text_member(&rest, &name, &part))
		code = is_answer ? put_all(seed, name, part, place, err)
				 : put_requests(seed, name, part, place, err);
	return code;
}

static bool holds_something(const struct json *root, const char *name)
{
	const struct json *found = json_type(root) == JSON_OBJECT ? json_member(root, name) : NULL;
	bool is_container =
		found && (json_type(found) == JSON_OBJECT || json_type(found) == JSON_ARRAY);

	return is_container ? json_first(found) != NULL : found && json_type(found) == JSON_STRING;
}

/* What an answer says that it lacks. */
static void warn_of_rest(struct seed *seed, const struct json *root)
{
	static const char *const rests[] = {"LastEvaluatedKey", "NextToken", "UnprocessedKeys"};

	for (size_t i = 0; i < sizeof(rests) / sizeof(rests[0]); i++) {
		if (holds_something(root, rests[i]))
			seed_warn(seed, (struct origin){NULL, 0}, str_of(rests[i]),
				  STR("the answer is a page of a longer one: other items are not "
				      "in the file"));
	}
}

/* Whether it is PutItem's body. What else it has but a table and an item is refused. */
static bool is_put(struct seed *seed, const struct json *root)
{
	static const char *const told[] = {"TableName", "Item"};
	struct arena *arena = seed_arena(seed);

	if (!json_text_get(root, "TableName", JSON_STRING) ||
	    !json_text_get(root, "Item", JSON_OBJECT))
		return false;
	for (const struct json *at = json_first(root); at; at = json_next(at)) {
		struct str name = json_name(arena, at);

		if (!JSON_TEXT_IS_AMONG(name, told) && !JSON_TEXT_IS_AMONG(name, shown_by_put) &&
		    holds_something(root, name.p))
			seed_refuse(seed, (struct origin){NULL, 0}, name,
				    STR("an item is put without a condition"));
	}
	return true;
}

/* Requests whose items, if they have some, are not put. */
static bool is_other_request(const struct json *root)
{
	static const char *const members[] = {"TransactItems", "Statement", "Statements",
					      "TransactStatements"};
	bool is_other = json_text_get(root, "TableName", JSON_STRING) && json_count(root) > 1 &&
			!json_member(root, "Item");

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		is_other = is_other || json_text_get(root, members[i], JSON_ARRAY);
	return is_other;
}

/* Refuses what stands beside the items of a request or an answer, and a second list of them. */
static void refuse_beside(struct seed *seed, struct str document, struct place place,
			  const char *items)
{
	static const char *const told[] = {"Count",
					   "ScannedCount",
					   "ConsumedCapacity",
					   "LastEvaluatedKey",
					   "NextToken",
					   "UnprocessedKeys",
					   "ResponseMetadata",
					   "$metadata",
					   "ReturnConsumedCapacity",
					   "ReturnItemCollectionMetrics"};
	struct str rest = json_text_inside(document), name, value;
	size_t n = 0;

	while (json_text_member(&rest, &name, &value)) {
		bool is_items = str_eq(name, str_of(items));
		struct origin origin = {seed_path(seed), line_of(&place, name)};

		n += is_items;
		if (is_items ? n > 1 : !JSON_TEXT_IS_AMONG(name, told))
			seed_refuse(seed, origin, str_copy(seed_arena(seed), name),
				    STR("not known beside the items"));
	}
}

static enum code read_object(struct seed *seed, struct str document, struct place *place,
			     const struct json *root, struct err *err)
{
	struct arena *arena;
	struct str table = seed_table_name(seed);
	const struct json *requests = json_member(root, "RequestItems");

	warn_of_rest(seed, root);
	if (json_text_get(root, "Items", JSON_ARRAY)) {
		refuse_beside(seed, document, *place, "Items");
		return put_all(seed, table, json_text_find(document, STR("Items")), place, err);
	}
	if (requests && is_batch(requests)) {
		refuse_beside(seed, document, *place, "RequestItems");
		return put_batch(seed, json_text_find(document, STR("RequestItems")), false, place,
				 err);
	}
	if (json_text_get(root, "Responses", JSON_OBJECT) && !json_text_is_item(document)) {
		refuse_beside(seed, document, *place, "Responses");
		return put_batch(seed, json_text_find(document, STR("Responses")), true, place,
				 err);
	}
	if (is_batch(root))
		return put_batch(seed, document, false, place, err);
	if (is_put(seed, root))
		table = json_text_string(seed_arena(seed), root, "TableName");
	else if (is_other_request(root)) {
		err_set(err, MSG_SEED_REQUEST);
		return seed_at(seed, place->line, err);
	}
	arena = arena_new(PIECE);
	enum code code = put(seed, arena, table, document, place->line, err);
	arena_free(arena);
	return code;
}

enum code rows_read_document(struct seed *seed, struct str text, size_t first_line,
			     const struct json *root, struct err *err)
{
	struct str document = str_trim(text);
	struct place place = {text.p, first_line};

	if (json_type(root) == JSON_ARRAY)
		return put_all(seed, seed_table_name(seed), document, &place, err);
	return read_object(seed, document, &place, root, err);
}

struct csv_head {
	const struct str *names, *types; /* types: "S", "N", "B" of keys, else absent */
	size_t n;
};

static struct str csv_item(struct arena *arena, const struct csv_head *head, const struct csv *csv)
{
	struct json_out out = json_out_in(arena);

	json_out_open(&out, '{');
	for (size_t i = 0; i < head->n; i++) {
		if (csv->fields[i].n == 0)
			continue;
		json_out_name(&out, head->names[i]);
		json_out_open(&out, '{');
		json_out_name(&out, str_is_set(head->types[i]) ? head->types[i] : STR("S"));
		json_out_string(&out, csv->fields[i]);
		json_out_close(&out, '}');
	}
	json_out_close(&out, '}');
	return json_out_str(&out);
}

static enum code read_head(struct seed *seed, struct csv *csv, struct str table,
			   struct csv_head *head, struct err *err)
{
	struct arena *arena = seed_arena(seed);
	struct str *types;

	if (csv->rest.n > 2 && memcmp(csv->rest.p, "\xef\xbb\xbf", 3) == 0) {
		csv->rest.p += 3; /* the mark that spreadsheets begin with */
		csv->rest.n -= 3;
	}
	if (csv_next(csv, arena) != CSV_RECORD || csv->n > CSV_FIELDS_MAX)
		return err_set(err, MSG_SEED_CSV_HEAD);
	struct seen seen = seen_new(arena, csv->n);
	*head = (struct csv_head){.names = csv->fields, .n = csv->n};
	head->types = types = ARENA_ARRAY(arena, struct str, head->n);
	for (size_t i = 0; i < head->n; i++) {
		enum code code = seed_key_type(seed, table, head->names[i], &types[i], err);

		if (code != OK)
			return code;
		if ((head->names[i].n == 0 && i > 0) || !seen_add(&seen, head->names[i]))
			return err_set(err, MSG_SEED_CSV_HEAD);
	}
	return OK;
}

static enum code put_record(struct seed *seed, struct str table, const struct csv_head *head,
			    const struct csv *csv, struct arena *arena, struct err *err)
{
	if (csv->n == head->n)
		return seed_item(seed, table, csv_item(arena, head, csv), csv->record_line, err);
	err_set(err, MSG_SEED_CSV_FIELDS, csv->n, head->n);
	return seed_bad_line(seed, csv->record_line, err);
}

enum code rows_read_csv(struct seed *seed, struct str text, struct err *err)
{
	struct str table = seed_table_name(seed);
	struct csv csv = {.rest = text, .is_last = true, .delimiter = ',', .line = 1};
	struct csv_head head = {0};

	if (read_head(seed, &csv, table, &head, err) != OK)
		return seed_at(seed, 1, err);
	struct arena *arena = arena_new(PIECE);
	enum csv_result result = CSV_RECORD;
	enum code code = OK;
	while (code == OK && (result = csv_next(&csv, arena)) == CSV_RECORD) {
		code = put_record(seed, table, &head, &csv, arena, err);
		arena_reset(arena);
	}
	if (result == CSV_BROKEN) {
		err_set(err, MSG_SEED_CSV_QUOTE);
		code = seed_at(seed, csv.record_line, err);
	}
	arena_free(arena);
	return code;
}

/* The first byte of the next value: behind white space, brackets of a list, and version markers. */
static const char *ion_start(struct str rest)
{
	static const char marker[] = "$ion_1_0";
	size_t i = 0;

	while (i < rest.n) {
		struct str left = {rest.p + i, rest.n - i};

		if (str_starts_with(left, STR("$ion_1_0")))
			i += sizeof(marker) - 1;
		else if (strchr(" \t\r\n,[]", *left.p))
			i++;
		else
			break;
	}
	return rest.p + i;
}

static enum ion_result next_ion(struct arena *arena, struct ion_symbols *symbols, bool is_binary,
				struct str *rest, struct value *value, struct err *value_err,
				struct err *err)
{
	return is_binary ? ion_binary_next(arena, symbols, rest, true, value, value_err, err)
			 : ion_text_next(arena, rest, true, value, value_err, err);
}

/* A struct is an item, or has one in Item and nothing else, as exports have it. */
static enum code put_ion(struct seed *seed, struct str table, struct arena *arena,
			 const struct value *value, size_t line, struct err *err)
{
	const struct value *inner = value->type == TYPE_M ? value_member(value, STR("Item")) : NULL;
	bool is_within = inner && inner->type == TYPE_M;
	struct json_out out = json_out_in(arena);

	if (value->type != TYPE_M || (is_within && value->n > 1)) {
		err_set(err, MSG_SEED_NOT_ION_ITEM);
		return seed_bad_line(seed, line, err);
	}
	json_out_item(&out, is_within ? inner : value);
	return seed_item(seed, table, json_out_str(&out), line, err);
}

enum code rows_read_ion(struct seed *seed, struct str text, struct err *err)
{
	struct ion_symbols symbols = {.arena = seed_arena(seed)};
	struct place place = {text.p, 1};
	struct str table = seed_table_name(seed), rest = text;
	bool is_binary = ion_binary_is(text);
	struct arena *arena = arena_new(PIECE);
	enum ion_result result;
	enum code code = OK;

	do {
		struct err value_err = err_in(arena);
		struct value value;
		const char *start = ion_start(rest);
		size_t line = is_binary ? 0 : line_of(&place, (struct str){start, 0});

		result = next_ion(arena, &symbols, is_binary, &rest, &value, &value_err, err);
		if (result == ION_VALUE && value_err.code != OK) {
			err_set(err, MSG_SEED_ITEM, STR_ARG(value_err.message));
			code = seed_bad_line(seed, line, err);
		} else if (result == ION_VALUE) {
			code = put_ion(seed, table, arena, &value, line, err);
		} else if (result != ION_END) {
			if (result == ION_MORE)
				err_set(err, MSG_SEED_ION_CUT);
			code = seed_at(seed, line, err);
		}
		arena_reset(arena);
	} while (code == OK && result == ION_VALUE);
	arena_free(arena);
	return code;
}
