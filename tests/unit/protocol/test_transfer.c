/* The forms of files of items. AWS: Developer Guide, "Amazon S3 import formats for DynamoDB" and
 * "DynamoDB table export output format". */
#include "core/number.h"
#include "protocol/transfer/ion_out.h"
#include "protocol/transfer/records.h"
#include "protocol/wire/json_out.h"
#include "protocol/wire/shape_pattern.h"
#include "tests/unit/test.h"

static struct arena *arena;

static void add_change(struct json_out *out, const struct record_put *record)
{
	const struct value *parts[] = {record->keys, record->old_image, record->new_image};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		out->needs_comma = false;
		if (i > 0)
			buf_add_byte(&out->buf, i == 1 ? '<' : '>');
		if (parts[i])
			json_out_item(out, parts[i]);
	}
}

/* The records of a text as JSON, "bad" or "broken", joined with '|'; the bytes come in pieces of
 * `piece`. */
static struct str read_in(const struct records_form *form, struct str text, size_t piece)
{
	struct records *records = records_new(arena, form);
	struct json_out out = json_out_in(arena);
	size_t given = 0;

	records_give(records, STR(""), false);
	for (;;) {
		struct err err = err_in(arena);
		struct record_put record;
		enum record_kind kind = records_next(records, arena, &record, &err);

		if (kind == RECORD_MORE) {
			struct str rest = records_rest(records);
			size_t n = text.n - given < piece ? text.n - given : piece;
			bool is_last = given + n == text.n && n < piece;

			records_give(records,
				     str_printf(arena, STR_FMT STR_FMT "%s", STR_ARG(rest), (int)n,
						text.p + given, is_last ? "\n" : ""),
				     is_last);
			given += n;
			continue;
		}
		if (out.buf.n > 0 && kind != RECORD_END)
			buf_add_byte(&out.buf, '|');
		out.needs_comma = false;
		if (kind == RECORD_ITEM && form->is_changes)
			add_change(&out, &record);
		else if (kind == RECORD_ITEM)
			json_out_item(&out, &record.item);
		else if (kind == RECORD_BAD)
			buf_add_lit(&out.buf, "bad");
		else if (kind == RECORD_BROKEN)
			buf_add_lit(&out.buf, "broken");
		if (kind == RECORD_END || kind == RECORD_BROKEN)
			return json_out_str(&out);
	}
}

/* The same however the bytes come. */
static struct str read_all(enum record_form form, const char *text)
{
	const struct records_form plain = {.form = form};
	struct str whole = read_in(&plain, str_of(text), 1 << 20);

	for (size_t piece = 1; piece < 9; piece++) {
		struct str again = read_in(&plain, str_of(text), piece);

		CHECK(str_eq(again, whole));
	}
	return whole;
}

TEST(lines_of_json)
{
	CHECK_STR(read_all(RECORD_JSON, "{\"Item\":{\"pk\":{\"S\":\"a\"}}}\r\n\n "
					"{\"Item\":{\"pk\":{\"N\":\"1.50\"}}}"),
		  "{\"pk\":{\"S\":\"a\"}}|{\"pk\":{\"N\":\"1.5\"}}");
	CHECK_STR(read_all(RECORD_JSON, ""), "");
	/* AWS: recorded, DDB-IMPORT-013: an item that is none is counted, a line that is no JSON
	 * ends the file */
	CHECK_STR(read_all(RECORD_JSON, "{\"Other\":1}\n{\"Item\":{\"pk\":{\"N\":\"x\"}}}\n{"
					"\"Item\":{\"a\":{\"BOOL\":true}}}"),
		  "bad|bad|{\"a\":{\"BOOL\":true}}");
	CHECK_STR(read_all(RECORD_JSON, "{\"Item\":{\"a\":{\"S\":\"1\"}}}\ngarbage\n{\"Item\":{"
					"\"a\":{\"S\":\"2\"}}}"),
		  "{\"a\":{\"S\":\"1\"}}|broken");
	CHECK_STR(read_all(RECORD_JSON, "[1]"), "broken");
}

/* AWS: Developer Guide, "DynamoDB table export output format": an insert has a new image, a
 * deletion an old one or none. The time is written in three ways. */
TEST(records_of_incremental_exports)
{
	const struct records_form json = {.form = RECORD_JSON, .is_changes = true},
				  ion = {.form = RECORD_ION, .is_changes = true};

	CHECK_STR(
		read_in(&json,
			STR("{\"Metadata\":{\"WriteTimestampMicros\":{\"N\":\"1680109764000000\"}},"
			    "\"Keys\":{\"a\":{\"S\":\"1\"}},\"NewImage\":{\"a\":{\"S\":\"1\"}}}\n"
			    "{\"Metadata\":{\"WriteTimestampMicros\":\"1680109764000000\"},"
			    "\"Keys\":"
			    "{\"a\":{\"S\":\"2\"}}}\n{\"Keys\":{\"a\":{\"S\":\"3\"}},\"OldImage\":{"
			    "\"b\":{\"N\":\"1.50\"}},\"NewImage\":{\"c\":{\"L\":[]}}}\n"
			    "{\"Item\":{\"a\":{\"S\":\"4\"}}}\n{\"Keys\":{\"a\":1}}"),
			7),
		"{\"a\":{\"S\":\"1\"}}<>{\"a\":{\"S\":\"1\"}}|{\"a\":{\"S\":\"2\"}}<>|"
		"{\"a\":{\"S\":\"3\"}}<{\"b\":{\"N\":\"1.5\"}}>{\"c\":{\"L\":[]}}|bad|bad");
	CHECK_STR(read_in(&ion,
			  STR("$ion_1_0 {Record:{Keys:{a:\"1\"},Metadata:{WriteTimestampMicros:"
			      "1684374845117899.},OldImage:{a:\"1\",n:20.},NewImage:{a:\"1\"}}}\n"
			      "$ion_1_0 {Record:{Keys:{a:\"2\"}}}\n$ion_1_0 {Item:{a:\"3\"}}"),
			  7),
		  "{\"a\":{\"S\":\"1\"}}<{\"a\":{\"S\":\"1\"},\"n\":{\"N\":\"20\"}}>{\"a\":{\"S\":"
		  "\"1\"}}|{\"a\":{\"S\":\"2\"}}<>|bad");
}

/* AWS takes them without a line feed between two. Brackets and quotes in a text end nothing. */
TEST(objects_of_json_that_follow_one_another)
{
	CHECK_STR(read_all(RECORD_JSON, "{\"Item\":{\"a\":{\"S\":\"}{\"}}}{\"Item\":{\"b\":{\"L\":["
					"{\"S\":\"]\\\"}\"}]}}}  {\"Item\":{\"c\":{\"M\":{}}}}\n"
					"{\"Item\":{\"d\":{\"S\":\"\\\\\"}}}{\"Item\":{}}"),
		  "{\"a\":{\"S\":\"}{\"}}|{\"b\":{\"L\":[{\"S\":\"]\\\"}\"}]}}|{\"c\":{\"M\":{}}}|{"
		  "\"d\":{\"S\":\"\\\\\"}}|{}");
	CHECK_STR(read_all(RECORD_JSON, "{\"Item\":{}} x"), "{}|broken");
	CHECK_STR(read_all(RECORD_JSON, "{\"Item\":{}},{\"Item\":{}}"), "{}|broken");
	CHECK_STR(read_all(RECORD_JSON, "{\"Item\":\n{}}"),
		  "broken"); /* an object is on one line */
	CHECK_STR(read_all(RECORD_JSON, "{\"Item\":{}"), "broken");
	CHECK_STR(read_all(RECORD_JSON, "}{\"Item\":{}}"), "broken");
}

/* The condition of the first record of a bulk operation: "none", "bad record", the error's text, or
 * "parsed". The record's memory goes first. */
static struct str condition_of(enum record_form form, const char *text)
{
	const struct records_form bulk = {.form = form, .takes_conditions = true};
	struct arena *own = arena_new(0);
	struct records *records = records_new(own, &bulk);
	struct err err = err_in(arena);
	const struct node *condition = NULL;
	struct record_put record;

	records_give(records, str_printf(own, "%s\n", text), true);
	bool is_read = records_next(records, own, &record, &err) == RECORD_ITEM,
	     has_one = is_read && records_have_condition(&record);
	enum code code = has_one ? records_condition(arena, &record, &condition, &err) : OK;
	arena_free(own);
	if (!is_read || !has_one)
		return is_read ? STR("none") : STR("bad record");
	return code == OK && condition ? STR("parsed") : err.message;
}

/* AWS: Developer Guide, "Amazon S3 input formats for bulk put items", per-item condition
 * expressions. */
TEST(conditions_of_records)
{
	static const struct {
		enum record_form form;
		const char *text, *expected;
	} rows[] = {
		{RECORD_JSON, "{'Item':{'pk':{'S':'a'}}}", "none"},
		{RECORD_JSON,
		 "{'Item':{'pk':{'S':'a'}},'ConditionExpression':'attribute_not_exists(pk)'}",
		 "parsed"},
		{RECORD_JSON,
		 "{'Item':{'pk':{'S':'a'}},'ConditionExpression':'#a = "
		 ":v','ExpressionAttributeNames':{'#a':'b'},"
		 "'ExpressionAttributeValues':{':v':{'SS':['x']}}}",
		 "parsed"},
		{RECORD_JSON, "{'Item':{'pk':{'S':'a'}},'ConditionExpression':1}", "bad record"},
		{RECORD_JSON, "{'Item':{'pk':{'S':'a'}},'ConditionExpression':''}",
		 "Invalid ConditionExpression: The expression can not be empty;"},
		{RECORD_JSON, "{'Item':{'pk':{'S':'a'}},'ConditionExpression':'a = :v'}",
		 "Invalid ConditionExpression: An expression attribute value used in expression is "
		 "not defined; attribute value: :v"},
		{RECORD_ION,
		 "{Item: {pk: 'a'}, ConditionExpression: '#a = :v', ExpressionAttributeNames: "
		 "{`#a`: 'b'}, ExpressionAttributeValues: {`:v`: 1.}}",
		 "parsed"},
		{RECORD_ION, "{Item: {pk: 'a'}, ConditionExpression: 1.}", "bad record"},
		{RECORD_ION,
		 "{Item: {pk: 'a'}, ConditionExpression: '#a = #a', ExpressionAttributeNames: "
		 "{`#a`: 1.}}",
		 "bad record"},
		{RECORD_ION, "{Item: {pk: 'a'}}", "none"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[512];

		snprintf(text, sizeof(text), "%s", rows[i].text);
		for (char *c = text; *c; c++)
			*c = *c == '\'' ? '"' : *c == '`' ? '\'' : *c;
		CHECK_STR(condition_of(rows[i].form, text), rows[i].expected);
	}
}

TEST(ion_of_the_guide)
{
	CHECK_STR(read_all(RECORD_ION, "$ion_1_0 "
				       "{Item:{Authors:$dynamodb_SS::[\"Author1\",\"Author2\"],Id:"
				       "103.,InPublication:false,PageCount:6d2,Price:2d3,"
				       "Title:\"Book 103 Title\"}}\n$ion_1_0 {Item:{Id:104.}}"),
		  "{\"Authors\":{\"SS\":[\"Author1\",\"Author2\"]},\"Id\":{\"N\":\"103\"},"
		  "\"InPublication\":{\"BOOL\":false},\"PageCount\":{\"N\":\"600\"},"
		  "\"Price\":{\"N\":\"2000\"},\"Title\":{\"S\":\"Book 103 "
		  "Title\"}}|{\"Id\":{\"N\":\"104\"}}");
	CHECK_STR(read_all(RECORD_ION, "$ion_1_0\n[\n {Item:{a:1}},\n {Item:{a:2}}\n]\n"),
		  "{\"a\":{\"N\":\"1\"}}|{\"a\":{\"N\":\"2\"}}");
}

TEST(ion_text_has_many_forms)
{
	CHECK_STR(read_all(RECORD_ION, "{'Item':{\"a b\":'''x''' /* no */ '''y''', c:null.string, "
				       "d:{{aGk=}}, e:[1,0x1F,-1_0,1.5e2], // end\n f:(1)}}"),
		  "bad");
	CHECK_STR(read_all(RECORD_ION, "{'Item':{\"a b\":'''x''' /* no */ '''y''', c:null.string, "
				       "d:{{ aG k= }}, e:[1,0x1F,-1_0,1.5e2,]} // end\n }"),
		  "{\"a "
		  "b\":{\"S\":\"xy\"},\"c\":{\"NULL\":true},\"d\":{\"B\":\"aGk=\"},\"e\":{\"L\":[{"
		  "\"N\":\"1\"},{\"N\":\"31\"},{\"N\":\"-10\"},{\"N\":\"150\"}]}}");
	CHECK_STR(
		read_all(RECORD_ION, "{Item:{a:\"\\u00e9\\x41\\n\\U0001F600\\ud83d\\ude00\\\\\"}}"),
		"{\"a\":{\"S\":\"\xc3\xa9"
		"A\\n\xf0\x9f\x98\x80\xf0\x9f\x98\x80\\\\\"}}");
	CHECK_STR(read_all(RECORD_ION,
			   "{Item:{a:$dynamodb_NS::[1.,2.,1.0]}} {Item:{a:$dynamodb_SS::[1]}} "
			   "{Item:{a:$dynamodb_BS::[]}} {Item:{a:2020-01-01T}} "
			   "{Item:{a:word}} {Item:{a:+inf}} {Item:{a:1d200}} {Other:{}} 5 "
			   "{Item:{a:{{\"clob\"}}}}"),
		  "bad|bad|bad|bad|bad|bad|bad|bad|bad|bad");
	CHECK_STR(read_all(RECORD_ION,
			   "{Item:{a:{{'''cl''' '''ob'''}}}} {{ '''clob''' }} {{'''}}'''}}"),
		  "bad|bad|bad");
	static const char *const broken[] = {"{Item:{a:}}",
					     "{Item:{a:\"x",
					     "{Item",
					     "{Item:{a:\"\\q\"}}",
					     "{Item:[1 2]}",
					     "{Item:{a:\"\\ud800\"}}",
					     "}",
					     "{{x}}",
					     "{Item:{a:1 b:2}}",
					     "\"\xff\"",
					     "/* open",
					     "'''a"};
	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++)
		CHECK_STR(read_all(RECORD_ION, broken[i]), "broken");
}

static struct str deep(const char *open, const char *inside, const char *close, int n)
{
	struct buf out = buf_in(arena);

	buf_add_lit(&out, "{Item:{a:");
	for (int i = 0; i < n; i++)
		buf_add_str(&out, str_of(open));
	buf_add_str(&out, str_of(inside));
	for (int i = 0; i < n; i++)
		buf_add_str(&out, str_of(close));
	buf_add_lit(&out, "}}");
	return buf_str(&out);
}

TEST(ion_nests_as_deep_as_items)
{
	const struct records_form form = {.form = RECORD_ION};

	CHECK(str_starts_with(read_in(&form, deep("[", "1", "]", VALUE_DEPTH_MAX - 1), 1 << 20),
			      STR("{\"a\"")));
	CHECK_STR(read_in(&form, deep("[", "1", "]", VALUE_DEPTH_MAX), 1 << 20), "bad");
	CHECK_STR(read_in(&form, deep("[", "1", "]", 100000), 1 << 20), "broken");
	CHECK_STR(read_in(&form, deep("a::", "1", "", 100000), 1 << 20), "broken");
}

/* A writer of binary Ion. */
static void add_tag(struct buf *out, int type, struct str content)
{
	if (content.n < 14) {
		buf_add_byte(out, type << 4 | (int)content.n);
	} else {
		buf_add_byte(out, type << 4 | 14);
		if (content.n > 127)
			buf_add_byte(out, (int)(content.n >> 7));
		buf_add_byte(out, 0x80 | (int)(content.n & 127));
	}
	buf_add_str(out, content);
}

static struct str tagged(int type, struct str content)
{
	struct buf out = buf_in(arena);

	add_tag(&out, type, content);
	return buf_str(&out);
}

static struct str joined(const struct str *parts, size_t n)
{
	struct buf out = buf_in(arena);

	for (size_t i = 0; i < n; i++)
		buf_add_str(&out, parts[i]);
	return buf_str(&out);
}
#define JOIN(...)                                                                                  \
	joined((struct str[]){__VA_ARGS__},                                                        \
	       sizeof((struct str[]){__VA_ARGS__}) / sizeof(struct str))

static struct str binary_table(void)
{
	struct str names = tagged(11, JOIN(tagged(8, STR("Item")), tagged(8, STR("pk")),
					   tagged(8, STR("n")), tagged(8, STR("$dynamodb_SS"))));

	return tagged(14, JOIN(STR("\x81\x83"), tagged(13, JOIN(STR("\x87"), names))));
}

static struct str read_binary(struct str bytes, size_t piece)
{
	const struct records_form form = {.form = RECORD_ION};
	struct records *records = records_new(arena, &form);
	struct json_out out = json_out_in(arena);
	size_t given = 0;

	records_give(records, STR(""), false);
	for (;;) {
		struct err err = err_in(arena);
		struct record_put record;
		enum record_kind kind = records_next(records, arena, &record, &err);

		if (kind == RECORD_MORE) {
			size_t n = bytes.n - given < piece ? bytes.n - given : piece;
			struct buf next = buf_in(arena);

			buf_add_str(&next, records_rest(records));
			buf_add(&next, bytes.p + given, n);
			given += n;
			if (given == bytes.n)
				buf_add_byte(&next, '\n');
			records_give(records, buf_str(&next), given == bytes.n);
			continue;
		}
		out.needs_comma = false;
		if (kind == RECORD_ITEM)
			json_out_item(&out, &record.item);
		else if (kind != RECORD_END)
			buf_add_str(&out.buf, kind == RECORD_BAD ? STR("bad") : STR("broken"));
		if (kind == RECORD_END || kind == RECORD_BROKEN)
			return json_out_str(&out);
	}
}

TEST(ion_in_binary)
{
	struct str marker = {"\xe0\x01\x00\xea", 4};
	struct str set = tagged(14, JOIN(STR("\x81\x8d"), tagged(11, tagged(8, STR("x")))));
	struct str item = tagged(13, JOIN(STR("\x8b"), tagged(8, STR("a")), STR("\x8c"),
					  tagged(2, STR("\x02\x58")), STR("\x8d"), set));
	struct str record = tagged(13, JOIN(STR("\x8a"), item));
	struct str stream = JOIN(marker, binary_table(), record,
				 tagged(13, JOIN(STR("\x8a"),
						 tagged(13, JOIN(STR("\x8c"),
								 tagged(5, STR("\xc1\x8f"))))))),
		   expected = STR("{\"$dynamodb_SS\":{\"SS\":[\"x\"]},\"n\":{\"N\":\"600\"},\"pk\":"
				  "{\"S\":\"a\"}}{\"n\":{\"N\":\"-1.5\"}}");

	for (size_t piece = 4; piece < 20; piece++)
		CHECK(str_eq(read_binary(stream, piece), expected));
	CHECK_STR(read_binary((struct str){stream.p, stream.n - 1}, 100),
		  "{\"$dynamodb_SS\":{\"SS\":[\"x\"]},\"n\":{\"N\":\"600\"},\"pk\":{\"S\":\"a\"}}"
		  "broken");
	CHECK_STR(read_binary(JOIN(marker, record), 100), "broken"); /* without its symbols */
	CHECK_STR(read_binary(
			  JOIN(marker, binary_table(),
			       tagged(13, JOIN(STR("\x8a"),
					       tagged(13, JOIN(STR("\x8c"),
							       tagged(6, STR("\xc0\x8f\xd0"))))))),
			  100),
		  "bad"); /* a timestamp */
}

TEST(fields)
{
	const struct records_key keys[] = {
		{STR_INIT("pk"), TYPE_S}, {STR_INIT("n"), TYPE_N}, {STR_INIT("b"), TYPE_B}};
	struct records_form form = {.form = RECORD_CSV, .keys = keys, .key_n = 3};
	struct str text = STR("\xef\xbb\xbfpk,n,b,other\na,1,aGk=,\"x,\"\"y\"\"\nz\"\r\n\nb,2,,"
			      "3\nc,4,aGk=\nd,x,,\ne,1,!,\n");
	struct str expected = STR(
		"{\"b\":{\"B\":\"aGk=\"},\"n\":{\"N\":\"1\"},\"other\":{\"S\":\"x,\\\"y\\\"\\nz\"},"
		"\"pk\":{\"S\":\"a\"}}|"
		"{\"n\":{\"N\":\"2\"},\"other\":{\"S\":\"3\"},\"pk\":{\"S\":\"b\"}}|bad|bad|bad");

	for (size_t piece = 3; piece < 60; piece++)
		CHECK(str_eq(read_in(&form, text, piece), expected));
	CHECK_STR(read_in(&form, STR("pk,pk\n1,2"), 99), "broken");
	CHECK_STR(read_in(&form, STR("pk,n\n\"a"), 99), "broken");
	CHECK_STR(read_in(&form, STR(""), 99), "");
	const struct str head[] = {STR_INIT("pk"), STR_INIT("v")};
	form.head = head;
	form.head_n = 2;
	form.delimiter = ';';
	CHECK_STR(read_in(&form, STR("pk;v\na;1,2"), 3),
		  "{\"pk\":{\"S\":\"pk\"},\"v\":{\"S\":\"v\"}}|{\"pk\":{\"S\":\"a\"},\"v\":{\"S\":"
		  "\"1,2\"}}");
}

/* A row of 4 MB of separators took 1.1 GB: 256 bytes a field. */
TEST(a_row_of_many_fields_takes_no_more_than_its_bytes)
{
	const struct str head[] = {STR_INIT("pk"), STR_INIT("v")};
	const size_t n = RECORD_BYTES_MAX;
	struct arena_budget budget = {.limit = RECORD_MEMORY_MAX};
	struct arena *parsed = arena_new_within(0, &budget);
	char *bytes = arena_bytes(arena, n + 1);
	const struct records_form forms[] = {{.form = RECORD_CSV, .head = head, .head_n = 2},
					     {.form = RECORD_CSV}};

	for (unsigned quoted = 0; quoted < 2; quoted++) {
		for (size_t i = 0; i < n; i++)
			bytes[i] = quoted ? "\"\",\"a\","[i % 7] : ',';
		bytes[n] = '\n';
		for (unsigned i = 0; i < 2; i++) {
			struct records *records = records_new(arena, &forms[i]);
			struct record_put record;
			struct err err = err_in(parsed);

			records_give(records, (struct str){bytes, n + 1}, true);
			CHECK_INT(records_next(records, parsed, &record, &err),
				  i == 0 ? RECORD_BAD : RECORD_BROKEN);
			CHECK(str_contains(err.message,
					   i == 0 ? STR("fields, the header has 2")
						  : STR("must name each column once")));
			CHECK(arena_held(parsed) < 8u << 20);
			arena_reset(parsed);
		}
	}
	arena_free(parsed);
}

/* Values of a byte or two are 40 bytes each in memory. */
TEST(a_record_beyond_its_memory_is_none)
{
	const struct {
		enum record_form form;
		const char *before, *one, *after;
		enum record_kind kind;
	} cases[] = {
		{RECORD_JSON, "{\"Item\":{\"v\":{\"L\":[{\"NULL\":true}", ",{\"L\":[]}", "]}}}",
		 RECORD_BROKEN},
		{RECORD_ION, "{Item:{v:[null", ",[]", "]}} ", RECORD_BROKEN},
	};
	struct arena_budget budget = {.limit = (size_t)8 << 20};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct records_form form = {.form = cases[i].form};
		struct arena *parsed = arena_new_within(0, &budget);
		struct records *records = records_new(arena, &form);
		struct record_put record;
		struct err err = err_in(parsed);
		struct buf text = buf_in(arena);

		buf_add_str(&text, str_of(cases[i].before));
		while (text.n < 3000000)
			buf_add_str(&text, str_of(cases[i].one));
		buf_add_str(&text, str_of(cases[i].after));
		buf_add_byte(&text, '\n');
		records_give(records, buf_str(&text), true);
		CHECK_INT(records_next(records, parsed, &record, &err), cases[i].kind);
		CHECK_STR(err.message, "The record takes more memory than any item does");
		CHECK(arena_held(parsed) < 24u << 20);
		arena_free(parsed);
	}
}

static struct str ion_of(const char *number)
{
	struct err err = err_in(arena);
	char *bytes = arena_bytes(arena, NUMBER_MAX);
	struct buf out = buf_in(arena);
	size_t length = 0;

	CHECK_INT(number_parse(str_of(number), bytes, &length, &err), OK);
	struct value value = value_of_str(TYPE_N, (struct str){bytes, length});
	ion_out_value(&out, &value);
	return buf_str(&out);
}

/* As Ion's writer for Java prints a decimal without trailing zeros; 103., 6d2 and 2d3 are the
 * guide's. */
TEST(numbers_of_ion)
{
	static const char *const cases[][2] = {
		{"103", "103."},
		{"600", "6d2"},
		{"2000", "2d3"},
		{"0", "0."},
		{"-0.0", "0."},
		{"1.5", "1.5"},
		{"-12.25", "-12.25"},
		{"0.5", "5d-1"},
		{"0.05", "5d-2"},
		{"0.125", "1.25d-1"},
		{"1e125", "1d125"},
		{"1e-130", "1d-130"},
		{"-100.001", "-100.001"},
		{"120", "12d1"},
		{"12345678901234567890123456789012345678",
		 "12345678901234567890123456789012345678."},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CHECK_STR(ion_of(cases[i][0]), cases[i][1]);
		struct str text =
			str_printf(arena, "{Item:{n:" STR_FMT "}}", STR_ARG(ion_of(cases[i][0])));
		struct err err = err_in(arena);
		char bytes[NUMBER_MAX];
		size_t length;
		struct buf wire = buf_in(arena);
		const struct records_form form = {.form = RECORD_ION};

		CHECK_INT(number_parse(str_of(cases[i][0]), bytes, &length, &err), OK);
		number_format((struct str){bytes, length}, &wire);
		CHECK_STR(read_in(&form, text, 1 << 20),
			  str_printf(arena, "{\"n\":{\"N\":\"" STR_FMT "\"}}",
				     STR_ARG(buf_str(&wire)))
				  .p);
	}
}

TEST(names_and_strings_of_ion)
{
	static const char *const names[][2] = {
		{"pk", "pk"},   {"a b", "'a b'"}, {"1a", "'1a'"},      {"null", "'null'"},
		{"$x", "'$x'"}, {"", "''"},       {"it's", "'it\\'s'"}};
	struct value text = value_of_str(TYPE_S, (struct str){"a\"\\\n\x01\0\xc3\xa9", 8});
	struct buf out = buf_in(arena);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct buf name = buf_in(arena);

		ion_out_name(&name, str_of(names[i][0]));
		CHECK_STR(buf_str(&name), names[i][1]);
	}
	ion_out_value(&out, &text);
	CHECK_STR(buf_str(&out), "\"a\\\"\\\\\\n\\x01\\0\xc3\xa9\"");
}

TEST(patterns_of_the_model)
{
	static const struct { const char *pattern, *text; bool matches;
	} cases[] = {
		{"[a-zA-Z0-9_.-]+", "a.B_-9", true},
		{"[a-zA-Z0-9_.-]+", "a b", false},
		{"[a-zA-Z0-9_.-]+", "", false},
		{"[0-9]{12}", "123456789012", true},
		{"[0-9]{12}", "12345678901", false},
		{"[0-9]{12}", "1234567890123", false},
		{"^[a-z0-9A-Z]+[\\.\\-\\w]*[a-z0-9A-Z]+$", "my-bucket.1", true},
		{"^[a-z0-9A-Z]+[\\.\\-\\w]*[a-z0-9A-Z]+$", "arn:aws:s3:::b", false},
		{"^[a-z0-9A-Z]+[\\.\\-\\w]*[a-z0-9A-Z]+$", "b", false},
		{"^[a-z0-9A-Z]+[\\.\\-\\w]*[a-z0-9A-Z]+$", "b-", false},
		{"^[^\\$]+$", "token", true},
		{"^[^\\$]+$", "to$ken", false},
		{"([0-9a-f]{16})+", "0123456789abcdef0123456789abcdef", true},
		{"([0-9a-f]{16})+", "0123456789abcdef0", false},
		{"[,;:|\\t ]", "\t", true},
		{"[,;:|\\t ]", ";;", false},
		{"[,;:|\\t ]", "t", false},
		{"[\\x20-\\x21\\x23-\\x2B\\x2D-\\x7E]*", "head er!", true},
		{"[\\x20-\\x21\\x23-\\x2B\\x2D-\\x7E]*", "a,b", false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (shape_pattern_matches(cases[i].pattern, str_of(cases[i].text)) !=
		    cases[i].matches)
			fprintf(stderr, "%s: %s\n", cases[i].pattern, cases[i].text);
		CHECK(shape_pattern_matches(cases[i].pattern, str_of(cases[i].text)) ==
		      cases[i].matches);
	}
	for (int c = 0; c < 256;
	     c++) { /* names are checked by a way of their own, which a $ does not take */
		char text[] = {'a', (char)c, 'z'};

		for (size_t n = 1; n <= sizeof(text); n++)
			CHECK(shape_pattern_matches("[a-zA-Z0-9_.-]+", (struct str){text, n}) ==
			      shape_pattern_matches("[a-zA-Z0-9_.-]+$", (struct str){text, n}));
	}
	char long_text[4096];
	memset(long_text, 'a', sizeof(long_text));
	long_text[sizeof(long_text) - 1] = '-';
	CHECK(!shape_pattern_matches("^[a-z0-9A-Z]+[\\.\\-\\w]*[a-z0-9A-Z]+$",
				     (struct str){long_text, sizeof(long_text)}));
}

int main(void)
{
	static const struct test_case cases[] = {
		TEST_CASE(lines_of_json),
		TEST_CASE(objects_of_json_that_follow_one_another),
		TEST_CASE(records_of_incremental_exports),
		TEST_CASE(conditions_of_records),
		TEST_CASE(ion_of_the_guide),
		TEST_CASE(ion_text_has_many_forms),
		TEST_CASE(ion_nests_as_deep_as_items),
		TEST_CASE(ion_in_binary),
		TEST_CASE(fields),
		TEST_CASE(a_row_of_many_fields_takes_no_more_than_its_bytes),
		TEST_CASE(a_record_beyond_its_memory_is_none),
		TEST_CASE(numbers_of_ion),
		TEST_CASE(names_and_strings_of_ion),
		TEST_CASE(patterns_of_the_model),
	};

	arena = arena_new(1 << 20);
	int status = test_run(__FILE__, cases, sizeof(cases) / sizeof(cases[0]));
	arena_free(arena);
	return status;
}
