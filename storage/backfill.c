#include "storage/backfill.h"

#include "core/image.h"
#include "storage/item_key.h"
#include "storage/messages.h"

#define ROWS_PER_STEP 256 /* rows read before their index rows are written: a scan's visitor must not write */

struct step {
	struct arena *arena;
	size_t n;
	struct str last;
	struct str images[ROWS_PER_STEP];
};

static bool collect(void *context, struct str key, struct str image)
{
	struct step *step = context;

	step->images[step->n++] = str_copy(step->arena, image);
	if (step->n < ROWS_PER_STEP)
		return true;
	step->last = str_copy(step->arena, key);
	return false;
}

static enum code add_row(struct store_txn *txn, struct arena *arena, const struct table *table, const struct index *index, struct str image,
			 struct err *err)
{
	struct value item;

	if (!image_decode(arena, image, &item))
		return err_set(err, MSG_ROW_MALFORMED);
	struct str key = item_key_in_index(arena, table, index, &item);
	if (!str_is_set(key))
		return OK;
	return store_put(txn, index_keyspace(table, index), key, item_index_image(arena, index, &item, image), err);
}

enum code backfill_index(struct store_txn *txn, struct arena *arena, const struct table *table, const struct index *index, struct err *err)
{
	struct arena *scratch = arena_new(4 * 1024 * 1024);
	struct store_range range = {STR_ABSENT, STR_ABSENT, false};
	enum code code = OK;
	bool is_done = false;

	while (!is_done && code == OK) {
		struct step step = {.arena = scratch};

		code = store_scan(txn, table_items(table), &range, collect, &step, err);
		for (size_t i = 0; i < step.n && code == OK; i++)
			code = add_row(txn, scratch, table, index, step.images[i], err);
		is_done = !str_is_set(step.last);
		if (!is_done) {
			char *low = arena_bytes(arena, step.last.n + 1); /* the next possible key */

			memcpy(low, step.last.p, step.last.n);
			low[step.last.n] = '\0';
			range.low = (struct str){low, step.last.n + 1};
		}
		arena_reset(scratch);
	}
	arena_free(scratch);
	return code;
}
