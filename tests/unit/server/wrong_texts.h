/*
 * wrong_texts - valid expressions and statements by families, and what is made of them: each
 * prefix, and changes of one token.
 *
 * A family is the requests around its texts, JSON with ' for " and % for the text with the names
 * and values it uses, and what its texts are made of.
 */
#ifndef DYNALITH_TEST_WRONG_TEXTS_H
#define DYNALITH_TEST_WRONG_TEXTS_H

#include "core/buf.h"
#include "protocol/wire/json_out.h"

#define WRONG_PARTS_MAX 32
#define WRONG_REQUESTS_MAX 6

struct wrong_family {
	const char *name;
	size_t n;      /* texts that are made */
	bool is_json;  /* the text is a part of the body, not a string in it */
	struct {
		const char *op, *body;
	} requests[WRONG_REQUESTS_MAX]; /* in turn */
	const char *parts[WRONG_PARTS_MAX];
	const char *joints[4]; /* a text is one part, or two with one of these between them */
	const char *tails[10]; /* or a part and one of these */
};

#define WRONG_KEY "'Key':{'pk':{'S':'a'},'sk':{'N':'1'}}"
#define WRONG_ON_ITEM "'TableName':'tab'," WRONG_KEY
#define WRONG_ITEM                                                                                 \
	"'Item':{'pk':{'S':'a'},'sk':{'N':'1'},'l':{'L':[{'N':'1'},{'S':'x'}]},'n':{'N':'1'},'s':" \
	"{'S':'x'}}"

static const struct wrong_family wrong_families[] = {
	{
		.name = "condition",
		.n = 120,
		.joints = {" AND ", " OR ", " AND NOT "},
		.requests =
			{
				{"PutItem",
				 "{'TableName':'tab'," WRONG_ITEM ",'ConditionExpression':%}"},
				{"DeleteItem", "{" WRONG_ON_ITEM ",'ConditionExpression':%}"},
				{"UpdateItem",
				 "{" WRONG_ON_ITEM
				 ",'ConditionExpression':%,'UpdateExpression':'REMOVE gone'}"},
				{"TransactWriteItems",
				 "{'TransactItems':[{'ConditionCheck':{" WRONG_ON_ITEM
				 ",'ConditionExpression':%}}]}"},
				{"TransactWriteItems",
				 "{'TransactItems':[{'Put':{'TableName':'tab'," WRONG_ITEM
				 ",'ConditionExpression':%}}]}"},
			},
		.parts = {"s = :s",
			  "#s <> :s",
			  "n < :n",
			  "n >= :n",
			  "n BETWEEN :n AND :m",
			  "s IN (:s, :t)",
			  "attribute_exists(l)",
			  "attribute_not_exists(#x)",
			  "attribute_type(n, :t)",
			  "begins_with(s, :s)",
			  "contains(l, :n)",
			  "size(l) > :n",
			  "l[0] = :n",
			  "NOT l[1] = :s",
			  "m.#x.y[2] > :n",
			  "(s = :s)",
			  "(n = :n OR n = :m)",
			  "((s = :s) AND NOT (n > :m))",
			  "size(s) BETWEEN :n AND size(l)",
			  ":n < n"},
	},
	{
		.name = "filter",
		.n = 70,
		.joints = {" AND ", " OR "},
		.requests =
			{
				{"Scan", "{'TableName':'tab','FilterExpression':%}"},
				{"Query", "{'TableName':'tab','KeyConditionExpression':'pk = "
					  ":s','FilterExpression':%}"},
				{"Scan", "{'TableName':'tab','IndexName':'gsi','FilterExpression':%"
					 ",'Select':'COUNT'}"},
			},
		.parts = {"s = :s", "#s = :s", "n > :n", "contains(l, :s)", "attribute_exists(m.x)",
			  "size(l) = :n", "NOT (s = :s)", "s IN (:s)", "n BETWEEN :n AND :n"},
	},
	{
		.name = "key condition",
		.n = 32,
		.requests = {{"Query", "{'TableName':'tab','KeyConditionExpression':%}"},
			     {"Query", "{'TableName':'tab','KeyConditionExpression':%,'"
				       "ScanIndexForward':false}"}},
		.parts = {"pk = :s", ":s = pk", "#p = :s", "(pk = :s)"},
		.tails = {"", " AND sk = :n", " AND #k < :n", " AND sk <= :n", " AND sk > :n",
			  " AND sk >= :n", " AND sk BETWEEN :n AND :m", " AND (sk = :n)"},
	},
	{
		.name = "projection",
		.n = 70,
		.joints = {", "},
		.requests =
			{
				{"GetItem", "{" WRONG_ON_ITEM ",'ProjectionExpression':%}"},
				{"Scan", "{'TableName':'tab','ProjectionExpression':%}"},
				{"BatchGetItem", "{'RequestItems':{'tab':{'Keys':[{'pk':{'S':'a'},'"
						 "sk':{'N':'1'}}],'ProjectionExpression':%}}}"},
				{"TransactGetItems", "{'TransactItems':[{'Get':{" WRONG_ON_ITEM
						     ",'ProjectionExpression':%}}]}"},
			},
		.parts = {"pk", "s", "#x", "l[0]", "l[1]", "m.x", "q.#x.y", "m.y[3].z", "n",
			  "o.p.q"},
	},
	{
		.name = "update",
		.n = 100,
		.joints = {" "},
		.requests =
			{
				{"UpdateItem",
				 "{" WRONG_ON_ITEM
				 ",'UpdateExpression':%,'ReturnValues':'UPDATED_NEW'}"},
				{"TransactWriteItems", "{'TransactItems':[{'Update':{" WRONG_ON_ITEM
						       ",'UpdateExpression':%}}]}"},
				{"UpdateItem", "{" WRONG_ON_ITEM
					       ",'UpdateExpression':%,'ConditionExpression':'"
					       "attribute_exists(pk)','ReturnValues':'ALL_OLD'}"},
			},
		.parts = {"SET a = :s", "REMOVE b", "ADD c :n", "DELETE d :u", "SET #x = n + :n",
			  "REMOVE l[1]", "ADD e :u", "DELETE f :u",
			  "SET y = list_append(l, :l), h = :n", "REMOVE i, #s", "ADD j :n, k :n",
			  "DELETE o :u, p :u", "SET q = if_not_exists(z, :n)", "REMOVE m.x",
			  "SET l[0] = :s", "SET r = (n - :n), t = s",
			  "SET u = if_not_exists(z, :n) + n"},
	},
	{
		.name = "search",
		.n = 3,
		.requests = {{"SearchVectors",
			      "{'TableName':'vec','IndexName':'near','SearchVector':[{'N':'1'},{'N'"
			      ":'0'}],'TopK':5,'SearchConditionExpression':%}"}},
		.parts = {"tenant = :s", "#t = :s", ":s = tenant"},
	},
	{
		.name = "writing statement",
		.n = 50,
		.requests =
			{
				{"ExecuteStatement", "{'Statement':%}"},
				{"BatchExecuteStatement", "{'Statements':[{'Statement':%}]}"},
				{"ExecuteTransaction", "{'TransactStatements':[{'Statement':%}]}"},
			},
		.parts = {"UPDATE tab SET s = 'y' SET n = n + 1 REMOVE gone", "DELETE FROM tab",
			  "UPDATE tab SET l = list_append(l, [2, {'y': TRUE}])",
			  "UPDATE \"tab\" SET d = set_add(d, <<'z'>>)",
			  "UPDATE tab REMOVE l[1] SET h = if_not_exists(h, n - 1)"},
		.tails = {" WHERE pk = 'a' AND sk = 1", " WHERE sk = 1 AND pk = 'a' AND n > 0",
			  " WHERE (pk = 'a') AND (sk = 1) AND attribute_exists(s)",
			  " WHERE pk = 'a' AND sk = 1 AND (s = 'x' OR n IN [1, 2])",
			  " WHERE pk = 'a' AND sk = 1 AND NOT size(s) = 2",
			  " WHERE pk = 'a' AND sk = 1 AND n BETWEEN 0 AND 5",
			  " WHERE pk = 'a' AND sk = 1 AND n IS NOT MISSING",
			  " WHERE pk = 'a' AND sk = 1 AND begins_with(s, 'x')",
			  " WHERE pk = 'a' AND sk = 1 AND attribute_type(n, 'N')",
			  " WHERE pk = 'a' AND sk = 1 AND contains(l, 'x');"},
	},
	{
		.name = "reading statement",
		.n = 40,
		.requests = {{"ExecuteStatement", "{'Statement':%}"},
			     {"BatchExecuteStatement", "{'Statements':[{'Statement':%}]}"}},
		.parts = {"SELECT * FROM tab", "SELECT s, l[0], m.x FROM \"tab\"",
			  "SELECT pk, m.\"x\" FROM tab", "SELECT m.x FROM tab.gsi",
			  "SELECT n FROM \"tab\".\"gsi\""},
		.tails = {" WHERE pk = 'a' AND sk = 1",
			  " WHERE pk IN ['a', 'b'] AND sk BETWEEN 0 AND 5",
			  " WHERE s = 'x' OR n IS MISSING",
			  " WHERE begins_with(pk, 'a') AND NOT size(s) = 2",
			  " WHERE n > 1 AND (m.x = 'q' OR l[0] = 1)",
			  " WHERE contains(l, 'x') = TRUE", " WHERE attribute_type(n, 'N')", ""},
	},
	{
		.name = "other statement",
		.n = 5,
		.requests = {{"ExecuteStatement", "{'Statement':%}"}},
		.parts = {"SELECT * FROM tab WHERE pk = 'a' ORDER BY sk DESC",
			  "DELETE FROM tab WHERE pk = 'a' AND sk = 1 RETURNING ALL OLD *",
			  "UPDATE tab SET s = 'z' WHERE pk = 'a' AND sk = 1 RETURNING MODIFIED NEW "
			  "*",
			  "FROM tab WHERE pk = 'a' AND sk = 1 SET s = 'z'",
			  "DELETE FROM tab WHERE pk = 'a' AND sk = 1 AND (n > 0) <> (s = 'y')"},
	},
	{
		.name = "insert",
		.n = 10,
		.requests = {{"ExecuteStatement", "{'Statement':%}"},
			     {"BatchExecuteStatement", "{'Statements':[{'Statement':%}]}"}},
		.parts = {"INSERT INTO tab VALUE {'pk': 'b', 'sk': 2",
			  "INSERT INTO \"tab\" VALUE {'sk': -2.5e1, 'pk': 'b'"},
		.tails = {"}", ", 'l': [1, 'x', {'y': TRUE}]}", ", 't': <<'p', 'q'>>}",
			  ", 'm': {'a': {'b': NULL}}}", ", 'g': 'x', 'h': <<1, 2>>};"},
	},
	{
		.name = "exists",
		.n = 3,
		.requests =
			{{"ExecuteTransaction",
			  "{'TransactStatements':[{'Statement':%},{'Statement':'DELETE FROM tab "
			  "WHERE pk = ? AND sk = ?','Parameters':[{'S':'c'},{'N':'1'}]}]}"}},
		.parts = {"EXISTS(SELECT * FROM tab WHERE pk = 'a' AND sk = 1 AND "},
		.tails = {"s = 'x')", "n IN [1])", "l IS LIST)"},
	},
	{
		.name = "older parameter",
		.n = 8,
		.is_json = true,
		.requests = {{NULL, "{%}"}}, /* the part begins with its operation */
		.parts =
			{"PutItem 'TableName':'tab'," WRONG_ITEM
			 ",'Expected':{'n':{'ComparisonOperator':'BETWEEN','AttributeValueList':[{'"
			 "N':'0'},{'N':'2'}]}}",
			 "PutItem 'TableName':'tab'," WRONG_ITEM
			 ",'Expected':{'s':{'Exists':true,'Value':{'S':'x'}},'z':{'Exists':false}},"
			 "'ConditionalOperator':'OR'",
			 "UpdateItem " WRONG_ON_ITEM
			 ",'AttributeUpdates':{'n':{'Action':'ADD','Value':{'N':'1'}},'z':{'Action'"
			 ":'DELETE'},'l':{'Action':'ADD','Value':{'L':[]}}}",
			 "DeleteItem " WRONG_ON_ITEM ",'Expected':{'s':{'ComparisonOperator':'NOT_"
						     "CONTAINS','AttributeValueList':[{'S':'q'}]}}",
			 "Query "
			 "'TableName':'tab','KeyConditions':{'pk':{'ComparisonOperator':'EQ','"
			 "AttributeValueList':[{'S':'a'}]},'sk':{'ComparisonOperator':'LE',"
			 "'AttributeValueList':[{'N':'1'}]}},'AttributesToGet':['s','n']",
			 "Query "
			 "'TableName':'tab','KeyConditions':{'pk':{'ComparisonOperator':'EQ','"
			 "AttributeValueList':[{'S':'a'}]}},'QueryFilter':{'s':{'"
			 "ComparisonOperator':"
			 "'IN','AttributeValueList':[{'S':'x'},{'S':'y'}]}}",
			 "Scan "
			 "'TableName':'tab','ScanFilter':{'n':{'ComparisonOperator':'NOT_NULL'},'s'"
			 ":{'ComparisonOperator':'BEGINS_WITH','AttributeValueList':[{'S':'x'}]}},"
			 "'ConditionalOperator':'AND'",
			 "GetItem " WRONG_ON_ITEM ",'AttributesToGet':['s','pk','l']"},
	},
};

#define WRONG_FAMILIES (sizeof(wrong_families) / sizeof(wrong_families[0]))

static inline size_t wrong_count(const char *const *texts, size_t max)
{
	size_t n = 0;

	while (n < max && texts[n])
		n++;
	return n;
}

/* Whether both begin with the same word: a section of an update stands once. */
static inline bool wrong_is_same_word(const char *a, const char *b)
{
	return strcspn(a, " ") == strcspn(b, " ") && strncmp(a, b, strcspn(a, " ")) == 0;
}

/* The i-th valid text of the family. */
static inline struct str wrong_text(struct arena *arena, const struct wrong_family *family,
				    size_t i)
{
	size_t parts = wrong_count(family->parts, WRONG_PARTS_MAX),
	       joints = wrong_count(family->joints, 4), tails = wrong_count(family->tails, 10);
	const char *first = family->parts[i % parts];
	size_t second = i % parts + i / parts;

	if (tails > 0)
		return str_printf(arena, "%s%s", first, family->tails[i / parts % tails]);
	if (joints == 0 || i < parts)
		return str_of(first);
	for (size_t k = 0; k < parts && family->joints[0][1] == '\0' &&
			   wrong_is_same_word(first, family->parts[second % parts]);
	     k++)
		second++;
	return str_printf(arena, "%s%s%s", first, family->joints[i % joints],
			  family->parts[second % parts]);
}

/* The bytes of the token at the text's start; white space and what follows a quote up to the next
 * count as one. */
static inline size_t wrong_token(struct str text)
{
	static const char word[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_#:";
	size_t n = 1;

	if (text.p[0] == '\'' || text.p[0] == '"') {
		while (n < text.n && text.p[n] != text.p[0])
			n++;
		return n < text.n ? n + 1 : n;
	}
	while (n < text.n && strchr(word, text.p[0]) && strchr(word, text.p[n]))
		n++;
	return n;
}

/* The text up to `at`, `instead`, and the text from `end` on. */
static inline struct str wrong_changed(struct arena *arena, struct str text, size_t at, size_t end,
				       const char *instead)
{
	return str_printf(arena, "%.*s%s%.*s", (int)at, text.p, instead, (int)(text.n - end),
			  text.p + end);
}

/* What stands in place of a token: words, signs and placeholders of all languages, reserved,
 * undefined, too large. */
static const char *const wrong_tokens[] = {
	"",
	"name",
	"#zz",
	":zz",
	":n",
	":s",
	"#x",
	"pk",
	"a.b",
	"(",
	")",
	",",
	"=",
	"<",
	"<>",
	"AND",
	"NOT",
	"size",
	"contains(a, :s)",
	"[",
	"]",
	"[0]",
	"0",
	"99999999999",
	".",
	"SET",
	"REMOVE",
	"ADD",
	"BETWEEN",
	"IN",
	"attribute_exists",
	"attribute_type",
	"if_not_exists",
	"?",
	"'",
	"''",
	"\"",
	"*",
	"SELECT",
	"{",
	"<<",
	"NULL",
	"1e999",
	"\xff",
	";",
};

#define WRONG_TOKENS (sizeof(wrong_tokens) / sizeof(wrong_tokens[0]))

static inline void wrong_quoted(struct buf *out, struct str text)
{
	for (size_t i = 0; i < text.n; i++)
		buf_add_byte(out, text.p[i] == '\'' ? '"' : text.p[i]);
}

/* The names and values that the valid text has, as the members of a request that define them. */
static inline void wrong_definitions(struct buf *out, struct str text, const char *body)
{
	static const struct {
		const char *placeholder, *value;
	} known[] = {
		{"#s", "'s'"},
		{"#x", "'x'"},
		{"#p", "'pk'"},
		{"#k", "'sk'"},
		{"#t", "'tenant'"},
		{":s", "{'S':'a'}"},
		{":t", "{'S':'S'}"},
		{":n", "{'N':'1'}"},
		{":m", "{'N':'7'}"},
		{":u", "{'SS':['p','q']}"},
		{":l", "{'L':[{'N':'2'}]}"},
	};

	for (size_t kind = 0; kind < 2; kind++) {
		size_t n = 0;

		for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
			bool is_used = str_contains(text, str_of(known[i].placeholder)) ||
				       strstr(body, known[i].placeholder);

			if (!is_used || (known[i].placeholder[0] == ':') != (kind == 1))
				continue;
			wrong_quoted(out, str_of(n++    ? ","
						 : kind ? ",'ExpressionAttributeValues':{"
							: ",'ExpressionAttributeNames':{"));
			buf_printf(out, "\"%s\":", known[i].placeholder);
			wrong_quoted(out, str_of(known[i].value));
		}
		if (n > 0)
			buf_add_byte(out, '}');
	}
}

#endif
