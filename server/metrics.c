#include "server/metrics.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "protocol/throughput/throughput.h"
#include "server/platform/process.h"

#define SHARDS 8
#define UNITS_SCALE 1000 /* units are counted in thousandths */

/* Upper bounds, with their text in seconds; above the last is +Inf. */
static const struct {
	uint64_t ns;
	const char *le;
} bounds[] = {
	{10000, "0.00001"},  {25000, "0.000025"}, {50000, "0.00005"},  {100000, "0.0001"},
	{250000, "0.00025"}, {500000, "0.0005"},  {1000000, "0.001"},  {2500000, "0.0025"},
	{5000000, "0.005"},  {10000000, "0.01"},  {25000000, "0.025"}, {50000000, "0.05"},
	{100000000, "0.1"},  {250000000, "0.25"}, {500000000, "0.5"},  {1000000000, "1"},
	{2500000000, "2.5"}, {5000000000, "5"},   {10000000000, "10"},
};

#define BOUNDS (sizeof(bounds) / sizeof(bounds[0]))

struct histogram {
	atomic_ullong buckets[BOUNDS + 1]; /* each alone; the sums are made for the page */
	atomic_ullong sum_ns;
};

/* Of an operation; one more stands for requests that named none. */
struct row {
	atomic_ullong outcomes[ERR_COUNT];
	atomic_ullong read_units, write_units;
	struct histogram time;
};

struct shard {
	struct histogram store[TIMED_STEP_COUNT];
	struct row rows[];
};

struct metrics {
	size_t rows;
	atomic_uint threads;
	enum code columns[ERR_COUNT]; /* clients see names: the first code of those that have one
					 name */
	_Atomic(struct shard *) shards[SHARDS]; /* NULL before the first use */
};

static _Thread_local unsigned thread_number; /* from 1 */

struct metrics *metrics_new(void)
{
	struct metrics *metrics = arena_checked(calloc(1, sizeof(*metrics)));

	metrics->rows = op_count() + 1;
	for (enum code code = 0; code < ERR_COUNT; code++) {
		while (strcmp(err_info(metrics->columns[code])->name, err_info(code)->name) != 0)
			metrics->columns[code]++;
	}
	return metrics;
}

void metrics_free(struct metrics *metrics)
{
	for (size_t i = 0; i < SHARDS; i++)
		free(atomic_load(&metrics->shards[i]));
	free(metrics);
}

static void add(atomic_ullong *counter, unsigned long long n)
{
	atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

static unsigned long long read_counter(const atomic_ullong *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

/* Of two threads that make it at once, one keeps its own. */
static struct shard *make_shard(struct metrics *metrics, size_t i)
{
	struct shard *shard = arena_checked(
			     calloc(1, sizeof(struct shard) + metrics->rows * sizeof(struct row))),
		     *other = NULL;

	if (atomic_compare_exchange_strong(&metrics->shards[i], &other, shard))
		return shard;
	free(shard);
	return other;
}

static struct shard *own_shard(struct metrics *metrics)
{
	if (!thread_number)
		thread_number =
			1 + atomic_fetch_add_explicit(&metrics->threads, 1, memory_order_relaxed);
	struct shard *shard = atomic_load_explicit(&metrics->shards[thread_number % SHARDS],
						   memory_order_acquire);
	return shard ? shard : make_shard(metrics, thread_number % SHARDS);
}

static struct row *own_row(struct metrics *metrics, const struct op *op)
{
	return &own_shard(metrics)->rows[op ? op_number(op) : metrics->rows - 1];
}

static void observe(struct histogram *histogram, uint64_t ns)
{
	size_t i = 0;

	while (i < BOUNDS && ns > bounds[i].ns)
		i++;
	add(&histogram->buckets[i], 1);
	add(&histogram->sum_ns, ns);
}

void metrics_count(struct metrics *metrics, const struct op *op, enum code code)
{
	add(&own_row(metrics, op)->outcomes[metrics->columns[code]], 1);
}

void metrics_observe(struct metrics *metrics, const struct op_response *response, uint64_t ns)
{
	struct row *row = own_row(metrics, response->op);

	add(&row->outcomes[metrics->columns[response->code]], 1);
	observe(&row->time, ns);
	if (response->consumed.read > 0)
		add(&row->read_units, (unsigned long long)(response->consumed.read * UNITS_SCALE));
	if (response->consumed.write > 0)
		add(&row->write_units,
		    (unsigned long long)(response->consumed.write * UNITS_SCALE));
}

static unsigned long long count_of(const struct histogram *histogram)
{
	unsigned long long n = 0;

	for (size_t i = 0; i <= BOUNDS; i++)
		n += read_counter(&histogram->buckets[i]);
	return n;
}

uint64_t metrics_requests(const struct metrics *metrics)
{
	uint64_t n = 0;

	for (size_t i = 0; i < SHARDS; i++) {
		const struct shard *shard =
			atomic_load_explicit(&metrics->shards[i], memory_order_acquire);

		for (size_t row = 0; shard && row < metrics->rows; row++)
			n += count_of(&shard->rows[row].time);
	}
	return n;
}

void metrics_observe_store(void *context, enum timed_step step, uint64_t ns)
{
	observe(&own_shard(context)->store[step], ns);
}

/* A label of a sample; the list ends with one that has no name. */
struct label {
	const char *name;
	struct str value;
};

static void begin_family(struct buf *out, const char *name, const char *type, const char *help)
{
	buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* Prometheus: "Text-based format": backslash, quote and line feed are escaped. */
static void add_label(struct buf *out, const struct label *label)
{
	buf_printf(out, "%s=\"", label->name);
	for (size_t i = 0; i < label->value.n; i++) {
		char c = label->value.p[i];

		if (c == '\\' || c == '"' || c == '\n')
			buf_add_byte(out, '\\');
		buf_add_byte(out, (unsigned char)(c == '\n' ? 'n' : c));
	}
	buf_add_byte(out, '"');
}

static void begin_sample(struct buf *out, const char *name, const char *suffix,
			 const struct label *labels)
{
	buf_printf(out, "%s%s", name, suffix);
	for (const struct label *label = labels; label->name; label++) {
		buf_add_byte(out, label == labels ? '{' : ',');
		add_label(out, label);
	}
	if (labels->name)
		buf_add_byte(out, '}');
}

static void add_count(struct buf *out, const char *name, const char *suffix,
		      const struct label *labels, unsigned long long n)
{
	begin_sample(out, name, suffix, labels);
	buf_printf(out, " %llu\n", n);
}

static void add_number(struct buf *out, const char *name, const char *suffix,
		       const struct label *labels, double number)
{
	begin_sample(out, name, suffix, labels);
	buf_printf(out, " %.17g\n", number);
}

/* A family of one sample. */
static void add_figure(struct buf *out, const char *name, const char *type, const char *help,
		       double number)
{
	const struct label none = {0};

	begin_family(out, name, type, help);
	add_number(out, name, "", &none, number);
}

static void add_histogram(struct buf *out, const char *name, const char *label, struct str value,
			  const struct histogram *histogram)
{
	const struct label only[] = {{label, value}, {0}};
	unsigned long long n = 0;

	for (size_t i = 0; i <= BOUNDS; i++) {
		const struct label labels[] = {
			{label, value},
			{"le", i < BOUNDS ? str_of(bounds[i].le) : STR("+Inf")},
			{0}};

		n += read_counter(&histogram->buckets[i]);
		add_count(out, name, "_bucket", labels, n);
	}
	add_number(out, name, "_sum", only, (double)read_counter(&histogram->sum_ns) / 1e9);
	add_count(out, name, "_count", only, n);
}

static struct str operation(const struct metrics *metrics, size_t row)
{
	return row + 1 < metrics->rows ? str_of(op_name(op_at(row))) : STR("");
}

/* All shards in one. */
static const struct shard *merge_shards(const struct metrics *metrics, struct arena *arena)
{
	size_t size = sizeof(struct shard) + metrics->rows * sizeof(struct row),
	       n = size / sizeof(atomic_ullong);
	atomic_ullong *total = arena_calloc(arena, 1, size);

	for (size_t s = 0; s < SHARDS; s++) {
		const atomic_ullong *from = (const atomic_ullong *)atomic_load_explicit(
			&metrics->shards[s], memory_order_acquire);

		for (size_t i = 0; from && i < n; i++)
			add(&total[i], read_counter(&from[i]));
	}
	return (const struct shard *)total;
}

static void add_requests(struct buf *out, const struct metrics *metrics, const struct shard *all)
{
	begin_family(out, "dynalith_requests_total", "counter",
		     "Requests by operation and error; no error: answered with success.");
	for (size_t row = 0; row < metrics->rows; row++) {
		for (enum code code = 0; code < ERR_COUNT; code++) {
			unsigned long long n = read_counter(&all->rows[row].outcomes[code]);
			const struct label labels[] = {{"operation", operation(metrics, row)},
						       {"error", str_of(err_info(code)->name)},
						       {0}};

			if (n)
				add_count(out, "dynalith_requests_total", "", labels, n);
		}
	}
	begin_family(out, "dynalith_request_duration_seconds", "histogram",
		     "Time from a whole request to its whole answer, by operation.");
	for (size_t row = 0; row < metrics->rows; row++) {
		if (count_of(&all->rows[row].time))
			add_histogram(out, "dynalith_request_duration_seconds", "operation",
				      operation(metrics, row), &all->rows[row].time);
	}
}

static void add_capacity(struct buf *out, const struct metrics *metrics, const struct shard *all)
{
	static const char name[] = "dynalith_consumed_capacity_units_total";

	begin_family(out, name, "counter",
		     "Capacity units consumed by successful requests, by operation and kind.");
	for (size_t row = 0; row < metrics->rows; row++) {
		const struct {
			struct str kind;
			unsigned long long n;
		} units[] = {{STR("read"), read_counter(&all->rows[row].read_units)},
			     {STR("write"), read_counter(&all->rows[row].write_units)}};

		for (size_t i = 0; i < 2; i++) {
			const struct label labels[] = {{"operation", operation(metrics, row)},
						       {"kind", units[i].kind},
						       {0}};

			if (units[i].n)
				add_number(out, name, "", labels, (double)units[i].n / UNITS_SCALE);
		}
	}
}

static void add_gauges(struct buf *out, const struct metrics_gauges *gauges)
{
	const struct label build[] = {{"version", gauges->version}, {"store", gauges->store}, {0}};

	begin_family(out, "dynalith_build_info", "gauge", "Always 1.");
	add_count(out, "dynalith_build_info", "", build, 1);
	add_figure(out, "dynalith_connections", "gauge", "Open connections.",
		   (double)gauges->connections);
	add_figure(out, "dynalith_connections_max", "gauge", "Connections served at once.",
		   (double)gauges->connections_max);
	add_figure(out, "dynalith_connections_over_total", "counter",
		   "Connections that came beyond the limit.", (double)gauges->connections_over);
	add_figure(out, "dynalith_address_connections_over_total", "counter",
		   "Of these, connections that came beyond the limit of their address.",
		   (double)gauges->address_connections_over);
	add_figure(out, "dynalith_address_requests_over_total", "counter",
		   "Requests beyond the limit of their client's address.",
		   (double)gauges->address_requests_over);
	add_figure(out, "dynalith_requests_under_way", "gauge",
		   "Requests whose first line came and whose answer is not sent.",
		   (double)gauges->requests);
	add_figure(out, "dynalith_requests_shed_total", "counter",
		   "Requests answered ServiceUnavailable over a limit.",
		   (double)gauges->requests_shed);
	add_figure(
		out, "dynalith_crowded", "gauge",
		"1 while requests come, so that background work runs in small pieces with pauses.",
		gauges->is_crowded);
	add_figure(out, "dynalith_workers", "gauge", "Threads that serve connections.",
		   (double)gauges->workers);
	add_figure(out, "dynalith_requests_aside_total", "counter",
		   "Requests handed to the threads for those that take long.",
		   (double)gauges->requests_aside);
	add_figure(out, "dynalith_request_memory_bytes", "gauge",
		   "Memory held by requests under way.", (double)gauges->memory_bytes);
	add_figure(
		out, "dynalith_store_reachable", "gauge",
		"Whether the store was there when it was last tried: 0 while a database is away.",
		!gauges->misses_store);
	add_figure(out, "dynalith_unproven_memory_bytes", "gauge",
		   "The same of requests whose signature is not verified yet.",
		   (double)gauges->unproven_bytes);
	add_figure(out, "dynalith_request_memory_max_bytes", "gauge",
		   "Requests that would take more are shed.", (double)gauges->memory_max_bytes);
	add_figure(out, "dynalith_data_bytes", "gauge",
		   "Size of the data, but for what is free in it.", (double)gauges->data.used);
	add_figure(out, "dynalith_data_free_bytes", "gauge",
		   "Room that deleted data left, used again before the data grows.",
		   (double)gauges->data.free);
	add_figure(out, "dynalith_data_log_bytes", "gauge", "Size of the write-ahead log.",
		   (double)gauges->data.log);
	add_figure(out, "dynalith_data_max_bytes", "gauge",
		   "Largest size of all three; 0: no limit.", (double)gauges->data.limit);
}

/* A family of counts, each under the value that the label has for it. */
static void add_each(struct buf *out, const char *family, const char *label,
		     const char *const *names, const uint64_t *counts, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct label labels[] = {{label, str_of(names[i])}, {0}};

		add_count(out, family, "", labels, counts[i]);
	}
}

/* What is known of a database: there is none where the data is in a file or in memory. */
static void add_database(struct buf *out, const struct metrics_gauges *gauges)
{
	static const char *const failures[STORE_FAILURE_COUNT] = {
#define FAILURE(id, name) [STORE_FAILURE_##id] = name,
#include "storage/store/failures.def"
#undef FAILURE
	};
	static const char *const reasons[STORE_REASON_COUNT] = {
#define REASON(id, name, text) [STORE_REASON_##id] = name,
#include "storage/store/reasons.def"
#undef REASON
	};
	uint64_t is_reason[STORE_REASON_COUNT] = {0};

	if (!gauges->data.is_elsewhere)
		return;
	is_reason[gauges->data.reason] = 1;
	begin_family(out, "dynalith_store_failures_total", "counter",
		     "Calls of the database that failed, by reason. Conflicts are run again.");
	add_each(out, "dynalith_store_failures_total", "reason", failures, gauges->data.failures,
		 STORE_FAILURE_COUNT);
	begin_family(out, "dynalith_store_problem", "gauge",
		     "1 for the reason why the database could not be used when it was last tried.");
	add_each(out, "dynalith_store_problem", "reason", reasons + STORE_REASON_NONE + 1,
		 is_reason + STORE_REASON_NONE + 1, STORE_REASON_COUNT - STORE_REASON_NONE - 1);
}

static void add_followers(struct buf *out, const struct metrics_gauges *gauges)
{
	static const char *const ends[STORE_BEHIND_COUNT] = {
#define BEHIND(id, name) [STORE_BEHIND_##id] = name,
#include "storage/store/behind.def"
#undef BEHIND
	};

	if (!gauges->data.has_copies)
		return;
	begin_family(
		out, "dynalith_store_follower_reads_total", "counter",
		"Reads that a standby may answer, by whether it did, or why the primary had to.");
	add_each(out, "dynalith_store_follower_reads_total", "end", ends, gauges->data.behind,
		 STORE_BEHIND_COUNT);
}

static void add_throttled(struct buf *out, const struct throughput_limits *throughput)
{
	const char *reason;
	uint64_t n;

	if (!throughput)
		return;
	begin_family(out, "dynalith_throttled_total", "counter",
		     "What was refused beyond a limit of the throughput, by the reason that "
		     "clients see.");
	for (size_t i = 0; throughput_throttled(throughput, i, &reason, &n); i++) {
		const struct label labels[] = {{"reason", str_of(reason)}, {0}};

		if (n > 0)
			add_count(out, "dynalith_throttled_total", "", labels, n);
	}
}

/* By the names of Prometheus' client libraries. */
static void add_process(struct buf *out)
{
	struct process_figures process;

	process_read(&process);
	add_figure(out, "process_cpu_seconds_total", "counter", "CPU time of all threads.",
		   process.cpu_s);
	add_figure(out, "process_resident_memory_bytes", "gauge", "Memory in RAM.",
		   (double)process.resident_bytes);
	add_figure(out, "process_virtual_memory_bytes", "gauge", "Address space.",
		   (double)process.virtual_bytes);
	add_figure(out, "process_threads", "gauge", "Threads.", (double)process.threads);
	add_figure(out, "process_open_fds", "gauge", "Open files.", (double)process.files);
	add_figure(out, "process_max_fds", "gauge", "Open files at most.",
		   (double)process.files_max);
	add_figure(out, "process_start_time_seconds", "gauge", "Start, in Unix time.",
		   process.started_s);
}

struct str metrics_text(const struct metrics *metrics, const struct metrics_gauges *gauges,
			struct arena *arena)
{
	static const char *const steps[TIMED_STEP_COUNT] = {
		[TIMED_BEGIN] = "begin", [TIMED_COMMIT] = "commit"};
	const struct shard *all = merge_shards(metrics, arena);
	struct buf out = buf_in(arena);

	add_requests(&out, metrics, all);
	add_capacity(&out, metrics, all);
	begin_family(&out, "dynalith_store_write_seconds", "histogram",
		     "Writing transactions: time until the turn came, and of the commit.");
	for (size_t i = 0; i < TIMED_STEP_COUNT; i++)
		add_histogram(&out, "dynalith_store_write_seconds", "step", str_of(steps[i]),
			      &all->store[i]);
	add_gauges(&out, gauges);
	add_database(&out, gauges);
	add_followers(&out, gauges);
	add_throttled(&out, gauges->throughput);
	add_process(&out);
	return buf_str(&out);
}
