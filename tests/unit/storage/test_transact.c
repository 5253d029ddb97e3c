#include "storage/upkeep/token_sweep.h"
#include "tests/unit/storage/data_fixture.h"

#define KEY_A(d) data_item(d, "pk", "Sa", "sk", "N1", NULL)
#define KEY_B(d) data_item(d, "pk", "Sb", "sk", "N1", NULL)

static enum code run(struct data *d, struct write *writes, size_t n, struct write_token *token,
		     int64_t now_ms)
{
	for (size_t i = 0; i < n; i++) {
		writes[i].table = d->table;
		CHECK_INT(write_prepare(d->arena, &writes[i], &d->err), OK);
	}
	return write_run(d->catalog, d->arena, writes, n, WRITE_TRANSACTION, token, now_ms,
			 &d->err);
}

TEST(all_is_written_at_double_cost_but_for_indexes)
{
	struct data d = data_new();
	struct write writes[2] = {
		{.kind = WRITE_PUT,
		 .item = data_item(&d, "pk", "Sa", "sk", "N1", "g", "Sx", "h", "Sy", NULL)},
		{.kind = WRITE_UPDATE,
		 .key = KEY_B(&d),
		 .update = data_update(&d, "SET v = :v", ":v", "N1", NULL)}};

	CHECK_INT(run(&d, writes, 2, NULL, 1), OK);
	CHECK_INT(data_rows(&d, NULL).n, 2);
	CHECK(writes[0].cost.base.write == 2);
	CHECK(writes[0].cost.index[ALL].write == 1);
	CHECK(writes[1].cost.base.write == 2);
	data_free(&d);
}

TEST(one_failure_cancels_all_with_a_reason_each)
{
	struct data d = data_new();
	struct write writes[3] = {
		{.kind = WRITE_PUT, .item = KEY_A(&d)},
		{.kind = WRITE_CHECK, .key = KEY_B(&d), .wants_item_on_failure = true},
		{.kind = WRITE_UPDATE,
		 .key = data_item(&d, "pk", "Sc", "sk", "N1", NULL),
		 .update = data_update(&d, "SET v = gone + :v", ":v", "N1", NULL)}};
	const struct value *present = data_item(&d, "pk", "Sb", "sk", "N1", "v", "N2", NULL);

	CHECK_INT(data_put(&d, present), OK);
	writes[1].condition = data_condition(&d, EXPR_CONDITION, "v = :v", ":v", "N3", NULL);
	CHECK_INT(run(&d, writes, 3, NULL, 1), ERR_TRANSACTION_CANCELED);
	CHECK_STR(d.err.message,
		  "Transaction cancelled, please refer cancellation reasons for specific reasons "
		  "[None, ConditionalCheckFailed, ValidationError]");
	CHECK_INT(d.err.reason_count, 3);
	CHECK_INT(d.err.reasons[0].code, OK);
	CHECK_STR(d.err.reasons[1].message, "The conditional request failed");
	CHECK(data_is(&d, d.err.reasons[1].item, present));
	CHECK_STR(d.err.reasons[2].message,
		  "The provided expression refers to an attribute that does not exist in the item");
	CHECK_INT(data_rows(&d, NULL).n, 1);
	data_free(&d);
}

TEST(a_check_writes_nothing)
{
	struct data d = data_new();
	struct write write = {.kind = WRITE_CHECK, .key = KEY_A(&d)};

	write.condition = data_condition(&d, EXPR_CONDITION, "attribute_not_exists(pk)", NULL);
	trace_store_reset(d.store);
	CHECK_INT(run(&d, &write, 1, NULL, 1), OK);
	CHECK_INT(trace_store_count(d.store, TRACE_PUT) + trace_store_count(d.store, TRACE_DEL), 0);
	CHECK(write.cost.base.write == 2);
	/* what was checked is what there is */
	CHECK_INT(data_put(&d, KEY_A(&d)), OK);
	write.condition = NULL;
	CHECK_INT(run(&d, &write, 1, NULL, 1), OK);
	CHECK(data_is(&d, write.new_image, KEY_A(&d)));
	CHECK(value_equal(&write.new_item, KEY_A(&d)));
	data_free(&d);
}

TEST(failures_of_the_store_are_no_reasons)
{
	struct data d = data_new();

	for (uint64_t n = 1; n <= 5;
	     n++) { /* begin, get_many of the version and both items, put, put, commit */
		struct write writes[2] = {{.kind = WRITE_PUT, .item = KEY_A(&d)},
					  {.kind = WRITE_PUT, .item = KEY_B(&d)}};

		trace_store_fail(d.store, n, ERR_STORE_FULL);
		CHECK_INT(run(&d, writes, 2, NULL, 1), ERR_STORE_FULL);
		trace_store_fail(d.store, 0, OK);
		CHECK_INT(data_rows(&d, NULL).n, 0);
	}
	data_free(&d);
}

static bool count_row(void *context, struct str key, struct str value)
{
	(void)key, (void)value;
	++*(uint64_t *)context;
	return true;
}

static enum code add_one(struct data *d, struct write_token *token, int64_t now_ms,
			 struct write *write)
{
	*write = (struct write){.kind = WRITE_UPDATE,
				.key = KEY_A(d),
				.update = data_update(d, "ADD v :v", ":v", "N1", NULL)};
	return run(d, write, 1, token, now_ms);
}

static bool count_is(struct data *d, const char *value)
{
	return data_is(d, data_get(d, KEY_A(d)),
		       data_item(d, "pk", "Sa", "sk", "N1", "v", value, NULL));
}

TEST(a_repeated_token_writes_once)
{
	struct data d = data_new();
	struct write_token token = {.token = STR("t"), .fingerprint = STR("f"), .expires_ms = 1000};
	struct write write;

	CHECK_INT(add_one(&d, &token, 1, &write), OK);
	CHECK(!token.was_done);
	CHECK_INT(add_one(&d, &token, 2, &write), OK);
	CHECK(token.was_done);
	CHECK(write.cost.base.read == 2 && write.cost.base.write == 0);
	CHECK(count_is(&d, "N1"));
	token.fingerprint = STR("g");
	CHECK_INT(add_one(&d, &token, 3, &write), ERR_IDEMPOTENT_MISMATCH);
	CHECK(count_is(&d, "N1"));
	data_free(&d);
}

/* Of each action its item is read, as large as it is now. */
TEST(a_repeated_token_costs_its_items)
{
	struct data d = data_new();
	struct write_token token = {.token = STR("t"), .fingerprint = STR("f"), .expires_ms = 1000};
	struct write writes[2] = {{.kind = WRITE_PUT, .item = KEY_A(&d)},
				  {.kind = WRITE_PUT,
				   .item = data_item(&d, "pk", "Sb", "sk", "N1", "v",
						     data_long(&d, 'S', 5000), NULL)}};

	CHECK_INT(run(&d, writes, 2, &token, 1), OK);
	CHECK(writes[0].cost.base.write == 2 && writes[1].cost.base.write == 10);
	CHECK_INT(run(&d, writes, 2, &token, 2), OK);
	CHECK(token.was_done);
	CHECK(writes[0].cost.base.read == 2 && writes[0].cost.base.write == 0);
	CHECK(writes[1].cost.base.read == 4 && writes[1].cost.base.write == 0);
	data_free(&d);
}

TEST(a_cancelled_transaction_leaves_no_token)
{
	struct data d = data_new();
	struct write_token token = {.token = STR("t"), .fingerprint = STR("f"), .expires_ms = 1000};
	struct write write = {.kind = WRITE_PUT, .item = KEY_A(&d)};

	write.condition = data_condition(&d, EXPR_CONDITION, "attribute_exists(pk)", NULL);
	CHECK_INT(run(&d, &write, 1, &token, 1), ERR_TRANSACTION_CANCELED);
	CHECK_INT(add_one(&d, &token, 2, &write), OK);
	CHECK(!token.was_done);
	data_free(&d);
}

TEST(an_expired_token_is_new_again)
{
	struct data d = data_new();
	struct write_token token = {.token = STR("t"), .fingerprint = STR("f"), .expires_ms = 1000};
	struct write write;

	CHECK_INT(add_one(&d, &token, 1, &write), OK);
	CHECK_INT(add_one(&d, &token, 999, &write), OK);
	CHECK(token.was_done);
	token.expires_ms = 2000;
	CHECK_INT(add_one(&d, &token, 1000, &write), OK);
	CHECK(!token.was_done);
	CHECK(count_is(&d, "N2"));
	data_free(&d);
}

/* One namespace, or all. */
struct tell {
	const char *account;
	int64_t now_ms;
};

static bool tell_one(void *context, struct ns ns, int64_t *now_ms)
{
	const struct tell *tell = context;

	*now_ms = tell->now_ms;
	return !tell->account || str_eq(ns.account, str_of(tell->account));
}

static void sweep(struct data *d, const char *account, int64_t now_ms)
{
	const struct times times = {.tell = tell_one, .context = &(struct tell){account, now_ms}};

	for (bool more = true; more;)
		CHECK_INT(token_sweep(d->catalog, &times, &more, &d->err), OK);
}

static uint64_t rows_of_tokens(struct data *d)
{
	const struct keyspace keyspaces[] = {{0, SYSTEM_TOKENS}, {0, SYSTEM_TOKEN_EXPIRY}};
	struct store_range all = {STR_ABSENT, STR_ABSENT, false};
	struct store_txn *txn;
	uint64_t n = 0;

	CHECK_INT(store_begin(d->store, STORE_READ, &txn, &d->err), OK);
	for (size_t i = 0; i < 2; i++)
		CHECK_INT(scan_rows(txn, keyspaces[i], &all, count_row, &n, &d->err), OK);
	store_abort(txn);
	return n;
}

/* The row of a token's first life must not end its second. */
TEST(a_token_used_again_survives_its_first_expiry)
{
	struct data d = data_new();
	struct write write;

	for (int i = 0; i < 20; i++) {
		struct write_token token = {.token = str_printf(d.arena, "t%02d", i),
					    .fingerprint = STR("f"),
					    .expires_ms = 1000};

		CHECK_INT(add_one(&d, &token, 1, &write), OK);
	}
	struct write_token last = {
		.token = STR("t19"), .fingerprint = STR("f"), .expires_ms = 9000};
	CHECK_INT(add_one(&d, &last, 5000, &write), OK);
	CHECK(!last.was_done);
	sweep(&d, NULL, 5001);
	CHECK_INT(add_one(&d, &last, 5002, &write), OK);
	CHECK(last.was_done);
	CHECK(count_is(&d, "N21"));
	CHECK_INT(rows_of_tokens(&d), 2);
	data_free(&d);
}

TEST(a_namespace_whose_clock_is_ahead_removes_no_other_s_tokens)
{
	struct data d = data_new();
	struct write_token one = {.token = STR("1/a/t"),
				  .space_size = 4,
				  .fingerprint = STR("f"),
				  .expires_ms = 1000};
	struct write_token two = {.token = STR("2/a/t"),
				  .space_size = 4,
				  .fingerprint = STR("f"),
				  .expires_ms = 9000};
	struct write_token more = {.token = STR("2/a/u"),
				   .space_size = 4,
				   .fingerprint = STR("f"),
				   .expires_ms = 99000};
	struct write_token older = {.token = STR("3/a/t"),
				    .fingerprint = STR("f"),
				    .expires_ms = 1000}; /* its row is as older files have it */
	struct write write;

	CHECK_INT(add_one(&d, &one, 1, &write), OK);
	CHECK_INT(add_one(&d, &older, 1, &write), OK);
	CHECK_INT(add_one(&d, &two, 5000, &write), OK);
	sweep(&d, "2", 5000);
	CHECK_INT(rows_of_tokens(&d), 6);
	sweep(&d, "", 5000);
	CHECK_INT(rows_of_tokens(&d), 4); /* the older one is gone */
	CHECK_INT(add_one(&d, &one, 999, &write), OK);
	CHECK(one.was_done);
	CHECK_INT(add_one(&d, &more, 9001, &write), OK);
	sweep(&d, "2", 9001);
	CHECK_INT(rows_of_tokens(&d), 4);
	one.expires_ms = 2000;
	CHECK_INT(add_one(&d, &one, 1001, &write), OK);
	CHECK(!one.was_done);
	sweep(&d, NULL, 100000);
	CHECK_INT(rows_of_tokens(&d), 0);
	data_free(&d);
}

/* Tokens are looked at by their keys alone: a request reads no other one, however many have
 * expired. */
TEST(a_request_meets_no_other_token)
{
	const struct keyspace keyspaces[] = {{0, SYSTEM_TOKENS}, {0, SYSTEM_TOKEN_EXPIRY}};
	struct data d = data_new();
	struct write write;

	for (int i = 0; i < 300; i++) {
		struct write_token token = {.token = str_printf(d.arena, "1/a/t%03d", i),
					    .space_size = 4,
					    .fingerprint = STR("f"),
					    .expires_ms = 1000};

		trace_store_reset(d.store);
		CHECK_INT(add_one(&d, &token, 900 + i, &write), OK);
		for (size_t k = 0; k < 2; k++) {
			CHECK_INT(trace_store_count_in(d.store, TRACE_GET, keyspaces[k]), k == 0);
			CHECK_INT(trace_store_count_in(d.store, TRACE_PUT, keyspaces[k]), 1);
			CHECK_INT(trace_store_count_in(d.store, TRACE_PAGE, keyspaces[k]) +
				  trace_store_count_in(d.store, TRACE_DEL, keyspaces[k]), 0);
		}
	}
	CHECK_INT(rows_of_tokens(&d), 600);
	sweep(&d, "1", 1001);
	CHECK_INT(rows_of_tokens(&d), 0);
	data_free(&d);
}

TEST_MAIN(TEST_CASE(all_is_written_at_double_cost_but_for_indexes),
	  TEST_CASE(one_failure_cancels_all_with_a_reason_each), TEST_CASE(a_check_writes_nothing),
	  TEST_CASE(failures_of_the_store_are_no_reasons), TEST_CASE(a_repeated_token_writes_once),
	  TEST_CASE(a_repeated_token_costs_its_items),
	  TEST_CASE(a_cancelled_transaction_leaves_no_token),
	  TEST_CASE(an_expired_token_is_new_again),
	  TEST_CASE(a_token_used_again_survives_its_first_expiry),
	  TEST_CASE(a_namespace_whose_clock_is_ahead_removes_no_other_s_tokens),
	  TEST_CASE(a_request_meets_no_other_token))
