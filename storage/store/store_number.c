#include "core/be.h"
#include "storage/store/row.h"
#include "storage/store/store.h"

int64_t store_number(struct str value)
{
	uint64_t number;

	return row_is_number(value, &number) ? (int64_t)number : 0;
}

struct str store_number_value(int64_t number, char *bytes)
{
	put_be64(bytes, (uint64_t)number);
	return (struct str){bytes, STORE_NUMBER_BYTES};
}
