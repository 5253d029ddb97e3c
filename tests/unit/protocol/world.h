/*
 * world - tables with everything on them (indexes, streams, TTL, vectors) and requests against
 * them, for tests of what a fault leaves.
 *
 * Bodies are JSON with ' in place of ". The clock stands, and TableIds are all one (getentropy is
 * this header's), so two worlds that saw the same requests hold the same bytes.
 */
#ifndef DYNALITH_TEST_WORLD_H
#define DYNALITH_TEST_WORLD_H

#include <unistd.h>

#include "core/buf.h"
#include "protocol/op.h"
#include "protocol/tables/settings.h"
#include "storage/catalog/catalog_size.h"
#include "storage/catalog/size_rows.h"
#include "storage/upkeep/backfill.h"
#include "storage/store/sqlite/sqlite_store.h"
#include "storage/store/trace/trace_store.h"
#include "tests/unit/scan.h"
#include "tests/unit/test.h"
#include "tests/unit/times_fixture.h"

#define WORLD_NOW 1700000000000
#define WORLD_TABLES 6 /* more than any scenario makes; table 0 is the system's */
#define WORLD_PARTS 22

int getentropy(void *bytes, size_t n)
{
	memset(bytes, 0, n);
	return 0;
}

struct world {
	struct arena *arena;   /* of the world; results that are compared live here */
	struct arena *request; /* of the request under way */
	struct store *store;   /* a tracing one */
	struct service service;
	bool may_wait; /* its requests within a slice */
};

struct world_request {
	const char *op, *body;
};

static inline int64_t world_now(void *context, struct ns ns)
{
	(void)context, (void)ns;
	return WORLD_NOW;
}

static inline enum code world_let_in(void *context, struct ns *ns, struct err *err)
{
	(void)context, (void)err;
	*ns = (struct ns){STR("000000000000"), STR("us-east-1")};
	return OK;
}

/* With a slice of CPU time, whether the request ended within it. The answer lives until the next
 * call. */
static inline bool world_try(struct world *world, struct world_request request, uint64_t slice_ns,
			     struct op_response *response)
{
	arena_reset(world->request);
	size_t n = strlen(request.body);
	char *body = arena_bytes(world->request, n);
	for (size_t i = 0; i < n; i++)
		body[i] = request.body[i] == '\'' ? '"' : request.body[i];
	struct op_request wire = {
		.arena = world->request,
		.body = {body, n},
		.authenticate = world_let_in,
		.slice_ns = slice_ns,
		.may_wait = world->may_wait,
		.target = ops_target(world->request, str_of(request.op)),
	};
	return op_run(&world->service, &wire, response);
}

static inline struct op_response world_call(struct world *world, struct world_request request)
{
	struct op_response response;

	world_try(world, request, 0, &response);
	return response;
}

static const struct catalog_options world_options = {
	.settings = &settings_records, .vector_memory_bytes = 1 << 20, .rotation = {.records = 12}};

/* A catalog over a store that is there; false: it could not be opened. */
static inline bool world_open_catalog(struct world *world, struct err *err)
{
	world->service = (struct service){.now_ms = world_now};
	return catalog_open(world->store, &world_options, &world->service.catalog, err) == OK;
}

static const struct world_request world_beginning[] = {
	{"CreateTable",
	 "{'TableName':'tab','BillingMode':'PAY_PER_REQUEST','AttributeDefinitions':[{'"
	 "AttributeName':'pk','AttributeType':'S'},{'AttributeName':'sk',"
	 "'AttributeType':'N'},{'AttributeName':'g','AttributeType':'S'},{'AttributeName':'l','"
	 "AttributeType':'N'}],'KeySchema':[{'AttributeName':'pk',"
	 "'KeyType':'HASH'},{'AttributeName':'sk','KeyType':'RANGE'}],'GlobalSecondaryIndexes':[{'"
	 "IndexName':'gsi','KeySchema':[{'AttributeName':'g',"
	 "'KeyType':'HASH'}],'Projection':{'ProjectionType':'ALL'}}],'LocalSecondaryIndexes':[{'"
	 "IndexName':'lsi','KeySchema':[{'AttributeName':'pk',"
	 "'KeyType':'HASH'},{'AttributeName':'l','KeyType':'RANGE'}],'Projection':{'ProjectionType'"
	 ":'KEYS_ONLY'}}],'StreamSpecification':{"
	 "'StreamEnabled':true,'StreamViewType':'NEW_AND_OLD_IMAGES'}}"},
	{"UpdateTimeToLive",
	 "{'TableName':'tab','TimeToLiveSpecification':{'Enabled':true,'AttributeName':'ttl'}}"},
	{"PutItem", "{'TableName':'tab','Item':{'pk':{'S':'a'},'sk':{'N':'1'},'g':{'S':'x'},'l':{'"
		    "N':'5'},'n':{'N':'1'},'ttl':{'N':'1699999000'}}}"},
	{"PutItem", "{'TableName':'tab','Item':{'pk':{'S':'a'},'sk':{'N':'2'},'g':{'S':'x'},'n':{'"
		    "N':'2'},'ttl':{'N':'1800000000'}}}"},
	{"PutItem", "{'TableName':'tab','Item':{'pk':{'S':'b'},'sk':{'N':'1'},'l':{'N':'7'},'n':{'"
		    "N':'3'},'ttl':{'N':'1699999001'}}}"},
	{"CreateTable", "{'TableName':'vec','BillingMode':'PAY_PER_REQUEST','AttributeDefinitions':"
			"[{'AttributeName':'pk','AttributeType':'S'}],'KeySchema':[{"
			"'AttributeName':'pk','KeyType':'HASH'}],'VectorIndexes':[{'IndexName':'"
			"near','VectorAttribute':{'AttributeName':'v'},'Dimensions':2,"
			"'DistanceFunction':'COSINE','Projection':{'ProjectionType':'ALL'}}]}"},
	{"PutItem",
	 "{'TableName':'vec','Item':{'pk':{'S':'one'},'v':{'L':[{'N':'1'},{'N':'0'}]}}}"},
	{"PutItem",
	 "{'TableName':'vec','Item':{'pk':{'S':'two'},'v':{'L':[{'N':'0'},{'N':'1'}]}}}"},
	/* counts the sizes, which are kept in memory from then on */
	{"DescribeTable", "{'TableName':'tab'}"},
};

/* A store at `path` (NULL: in memory) as it is, synced by every commit. Aborts where it cannot be
 * opened. */
static inline struct world world_open(const char *path)
{
	struct sqlite_store_options options = {
		.path = path, .durability = DURABILITY_FULL, .readers = 1, .cache_bytes = 1 << 20};
	struct world world = {.arena = arena_new(1 << 20), .request = arena_new(1 << 20)};
	struct err err = err_in(world.arena);
	struct store *inner = NULL;

	bool is_open = sqlite_store_open(&options, &inner, &err) == OK;
	if (is_open) {
		world.store = trace_store_new(inner);
		is_open = world_open_catalog(&world, &err);
	}
	if (!is_open) {
		fprintf(stderr, STR_FMT "\n", STR_ARG(err.message));
		abort();
	}
	return world;
}

/* The same with the tables and items of the beginning. */
static inline struct world world_new(const char *path)
{
	struct world world = world_open(path);

	for (size_t i = 0; i < sizeof(world_beginning) / sizeof(world_beginning[0]); i++)
		CHECK_INT(world_call(&world, world_beginning[i]).status, 200);
	return world;
}

static inline void world_free(struct world *world)
{
	catalog_close(world->service.catalog);
	store_close(world->store);
	arena_free(world->request);
	arena_free(world->arena);
}

/* A folder with a data file, and a store of the beginning to copy it from. */
struct world_place {
	char directory[32], path[64], template[64];
};

static inline void world_remove_files(const char *path)
{
	static const char *const suffixes[] = {"", "-wal", "-shm", "-journal", "-mark", "-reserve"};
	char name[96];

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		snprintf(name, sizeof(name), "%s%s", path, suffixes[i]);
		unlink(name);
	}
}

static inline struct world_place world_place_new(void)
{
	struct world_place place = {.directory = "/tmp/dynalith-world-XXXXXX"};

	if (!mkdtemp(place.directory))
		abort();
	snprintf(place.path, sizeof(place.path), "%s/data.db", place.directory);
	snprintf(place.template, sizeof(place.template), "%s/template.db", place.directory);
	struct world world = world_new(place.template);
	world_free(&world);
	return place;
}

/* The data file is that of the beginning again. */
static inline void world_place_reset(const struct world_place *place)
{
	static char bytes[1 << 20];

	world_remove_files(place->path);
	FILE *in = fopen(place->template, "rb"), *out = fopen(place->path, "wb");
	if (!in || !out)
		abort();
	size_t n = fread(bytes, 1, sizeof(bytes), in);
	if (n == sizeof(bytes) || fwrite(bytes, 1, n, out) != n)
		abort();
	fclose(in);
	fclose(out);
}

static inline void world_place_free(const struct world_place *place)
{
	world_remove_files(place->path);
	world_remove_files(place->template);
	rmdir(place->directory);
}

#define WORLD_VERSION_SIZE 16 /* of a row of a version; behind it stands which numbers hold */

struct world_dump {
	struct buf buf;
	bool has_keys, is_counters, is_versions;
};

static inline bool world_dump_row(void *context, struct str key, struct str value)
{
	struct world_dump *dump = context;

	/* when numbers get into their rows is nothing to others */
	if (dump->is_counters && size_rows_is_key(key))
		return true;
	if (dump->is_versions && value.n > WORLD_VERSION_SIZE)
		value.n = WORLD_VERSION_SIZE;
	if (dump->has_keys) {
		buf_add_be64(&dump->buf, key.n);
		buf_add_str(&dump->buf, key);
	}
	buf_add_be64(&dump->buf, value.n);
	buf_add_str(&dump->buf, value);
	return true;
}

static inline struct str world_bytes_of(struct world *world, struct arena *arena, bool has_streams)
{
	struct store_range all = {STR_ABSENT, STR_ABSENT, false};
	struct world_dump dump = {.buf = buf_in(arena)};
	struct err err = err_in(arena);
	struct store_txn *txn;

	CHECK_INT(store_begin(world->store, STORE_READ, &txn, &err), OK);
	for (uint64_t table = 0; table < WORLD_TABLES; table++) {
		for (uint32_t part = 0; part < (table ? WORLD_PARTS : SYSTEM_PART_COUNT);
		     part += part == PART_EXPIRY && table ? PART_INDEX - PART_EXPIRY : 1) {
			if (table > 0 && part == PART_STREAM && !has_streams)
				continue;
			dump.has_keys = table == 0 || part != PART_STREAM;
			dump.is_counters = table == 0 && part == SYSTEM_COUNTERS;
			dump.is_versions = table == 0 && part == SYSTEM_VERSIONS;
			buf_printf(&dump.buf, "\n%llu/%u:", (unsigned long long)table, part);
			enum code code = scan_rows(txn, (struct keyspace){table, part}, &all,
						   world_dump_row, &dump, &err);
			CHECK(code == OK || code == ERR_RESOURCE_NOT_FOUND);
			buf_add_byte(&dump.buf, code == OK ? '+' : '-');
		}
	}
	CHECK_INT(store_commit(txn, &err), OK);
	return buf_str(&dump.buf);
}

/* Every row of every keyspace; of streams without their keys, the sequence numbers, which have gaps
 * where transactions failed. */
static inline struct str world_bytes(struct world *world, struct arena *arena)
{
	return world_bytes_of(world, arena, true);
}

/* The same without streams, whose shards begin at such numbers too. */
static inline struct str world_bytes_but_streams(struct world *world, struct arena *arena)
{
	return world_bytes_of(world, arena, false);
}

/* Does what is left to do on indexes in the background. */
static inline void world_upkeep(struct world *world)
{
	struct err err = err_in(world->request);

	for (int i = 0; i < 20; i++) {
		int64_t wait_ms;

		CHECK_INT(
			backfill_step(world->service.catalog, TIMES_AT(WORLD_NOW), &wait_ms, &err),
			OK);
		if (wait_ms > 0)
			return;
	}
	CHECK(false);
}

/* What clients see: every table described, listed, and read by its indexes. */
static inline struct str world_view(struct world *world, struct arena *arena)
{
	static const struct world_request looks[] = {
		{"ListTables", "{}"},
		{"DescribeTable", "{'TableName':'tab'}"},
		{"DescribeTable", "{'TableName':'vec'}"},
		{"DescribeTable", "{'TableName':'new'}"},
		{"DescribeTimeToLive", "{'TableName':'tab'}"},
		{"Scan", "{'TableName':'tab'}"},
		{"Scan", "{'TableName':'tab','IndexName':'gsi'}"},
		{"Scan", "{'TableName':'tab','IndexName':'lsi'}"},
		{"SearchVectors", "{'TableName':'vec','IndexName':'near','SearchVector':[{'N':'1'},"
				  "{'N':'0'}],'TopK':5}"},
	};
	struct buf buf = buf_in(arena);

	for (size_t i = 0; i < sizeof(looks) / sizeof(looks[0]); i++) {
		struct op_response response = world_call(world, looks[i]);

		CHECK(response.status < 500);
		buf_add_str(&buf, response.body);
	}
	return buf_str(&buf);
}

/* The same by a catalog that is opened again on the store: what is in memory must not differ from
 * what is stored. */
static inline struct str world_view_anew(struct world *world, struct arena *arena)
{
	struct world other = {.arena = arena, .request = arena_new(1 << 16), .store = world->store};
	struct err err = err_in(arena);

	(void)!catalog_size_flush(world->service.catalog,
				  &err); /* what ends without that has its tables counted again */
	CHECK(world_open_catalog(&other, &err));
	struct str view = world_view(&other, arena);
	catalog_close(other.service.catalog);
	arena_free(other.request);
	return view;
}

/* Requests of every kind; each changes something, reads something or is refused. */
static const struct world_scenario {
	struct world_request request;
	int status; /* without a fault */
} world_scenarios[] = {
	{{"PutItem", "{'TableName':'tab','Item':{'pk':{'S':'c'},'sk':{'N':'1'},'g':{'S':'x'},'l':{'"
		     "N':'1'},'ttl':{'N':'1800000001'}}}"},
	 200},
	{{"PutItem", "{'TableName':'tab','Item':{'pk':{'S':'a'},'sk':{'N':'1'},'g':{'S':'y'}},'"
		     "ConditionExpression':'n = :n','ExpressionAttributeValues':"
		     "{':n':{'N':'1'}},'ReturnValues':'ALL_OLD','ReturnItemCollectionMetrics':'"
		     "SIZE','ReturnConsumedCapacity':'INDEXES'}"},
	 200},
	{{"PutItem", "{'TableName':'tab','Item':{'pk':{'S':'a'},'sk':{'N':'1'}},'"
		     "ConditionExpression':'attribute_not_exists(pk)'}"},
	 400},
	{{"PutItem",
	  "{'TableName':'vec','Item':{'pk':{'S':'three'},'v':{'L':[{'N':'1'},{'N':'1'}]}}}"},
	 200},
	{{"UpdateItem", "{'TableName':'tab','Key':{'pk':{'S':'a'},'sk':{'N':'1'}},'"
			"UpdateExpression':'ADD n :n SET g = :g REMOVE l, #t',"
			"'ExpressionAttributeNames':{'#t':'ttl'},'ExpressionAttributeValues':{':n':"
			"{'N':'1'},':g':{'S':'z'}},'ReturnValues':'ALL_NEW'}"},
	 200},
	{{"UpdateItem", "{'TableName':'tab','Key':{'pk':{'S':'a'},'sk':{'N':'1'}},'"
			"UpdateExpression':'SET pk = :g','ExpressionAttributeValues':"
			"{':g':{'S':'z'}}}"},
	 400},
	{{"DeleteItem",
	  "{'TableName':'tab','Key':{'pk':{'S':'b'},'sk':{'N':'1'}},'ReturnValues':'ALL_OLD'}"},
	 200},
	{{"DeleteItem", "{'TableName':'vec','Key':{'pk':{'S':'one'}},'ConditionExpression':'"
			"attribute_exists(pk)'}"},
	 200},
	{{"BatchWriteItem",
	  "{'RequestItems':{'tab':[{'PutRequest':{'Item':{'pk':{'S':'d'},'sk':{'N':'1'},'g':{'S':'"
	  "x'}}}},{'DeleteRequest':{'Key':{'pk':"
	  "{'S':'a'},'sk':{'N':'2'}}}}],'vec':[{'PutRequest':{'Item':{'pk':{'S':'two'}}}}]}}"},
	 200},
	{{"TransactWriteItems",
	  "{'ClientRequestToken':'token','TransactItems':[{'Put':{'TableName':'tab','Item':{'pk':{'"
	  "S':'t'},'sk':{'N':'1'},'g':{'S':'x'}}}},{'Update':{"
	  "'TableName':'tab','Key':{'pk':{'S':'a'},'sk':{'N':'1'}},'UpdateExpression':'ADD n "
	  ":n','ExpressionAttributeValues':{':n':{'N':'1'}}}},{'Delete':{"
	  "'TableName':'vec','Key':{'pk':{'S':'two'}}}},{'ConditionCheck':{'TableName':'tab','Key':"
	  "{'pk':{'S':'b'},'sk':{'N':'1'}},"
	  "'ConditionExpression':'attribute_exists(pk)'}}],'ReturnConsumedCapacity':'TOTAL'}"},
	 200},
	{{"TransactWriteItems", "{'TransactItems':[{'Put':{'TableName':'tab','Item':{'pk':{'S':'t'}"
				",'sk':{'N':'1'}}}},{'ConditionCheck':{'TableName':"
				"'tab','Key':{'pk':{'S':'b'},'sk':{'N':'1'}},'ConditionExpression':"
				"'attribute_not_exists(pk)'}}]}"},
	 400},
	{{"GetItem",
	  "{'TableName':'tab','Key':{'pk':{'S':'a'},'sk':{'N':'1'}},'ConsistentRead':true}"},
	 200},
	{{"BatchGetItem", "{'RequestItems':{'tab':{'Keys':[{'pk':{'S':'a'},'sk':{'N':'1'}},{'pk':{'"
			  "S':'a'},'sk':{'N':'2'}}]},'vec':{'Keys':[{'pk':{'S':"
			  "'one'}}]}}}"},
	 200},
	{{"TransactGetItems", "{'TransactItems':[{'Get':{'TableName':'tab','Key':{'pk':{'S':'a'},'"
			      "sk':{'N':'1'}}}},{'Get':{'TableName':'vec','Key':{'pk':"
			      "{'S':'one'}}}}]}"},
	 200},
	{{"Query", "{'TableName':'tab','KeyConditionExpression':'pk = "
		   ":p','ExpressionAttributeValues':{':p':{'S':'a'}},'ScanIndexForward':false}"},
	 200},
	{{"Query", "{'TableName':'tab','IndexName':'gsi','KeyConditionExpression':'g = "
		   ":p','ExpressionAttributeValues':{':p':{'S':'x'}},'Limit':1}"},
	 200},
	{{"Query", "{'TableName':'tab','IndexName':'lsi','Select':'ALL_ATTRIBUTES','"
		   "KeyConditionExpression':'pk = :p','ExpressionAttributeValues':{':p':"
		   "{'S':'a'}}}"},
	 200},
	{{"Scan", "{'TableName':'tab','FilterExpression':'n > "
		  ":n','ExpressionAttributeValues':{':n':{'N':'1'}}}"},
	 200},
	{{"SearchVectors",
	  "{'TableName':'vec','IndexName':'near','SearchVector':[{'N':'1'},{'N':'0'}],'TopK':1}"},
	 200},
	{{"ExecuteStatement", "{'Statement':\"INSERT INTO tab VALUE {`pk`: `p`}\"}"}, 400},
	{{"ExecuteStatement",
	  "{'Statement':'UPDATE tab SET n = 9 WHERE pk = ? AND sk = 1','Parameters':[{'S':'a'}]}"},
	 200},
	{{"ExecuteStatement",
	  "{'Statement':'SELECT * FROM tab WHERE pk = ?','Parameters':[{'S':'a'}]}"},
	 200},
	{{"ExecuteTransaction",
	  "{'TransactStatements':[{'Statement':'DELETE FROM tab WHERE pk = ? AND sk = "
	  "1','Parameters':[{'S':'a'}]},{'Statement':"
	  "'UPDATE tab SET n = 9 WHERE pk = ? AND sk = 1','Parameters':[{'S':'b'}]}]}"},
	 200},
	{{"CreateTable", "{'TableName':'new','BillingMode':'PAY_PER_REQUEST','AttributeDefinitions'"
			 ":[{'AttributeName':'pk','AttributeType':'S'}],'KeySchema':"
			 "[{'AttributeName':'pk','KeyType':'HASH'}],'GlobalSecondaryIndexes':[{'"
			 "IndexName':'gsi','KeySchema':[{'AttributeName':'pk',"
			 "'KeyType':'HASH'}],'Projection':{'ProjectionType':'ALL'}}],'"
			 "StreamSpecification':{'StreamEnabled':true,'StreamViewType':"
			 "'KEYS_ONLY'},'Tags':[{'Key':'k','Value':'v'}]}"},
	 200},
	{{"UpdateTable", "{'TableName':'tab','AttributeDefinitions':[{'AttributeName':'pk','"
			 "AttributeType':'S'},{'AttributeName':'sk','AttributeType':'N'},{"
			 "'AttributeName':'g','AttributeType':'S'},{'AttributeName':'l','"
			 "AttributeType':'N'},{'AttributeName':'n','AttributeType':'N'}],"
			 "'GlobalSecondaryIndexUpdates':[{'Create':{'IndexName':'later','KeySchema'"
			 ":[{'AttributeName':'n','KeyType':'HASH'}],"
			 "'Projection':{'ProjectionType':'KEYS_ONLY'}}}]}"},
	 200},
	{{"UpdateTable",
	  "{'TableName':'tab','GlobalSecondaryIndexUpdates':[{'Delete':{'IndexName':'gsi'}}]}"},
	 200},
	{{"UpdateTable", "{'TableName':'tab','StreamSpecification':{'StreamEnabled':false}}"}, 200},
	{{"UpdateTimeToLive",
	  "{'TableName':'tab','TimeToLiveSpecification':{'Enabled':false,'AttributeName':'ttl'}}"},
	 200},
	{{"UpdateTimeToLive",
	  "{'TableName':'vec','TimeToLiveSpecification':{'Enabled':true,'AttributeName':'n'}}"},
	 200},
	{{"TagResource", "{'ResourceArn':'arn:aws:dynamodb:us-east-1:000000000000:table/"
			 "tab','Tags':[{'Key':'a','Value':'b'}]}"},
	 200},
	{{"DeleteTable", "{'TableName':'tab'}"}, 200},
	{{"DeleteTable", "{'TableName':'vec'}"}, 200},
	{{"DescribeTable", "{'TableName':'tab'}"}, 200},
	{{"ListStreams", "{'TableName':'tab'}"}, 200},
};

#define WORLD_SCENARIOS (sizeof(world_scenarios) / sizeof(world_scenarios[0]))

#endif
