/* What is left of a body without its values. */
#include "server/console/masked.h"

#include "tests/unit/test.h"

static struct arena *arena;

/* Texts with apostrophes for quotes, "~" for an apostrophe. */
static struct str quoted(const char *text)
{
	struct str copy = str_copy(arena, str_of(text));
	char *p = (char *)(uintptr_t)copy.p;

	for (size_t i = 0; i < copy.n; i++)
		p[i] = p[i] == '\'' ? '"' : (char)(p[i] == '~' ? '\'' : p[i]);
	return copy;
}

static struct str masked(const char *request)
{
	struct json_out out = json_out_in(arena);

	masked_write(&out, arena, quoted(request));
	return json_out_str(&out);
}

static void check_request(const char *request, const char *shown)
{
	CHECK_STR(masked(request), quoted(shown).p);
}

/* The message of the answer to that request. */
static void check_message(const char *request, const char *message, const char *shown)
{
	struct json_out out = json_out_in(arena), answer = json_out_in(arena),
			wanted = json_out_in(arena);

	json_out_open(&answer, '{');
	json_out_field_string(&answer, "message", str_of(message));
	json_out_close(&answer, '}');
	json_out_open(&wanted, '{');
	json_out_field_string(&wanted, "message", str_of(shown));
	json_out_close(&wanted, '}');
	masked_write_answer(&out, arena, request ? quoted(request) : STR_ABSENT,
			    json_out_str(&answer));
	CHECK_STR(json_out_str(&out), str_copy(arena, json_out_str(&wanted)).p);
}

static void check_statement(const char *statement, const char *shown)
{
	check_request(str_printf(arena, "{'Statement':'%s'}", statement).p,
		      str_printf(arena, "{'Statement':'%s'}", shown).p);
}

TEST(names_and_options_stay)
{
	static const char *const bodies[] = {
		"{'TableName':'t','Limit':5,'ConsistentRead':true,'Select':null}",
		"{'Tags':[{'Key':'team','Value':'blue'}]}",
		"{'KeyConditionExpression':'#p = :p','ExpressionAttributeNames':{'#p':'PK'}}",
		"{'Expected':{'a':{'ComparisonOperator':'EQ','Exists':true}}}",
		"{'SearchResults':[{'Score':0.5}],'ShardIterator':'arn:1|x'}",
	};

	arena = arena_new(0);
	for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++)
		check_request(bodies[i], bodies[i]);
	check_request("alice", "null");
	check_request("'alice'", "'…'");
	check_request("['alice',{'alice':1}]", "['…',{'…':'…'}]");
	arena_free(arena);
}

TEST(values_by_their_type)
{
	arena = arena_new(0);
	check_request("{'Item':{'a':{'S':'CUSTOMER#42'},'b':{'SS':['zoe','ORDER#1']},'c':{'N':'5'},"
		      "'d':{'BOOL':true},'e':{'NULL':true}}}",
		      "{'Item':{'a':{'S':'CUSTOMER#…'},'b':{'SS':['…','ORDER#…']},'c':{'N':'…'},"
		      "'d':{'BOOL':true},'e':{'NULL':true}}}");
	check_request("{'Item':{'a':{'M':{'street':{'S':'x'},'a@b.c':{'L':[{'S':'x'}]}}}}}",
		      "{'Item':{'a':{'M':{'street':{'S':'…'},'…':{'L':[{'S':'…'}]}}}}}");
	check_request("{'Responses':{'tab':[{'a':{'S':'zoe'}}]}}",
		      "{'Responses':{'tab':[{'a':{'S':'…'}}]}}");
	check_request("{'Item':{'b':{'B':'QUJD1234'},'c':{'BS':['QUJD1234']},'n':{'N':'USER12'}}}",
		      "{'Item':{'b':{'B':'…'},'c':{'BS':['…']},'n':{'N':'…'}}}");
	arena_free(arena);
}

TEST(values_of_a_wrong_type)
{
	arena = arena_new(0);
	check_request("{'Item':{'a':{'N':12345},'b':{'S':['alice']},'c':{'SS':'alice'},"
		      "'d':{'S':{'alice':{'S':5}}},'e':{'BOOL':'alice'},'f':{'X':'alice'}}}",
		      "{'Item':{'a':{'N':'…'},'b':{'S':['…']},'c':{'SS':'…'},"
		      "'d':{'S':{'…':{'…':'…'}}},'e':{'BOOL':'…'},'f':{'…':'…'}}}");
	check_request("{'Item':{'email':'a@b.c','age':41,'on':true,'f':1.5,'l':['alice']}}",
		      "{'Item':{'email':'…','age':'…','on':'…','f':'…','l':['…']}}");
	check_request("{'Key':'alice','ExclusiveStartKey':['alice'],'Keys':[{'PK':'alice'}]}",
		      "{'Key':'…','ExclusiveStartKey':['…'],'Keys':[{'PK':'…'}]}");
	check_request("{'item':{'email':'a@b.c'},'Parameters':['alice',7],'SearchVector':[0.5]}",
		      "{'item':{'email':'…'},'Parameters':['…','…'],'SearchVector':['…']}");
	check_request("{'ExpressionAttributeValues':{':a':'alice'},'Expected':{'a':'alice',"
		      "'b':{'Value':'alice','alice':1}},'QueryFilter':{'a':"
		      "{'AttributeValueList':['alice'],'ComparisonOperator':'EQ'}}}",
		      "{'ExpressionAttributeValues':{':a':'…'},'Expected':{'a':'…',"
		      "'b':{'Value':'…','…':'…'}},'QueryFilter':{'a':"
		      "{'AttributeValueList':['…'],'ComparisonOperator':'EQ'}}}");
	check_request("{'NextToken':'QUJDREVG','Statement':['SELECT ~alice~',5]}",
		      "{'NextToken':'…','Statement':['SELECT ?','…']}");
	arena_free(arena);
}

TEST(literals_of_statements)
{
	arena = arena_new(0);
	check_statement("SELECT a1 FROM t WHERE n = .4999 AND m<1.5e+7 AND l[0].x=-7",
			"SELECT a1 FROM t WHERE n = ? AND m<?+? AND l[?].x=-?");
	check_statement("SELECT a.4999", "SELECT a?");
	check_statement("SELECT -- don~t\\n~alice~ FROM t", "SELECT  ? FROM t");
	check_statement("SELECT /* it~s */ ~alice~, /* ~ */ b", "SELECT   ?,   b");
	check_statement("SELECT /* ~alice~", "SELECT  ");
	check_statement("SELECT -- alice", "SELECT  ");
	check_statement("WHERE a = `{{ zoe~s }}` AND b = ~it~~s~ AND c",
			"WHERE a = ? AND b = ?? AND c");
	check_statement("WHERE \\'it~s\\' = ~alice", "WHERE \\'it~s\\' = ?");
	check_statement("WHERE \\'alice", "WHERE ?");
	check_statement("WHERE a = \xe2\x80\x9c"
			"alice",
			"WHERE a = …");
	check_statement("WHERE a = $4999", "WHERE a = $?");
	arena_free(arena);
}

TEST(messages_end_where_they_repeat_a_value)
{
	const char *request =
		"{'Item':{'a':{'S':'zoe'},'b':{'S':'alice@example.com'},'c':{'N':9120}}}";

	arena = arena_new(0);
	check_message(request, "Requested resource not found", "Requested resource not found");
	check_message(request, "The value zoe is wrong", "The value …");
	check_message(request, "The value (zoe) is wrong", "The value …");
	check_message(request, "wants a\\'ice@example", "wants …");
	check_message(request, "wants 9120", "wants …");
	check_message(request, "wants zo", "wants zo");
	check_message("{'Statement':'ORDER BY ~ALICE~'}", "of alice at 1:1", "of …");
	check_message("{}", "Statement wasn't well formed: THEN",
		      "Statement wasn't well formed: THEN");
	check_message("{}", "contains invalid value: Null for key :v",
		      "contains invalid value: Null for key :v");
	check_message("{'Statement':'WHERE a = ~zoe~ AND b = .4999'}", "It is zoe", "It is …");
	check_message("{'Statement':'WHERE a = ~zoe~ AND b = .4999'}", "It is .4999", "It is …");
	check_message("{}", "operand: AttributeValue: {N:1}, upper", "operand: AttributeValue: {…");
	check_message("{}", "invalid type: string \"x\", expected", "invalid type: …");
	check_message("{}", "invalid value: integer `5`, expected", "invalid value: integer …");
	check_message("{}", "Duplicate keys in tuple. Key: X under root",
		      "Duplicate keys in tuple. Key: …");
	check_message("{}", "not supported: INT under key x", "not supported: INT under key …");
	check_message(NULL, "The value zoe", "…");
	check_message("alice", "The value alice", "…");
	check_message("", "The security token is invalid", "The security token is invalid");
	check_message("{'Item':{'a':{'S':'\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f\xc3\xa4\xc3\xb6'}}}",
		      "x \xc3\xb6\xc3\xbc\xc3\x9f\xc3\xa4\xc3\xb6 y", "x …");
	arena_free(arena);
}

TEST(messages_within_answers)
{
	struct json_out out = json_out_in(arena = arena_new(0));

	masked_write_answer(
		&out, arena, quoted("{'Item':{'a':{'S':'alice'}}}"),
		quoted("{'CancellationReasons':[{'Code':'None'},{'Code':'V','Message':'of alice'},"
		       "{'Message':'of alice'},{'Message':'of all','Item':{'a':{'S':'bob'}}}]}"));
	CHECK_STR(json_out_str(&out),
		  quoted("{'CancellationReasons':[{'Code':'None'},{'Code':'V','Message':'of …'},"
			 "{'Message':'of …'},{'Message':'of all','Item':{'a':{'S':'…'}}}]}")
			  .p);
	arena_free(arena);
}

TEST_MAIN(TEST_CASE(names_and_options_stay), TEST_CASE(values_by_their_type),
	  TEST_CASE(values_of_a_wrong_type), TEST_CASE(literals_of_statements),
	  TEST_CASE(messages_end_where_they_repeat_a_value), TEST_CASE(messages_within_answers))
