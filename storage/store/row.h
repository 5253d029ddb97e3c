/*
 * row - the only way into the bytes of a stored row: takes its fields off the front, each checked
 * against what is left.
 *
 * A row may come from a damaged file or from somebody else's, so no length and no number in it is
 * believed. A field that the row is too short for is empty or zero, and the reader says so at the
 * end: a decoder takes all its fields first and asks once. What a decoder gives out is within the
 * limits of its kind: a loop over stored numbers can add one and moves. Lint knows the ways around
 * this reader (check_rows in scripts/house.py).
 */
#ifndef DYNALITH_STORAGE_ROW_H
#define DYNALITH_STORAGE_ROW_H

#include "storage/store/store.h"

struct row_reader {
	struct str rest; /* what no field has taken yet */
	bool is_cut;     /* a field was wanted that the row does not have */
};

static inline struct row_reader row_read(struct str bytes)
{
	return (struct row_reader){bytes, false};
}

/* The next `n` bytes. */
static inline struct str row_take(struct row_reader *row, size_t n)
{
	struct str field = {row->rest.p, n};

	if (n > row->rest.n) {
		row->is_cut = true;
		return STR("");
	}
	row->rest = (struct str){n ? row->rest.p + n : row->rest.p, row->rest.n - n};
	return field;
}

/* The last `n` bytes. */
static inline struct str row_take_last(struct row_reader *row, size_t n)
{
	if (n > row->rest.n) {
		row->is_cut = true;
		return STR("");
	}
	row->rest.n -= n;
	return (struct str){n ? row->rest.p + row->rest.n : "", n};
}

/* All that is left; present, even where that is nothing. */
static inline struct str row_rest(struct row_reader *row)
{
	struct str field = row->rest.n ? row->rest : STR("");

	row->rest = STR("");
	return field;
}

/* A big-endian number of `n` bytes, 8 at most. */
static inline uint64_t row_number(struct row_reader *row, size_t n)
{
	struct str field = row_take(row, n);

	return str_be(field.p, field.n);
}

static inline uint64_t row_u64(struct row_reader *row)
{
	return row_number(row, 8);
}

static inline uint32_t row_u32(struct row_reader *row)
{
	return (uint32_t)row_number(row, 4);
}

static inline unsigned row_byte(struct row_reader *row)
{
	return (unsigned)row_number(row, 1);
}

/* A moment in milliseconds. One from beyond some million years is no moment: times are added to
 * each other without a look at their size. */
#define ROW_MS_MAX (INT64_C(1) << 55)
static inline int64_t row_ms(struct row_reader *row)
{
	int64_t ms = (int64_t)row_u64(row);

	if (ms >= -ROW_MS_MAX && ms <= ROW_MS_MAX)
		return ms;
	row->is_cut = true;
	return 0;
}

/* The number of a table. No table has the number 0, and behind each there is a next one. */
static inline uint64_t row_table(struct row_reader *row)
{
	uint64_t number = row_u64(row);

	if (number > 0 && number <= INT64_MAX)
		return number;
	row->is_cut = true;
	return 0;
}

/* What stands before the next `end`, which is taken too. */
static inline struct str row_until(struct row_reader *row, char end)
{
	const char *found = row->rest.n ? memchr(row->rest.p, end, row->rest.n) : NULL;

	if (!found) {
		row->is_cut = true;
		return STR("");
	}
	struct str field = row_take(row, (size_t)(found - row->rest.p));
	(void)row_take(row, 1);
	return field;
}

/* Whether the row had all that was taken, and nothing else. */
static inline bool row_is_whole(const struct row_reader *row)
{
	return !row->is_cut && row->rest.n == 0;
}

/* What follows the first `n` bytes; nothing where there are no more. For keys that were found by a
 * prefix of `n` bytes. */
static inline struct str row_behind(struct str bytes, size_t n)
{
	return n < bytes.n ? (struct str){bytes.p + n, bytes.n - n} : STR("");
}

/* The first `n` bytes, or all. */
static inline struct str row_first(struct str bytes, size_t n)
{
	return (struct str){bytes.p, n < bytes.n ? n : bytes.n};
}

/* The byte at `at`; -1 where there is none. */
static inline int row_at(struct str bytes, size_t at)
{
	return at < bytes.n ? (unsigned char)bytes.p[at] : -1;
}

/* The number that is the whole row, of 8 bytes. False for another row; one that is not there is 0.
 */
static inline bool row_is_number(struct str bytes, uint64_t *number)
{
	struct row_reader row = row_read(bytes);

	*number = str_is_set(bytes) ? row_u64(&row) : 0;
	return row_is_whole(&row);
}

/* As row_is_number(), for a row of decimal digits, 18 at most. */
static inline bool row_is_decimal(struct str bytes, uint64_t *number)
{
	*number = 0;
	for (size_t i = 0; i < bytes.n; i++) {
		if (row_at(bytes, i) < '0' || row_at(bytes, i) > '9')
			return false;
		*number = *number * 10 + (uint64_t)(row_at(bytes, i) - '0');
	}
	return bytes.n <= 18 && (bytes.n > 0 || !str_is_set(bytes));
}

/* Reads the row of `key` as row_is_number() does. ERR_INTERNAL where the row is no number. */
enum code row_get_number(struct store_txn *txn, struct keyspace keyspace, struct str key,
			 struct arena *arena, uint64_t *number, struct err *err) WARN_UNUSED;

/* Fails, with ERR_INTERNAL, for a row that its decoder refuses; the text names keyspace and key. */
enum code row_malformed(struct err *err, struct keyspace keyspace, struct str key) WARN_UNUSED;

/* That text, for a line about a row that is not being used: a check's. */
struct str row_name(struct arena *arena, struct keyspace keyspace, struct str key);

#endif
