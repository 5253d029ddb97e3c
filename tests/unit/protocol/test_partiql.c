/* PartiQL: tokens, the tree, what statements lower to. Messages as AWS gives them. */
#include "core/number.h"
#include "protocol/partiql/syntax.h"
#include "tests/unit/test.h"

#define SYNTAX "Statement wasn't well formed, can't be processed: "

static struct arena *arena;
static struct service service;
static struct err err;
static struct partiql_statement statement;

static struct value S(const char *text)
{
	return value_of_str(TYPE_S, str_of(text));
}

static struct value N(int64_t n)
{
	char *bytes = arena_bytes(arena, NUMBER_MAX);

	return value_of_str(TYPE_N, (struct str){bytes, number_from_int(n, bytes)});
}

/* {"a": 5, "s": "abc", "ss": {"x", "y"}} */
static struct value example(void)
{
	struct member *members = ARENA_ARRAY(arena, struct member, 3);
	struct value *elements = ARENA_ARRAY(arena, struct value, 2);

	elements[0] = S("x");
	elements[1] = S("y");
	members[0] = (struct member){STR("a"), N(5)};
	members[1] = (struct member){STR("s"), S("abc")};
	members[2] = (struct member){STR("ss"), {.type = TYPE_SS, .n = 2, .elements = elements}};
	return (struct value){.type = TYPE_M, .n = 3, .members = members};
}

static enum code parse(const char *text)
{
	struct value parameters[] = {N(5), S("abc")};

	struct call call = {.service = &service, .arena = arena};

	err = err_in(arena);
	return partiql_parse(&call, str_of(text), parameters, 2, false, &statement, &err);
}

static enum code lex(const char *text, struct pq_tokens *tokens)
{
	err = err_in(arena);
	return partiql_lex(arena, str_of(text), tokens, &err);
}

/* Whether the condition holds for the example; an error is no. */
static bool holds(const char *condition)
{
	struct value item = example();
	struct subject subject = {.arena = arena, .item = &item};

	if (parse(str_printf(arena, "SELECT * FROM tab WHERE %s", condition).p) != OK) {
		fprintf(stderr, "%s: %.*s\n", condition, STR_ARG(err.message));
		return false;
	}
	return expr_eval(statement.where, &subject);
}

#define CHECK_REFUSED(text, message_text)                       \
	do {                                                    \
		CHECK(err_is_validation(parse(text)));         \
		CHECK_STR(err.message, message_text);           \
	} while (0)

TEST(tokens_have_kinds_and_places)
{
	struct pq_tokens tokens;

	CHECK_INT(lex("SELECT \"a\"\"b\"\n  'it''s' <<.5e-1>> ?", &tokens), OK);
	CHECK_INT(tokens.n, 8);
	CHECK_INT(tokens.v[0].keyword, PK_SELECT);
	CHECK_INT(tokens.v[1].kind, PQ_IDENTIFIER);
	CHECK_STR(tokens.v[1].text, "a\"b");
	CHECK_INT(tokens.v[2].kind, PQ_STRING);
	CHECK_STR(tokens.v[2].text, "it's");
	CHECK_INT(tokens.v[2].line, 2);
	CHECK_INT(tokens.v[2].column, 3);
	CHECK_INT(tokens.v[2].length, 7);
	CHECK(partiql_is_sign(&tokens.v[3], PQ_BAG_OPEN));
	CHECK_STR(tokens.v[4].text, ".5e-1");
	CHECK(partiql_is_sign(&tokens.v[5], PQ_BAG_CLOSE));
	CHECK(partiql_is_sign(&tokens.v[6], '?'));
	CHECK_INT(tokens.v[7].kind, PQ_END);
}

TEST(words_are_names_or_keywords)
{
	struct pq_tokens tokens;

	CHECK_INT(lex("select Date data size zone absolute Selects _x $y", &tokens), OK);
	CHECK_INT(tokens.v[0].keyword, PK_SELECT);
	CHECK_INT(tokens.v[1].keyword, PK_TYPE);
	CHECK_INT(tokens.v[2].keyword, PK_NONE);
	CHECK_INT(tokens.v[3].keyword, PK_FUNCTION);
	CHECK_INT(tokens.v[4].keyword, PK_OTHER);
	CHECK_INT(tokens.v[5].keyword, PK_OTHER);
	CHECK_INT(tokens.v[6].keyword, PK_NONE);
	CHECK_INT(tokens.v[7].kind, PQ_IDENTIFIER);
	CHECK_INT(tokens.v[8].kind, PQ_IDENTIFIER);
}

TEST(comments_are_space_and_what_is_no_token_is_refused)
{
	struct pq_tokens tokens;

	CHECK_INT(lex("a -- b\n/* c */ d", &tokens), OK);
	CHECK_INT(tokens.n, 3);
	CHECK_STR(tokens.v[1].text, "d");
	CHECK_INT(tokens.v[1].line, 2);
	CHECK_INT(tokens.v[1].column, 9);
	for (size_t i = 0; i < 8; i++) {
		static const char *const texts[] = {
			"#", "'a", "\"a", "/* a", "1e", "1e2147483648", "1.5e-2147483647", "a ! b"};

		CHECK_INT(lex(texts[i], &tokens), ERR_VALIDATION);
		CHECK_STR(err.message, SYNTAX);
	}
	CHECK_INT(lex("1e2147483647 1.5e-2147483646", &tokens), OK);
}

TEST(columns_count_characters)
{
	struct pq_tokens tokens;

	CHECK_INT(lex("'\xc3\xa9\xe2\x82\xac' x", &tokens), OK);
	CHECK_INT(tokens.v[0].length, 4);
	CHECK_INT(tokens.v[1].column, 6);
}

TEST(operators_bind_as_in_sql)
{
	CHECK(holds("a = 5 OR a = 6 AND a = 7"));
	CHECK(!holds("(a = 5 OR a = 6) AND a = 7"));
	CHECK(!holds("NOT a = 5 OR a = 7"));
	CHECK(holds("NOT (a = 6) AND s = 'abc'"));
	CHECK(holds("a BETWEEN 4 AND 6 AND s = 'abc'"));
	CHECK(holds("a NOT BETWEEN 6 AND 9 AND a NOT IN (1, 2)"));
	CHECK(holds("5 = a AND 6 > a"));
}

TEST(conditions_lower_to_the_one_ast)
{
	CHECK(holds("a = ? AND s = ?"));
	CHECK(holds("ss = <<'y', 'x'>>"));
	CHECK(holds("a IN [1, 5] AND s IN ('abc')"));
	CHECK(holds("z IS MISSING AND a IS NOT MISSING AND a IS NUMERIC AND NOT s IS NULL"));
	CHECK(holds("contains(ss, 'x') AND BEGINS_WITH(s, 'ab') AND size(s) = 3 AND "
		    "attribute_type(s, 'S')"));
	CHECK(holds("attribute_exists(a) = true AND attribute_exists(z) = false AND (a = 5) <> (a "
		    "= 6)"));
	CHECK(!holds("attribute_not_exists(a) = true"));
}

TEST(select_names_table_index_and_columns)
{
	CHECK_INT(parse("SELECT a, m.n['o'][2], \"b c\" FROM \"tab\".\"idx\" WHERE a = 1 ORDER BY "
			"a DESC, b;"),
		  OK);
	CHECK_INT(statement.kind, PARTIQL_SELECT);
	CHECK_STR(statement.table, "tab");
	CHECK_STR(statement.index, "idx");
	CHECK_INT(statement.columns->paths.n, 3);
	CHECK_STR(statement.columns->names[0], "a");
	CHECK_STR(statement.columns->names[1], "o[2]");
	CHECK_STR(statement.columns->names[2], "b c");
	CHECK_INT(statement.columns->paths.paths[1]->n, 4);
	CHECK_INT(statement.order_count, 2);
	CHECK(statement.order[0].is_descending && !statement.order[1].is_descending);
	CHECK_INT(parse("select * from tab"), OK);
	CHECK(!statement.columns && !statement.where && !str_is_set(statement.index));
}

TEST(insert_makes_an_item)
{
	CHECK_INT(parse("INSERT INTO tab VALUE {'z': [1, -2.50, {'k': null}], 'a': ?, 'b': <<2, "
			"1>>}"),
		  OK);
	CHECK_INT(statement.kind, PARTIQL_INSERT);
	CHECK_INT(statement.item->n, 3);
	CHECK_STR(statement.item->members[0].name, "a");
	CHECK_INT(statement.item->members[0].value.type, TYPE_N);
	CHECK_INT(statement.item->members[1].value.type, TYPE_NS);
	CHECK_INT(statement.item->members[2].value.elements[2].type, TYPE_M);
	struct buf buf = buf_in(arena);
	number_format(value_str(&statement.item->members[2].value.elements[1]), &buf);
	CHECK_STR(buf_str(&buf), "-2.5");
}

TEST(update_makes_actions)
{
	CHECK_INT(parse("UPDATE tab SET a = a + 1, b = list_append(b, [1]) REMOVE c SET d = "
			"set_add(d, <<'x'>>) SET e = SET_DELETE(e, <<1>>) "
			"WHERE pk = 'x' RETURNING ALL NEW *"),
		  OK);
	CHECK_INT(statement.kind, PARTIQL_UPDATE);
	CHECK_INT(statement.update->n, 5);
	CHECK_INT(statement.update->actions[0].operand->kind, NODE_ADD);
	CHECK_INT(statement.update->actions[1].operand->kind, NODE_LIST_APPEND);
	CHECK_INT(statement.update->actions[2].verb, UPDATE_REMOVE);
	CHECK_INT(statement.update->actions[3].verb, UPDATE_ADD);
	CHECK_INT(statement.update->actions[4].verb, UPDATE_DELETE);
	CHECK_INT(statement.returning, PARTIQL_RETURN_ALL_NEW);
	CHECK_INT(parse("FROM tab WHERE pk = 'x' SET a = 1 REMOVE b"), OK);
	CHECK_INT(statement.kind, PARTIQL_UPDATE);
	CHECK_INT(statement.update->n, 2);
}

TEST(exists_is_a_statement_of_transactions_only)
{
	const char *text = "EXISTS(SELECT * FROM tab WHERE pk = 'a' AND x = 1)";

	CHECK_REFUSED(text, "EXISTS can only be used in ExecuteTransaction write requests.");
	CHECK_INT(statement.kind, PARTIQL_CALL);
	struct call call = {.service = &service, .arena = arena};

	CHECK_INT(partiql_parse(&call, str_of(text), NULL, 0, true, &statement, &err), OK);
	CHECK_INT(statement.kind, PARTIQL_EXISTS);
}

TEST(a_tree_is_kept_by_its_text)
{
	struct service keeping = {.statements = partiql_cache_new()};
	struct call call = {.service = &keeping, .arena = arena}, later = call;
	struct value one[] = {N(5)}, other[] = {S("x")};
	struct str text = STR("SELECT * FROM tab WHERE a = ?"), wrong = STR("SELECT * FROM");

	CHECK_INT(partiql_parse(&call, text, one, 1, false, &statement, &err), OK);
	CHECK_INT(partiql_parse(&call, text, other, 1, false, &statement, &err), OK);
	CHECK_INT(statement.where->args[1]->value.type, TYPE_S);
	CHECK_INT(call.statements.n, 2);
	CHECK(call.statements.v[0] == call.statements.v[1]);
	CHECK_INT(partiql_parse(&call, wrong, NULL, 0, false, &statement, &err), ERR_VALIDATION);
	CHECK_INT(call.statements.n, 2);
	for (int i = 0; i < 1000; i++) /* every place taken by others */
		CHECK_INT(partiql_parse(&later,
					str_printf(arena, "SELECT * FROM tab WHERE a = %d", i),
					NULL, 0, false, &statement, &err),
			  OK);
	CHECK_INT(partiql_parse(&later, text, one, 1, false, &statement, &err), OK);
	CHECK(later.statements.v[1000] != call.statements.v[0]);
	CHECK_INT(partiql_parse(&later, text, NULL, 0, false, &statement, &err), ERR_VALIDATION);
	for (size_t i = 0; i < later.statements.n; i++)
		partiql_kept_unref(later.statements.v[i]);
	partiql_cache_free(keeping.statements);
	for (size_t i = 0; i < call.statements.n; i++) /* held by a call still under way */
		partiql_kept_unref(call.statements.v[i]);
}

TEST(syntax_errors_say_what_was_expected)
{
	CHECK_REFUSED("SELECT * FROM tab WHERE", SYNTAX "Unexpected term");
	CHECK_REFUSED("SELECT * FROM tab WHERE a = 1 AND",
		      SYNTAX "Missing right-hand side expression of infix operator");
	CHECK_REFUSED("SELECT * FROM tab WHERE a = 1 b",
		      SYNTAX "Unexpected token after expression");
	CHECK_REFUSED("SLECT * FROM tab WHERE a = 1", SYNTAX "Expected data manipulation");
	CHECK_REFUSED("SELECT a b", SYNTAX "Expected FROM after SELECT list");
	CHECK_REFUSED("SELECT m.date FROM tab", SYNTAX "Invalid path dot component");
	CHECK_REFUSED("SELECT date FROM tab", SYNTAX "Unexpected keyword");
	CHECK_REFUSED("DELETE FROM", SYNTAX "Expected identifier for simple path");
	CHECK_REFUSED("UPDATE tab SET a 1", SYNTAX "Expected '='");
	CHECK_REFUSED("SELECT * FROM tab; SELECT 1",
		      SYNTAX "Unexpected token after semicolon. (Only one query is allowed.)");
	CHECK_REFUSED("SELECT * FROM tab WHERE a IS FOO", SYNTAX "Expected type name");
	CHECK_REFUSED("SELECT * FROM tab WHERE (a = 1", SYNTAX "Expected RIGHT_PAREN");
}

TEST(what_dynamodb_does_not_take_is_named_with_its_place)
{
	CHECK_REFUSED("SELECT 1 FROM tab", "Unexpected path component at 1:8:1");
	CHECK_REFUSED("SELECT a\nFROM tab LIMIT 10", "Unsupported clause: LIMIT at 2:16:2");
	CHECK_REFUSED("SELECT * FROM tab WHERE foo(a)", "Unrecognized function: foo at 1:25:3");
	CHECK_REFUSED("SELECT * FROM tab t", "Aliasing is not supported");
	CHECK_REFUSED("SELECT * FROM ab", "Table name should be within the length [3, 255] and "
					  "only contain 'a-z', 'A-Z', '0-9', '-', '_', '.'.");
	CHECK_REFUSED("SELECT * FROM tab WHERE a < true",
		      "Incorrect operand type for operator or function; operator or function: <, "
		      "operand type: BOOL");
	CHECK_REFUSED("SELECT * FROM tab WHERE a = ? AND b = ? AND c = ?",
		      "Number of parameters in request and statement don't match.");
	CHECK_REFUSED("INSERT INTO tab VALUE {'a': [1e126]}",
		      "Number overflow. Attempting to store a number with magnitude larger than "
		      "supported range under root[0]");
	CHECK_REFUSED("x IS INT4", "Unsupported operation: IsType");
}

static struct str repeat(const char *before, const char *part, size_t n, const char *after)
{
	struct buf buf = buf_in(arena);

	buf_printf(&buf, "%s", before);
	for (size_t i = 0; i < n; i++)
		buf_printf(&buf, "%s", part);
	buf_printf(&buf, "%s", after);
	buf_add_byte(&buf, 0);
	return (struct str){buf.p, buf.n - 1};
}

TEST(depth_and_length_are_bounded)
{
	CHECK_INT(parse(repeat("SELECT * FROM tab WHERE ", "(", 8000, "").p), ERR_VALIDATION);
	CHECK_INT(parse(repeat("SELECT * FROM tab WHERE ", "NOT ", 2000, "a = 1").p),
		  ERR_VALIDATION);
	CHECK_INT(parse(repeat("SELECT * FROM tab WHERE a = ", "- ", 4000, "1").p), OK);
	CHECK_INT(parse(repeat("SELECT * FROM tab WHERE a = ", "- ", 4000, "").p), ERR_VALIDATION);
	CHECK_INT(parse(repeat("INSERT INTO tab VALUE {'a': ", "[", 8000, "").p), ERR_VALIDATION);
	CHECK_REFUSED(repeat("SELECT * FROM tab WHERE a = 1", " OR a = 1", 150, "").p,
		      "The expression contains too many operators; operator count: 301");
	CHECK_INT(parse(repeat("SELECT * FROM tab WHERE a = 1", " OR a = 1", 149, "").p), OK);
	CHECK_INT(parse(repeat("SELECT * FROM tab WHERE a = 1", " OR a = 1", 800, "").p),
		  ERR_VALIDATION);
	CHECK_INT(parse("SELECT * FROM tab WHERE ((((((a = 1) = (a = 2)) = (a = 3)) = (a = 4)) = "
			"(a = 5)) = (a = 6))"),
		  OK);
	CHECK_INT(parse(repeat("INSERT INTO tab VALUE {'a': ", "[", 31,
			       "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}")
				.p),
		  OK);
	CHECK_INT(parse(repeat("INSERT INTO tab VALUE {'a': ", "[", 32,
			       "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}")
				.p),
		  ERR_VALIDATION);
}

int main(void)
{
	static const struct test_case cases[] = {
		TEST_CASE(tokens_have_kinds_and_places),
		TEST_CASE(words_are_names_or_keywords),
		TEST_CASE(comments_are_space_and_what_is_no_token_is_refused),
		TEST_CASE(columns_count_characters),
		TEST_CASE(operators_bind_as_in_sql),
		TEST_CASE(conditions_lower_to_the_one_ast),
		TEST_CASE(select_names_table_index_and_columns),
		TEST_CASE(insert_makes_an_item),
		TEST_CASE(update_makes_actions),
		TEST_CASE(exists_is_a_statement_of_transactions_only),
		TEST_CASE(a_tree_is_kept_by_its_text),
		TEST_CASE(syntax_errors_say_what_was_expected),
		TEST_CASE(what_dynamodb_does_not_take_is_named_with_its_place),
		TEST_CASE(depth_and_length_are_bounded),
	};

	arena = arena_new(1 << 20);
	int status = test_run(__FILE__, cases, sizeof(cases) / sizeof(cases[0]));

	arena_free(arena);
	return status;
}
