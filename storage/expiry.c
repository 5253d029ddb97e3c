#include "storage/expiry.h"

#include "core/image.h"
#include "core/number.h"
#include "storage/store/row.h"

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

struct str expiry_row(struct arena *arena, const struct table *table, struct str row_key,
		      struct str image)
{
	struct value value;
	int64_t seconds;

	if (!table->ttl.is_enabled || !str_is_set(image) ||
	    !image_get(arena, image, table->ttl.attribute, &value))
		return STR_ABSENT;
	if (value.type != TYPE_N || !read_time(value_str(&value), &seconds))
		return STR_ABSENT;
	return encode(arena, seconds, row_key);
}

bool expiry_is_too_old(struct str row, int64_t now_ms)
{
	int64_t seconds;
	struct str item;

	return expiry_read(row, &seconds, &item) && seconds < now_ms / 1000 - EXPIRY_PAST_MAX_S;
}

bool expiry_read(struct str key, int64_t *seconds, struct str *item)
{
	struct row_reader row = row_read(key);

	*seconds = (int64_t)row_u64(&row);
	*item = row_rest(&row);
	return row_is_whole(&row) && item->n > 0;
}

/*
 * An item is due from its second on. AWS says "less than the current time"; with its lag nobody can
 * tell, and whoever turns the clock to an item's time expects it gone.
 */
struct str expiry_bound(struct arena *arena, int64_t now_ms)
{
	return encode(arena, now_ms < 0 ? 0 : now_ms / 1000 + 1, STR(""));
}

enum code expiry_fill(struct store_txn *txn, struct arena *arena, const struct table *table,
		      size_t rows, struct str *from, bool *is_more, struct err *err)
{
	struct store_range range = {*from, STR_ABSENT, false};
	struct store_page page;
	enum code code =
		store_page(txn, table_items(table), &range,
			   (struct store_bounds){rows, EXPIRY_FILL_BYTES}, arena, &page, err);

	*is_more = code == OK && page.is_more;
	for (size_t i = 0; i < page.n && code == OK; i++) {
		struct str row = expiry_row(arena, table, page.v[i].key, page.v[i].value);

		if (str_is_set(row) && !expiry_is_too_old(row, table->ttl.changed_ms))
			code = store_put(txn, table_expiry(table), row, STR("-"), err);
	}
	if (*is_more) {
		store_range_after(&range, &page, arena);
		*from = range.low;
	}
	return code;
}
