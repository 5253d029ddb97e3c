#include "tests/scale/load.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "protocol/op.h"
#include "protocol/tables/settings.h"
#include "server/clock.h"
#include "server/upkeep.h"
#include "storage/store/postgresql/postgresql_store.h"
#include "storage/upkeep/lease.h"
#include "tests/scale/wire.h"
#include "tests/simulation/fiber.h"
#include "tests/simulation/random.h"

#define BEGINNING_NS (INT64_C(1700000000) * 1000000000)
#define ITEMS 4000
#define PER_COLLECTION 20
#define LATENCIES 400000
#define QUEUE 64

struct server {
	struct service service;
	struct store *store;
	struct clocks *clocks;
	struct leases *leases;
	struct upkeep *upkeep;
	struct cores cores;
	int64_t waiting[QUEUE]; /* when each request came that no thread has taken; a ring */
	unsigned first, count;
};

struct thread {
	unsigned server, number;
	struct arena *arena;
	struct random random;
	uint64_t done;
};

static struct {
	struct point point;
	struct server servers[SERVERS_MAX];
	struct cores shared;
	unsigned open, running, shards;
	bool is_warm, is_counted, is_over;
	struct result result;
	uint64_t done, failed, digest, records;
	double *ranks;         /* how many of all requests go to the first so many items */
	uint32_t *latencies_us;
	int64_t start_ns, end_ns;
} load;

static enum code let_in(void *context, struct ns *ns, struct err *err)
{
	(void)context, (void)err;
	*ns = (struct ns){STR("000000000000"), STR("us-east-1")};
	return OK;
}

static struct op_response ask(struct server *server, struct arena *arena, const char *op,
			      const char *body)
{
	struct op_request request = {.arena = arena,
				     .target = str_printf(arena, "DynamoDB_20120810.%s", op),
				     .body = str_of(body),
				     .authenticate = let_in};
	struct op_response response = {0};

	op_run(&server->service, &request, &response);
	return response;
}

static void open_server(struct server *server)
{
	struct arena *arena = arena_new(0);
	struct err err = err_in(arena);
	const struct postgresql_store_options options = {.url = "",
							 .name = "the database",
							 .durability = DURABILITY_FULL,
							 .connections = 30};
	struct catalog_options catalog = {
		.settings = &settings_records,
		.vector_memory_bytes = 1 << 20,
		.has_peers = true,
		.stream_shards = load.shards,
	};

	if (postgresql_store_open(&options, &server->store, &err) != OK)
		abort();
	catalog.clocks = server->clocks = clocks_new(server->store, false);
	server->service = (struct service){.now_ms = clock_now_ms,
					   .clock_context = server->clocks,
					   .statements = partiql_cache_new()};
	if (catalog_open(server->store, &catalog, &server->service.catalog, &err) != OK)
		abort();
	server->leases = lease_open(&(struct lease_options){.store = server->store});
	server->upkeep = upkeep_new(&(struct upkeep_options){.catalog = server->service.catalog,
							     .clock = server->clocks,
							     .leases = server->leases,
							     .period_ms = 1000});
	if (!server->upkeep || !upkeep_start(server->upkeep))
		abort();
	server->service.upkeep.wake = upkeep_wake;
	server->service.upkeep.context = server->upkeep;
	arena_free(arena);
}

#define KEY "{\"PK\":{\"S\":\"CUSTOMER#%08u\"},\"SK\":{\"S\":\"ORDER#%06u\"}}"

static void raise_value(int64_t *value, struct str body)
{
	const char *at = strstr(body.p, "\"counter\":{\"N\":\"");

	*value = at ? strtoll(at + 16, NULL, 10) : 0;
}

/* As tests/bench/load.c. */
static const char *item(struct arena *arena, unsigned n)
{
	unsigned collection = n / PER_COLLECTION, order = n % PER_COLLECTION;

	return str_printf(arena,
			  "{\"PK\":{\"S\":\"CUSTOMER#%08u\"},\"SK\":{\"S\":\"ORDER#%06u\"},"
			  "\"GSI1PK\":{\"S\":\"STATUS#%08u\"},\"GSI1SK\":{\"S\":\"2026-01-%02uT00:"
			  "00:00Z#%010u\"},"
			  "\"type\":{\"S\":\"order\"},\"id\":{\"N\":\"%u\"},\"total\":{\"N\":\"%u.%"
			  "02u\"},\"paid\":{\"BOOL\":true},\"customer\":{\"M\":{\"name\":{\"S\":"
			  "\"Customer number %u\"},"
			  "\"email\":{\"S\":\"customer%u@example.com\"},\"city\":{\"S\":\"San "
			  "Francisco\"},\"zip\":{\"S\":\"94110\"}}},\"tags\":{\"SS\":[\"alpha\","
			  "\"beta\",\"gamma\"]},"
			  "\"lines\":{\"L\":[{\"N\":\"1\"},{\"N\":\"2\"},{\"S\":\"third\"}]},"
			  "\"version\":{\"N\":\"1\"},"
			  "\"note\":{\"S\":\"The quick brown fox jumps over the lazy dog, again "
			  "and again and again.\"},\"description\":{\"S\":\"Lorem ipsum dolor sit "
			  "amet, consectetur "
			  "adipiscing elit, sed do eiusmod tempor incididunt ut labore et dolore "
			  "magna aliqua. Ut enim ad minim veniam, quis nostrud exercitation "
			  "ullamco laboris.\"}}",
			  collection, order, collection, 1 + order % 28, n, n, 10 + n % 1000,
			  n % 100, collection, collection)
		.p;
}

#define INDEX(name, hash, range)                                                                   \
	"{\"IndexName\":\"" name "\",\"Projection\":{\"ProjectionType\":\"ALL\"},\"KeySchema\":["  \
	"{\"AttributeName\":\"" hash "\",\"KeyType\":\"HASH\"},{\"AttributeName\":\"" range        \
	"\",\"KeyType\":\"RANGE\"}]}"
#define STRING(name) "{\"AttributeName\":\"" name "\",\"AttributeType\":\"S\"}"

static void must(struct server *server, struct arena *arena, const char *op, const char *body)
{
	struct op_response response = ask(server, arena, op, body);

	if (response.status != 200) {
		fprintf(stderr, "scale: %s: %d " STR_FMT "\n", op, response.status,
			STR_ARG(response.body));
		exit(1);
	}
}

static void fill(void *context)
{
	(void)context;
	struct server *server = &load.servers[0];
	struct arena *arena = arena_new(1 << 20);

	open_server(server);
	const char *stream = load.shards ? ",\"StreamSpecification\":{\"StreamEnabled\":true,"
					   "\"StreamViewType\":\"NEW_AND_OLD_IMAGES\"}"
					 : "";

	/* clang-format off */
	must(server, arena, "CreateTable", str_printf(arena,
		"{\"TableName\":\"bench\",\"BillingMode\":\"PAY_PER_REQUEST\","
		"\"AttributeDefinitions\":["
		STRING("PK") "," STRING("SK") "," STRING("GSI1PK") "," STRING("GSI1SK") "],"
		"\"KeySchema\":[{\"AttributeName\":\"PK\",\"KeyType\":\"HASH\"},"
		"{\"AttributeName\":\"SK\",\"KeyType\":\"RANGE\"}],"
		"\"GlobalSecondaryIndexes\":["
		INDEX("GSI1", "GSI1PK", "GSI1SK") "," INDEX("GSI2", "SK", "GSI1SK") "]%s}",
		stream).p);
	/* clang-format on */
	for (unsigned i = 0; i < ITEMS; i++) {
		arena_reset(arena);
		must(server, arena, "PutItem",
		     str_printf(arena, "{\"TableName\":\"bench\",\"Item\":%s}", item(arena, i)).p);
	}
	arena_free(arena);
	load.open = 1;
}

/* Runs fibers until what is waited for has come. */
static void run_until(bool (*is_done)(void))
{
	while (!is_done()) {
		if (fiber_run_one())
			continue;
		int64_t due_ns = fiber_next_due();
		if (due_ns == FIBER_NEVER) {
			fprintf(stderr, "scale: all wait for each other\n");
			exit(1);
		}
		fiber_advance(due_ns - fiber_now_ns());
	}
}

static bool is_filled(void)
{
	return load.open > 0;
}

void load_fill(unsigned shards, uint64_t seed)
{
	static const struct database_profile none = {.nodes = 1, .cores = 1};

	fiber_reset(BEGINNING_NS, seed);
	database_init(&none);
	load.shards = shards;
	fiber_start(fill, NULL);
	run_until(is_filled);
}

static void open_others(void *context)
{
	(void)context;
	for (unsigned i = 1; i < load.point.servers; i++)
		open_server(&load.servers[i]);
	load.open = load.point.servers;
}

static bool are_open(void)
{
	return load.open >= load.point.servers;
}

static void rank(void)
{
	double sum = 0;

	load.ranks = arena_checked(calloc(ITEMS, sizeof(*load.ranks)));
	for (unsigned i = 0; i < ITEMS; i++)
		load.ranks[i] = sum += 1 / pow(i + 1, load.point.zipf);
	for (unsigned i = 0; i < ITEMS; i++)
		load.ranks[i] /= sum;
}

/* The items of neighbouring ranks lie apart. */
static unsigned draw_item(struct random *random)
{
	double x = (double)(random_next(random) >> 11) / (double)(UINT64_C(1) << 53);
	unsigned low = 0, high = ITEMS - 1;

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (load.ranks[middle] < x)
			low = middle + 1;
		else
			high = middle;
	}
	return low * 1009 % ITEMS;
}

/* What a request takes of the server, and of the load and the proxy where these are on the same
 * machine; measured. */
static const struct {
	const char *name;
	int64_t server_ns, load_ns;
} operations[] = {
#define OPERATION(id, name, server, load) [OPERATION_##id] = {name, server, load},
#include "tests/scale/operations.def"
#undef OPERATION
};

static enum operation draw(const struct thread *thread, struct random *random)
{
	(void)thread;
	return load.point.operation == OPERATION_MIX && random_draw(random, 100) < load.point.reads
		       ? OPERATION_GET
		       : load.point.operation;
}

static const char *transaction(struct thread *thread, unsigned first)
{
	unsigned collection = random_draw(&thread->random, ITEMS / PER_COLLECTION),
		 order = random_draw(&thread->random, 10);

	return str_printf(
		       thread->arena,
		       "{\"TransactItems\":[{\"Put\":{\"TableName\":\"bench\","
		       "\"ConditionExpression\":\"attribute_not_exists(PK)\",\"Item\":%s}},"
		       "{\"Put\":{\"TableName\":\"bench\",\"ConditionExpression\":\"attribute_not_"
		       "exists(PK)\",\"Item\":%s}},"
		       "{\"Update\":{\"TableName\":\"bench\",\"UpdateExpression\":\"SET version = "
		       "version + "
		       ":one\",\"ExpressionAttributeValues\":{\":one\":{\"N\":\"1\"}},\"Key\":" KEY
		       "}},"
		       "{\"ConditionCheck\":{\"TableName\":\"bench\",\"ConditionExpression\":"
		       "\"attribute_exists(PK)\",\"Key\":" KEY "}}]}",
		       item(thread->arena, first), item(thread->arena, first + 1), collection,
		       order, collection, 10 + order)
		.p;
}

static const char *body_of(struct thread *thread, enum operation operation)
{
	struct point *point = &load.point;
	unsigned n = point->operation == OPERATION_COUNTER ? 0
		     : point->operation == OPERATION_OWN
			     ? (thread->server * point->threads + thread->number) % ITEMS
			     : draw_item(&thread->random);
	unsigned fresh = ITEMS + (thread->server * point->threads + thread->number) * 100000 +
			 (unsigned)thread->done * 2;

	switch (operation) {
	case OPERATION_GET:
		return str_printf(thread->arena,
				  "{\"TableName\":\"bench\",\"Key\":" KEY
				  ",\"ConsistentRead\":true}",
				  n / PER_COLLECTION, n % PER_COLLECTION)
			.p;
	case OPERATION_PUT:
		return str_printf(thread->arena, "{\"TableName\":\"bench\",\"Item\":%s}",
				  item(thread->arena, fresh))
			.p;
	case OPERATION_NEW:
		return str_printf(thread->arena,
				  "{\"TableName\":\"bench\",\"ConditionExpression\":\"attribute_"
				  "not_exists(PK)\",\"Item\":%s}",
				  item(thread->arena, ITEMS + (unsigned)thread->done))
			.p;
	case OPERATION_UPDATE:
		return str_printf(thread->arena,
				  "{\"TableName\":\"bench\",\"Key\":" KEY
				  ",\"UpdateExpression\":\"SET #v = #v + :one, note = :n\","
				  "\"ConditionExpression\":\"attribute_exists(PK)\","
				  "\"ExpressionAttributeNames\":{\"#v\":\"version\"},"
				  "\"ExpressionAttributeValues\":"
				  "{\":one\":{\"N\":\"1\"},\":n\":{\"S\":\"changed by request "
				  "number %u\"}}}",
				  n / PER_COLLECTION, n % PER_COLLECTION, fresh)
			.p;
	case OPERATION_QUERY:
		return str_printf(thread->arena,
				  "{\"TableName\":\"bench\",\"KeyConditionExpression\":\"PK = :p "
				  "AND begins_with(SK, :s)\",\"ExpressionAttributeValues\":"
				  "{\":p\":{\"S\":\"CUSTOMER#%08u\"},\":s\":{\"S\":\"ORDER#\"}}}",
				  n / PER_COLLECTION)
			.p;
	case OPERATION_TRANSACT:
		return transaction(thread, fresh);
	default:
		return str_printf(
			       thread->arena,
			       "{\"TableName\":\"bench\",\"Key\":" KEY
			       ",\"UpdateExpression\":\"ADD #c :one\",\"ExpressionAttributeNames\":"
			       "{\"#c\":\"counter\"},\"ExpressionAttributeValues\":{\":one\":{"
			       "\"N\":\"1\"}}}",
			       n / PER_COLLECTION, n % PER_COLLECTION)
			.p;
	}
}

static void spend(struct cores *cores, int64_t ns)
{
	cores_take(cores);
	cores_work(cores, ns);
	cores_give(cores);
}

static void count_result(struct result *result);

/* The count ends with the last request: while those that wait for one row are still answered,
 * nothing else goes on. */
static void note(const struct thread *thread, int status, int64_t came_ns)
{
	const uint64_t words[] = {thread->server, thread->number, (uint64_t)status,
				  (uint64_t)(fiber_now_ns() - load.start_ns)};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		load.digest = (load.digest ^ words[i]) * 1099511628211u;
	if (load.done < LATENCIES)
		load.latencies_us[load.done] = (uint32_t)((fiber_now_ns() - came_ns) / 1000);
	load.done++;
	load.failed += status != 200;
	load.end_ns = fiber_now_ns();
	if (load.is_warm && !load.is_counted && load.done >= load.point.requests) {
		load.is_counted = true;
		count_result(&load.result);
	}
}

static uint64_t count_records(void)
{
	uint64_t n = 0;

	for (const struct row *row = database.rows.head->next[0]; row; row = row->next[0])
		n += row->ks >> 20 > 0 && (row->ks & 0xFFFFF) == PART_STREAM && row_now(row, NULL);
	return n;
}

/* From now on it counts: every server knows the table, and all connections are open. */
static void begin_count(void)
{
	database_forget_counts();
	wire_counts = (struct wire_counts){0};
	for (unsigned i = 0; i < NODES_MAX; i++) {
		database.cores[i].used_ns = 0;
		database.disks[i].flushes = 0;
	}
	load.shared.used_ns = 0;
	for (unsigned i = 0; i < load.point.servers; i++)
		load.servers[i].cores.used_ns = 0;
	load.done = load.failed = 0;
	load.records = count_records();
	load.start_ns = fiber_now_ns();
	load.is_warm = true;
}

static bool is_over(void)
{
	return (load.is_warm && load.done >= load.point.requests) ||
	       fiber_now_ns() >= load.start_ns + load.point.length_ns;
}

/* A thread of a server: takes the request that waits longest; its client asks again at once. */
static void work(void *context)
{
	struct thread *thread = context;
	struct server *server = &load.servers[thread->server];
	struct cores *cores = load.point.server_cores ? &server->cores : &load.shared;

	while (!is_over() && server->count > 0) {
		int64_t came_ns = server->waiting[server->first];
		enum operation operation = draw(thread, &thread->random);

		server->first = (server->first + 1) % QUEUE;
		server->count--;
		arena_reset(thread->arena);
		const char *body = body_of(thread, operation);
		spend(cores, operations[operation].server_ns / 2);
		struct op_response response =
			ask(server, thread->arena, operations[operation].name, body);
		spend(cores, operations[operation].server_ns / 2);
		if (!load.point.server_cores)
			spend(cores, operations[operation].load_ns);
		thread->done++;
		note(thread, response.status, came_ns);
		if (!load.is_warm && load.done >= load.point.warm)
			begin_count();
		server->waiting[(server->first + server->count++) % QUEUE] = fiber_now_ns();
	}
	load.running--;
}

static void start_threads(void)
{
	const struct point *point = &load.point;

	for (unsigned s = 0; s < point->servers; s++) {
		load.servers[s].cores = (struct cores){.n = point->server_cores};
		for (unsigned i = 0; i < point->clients; i++)
			load.servers[s].waiting[load.servers[s].count++] = fiber_now_ns();
		for (unsigned i = 0; i < point->threads; i++) {
			struct thread *thread = arena_checked(calloc(1, sizeof(*thread)));

			*thread = (struct thread){.server = s,
						  .number = i,
						  .arena = arena_new(1 << 14),
						  .random = {point->seed * 1000003 + s * 1009 + i}};
			fiber_start(work, thread);
			load.running++;
		}
	}
}

static bool has_ended(void)
{
	return load.running == 0;
}

static int compare_latencies(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* A row's name for readers: "table 3 items CUSTOMER#..". */
static void name_row(const struct row *row, char *name, size_t size)
{
	static const char *const system[] = {"table records", "counters", "tokens", "token expiry",
					     "versions"};
	uint64_t table = (uint64_t)row->ks >> 20, part = (uint64_t)row->ks & 0xFFFFF;
	size_t n;

	if (row->ks < 0)
		n = (size_t)snprintf(name, size, "store %d ", (int)row->ks);
	else if (table == 0)
		n = (size_t)snprintf(name, size, "%s ",
				     part < SYSTEM_PART_COUNT ? system[part] : "system");
	else
		n = (size_t)snprintf(name, size, "%s%.0d ",
				     part == PART_ITEMS    ? "items"
				     : part == PART_STREAM ? "stream"
				     : part >= PART_INDEX  ? "index "
							   : "part ",
				     part >= PART_INDEX ? (int)(part - PART_INDEX + 1) : 0);
	for (size_t i = 0; i < row->key.n && n + 1 < size && i < 48; i++) {
		char c = row->key.p[i];

		if (c > ' ' && c <= '~')
			name[n++] = c == '"' || c == '\\' ? '\'' : c;
	}
	name[n] = '\0';
}

static void note_hot(struct result *result)
{
	const struct row *top[HOT_MAX] = {NULL};

	for (const struct row *row = database.rows.head->next[0]; row; row = row->next[0]) {
		const struct row *each = row;

		result->waits += row->waits;
		for (size_t i = 0; i < HOT_MAX && each->waited_ns > 0; i++) {
			if (top[i] && top[i]->waited_ns >= each->waited_ns)
				continue;
			const struct row *other = top[i];
			top[i] = each;
			if (!other)
				break;
			each = other;
		}
	}
	for (size_t i = 0; i < HOT_MAX && top[i]; i++) {
		result->hot[i] = (struct hot){.locks = top[i]->locks,
					      .waits = top[i]->waits,
					      .share = (double)top[i]->waited_ns /
						       (double)database.lock_wait_ns};
		name_row(top[i], result->hot[i].name, sizeof(result->hot[i].name));
	}
}

static void count_result(struct result *result)
{
	const struct point *point = &load.point;
	double ns = (double)(load.end_ns - load.start_ns), used = 0;
	size_t n = load.done < LATENCIES ? load.done : LATENCIES;

	qsort(load.latencies_us, n, sizeof(*load.latencies_us), compare_latencies);
	*result = (struct result){
		.counted = load.done,
		.conflicts = database.conflicts,
		.deadlocks = database.deadlocks,
		.timeouts = database.timeouts,
		.statements = database.statements,
		.pipelines = wire_counts.pipelines,
		.seconds = ns / 1e9,
		.rate = (double)load.done / (ns / 1e9),
		.p50_ms = n ? load.latencies_us[n / 2] / 1e3 : 0,
		.p99_ms = n ? load.latencies_us[n * 99 / 100] / 1e3 : 0,
		.lock_ms =
			(double)database.lock_wait_ns / 1e6 / (double)(load.done ? load.done : 1),
	};
	for (unsigned i = 0; i < point->profile.nodes; i++) {
		double busy = (double)database.cores[i].used_ns / ns / point->profile.cores;

		result->database_busy += busy / point->profile.nodes;
		result->busiest_node = busy > result->busiest_node ? busy : result->busiest_node;
		result->flushes += database.disks[i].flushes;
	}
	for (unsigned s = 0; s < point->servers; s++)
		used += (double)load.servers[s].cores.used_ns;
	result->server_busy = point->server_cores
				      ? used / ns / point->servers / point->server_cores
				      : (double)load.shared.used_ns / ns / load.shared.n;
	note_hot(result);
}

static void look_at_end(void *context)
{
	struct result *result = context;
	struct arena *arena = arena_new(0);

	database.is_timed = false;
	raise_value(&result->value,
		    ask(&load.servers[0], arena, "GetItem",
			"{\"TableName\":\"bench\",\"Key\":{\"PK\":{\"S\":\"CUSTOMER#00000000\"},"
			"\"SK\":{\"S\":\"ORDER#000000\"}},\"ConsistentRead\":true}")
			    .body);
	result->records_before = load.records;
	result->stream_rows = count_records();
	arena_free(arena);
	load.is_over = true;
}

static bool is_looked_at(void)
{
	return load.is_over;
}

void load_run(const struct point *point, struct result *result)
{
	load.point = *point;
	load.latencies_us = arena_checked(calloc(LATENCIES, sizeof(*load.latencies_us)));
	load.digest = 14695981039346656037u;
	rank();
	fiber_start(open_others, NULL);
	run_until(are_open);
	database.profile = point->profile;
	for (unsigned i = 0; i < point->profile.nodes; i++) {
		database.cores[i] = (struct cores){.n = point->profile.cores};
		database.disks[i] = (struct disk){.flush_ns = point->profile.flush_ns};
	}
	load.shared = (struct cores){.n = point->profile.cores};
	database.shared = point->server_cores ? NULL : &load.shared;
	database_spread();
	database.is_timed = true;
	load.start_ns = load.end_ns = fiber_now_ns();
	if (point->warm == 0)
		begin_count();
	start_threads();
	run_until(has_ended);
	if (!load.is_counted)
		count_result(&load.result);
	*result = load.result;
	result->requests = load.done;
	result->failed = load.failed;
	result->digest = load.digest;
	fiber_start(look_at_end, result);
	run_until(is_looked_at);
}
