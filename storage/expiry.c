#include "storage/expiry.h"

#include "core/image.h"
#include "core/number.h"

#define TIME_SIZE 8

static struct str encode(struct arena *arena, int64_t seconds, struct str row_key)
{
	struct buf buf = buf_in(arena);

	buf_add_be64(&buf, (uint64_t)seconds);
	buf_add_str(&buf, row_key);
	return buf_str(&buf);
}

/* The whole second at which it is due: a fraction is rounded up, so that nothing expires early. */
static bool read_time(struct str number, int64_t *seconds)
{
	char whole[NUMBER_MAX];

	if (!number_to_int(number, seconds) || *seconds < 0 || *seconds == INT64_MAX)
		return false;
	if (!str_eq(number, (struct str){whole, number_from_int(*seconds, whole)}))
		*seconds += 1;
	return true;
}

struct str expiry_row(struct arena *arena, const struct table *table, struct str row_key, struct str image)
{
	struct value value;
	int64_t seconds;

	if (!table->ttl.is_enabled || !str_is_set(image) || !image_get(arena, image, table->ttl.attribute, &value))
		return STR_ABSENT;
	if (value.type != TYPE_N || !read_time(value_str(&value), &seconds))
		return STR_ABSENT;
	return encode(arena, seconds, row_key);
}

bool expiry_is_too_old(struct str row, int64_t now_ms)
{
	return (int64_t)str_be(row.p, TIME_SIZE) < now_ms / 1000 - EXPIRY_PAST_MAX_S;
}

struct str expiry_item(struct str row)
{
	return (struct str){row.p + TIME_SIZE, row.n - TIME_SIZE};
}

/*
 * An item is due from its second on. AWS says "less than the current time"; with its lag nobody can tell, and whoever turns the clock to
 * an item's time expects it gone.
 */
struct str expiry_bound(struct arena *arena, int64_t now_ms)
{
	return encode(arena, now_ms < 0 ? 0 : now_ms / 1000 + 1, STR(""));
}

#define FILL_ROWS 256          /* rows read before theirs are written: a scan's visitor must not write */
#define FILL_BYTES (256 * 1024) /* read at once: what is no time may be a large value in each of many items */

struct fill {
	struct arena *arena;
	const struct table *table;
	size_t n;
	bool is_full;
	struct str last;
	struct str rows[FILL_ROWS];
};

static bool collect(void *context, struct str key, struct str image)
{
	struct fill *fill = context;
	struct str row = expiry_row(fill->arena, fill->table, key, image);

	if (str_is_set(row) && !expiry_is_too_old(row, fill->table->ttl.changed_ms))
		fill->rows[fill->n++] = row;
	fill->is_full = fill->n == FILL_ROWS || arena_used(fill->arena) > FILL_BYTES;
	if (fill->is_full)
		fill->last = str_copy(fill->arena, key);
	return !fill->is_full;
}

enum code expiry_fill(struct store_txn *txn, struct arena *arena, const struct table *table, struct err *err)
{
	struct store_range range = {STR_ABSENT, STR_ABSENT, false};
	struct arena *scratch = arena_new(1024 * 1024);
	struct fill fill = {.is_full = true};
	enum code code = OK;

	while (fill.is_full && code == OK) {
		fill = (struct fill){.arena = scratch, .table = table};
		code = store_scan(txn, table_items(table), &range, collect, &fill, err);
		for (size_t i = 0; i < fill.n && code == OK; i++)
			code = store_put(txn, table_expiry(table), fill.rows[i], STR("-"), err);
		if (fill.is_full) {
			struct buf next = buf_in(arena); /* no key is a prefix of another, so a byte after it is the next possible one */

			buf_add_str(&next, fill.last);
			buf_add_byte(&next, 0);
			range.low = buf_str(&next);
		}
		arena_reset(scratch);
	}
	arena_free(scratch);
	return code;
}
