#include "storage/backfill.h"

#include "core/image.h"
#include "storage/item_key.h"
#include "storage/messages.h"

static const struct keyspace progress_keyspace = {0, SYSTEM_COUNTERS};

/* The rows of one piece: a scan's visitor must not write. */
struct piece {
	struct arena *arena;
	size_t n, bytes;
	bool is_full; /* there may be more */
	struct str keys[BACKFILL_STEP_ROWS];
	struct str images[BACKFILL_STEP_ROWS];
};

static bool collect(void *context, struct str key, struct str image)
{
	struct piece *piece = context;

	piece->keys[piece->n] = str_copy(piece->arena, key);
	piece->images[piece->n++] = str_copy(piece->arena, image);
	piece->bytes += image.n;
	piece->is_full = piece->n == BACKFILL_STEP_ROWS || piece->bytes >= BACKFILL_STEP_BYTES;
	return !piece->is_full;
}

/* What one piece of work knows. */
struct job {
	struct catalog *catalog;
	struct table *table;
	const struct index *index;
	struct store_txn *txn;
	struct piece *piece;
	long long items, bytes; /* change of the index's size */
};

static enum code add_row(struct job *job, struct str image, struct err *err)
{
	struct arena *arena = job->piece->arena;
	struct keyspace keyspace = index_keyspace(job->table, job->index);
	struct str known;
	struct value item;

	if (!image_decode(arena, image, &item))
		return err_set(err, MSG_ROW_MALFORMED);
	struct str key = item_key_in_index(arena, job->table, job->index, &item);
	if (!str_is_set(key))
		return OK;
	/* a write since the index exists may have put it */
	enum code code = store_get(job->txn, keyspace, key, arena, &known, err);
	if (code != OK || str_is_set(known))
		return code;
	struct str row = item_index_image(arena, job->index, &item, image);
	job->items++;
	job->bytes += (long long)image_item_size(row);
	return store_put(job->txn, keyspace, key, row, err);
}

/* The next piece of the items, and how far it went. */
static enum code fill(struct job *job, struct err *err)
{
	struct piece *piece = job->piece;
	struct store_range range = {STR_ABSENT, STR_ABSENT, false};
	struct str progress = catalog_progress_key(piece->arena, job->table, job->index);
	enum code code = store_get(job->txn, progress_keyspace, progress, piece->arena, &range.low, err);

	if (code == OK)
		code = store_scan(job->txn, table_items(job->table), &range, collect, piece, err);
	for (size_t i = 0; i < piece->n && code == OK; i++)
		code = add_row(job, piece->images[i], err);
	if (code != OK || !piece->is_full)
		return code;
	/* no key is a prefix of another, so a byte after it is the next possible one */
	struct buf next = buf_in(piece->arena);
	buf_add_str(&next, piece->keys[piece->n - 1]);
	buf_add_byte(&next, 0);
	return store_put(job->txn, progress_keyspace, progress, buf_str(&next), err);
}

/* Deletes a piece of a large index's rows; what is not large goes with its keyspace. */
static enum code empty(struct job *job, struct err *err)
{
	struct piece *piece = job->piece;
	struct size_counter *size = job->index->size;
	struct store_range all = {STR_ABSENT, STR_ABSENT, false};

	if (!atomic_load(&size->is_counted) || (uint64_t)atomic_load(&size->items) <= catalog_drop_max(job->catalog))
		return OK;
	enum code code = store_scan(job->txn, index_keyspace(job->table, job->index), &all, collect, piece, err);
	for (size_t i = 0; i < piece->n && code == OK; i++) {
		job->items--;
		job->bytes -= (long long)image_item_size(piece->images[i]);
		code = store_del(job->txn, index_keyspace(job->table, job->index), piece->keys[i], err);
	}
	return code;
}

static void count(const struct job *job, int sign)
{
	atomic_fetch_add(&job->index->size->items, sign * job->items);
	atomic_fetch_add(&job->index->size->bytes, sign * job->bytes);
}

/* The table as it is when the work on the index is done. */
static enum code finish(struct job *job, struct err *err)
{
	struct table *next = table_clone(job->table);
	size_t at = (size_t)(job->index - job->table->indexes);
	struct index *index = &next->indexes[at];

	if (index->status == STATUS_DELETING) {
		size_counter_unref(index->size);
		next->index_count--;
		memmove(index, index + 1, (next->index_count - at) * sizeof(*index));
	} else {
		index->status = STATUS_ACTIVE;
		index->is_backfilling = false;
		index->settles_ms = 0;
	}
	return catalog_replace(job->catalog, job->table, next, err);
}

/* One transaction of work on the index. */
static enum code run(struct job *job, struct err *err)
{
	enum code code = store_begin(catalog_store(job->catalog), STORE_WRITE, &job->txn, err);

	if (code != OK)
		return code;
	if (atomic_load(&job->table->is_superseded)) {
		store_abort(job->txn);
		return err_default(err, ERR_CONFLICT);
	}
	code = job->index->status == STATUS_DELETING ? empty(job, err) : fill(job, err);
	if (code != OK) {
		store_abort(job->txn);
		return code;
	}
	/* before the commit, while writers and the counting in catalog_size wait */
	count(job, 1);
	code = store_commit(job->txn, err);
	if (code != OK)
		count(job, -1);
	return code == OK && !job->piece->is_full ? finish(job, err) : code;
}

/* A piece of the first work that the table has; a table that was changed meanwhile is looked up again by the next step. */
static enum code step_table(struct catalog *catalog, struct table *table, int64_t now_ms, struct err *err)
{
	struct job job = {.catalog = catalog, .table = table};
	struct arena *scratch = arena_new(0);
	struct err own = err_in(scratch);
	enum code code = OK;

	for (size_t i = 0; i < table->index_count && !job.index; i++) {
		const struct index *index = &table->indexes[i];

		if ((index->is_backfilling || index->status == STATUS_DELETING) && index->settles_ms <= now_ms)
			job.index = index;
	}
	if (job.index) {
		job.piece = ARENA_NEW(scratch, struct piece);
		job.piece->arena = scratch;
		code = run(&job, &own);
	}
	if (code == ERR_CONFLICT)
		code = OK;
	if (code != OK) {
		*err = err_in(err->arena);
		err->code = code;
		err->message = str_copy(err->arena, own.message);
	}
	arena_free(scratch);
	return code;
}

enum code backfill_step(struct catalog *catalog, int64_t now_ms, int64_t *next_ms, struct err *err)
{
	struct table *table = catalog_find_work(catalog, now_ms, next_ms);

	if (!table)
		return OK;
	enum code code = step_table(catalog, table, now_ms, err);
	table_unref(table);
	*next_ms = now_ms;
	return code;
}

enum code backfill_settle(struct catalog *catalog, struct ns ns, struct str name, unsigned steps, int64_t now_ms, struct err *err)
{
	enum code code = OK;

	for (unsigned i = 0; i < steps && code == OK; i++) {
		struct table *table;
		bool has_work = false;

		code = catalog_get(catalog, ns, name, now_ms, &table, err);
		if (code != OK)
			return code;
		for (size_t k = 0; k < table->index_count; k++)
			has_work = has_work || table->indexes[k].is_backfilling || table->indexes[k].status == STATUS_DELETING;
		if (has_work)
			code = step_table(catalog, table, now_ms, err);
		table_unref(table);
		if (!has_work)
			break;
	}
	return code;
}
