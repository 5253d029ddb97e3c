#include <limits.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "storage/catalog/catalog_internal.h"
#include "storage/catalog/catalog_size.h"
#include "storage/catalog/size_rows.h"
#include "storage/schema/currency.h"
#include "storage/store/retry.h"

#define TABLES_PER_FLUSH 32
#define COUNT_LOOK_PIECES 4 /* that one look at a table counts */
#define PEERS_BYTES                                                                                \
	(1ll << 30) /* more than other processes add to a table between two looks at its rows */
#define FLUSH_NAP_NS 100000
#define FLUSH_NAPS_MAX 1000 /* then the numbers may be off by a flush that takes long */

enum code catalog_size_scope(struct store_txn *txn, const struct table *table, uint64_t count,
			     struct size_scope *scope, struct err *err)
{
	struct size_count counted;
	bool is_counting;

	*scope = (struct size_scope){.epoch = COUNT_EPOCH(count)};
	if (!COUNT_IS_COUNTING(count))
		return OK;
	enum code code = size_rows_get_count(txn, err->arena, table->identity.number, &counted,
					     &is_counting, err);
	if (code == OK && is_counting)
		scope->counted = counted.next;
	return code;
}

#define SLOTS_MAX (1 + INDEXES_MAX + VECTOR_INDEXES_MAX)

static uint32_t slot_of(const struct table *table, size_t i)
{
	return i == 0 ? TALLY_TABLE : 1 + table_index_at(table, i - 1)->number;
}

/* Those of the changes that are any. */
static size_t slots_of(const struct table *table, const struct size_change *changes,
		       struct tally_slot *slots)
{
	size_t n = 0;

	for (size_t i = 0; i <= table_index_total(table); i++) {
		if (changes[i].items || changes[i].bytes)
			slots[n++] = (struct tally_slot){slot_of(table, i), changes[i]};
	}
	return n;
}

static enum code put_mark(struct catalog *catalog, struct store_txn *txn, const struct table *table,
			  uint64_t epoch, struct err *err)
{
	const struct size_mark mark = {
		catalog->sizes.process,
		table->identity.number,
		epoch,
		atomic_fetch_add(&catalog->sizes.marks, 1),
		catalog_key_of(err->arena, catalog, table),
	};

	return size_rows_put_mark(txn, err->arena, &mark, err);
}

enum code catalog_size_count(struct store_txn *txn, const struct table *table,
			     const struct size_scope *scope, struct str row_key,
			     const struct size_change *changes, struct err *err)
{
	struct tally_slot slots[SLOTS_MAX];

	if (!str_is_set(scope->counted) || str_cmp(row_key, scope->counted) >= 0)
		return OK;
	size_t n = slots_of(table, changes, slots);
	for (size_t i = 0; i < n; i++) {
		enum code code = size_rows_add(txn, table->identity.number, scope->epoch + 1,
					       &slots[i], err);
		if (code != OK)
			return code;
	}
	return OK;
}

enum code catalog_size_join(struct catalog *catalog, struct store_txn *txn, struct table *table,
			    struct size_scope *scope, const struct size_change *changes,
			    struct err *err)
{
	struct tally_slot slots[SLOTS_MAX];
	size_t n = scope->epoch ? slots_of(table, changes, slots) : 0;
	enum code code = OK;

	if (n == 0)
		return OK;
	unsigned needs = tally_join(table->tally, scope->epoch, slots, n);
	if (needs & TALLY_NEEDS_LIST)
		catalog_listed_add(&catalog->sizes, table);
	if (needs & TALLY_NEEDS_MARK)
		code = put_mark(catalog, txn, table, scope->epoch, err);
	scope->has_joined = true;
	scope->has_marked = needs & TALLY_NEEDS_MARK;
	return code;
}

void catalog_size_leave(const struct table *table, const struct size_scope *scope,
			const struct size_change *changes, enum code code)
{
	struct tally_slot slots[SLOTS_MAX];

	if (scope->has_joined)
		tally_leave(table->tally, scope->epoch, slots, slots_of(table, changes, slots),
			    scope->has_marked, code);
}

/* What a flush does with one table. */
struct flushed {
	struct table *table;
	struct tally_batch batch;
	bool is_gone; /* the numbers of its epoch do not hold any more */
};

/* Before the tally is taken: a writer that puts it from now on is in the way of our commit, or
 * still in flight. */
static enum code hold_row(struct catalog *catalog, struct store_txn *txn, uint64_t number,
			  struct currency_row *row, struct err *err)
{
	enum code code = currency_read(txn, number, row, err);

	if (code != OK)
		return code;
	return size_rows_hold_mark(txn, err->arena, catalog->sizes.process, number, err);
}

static enum code put_tally_batch(struct catalog *catalog, struct store_txn *txn,
				 struct flushed *flushed, struct err *err)
{
	struct table *table = flushed->table;
	uint64_t number = table->identity.number;
	struct currency_row row = {0};
	enum code code = hold_row(catalog, txn, number, &row, err);

	tally_take(table->tally, err->arena, &flushed->batch);
	flushed->is_gone = !row.is_there || COUNT_EPOCH(row.count) != flushed->batch.epoch;
	if (code != OK)
		return code;
	if (flushed->batch.is_doubtful && !flushed->is_gone && !COUNT_IS_COUNTING(row.count)) {
		code = catalog_count_begin(txn, err->arena, number,
					   catalog_key_of(err->arena, catalog, table), &row, err);
		atomic_store(&catalog->sizes.has_counts, true);
	}
	if (code != OK)
		return code;
	for (size_t i = 0; i < flushed->batch.n && !flushed->is_gone; i++) {
		code = size_rows_add(txn, number, flushed->batch.epoch, &flushed->batch.slots[i],
				     err);
		if (code != OK)
			return code;
	}
	if (flushed->batch.unmarks)
		return size_rows_del_mark(txn, err->arena, catalog->sizes.process, number, err);
	return put_mark(catalog, txn, table, flushed->batch.epoch, err);
}

/* Takes the tables off the list that have nothing left. */
static void end_flush(struct catalog *catalog, struct flushed *flushed, size_t n, enum code code)
{
	struct size_keeping *sizes = &catalog->sizes;

	pthread_mutex_lock(&sizes->lock);
	for (size_t i = 0; i < n; i++) {
		bool is_clean = tally_flushed(flushed[i].table->tally, &flushed[i].batch, code);
		/* only now: what the batch had must be in the tally to be taken from it */
		if (code == OK && flushed[i].is_gone)
			tally_drop(flushed[i].table->tally, flushed[i].batch.epoch);
		if (is_clean)
			catalog_listed_remove(sizes, flushed[i].table->tally);
	}
	pthread_mutex_unlock(&sizes->lock);
}

static enum code flush_once(struct catalog *catalog, struct flushed *flushed, size_t n,
			    struct err *err)
{
	struct store_txn *txn;
	enum code code = store_begin(catalog->store, STORE_WRITE, &txn, err);
	size_t put = 0;

	if (code != OK)
		return code;
	if (catalog->options.has_peers)
		code = size_rows_live(txn, catalog->sizes.process, err);
	while (put < n && code == OK)
		code = put_tally_batch(catalog, txn, &flushed[put++], err);
	bool is_whole = code == OK;
	atomic_fetch_add(&catalog->sizes.flushes,
			 1); /* odd: the rows may have what the tallies still have */
	code = store_end(txn, code, err);
	end_flush(catalog, flushed, put, is_whole ? code : ERR_CONFLICT);
	atomic_fetch_add(&catalog->sizes.flushes, 1);
	return code;
}

static enum code flush_some(struct catalog *catalog, struct flushed *flushed, size_t n,
			    struct err *err)
{
	struct retry retry = {0};
	enum code code;

	do {
		code = flush_once(catalog, flushed, n, err);
	} while (retry_again(&retry, code));
	return retry_code(code, err);
}

enum code catalog_size_flush(struct catalog *catalog, struct err *err)
{
	struct size_keeping *sizes = &catalog->sizes;
	struct arena *arena = arena_new(0);
	enum code code = OK;

	pthread_mutex_lock(
		&sizes->flush_lock); /* one flush at a time: one number shows that it goes on */
	pthread_mutex_lock(&sizes->lock);
	size_t n = sizes->n;
	struct flushed *flushed = ARENA_ARRAY(arena, struct flushed, n);
	for (size_t i = 0; i < n; i++)
		flushed[i].table = table_ref(sizes->listed[i]);
	pthread_mutex_unlock(&sizes->lock);
	for (size_t i = 0; i < n && code == OK; i += TABLES_PER_FLUSH)
		code = flush_some(catalog, &flushed[i],
				  n - i < TABLES_PER_FLUSH ? n - i : TABLES_PER_FLUSH, err);
	pthread_mutex_unlock(&sizes->flush_lock);
	for (size_t i = 0; i < n; i++)
		table_unref(flushed[i].table);
	arena_free(arena);
	catalog_trim(catalog); /* what was listed stayed in memory */
	return code;
}

enum code catalog_size_keep(struct catalog *catalog, int64_t now_ms, struct err *err)
{
	enum code code = catalog_size_flush(catalog, err);

	return code == OK && catalog->options.has_peers ? catalog_orphans_take(catalog, now_ms, err)
							: code;
}

enum code catalog_size_step(struct catalog *catalog, bool *more, struct err *err)
{
	uint64_t *after = &catalog->sizes.counted;
	enum code code;

	*more = false;
	if (!atomic_load(&catalog->sizes.has_counts) && !catalog->options.has_peers)
		return OK;
	code = catalog_count_step(catalog, after, more, err);
	if (code == OK && !*more) {
		*more = *after > 0 &&
			!catalog->options.has_peers; /* once more from the first one */
		if (!*more)
			atomic_store(&catalog->sizes.has_counts, false);
		*after = 0;
	}
	return code;
}

/* Begins the count of a table that never was, and does a piece of one that is under way. */
static enum code count_in(struct catalog *catalog, struct store_txn *txn, const struct table *table,
			  struct arena *arena, bool *more, struct err *err)
{
	struct currency_row row;
	enum code code = currency_intend(txn, table->identity.number, err);

	if (code != OK)
		return code;
	code = currency_read(txn, table->identity.number, &row, err);
	if (code != OK)
		return code;
	if (row.is_there && row.count == 0)
		code = catalog_count_begin(txn, arena, table->identity.number,
					   catalog_key_of(arena, catalog, table), &row, err);
	if (code != OK || !COUNT_IS_COUNTING(row.count))
		return code;
	return catalog_count_piece(catalog, txn, arena, table->identity.number, more, err);
}

static enum code count_some(struct catalog *catalog, const struct table *table, struct arena *arena,
			    bool *more, struct err *err)
{
	struct store_txn *txn;
	bool is_more = false;
	enum code code = store_begin(catalog->store, STORE_WRITE, &txn, err);

	if (code != OK)
		return code;
	code = store_end(txn, count_in(catalog, txn, table, arena, &is_more, err), err);
	if (code == OK)
		*more = is_more;
	return code;
}

/* What cannot be counted now, as for want of room, is counted later. */
static void try_to_count(struct catalog *catalog, const struct table *table)
{
	struct arena *arena = arena_new(0);
	bool more = true;

	for (int i = 0; i < COUNT_LOOK_PIECES && more; i++) {
		struct err err = err_in(arena);

		if (count_some(catalog, table, arena, &more, &err) != OK)
			break;
		arena_reset(arena);
	}
	if (more)
		atomic_store(&catalog->sizes.has_counts, true);
	arena_free(arena);
}

static void sum_size_rows_up(const struct table *table, const struct size_rows *rows,
			     uint64_t epoch, struct table_size *sizes)
{
	for (size_t i = 0; i <= table_index_total(table); i++) {
		uint32_t slot = slot_of(table, i);
		struct size_change row = size_rows_of(rows, slot),
				   pending = tally_pending(table->tally, epoch, slot);
		long long items = row.items + pending.items, bytes = row.bytes + pending.bytes;

		sizes[i] = (struct table_size){items > 0 ? (uint64_t)items : 0,
					       bytes > 0 ? (uint64_t)bytes : 0};
	}
}

/* The numbers of the table's epoch. Where it has none until a count has ended: what this has come
 * to, and *epoch is UINT64_MAX, which no change is pending for. */
static enum code read_counted(struct store_txn *txn, struct arena *arena, uint64_t number,
			      struct currency_row *row, uint64_t *epoch, struct size_rows *rows,
			      struct err *err)
{
	enum code code = currency_read(txn, number, row, err);

	*epoch = UINT64_MAX;
	if (code != OK || !row->is_there)
		return code;
	uint64_t known = COUNT_EPOCH(row->count);
	if (known > 0) {
		*epoch = known;
		code = size_rows_read(txn, arena, number, known, rows, err);
	}
	if (code != OK || rows->n > 0 || (known > 0 && !COUNT_IS_COUNTING(row->count)))
		return code;
	*epoch = UINT64_MAX;
	return size_rows_read(txn, arena, number, known + 1, rows, err);
}

static enum code read_table_sizes(struct catalog *catalog, const struct table *table,
				  struct arena *arena, struct table_size *sizes, bool *is_counted,
				  struct err *err)
{
	struct currency_row row = {0};
	struct size_rows rows = {0, NULL};
	struct store_txn *txn;
	uint64_t epoch;
	enum code code = store_begin(catalog->store, STORE_READ, &txn, err);

	if (code != OK)
		return code;
	code = read_counted(txn, arena, table->identity.number, &row, &epoch, &rows, err);
	store_abort(txn);
	if (code != OK)
		return code;
	sum_size_rows_up(table, &rows, epoch, sizes);
	*is_counted = !row.is_there || table->state.status == STATUS_DELETING ||
		      (COUNT_EPOCH(row.count) > 0 && !COUNT_IS_COUNTING(row.count));
	return OK;
}

enum code catalog_sizes(struct catalog *catalog, const struct table *table, struct arena *arena,
			struct table_size **sizes, struct err *err)
{
	bool is_counted, has_tried = false;

	*sizes = ARENA_ARRAY(arena, struct table_size, 1 + table_index_total(table));
	for (int naps = 0;; naps++) {
		unsigned flushes = atomic_load(&catalog->sizes.flushes);
		enum code code = read_table_sizes(catalog, table, arena, *sizes, &is_counted, err);

		if (code != OK)
			return code;
		if (!is_counted && !has_tried) {
			has_tried = true;
			try_to_count(catalog, table);
			continue;
		}
		if ((flushes % 2 == 0 && atomic_load(&catalog->sizes.flushes) == flushes) ||
		    naps > FLUSH_NAPS_MAX)
			return OK;
		nanosleep(&(struct timespec){0, FLUSH_NAP_NS}, NULL);
	}
}

enum code catalog_size(struct catalog *catalog, struct table *table, const struct index *index,
		       uint64_t *items, uint64_t *bytes, struct err *err)
{
	struct table_size *sizes;
	enum code code = catalog_sizes(catalog, table, err->arena, &sizes, err);

	if (code != OK)
		return code;
	size_t at = 0;
	for (size_t i = 0; i < table_index_total(table) && index; i++)
		at = table_index_at(table, i)->number == index->number ? i + 1 : at;
	*items = sizes[at].items;
	*bytes = sizes[at].bytes;
	return OK;
}

/* Reads the rows that tally_known_bytes() wants. */
static enum code know_bytes(struct store_txn *txn, const struct table *table, uint64_t epoch,
			    const uint32_t *slots, size_t n, struct err *err)
{
	struct size_rows rows;
	long long bytes = 0;
	enum code code = size_rows_read(txn, err->arena, table->identity.number, epoch, &rows, err);

	if (code != OK)
		return code;
	for (size_t i = 0; i < n; i++)
		bytes += size_rows_of(&rows, slots[i]).bytes;
	tally_know(table->tally, epoch, bytes);
	return OK;
}

enum code catalog_size_most(struct catalog *catalog, struct store_txn *txn,
			    const struct table *table, const struct size_scope *scope,
			    long long *bytes, struct err *err)
{
	uint32_t slots[SLOTS_MAX] = {TALLY_TABLE};
	size_t n = 1;
	enum code code = OK;

	*bytes = LLONG_MAX / 2;
	if (scope->epoch == 0)
		return OK;
	for (size_t i = 0; i < table->indexes.n && table->indexes.v[i].is_local; i++)
		slots[n++] = 1 + table->indexes.v[i].number;
	bool is_known = tally_known_bytes(table->tally, scope->epoch, slots, n, bytes);
	if (!is_known) {
		code = know_bytes(txn, table, scope->epoch, slots, n, err);
		is_known = tally_known_bytes(table->tally, scope->epoch, slots, n, bytes);
	}
	if (!is_known) /* the table was counted meanwhile: this transaction will be refused */
		*bytes = LLONG_MAX / 2;
	else if (catalog->options.has_peers)
		*bytes += PEERS_BYTES;
	return code;
}

enum code catalog_size_index(struct store_txn *txn, const struct table *table,
			     const struct index *index, const struct size_scope *scope,
			     uint64_t *items, struct err *err)
{
	struct size_rows rows;

	*items = UINT64_MAX;
	if (scope->epoch == 0)
		return OK;
	enum code code =
		size_rows_read(txn, err->arena, table->identity.number, scope->epoch, &rows, err);
	if (code != OK)
		return code;
	long long n = size_rows_of(&rows, 1 + index->number).items +
		      tally_pending(table->tally, scope->epoch, 1 + index->number).items;
	*items = n > 0 ? (uint64_t)n : 0;
	return OK;
}

/* Whether the table has the vector index, by which its items are sized. */
static bool is_sized_by(const struct table *table, const struct index *vector)
{
	const struct index *own = table_vector(table, vector->name);

	return own && own->number == vector->number && index_is_kept(own) == index_is_kept(vector);
}

/* A table's vector indexes say how its items are sized. */
static bool is_sized_alike(const struct table *current, const struct table *next)
{
	bool is_alike = current->indexes.vector_n == next->indexes.vector_n;

	for (size_t i = 0; i < next->indexes.vector_n && is_alike; i++)
		is_alike = is_sized_by(current, &next->indexes.vectors[i]);
	return is_alike;
}

enum code catalog_size_change(struct catalog *catalog, struct store_txn *txn,
			      const struct table *current, const struct table *next, uint64_t count,
			      struct err *err)
{
	uint64_t number = next->identity.number;
	enum code code = OK;

	for (size_t i = 0; i < table_index_total(current) && code == OK; i++) {
		uint32_t index = table_index_at(current, i)->number;

		if (!table_index_numbered(next, index))
			code = size_rows_drop_slot(txn, number, COUNT_EPOCH(count), 1 + index, err);
	}
	if (code != OK || count == 0 || is_sized_alike(current, next))
		return code;
	struct currency_row row;
	code = currency_read(txn, number, &row, err);
	atomic_store(&catalog->sizes.has_counts, true);
	return code == OK
		       ? catalog_count_begin(txn, err->arena, number,
					     catalog_key_of(err->arena, catalog, next), &row, err)
		       : code;
}

/* Of a table that was gone the row is new: the version, which only rises, is beyond the epochs that
 * its numbers had. */
enum code catalog_size_again(struct catalog *catalog, struct store_txn *txn, struct arena *arena,
			     uint64_t number, struct str record, struct currency_row *row,
			     struct err *err)
{
	uint64_t epoch =
		COUNT_EPOCH(row->count) > row->version ? COUNT_EPOCH(row->count) : row->version;

	row->count = COUNT_OF(epoch, 0);
	atomic_store(&catalog->sizes.has_counts, true);
	return catalog_count_begin(txn, arena, number, record, row, err);
}

void catalog_sizes_open(struct catalog *catalog)
{
	struct size_keeping *sizes = &catalog->sizes;

	pthread_mutex_init(&sizes->lock, NULL);
	pthread_mutex_init(&sizes->flush_lock, NULL);
	if (getentropy(&sizes->process, sizeof(sizes->process)) != 0)
		sizes->process = (uint64_t)(uintptr_t)catalog ^ (uint64_t)getpid();
	sizes->process >>= 1;                   /* no key begins with 0xFF */
	atomic_store(&sizes->has_counts, true); /* an earlier process may have left some */
}

void catalog_sizes_close(struct catalog *catalog)
{
	struct size_keeping *sizes = &catalog->sizes;

	catalog_listed_free(sizes);
	catalog_orphans_free(&sizes->orphans);
	pthread_mutex_destroy(&sizes->lock);
	pthread_mutex_destroy(&sizes->flush_lock);
}
