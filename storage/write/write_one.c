#include "core/capacity.h"
#include "core/expr_messages.h"
#include "core/image.h"
#include "storage/item_key.h"
#include "storage/messages.h"
#include "storage/store/row.h"
#include "storage/stream/stream.h"
#include "storage/vector/vector_row.h"
#include "storage/write/write_internal.h"

#define IMAGE_USUAL 1024  /* bytes set aside for an image; more are found as they are needed */

/* A too large item has none: nothing bounds how large an update's would be. */
static bool image_of(struct arena *arena, const struct value *item, struct str *image)
{
	size_t size = item_size(item);
	struct buf buf = buf_in(arena);

	if (size > ITEM_SIZE_MAX)
		return false;
	buf_reserve(&buf, IMAGE_USUAL);
	image_encode_sized(item, size, &buf);
	*image = buf_str(&buf);
	return true;
}

enum code write_prepare(struct arena *arena, struct write *write, struct err *err)
{
	if (write->kind != WRITE_PUT)
		return item_key_of_key(arena, write->table, write->key, &write->row_key, err);
	struct item_words words = {write->is_batch ? ITEM_BATCH_PUT : ITEM_PUT,
				   write->is_global_first};
	enum code code =
		item_key_of_item(arena, write->table, write->item, words, &write->row_key, err);
	if (code != OK)
		return code;
	code = vector_row_check(write->table, write->item, NULL, false, err);
	if (code != OK)
		return code;
	return image_of(arena, write->item, &write->item_image) ? OK : err_set(err, MSG_ITEM_SIZE);
}

/* What a write's expressions make of an old item. */
struct write_thought {
	bool is_made;
	struct str old_image;
	struct value old_item, new_item;
	struct str new_image;
	enum code code;
	struct err err;
};

struct write_thought *write_thought_new(struct arena *arena)
{
	return ARENA_NEW(arena, struct write_thought);
}

static bool is_old_needed(const struct write *write)
{
	return write->kind == WRITE_UPDATE || table_index_total(write->table) > 0;
}

/* Whether the item still is what it was when its expressions were evaluated. */
static bool is_thought_out(const struct write *write)
{
	const struct write_thought *thought = write->thought;

	return thought && thought->is_made &&
	       str_is_set(thought->old_image) == str_is_set(write->old_image) &&
	       (!str_is_set(write->old_image) || str_eq(thought->old_image, write->old_image));
}

/* Of the old image, which has been read. */
static enum code begin_one(struct write_step *step, struct err *err)
{
	struct write *write = step->write;

	write->old_item = is_thought_out(write) ? write->thought->old_item : VALUE_NONE;
	write->new_item = VALUE_NONE;
	write->new_image = STR_ABSENT;
	write->cost = (struct cost){.table = write->table};
	if (str_is_set(write->old_image) && is_old_needed(write) &&
	    !value_is_set(&write->old_item) &&
	    !image_decode(step->arena, write->old_image, &write->old_item))
		return row_malformed(err, table_items(write->table), write->row_key);
	return OK;
}

static enum code check_write_condition(struct write_step *step, struct err *err)
{
	struct write *write = step->write;
	struct subject subject = {step->arena,
				  value_is_set(&write->old_item) ? &write->old_item : NULL,
				  write->old_image};

	if (!write->condition)
		return OK;
	bool holds = expr_eval(write->condition, &subject);
	enum code code = err_if_over(step->arena, err);
	if (holds || code != OK)
		return code;
	code = err_default(err, ERR_CONDITIONAL_CHECK_FAILED);
	if (write->wants_item_on_failure)
		err->item = write->old_image;
	return code;
}

static enum code apply_update(struct write_step *step, const struct value *base,
			      const struct value *old, struct err *err)
{
	struct write *write = step->write;
	struct item_words words = {ITEM_UPDATE, write->is_global_first};
	enum code code = expr_update(write->update, step->arena, base, &write->new_item, err);

	if (code != OK)
		return code;
	code = item_key_of_item(step->arena, write->table, &write->new_item, words, NULL, err);
	return code == OK ? vector_row_check(write->table, &write->new_item, old, true, err) : code;
}

/* The new item of an update: of the old one, or of the key alone. None where there is no old one
 * and the update only takes away. */
static enum code make_updated(struct write_step *step, struct err *err)
{
	struct write *write = step->write;
	const struct value *old = value_is_set(&write->old_item) ? &write->old_item : NULL;
	const struct value *base = old ? old : write->key;
	enum code code = OK;

	if (!old && write->update && update_only_takes(write->update))
		return OK;
	write->new_item = *base;
	if (write->update)
		code = apply_update(step, base, old, err);
	if (code != OK) {
		write->new_item = VALUE_NONE; /* what the write costs is asked all the same */
		return code;
	}
	return image_of(step->arena, &write->new_item, &write->new_image)
		       ? OK
		       : err_set(err, MSG_UPDATE_SIZE);
}

/* A pure function of the old item: fills new_item and new_image. */
static enum code make_new(struct write_step *step, struct err *err)
{
	struct write *write = step->write;
	enum code code = OK;

	switch (write->kind) {
	case WRITE_DELETE:
		break;
	case WRITE_CHECK:
		write->new_item = write->old_item;
		write->new_image = write->old_image;
		break;
	case WRITE_PUT:
		if (write->is_too_deep)
			return err_set(err, MSG_UPDATE_DEPTH);
		write->new_item = *write->item;
		write->new_image = write->item_image;
		break;
	case WRITE_UPDATE:
		code = make_updated(step, err);
		break;
	}
	return code;
}

/* Evaluates the expressions, unless that was done. */
static enum code evaluate_write(struct write_step *step, struct err *err)
{
	struct write *write = step->write;

	if (is_thought_out(write)) {
		write->new_item = write->thought->new_item;
		write->new_image = write->thought->new_image;
		*err = write->thought->err;
		return write->thought->code;
	}
	enum code code = check_write_condition(step, err);
	return code == OK ? make_new(step, err) : code;
}

/* Writes the item's own row, if it differs; `growth` is that of its billed size. */
static enum code store_item(struct write_step *step, long long growth, struct err *err)
{
	struct write *write = step->write;
	bool had = str_is_set(write->old_image), has = str_is_set(write->new_image);

	if (had == has && (!had || str_eq(write->old_image, write->new_image)))
		return OK;
	enum code code = write_note(step, table_items(write->table), false, write->row_key,
				    write->old_image, err);
	if (code != OK)
		return code;
	step->sizes[0].items += has - had;
	step->sizes[0].bytes += growth;
	if (has)
		return store_put(step->txn, table_items(write->table), write->row_key,
				 write->new_image, err);
	return store_del(step->txn, table_items(write->table), write->row_key, err);
}

static enum code append_to_stream(struct write_step *step, struct err *err)
{
	const struct write *write = step->write;
	struct stream_change change = {write->old_image, write->new_image,
				       str_is_set(write->expiry_row),
				       stream_partition(write->row_key)};

	return stream_append(step->txn, step->arena, write->table, &change, step->stream, err);
}

/* One write from its old image to its stream record. What it costs is known also when its condition
 * failed. */
enum code write_one(struct write_step *step, struct err *err)
{
	struct write *write = step->write;
	enum code code = begin_one(step, err);

	if (code != OK)
		return code;
	if (str_is_set(write->expiry_row) && !write_is_expired(step))
		return write_forget_expiry(step, err);
	code = evaluate_write(step, err);
	size_t old_size = vector_row_billed_size(write->table, &write->old_item,
						 image_item_size(write->old_image));
	size_t new_size = vector_row_billed_size(write->table, &write->new_item,
						 image_item_size(write->new_image));
	write->cost.base.write = capacity_write(old_size, new_size, step->is_transactional);
	if (code != OK || write->kind == WRITE_CHECK)
		return code;
	code = store_item(step, (long long)new_size - (long long)old_size, err);
	if (code != OK)
		return code;
	code = write_indexes(step, err);
	if (code != OK)
		return code;
	code = write_expiry(step, err);
	if (code != OK)
		return code;
	code = write_check_collection(step, err);
	return code == OK ? append_to_stream(step, err) : code;
}

static enum code read_and_begin(struct write_step *step, struct err *err)
{
	struct write *write = step->write;
	enum code code = store_get(step->txn, table_items(write->table), write->row_key,
				   step->arena, &write->old_image, err);

	if (code != OK)
		return code;
	return begin_one(step, err);
}

enum code write_think(struct run *run, struct write *write, struct err *err)
{
	struct write_thought *thought = write->thought;
	struct write_step step = {.arena = run->arena, .write = write};

	*thought = (struct write_thought){.err = err_in(run->arena)};
	enum code code = store_begin(catalog_store(run->catalog), STORE_READ, &step.txn, err);
	if (code != OK)
		return code;
	code = store_end(step.txn, read_and_begin(&step, err), err);
	if (code != OK)
		return code;
	thought->code = evaluate_write(&step, &thought->err);
	thought->old_image = write->old_image;
	thought->old_item = write->old_item;
	thought->new_item = write->new_item;
	thought->new_image = write->new_image;
	thought->is_made = true;
	return err_if_over(run->arena, err);
}

struct history_writer *write_history_of(struct run *run, size_t i, int64_t now_ms)
{
	struct history_writer *history = run->histories ? run->histories[i] : NULL;

	if (history) {
		history->txn = run->txn;
		history->now_ms = now_ms;
		history->item = str_hash(run->writes[i].row_key, 0);
	}
	return history;
}
