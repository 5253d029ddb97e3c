/*
 * grammar - requests made from the shapes of the API (protocol/wire/shapes.def) by the bytes of a
 * fuzz target's input.
 *
 * Each byte makes one choice, and 0 is the plain one, so an input that ends early still makes whole
 * requests. Types are mostly right. Names come from small pools, so that requests meet the tables,
 * keys and indexes of earlier ones. Tokens, ARNs, iterators and start keys are taken from earlier
 * answers.
 */
#ifndef DYNALITH_FUZZ_GRAMMAR_H
#define DYNALITH_FUZZ_GRAMMAR_H

#include "core/buf.h"
#include "protocol/wire/shape_tables.h"
#include "tests/fuzz/fuzz.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define GRAMMAR_DEPTH_MAX 4       /* of attribute values */
#define GRAMMAR_OLDER                                                                              \
	8 /* of 16 times, where they stand at all: parameters of the older interface */
#define GRAMMAR_ANSWERS_MAX 65536 /* bytes of answers that are remembered */

struct grammar {
	struct arena *arena;
	struct str *choices;
	struct str answers; /* the latest ones */
	struct buf out;
	unsigned table;     /* of the structure that is made now */
	bool is_search;     /* of SearchVectors */
	bool is_older;      /* parameters of the older interface stand in place of expressions */
};

/* All tables have a partition key "pk" of strings; some have a sort key "sk" of numbers. */
static const struct grammar_table {
	const char *name;
	bool has_sort_key;
} grammar_tables[] = {{"tab", true}, {"num", false}, {"new", true}, {"vec", false}};

static inline unsigned grammar_choose(struct grammar *g, unsigned n)
{
	return fuzz_byte(g->choices) % n;
}

/* Once in `n` times, and never at the input's end. */
static inline bool grammar_rarely(struct grammar *g, unsigned n)
{
	return fuzz_byte(g->choices) % n == n - 1;
}

#define GRAMMAR_PICK(g, texts) ((texts)[grammar_choose((g), COUNT_OF(texts))])

static inline void grammar_text(struct grammar *g, const char *text)
{
	buf_add_str(&g->out, str_of(text));
}

static inline void grammar_choose_table(struct grammar *g)
{
	if (grammar_rarely(g, 4))
		g->table = grammar_choose(g, COUNT_OF(grammar_tables));
}

static inline void grammar_wrong(struct grammar *g)
{
	static const char *const texts[] = {"null", "true",   "\"\"",      "\"x\"",
					    "0",    "-1.5",   "1e400",     "[]",
					    "{}",   "[null]", "{\"S\":1}", "[[[[{}]]]]"};

	grammar_text(g, GRAMMAR_PICK(g, texts));
}

/* The text of a JSON value that begins at `text`. */
static inline struct str grammar_json(struct str text)
{
	int depth = 0;
	bool is_string = false;

	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];

		if (is_string && c == '\\')
			i++;
		else if (c == '"')
			is_string = !is_string;
		else if (!is_string && (c == '{' || c == '['))
			depth++;
		else if (!is_string && (c == '}' || c == ']'))
			depth--;
		if (depth < 0)
			return (struct str){text.p, i};
		if (depth == 0 && !is_string && (c == '"' || c == '}' || c == ']'))
			return (struct str){text.p, i + 1};
		if (depth == 0 && !is_string && c == ',')
			return (struct str){text.p, i};
	}
	return STR_ABSENT;
}

/* The value of one of the latest members of that name in the answers; absent where there is none.
 */
static inline struct str grammar_answered(struct grammar *g, const char *name)
{
	struct str key = str_printf(g->arena, "\"%s\":", name), found = STR_ABSENT;
	unsigned skipped = grammar_rarely(g, 4) ? grammar_choose(g, 8) : 0;

	for (size_t end = g->answers.n; end >= key.n; end--) {
		const char *at = g->answers.p + end - key.n;

		if (*at != '"' || memcmp(at, key.p, key.n) != 0)
			continue;
		found = grammar_json((struct str){at + key.n, g->answers.n - end});
		if (skipped-- == 0)
			break;
	}
	return found;
}

/* What stands for a member of that name. */
struct grammar_rule {
	const char *name;
	unsigned often;            /* of 16 times; a required member nearly always stands there */
	const char *answers[3];    /* names of members of answers whose value may stand here */
	const char *texts[16];     /* JSON, else by the shape */
};

static const struct grammar_rule grammar_rules[] = {
	{"TableName", 15, {"TableArn"}, {NULL}},
	{"ResourceArn",
	 15,
	 {"TableArn", "StreamArn", "LatestStreamArn"},
	 {"\"arn:aws:dynamodb:us-east-1:000000000000:table/tab\""}},
	{"StreamArn",
	 15,
	 {"LatestStreamArn", "StreamArn"},
	 {"\"arn:aws:dynamodb:us-east-1:000000000000:table/tab/stream/2023-11-14T22:13:20.000\""}},
	{"ShardId", 15, {"ShardId"}, {"\"shardId-00000001700000000000-00000000\""}},
	{"ShardIterator", 15, {"ShardIterator", "NextShardIterator"}, {"\"none\""}},
	{"ShardIteratorType",
	 15,
	 {NULL},
	 {"\"TRIM_HORIZON\"", "\"TRIM_HORIZON\"", "\"LATEST\"", "\"AT_SEQUENCE_NUMBER\"",
	  "\"AFTER_SEQUENCE_NUMBER\"", "\"AT_TIMESTAMP\""}},
	{"Key", 15, {NULL}, {NULL}},
	{"Value", 14, {NULL}, {NULL}},
	{"Tags", 14, {NULL}, {NULL}},
	{"Policy",
	 15,
	 {NULL},
	 {"\"{\\\"Version\\\":\\\"2012-10-17\\\",\\\"Statement\\\":[{\\\"Effect\\\":\\\"Allow\\\","
	  "\\\"Principal\\\":{\\\"AWS\\\":\\\"000000000000\\\"},"
	  "\\\"Action\\\":\\\"dynamodb:GetItem\\\",\\\"Resource\\\":\\\"arn:aws:dynamodb:us-east-1:"
	  "000000000000:table/tab\\\"}]}\"",
	  "\"{}\""}},
	{"SequenceNumber",
	 2,
	 {"SequenceNumber", "StartingSequenceNumber"},
	 {"\"000000000000000000001\""}},
	{"ExclusiveStartKey", 5, {"LastEvaluatedKey"}, {NULL}},
	{"ExclusiveStartTableName", 3, {"LastEvaluatedTableName"}, {"\"num\""}},
	{"ExclusiveStartStreamArn", 3, {"LastEvaluatedStreamArn", "StreamArn"}, {"\"x\""}},
	{"ExclusiveStartShardId", 3, {"LastEvaluatedShardId", "ShardId"}, {"\"x\""}},
	{"NextToken", 3, {"NextToken"}, {"\"none\""}},
	{"ExpectedRevisionId", 3, {"RevisionId"}, {"\"1\""}},
	{"IndexName", 5, {NULL}, {"\"gsi\"", "\"lsi\"", "\"late\"", "\"gsi\"", "\"near\""}},
	{"ClientRequestToken", 5, {NULL}, {"\"t1\"", "\"t2\"", "\"t3\""}},
	{"AttributeName",
	 4,
	 {NULL},
	 {"\"ttl\"", "\"pk\"", "\"sk\"", "\"g\"", "\"l\"", "\"n\"", "\"v\""}},
	{"Limit", 6, {NULL}, {"1", "2", "3", "100"}},
	{"Segment", 2, {NULL}, {"0", "1", "2"}},
	{"TotalSegments", 2, {NULL}, {"1", "2", "3", "1000000"}},
	{"SearchVector",
	 15,
	 {NULL},
	 {"[{\"N\":\"1\"},{\"N\":\"0\"},{\"N\":\"0.5\"}]",
	  "[{\"N\":\"-1\"},{\"N\":\"2\"},{\"N\":\"3\"}]", "[{\"N\":\"0\"},{\"N\":\"1\"}]"}},
	{"TopK", 15, {NULL}, {"1", "3", "100"}},
	{"ConditionExpression",
	 4,
	 {NULL},
	 {"\"attribute_exists(pk)\"", "\"attribute_not_exists(pk)\"", "\"n = :N\"",
	  "\"n < :N OR g = :S\"", "\"size(ss) > :N AND NOT contains(ss, :S)\"",
	  "\"#g IN (:S, :R)\"", "\"m.x BETWEEN :N AND :O\"", "\"begins_with(g, :S)\"",
	  "\"m.y[0] = :N\""}},
	{"FilterExpression",
	 4,
	 {NULL},
	 {"\"n >= :N\"", "\"attribute_type(m, :S)\"", "\"NOT g = :S\"", "\"m.y[1] <> n\"",
	  "\"contains(ss, :S)\""}},
	{"KeyConditionExpression",
	 15,
	 {NULL},
	 {"\"pk = :S\"", "\"pk = :S\"", "\"pk = :S AND sk > :N\"",
	  "\"pk = :S AND sk BETWEEN :N AND :O\"", "\"g = :S\"", "\"pk = :S AND l <= :N\"",
	  "\"n = :N\"", "\"g = :S AND sk = :N\"", "\"#p = :S AND sk < :N\""}},
	{"UpdateExpression",
	 15,
	 {NULL},
	 {"\"SET n = :N\"", "\"ADD n :N\"", "\"REMOVE g, l\"", "\"SET g = :S, l = :N\"",
	  "\"ADD ss :T\"", "\"DELETE ss :T\"", "\"SET m.x = if_not_exists(n, :N), #g = :S\"",
	  "\"SET y = list_append(if_not_exists(y, :L), :L) REMOVE #t\"", "\"SET #t = :X\"",
	  "\"SET n = n + :N REMOVE y[0]\"", "\"SET v = :V\"", "\"SET m = :M ADD n :O\"",
	  "\"REMOVE m.y[1], #n\"", "\"SET pk = :S\""}},
	{"ProjectionExpression",
	 3,
	 {NULL},
	 {"\"pk\"", "\"n, m.x, y[0]\"", "\"#g, ss\"", "\"sk, m\""}},
	{"SearchConditionExpression", 2, {NULL}, {"\"g = :S\"", "\"pk = :S\""}},
	{"Statement",
	 15,
	 {NULL},
	 {"\"SELECT * FROM tab\"", "\"SELECT pk, m.x FROM tab WHERE pk = 'a' AND sk > 0\"",
	  "\"INSERT INTO tab VALUE {'pk': 'b', 'sk': 1, 'g': 'x'}\"",
	  "\"UPDATE tab SET n = n + 1 REMOVE l WHERE pk = 'a' AND sk = 1\"",
	  "\"DELETE FROM tab WHERE pk = 'a' AND sk = 2\"",
	  "\"SELECT * FROM \\\"tab\\\".\\\"gsi\\\" WHERE g = 'x'\"",
	  "\"INSERT INTO num VALUE {'pk': 'c', 'ss': <<'x', 'y'>>}\"",
	  "\"UPDATE num SET n = ? WHERE pk = ?\"",
	  "\"DELETE FROM num WHERE pk = 'a' RETURNING ALL OLD *\"",
	  "\"SELECT * FROM tab WHERE pk IN ['a', 'b'] ORDER BY pk DESC\"",
	  "\"EXISTS(SELECT * FROM num WHERE pk = 'a' AND n = 1)\"",
	  "\"UPDATE tab SET g = 'y' SET l = 3 WHERE pk = ? AND sk = ? RETURNING ALL NEW *\"",
	  "\"SELECT COUNT(*) FROM new\"", "\"INSERT INTO vec VALUE {'pk': 'd', 'v': [1, 0, 1]}\""}},
	{"ReturnConsumedCapacity", 4, {NULL}, {NULL}},
	{"ReturnItemCollectionMetrics", 3, {NULL}, {NULL}},
	{"ReturnValues",
	 5,
	 {NULL},
	 {"\"ALL_OLD\"", "\"ALL_OLD\"", "\"NONE\"", "\"ALL_NEW\"", "\"ALL_NEW\"", "\"UPDATED_NEW\"",
	  "\"UPDATED_OLD\""}},
	{"ReturnValuesOnConditionCheckFailure", 3, {NULL}, {NULL}},
	{"Select", 2, {NULL}, {NULL}},
	{"ScanIndexForward", 4, {NULL}, {"false", "true"}},
	{"ConsistentRead", 4, {NULL}, {"true", "false"}},
	{"ExpressionAttributeNames", 16, {NULL}, {NULL}},
	{"ExpressionAttributeValues", 16, {NULL}, {NULL}},
	{"Parameters", 3, {NULL}, {NULL}},
	/* refused beside an expression */
	{"Expected", GRAMMAR_OLDER, {NULL}, {NULL}},
	{"AttributeUpdates", GRAMMAR_OLDER, {NULL}, {NULL}},
	{"KeyConditions", GRAMMAR_OLDER, {NULL}, {NULL}},
	{"QueryFilter", GRAMMAR_OLDER, {NULL}, {NULL}},
	{"ScanFilter", GRAMMAR_OLDER, {NULL}, {NULL}},
	{"AttributesToGet", GRAMMAR_OLDER, {NULL}, {NULL}},
	{"ConditionalOperator", GRAMMAR_OLDER, {NULL}, {NULL}},
};

static inline const struct grammar_rule *grammar_rule(const char *name)
{
	static const struct grammar_rule any = {NULL, 3, {NULL}, {NULL}};

	for (size_t i = 0; i < COUNT_OF(grammar_rules); i++) {
		if (strcmp(grammar_rules[i].name, name) == 0)
			return &grammar_rules[i];
	}
	return &any;
}

/* Attribute values: one of a pool for each type, so that values are often equal. */
static inline void grammar_value(struct grammar *g, char type, unsigned depth)
{
	static const char *const strings[] = {"a", "b", "c",  "d",       "x", "y",
					      "a", "b", "xy", "\\u0000", ""};
	static const char *const numbers[] = {
		"1",  "2", "0", "-1.5", "3", "1e125", "12345678901234567890123456789012345678",
		"0.5"};
	static const char *const times[] = {"1700000100", "1700003600", "1699999000", "1800000000"};
	static const char *const sets[] = {"{\"SS\":[\"x\",\"y\"]}",
					   "{\"SS\":[\"x\"]}",
					   "{\"SS\":[\"y\",\"z\"]}",
					   "{\"SS\":[\"x\",\"z\"]}",
					   "{\"NS\":[\"1\",\"2\"]}",
					   "{\"BS\":[\"AA==\"]}",
					   "{\"SS\":[]}"};
	static const char *const vectors[] = {"1\"},{\"N\":\"0\"},{\"N\":\"0.5",
					      "-1\"},{\"N\":\"2\"},{\"N\":\"3",
					      "0\"},{\"N\":\"0\"},{\"N\":\"0", "1\"},{\"N\":\"1"};
	static const char others[] = "SNBLMTVXZ";

	if (grammar_rarely(g, 32))
		type = others[grammar_choose(g, sizeof(others) - 1)];
	if (depth >= GRAMMAR_DEPTH_MAX)
		type = 'Z';
	switch (type) {
	case 'S': case 'R': buf_printf(&g->out, "{\"S\":\"%s\"}", GRAMMAR_PICK(g, strings)); break;
	case 'N': case 'O': buf_printf(&g->out, "{\"N\":\"%s\"}", GRAMMAR_PICK(g, numbers)); break;
	case 'X': buf_printf(&g->out, "{\"N\":\"%s\"}", GRAMMAR_PICK(g, times)); break;
	case 'B': grammar_text(g, "{\"B\":\"AAE=\"}"); break;
	case 'T': grammar_text(g, GRAMMAR_PICK(g, sets)); break;
	case 'V': buf_printf(&g->out, "{\"L\":[{\"N\":\"%s\"}]}", GRAMMAR_PICK(g, vectors)); break;
	case 'Z':
		grammar_text(g, grammar_rarely(g, 2) ? "{\"BOOL\":true}" : "{\"NULL\":true}");
		break;
	case 'M':
		grammar_text(g, "{\"M\":{\"x\":");
		grammar_value(g, 'N', depth + 1);
		grammar_text(g, ",\"y\":");
		grammar_value(g, 'L', depth + 1);
		grammar_text(g, "}}");
		break;
	default:
		grammar_text(g, "{\"L\":[");
		grammar_value(g, 'N', depth + 1);
		if (grammar_rarely(g, 2)) {
			buf_add_byte(&g->out, ',');
			grammar_value(g, 'M', depth + 1);
		}
		grammar_text(g, "]}");
		break;
	}
}

/* The key of an item, and behind it other attributes, each with a type of its own. */
static inline void grammar_item(struct grammar *g, bool is_key)
{
	static const struct {
		const char *name;
		char type;
	} attributes[] = {{"g", 'S'},  {"l", 'N'}, {"n", 'N'}, {"ttl", 'X'},
			  {"ss", 'T'}, {"m", 'M'}, {"y", 'L'}, {"v", 'V'}};

	grammar_text(g, "{\"pk\":");
	grammar_value(g, 'S', 0);
	if (grammar_tables[g->table].has_sort_key != grammar_rarely(g, 32)) {
		grammar_text(g, ",\"sk\":");
		grammar_value(g, 'N', 0);
	}
	unsigned chosen = is_key ? 0 : fuzz_byte(g->choices);
	for (unsigned i = 0; i < COUNT_OF(attributes); i++) {
		if (!(chosen >> i & 1))
			continue;
		buf_printf(&g->out, ",\"%s\":", attributes[i].name);
		grammar_value(g, attributes[i].type, 0);
	}
	buf_add_byte(&g->out, '}');
}

/* The values, or names, of the placeholders in the structure's text from `start` on: ":N" is a
 * number, "#g" is "g". */
static inline void grammar_placeholders(struct grammar *g, size_t start, char sign)
{
	bool seen[128] = {false};
	const char *separator = "{";

	for (size_t i = start; i + 1 < g->out.n; i++) {
		unsigned char c = (unsigned char)g->out.p[i + 1];
		bool is_name = sign == ':' ? c >= 'A' && c <= 'Z' : c >= 'a' && c <= 'z';

		if (g->out.p[i] != sign || !is_name || seen[c])
			continue;
		seen[c] = true;
		buf_printf(&g->out, "%s\"%c%c\":", separator, sign, c);
		if (sign == '#')
			buf_printf(&g->out, "\"%s\"",
				   c == 'p'   ? "pk"
				   : c == 't' ? "ttl"
					      : (char[]){(char)c, 0});
		else
			grammar_value(g, (char)c, 0);
		separator = ",";
	}
	grammar_text(g, *separator == '{' ? "{}" : "}");
}

/* A function of two that call each other; shapes are not recursive. */
static inline void grammar_shape(struct grammar *g, const struct shape *shape,
				 const struct grammar_rule *rule, const char *name);

static inline bool grammar_is_there(struct grammar *g, const struct shape_member *member,
				    const struct grammar_rule *rule)
{
	unsigned choice = fuzz_byte(g->choices);
	const char *end = strstr(member->name, "Expression");

	if (rule->often == GRAMMAR_OLDER && !g->is_older)
		return choice == 255;
	if (end && !end[strlen("Expression")] && g->is_older)
		return choice == 255;
	return member->is_required ? choice < 250
				   : choice % 16 >= 16 - rule->often || rule->often == 15;
}

static inline bool grammar_has_placeholder(const struct grammar *g, size_t start, char sign)
{
	for (size_t i = start; i + 1 < g->out.n; i++) {
		char c = g->out.p[i + 1];

		if (g->out.p[i] == sign && ((sign == ':' && c >= 'A' && c <= 'Z') ||
					    (sign == '#' && c >= 'a' && c <= 'z')))
			return true;
	}
	return false;
}

/* Exactly one member of these stands in a request that is right. */
static inline bool grammar_is_choice(const struct shape *shape)
{
	static const char *const names[] = {"TransactWriteItem", "TransactGetItem", "WriteRequest",
					    "GlobalSecondaryIndexUpdate", "VectorIndexUpdate"};

	for (size_t i = 0; i < COUNT_OF(names); i++) {
		if (strcmp(shape->name, names[i]) == 0)
			return true;
	}
	return false;
}

static inline void grammar_structure(struct grammar *g, const struct shape *shape)
{
	size_t start = g->out.n;
	bool is_choice = grammar_is_choice(shape) && !grammar_rarely(g, 32);
	unsigned chosen = is_choice ? grammar_choose(g, (unsigned)shape->count) : 0;

	for (size_t i = 0; i < shape->count; i++) {
		if (strcmp(shape->members[i].name, "TableName") == 0)
			grammar_choose_table(g);
		g->is_search = g->is_search || strcmp(shape->members[i].name, "SearchVector") == 0;
	}
	g->is_older = grammar_rarely(g, 16);
	buf_add_byte(&g->out, '{');
	/* twice, since placeholders come after what they stand in */
	for (size_t i = 0; i < 2 * shape->count; i++) {
		const struct shape_member *member = &shape->members[i % shape->count];
		const struct grammar_rule *rule = grammar_rule(member->name);
		char sign = strcmp(member->name, "ExpressionAttributeValues") == 0  ? ':'
			    : strcmp(member->name, "ExpressionAttributeNames") == 0 ? '#'
										    : 0;

		if ((sign != 0) != (i >= shape->count))
			continue;
		bool is_there = is_choice ? i == chosen
				: sign    ? grammar_has_placeholder(g, start, sign)
					  : grammar_is_there(g, member, rule);
		if (!is_there)
			continue;
		if (g->out.p[g->out.n - 1] != '{')
			buf_add_byte(&g->out, ',');
		buf_printf(&g->out, "\"%s\":", member->name);
		if (sign)
			grammar_placeholders(g, start, sign);
		else
			grammar_shape(g, member->shape, rule, member->name);
	}
	buf_add_byte(&g->out, '}');
}

static inline void grammar_scalar(struct grammar *g, const struct shape *shape)
{
	static const char *const strings[] = {"\"a\"",
					      "\"n\"",
					      "\"g\"",
					      "\"pk\"",
					      "\"\"",
					      "\"#n\"",
					      "\"arn:aws:kinesis:us-east-1:000000000000:stream/s\"",
					      "\"$x\""};
	static const char *const integers[] = {"1",  "2",  "0",    "5",
					       "10", "-1", "1000", "9223372036854775807"};
	static const char *const times[] = {"1700000000", "1700086400.5", "0", "-1"};

	switch (shape->kind) {
	case SHAPE_ENUM:
		buf_printf(&g->out, "\"%s\"",
			   shape->texts[grammar_choose(g, (unsigned)shape->count)]);
		break;
	case SHAPE_INTEGER:
	case SHAPE_LONG: grammar_text(g, GRAMMAR_PICK(g, integers)); break;
	case SHAPE_BOOLEAN: grammar_text(g, grammar_rarely(g, 2) ? "false" : "true"); break;
	case SHAPE_DOUBLE:
	case SHAPE_TIMESTAMP: grammar_text(g, GRAMMAR_PICK(g, times)); break;
	default: grammar_text(g, GRAMMAR_PICK(g, strings)); break;
	}
}

/* A table's name is that of the structure. */
static inline void grammar_table_name(struct grammar *g)
{
	buf_printf(&g->out, "\"%s\"", grammar_tables[g->table].name);
}

static inline void grammar_list(struct grammar *g, const struct shape *shape,
				const struct grammar_rule *rule, const char *name)
{
	unsigned n = grammar_rarely(g, 32) ? 0 : 1 + grammar_choose(g, 4) % 3;

	buf_add_byte(&g->out, '[');
	for (unsigned i = 0; i < n; i++) {
		if (i > 0)
			buf_add_byte(&g->out, ',');
		grammar_shape(g, shape->element, rule, name);
	}
	buf_add_byte(&g->out, ']');
}

static inline void grammar_map(struct grammar *g, const struct shape *shape,
			       const struct grammar_rule *rule, const char *name)
{
	static const char *const names[] = {"n", "g", "l", "pk", "sk", "ss"};
	unsigned n = grammar_rarely(g, 32) ? 0 : 1 + grammar_choose(g, 4) % 2,
		 first = grammar_choose(g, COUNT_OF(names));

	buf_add_byte(&g->out, '{');
	for (unsigned i = 0; i < n; i++) {
		if (i > 0)
			buf_add_byte(&g->out, ',');
		if (strcmp(name, "RequestItems") == 0) {
			g->table = (g->table + 1) % (unsigned)COUNT_OF(grammar_tables);
			grammar_table_name(g);
		} else {
			buf_printf(&g->out, "\"%s\"", names[(first + i) % COUNT_OF(names)]);
		}
		buf_add_byte(&g->out, ':');
		grammar_shape(g, shape->element, rule, name);
	}
	buf_add_byte(&g->out, '}');
}

static inline bool grammar_from_answers(struct grammar *g, const struct grammar_rule *rule)
{
	unsigned n = 0;

	while (n < COUNT_OF(rule->answers) && rule->answers[n])
		n++;
	if (n == 0 || grammar_rarely(g, 16))
		return false;
	struct str text = grammar_answered(g, rule->answers[grammar_choose(g, n)]);
	buf_add_str(&g->out, text);
	return text.n > 0;
}

static inline void grammar_shape(struct grammar *g, const struct shape *shape,
				 const struct grammar_rule *rule, const char *name)
{
	unsigned texts = 0;

	if (grammar_rarely(g, 128)) {
		grammar_wrong(g);
		return;
	}
	while (texts < COUNT_OF(rule->texts) && rule->texts[texts])
		texts++;
	bool is_table = strcmp(name, "TableName") == 0;
	if ((!is_table || grammar_rarely(g, 8)) && grammar_from_answers(g, rule))
		return;
	if (g->is_search && strcmp(name, "IndexName") == 0) {
		grammar_text(g, "\"near\"");
		return;
	}
	if (texts > 0) {
		grammar_text(g, rule->texts[grammar_choose(g, texts)]);
		return;
	}
	switch (shape->kind) {
	case SHAPE_STRUCTURE: grammar_structure(g, shape); break;
	case SHAPE_LIST: grammar_list(g, shape, rule, name); break;
	case SHAPE_MAP: grammar_map(g, shape, rule, name); break;
	case SHAPE_ITEM: grammar_item(g, strcmp(name, "Item") != 0); break;
	case SHAPE_VALUE:
	case SHAPE_PARAMETER: grammar_value(g, grammar_rarely(g, 2) ? 'N' : 'S', 0); break;
	default:
		if (is_table)
			grammar_table_name(g);
		else
			grammar_scalar(g, shape);
		break;
	}
}

#endif
