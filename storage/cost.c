#include "storage/cost.h"

struct units cost_total(const struct cost *cost)
{
	struct units total = {cost->base.read + cost->failed.read,
			      cost->base.write + cost->failed.write};

	for (size_t i = 0; i < cost->table->indexes.n; i++) {
		total.read += cost->index[i].read;
		total.write += cost->index[i].write;
	}
	return total;
}

void cost_copy(struct cost *to, const struct cost *from)
{
	to->table = from->table;
	to->base = from->base;
	to->failed = from->failed;
	for (size_t i = 0; i < from->table->indexes.n; i++) {
		to->index[i] = from->index[i];
		to->index_is_touched[i] = from->index_is_touched[i];
	}
	for (size_t i = 0; i < from->table->indexes.vector_n; i++)
		to->vector_bytes[i] = from->vector_bytes[i];
}

void cost_add(struct cost *cost, const struct cost *more)
{
	cost->base.read += more->base.read;
	cost->base.write += more->base.write;
	cost->failed.read += more->failed.read;
	cost->failed.write += more->failed.write;
	for (size_t i = 0; i < cost->table->indexes.n; i++) {
		cost->index[i].read += more->index[i].read;
		cost->index[i].write += more->index[i].write;
		cost->index_is_touched[i] = cost->index_is_touched[i] || more->index_is_touched[i];
	}
	for (size_t i = 0; i < cost->table->indexes.vector_n; i++)
		cost->vector_bytes[i] += more->vector_bytes[i];
}
