#include "storage/store/postgresql/scan.h"

#include "storage/store/postgresql/long_key.h"
#include "storage/store/row.h"

/* Above every k: none is longer than that of a long key. */
#define TOP_BYTES (LONG_KEY_PREFIX + 40)

/* Long keys with the same beginning, by the rests from low to high (exclusive; absent: all behind).
 */
struct family {
	struct str key; /* absent: none */
	struct str low, high;
};

/* What is left of a range: a family, the keys between, and another family. */
struct rest {
	struct family first, last;
	struct str low, high; /* of k */
};

static struct str top(struct arena *arena)
{
	char *bytes = arena_bytes(arena, TOP_BYTES);

	memset(bytes, 0xFF, TOP_BYTES);
	return (struct str){bytes, TOP_BYTES};
}

static bool are_kin(struct str a, struct str b)
{
	return long_key_is(a) && long_key_is(b) &&
	       str_eq(row_first(a, LONG_KEY_PREFIX), row_first(b, LONG_KEY_PREFIX));
}

static struct rest rest_of_range(struct arena *arena, const struct store_range *range)
{
	struct str low = str_is_set(range->low) ? range->low : STR(""), high = range->high;
	bool is_one = are_kin(low, high);
	struct family of_low = {STR_ABSENT, STR(""), STR_ABSENT}, of_high = of_low;

	if (long_key_is(low))
		of_low = (struct family){low, long_key_rest(low),
					 is_one ? long_key_rest(high) : STR_ABSENT};
	if (long_key_is(high) && !is_one)
		of_high = (struct family){high, STR(""), long_key_rest(high)};
	return (struct rest){
		.first = range->is_reverse ? of_high : of_low,
		.last = range->is_reverse ? of_low : of_high,
		.low = long_key_is(low) ? long_key_behind(arena, low) : low,
		.high = !str_is_set(high)   ? top(arena)
			: long_key_is(high) ? long_key_family(arena, high)
					    : high,
	};
}

static struct store_row scan_row(const struct scan *scan, int row)
{
	struct long_key columns = {link_column(scan->link, scan->link->result_count - 1, row, 0),
				   link_column(scan->link, scan->link->result_count - 1, row, 1)};

	return (struct store_row){
		long_key_join(scan->arena, columns),
		str_copy(scan->arena,
			 link_column(scan->link, scan->link->result_count - 1, row, 2))};
}

static enum code read_family(const struct scan *scan, const struct family *family,
			     struct store_row *rows, size_t *n, struct err *err)
{
	static const enum statement kinds[2][2] = {
		{STATEMENT_LONG_FORWARD, STATEMENT_LONG_REVERSE},
		{STATEMENT_LONG_FORWARD_LOCKED, STATEMENT_LONG_REVERSE_LOCKED}};
	struct link_number ks, limit;
	const struct str values[] = {
		link_number(&ks, scan->ks),
		long_key_family(scan->arena, family->key),
		long_key_behind(scan->arena, family->key),
		family->low,
		family->high,
		link_number(&limit, (int64_t)(scan->limit - *n)),
	};

	link_send(scan->link, kinds[scan->is_locked][scan->range->is_reverse], values, 6);
	enum code code = link_wait(scan->link, err);
	if (code != OK)
		return code;
	for (int i = 0; i < link_rows(scan->link, scan->link->result_count - 1); i++)
		rows[(*n)++] = scan_row(scan, i);
	return OK;
}

/* Rows between two families, up to the first long key: *kin is that one, or absent. */
static enum code read_plain_rows(const struct scan *scan, const struct rest *rest,
				 struct store_row *rows, size_t *n, struct str *kin,
				 struct err *err)
{
	static const enum statement kinds[2][2] = {
		{STATEMENT_FORWARD, STATEMENT_REVERSE},
		{STATEMENT_FORWARD_LOCKED, STATEMENT_REVERSE_LOCKED}};
	struct link_number ks, limit;
	const struct str values[] = {link_number(&ks, scan->ks), rest->low, rest->high,
				     link_number(&limit, (int64_t)(scan->limit - *n))};

	*kin = STR_ABSENT;
	link_send(scan->link, kinds[scan->is_locked][scan->range->is_reverse], values, 4);
	enum code code = link_wait(scan->link, err);
	if (code != OK)
		return code;
	for (int i = 0; i < link_rows(scan->link, scan->link->result_count - 1); i++) {
		struct store_row row = scan_row(scan, i);

		if (long_key_is(row.key)) {
			*kin = row.key;
			break;
		}
		rows[(*n)++] = row;
	}
	return OK;
}

/* The middle of the range: plain rows, and each family that they lead to. */
static enum code read_middle(const struct scan *scan, struct rest *rest, struct store_row *rows,
			     size_t *n, struct err *err)
{
	struct str kin = STR("");

	while (str_is_set(kin) && *n < scan->limit && str_cmp(rest->low, rest->high) < 0) {
		enum code code = read_plain_rows(scan, rest, rows, n, &kin, err);
		if (code != OK)
			return code;
		if (!str_is_set(kin))
			continue;
		code = read_family(scan, &(struct family){kin, STR(""), STR_ABSENT}, rows, n, err);
		if (scan->range->is_reverse)
			rest->high = long_key_family(scan->arena, kin);
		else
			rest->low = long_key_behind(scan->arena, kin);
		if (code != OK)
			return code;
	}
	return OK;
}

static enum code read_parts(const struct scan *scan, struct rest *rest, struct store_row *rows,
			    size_t *n, struct err *err)
{
	enum code code =
		str_is_set(rest->first.key) ? read_family(scan, &rest->first, rows, n, err) : OK;

	if (code != OK || *n >= scan->limit)
		return code;
	code = read_middle(scan, rest, rows, n, err);
	if (code != OK || *n >= scan->limit || !str_is_set(rest->last.key))
		return code;
	return read_family(scan, &rest->last, rows, n, err);
}

enum code scan_rows(const struct scan *scan, struct store_row *rows, size_t *n, bool *is_end,
		    struct err *err)
{
	struct rest rest = rest_of_range(scan->arena, scan->range);
	enum code code = OK;

	*n = 0;
	if (!str_is_set(scan->range->high) ||
	    str_cmp(str_is_set(scan->range->low) ? scan->range->low : STR(""), scan->range->high) <
		    0)
		code = read_parts(scan, &rest, rows, n, err);
	*is_end = *n < scan->limit;
	return code;
}

void scan_range_values(struct arena *arena, struct str ks, struct str low, struct str high,
		       struct str values[7])
{
	if (!str_is_set(low))
		low = STR("");
	values[0] = ks;
	values[1] = long_key_is(low) ? long_key_family(arena, low) : low;
	values[2] = !str_is_set(high)   ? top(arena)
		    : long_key_is(high) ? long_key_behind(arena, high)
					: high;
	values[3] = long_key_is(low) ? long_key_behind(arena, low) : STR_ABSENT;
	values[4] = long_key_is(low) ? long_key_rest(low) : STR_ABSENT;
	values[5] = long_key_is(high) ? long_key_family(arena, high) : STR_ABSENT;
	values[6] = long_key_is(high) ? long_key_rest(high) : STR_ABSENT;
}
