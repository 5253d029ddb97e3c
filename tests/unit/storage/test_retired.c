#include "storage/catalog/retired.h"
#include "tests/unit/test.h"

#define N 3000u

static struct table *numbered(uint64_t number)
{
	struct table *table = table_new(NULL);

	table->identity.number = number;
	return table;
}

static void check_order(const struct retired *retired)
{
	for (size_t i = 1; i < retired->n; i++)
		CHECK(retired->tables[i - 1]->identity.number < retired->tables[i]->identity.number);
}

/* Every number once, in an order that jumps. */
static uint64_t jump(unsigned i)
{
	return (uint64_t)i * 1009 % N;
}

TEST(tables_come_and_go_in_any_order)
{
	struct retired retired = {0};

	for (unsigned i = 0; i < N; i++)
		retired_put(&retired, numbered(jump(i)));
	CHECK_INT(retired.n, N);
	check_order(&retired);
	struct table *again = numbered(7);
	retired_put(&retired, again); /* in the place of the one that is there */
	CHECK_INT(retired.n, N);
	CHECK(retired.tables[7] == again);
	for (unsigned i = 0; i < N; i++) {
		if (jump(i) % 3)
			retired_remove(&retired, jump(i));
	}
	retired_remove(&retired, N + 1);
	CHECK_INT(retired.n, N / 3);
	check_order(&retired);
	retired_clear(&retired);
	CHECK_INT(retired.n, 0);
}

TEST(what_is_known_stays)
{
	struct retired known = {0}, found = {0};

	for (unsigned i = 0; i < N; i++) {
		if (i % 2)
			retired_put(&known, numbered(i));
		if (i % 3)
			retired_put(&found, numbered(i));
	}
	struct table *stays = table_ref(known.tables[2]), *goes = table_ref(known.tables[1]); /* 5 and 3 */
	retired_take(&known, &found);
	CHECK_INT(found.n, 0);
	CHECK_INT(known.n, N / 3 * 2);
	check_order(&known);
	CHECK(known.tables[3] == stays); /* 1, 2, 4, 5 */
	CHECK_INT(atomic_load(&stays->refs), 2);
	CHECK_INT(atomic_load(&goes->refs), 1);
	table_unref(stays);
	table_unref(goes);
	retired_clear(&known);
	retired_clear(&found);
}

TEST_MAIN(TEST_CASE(tables_come_and_go_in_any_order), TEST_CASE(what_is_known_stays))
