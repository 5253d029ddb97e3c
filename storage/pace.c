#include "storage/pace.h"

void pace_crowd(struct pace *pace, bool is_crowded)
{
	atomic_store_explicit(&pace->is_crowded, is_crowded, memory_order_relaxed);
}

bool pace_is_crowded(const struct pace *pace)
{
	return atomic_load_explicit(&pace->is_crowded, memory_order_relaxed);
}

size_t pace_bytes(const struct pace *pace, size_t most)
{
	return pace_is_crowded(pace) && most > PACE_CROWDED_PART ? most / PACE_CROWDED_PART : most;
}

size_t pace_rows(const struct pace *pace, size_t most)
{
	size_t rows = pace_bytes(pace, most);

	return pace->rows_max > 0 && pace->rows_max < rows ? pace->rows_max : rows;
}

bool pace_next(const struct pace *pace, uint64_t *left)
{
	uint64_t size = pace_is_crowded(pace) ? 1 : PACE_CROWDED_PART;
	bool is_left = *left > 0;

	*left -= *left < size ? *left : size;
	return is_left;
}
