#include "server/metrics.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"

struct metrics {
	size_t ops;
	atomic_ullong counts[]; /* per operation (the last row: none) and code */
};

struct metrics *metrics_new(void)
{
	size_t rows = op_count() + 1;
	struct metrics *metrics = calloc(1, sizeof(*metrics) + rows * ERR_COUNT * sizeof(metrics->counts[0]));

	if (!metrics)
		abort();
	metrics->ops = op_count();
	return metrics;
}

void metrics_free(struct metrics *metrics)
{
	free(metrics);
}

/* Clients see names: the first code of those that have one name. */
static size_t column(enum code code)
{
	size_t first = 0;

	while (strcmp(err_info((enum code)first)->name, err_info(code)->name) != 0)
		first++;
	return first;
}

void metrics_count(struct metrics *metrics, const struct op *op, enum code code)
{
	size_t row = op ? op_number(op) : metrics->ops;

	atomic_fetch_add_explicit(&metrics->counts[row * ERR_COUNT + column(code)], 1, memory_order_relaxed);
}

struct str metrics_text(const struct metrics *metrics, struct arena *arena)
{
	struct buf out = buf_in(arena);

	buf_add_lit(&out, "# HELP dynalith_requests_total Requests by operation and outcome.\n# TYPE dynalith_requests_total counter\n");
	for (size_t row = 0; row <= metrics->ops; row++) {
		for (size_t code = 0; code < ERR_COUNT; code++) {
			unsigned long long n = atomic_load_explicit(&metrics->counts[row * ERR_COUNT + code], memory_order_relaxed);

			if (n)
				buf_printf(&out, "dynalith_requests_total{operation=\"%s\",error=\"%s\"} %llu\n",
					   row < metrics->ops ? op_name(op_at(row)) : "", err_info((enum code)code)->name, n);
		}
	}
	return buf_str(&out);
}
