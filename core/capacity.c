#include "core/capacity.h"

#define READ_UNIT 4096
#define WRITE_UNIT 1024

static double units(size_t size, size_t unit)
{
	size_t whole = size == 0 ? 1 : (size + unit - 1) / unit;

	return (double)whole;
}

double capacity_read(size_t size, enum read_mode mode)
{
	static const double factor[] = {
		[READ_EVENTUAL] = 0.5, [READ_CONSISTENT] = 1, [READ_TRANSACTIONAL] = 2};

	return units(size, READ_UNIT) * factor[mode];
}

double capacity_write(size_t old_size, size_t new_size, int is_transactional)
{
	return units(old_size > new_size ? old_size : new_size, WRITE_UNIT) *
	       (is_transactional ? 2 : 1);
}
