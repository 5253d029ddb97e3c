#include "storage/backup/copy.h"

#include "core/image.h"
#include "storage/pace.h"
#include "storage/schema/currency.h"
#include "storage/store/row.h"
#include "storage/stream/change_log.h"

#define PIECE_BYTES                                                                                \
	((size_t)1024 * 1024) /* read and written in one transaction: other writers wait for it */

static const struct field copy_fields[] = {
	RECORD_FIELD(copy, account, "account", FIELD_STR),
	RECORD_FIELD(copy, region, "region", FIELD_STR),
	RECORD_FIELD(copy, table, "table", FIELD_STR),
	RECORD_FIELD(copy, number, "number", FIELD_INT),
	RECORD_FIELD(copy, at_ms, "at_ms", FIELD_INT),
	RECORD_ENUM(copy, stage, "stage", COPY_IS_DONE),
	RECORD_FIELD(copy, key, "key", FIELD_STR),
	RECORD_FIELD(copy, first, "first", FIELD_INT),
	RECORD_FIELD(copy, next, "next", FIELD_INT),
	RECORD_FIELD(copy, items, "items", FIELD_INT),
	RECORD_FIELD(copy, bytes, "bytes", FIELD_INT),
};
static const struct record copy_record = RECORD(copy, copy_fields);

static struct store_bounds bounds_of(const struct job_step *step, unsigned units)
{
	struct catalog *catalog = step->catalog;

	return (struct store_bounds){pace_rows(catalog_pace(catalog), JOB_PIECE_ROWS),
				     store_units(catalog_store(step->catalog),
						 pace_bytes(catalog_pace(catalog), PIECE_BYTES),
						 units)};
}

/* One piece of a copy. */
struct piece {
	struct job_step *step;
	struct copy *copy;
	struct table *table;
	struct job_txn txn;
};

bool copy_of(struct arena *arena, const struct job *job, struct copy *copy)
{
	return job_unpack(arena, &copy_record, job->progress, copy);
}

enum code copy_begin(struct job_txn *txn, const struct table *table, int64_t at_ms, struct job *job,
		     struct err *err)
{
	const struct table_identity *identity = &table->identity;
	const struct copy copy = {
		.account = identity->account,
		.region = identity->region,
		.table = identity->name,
		.number = identity->number,
		.at_ms = at_ms,
		.key = STR_ABSENT,
	};
	enum code code = catalog_next_number(txn->txn, txn->arena, &job->data, err);

	job->progress = job_pack(txn->arena, &copy_record, &copy);
	return code == OK ? store_create(txn->txn, (struct keyspace){job->data, PART_ITEMS}, err)
			  : code;
}

enum code copy_give_up(struct job_txn *txn, struct job *job, void *context, struct err *err)
{
	uint64_t data = job->data;

	(void)context;
	job->data = 0;
	return data ? store_drop(txn->txn, (struct keyspace){data, PART_ITEMS}, err) : OK;
}

/* Whether a copy of the table is under way that needs it. */
static enum code copy_is_busy(struct job_txn *txn, const struct table *table, struct str except,
			      bool *is_busy, struct err *err)
{
	struct job *jobs;
	size_t n;
	enum code code = job_list_open(txn, STR_ABSENT, STR_ABSENT, &jobs, &n, err);

	*is_busy = false;
	if (code != OK)
		return code;
	for (size_t i = 0; i < n; i++) {
		struct copy copy;

		if (jobs[i].data && !str_eq(jobs[i].id, except) &&
		    copy_of(txn->arena, &jobs[i], &copy) && copy.number == table->identity.number)
			*is_busy = *is_busy || copy.stage < COPY_LETS_GO;
	}
	return OK;
}

enum code copy_page(struct store_txn *txn, uint64_t data, struct store_bounds bounds,
		    struct arena *arena, struct str *key, struct store_page *page, struct err *err)
{
	struct store_range range = {*key, STR_ABSENT, false};
	enum code code = store_page(txn, (struct keyspace){data, PART_ITEMS}, &range, bounds, arena,
				    page, err);

	*key = STR_ABSENT;
	if (code == OK && page->is_more) {
		store_range_after(&range, page, arena);
		*key = range.low;
	}
	return code;
}

static struct keyspace target_of(const struct piece *piece)
{
	return (struct keyspace){piece->step->job->data, PART_ITEMS};
}

static void count(struct copy *copy, struct str image, int sign)
{
	if (!str_is_set(image))
		return;
	copy->items += sign;
	copy->bytes += sign * (int64_t)image_item_size(image);
}

/* The next items, as they are. */
static enum code fill_piece(struct piece *piece, bool *is_more, struct err *err)
{
	struct store_range range = {piece->copy->key, STR_ABSENT, false};
	struct store_bounds bounds = bounds_of(piece->step, 2);
	struct store_page page = {.n = 0};
	enum code code = store_page(piece->txn.txn, table_items(piece->table), &range, bounds,
				    piece->step->arena, &page, err);

	for (size_t i = 0; i < page.n && code == OK; i++) {
		count(piece->copy, page.v[i].value, 1);
		code = store_put(piece->txn.txn, target_of(piece), page.v[i].key, page.v[i].value,
				 err);
	}
	*is_more = page.is_more;
	if (code == OK && page.is_more) {
		store_range_after(&range, &page, piece->step->arena);
		piece->copy->key = range.low;
	}
	return code;
}

/* The item is in the copy what it was before the change. */
static enum code undo_one(struct piece *piece, const struct stream_record *record, struct err *err)
{
	struct arena *arena = piece->step->arena;
	struct str key, known;

	if (record->event != STREAM_INSERT && !str_is_set(record->old_image))
		return row_malformed(err, stream_keyspace(piece->table),
				     stream_shard_record_key(arena, record->sequence));
	enum code code = change_log_key(arena, piece->table, record, &key, err);

	if (code != OK)
		return code;
	code = store_get(piece->txn.txn, target_of(piece), key, arena, &known, err);
	if (code != OK)
		return code;
	count(piece->copy, known, -1);
	count(piece->copy, record->old_image, 1);
	if (str_is_set(record->old_image))
		return store_put(piece->txn.txn, target_of(piece), key, record->old_image, err);
	return str_is_set(known) ? store_del(piece->txn.txn, target_of(piece), key, err) : OK;
}

/* The next changes, backwards. */
static enum code undo(struct piece *piece, bool *is_more, struct err *err)
{
	struct change_log_page page = {.from = piece->copy->first,
				       .to = piece->copy->next,
				       .is_reverse = true,
				       .bounds = bounds_of(piece->step, 4)};
	enum code code = OK;

	*is_more = false;
	if (!table_has_log(piece->table))
		return OK;
	code = change_log_read(piece->txn.txn, piece->step->arena, piece->table, &page, err);
	for (size_t i = 0; i < page.n && code == OK; i++)
		code = undo_one(piece, &page.v[i], err);
	*is_more = page.is_more;
	piece->copy->next = page.to;
	return code;
}

/* Where the moment lies in the log. */
static enum code find_first(struct piece *piece, struct err *err)
{
	struct copy *copy = piece->copy;

	if (!table_has_log(piece->table))
		return OK;
	if (copy->at_ms == COPY_NOW)
		return stream_next(piece->txn.txn, piece->table, &copy->first, err);
	return change_log_after(piece->txn.txn, piece->table, copy->at_ms, &copy->first, err);
}

static enum code find_next(struct piece *piece, struct err *err)
{
	return table_has_log(piece->table)
		       ? stream_next(piece->txn.txn, piece->table, &piece->copy->next, err)
		       : OK;
}

/* All at once; *is_more: it is too much. */
static enum code try_whole(struct piece *piece, bool *is_more, struct err *err)
{
	enum code code = find_first(piece, err);

	if (code != OK)
		return code;
	code = find_next(piece, err);
	if (code != OK)
		return code;
	code = fill_piece(piece, is_more, err);
	if (code != OK)
		return code;
	return *is_more ? OK : undo(piece, is_more, err);
}

static enum code begin_piece(struct piece *piece, struct err *err)
{
	enum code code = job_run_begin(piece->step, &piece->txn, err);
	uint64_t ignored;

	if (code != OK)
		return code;
	code = currency_check(piece->txn.txn, piece->table, &ignored, err);
	if (code != OK)
		store_abort(piece->txn.txn);
	return code;
}

static enum code commit(struct piece *piece, struct err *err)
{
	piece->step->job->progress = job_pack(piece->step->arena, &copy_record, piece->copy);
	return job_run_commit(piece->step, &piece->txn, err);
}

/* Keeps the log from the moment on. */
static enum code hold(struct piece *piece, struct err *err)
{
	struct job_step *step = piece->step;
	struct table *next = table_clone(piece->table);
	int64_t from_ms = piece->copy->at_ms == COPY_NOW ? step->now_ms : piece->copy->at_ms;

	if (next->log.hold_ms == 0 || next->log.hold_ms > from_ms)
		next->log.hold_ms = from_ms > 1 ? from_ms : 1;
	change_log_set(next, next->log.reasons | LOG_COPY, step->now_ms);
	return catalog_replace(step->catalog, piece->table, next, err);
}

/* Whether the log is held for this copy, be it by another one. */
static bool is_held(const struct piece *piece)
{
	const struct table_log *log = &piece->table->log;

	return (log->reasons & LOG_COPY) &&
	       (piece->copy->at_ms == COPY_NOW ||
		(log->hold_ms > 0 && log->hold_ms <= piece->copy->at_ms));
}

/* Small tables are done by this; of others the log is held, and what this wrote is rolled back. */
static enum code start_copy(struct piece *piece, struct err *err)
{
	struct copy before = *piece->copy;
	bool is_more = false, has_log = is_held(piece);
	enum code code = begin_piece(piece, err);

	if (code != OK)
		return code;
	code = has_log ? find_first(piece, err) : try_whole(piece, &is_more, err);
	if (code == OK && has_log) {
		piece->copy->stage = COPY_FILLS;
		return commit(piece, err);
	}
	if (code == OK && !is_more) {
		piece->copy->stage = COPY_IS_DONE;
		return commit(piece, err);
	}
	store_abort(piece->txn.txn);
	*piece->copy = before;
	return code == OK ? hold(piece, err) : code;
}

static enum code let_log_go(struct piece *piece, struct err *err)
{
	struct job_step *step = piece->step;
	struct job_txn txn = {.catalog = step->catalog, .ns = step->job->ns, .arena = step->arena};
	bool is_busy = false;
	enum code code = store_begin(catalog_store(step->catalog), STORE_READ, &txn.txn, err);

	if (code != OK)
		return code;
	code = copy_is_busy(&txn, piece->table, step->job->id, &is_busy, err);
	store_abort(txn.txn);
	if (code != OK)
		return code;
	if (!is_busy && (piece->table->log.reasons & LOG_COPY)) {
		struct table *next = table_clone(piece->table);

		if (!(next->log.reasons & LOG_REPLICATION))
			next->log.hold_ms = 0;
		change_log_set(next, next->log.reasons & ~(unsigned)LOG_COPY, step->now_ms);
		code = catalog_replace(step->catalog, piece->table, next, err);
	}
	if (code == OK)
		piece->copy->stage = COPY_IS_DONE;
	return code;
}

static enum code advance_copy(struct piece *piece, struct err *err)
{
	struct copy *copy = piece->copy;
	bool is_more;
	enum code code = begin_piece(piece, err);

	if (code != OK)
		return code;
	if (copy->stage == COPY_FILLS) {
		code = fill_piece(piece, &is_more, err);
		if (code == OK && !is_more) {
			copy->stage = COPY_UNDOES;
			code = find_next(piece, err);
		}
	} else {
		code = undo(piece, &is_more, err);
		if (code == OK && !is_more)
			copy->stage = COPY_LETS_GO;
	}
	if (code == OK)
		return commit(piece, err);
	store_abort(piece->txn.txn);
	return code;
}

static enum code run_stage(struct piece *piece, struct err *err)
{
	switch ((enum copy_stage)piece->copy->stage) {
	case COPY_BEGINS:
		return start_copy(piece, err);
	case COPY_FILLS:
	case COPY_UNDOES:
		return advance_copy(piece, err);
	case COPY_LETS_GO:
		return let_log_go(piece, err);
	case COPY_IS_DONE:
		break;
	}
	return OK;
}

enum code copy_step(struct job_step *step, struct copy *copy, struct err *err)
{
	struct piece piece = {.step = step, .copy = copy};

	if (!copy_of(step->arena, step->job, copy))
		return job_malformed(step->job, err);
	enum code code = clocks_refresh(catalog_options(step->catalog)->clocks, err);
	if (code != OK)
		return code;
	code = catalog_get_current(step->catalog, (struct ns){copy->account, copy->region},
				   copy->table, step->now_ms, &piece.table, err);
	if (code == OK && piece.table->identity.number != copy->number) {
		table_unref(piece.table);
		code = err_default(err, ERR_RESOURCE_NOT_FOUND);
	}
	if (code == ERR_RESOURCE_NOT_FOUND && copy->stage == COPY_LETS_GO) {
		copy->stage = COPY_IS_DONE;
		step->job->progress = job_pack(step->arena, &copy_record, copy);
		return OK;
	}
	if (code == ERR_RESOURCE_NOT_FOUND)
		return err_default(err, ERR_TABLE_NOT_FOUND);
	if (code != OK)
		return code;
	code = run_stage(&piece, err);
	table_unref(piece.table);
	if (code == OK && !step->is_put)
		step->job->progress = job_pack(step->arena, &copy_record, copy);
	return code;
}
