/*
 * scale - one to a hundred servers on one simulated PostgreSQL, in virtual time: the real write
 * path, read path, transactions and retries, and the real backend storage/store/postgresql/ down to
 * libpq. See docs/cluster.md.
 *
 *     scale [--seed N] [--part NAME]    one line of JSON for each point
 *     scale --test                     what must hold, in a few seconds
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/log.h"
#include "tests/scale/load.h"
#include "tests/simulation/child.h"

#define MS INT64_C(1000000)

static const struct database_profile profiles[] = {
#define PROFILE(name, nodes, cores, trip, flush, commit, hop, what)                                \
	{name,                                                                                     \
	 what,                                                                                     \
	 nodes,                                                                                    \
	 cores,                                                                                    \
	 (int64_t)((trip)*MS),                                                                     \
	 (int64_t)((flush)*MS),                                                                    \
	 (int64_t)((commit)*MS),                                                                   \
	 (int64_t)((hop)*MS)},
#include "tests/scale/profiles.def"
#undef PROFILE
};

enum profile_of { THIS_MACHINE, ONE, STANDBY, RANGES };

static unsigned shards; /* of the stream of the table that the process has; 0: none */

/* What the server writes to its log. */
void __wrap_log_line(enum log_level level, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void __wrap_log_line(enum log_level level, const char *format, ...)
{
	(void)level, (void)format;
}

static void answer_run(int out, const void *context)
{
	struct result result;

	load_run(context, &result);
	child_write(out, &result, sizeof(result));
}

/* In a process of its own, which has a copy of the filled table. */
static struct result run(const struct point *point)
{
	struct result result;
	int status;

	if (!child_answers(answer_run, point, &result, sizeof(result), &status)) {
		fprintf(stderr, "scale: a run ended early\n");
		exit(1);
	}
	return result;
}

static void print(const char *part, const struct point *point, const struct result *result)
{
	static const char *const names[OPERATION_COUNT] = {
		"GetItem", "PutItem", "UpdateItem", "Query20", "TransactWriteItems4",
		"mix",     "counter", "own",        "new"};

	printf("{\"part\":\"%s\",\"profile\":\"%s\",\"operation\":\"%s\",\"servers\":%u,"
	       "\"threads\":%u,\"zipf\":%.2f,\"reads\":%u,\"shards\":%u,\"requests\":%" PRIu64
	       ",\"failed\":%" PRIu64
	       ",\"seconds\":%.3f,\"rate\":%.0f,\"p50_ms\":%.2f,\"p99_ms\":%.2f,",
	       part, point->profile.name, names[point->operation], point->servers, point->threads,
	       point->zipf, point->reads, point->shards, result->counted, result->failed,
	       result->seconds, result->rate, result->p50_ms, result->p99_ms);
	printf("\"conflicts\":%.4f,\"deadlocks\":%" PRIu64 ",\"timeouts\":%" PRIu64
	       ",\"waits\":%.4f,\"lock_ms\":%.3f,\"trips\":%.2f,\"statements\":%.2f,\"flushes\":%."
	       "3f,"
	       "\"database_busy\":%.3f,\"busiest_node\":%.3f,\"server_busy\":%.3f,\"digest\":\"%"
	       "016" PRIx64 "\",\"hot\":[",
	       (double)result->conflicts / (double)result->counted, result->deadlocks,
	       result->timeouts, (double)result->waits / (double)result->counted, result->lock_ms,
	       (double)result->pipelines / (double)result->counted,
	       (double)result->statements / (double)result->counted,
	       (double)result->flushes / (double)result->counted, result->database_busy,
	       result->busiest_node, result->server_busy, result->digest);
	for (size_t i = 0; i < HOT_MAX && result->hot[i].name[0]; i++)
		printf("%s{\"row\":\"%s\",\"share\":%.3f,\"waits\":%" PRIu64 ",\"locks\":%" PRIu64
		       "}",
		       i ? "," : "", result->hot[i].name, result->hot[i].share,
		       result->hot[i].waits, result->hot[i].locks);
	printf("]}\n");
}

static unsigned requests_of(unsigned servers)
{
	return 4000 + servers * 80;
}

/* As the measurement: 16 connections and 8 threads for each server, all on the two cores of one
 * machine. */
static void run_calibration(uint64_t seed)
{
	static const unsigned servers[] = {1, 2, 4, 8};

	for (size_t i = 0; i < sizeof(servers) / sizeof(servers[0]); i++) {
		for (enum operation operation = OPERATION_GET; operation <= OPERATION_TRANSACT;
		     operation++) {
			struct point point = {.profile = profiles[THIS_MACHINE],
					      .servers = servers[i],
					      .threads = 8,
					      .clients = 16,
					      .operation = operation,
					      .warm = servers[i] * 32,
					      .requests = 4000,
					      .length_ns = 60000 * MS,
					      .seed = seed};
			struct result result = run(&point);

			print("calibration", &point, &result);
		}
	}
}

/* Skewed keys: until as many clients wait for the hot items as will in the long run. */
static unsigned warm_of(unsigned servers, double zipf)
{
	return servers * 16 * (zipf > 0 ? 40 : 6);
}

static struct point mix(enum profile_of profile, unsigned servers, double zipf, unsigned reads,
			uint64_t seed)
{
	return (struct point){.profile = profiles[profile],
			      .servers = servers,
			      .threads = 16,
			      .clients = 16,
			      .server_cores = 2,
			      .operation = OPERATION_MIX,
			      .zipf = zipf,
			      .reads = reads,
			      .shards = shards,
			      .warm = warm_of(servers, zipf),
			      .requests = requests_of(servers),
			      .length_ns = 90000 * MS,
			      .seed = seed};
}

static const unsigned many[] = {1, 2, 4, 8, 16, 32, 64, 100};
#define MANY (sizeof(many) / sizeof(many[0]))

/* Servers and the exponent, at half reads. */
static void run_zipf(uint64_t seed)
{
	static const double exponents[] = {0, 0.8, 0.99, 1.2};

	for (size_t z = 0; z < sizeof(exponents) / sizeof(exponents[0]); z++) {
		for (size_t i = 0; i < MANY; i++) {
			struct point point = mix(ONE, many[i], exponents[z], 50, seed);
			struct result result = run(&point);

			print("zipf", &point, &result);
		}
	}
}

/* Servers and the share of reads. */
static void run_reads(uint64_t seed)
{
	static const unsigned shares[] = {0, 95};

	for (size_t r = 0; r < sizeof(shares) / sizeof(shares[0]); r++) {
		for (size_t i = 0; i < MANY; i++) {
			struct point point = mix(ONE, many[i], 0.99, shares[r], seed);
			struct result result = run(&point);

			print("reads", &point, &result);
		}
	}
}

/* Servers and the way in which the database is built; unrelated keys. The first way is run_zipf's.
 */
static void run_profiles(uint64_t seed)
{
	for (enum profile_of profile = STANDBY; profile <= RANGES; profile++) {
		for (size_t i = 0; i < MANY; i++) {
			struct point point = mix(profile, many[i], 0, 50, seed);
			struct result result = run(&point);

			print("profiles", &point, &result);
		}
	}
}

/* The ends of a stream's shards, written by all. */
static void run_stream(uint64_t seed)
{
	static const unsigned some[] = {1, 4, 16, 64};

	for (enum profile_of profile = ONE; profile <= RANGES; profile++) {
		for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
			struct point point = mix(profile, some[i], 0, 0, seed);
			struct result result = run(&point);

			print(shards == 0   ? "no stream"
			      : shards == 1 ? "stream"
			      : shards == 4 ? "four shards"
					    : "sixteen shards",
			      &point, &result);
		}
	}
}

static const struct family {
	const char *name;
	unsigned shards;
	void (*run)(uint64_t seed);
} parts[] = {
	{"calibration", 0, run_calibration},
	{"zipf", 0, run_zipf},
	{"reads", 0, run_reads},
	{"profiles", 0, run_profiles},
	{"no stream", 0, run_stream},
	{"stream", 1, run_stream},
	{"four shards", 4, run_stream},
	{"sixteen shards", 16, run_stream},
};

static unsigned failures;

static void check(bool holds, const char *what, double a, double b)
{
	if (!holds)
		fprintf(stderr, "scale: %s: %g, %g\n", what, a, b);
	failures += !holds;
}

static struct point small(enum operation operation, uint64_t seed)
{
	return (struct point){.profile = profiles[ONE],
			      .servers = 6,
			      .threads = 4,
			      .clients = 4,
			      .server_cores = 2,
			      .operation = operation,
			      .zipf = 0.99,
			      .reads = 50,
			      .shards = shards,
			      .requests = 600,
			      .length_ns = 60000 * MS,
			      .seed = seed};
}

/* Writes of items of many partitions. */
static struct point spread(uint64_t seed)
{
	struct point point = small(OPERATION_MIX, seed);

	point.zipf = 0;
	point.reads = 0;
	return point;
}

struct sharded {
	unsigned n;
	uint64_t seed;
};

static void answer_rate(int out, const void *context)
{
	const struct sharded *sharded = context;

	shards = sharded->n;
	load_fill(sharded->n, sharded->seed);
	struct point point = spread(sharded->seed);
	struct result result = run(&point);

	check(result.failed == 0 && result.stream_rows == result.records_before + result.requests,
	      "records of the stream", (double)result.stream_rows, (double)result.requests);
	double rate = failures ? 0 : result.rate;
	child_write(out, &rate, sizeof(rate));
}

/* How fast different items are written, in a process of its own, with a table whose stream has so
 * many shards. */
static double rate_of_shards(unsigned n, uint64_t seed)
{
	const struct sharded sharded = {n, seed};
	double rate;
	int status;

	return child_answers(answer_rate, &sharded, &rate, sizeof(rate), &status) ? rate : 0;
}

static void test(double rate_of_four)
{
	struct point point = small(OPERATION_MIX, 1);
	struct result first = run(&point), again = run(&point);

	check(first.digest == again.digest && first.requests == again.requests,
	      "one seed, two traces", (double)first.requests, (double)again.requests);
	point.seed = 2;
	again = run(&point);
	check(first.digest != again.digest, "two seeds, one trace", 0, 0);
	check(first.failed == 0, "requests failed", (double)first.failed, 0);


	point = small(OPERATION_COUNTER, 1);
	struct result one = run(&point);
	check(one.failed == 0 && one.value == (int64_t)one.requests,
	      "updates of one item were lost", (double)one.value, (double)one.requests);
	check(one.stream_rows == one.records_before + one.requests, "records of the stream",
	      (double)one.stream_rows, (double)one.requests);
	check(one.waits > one.requests / 2, "those who raise one counter did not wait",
	      (double)one.waits, (double)one.requests);
	check(strncmp(one.hot[0].name, "items", 5) == 0, "the hottest row is not the item",
	      one.hot[0].share, 0);

	point = small(OPERATION_OWN, 1);
	struct result own = run(&point);
	check(own.rate > one.rate, "counters of their own are no faster", own.rate, one.rate);
	check(strncmp(own.hot[0].name, "stream", 6) == 0,
	      "the hottest row is not the end of the stream", own.hot[0].share, 0);

	point = spread(1);
	struct result all = run(&point);
	check(rate_of_four > 1.5 * all.rate, "four shards are hardly faster than one", rate_of_four,
	      all.rate);

	point = small(OPERATION_NEW, 1);
	struct result new = run(&point);
	check(new.conflicts > 0, "nobody met another's insert", (double)new.conflicts, 0);
	/* 24 threads put 25 items each, or one more */
	check(new.requests - new.failed >= 25 && new.requests - new.failed <= 40,
	      "items that were new", (double)(new.requests - new.failed), 25);
	printf("scale: %d passed, %u failed\n", failures == 0, failures);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"seed", required_argument, NULL, 's'},
						{"part", required_argument, NULL, 'p'},
						{"test", no_argument, NULL, 't'},
						{NULL, 0, NULL, 0}};
	const char *only = NULL;
	uint64_t seed = 1;
	bool is_test = false;

	for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
		if (option == 's')
			seed = strtoull(optarg, NULL, 10);
		else if (option == 'p')
			only = optarg;
		else if (option == 't')
			is_test = true;
		else
			return 2;
	}
	if (is_test) {
		double rate_of_four = rate_of_shards(4, seed);

		shards = 1;
		load_fill(shards, seed);
		test(rate_of_four);
		fflush(stdout);
		_exit(failures > 0); /* fibers still have what they wait with */
	}
	static const unsigned passes[] = {0, 1, 4, 16};

	for (size_t pass = 0; pass < sizeof(passes) / sizeof(passes[0]); pass++) {
		pid_t child = fork();
		if (child != 0) {
			int status;

			if (waitpid(child, &status, 0) < 0 || status != 0)
				return 1;
			continue;
		}
		shards = passes[pass];
		load_fill(shards, seed);
		for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
			if (parts[i].shards == shards &&
			    (!only || strcmp(only, parts[i].name) == 0))
				parts[i].run(seed);
		}
		fflush(stdout);
		_exit(0);
	}
	return 0;
}
