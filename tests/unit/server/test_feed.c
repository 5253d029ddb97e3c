/*
 * Two servers that read one stream under one name: every record is handed out, in order, by one of
 * them at a time; when that one dies the other goes on from the row. Bodies are JSON with ' in
 * place of ".
 */
#include "server/push/feed.h"

#include "core/buf.h"
#include "server/log.h"
#include "storage/store/trace/trace_store.h"
#include "tests/unit/protocol/service_fixture.h"
#include "tests/unit/storage/optimistic_store.h"
#include "tests/unit/test.h"

enum { A, B, SERVERS };

#define LENGTH 9000
#define BATCH 3

static int64_t real_now;
static int64_t clock_ms; /* of all namespaces */

static int64_t real_time(void)
{
	return real_now;
}

static int64_t clock_time(void *context, struct ns ns)
{
	(void)context, (void)ns;
	return clock_ms;
}

struct servers {
	struct optimistic_db *db;
	struct arena *arena;
	struct service_fixture of[SERVERS];
	struct leases *leases[SERVERS];
	struct feed feeds[SERVERS];
	struct buf read; /* the keys handed out */
};

static struct op_response call(struct servers *servers, int server, const char *op,
			       const char *body)
{
	char *text = arena_bytes(servers->arena, strlen(body) + 1);

	for (size_t i = 0; i <= strlen(body); i++)
		text[i] = body[i] == '\'' ? '"' : body[i];
	return service_fixture_call(&servers->of[server], servers->arena, str_of(op), str_of(text));
}

static void create(struct servers *servers)
{
	CHECK_INT(call(servers, A, "CreateTable",
		       "{'TableName':'tab','AttributeDefinitions':[{'AttributeName':'k','"
		       "AttributeType':'S'}],"
		       "'KeySchema':[{'AttributeName':'k','KeyType':'HASH'}],'BillingMode':'PAY_"
		       "PER_REQUEST',"
		       "'StreamSpecification':{'StreamEnabled':true,'StreamViewType':'KEYS_ONLY'}}")
			  .status,
		  200);
}

static void put(struct servers *servers, int server, const char *keys)
{
	for (; *keys; keys++) {
		const char *body = str_printf(servers->arena,
					      "{'TableName':'tab','Item':{'k':{'S':'%c'}}}", *keys)
					   .p;

		CHECK_INT(call(servers, server, "PutItem", body).status, 200);
	}
}

static void start_reader(struct servers *servers, int server, bool is_from_latest)
{
	servers->feeds[server] = (struct feed){
		.service = &servers->of[server].service,
		.leases = servers->leases[server],
		.name = STR("tab"),
		.reader = STR("http://there"),
		.lease = STR("trigger/tab"),
		.is_from_latest = is_from_latest,
	};
}

static struct servers *servers_with(uint32_t shards)
{
	struct catalog_options options = {.settings = &settings_records, .stream_shards = shards};
	struct arena *arena = arena_new(1 << 20);
	struct servers *servers = ARENA_NEW(arena, struct servers);

	real_now = 1000000;
	clock_ms = SERVICE_FIXTURE_NOW_MS;
	*servers =
		(struct servers){.db = optimistic_db_new(), .arena = arena, .read = buf_in(arena)};
	log_configure(LOG_ERROR, false);
	for (int i = 0; i < SERVERS; i++) {
		struct err err = err_in(arena);

		servers->of[i] = (struct service_fixture){
			.service = {.now_ms = clock_time},
			.store = trace_store_new(optimistic_open(servers->db))};
		CHECK_INT(catalog_open(servers->of[i].store, &options,
				       &servers->of[i].service.catalog, &err),
			  OK);
		servers->leases[i] = lease_open(&(struct lease_options){
			.store = servers->of[i].store, .length_ms = LENGTH, .now_ms = real_time});
		start_reader(servers, i, false);
	}
	create(servers);
	return servers;
}

static struct servers *servers_new(void)
{
	return servers_with(1);
}

static void servers_free(struct servers *servers)
{
	for (int i = 0; i < SERVERS; i++) {
		feed_close(&servers->feeds[i]);
		lease_close(servers->leases[i]);
		service_fixture_close(&servers->of[i]);
	}
	optimistic_db_unref(servers->db);
	arena_free(servers->arena);
}

/* The key of a record with one attribute of one letter. */
static char key_in(struct str json)
{
	struct str mark = STR("\"Keys\":{\"k\":{\"S\":\"");
	const char *at = memmem(json.p, json.n, mark.p, mark.n);

	return at ? at[mark.n] : '?';
}

/* Reads a batch of one server, as a trigger does; `dies` before it notes that it is done. False:
 * there was nothing to do, or it was not its turn. */
static bool step(struct servers *servers, int server, bool dies)
{
	struct feed *feed = &servers->feeds[server];
	struct feed_record records[BATCH];
	struct feed_batch batch = {.v = records, .limit = BATCH};

	if (!feed_find(feed, servers->arena) || !feed_read(feed, servers->arena, &batch))
		return false;
	if (batch.seen == 0)
		return feed->is_at_end && feed_go_on(feed, servers->arena);
	if (!feed_take(feed, servers->arena))
		return false;
	for (size_t i = 0; i < batch.n; i++)
		buf_add_byte(&servers->read, key_in(records[i].json));
	return dies || feed_move(feed, servers->arena, batch.next);
}

static void check_read(struct servers *servers, const char *keys)
{
	CHECK(str_eq(buf_str(&servers->read), str_of(keys)));
	if (!str_eq(buf_str(&servers->read), str_of(keys)))
		fprintf(stderr, "  read: " STR_FMT "\n", STR_ARG(buf_str(&servers->read)));
}

TEST(one_of_two_servers_reads)
{
	struct servers *servers = servers_new();

	put(servers, A, "abcd");
	CHECK(step(servers, A, false));
	CHECK(!step(servers, B, false));
	CHECK(step(servers, A, false));
	CHECK(!step(servers, A, false));
	put(servers, A, "e");
	CHECK(!step(servers, B, false));
	CHECK(step(servers, A, false));
	check_read(servers, "abcde");
	servers_free(servers);
}

TEST(the_other_goes_on_from_the_row)
{
	struct servers *servers = servers_new();

	put(servers, A, "abcdefg");
	CHECK(step(servers, A, false));
	CHECK(step(servers, A, true)); /* def are posted; it dies before it says so */
	CHECK(!step(servers, B, false));
	real_now += LENGTH;
	CHECK(step(servers, B, false));
	CHECK(step(servers, B, false));
	CHECK(!step(servers, B, false));
	check_read(servers, "abcdefdefg");
	/* the first was not dead, but slow: it sees that it is not its turn, and later that the
	 * records are read */
	CHECK(!feed_move(&servers->feeds[A], servers->arena, servers->feeds[A].at.next + 3));
	CHECK(!step(servers, A, false));
	real_now += LENGTH;
	CHECK(!step(servers, A, false));
	put(servers, A, "h");
	CHECK(step(servers, A, false));
	check_read(servers, "abcdefdefgh");
	servers_free(servers);
}

TEST(what_ends_well_is_given_back)
{
	struct servers *servers = servers_new();

	put(servers, A, "abcd");
	CHECK(step(servers, A, false));
	lease_close(servers->leases[A]);
	servers->leases[A] = NULL;
	CHECK(step(servers, B, false));
	check_read(servers, "abcd");
	servers_free(servers);
}

TEST(a_position_lasts_and_counts_before_where_reading_begins)
{
	struct servers *servers = servers_new();

	put(servers, A, "ab");
	CHECK(step(servers, A, false));
	feed_close(&servers->feeds[A]);
	start_reader(servers, A, true);
	put(servers, A, "cd");
	CHECK(step(servers, A, false));
	check_read(servers, "abcd");
	/* another reader has no position */
	feed_close(&servers->feeds[A]);
	start_reader(servers, A, true);
	servers->feeds[A].reader = STR("http://elsewhere");
	CHECK(!step(servers, A, false));
	put(servers, A, "e");
	CHECK(step(servers, A, false));
	check_read(servers, "abcde");
	servers_free(servers);
}

/* Shards, a stream that ends, one that follows it, and a table of the same name. */
TEST(from_shard_to_shard_to_stream_to_table)
{
	struct servers *servers = servers_new();
	const char *off = "{'TableName':'tab','StreamSpecification':{'StreamEnabled':false}}";
	const char *on = "{'TableName':'tab','StreamSpecification':{'StreamEnabled':true,'"
			 "StreamViewType':'NEW_IMAGE'}}";
	struct table *table;
	struct err err = err_in(servers->arena);

	put(servers, A, "ab");
	CHECK(step(servers, A, false));
	CHECK_INT(catalog_get(servers->of[A].service.catalog,
			      (struct ns){STR("000000000000"), STR("us-east-1")}, STR("tab"),
			      clock_ms, &table, &err),
		  OK);
	uint64_t number = table->identity.number;
	CHECK_INT(stream_rotate(servers->of[A].store, table, clock_ms, &err), OK);
	table_unref(table);
	put(servers, A, "cd");
	CHECK_INT(call(servers, A, "UpdateTable", off).status, 200);
	clock_ms += 3000;
	put(servers, A, "!");
	CHECK_INT(call(servers, A, "UpdateTable", on).status, 200);
	put(servers, A, "ef");
	CHECK_INT(call(servers, A, "DeleteTable", "{'TableName':'tab'}").status, 200);
	create(servers);
	put(servers, A, "gh");
	for (int i = 0; i < 20; i++)
		step(servers, A, false);
	check_read(servers, "abcdefgh");
	/* the row of the deleted table went with it */
	struct stream_position position;
	CHECK_INT(stream_position_get(servers->of[A].store, servers->arena, number,
				      STR("http://there"), &position, &err),
		  OK);
	CHECK_INT(position.stream, 0);
	/* the other one, which had not read yet, is where the first is */
	real_now += LENGTH;
	put(servers, B, "i");
	for (int i = 0; i < 5; i++)
		step(servers, B, false);
	check_read(servers, "abcdefghi");
	servers_free(servers);
}

/* AWS: records are kept for a day. */
TEST(what_is_trimmed_is_passed_over)
{
	struct servers *servers = servers_new();

	put(servers, A, "a");
	CHECK(step(servers, A, false));
	put(servers, A, "b");
	clock_ms += 2 * 86400000LL;
	put(servers, A, "c");
	for (int i = 0; i < 5; i++)
		step(servers, A, false);
	check_read(servers, "ac");
	servers_free(servers);
}

TEST(a_store_that_fails_leaves_nothing_out)
{
	struct servers *servers = servers_new();
	const char *keys = "bcdefghijklmnopqrstuvwxyz";
	struct buf once = buf_in(servers->arena);

	put(servers, A, "a");
	CHECK(step(servers, A, false));
	put(servers, A, keys);
	optimistic_db_fail(servers->db, &(struct optimistic_faults){.conflict = 200,
								    .unavailable = 200,
								    .unknown_done = 150,
								    .unknown_lost = 150,
								    .seed = 7});
	for (int i = 0; i < 400; i++) {
		step(servers, i % SERVERS, i % 5 == 0);
		real_now += LENGTH / 3;
	}
	optimistic_db_fail(servers->db, &(struct optimistic_faults){0});
	real_now += LENGTH;
	while (step(servers, B, false))
		real_now += LENGTH;
	/* in order, but for what comes again */
	for (size_t i = 0; i < servers->read.n; i++) {
		char last = once.n ? once.p[once.n - 1] : 'a' - 1;

		CHECK(servers->read.p[i] <= last + 1);
		if (servers->read.p[i] == last + 1)
			buf_add_byte(&once, servers->read.p[i]);
	}
	CHECK(str_eq(buf_str(&once), STR("abcdefghijklmnopqrstuvwxyz")));
	servers_free(servers);
}

static void rotate(struct servers *servers)
{
	struct err err = err_in(servers->arena);
	struct table *table;

	CHECK_INT(catalog_get(servers->of[A].service.catalog,
			      (struct ns){STR("000000000000"), STR("us-east-1")}, STR("tab"),
			      clock_ms, &table, &err),
		  OK);
	CHECK_INT(stream_rotate(servers->of[A].store, table, clock_ms, &err), OK);
	table_unref(table);
}

/* How often each key was read; all others never. */
static void check_times(struct servers *servers, const char *keys, unsigned least, unsigned most)
{
	unsigned times[256] = {0}, total = 0;

	for (size_t i = 0; i < servers->read.n; i++)
		times[(unsigned char)servers->read.p[i]]++;
	for (const char *key = keys; *key; key++) {
		unsigned n = times[(unsigned char)*key];

		CHECK(n >= least && n <= most);
		if (n < least || n > most)
			fprintf(stderr, "  read: %c %u times\n", *key, n);
		total += n;
	}
	CHECK_INT(total, servers->read.n);
}

/* A save that fails, by any of its calls of the store. */
#define SAVE_CALLS 5

/*
 * One call of the store fails, each time a later one. What the store does not say is not absent:
 * rows stay, so no record is left out, also by a server that would begin behind the newest record
 * if it had no row; and a record comes again only where its position could not be saved.
 */
static void read_where_calls_fail(uint32_t shards, bool is_started_again)
{
	struct servers *servers = servers_with(shards);
	const char *keys = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

	put(servers, A, "01234567");
	for (int i = 0; i < 20; i++)
		step(servers, A, false);
	servers->read.n = 0;
	for (uint64_t n = 0; keys[n]; n++) {
		if (is_started_again) {
			feed_close(&servers->feeds[A]);
			start_reader(servers, A, true);
			for (uint64_t i = 0; i < n % 3; i++)
				step(servers, A, false);
		}
		put(servers, B, (const char[]){keys[n], '\0'});
		trace_store_fail(servers->of[A].store, n + 1, ERR_STORE_UNAVAILABLE);
		for (unsigned i = 0; i < 4; i++)
			step(servers, A, false);
		trace_store_fail(servers->of[A].store, 0, OK);
		for (unsigned i = 0; i < 4; i++)
			step(servers, A, false);
		real_now += LENGTH / 2;
	}
	check_times(servers, keys, 1, SAVE_CALLS);
	servers_free(servers);
}

TEST(a_store_that_fails_is_not_a_table_that_is_gone)
{
	for (int i = 0; i < 4; i++)
		read_where_calls_fail(i % 2 ? 4 : 1, i / 2);
}

#define LETTERS "abcdefghijklmnopqrstuvwxyz"

TEST(all_shards_have_their_turns)
{
	struct servers *servers = servers_with(4);
	const char *off = "{'TableName':'tab','StreamSpecification':{'StreamEnabled':false}}";
	const char *on = "{'TableName':'tab','StreamSpecification':{'StreamEnabled':true,'"
			 "StreamViewType':'NEW_IMAGE'}}";

	put(servers, A, LETTERS);
	for (int i = 0; i < 6; i++)
		step(servers, A, false);
	CHECK(!step(servers, B, false)); /* it knows which table it is by now */
	rotate(servers);
	put(servers, A, "ABCDEFGHIJKLM");
	rotate(servers);
	rotate(servers);
	put(servers, A, "NOPQRSTUVWXYZ");
	CHECK_INT(call(servers, A, "UpdateTable", off).status, 200);
	clock_ms += 3000;
	put(servers, A, "!");
	CHECK_INT(call(servers, A, "UpdateTable", on).status, 200);
	put(servers, A, "01234");
	for (int i = 0; i < 20; i++)
		step(servers, A, false);
	CHECK_INT(call(servers, A, "DeleteTable", "{'TableName':'tab'}").status, 200);
	create(servers);
	put(servers, A, "56789");
	real_now += LENGTH;
	for (int i = 0; i < 80; i++) /* it was another one's turn; goes on from its rows */
		step(servers, B, false);
	check_times(servers, LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", 1, 1);
	servers_free(servers);
}

TEST(a_reader_of_what_is_new_reads_none_of_what_was_before_in_any_shard)
{
	struct servers *servers = servers_with(4);

	put(servers, A, LETTERS);
	for (int i = 0; i < SERVERS; i++)
		servers->feeds[i].is_from_latest = true;
	CHECK(!step(servers, A, false));
	CHECK(!step(servers, B, false));
	put(servers, A, "0123456789");
	for (int i = 0; i < 20; i++)
		step(servers, i < 3 ? A : B, false);
	real_now += LENGTH;
	for (int i = 0; i < 20; i++)
		step(servers, B, false);
	check_times(servers, "0123456789", 1, 1);
	servers_free(servers);
}

TEST(a_store_that_fails_leaves_nothing_out_of_any_shard)
{
	struct servers *servers = servers_with(4);

	put(servers, A, LETTERS);
	rotate(servers);
	put(servers, A, "0123456789");
	optimistic_db_fail(servers->db, &(struct optimistic_faults){.conflict = 200,
								    .unavailable = 200,
								    .unknown_done = 150,
								    .unknown_lost = 150,
								    .seed = 7});
	for (int i = 0; i < 400; i++) {
		step(servers, i % SERVERS, i % 5 == 0);
		real_now += LENGTH / 3;
	}
	optimistic_db_fail(servers->db, &(struct optimistic_faults){0});
	for (int i = 0; i < 60; i++) {
		step(servers, B, false);
		real_now += LENGTH;
	}
	check_times(servers, LETTERS "0123456789", 1, 1000);
	servers_free(servers);
}

TEST_MAIN(TEST_CASE(one_of_two_servers_reads), TEST_CASE(the_other_goes_on_from_the_row),
	  TEST_CASE(what_ends_well_is_given_back),
	  TEST_CASE(a_position_lasts_and_counts_before_where_reading_begins),
	  TEST_CASE(from_shard_to_shard_to_stream_to_table),
	  TEST_CASE(what_is_trimmed_is_passed_over),
	  TEST_CASE(a_store_that_fails_leaves_nothing_out),
	  TEST_CASE(a_store_that_fails_is_not_a_table_that_is_gone),
	  TEST_CASE(all_shards_have_their_turns),
	  TEST_CASE(a_reader_of_what_is_new_reads_none_of_what_was_before_in_any_shard),
	  TEST_CASE(a_store_that_fails_leaves_nothing_out_of_any_shard))
