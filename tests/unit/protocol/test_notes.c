/* Notes about tables of other namespaces: one a second, the next one tells how many were left out.
 */
#include "storage/monotonic.h"
#include "tests/unit/protocol/service_fixture.h"
#include "tests/unit/test.h"

#define CALLS 3000
#define TABLE                                                                                      \
	"{\"TableName\":\"tbl\",\"AttributeDefinitions\":[{\"AttributeName\":\"k\","               \
	"\"AttributeType\":\"S\"}],"                                                               \
	"\"KeySchema\":[{\"AttributeName\":\"k\",\"KeyType\":\"HASH\"}],\"BillingMode\":\"PAY_"    \
	"PER_REQUEST\"}"

struct log {
	unsigned lines;
	bool tells_rest; /* the last one */
};

static void note(void *context, struct str line)
{
	struct log *log = context;

	CHECK(str_contains(line, STR("table \"tbl\" is not in namespace 111111111111/us-east-1")));
	log->tells_rest = str_contains(line, STR("like it left out"));
	log->lines++;
}

static enum code let_another_in(void *context, struct ns *ns, struct err *err)
{
	(void)context, (void)err;
	*ns = (struct ns){STR("111111111111"), STR("us-east-1")};
	return OK;
}

static void ask(struct service_fixture *fixture, struct arena *arena)
{
	struct op_request request = {
		.arena = arena,
		.target = STR("DynamoDB_20120810.DescribeTable"),
		.body = STR("{\"TableName\":\"tbl\"}"),
		.authenticate = let_another_in,
	};
	struct op_response response;

	op_run(&fixture->service, &request, &response);
	CHECK_INT(response.code, ERR_RESOURCE_NOT_FOUND);
	arena_reset(arena);
}

TEST(a_flood_of_requests_for_a_missing_table_does_not_fill_the_log)
{
	struct arena *arena = arena_new(1 << 16);
	struct service_fixture fixture;
	struct log log = {0};

	service_fixture_open(&fixture, arena);
	CHECK_INT(service_fixture_call(&fixture, arena, STR("CreateTable"), STR(TABLE)).status,
		  200);
	fixture.service.note = note;
	fixture.service.note_context = &log;
	int64_t begin = monotonic_ms();
	ask(&fixture, arena);
	CHECK_INT(log.lines, 1);
	CHECK(!log.tells_rest);
	for (int i = 1; i < CALLS; i++)
		ask(&fixture, arena);
	int64_t took = monotonic_ms() - begin;
	CHECK(log.lines <= 1 + took / NOTE_PERIOD_MS);
	service_fixture_close(&fixture);
	arena_free(arena);
}

TEST(the_next_note_tells_how_many_were_left_out)
{
	struct note_gate gate = {0};
	unsigned left_out = 7;

	CHECK(note_gate_opens(&gate, 5000, &left_out));
	CHECK_INT(left_out, 0);
	for (int i = 0; i < 40; i++)
		CHECK(!note_gate_opens(&gate, 5000 + i, &left_out));
	CHECK(!note_gate_opens(&gate, 5999, &left_out));
	CHECK(note_gate_opens(&gate, 6000, &left_out));
	CHECK_INT(left_out, 41);
	CHECK(!note_gate_opens(&gate, 6001, &left_out));
	CHECK(note_gate_opens(&gate, 7000, &left_out));
	CHECK_INT(left_out, 1);
}

TEST_MAIN(TEST_CASE(a_flood_of_requests_for_a_missing_table_does_not_fill_the_log),
	  TEST_CASE(the_next_note_tells_how_many_were_left_out))
