#include "core/expr.h"
#include "core/image.h"
#include "core/number.h"

#include "tests/unit/test.h"

static struct arena *arena;

static struct value s(const char *text)
{
	return value_of_str(TYPE_S, str_of(text));
}

static struct value n(const char *text)
{
	struct err err = err_in(arena);
	char *bytes = arena_bytes(arena, NUMBER_MAX);
	size_t length = 0;

	CHECK(number_parse(str_of(text), bytes, &length, &err) == OK);
	return value_of_str(TYPE_N, (struct str){bytes, length});
}

static struct value list_of(enum type type, size_t count, const struct value *elements)
{
	struct value *copy = ARENA_ARRAY(arena, struct value, count);

	memcpy(copy, elements, count * sizeof(*copy));
	return (struct value){.type = (uint8_t)type, .n = (uint32_t)count, .elements = copy};
}

#define LIST_OF(type, ...)                                                                         \
	list_of(type, sizeof((struct value[]){__VA_ARGS__}) / sizeof(struct value),                \
		(struct value[]){__VA_ARGS__})

static struct value map_of(size_t count, const struct member *members)
{
	struct member *copy = ARENA_ARRAY(arena, struct member, count);

	memcpy(copy, members, count * sizeof(*copy));
	value_sort_members(copy, count, NULL);
	return (struct value){.type = TYPE_M, .n = (uint32_t)count, .members = copy};
}

#define MAP_OF(...)                                                                                \
	map_of(sizeof((struct member[]){__VA_ARGS__}) / sizeof(struct member),                     \
	       (struct member[]){__VA_ARGS__})
#define M(literal, v) {STR_INIT(literal), (v)}

/* {pk: "a", n: 5, s: "hello", l: [1, 2, 3], m: {x: 1, y: {z: "deep"}}, ss: {"a", "b"}, nothing:
 * null, b: bytes, ns: {1, 2}} */
static struct value sample(void)
{
	struct value null = {.type = TYPE_NULL};
	struct value inner = MAP_OF(M("z", s("deep")));
	struct value m = MAP_OF(M("x", n("1")), M("y", inner));
	struct value l = LIST_OF(TYPE_L, n("1"), n("2"), n("3"));
	struct value ss = LIST_OF(TYPE_SS, s("a"), s("b"));

	return MAP_OF(M("b", value_of_str(TYPE_B, STR("hello"))),
		      M("ns", LIST_OF(TYPE_NS, n("1"), n("2"))), M("pk", s("a")), M("n", n("5")),
		      M("s", s("hello")), M("l", l), M("m", m), M("ss", ss), M("nothing", null));
}

static struct expr_env env(void)
{
	static struct expr_name names[2];
	static struct expr_value values[15];
	struct value set = LIST_OF(TYPE_SS, s("b"), s("c"));
	struct value l = LIST_OF(TYPE_L, n("9"));

	names[0] = (struct expr_name){STR("#name"), STR("s"), false};
	names[1] = (struct expr_name){STR("#y"), STR("y"), false};
	values[0] = (struct expr_value){STR(":n"), n("5"), false};
	values[1] = (struct expr_value){STR(":one"), n("1"), false};
	values[2] = (struct expr_value){STR(":s"), s("hello"), false};
	values[3] = (struct expr_value){STR(":h"), s("he"), false};
	values[4] = (struct expr_value){STR(":b"),
					(struct value){.type = TYPE_BOOL, .boolean = true}, false};
	values[5] = (struct expr_value){STR(":set"), set, false};
	values[6] = (struct expr_value){STR(":l"), l, false};
	values[7] = (struct expr_value){STR(":type"), s("NS"), false};
	values[8] = (struct expr_value){STR(":zero"), n("0"), false};
	values[9] = (struct expr_value){STR(":bin"), value_of_str(TYPE_B, STR("he")), false};
	values[10] = (struct expr_value){STR(":bin0"), value_of_str(TYPE_B, STR("a")), false};
	values[11] = (struct expr_value){STR(":map"), MAP_OF(M("x", n("1"))), false};
	values[12] = (struct expr_value){STR(":other"), s("x"), false};
	values[13] = (struct expr_value){STR(":big"), n("9e125"), false};
	values[14] = (struct expr_value){STR(":upper"), LIST_OF(TYPE_SS, s("A"), s("a")), false};
	return (struct expr_env){.arena = arena,
				 .name_count = 2,
				 .names = names,
				 .value_count = 15,
				 .values = values};
}

/* "true", "false", or the error's message without its "Invalid ConditionExpression: ". */
static struct str condition(const char *text)
{
	struct err err = err_in(arena);
	struct expr_env e = env();
	const struct node *node;
	struct value item = sample();
	struct str prefix = STR("Invalid ConditionExpression: ");

	if (expr_parse_condition(&e, EXPR_CONDITION, str_of(text), &node, &err) != OK)
		return str_starts_with(err.message, prefix)
			       ? (struct str){err.message.p + prefix.n, err.message.n - prefix.n}
			       : err.message;
	struct buf image = buf_in(arena);
	image_encode(&item, &image);
	struct subject by_value = {arena, &item, STR_ABSENT},
		       by_image = {arena, NULL, buf_str(&image)};
	bool result = expr_eval(node, &by_value);
	CHECK(result == expr_eval(node, &by_image));
	return result ? STR("true") : STR("false");
}

TEST(conditions_hold_or_not)
{
	static const char *const cases[][2] = {
		{"n = :n", "true"},
		{"n <> :n", "false"},
		{"n > :one AND s = :s", "true"},
		{"n < :one OR s = :s", "true"},
		{"NOT n = :n", "false"},
		{"NOT n = :one AND s = :s", "true"},
		{"n = :one AND n = :one OR s = :s", "true"},
		{"n = :n OR n = :one AND n = :one", "true"},
		{"n BETWEEN :one AND :n", "true"},
		{"s IN (:n, :s)", "true"},
		{"s in (:n)", "false"},
		{"nowhere = :n", "false"},
		{"nowhere <> :n", "true"},
		{"attribute_exists(m.y.z)", "true"},
		{"attribute_exists(m.#y.q)", "false"},
		{"attribute_not_exists(l[3])", "true"},
		{"l[1] > :one", "true"},
		{"begins_with(#name, :h)", "true"},
		{"begins_with(n, :h)", "false"},
		{"contains(s, :h)", "true"},
		{"contains(ss, :h)", "false"},
		{"contains(l, :one)", "true"},
		{"attribute_type(n, :type)", "false"},
		{"size(l) > :one", "true"},
		{"size(n) > :zero", "false"},
		{":one < size(s)", "true"},
		{"(n = :n)", "true"},
		{"(n) = :n", "true"},
		{"(size(l)) > (:one)", "true"},
		{"(n = :n) AND (s = :s OR s = :h)", "true"},
		{"NOT (NOT (n = :n))", "true"},
		{"size(nowhere) > :zero", "false"},
		{"n = nowhere", "false"},
		{"n <> nowhere", "true"},
		{"n <> :one", "true"},
		{"n < nowhere", "false"},
		{"n < s", "false"},
		{"m < m.y", "false"},
		{"m = m.y", "false"},
		{"m = :map", "false"},
		{"n <= :n", "true"},
		{"n >= :n", "true"},
		{"n <= :one", "false"},
		{"begins_with(nowhere, :h)", "false"},
		{"begins_with(s, nowhere)", "false"},
		{"begins_with(b, :bin)", "true"},
		{"begins_with(l[0], n)", "false"},
		{"begins_with(s, :other)", "false"},
		{"begins_with(b, :h)", "false"},
		{"contains(nowhere, :h)", "false"},
		{"contains(s, nowhere)", "false"},
		{"contains(b, :bin)", "true"},
		{"contains(s, :bin)", "false"},
		{"contains(s, :other)", "false"},
		{"contains(ss, pk)", "true"},
		{"contains(ss, :n)", "false"},
		{"contains(ns, :one)", "true"},
		{"contains(n, :h)", "false"},
		{"contains(l, :n)", "false"},
		{"nowhere IN (:n)", "false"},
		{"n IN (nowhere, :n)", "true"},
		{"n BETWEEN :zero AND :one", "false"},
		{"l[0] BETWEEN :n AND :n", "false"},
		{"n BETWEEN l[0] AND :n", "true"},
		{"n BETWEEN :one AND l[2]", "false"},
		{"attribute_type(nowhere, :type)", "false"},
		{"attribute_type(ns, :type)", "true"},
		{"n = :n AND n = :one", "false"},
		{"n = :one OR n = :one", "false"},
		{"n\t=\n:n\r", "true"},
		{"(n) IN (:n)", "true"},
		{"(n) BETWEEN :one AND :n", "true"},
		{"(size(s)) IN (:n)", "true"},
		{"(size(s) > :one)", "true"},
		{"((n) = :n) OR s = :h", "true"},
		{"(size(s)) BETWEEN :one AND :n", "true"},
		{"(attribute_exists(n)) OR n = :one", "true"},
		{"(begins_with((s), :h))", "true"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CHECK_STR(condition(cases[i][0]), cases[i][1]);
}

TEST(condition_errors)
{
	static const char *const cases[][2] = {
		{"", "The expression can not be empty;"},
		{"a", "Syntax error; token: \"<EOF>\", near: \"a\""},
		{"a = :n b", "Syntax error; token: \"b\", near: \":n b\""},
		{"a = :n)", "Syntax error; token: \")\", near: \":n)\""},
		{"a == :n", "Syntax error; token: \"=\", near: \"== :n\""},
		{"a = \"x\"", "Syntax error; token: \"\"\", near: \"= \"x\""},
		{"a.b[0 = :n", "Syntax error; token: \"=\", near: \"0 = :n\""},
		{"a..b = :n", "Syntax error; token: \".\", near: \"..b\""},
		{"a[01] = :n", "Syntax error; token: \"1\", near: \"01]\""},
		{"a IN ()", "Syntax error; token: \")\", near: \"()\""},
		{"a AND b", "Syntax error; token: \"AND\", near: \"a AND b\""},
		{"(a = :n) OR (a)", "Syntax error; token: \"<EOF>\", near: \")\""},
		{"((a = :n))", "The expression has redundant parentheses;"},
		{"abort = :n", "Attribute name is a reserved keyword; reserved keyword: abort"},
		{"#q = :n", "An expression attribute name used in the document path is not "
			    "defined; attribute name: #q"},
		{"a = :q", "An expression attribute value used in expression is not defined; "
			   "attribute value: :q"},
		{"foo(a)", "Invalid function name; function: foo"},
		{"size(a)", "The function is not allowed to be used this way in an expression; "
			    "function: size"},
		{"a = if_not_exists(b, :n)",
		 "The function is not allowed in a condition expression; function: if_not_exists"},
		{"attribute_exists(:n)", "Operator or function requires a document path; operator "
					 "or function: attribute_exists"},
		{"begins_with(a)", "Incorrect number of operands for operator or function; "
				   "operator or function: begins_with, number of operands: 1"},
		{"begins_with(a, :n)", "Incorrect operand type for operator or function; operator "
				       "or function: begins_with, operand type: N"},
		{"a < :b", "Incorrect operand type for operator or function; operator or function: "
			   "<, operand type: BOOL"},
		{"a = a", "The first operand must be distinct from the remaining operands for this "
			  "operator or function; operator: =, first operand: [a]"},
		{"a BETWEEN :n AND :one",
		 "The BETWEEN operator requires upper bound to be greater than or equal to lower "
		 "bound; lower bound operand: AttributeValue: "
		 "{N:5}, upper bound operand: AttributeValue: {N:1}"},
		{"a[1000000000000] = :n",
		 "List index is not within the allowable range; index: [1000000000000]"},
		{"attribute_type(n, s)",
		 "Incorrect operand type for operator or function; operator or function: "
		 "attribute_type, operand type: {NS,SS,L,BS,N,M,B,BOOL,NULL,S}"},
		{"attribute_type(n, :s)", "Invalid attribute type name found; type: hello, valid "
					  "types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}"},
		{"begins_with(:n, s)", "Incorrect operand type for operator or function; operator "
				       "or function: begins_with, operand type: N"},
		{"begins_with(a, :q)", "An expression attribute value used in expression is not "
				       "defined; attribute value: :q"},
		{"a = :n AND b = :q", "An expression attribute value used in expression is not "
				      "defined; attribute value: :q"},
		{":b < a", "Incorrect operand type for operator or function; operator or function: "
			   "<, operand type: BOOL"},
		{"a BETWEEN :s AND :h",
		 "The BETWEEN operator requires upper bound to be greater than or equal to lower "
		 "bound; lower bound operand: AttributeValue: "
		 "{S:hello}, upper bound operand: AttributeValue: {S:he}"},
		{"a BETWEEN :bin AND :bin0",
		 "The BETWEEN operator requires upper bound to be greater than or equal to lower "
		 "bound; lower bound operand: AttributeValue: "
		 "{B:java.nio.HeapByteBuffer[pos=0 lim=2 cap=2]}, upper bound operand: "
		 "AttributeValue: {B:java.nio.HeapByteBuffer[pos=0 lim=1 cap=1]}"},
		{"a BETWEEN :n AND :s",
		 "The BETWEEN operator requires same data type for lower and upper bounds; lower "
		 "bound operand: AttributeValue: {N:5}, upper bound "
		 "operand: AttributeValue: {S:hello}"},
		{"a BETWEEN AND :n", "Syntax error; token: \"AND\", near: \"BETWEEN AND :n\""},
		{"a BETWEEN :one OR :n", "Syntax error; token: \"OR\", near: \":one OR :n\""},
		{"a {", "Syntax error; token: \"{\", near: \"a {\""},
		{"a = \xC3\xA9 b", "Syntax error; token: \"\xC3\xA9\", near: \"= \xC3\xA9 b\""},
		{"a = #", "Syntax error; token: \"#\", near: \"= #\""},
		{"a = :-", "Syntax error; token: \":\", near: \"= :-\""},
		{"a = ?n", "Syntax error; token: \"?\", near: \"= ?n\""},
		{"a[12", "Syntax error; token: \"<EOF>\", near: \"12\""},
		{"a[x] = :n", "Syntax error; token: \"x\", near: \"[x]\""},
		{"a <", "Syntax error; token: \"<EOF>\", near: \"<\""},
		{"(a = :n", "Syntax error; token: \"<EOF>\", near: \":n\""},
		{") a", "Syntax error; token: \")\", near: \") a\""},
		{"AND = :n", "Syntax error; token: \"AND\", near: \"AND =\""},
		{"a = IN (b)", "Syntax error; token: \"IN\", near: \"= IN (\""},
		{"m.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a = :n",
		 "The document path has too many nesting levels; nesting levels: 33"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CHECK_STR(condition(cases[i][0]), cases[i][1]);
}

TEST(hostile_nesting_is_refused)
{
	char text[4097];

	memset(text, '(', 4096);
	text[4096] = '\0';
	CHECK(str_starts_with(condition(text), STR("Syntax error")));
	for (size_t i = 0; i < 4096; i += 4)
		memcpy(text + i, "NOT ", 4);
	CHECK(str_starts_with(condition(text), STR("Syntax error")));
	memset(text, 'x', 4096);
	CHECK(str_starts_with(condition(text), STR("Syntax error; token: \"<EOF>\"")));
}

/* The item after the update, as JSON-like text of one attribute; or the error's message. */
static struct str updated(const char *text, const char *attribute)
{
	struct err err = err_in(arena);
	struct expr_env e = env();
	struct value item = sample(), before = sample(), after;
	struct update *update;
	struct buf out = buf_in(arena);

	if (expr_parse_update(&e, str_of(text), &update, &err) != OK ||
	    expr_update(update, arena, &item, &after, &err) != OK)
		return err.message;
	CHECK(value_equal(&item, &before));
	const struct value *value = value_member(&after, str_of(attribute));
	if (!value)
		return STR("absent");
	if (value->type == TYPE_N)
		number_format(value_str(value), &out);
	else if (value->type == TYPE_S)
		buf_add_str(&out, value_str(value));
	for (uint32_t i = 0;
	     (value->type == TYPE_L || type_is_set((enum type)value->type)) && i < value->n; i++) {
		buf_add_byte(&out, i ? ',' : '[');
		if (value->elements[i].type == TYPE_N)
			number_format(value_str(&value->elements[i]), &out);
		else
			buf_add_str(&out, value_str(&value->elements[i]));
	}
	if (value->type == TYPE_M)
		buf_printf(&out, "map of %u", value->n);
	return buf_str(&out);
}

TEST(updates)
{
	static const char *const cases[][3] = {
		{"SET n = n + :one", "n", "6"},
		{"SET n = :one - n", "n", "-4"},
		{"SET fresh = if_not_exists(fresh, :one)", "fresh", "1"},
		{"SET n = if_not_exists(n, :one)", "n", "5"},
		{"SET l = list_append(l, :l)", "l", "[1,2,3,9"},
		{"SET l = list_append(:l, l)", "l", "[9,1,2,3"},
		{"SET l[1] = :s", "l", "[1,hello,3"},
		{"SET l[7] = :n, l[5] = :s", "l", "[1,2,3,hello,5"},
		{"REMOVE l[0], l[2]", "l", "[2"},
		{"REMOVE l[0] SET l[9] = :n", "l", "[2,3,5"},
		{"SET m.x = :n, m.w = :n", "m", "map of 3"},
		{"REMOVE m.x", "m", "map of 1"},
		{"REMOVE n", "n", "absent"},
		{"ADD n :one", "n", "6"},
		{"ADD fresh :one", "fresh", "1"},
		{"ADD ss :set", "ss", "[a,b,c"},
		{"DELETE ss :set", "ss", "[a"},
		{"DELETE fresh :set", "fresh", "absent"},
		{"SET a1 = n, n = :one", "a1", "5"},
		{"SET n = (n + :one)", "n", "6"},
		{"REMOVE m.x, m.y SET m.w = :n", "m", "map of 1"},
		{"REMOVE m.x, m.y, m.q", "m", "map of 0"},
		{"SET m.y.a = :n, m.y.b = :n, c = m.y, m.d = m.y", "c", "map of 1"},
		{"SET m.y.a = :n, m.d = m.y, m.e = m.y REMOVE m.x", "m", "map of 3"},
		{"SET l[0] = :one, l[8] = :n, l[7] = :one REMOVE l[1]", "l", "[1,3,1,5"},
		{"SET l[0] = l[2], l[2] = l[0], m.x = :n", "l", "[3,2,1"},
		{"ADD ns :one", "ns",
		 "An operand in the update expression has an incorrect data type"},
		{"DELETE ss :upper", "ss", "[b"},
		{"ADD ss :upper", "ss", "[A,a,b"},
		{"REMOVE l[9]", "l", "[1,2,3"},
		{"SET zz = :n", "zz", "5"},
		{"SET a = :n, zz = :n", "s", "hello"},
		{"REMOVE l[1] SET m.x = :n", "l", "[1,3"},
		{"SET m.l = list_append(:l, :l)", "m", "map of 3"},
		{"SET n = nowhere + :one", "n",
		 "The provided expression refers to an attribute that does not exist in the item"},
		{"SET l = list_append(nowhere, l)", "l",
		 "The provided expression refers to an attribute that does not exist in the item"},
		{"SET l = list_append(l, nowhere)", "l",
		 "The provided expression refers to an attribute that does not exist in the item"},
		{"SET l = list_append(l, s)", "l",
		 "An operand in the update expression has an incorrect data type"},
		{"SET n = n + s", "n",
		 "An operand in the update expression has an incorrect data type"},
		{"SET n = :big + :big", "n",
		 "Number overflow. Attempting to store a number with magnitude larger than "
		 "supported range"},
		{"SET a = nowhere, b = :n", "n",
		 "The provided expression refers to an attribute that does not exist in the item"},
		{"SET q.r = :n, b = :n", "n",
		 "The document path provided in the update expression is invalid for update"},
		{"ADD s :one, n :one", "n",
		 "An operand in the update expression has an incorrect data type"},
		{"SET m.w = nowhere, n = :n", "n",
		 "The provided expression refers to an attribute that does not exist in the item"},
		{"", "n", "Invalid UpdateExpression: The expression can not be empty;"},
		{"n = :n", "n",
		 "Invalid UpdateExpression: Syntax error; token: \"n\", near: \"n =\""},
		{"SET = :n", "n",
		 "Invalid UpdateExpression: Syntax error; token: \"=\", near: \"SET = :n\""},
		{"SET n :n", "n",
		 "Invalid UpdateExpression: Syntax error; token: \":n\", near: \"n :n\""},
		{"ADD n n", "n",
		 "Invalid UpdateExpression: Syntax error; token: \"n\", near: \"n n\""},
		{"SET n =", "n",
		 "Invalid UpdateExpression: Syntax error; token: \"<EOF>\", near: \"=\""},
		{"SET n = n +", "n",
		 "Invalid UpdateExpression: Syntax error; token: \"<EOF>\", near: \"+\""},
		{"SET n = (n +", "n",
		 "Invalid UpdateExpression: Syntax error; token: \"<EOF>\", near: \"+\""},
		{"SET n = :n REMOVE s REMOVE b SET s = :s", "n",
		 "Invalid UpdateExpression: The \"REMOVE\" section can only be used once in an "
		 "update expression;"},
		{"SET abort = :n, n = :n", "n",
		 "Invalid UpdateExpression: Attribute name is a reserved keyword; reserved "
		 "keyword: abort"},
		{"SET n = size(n)", "n",
		 "Invalid UpdateExpression: The function is not allowed in an update expression; "
		 "function: size"},
		{"SET n = :s + :one", "n",
		 "Invalid UpdateExpression: Incorrect operand type for operator or function; "
		 "operator or function: +, operand type: S"},
		{"SET n = :q - :one", "n",
		 "Invalid UpdateExpression: An expression attribute value used in expression is "
		 "not defined; attribute value: :q"},
		{"SET #q = :one", "n",
		 "Invalid UpdateExpression: An expression attribute name used in the document path "
		 "is not defined; attribute name: #q"},
		{"ADD n :q", "n",
		 "Invalid UpdateExpression: An expression attribute value used in expression is "
		 "not defined; attribute value: :q"},
		{"DELETE n :n", "n",
		 "Invalid UpdateExpression: Incorrect operand type for operator or function; "
		 "operator: DELETE, operand type: NUMBER, typeSet: "
		 "ALLOWED_FOR_ADD_OPERAND"},
		{"ADD n :bin", "n",
		 "Invalid UpdateExpression: Incorrect operand type for operator or function; "
		 "operator: ADD, operand type: Binary, typeSet: "
		 "ALLOWED_FOR_ADD_OPERAND"},
		{"DELETE n :b", "n",
		 "Invalid UpdateExpression: Incorrect operand type for operator or function; "
		 "operator: DELETE, operand type: BOOL, typeSet: "
		 "ALLOWED_FOR_ADD_OPERAND"},
		{"SET a = nowhere", "a",
		 "The provided expression refers to an attribute that does not exist in the item"},
		{"SET n = s + :one", "n",
		 "An operand in the update expression has an incorrect data type"},
		{"SET q.r = :n", "q",
		 "The document path provided in the update expression is invalid for update"},
		{"SET s[0] = :n", "s",
		 "The document path provided in the update expression is invalid for update"},
		{"ADD s :one", "s",
		 "An operand in the update expression has an incorrect data type"},
		{"SET n = :n SET s = :s", "n",
		 "Invalid UpdateExpression: The \"SET\" section can only be used once in an update "
		 "expression;"},
		{"SET n = :n, n = :one", "n",
		 "Invalid UpdateExpression: Two document paths overlap with each other; must "
		 "remove or rewrite one of these paths; path one: [n], "
		 "path two: [n]"},
		{"SET m.x = :n, m[0] = :one", "m",
		 "Invalid UpdateExpression: Two document paths conflict with each other; must "
		 "remove or rewrite one of these paths; path one: [m, x], "
		 "path two: [m, [0]]"},
		{"ADD n :s", "n",
		 "Invalid UpdateExpression: Incorrect operand type for operator or function; "
		 "operator: ADD, operand type: STRING, typeSet: "
		 "ALLOWED_FOR_ADD_OPERAND"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CHECK_STR(updated(cases[i][0], cases[i][1]), cases[i][2]);
}

TEST(many_steps_copy_a_container_once)
{
	enum { MEMBERS = 5000, STEPS = 440 };
	struct member *members = ARENA_ARRAY(arena, struct member, MEMBERS);
	struct buf text = buf_in(arena);
	struct expr_env e = env();
	struct err err = err_in(arena);
	struct update *update;
	struct value after;

	for (unsigned i = 0; i < MEMBERS; i++)
		members[i] = (struct member){str_printf(arena, "k%04u", i), {.type = TYPE_NULL}};
	for (unsigned i = 0; i < STEPS; i++)
		buf_printf(&text, "%sm.k%04u", i ? "," : "REMOVE ", i * 7);
	struct value m = {.type = TYPE_M, .n = MEMBERS, .members = members},
		     item = MAP_OF(M("m", m), M("pk", s("a")));
	CHECK(expr_parse_update(&e, buf_str(&text), &update, &err) == OK);
	size_t before = arena_used(arena);
	CHECK(expr_update(update, arena, &item, &after, &err) == OK);
	CHECK(arena_used(arena) - before < 1024 * 1024);
	CHECK_INT(item.members[0].value.n, MEMBERS);
	CHECK_INT(after.members[0].value.n, MEMBERS - STEPS);
	CHECK(!value_member(&after.members[0].value, STR("k0007")) &&
	      value_member(&after.members[0].value, STR("k0008")));
}

/* Each may be as long as an item; together they are too long, and are not built. */
TEST(many_appended_lists_are_refused_before_they_are_made)
{
	enum { ELEMENTS = 100000, STEPS = 150 };
	struct value null = {.type = TYPE_NULL},
		     *elements = ARENA_ARRAY(arena, struct value, ELEMENTS);
	struct buf text = buf_in(arena);
	struct expr_env e = env();
	struct err err = err_in(arena);
	struct update *update;
	struct value after;

	for (unsigned i = 0; i < ELEMENTS; i++)
		elements[i] = null;
	for (unsigned i = 0; i < STEPS; i++)
		buf_printf(&text, "%sa%u = list_append(l, l)", i ? "," : "SET ", i);
	struct value l = {.type = TYPE_L, .n = ELEMENTS, .elements = elements},
		     item = MAP_OF(M("l", l), M("pk", s("a")));
	CHECK(expr_parse_update(&e, STR("SET a = list_append(l, l)"), &update, &err) == OK);
	CHECK(expr_update(update, arena, &item, &after, &err) == OK);
	CHECK_INT(after.members[0].value.n, 2 * ELEMENTS);
	CHECK(expr_parse_update(&e, buf_str(&text), &update, &err) == OK);
	size_t before = arena_used(arena);
	CHECK(expr_update(update, arena, &item, &after, &err) == ERR_VALIDATION);
	CHECK_STR(err.message, "Item size to update has exceeded the maximum allowed size");
	CHECK(arena_used(arena) - before < 16 * 1024 * 1024);
	/* the same of plain paths */
	CHECK(expr_parse_update(&e, STR("SET a = l, b = l, c = l"), &update, &err) == OK);
	CHECK(expr_update(update, arena, &item, &after, &err) == ERR_VALIDATION);
	CHECK_STR(err.message, "Item size to update has exceeded the maximum allowed size");
	/* an operand that is no list still comes before the size */
	buf_add_lit(&text, ", z = list_append(l, pk)");
	CHECK(expr_parse_update(&e, buf_str(&text), &update, &err) == OK);
	CHECK(expr_update(update, arena, &item, &after, &err) == ERR_OPERAND);
	CHECK_STR(err.message, "An operand in the update expression has an incorrect data type");
}

TEST(deleting_every_element_removes_the_set)
{
	struct value set = LIST_OF(TYPE_SS, s("b"), s("c"));
	struct expr_env e = env();
	struct err err = err_in(arena);
	struct value item = MAP_OF(M("set", set)), after;
	struct update *update;

	CHECK(expr_parse_update(&e, STR("DELETE #set :set"), &update, &err) != OK);
	e.names[0] = (struct expr_name){STR("#set"), STR("set"), false};
	CHECK(expr_parse_update(&e, STR("DELETE #set :set"), &update, &err) == OK);
	CHECK(expr_update(update, arena, &item, &after, &err) == OK);
	CHECK_INT(after.n, 0);
	CHECK_INT(item.n, 1);
}

TEST(projections)
{
	struct expr_env e = env();
	struct err err = err_in(arena);
	struct value item = sample();
	struct subject subject = {arena, &item, STR_ABSENT};
	struct projection *projection;

	CHECK(expr_parse_projection(&e, STR("pk, m.#y.z, l[2], l[0], nowhere, m.q"), &projection,
				    &err) == OK);
	struct value out = expr_project(projection, &subject);
	CHECK_INT(out.n, 3);
	const struct value *l = value_member(&out, STR("l"));
	CHECK(l && l->n == 2 &&
	      value_equal(&l->elements[0],
			  &(struct value){.type = TYPE_N, .n = n("1").n, .bytes = n("1").bytes}));
	const struct value *m = value_member(&out, STR("m"));
	CHECK(m && m->n == 1);
	CHECK(expr_parse_projection(&e, STR("m, m.x"), &projection, &err) == ERR_REQUEST);
	CHECK(expr_parse_projection(&e, STR("pk,"), &projection, &err) == ERR_REQUEST);
}

/* A page has many rows: what one of them takes must not grow with the request. */
TEST(many_paths_take_no_more_memory_than_the_item)
{
	struct expr_env e = env();
	struct err err = err_in(arena);
	struct value item = sample(), out;
	struct buf image = buf_in(arena), paths = buf_in(arena), sizes = buf_in(arena),
		   contents = buf_in(arena);
	struct projection *projection;
	const struct node *filter, *search;

	buf_add_lit(&paths, "m.y, l[2], pk");
	buf_add_lit(&sizes, "size(pk) > :n");
	buf_add_lit(&contents, "contains(l, :h)");
	for (int i = 0; i < 300; i++)
		buf_printf(&paths, ", p%d.x", i);
	for (int i = 0; i < 100; i++) {
		buf_add_lit(&sizes, " OR size(pk) > :n");
		buf_add_lit(&contents, " OR contains(l, :h)");
	}
	image_encode(&item, &image);
	CHECK(expr_parse_projection(&e, buf_str(&paths), &projection, &err) == OK);
	CHECK(expr_parse_condition(&e, EXPR_FILTER, buf_str(&sizes), &filter, &err) == OK);
	CHECK(expr_parse_condition(&e, EXPR_FILTER, buf_str(&contents), &search, &err) == OK);
	struct subject subject = {arena, NULL, buf_str(&image)};
	size_t used = arena_used(arena);
	out = expr_project(projection, &subject);
	CHECK(arena_used(arena) - used < 1000);
	CHECK_INT(out.n, 3);
	CHECK_STR(out.members[0].name, "l");
	CHECK_STR(out.members[2].name, "pk");
	used = arena_used(arena);
	CHECK(!expr_eval(filter, &subject));
	CHECK(!expr_eval(search, &subject));
	CHECK(arena_used(arena) - used < 2000);
}

/* Many operands are searched in another way than few. */
TEST(an_operand_is_in_many_as_it_is_in_few)
{
	enum { MANY = 100 };
	static struct expr_value values[MANY];
	struct expr_env e = {.arena = arena, .values = values, .value_count = MANY};
	struct err err = err_in(arena);
	struct buf many = buf_in(arena);
	const struct node *node;
	unsigned found = 0;

	for (int i = 0; i < MANY; i++) {
		struct value text =
			value_of_str(i % 3 == 1 ? TYPE_B : TYPE_S,
				     str_printf(arena, "%.*s%d", i % 7, "aaaaaaa", i / 2));

		values[i] = (struct expr_value){
			str_printf(arena, ":v%d", i),
			i % 3 ? text : n(str_printf(arena, "%d.50", i * i - 50).p), false};
		buf_printf(&many, "%s:v%d", i ? "," : "a IN (", i);
	}
	buf_add_byte(&many, ')');
	CHECK_INT(expr_parse_condition(&e, EXPR_FILTER, buf_str(&many), &node, &err), OK);
	CHECK(node->ordered);
	for (int i = -50; i < 2 * MANY; i++) {
		const struct value others[] = {
			n(str_printf(arena, "%d.5", i).p),
			value_of_str(TYPE_S, str_printf(arena, "aaa%d", i)),
			value_of_str(TYPE_B, str_printf(arena, "aaaa%d", i)),
			{.type = TYPE_NULL},
			{.type = TYPE_BOOL, .boolean = true},
		};

		for (size_t k = 0; k < sizeof(others) / sizeof(others[0]); k++) {
			struct member attribute = {STR("a"), others[k]};
			struct value item = {.type = TYPE_M, .n = 1, .members = &attribute};
			struct subject subject = {arena, &item, STR_ABSENT};
			bool is_there = false;

			for (int v = 0; v < MANY; v++)
				is_there = is_there || value_equal(&values[v].value, &others[k]);
			CHECK(expr_eval(node, &subject) == is_there);
			found += is_there;
		}
	}
	CHECK(found > 10);
}

static uint64_t readings;

static uint64_t count_readings(void)
{
	return ++readings;
}

/* Each of these looked ahead, compared or searched for as long as it liked. */
TEST(parsers_stop_where_the_time_is_up)
{
	static struct expr_name names[200000];
	struct arena *short_lived = arena_new(1 << 20);
	struct expr_env e = {.arena = short_lived,
			     .names = names,
			     .name_count = sizeof(names) / sizeof(names[0])};
	struct buf open = buf_in(arena), paths = buf_in(arena), looks = buf_in(arena);

	for (size_t i = 0; i < e.name_count; i++)
		names[i].placeholder = STR("#x");
	names[e.name_count - 1] = (struct expr_name){STR("#y"), STR("y"), false};
	for (int i = 0; i < 680; i++)
		buf_add_byte(&open, '(');
	for (int i = 0; i < 1600; i++)
		buf_add_lit(&open, "a[");
	buf_add_lit(&open, " = :v");
	for (int i = 0; i < 800; i++)
		buf_printf(&paths, "%sa%d", i ? "," : "", i);
	for (int i = 0; i < 500; i++)
		buf_printf(&looks, "%sa%d.#y", i ? "," : "", i);
	for (unsigned i = 0; i < 3; i++) {
		struct err err = err_in(short_lived);
		struct projection *projection;
		const struct node *node;
		enum code code;

		readings = 0;
		arena_limit_time(short_lived, count_readings, i == 0 ? 2 : 20);
		code = i == 0 ? expr_parse_condition(&e, EXPR_CONDITION, buf_str(&open), &node,
						     &err)
			      : expr_parse_projection(&e, buf_str(i == 1 ? &paths : &looks),
						      &projection, &err);
		CHECK_INT(code, ERR_SERVICE_UNAVAILABLE);
		CHECK(readings < 30);
		arena_reset(short_lived);
	}
	arena_free(short_lived);
}

/* One walk finds what all parentheses hold: each of these has the rest of the text within. */
TEST(parentheses_are_looked_up_once)
{
	struct arena *short_lived = arena_new(1 << 20);
	struct expr_env e = {.arena = short_lived};
	struct err err = err_in(short_lived);
	struct buf open = buf_in(arena);
	const struct node *node;

	for (int i = 0; i < 4000; i++)
		buf_add_byte(&open, '(');
	buf_add_lit(&open, "a = :v");
	readings = 0;
	arena_limit_time(short_lived, count_readings, 40);
	CHECK_INT(expr_parse_condition(&e, EXPR_CONDITION, buf_str(&open), &node, &err),
		  ERR_REQUEST);
	CHECK(readings < 40);
	arena_free(short_lived);
}

TEST(unused_names_and_values)
{
	struct expr_env e = env();
	struct err err = err_in(arena);
	const struct node *node;

	CHECK(expr_parse_condition(&e, EXPR_CONDITION, STR("#name = :n"), &node, &err) == OK);
	CHECK(expr_check_unused(&e, &err) == ERR_REQUEST);
	CHECK_STR(err.message,
		  "Value provided in ExpressionAttributeNames unused in expressions: keys: {#y}");
}

TEST(reserved_words)
{
	CHECK(reserved_has(STR("ABORT")) && reserved_has(STR("abort")) &&
	      reserved_has(STR("Zone")) && reserved_has(STR("name")));
	CHECK(!reserved_has(STR("PK")) && !reserved_has(STR("")) && !reserved_has(STR("note")) &&
	      !reserved_has(STR("abor")));
	CHECK(!reserved_has(STR("ABORTABORTABORTABORTABORTABORTABORTABORT")));
}

TEST(an_update_is_charged_by_its_text)
{
	static const struct {
		const char *text;
		size_t charge;
	} rows[] = {
		{"SET b = :v", 24},
		{"SET b = :v, c = :v", 45},
		{"ADD n :one", 25},
		{"ADD m.n :one", 30},
		{"REMOVE r", 5},
		{"REMOVE m.y", 10},
		{"REMOVE abcdefghij[1]", 19},
		{"DELETE ss :set", 6},
		{"SET l[10] = :v", 30},
		{"SET m.a.x = :v", 34},
		{"SET #long = :v", 33},
		{"SET c = big", 41},
		{"SET c = m.a.z", 69},
		{"SET c = l[10]", 55},
		{"SET n = n + :one", 75},
		{"SET n = (n - :one)", 78},
		{"SET c = if_not_exists(c, :v)", 79},
		{"SET l = list_append(if_not_exists(l, :v), :list)", 121},
	};
	struct expr_name names[] = {{.placeholder = STR("#long"), .name = STR("abcdefghij")}};
	struct expr_value values[] = {
		{.placeholder = STR(":v"), .value = s("x")},
		{.placeholder = STR(":one"), .value = n("1")},
		{.placeholder = STR(":set"), .value = LIST_OF(TYPE_SS, s("a"))},
		{.placeholder = STR(":list"), .value = LIST_OF(TYPE_L, s("a"))},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct expr_env env = {.arena = arena,
				       .name_count = 1,
				       .names = names,
				       .value_count = 4,
				       .values = values};
		struct err err = err_in(arena);
		struct update *update = NULL;

		CHECK(expr_parse_update(&env, str_of(rows[i].text), &update, &err) == OK);
		CHECK_INT(update_charge(update), (long long)rows[i].charge);
	}
}

static struct str repeated(const char *first, const char *part, unsigned times, const char *last)
{
	struct buf text = buf_in(arena);

	buf_printf(&text, "%s", first);
	for (unsigned i = 0; i < times; i++)
		buf_printf(&text, "%s", part);
	buf_add(&text, last, strlen(last) + 1);
	return (struct str){text.p, text.n - 1};
}

TEST(limits_of_expressions)
{
	struct expr_env older = env();
	struct err err = err_in(arena);
	struct update *update;
	const struct node *node;
	struct str blank = repeated("n = :n", " ", EXPR_SIZE_MAX - 6, ""),
		   long_one = repeated("n = :n", " ", EXPR_SIZE_MAX - 5, "");

	older.is_older = true;
	CHECK_STR(condition(repeated("n=:n", " OR n=:n", 149, "").p), "true");
	CHECK_STR(condition(repeated("n=:n", " OR n=:n", 150, "").p),
		  "The expression contains too many operators; operator count: 301");
	CHECK_STR(condition(repeated("n IN (:n", ",:n", 99, ")").p), "true");
	CHECK_STR(condition(repeated("n IN (:n", ",:n", 100, ")").p),
		  "The IN operator is provided with too many operands; number of operands: 101");
	CHECK_STR(condition(repeated("n IN (:n", ",:one", 20, ", l[0])").p),
		  "true"); /* not ordered */
	CHECK_STR(condition(repeated("nowhere IN (:n", ",:one", 20, ")").p), "false");
	CHECK_STR(condition(repeated("n IN (:b", ",:one", 20, ")").p), "false");
	CHECK(str_starts_with(updated(repeated("SET a = ", "(", EXPR_DEPTH_MAX + 1, "n").p, "a"),
			      STR("Invalid UpdateExpression: Syntax error")));
	CHECK_STR(condition(blank.p), "true");
	CHECK_STR(condition(long_one.p), "Expression size has exceeded the maximum allowed size;");
	CHECK(expr_parse_condition(&older, EXPR_FILTER, long_one, &node, &err) == ERR_REQUEST);
	CHECK_STR(err.message, "Invalid FilterExpression: Expression size has exceeded the maximum "
			       "allowed size; expression size: 4097");
	CHECK(expr_parse_condition(&older, EXPR_CONDITION, long_one, &node, &err) == ERR_REQUEST);
	CHECK_STR(err.message, "Invalid ConditionExpression: Expression size has exceeded the "
			       "maximum allowed size; expression size: 4097");
	CHECK(expr_parse_condition(&older, EXPR_KEY_CONDITION, long_one, &node, &err) ==
	      ERR_REQUEST);
	CHECK_STR(err.message, "Invalid KeyConditionExpression: Expression size has exceeded the "
			       "maximum allowed size;");
	CHECK(expr_parse_condition(&older, EXPR_FILTER, blank, &node, &err) == OK);
	CHECK(expr_parse_update(&older, STR("DELETE n :bin"), &update, &err) == ERR_REQUEST);
	CHECK_STR(err.message, "Invalid UpdateExpression: Incorrect operand type for operator or "
			       "function; operator: DELETE, operand type: BINARY, typeSet: "
			       "ALLOWED_FOR_DELETE_OPERAND");
}

/* Without an item, or with an image that cannot be read, no attribute is there. */
TEST(subjects_without_attributes)
{
	struct expr_env e = env();
	struct err err = err_in(arena);
	const struct node *few, *many;
	const struct str names[] = {STR("q"), STR("s")};
	struct subject none = {arena, NULL, STR_ABSENT}, broken = {arena, NULL, STR("\1\2\1\1n")};
	struct projection *projection;
	struct value out;

	CHECK(expr_parse_condition(&e, EXPR_FILTER,
				   STR("attribute_exists(n) AND n = :n AND :n = m.s"), &few,
				   &err) == OK);
	CHECK(expr_parse_condition(&e, EXPR_FILTER,
				   repeated("n = :n", " OR n = :n", 20, " OR s = :s"), &many,
				   &err) == OK);
	CHECK(expr_parse_projection(&e, STR("n, s"), &projection, &err) == OK);
	CHECK(!expr_eval(few, &none) && !expr_eval(few, &broken) && !expr_eval(many, &none) &&
	      !expr_eval(many, &broken));
	out = expr_project(projection, &broken);
	CHECK_INT(out.n, 0);
	out = expr_project(projection, &none);
	CHECK_INT(out.n, 0);
	CHECK(!str_is_set(node_find_attribute(few, names, 2)));
	CHECK_STR(node_find_attribute(many, names, 2), "s");
	CHECK(projection_has(projection, STR("s")) && !projection_has(projection, STR("m")));
}

/* As count of attributes, or the error. */
TEST(what_paths_name_is_projected)
{
	static const struct {
		const char *paths;
		uint32_t n;
	} cases[] = {{"s.x", 0},           {"l[9]", 0},
		     {"l.x", 0},           {"m[0]", 0},
		     {"m.y.q", 0},         {"l[0].x, l[1]", 1},
		     {"m.y.z, m.x", 1},    {"m.x.y, m.q, m.w, m.y.z", 1},
		     {"m.y.z, m.y.zz", 1}, {"a, c, d, e, f, g, h, i, j, k, o, p, q, r, n", 1},
		     {"m, l, n, zz", 3}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct expr_env e = env();
		struct err err = err_in(arena);
		struct value item = sample();
		struct buf image = buf_in(arena);
		struct projection *projection;

		image_encode(&item, &image);
		struct subject by_value = {arena, &item, STR_ABSENT},
			       by_image = {arena, NULL, buf_str(&image)};
		CHECK(expr_parse_projection(&e, str_of(cases[i].paths), &projection, &err) == OK);
		struct value out = expr_project(projection, &by_value),
			     same = expr_project(projection, &by_image);
		CHECK_INT(out.n, cases[i].n);
		CHECK(value_equal(&out, &same));
	}
}

TEST(what_updates_touch_and_make)
{
	struct expr_env e = env();
	struct err err = err_in(arena);
	struct update *takes, *adds, *mixed, none = {0};
	struct value item = sample(), after, deep = n("1");

	CHECK(expr_parse_update(&e, STR("REMOVE s DELETE ss :set"), &takes, &err) == OK);
	CHECK(expr_parse_update(&e, STR("ADD q :one"), &adds, &err) == OK);
	CHECK(expr_parse_update(&e, STR("REMOVE s SET m.y.d = :map"), &mixed, &err) == OK);
	CHECK(update_only_takes(takes) && !update_only_takes(adds) && !update_only_takes(mixed) &&
	      !update_only_takes(&none));
	CHECK(update_touches(takes, STR("ss")) && !update_touches(takes, STR("n")));
	after = expr_updated(takes, arena, &item);
	CHECK_INT(after.n, 2);
	CHECK(expr_update(adds, arena, NULL, &after, &err) == OK);
	CHECK_INT(after.n, 1);
	for (unsigned depth = 1; depth < VALUE_DEPTH_MAX; depth++) {
		deep = LIST_OF(TYPE_L, deep);
		e.values[11].value = deep;
		CHECK(expr_parse_update(&e, STR("SET m.y.d = :map"), &mixed, &err) == OK);
		CHECK_INT(expr_update(mixed, arena, &item, &after, &err),
			  depth < VALUE_DEPTH_MAX - 2 ? OK : ERR_VALIDATION);
	}
	CHECK_STR(err.message, "Nesting Levels have exceeded supported limits");
}

/* What PartiQL builds is checked as the parsers check what they read. */
TEST(nodes_and_paths_that_are_built_are_checked)
{
	struct err err = err_in(arena);
	const struct path *const apart[] = {path_of_name(arena, STR("a")),
					    path_of_name(arena, STR("b")),
					    path_of_name(arena, STR("c"))};
	const struct path *const twice[] = {path_of_name(arena, STR("c")), apart[0],
					    path_of_name(arena, STR("a")), apart[1]};
	struct path_step *steps = ARENA_ARRAY(arena, struct path_step, VALUE_DEPTH_MAX + 1);
	const struct path deep = {VALUE_DEPTH_MAX + 1, steps};
	const struct path *const too_deep[] = {&deep};
	const struct node *path = node_path(arena, apart[0]), *text = node_value(arena, s("x")),
			  *number = node_value(arena, n("1"));
	const struct node *const operands[] = {path, text}, *const numbers[] = {path, number},
				 *const same[] = {path, path};
	enum node_kind kind = NODE_VALUE;

	CHECK(expr_check_paths(arena, apart, 3, &err) == OK &&
	      expr_check_paths(arena, apart, 0, &err) == OK);
	CHECK(expr_check_paths(arena, twice, 4, &err) == ERR_REQUEST);
	CHECK_STR(err.message, "Two document paths overlap with each other; must remove or rewrite "
			       "one of these paths; path one: [a], path two: [a]");
	CHECK(expr_check_paths(arena, too_deep, 1, &err) == ERR_REQUEST);
	CHECK(expr_check_node(arena, node_new(arena, NODE_BEGINS_WITH, 2, operands), &err) == OK);
	CHECK(expr_check_node(arena, node_new(arena, NODE_BEGINS_WITH, 2, numbers), &err) ==
	      ERR_REQUEST);
	CHECK(expr_check_node(arena, node_new(arena, NODE_EQ, 2, same), &err) == ERR_REQUEST);
	CHECK(expr_check_node(arena, node_new(arena, NODE_ADD, 2, same), &err) == OK);
	CHECK(expr_check_node(arena, node_new(arena, NODE_SUBTRACT, 2, same), &err) == OK);
	CHECK(expr_check_node(arena, node_new(arena, NODE_ADD, 2, operands), &err) == ERR_REQUEST);
	CHECK(expr_check_node(arena, node_new(arena, NODE_AND, 2, operands), &err) == OK);
	CHECK(expr_check_node(arena, text, &err) == OK);
	CHECK(expr_function(STR("contains"), &kind) && kind == NODE_CONTAINS &&
	      !expr_function(STR("foo"), &kind));
}

/* A request whose time is up gives up where it reads its values, compares and updates. */
TEST(evaluation_stops_where_the_time_is_up)
{
	static const char *const conditions[] = {
		"n = :n", "n IN (:n)",
		"n IN (:n,:n,:n,:n,:n,:n,:n,:n,:n,:n,:n,:n,:n,:n,:n,:n,:n,:n)"};
	struct expr_env e = env();
	struct arena *late = arena_new(0);
	struct err err = err_in(arena);
	struct value item = sample(), after;
	struct update *update, *deeper;
	const struct node *node;

	CHECK(expr_parse_update(&e, STR("SET n = :n, s = :s"), &update, &err) == OK &&
	      expr_parse_update(&e, STR("ADD n :n, m.x :n"), &deeper, &err) == OK);
	readings = 0;
	arena_limit_time(late, count_readings, 0);
	CHECK(!arena_works(late, ARENA_LOOK));
	for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++) {
		struct subject subject = {late, &item, STR_ABSENT},
			       in_time = {arena, &item, STR_ABSENT};

		CHECK(expr_parse_condition(&e, EXPR_FILTER, str_of(conditions[i]), &node, &err) ==
		      OK);
		CHECK(expr_eval(node, &in_time) && !expr_eval(node, &subject));
	}
	CHECK_INT(expr_update(update, late, &item, &after, &err), ERR_SERVICE_UNAVAILABLE);
	CHECK_INT(expr_update(deeper, late, &item, &after, &err), ERR_SERVICE_UNAVAILABLE);
	e.arena = late;
	CHECK_INT(expr_parse_condition(&e, EXPR_FILTER, STR("n = :n"), &node, &err),
		  ERR_SERVICE_UNAVAILABLE);
	CHECK_INT(expr_parse_update(&e, STR("ADD n :n"), &update, &err), ERR_SERVICE_UNAVAILABLE);
	arena_free(late);
}

TEST(values_that_are_not_used_are_named_after_names)
{
	struct expr_env e = env();
	struct err err = err_in(arena);

	e.value_count = 3;
	e.values[1].is_used = true;
	CHECK(expr_check_unused(&e, &err) == ERR_REQUEST);
	CHECK_STR(err.message, "Value provided in ExpressionAttributeNames unused in expressions: "
			       "keys: {#name, #y}");
	e.names[0].is_used = e.names[1].is_used = true;
	CHECK(expr_check_unused(&e, &err) == ERR_REQUEST);
	CHECK_STR(err.message, "Value provided in ExpressionAttributeValues unused in expressions: "
			       "keys: {:n, :s}");
	e.values[0].is_used = e.values[2].is_used = true;
	CHECK(expr_check_unused(&e, &err) == OK);
}

/* What PartiQL and ReturnValues build may name a member, an element and a whole of one attribute.
 */
TEST(paths_of_all_kinds_are_projected_together)
{
	static const struct path_step m_x[] = {{STR_INIT("m"), 0}, {STR_INIT("x"), 0}},
				      m_first[] = {{STR_INIT("m"), 0}, {{NULL, 0}, 0}},
				      m[] = {{STR_INIT("m"), 0}};
	const struct path member = {2, m_x}, element = {2, m_first}, whole = {1, m};
	const struct path *orders[][3] = {{&member, &element, &member},
					  {&element, &member, &element},
					  {&member, &whole, &element},
					  {&whole, &element, &whole}};
	struct value item = sample();
	struct subject subject = {arena, &item, STR_ABSENT},
		       broken = {arena, NULL, STR("\1\2\1\1m\7\1\x7F")};

	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		struct projection projection = {.n = 3, .paths = orders[i]};

		projection_order(arena, &projection);
		struct value out = expr_project(&projection, &subject),
			     none = expr_project(&projection, &broken);
		CHECK_INT(none.n, 0);
		CHECK_INT(out.n, 1);
		CHECK_INT(out.members[0].value.n, i < 2 ? 1 : 2);
	}
}

int main(void)
{
	static const struct test_case cases[] = {
		TEST_CASE(paths_of_all_kinds_are_projected_together),
		TEST_CASE(limits_of_expressions),
		TEST_CASE(subjects_without_attributes),
		TEST_CASE(what_paths_name_is_projected),
		TEST_CASE(what_updates_touch_and_make),
		TEST_CASE(nodes_and_paths_that_are_built_are_checked),
		TEST_CASE(evaluation_stops_where_the_time_is_up),
		TEST_CASE(values_that_are_not_used_are_named_after_names),
		TEST_CASE(conditions_hold_or_not),
		TEST_CASE(condition_errors),
		TEST_CASE(hostile_nesting_is_refused),
		TEST_CASE(updates),
		TEST_CASE(many_steps_copy_a_container_once),
		TEST_CASE(many_appended_lists_are_refused_before_they_are_made),
		TEST_CASE(deleting_every_element_removes_the_set),
		TEST_CASE(projections),
		TEST_CASE(many_paths_take_no_more_memory_than_the_item),
		TEST_CASE(unused_names_and_values),
		TEST_CASE(parsers_stop_where_the_time_is_up),
		TEST_CASE(parentheses_are_looked_up_once),
		TEST_CASE(an_operand_is_in_many_as_it_is_in_few),
		TEST_CASE(reserved_words),
		TEST_CASE(an_update_is_charged_by_its_text),
	};

	arena = arena_new(1 << 20);
	int status = test_run(__FILE__, cases, sizeof(cases) / sizeof(cases[0]));
	arena_free(arena);
	return status;
}
