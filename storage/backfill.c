#include "storage/backfill.h"

#include "core/image.h"
#include "storage/expiry.h"
#include "storage/item_key.h"
#include "storage/messages.h"

#define ROWS_PER_STEP 256 /* rows read before their index rows are written: a scan's visitor must not write */

/* What is filled: an index, or the expiry keyspace where it is NULL. */
struct fill {
	struct store_txn *txn;
	struct arena *arena; /* scratch of one step */
	const struct table *table;
	const struct index *index;
};

struct step {
	struct arena *arena;
	size_t n;
	bool is_full;
	struct str keys[ROWS_PER_STEP], images[ROWS_PER_STEP];
};

static bool collect(void *context, struct str key, struct str image)
{
	struct step *step = context;

	step->keys[step->n] = str_copy(step->arena, key);
	step->images[step->n++] = str_copy(step->arena, image);
	step->is_full = step->n == ROWS_PER_STEP;
	return !step->is_full;
}

static enum code add_index_row(const struct fill *fill, struct str image, struct err *err)
{
	struct value item;

	if (!image_decode(fill->arena, image, &item))
		return err_set(err, MSG_ROW_MALFORMED);
	struct str key = item_key_in_index(fill->arena, fill->table, fill->index, &item);
	if (!str_is_set(key))
		return OK;
	return store_put(fill->txn, index_keyspace(fill->table, fill->index), key, item_index_image(fill->arena, fill->index, &item, image), err);
}

static enum code add_expiry_row(const struct fill *fill, struct str row_key, struct str image, struct err *err)
{
	struct str row = expiry_row(fill->arena, fill->table, row_key, image);

	if (!str_is_set(row) || expiry_is_too_old(row, fill->table->ttl_changed_ms))
		return OK;
	return store_put(fill->txn, table_expiry(fill->table), row, STR("-"), err);
}

static enum code fill_from_items(struct fill *fill, struct arena *arena, struct err *err)
{
	struct store_range range = {STR_ABSENT, STR_ABSENT, false};
	enum code code = OK;
	bool is_done = false;

	while (!is_done && code == OK) {
		struct step *step = ARENA_NEW(fill->arena, struct step);

		step->arena = fill->arena;
		code = store_scan(fill->txn, table_items(fill->table), &range, collect, step, err);
		for (size_t i = 0; i < step->n && code == OK; i++)
			code = fill->index ? add_index_row(fill, step->images[i], err) : add_expiry_row(fill, step->keys[i], step->images[i], err);
		is_done = !step->is_full;
		if (!is_done) {
			struct str last = step->keys[step->n - 1];
			char *low = arena_bytes(arena, last.n + 1); /* the next possible key */

			memcpy(low, last.p, last.n);
			low[last.n] = '\0';
			range.low = (struct str){low, last.n + 1};
		}
		arena_reset(fill->arena);
	}
	return code;
}

static enum code run(struct fill *fill, struct arena *arena, struct err *err)
{
	fill->arena = arena_new(4 * 1024 * 1024);
	enum code code = fill_from_items(fill, arena, err);
	arena_free(fill->arena);
	return code;
}

enum code backfill_index(struct store_txn *txn, struct arena *arena, const struct table *table, const struct index *index, struct err *err)
{
	struct fill fill = {.txn = txn, .table = table, .index = index};

	return run(&fill, arena, err);
}

enum code backfill_expiry(struct store_txn *txn, struct arena *arena, const struct table *table, struct err *err)
{
	struct fill fill = {.txn = txn, .table = table};

	return run(&fill, arena, err);
}
