/*
 * Wrong expressions and statements through everything that looks at them: IAM, the operation,
 * insight, explain, Contributor Insights, recording. Of about 500 valid texts each prefix, and for
 * each token a text without it and two with another one in its place. No request may look like our
 * own failure, and none may be answered to a principal that no policy allows anything.
 */
#include "protocol/iam/iam.h"
#include "protocol/insight/contributors.h"
#include "protocol/insight/insight.h"
#include "server/console/masked.h"
#include "tests/unit/protocol/service_fixture.h"
#include "tests/unit/server/wrong_texts.h"
#include "tests/unit/test.h"

#define CHANGES 2 /* of a token, beside the text without it */

static struct service_fixture fixture;
static struct arena *arena; /* of one request */
static size_t requests, refused, turn;

static const char principals[] =
	"{'principals':[{'access_key':'free','arn':'arn:aws:iam::000000000000:root'},{'access_key':"
	"'tenant','arn':'arn:aws:iam::000000000000:user/tenant','identity':{"
	"'Version':'2012-10-17','Statement':[{'Effect':'Allow','Action':'dynamodb:*','Resource':'*'"
	",'Condition':{'ForAllValues:StringLike':{'dynamodb:LeadingKeys':'a*',"
	"'dynamodb:Attributes':['pk','sk','s','n','l']}}},{'Effect':'Deny','Action':'dynamodb:"
	"PartiQLSelect','Resource':'*','Condition':{'Bool':{"
	"'dynamodb:FullTableScan':'true'}}}]}}]}";

#define HASH(name) "{'AttributeName':'" name "','KeyType':'HASH'}"
#define TYPE(name, type) "{'AttributeName':'" name "','AttributeType':'" type "'}"

static const struct {
	const char *op, *body;
} set_up[] = {
	{"CreateTable", "{'TableName':'tab','BillingMode':'PAY_PER_REQUEST','AttributeDefinitions':"
			"[" TYPE("pk", "S") "," TYPE("sk", "N") "," TYPE(
				"g",
				"S") "],'KeySchema':[" HASH("pk") ",{'AttributeName':'sk','KeyType'"
								  ":'RANGE'}],'"
								  "GlobalSecondaryIndexes':[{'"
								  "IndexName':'gsi','KeySchema':"
								  "[" HASH("g") "],'Projection':{"
										"'ProjectionType':'"
										"ALL'}}]}"},
	{"CreateTable", "{'TableName':'vec','BillingMode':'PAY_PER_REQUEST','AttributeDefinitions':"
			"[" TYPE("pk", "S") "," TYPE("tenant", "S") "],'KeySchema':[" HASH(
				"pk") "],"
				      "'VectorIndexes':[{'IndexName':'near','VectorAttribute':{'"
				      "AttributeName':'v'},'Dimensions':2,'DistanceFunction':'"
				      "COSINE','Projection':{"
				      "'ProjectionType':'ALL'},'SearchSchema':[{'AttributeName':'"
				      "tenant','SearchSchemaElementType':'HASH'}]}]}"},
	{"UpdateContributorInsights", "{'TableName':'tab','ContributorInsightsAction':'ENABLE'}"},
	{"PutItem", "{'TableName':'vec','Item':{'pk':{'S':'one'},'tenant':{'S':'a'},'v':{'L':[{'N':"
		    "'1'},{'N':'0'}]}}}"},
};

static const char item[] =
	"{'TableName':'tab','Item':{'pk':{'S':'a'},'sk':{'N':'1'},'g':{'S':'g'},'s':{'S':'x'},'n':{"
	"'N':'1'},'l':{'L':[{'N':'1'},{'S':'x'}]},'m':{'M':{'x':{"
	"'S':'q'}}},'d':{'SS':['y']}}}";

static struct str quoted(const char *body)
{
	struct buf buf = buf_in(arena);

	wrong_quoted(&buf, str_of(body));
	return buf_str(&buf);
}

static void open_service(void)
{
	struct err err;

	arena = arena_new(1 << 20);
	err = err_in(arena);
	service_fixture_open(&fixture, arena);
	fixture.service.statements = partiql_cache_new();
	fixture.service.insight = insight_new(100, true);
	fixture.service.contributors = contributors_new();
	for (size_t i = 0; i < sizeof(set_up) / sizeof(set_up[0]); i++)
		CHECK_INT(service_fixture_call(&fixture, arena, str_of(set_up[i].op),
					       quoted(set_up[i].body))
				  .status,
			  200);
	fixture.service.iam = iam_new(true);
	CHECK_INT(iam_use(fixture.service.iam, quoted(principals), &err), OK);
}

static void close_service(void)
{
	CHECK(insight_describe(fixture.service.insight, arena).n > 0);
	contributors_free(fixture.service.contributors);
	insight_free(fixture.service.insight);
	iam_free(fixture.service.iam);
	service_fixture_close(&fixture);
	partiql_cache_free(fixture.service.statements);
	arena_free(arena);
}

static struct str sign(void *auth_context, struct arena *of)
{
	(void)of;
	return str_of(auth_context);
}

static enum code let_in(void *auth_context, struct ns *ns, struct err *err)
{
	(void)auth_context;
	return service_fixture_let_in(NULL, ns, err);
}

static struct op_response ask(const char *access_key, enum op_explain explain, struct str op,
			      struct str body)
{
	struct op_request request = {
		.arena = arena,
		.target = str_printf(arena, "DynamoDB_20120810." STR_FMT, STR_ARG(op)),
		.body = body,
		.authenticate = let_in,
		.access_key = sign,
		.auth_context = (void *)(uintptr_t)access_key,
		.explain = explain,
	};
	struct op_response response = {0};

	CHECK(op_run(&fixture.service, &request, &response));
	if (response.status >= 500)
		printf("status %d: " STR_FMT "\n", response.status, STR_ARG(body));
	CHECK(response.status < 500);
	requests++;
	return response;
}

/* The family's request with the text in its place, and the definitions that the valid text needs.
 */
static struct str body_of(const struct wrong_family *family, const char *body, struct str valid,
			  struct str text)
{
	const char *place = strchr(body, '%');
	struct json_out json = json_out_in(arena);
	struct buf buf = buf_in(arena);

	wrong_quoted(&buf, (struct str){body, (size_t)(place - body)});
	if (family->is_json) {
		wrong_quoted(&buf, text);
	} else {
		json_out_string(&json, text);
		buf_add_str(&buf, json_out_str(&json));
		wrong_definitions(&buf, valid, body);
	}
	wrong_quoted(&buf, str_of(place + 1));
	return buf_str(&buf);
}

/* To a principal of a batch each statement is refused in its place. */
static void check_denied(const struct op_response *response, struct str body)
{
	bool is_batch = str_contains(body, STR("\"Statements\""));
	bool is_refused =
		is_batch ? response->status != 200 || str_contains(response->body, STR("\"Error\""))
			 : response->status == 400;

	if (!is_refused)
		printf("not refused: " STR_FMT ": " STR_FMT "\n", STR_ARG(body),
		       STR_ARG(response->body));
	CHECK(is_refused && !str_contains(response->body, STR("\"Item")));
}

/* Through every consumer. */
static struct op_response try_one(struct str op, struct str body)
{
	static const char *const keys[] = {"free", "tenant"};
	struct json_out masked = json_out_in(arena);
	struct op_response denied = ask("nobody", OP_EXPLAIN_TOO, op, body);

	check_denied(&denied, body);
	(void)ask(keys[turn % 2], OP_EXPLAIN_ALONE, op, body);
	masked_write(&masked, arena, body);
	turn++;
	struct op_response response = ask("free", OP_EXPLAIN_TOO, op, body);
	refused += response.status != 200;
	return response;
}

/* Every prefix and the changes of each token. */
static void try_wrong(const struct wrong_family *family, const char *body, struct str op,
		      struct str valid)
{
	for (size_t at = 0, n; at < valid.n; at += n) {
		n = wrong_token((struct str){valid.p + at, valid.n - at});
		for (size_t change = 0; change < CHANGES + 2 && valid.p[at] != ' '; change++) {
			const char *instead = change < 2 ? "" : wrong_tokens[turn % WRONG_TOKENS];
			struct str text = wrong_changed(arena, valid, at,
							change == 0 ? valid.n : at + n, instead);

			(void)try_one(op, body_of(family, body, valid, text));
		}
		arena_reset(arena);
	}
}

/* A valid text with the requests of its family in turn, then all that is wrong with it. */
static void try_text(const struct wrong_family *family, size_t i)
{
	static char kept[1024];
	size_t count = 0;

	while (count < WRONG_REQUESTS_MAX && family->requests[count].body)
		count++;
	const char *body = family->requests[i % count].body;
	struct str text = wrong_text(arena, family, i),
		   op = family->is_json ? str_cut(&text, ' ')
					: str_of(family->requests[i % count].op);
	op = str_of(memcpy(kept, str_copy(arena, op).p, op.n + 1));
	struct str valid = {memcpy(kept + op.n + 1, text.p, text.n), text.n};

	(void)ask("free", OP_EXPLAIN_NOT, STR("PutItem"), quoted(item));
	struct op_response response = try_one(op, body_of(family, body, valid, valid));
	bool is_valid = response.code == OK || response.code == ERR_CONDITIONAL_CHECK_FAILED ||
			response.code == ERR_TRANSACTION_CANCELED ||
			response.code == ERR_DUPLICATE_ITEM;
	if (!is_valid)
		printf("%s " STR_FMT ": " STR_FMT "\n", family->name, STR_ARG(valid),
		       STR_ARG(response.body));
	CHECK(is_valid);
	arena_reset(arena);
	try_wrong(family, body, op, valid);
}

TEST(every_consumer_takes_wrong_texts)
{
	size_t valid = 0;

	open_service();
	for (size_t k = 0; k < WRONG_FAMILIES; k++)
		for (size_t i = 0; i < wrong_families[k].n; i++, valid++)
			try_text(&wrong_families[k], i);
	printf("%zu valid texts, %zu requests, %zu of them wrong\n", valid, requests, refused);
	close_service();
}

/* An error in an expression comes before AccessDenied, and nothing of it is counted; a request that
 * can be read is judged, whatever else is wrong with it. */
TEST(what_cannot_be_read_is_not_judged)
{
	static const struct {
		const char *op, *body;
		bool is_judged;
	} cases[] = {
		{"GetItem", "{" WRONG_ON_ITEM ",'ProjectionExpression':'#x'}", false},
		{"UpdateItem", "{" WRONG_ON_ITEM ",'UpdateExpression':'REMOVE name'}", false},
		{"TransactWriteItems",
		 "{'TransactItems':[{'Put':{'TableName':'tab'," WRONG_ITEM
		 "}},{'Update':{" WRONG_ON_ITEM ",'UpdateExpression':'SET a = :v'}}]}",
		 false},
		{"ExecuteStatement", "{'Statement':'SELECT * FRM tab'}", false},
		{"GetItem", "{" WRONG_ON_ITEM ",'ProjectionExpression':'s'}", true},
		{"GetItem", "{'TableName':'gone'," WRONG_KEY "}", true},
		{"UpdateItem", "{" WRONG_ON_ITEM ",'UpdateExpression':'REMOVE pk'}", true},
		/* names that no expression uses are refused of single writes, and overlooked in
		   transactions */
		{"TransactWriteItems",
		 "{'TransactItems':[{'Put':{'TableName':'tab'," WRONG_ITEM
		 ",'ExpressionAttributeNames':{'#n':'n'}}}]}",
		 true},
	};
	struct err err;
	struct str report;

	open_service();
	err = err_in(arena);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		enum code code =
			ask("nobody", OP_EXPLAIN_NOT, str_of(cases[i].op), quoted(cases[i].body))
				.code;

		CHECK(cases[i].is_judged ? code == ERR_ACCESS_DENIED : err_is_validation(code));
	}
	CHECK_INT(iam_describe(fixture.service.iam, fixture.service.catalog, arena, &report, &err),
		  OK);
	CHECK(!str_contains(report, STR("ExecuteStatement")) &&
	      str_contains(report, STR("dynamodb:GetItem")));
	CHECK_INT(str_contains(report, STR("dynamodb:UpdateItem")), 1); /* by REMOVE pk alone */
	close_service();
}

TEST_MAIN(TEST_CASE(every_consumer_takes_wrong_texts), TEST_CASE(what_cannot_be_read_is_not_judged))
