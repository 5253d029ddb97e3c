#include "storage/upkeep/backfill.h"

#include "core/image.h"
#include "storage/catalog/catalog_size.h"
#include "storage/catalog/mark_walk.h"
#include "storage/expiry.h"
#include "storage/index_row.h"
#include "storage/item_key.h"
#include "storage/pace.h"
#include "storage/schema/currency.h"
#include "storage/store/row.h"
#include "storage/upkeep/lease.h"
#include "storage/upkeep/replica.h"
#include "storage/vector/vector_row.h"

static const struct keyspace progress_keyspace = {0, SYSTEM_COUNTERS};

/* What one piece of work knows. */
struct job {
	struct catalog *catalog;
	struct table *table;
	const struct index *index; /* NULL: the expiry keyspace is filled */
	bool is_replica;        /* a new replica is filled */
	int64_t now_ms;
	size_t at;              /* of it, as table_index_at() counts */
	struct store_txn *txn;
	struct arena *arena;
	size_t limit;           /* rows of a piece */
	struct store_page piece;
	struct size_scope scope;
	struct size_change
		sizes[1 + INDEXES_MAX + VECTOR_INDEXES_MAX]; /* as for catalog_size_join(); those of
								the index alone are used */
};

static enum code read_piece(struct job *job, struct keyspace keyspace,
			    const struct store_reference *reference,
			    const struct store_range *range, struct err *err)
{
	/* each byte is read and written, and the row that may be there is read */
	size_t bytes = store_units(catalog_store(job->catalog),
				   pace_bytes(catalog_pace(job->catalog), BACKFILL_STEP_BYTES), 4);

	return store_page_of(job->txn, keyspace, reference, range,
			     (struct store_bounds){job->limit, bytes}, job->arena, &job->piece,
			     err);
}

/* The row that an item implies, and the item's key. */
struct implied {
	struct index_row row;
	struct str item_key;
};

/* The rows that the piece's items imply, of those that have one. */
static enum code make_rows(struct job *job, struct implied *rows, size_t *n, struct err *err)
{
	*n = 0;
	for (size_t i = 0; i < job->piece.n; i++) {
		const struct store_row *row = &job->piece.v[i];
		struct value item;

		if (!image_decode(job->arena, row->value, &item))
			return row_malformed(err, table_items(job->table), row->key);
		rows[*n] = (struct implied){
			index_row_of(job->arena, job->table, job->index, &item, row->value),
			row->key};
		*n += str_is_set(rows[*n].row.key);
	}
	return OK;
}

static enum code put_implied_row(struct job *job, const struct implied *implied, struct err *err)
{
	const struct index_row *row = &implied->row;
	struct size_change sizes[1 + INDEXES_MAX + VECTOR_INDEXES_MAX] = {{0, 0}};

	sizes[1 + job->at] = (struct size_change){1, (long long)row->size};
	job->sizes[1 + job->at].items++;
	job->sizes[1 + job->at].bytes += (long long)row->size;
	enum code code = catalog_size_count(job->txn, job->table, &job->scope, implied->item_key,
					    sizes, err);
	if (code != OK)
		return code;
	return index_row_put(job->txn, job->table, job->index, implied->item_key, row,
			     err); /* no new version of a vector index: nobody searches it yet */
}

/* Puts the rows that are not there: a write since the index exists may have put them. */
static enum code put_missing_rows(struct job *job, const struct implied *rows, size_t n,
				  struct err *err)
{
	struct store_key *keys = ARENA_ARRAY(job->arena, struct store_key, n);
	struct str *known = ARENA_ARRAY(job->arena, struct str, n);

	for (size_t i = 0; i < n; i++)
		keys[i] =
			(struct store_key){index_keyspace(job->table, job->index), rows[i].row.key};
	enum code code = store_get_many(job->txn, keys, n, job->arena, known, err);
	if (code != OK)
		return code;
	for (size_t i = 0; i < n; i++) {
		if (!str_is_set(known[i]))
			code = put_implied_row(job, &rows[i], err);
		if (code != OK)
			return code;
	}
	return OK;
}

/* The next piece of the items, and how far it went. */
static enum code fill_index_piece(struct job *job, struct err *err)
{
	struct store_range range = {STR_ABSENT, STR_ABSENT, false};
	struct str progress = catalog_progress_key(job->arena, job->table, job->index);
	struct implied *rows;
	size_t n;
	enum code code =
		store_get(job->txn, progress_keyspace, progress, job->arena, &range.low, err);

	if (code != OK)
		return code;
	code = read_piece(job, table_items(job->table), NULL, &range, err);
	if (code != OK)
		return code;
	rows = ARENA_ARRAY(job->arena, struct implied, job->piece.n);
	code = make_rows(job, rows, &n, err);
	if (code != OK)
		return code;
	code = put_missing_rows(job, rows, n, err);
	if (code != OK || !job->piece.is_more)
		return code;
	store_range_after(&range, &job->piece, job->arena);
	return store_put(job->txn, progress_keyspace, progress, range.low, err);
}

/* The same for the expiry keyspace: an item that is written meanwhile has its row already. */
static enum code fill_expiry_piece(struct job *job, struct err *err)
{
	struct str from, progress = catalog_expiry_progress_key(job->arena, job->table);
	enum code code = store_get(job->txn, progress_keyspace, progress, job->arena, &from, err);

	if (code != OK)
		return code;
	code = expiry_fill(job->txn, job->arena, job->table, job->limit, &from, &job->piece.is_more,
			   err);
	return code == OK && job->piece.is_more
		       ? store_put(job->txn, progress_keyspace, progress, from, err)
		       : code;
}

/* By DynamoDB's rules. Writes keep no index that is being deleted: what one by reference stands for
 * may have another size by now, or be gone. */
static size_t size_of_row(const struct job *job, const struct store_row *row)
{
	return job->index->vector ? vector_row_size(job->index, row->value)
				  : image_item_size(row->value);
}

/* Deletes a piece of a large index's rows; what is not large goes with its keyspace. */
static enum code empty_index_piece(struct job *job, struct err *err)
{
	struct store_range all = job->index->vector
					 ? vector_row_range()
					 : (struct store_range){STR_ABSENT, STR_ABSENT, false};
	struct size_change *size = &job->sizes[1 + job->at];
	struct index_row_reference reference;
	uint64_t items;
	enum code code =
		catalog_size_index(job->txn, job->table, job->index, &job->scope, &items, err);

	if (code != OK || items <= catalog_options(job->catalog)->drop_max)
		return code;
	code = read_piece(job, index_keyspace(job->table, job->index),
			  index_row_reference(job->table, job->index, &reference), &all, err);
	if (code != OK)
		return code;
	for (size_t i = 0; i < job->piece.n; i++) {
		const struct store_row *row = &job->piece.v[i];

		size->items--;
		size->bytes -= (long long)size_of_row(job, row);
		code = store_del(job->txn, index_keyspace(job->table, job->index), row->key, err);
		if (code != OK)
			return code;
	}
	return OK;
}

/* The table as it is when the work is done. */
static enum code finish_backfill(struct job *job, struct err *err)
{
	struct table *next = table_clone(job->table);

	if (!job->index) {
		next->ttl.is_filling = false;
		return catalog_replace(job->catalog, job->table, next, err);
	}
	struct index *index = table_index_at(next, job->at);
	if (index->status == STATUS_DELETING) {
		struct index *first = index->vector ? next->indexes.vectors : next->indexes.v;
		size_t *count_of_kind = index->vector ? &next->indexes.vector_n : &next->indexes.n;

		--*count_of_kind;
		memmove(index, index + 1,
			(*count_of_kind - (size_t)(index - first)) * sizeof(*index));
	} else {
		index->status = STATUS_ACTIVE;
		index->is_backfilling = false;
		index->settles_ms = 0;
	}
	return catalog_replace(job->catalog, job->table, next, err);
}

static enum code scope_piece(struct job *job, struct err *err)
{
	uint64_t count;
	enum code code = currency_check(job->txn, job->table, &count, err);

	if (code != OK)
		return code;
	return catalog_size_scope(job->txn, job->table, count, &job->scope, err);
}

static enum code write_piece(struct job *job, struct err *err)
{
	enum code code = !job->index                             ? fill_expiry_piece(job, err)
			 : job->index->status == STATUS_DELETING ? empty_index_piece(job, err)
								 : fill_index_piece(job, err);

	if (code != OK)
		return code;
	return catalog_size_join(job->catalog, job->txn, job->table, &job->scope, job->sizes, err);
}

/* One transaction of work. */
static enum code run_backfill_piece(struct job *job, struct err *err)
{
	enum code code = store_begin(catalog_store(job->catalog), STORE_WRITE, &job->txn, err);

	if (code != OK)
		return code;
	code = scope_piece(job, err);
	if (code != OK) {
		store_abort(job->txn);
		return code;
	}
	code = write_piece(job, err);
	bool is_whole = code == OK;
	code = store_end(job->txn, code, err);
	catalog_size_leave(job->table, &job->scope, job->sizes, is_whole ? code : ERR_CONFLICT);
	return code == OK && !job->piece.is_more ? finish_backfill(job, err) : code;
}

/* The lease of the work on the table. */
static struct str lease_of(struct arena *arena, const struct table *table)
{
	return str_printf(arena, "fill/%llu", (unsigned long long)table->identity.number);
}

/* One piece; where it was the last, other processes need not wait until the lease runs out. */
static enum code run_leased(struct job *job, struct leases *leases, bool *is_ours, struct err *err)
{
	struct str lease = leases ? lease_of(job->arena, job->table) : STR_ABSENT;
	enum code code = lease_take(leases, lease, is_ours, NULL, err);

	if (code != OK || !*is_ours)
		return code;
	code = job->is_replica ? replica_fill(job->catalog, job->table, job->limit, job->now_ms,
					      &job->piece.is_more, err)
			       : run_backfill_piece(job, err);
	if (leases && code == OK && !job->piece.is_more)
		lease_release(leases, lease);
	return code;
}

/*
 * A piece of the first work that the table has; a table that was changed meanwhile is looked up
 * again by the next step. *is_ours: no other process does it.
 */
static enum code step_backfill_table(struct catalog *catalog, struct table *table,
				     struct leases *leases, int64_t now_ms, bool *is_ours,
				     struct err *err)
{
	struct arena *scratch = arena_new(0);
	struct job job = {.catalog = catalog,
			  .table = table,
			  .arena = scratch,
			  .limit = pace_rows(catalog_pace(catalog), BACKFILL_STEP_ROWS)};
	struct err own = err_in(scratch);
	enum code code = OK;

	for (size_t i = 0;
	     i < table_index_total(table) && !job.index && table->state.status != STATUS_DELETING;
	     i++) {
		const struct index *index = table_index_at(table, i);

		job.at = i;
		if ((index->is_backfilling || index->status == STATUS_DELETING) &&
		    index->settles_ms <= now_ms)
			job.index = index;
	}
	if (!job.index && str_is_set(table->group.filling) &&
	    table->state.status != STATUS_DELETING) {
		job.is_replica = true;
		job.now_ms = now_ms;
		code = run_leased(&job, leases, is_ours, &own);
	} else if (job.index || (table->ttl.is_filling && table->state.status != STATUS_DELETING)) {
		code = run_leased(&job, leases, is_ours, &own);
	}
	if (table->state.status == STATUS_DELETING)
		code = catalog_bury(catalog, table, &own);
	if (code == ERR_CONFLICT || code == ERR_TABLE_MOVED)
		code = OK;
	if (code != OK)
		err_copy(err, code, own.message);
	arena_free(scratch);
	return code;
}

/* What a call of backfill_step() found. */
struct look {
	struct catalog *catalog;
	const struct times *times;
	size_t tried, done; /* done: by this process */
	int64_t wait_ms;
	enum code code;     /* of the last piece */
};

/* A piece of the work of a marked table, where that is due. */
static enum code look_at_backfill(struct look *look, const struct mark *mark, struct err *err)
{
	struct table *table;
	bool is_ours = true;
	int64_t now_ms;

	if (!look->times->tell(look->times->context, mark->ns, &now_ms))
		return OK;
	if (mark->ms > now_ms) {
		look->wait_ms =
			mark->ms - now_ms < look->wait_ms ? mark->ms - now_ms : look->wait_ms;
		return OK;
	}
	enum code code = catalog_marked(look->catalog, mark, &table, err);
	if (code != OK || !table)
		return code;
	look->code = step_backfill_table(look->catalog, table, look->times->leases, now_ms,
					 &is_ours, err);
	table_unref(table);
	look->tried++;
	look->done += is_ours || look->code != OK;
	return OK;
}

enum code backfill_step(struct catalog *catalog, const struct times *times, int64_t *wait_ms,
			struct err *err)
{
	struct mark_walk walk = mark_walk_begin(catalog, MARK_WORK);
	struct look look = {.catalog = catalog, .times = times, .wait_ms = INT64_MAX};
	const struct mark *mark;
	enum code code = clocks_refresh(catalog_options(catalog)->clocks, err);

	/* what fails, as for want of room, holds up no other table: there may be an index to drop;
	 * nor does what another process does */
	while (code == OK && (look.code != OK || look.done == 0) &&
	       mark_walk_next(&walk, &mark, err))
		code = look_at_backfill(&look, mark, err);
	enum code walked = mark_walk_end(&walk);
	code = code == OK ? walked : code;
	*wait_ms = code == OK ? look.wait_ms : 0;
	if (code != OK)
		return code == ERR_CONFLICT ? OK : code;
	if (look.done > 0)
		*wait_ms = 0;
	else if (look.tried > 0 && *wait_ms > BACKFILL_OTHERS_MS)
		*wait_ms = BACKFILL_OTHERS_MS;
	return look.code;
}

enum code backfill_run(struct catalog *catalog, struct ns ns, struct str name, unsigned steps,
		       int64_t now_ms, struct err *err)
{
	uint64_t left = (uint64_t)steps * PACE_CROWDED_PART;

	while (pace_next(catalog_pace(catalog), &left)) {
		struct table *table;
		bool has_work, is_ours = true;
		enum code code = catalog_get_current(catalog, ns, name, now_ms, &table, err);

		if (code != OK)
			return code;
		has_work = table->ttl.is_filling || str_is_set(table->group.filling);
		for (size_t k = 0; k < table_index_total(table); k++)
			has_work = has_work || table_index_at(table, k)->is_backfilling ||
				   table_index_at(table, k)->status == STATUS_DELETING;
		if (has_work)
			code = step_backfill_table(catalog, table, NULL, now_ms, &is_ours, err);
		table_unref(table);
		if (code != OK)
			return code;
		if (!has_work)
			break;
	}
	return OK;
}
