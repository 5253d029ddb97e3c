#include "core/image.h"
#include "storage/catalog/catalog_internal.h"
#include "storage/catalog/size_rows.h"
#include "storage/index_row.h"
#include "storage/store/row.h"
#include "storage/store/retry.h"
#include "storage/vector/vector_row.h"

/* Of one piece, which one transaction reads while writers wait: a few milliseconds. */
#define COUNT_STEP_ROWS 1000
#define COUNT_STEP_BYTES (1024 * 1024)

enum code catalog_count_begin(struct store_txn *txn, struct arena *arena, uint64_t number,
			      struct str record, struct currency_row *row, struct err *err)
{
	const struct size_count count = {number, COUNT_EPOCH(row->count) + 1, record, STR("")};
	enum code code = size_rows_drop_epoch(txn, number, count.epoch, err);

	if (code != OK)
		return code;
	code = size_rows_put_count(txn, arena, &count, err);
	if (code != OK)
		return code;
	row->count = COUNT_OF(COUNT_EPOCH(row->count), 1);
	return currency_write(txn, number, row, err);
}

struct piece {
	struct store_txn *txn;
	struct arena *arena;
	const struct table *table;
	struct tally_slot *slots; /* [0] the table's, [1 + i] of index i */
};

/* An index that is being filled or emptied has the rows that it has: the filling adds the others.
 */
static enum code count_index_row(struct piece *piece, size_t i, const struct value *item,
				 struct str image, struct err *err)
{
	const struct index *index = table_index_at(piece->table, i);
	struct str known = STR("");
	enum code code = OK;

	struct index_row row = index_row_of(piece->arena, piece->table, index, item, image);
	if (str_is_set(row.key) && (index->is_backfilling || !index_is_kept(index)))
		code = store_get(piece->txn, index_keyspace(piece->table, index), row.key,
				 piece->arena, &known, err);
	if (code != OK || !str_is_set(row.key) || !str_is_set(known))
		return code;
	piece->slots[1 + i].change.items++;
	piece->slots[1 + i].change.bytes += (long long)row.size;
	return OK;
}

static enum code count_item(struct piece *piece, struct str key, struct str image, struct err *err)
{
	struct value item;

	piece->slots[0].change.items++;
	if (table_index_total(piece->table) == 0) { /* the image says it all */
		piece->slots[0].change.bytes += (long long)image_item_size(image);
		return OK;
	}
	if (!image_decode(piece->arena, image, &item))
		return row_malformed(err, table_items(piece->table), key);
	piece->slots[0].change.bytes +=
		(long long)vector_row_billed_size(piece->table, &item, image_item_size(image));
	for (size_t i = 0; i < table_index_total(piece->table); i++) {
		enum code code = count_index_row(piece, i, &item, image, err);
		if (code != OK)
			return code;
	}
	return OK;
}

/* Reads the items behind count->next, adds their numbers to the rows, and moves count->next. */
static enum code count_items(struct piece *piece, struct size_count *count, bool *more,
			     struct err *err)
{
	size_t n = 1 + table_index_total(piece->table);
	struct store_range range = {count->next, STR_ABSENT, false};
	struct store_page page = {.n = 0};
	enum code code = store_page(piece->txn, table_items(piece->table), &range,
				    (struct store_bounds){COUNT_STEP_ROWS, COUNT_STEP_BYTES},
				    piece->arena, &page, err);

	piece->slots = ARENA_ARRAY(piece->arena, struct tally_slot, n);
	for (size_t i = 1; i < n; i++)
		piece->slots[i].slot = 1 + table_index_at(piece->table, i - 1)->number;
	for (size_t i = 0; code == OK && i < page.n; i++)
		code = count_item(piece, page.v[i].key, page.v[i].value, err);
	for (size_t i = 0; i < n && code == OK; i++)
		code = size_rows_add(piece->txn, count->table, count->epoch, &piece->slots[i], err);
	*more = code == OK && page.is_more;
	if (*more) {
		store_range_after(&range, &page, piece->arena);
		count->next = range.low;
	}
	return code;
}

/* The numbers that were counted hold from now on. */
static enum code finish(struct store_txn *txn, const struct size_count *count,
			struct currency_row *row, struct err *err)
{
	enum code code = size_rows_drop_epoch(txn, count->table, COUNT_EPOCH(row->count), err);

	row->count = COUNT_OF(count->epoch, 0);
	if (code != OK)
		return code;
	code = size_rows_del_count(txn, count->table, err);
	return code == OK ? currency_write(txn, count->table, row, err) : code;
}

static enum code count_on(struct piece *piece, struct size_count *count, struct currency_row *row,
			  bool *more, struct err *err)
{
	enum code code = count_items(piece, count, more, err);

	if (code != OK)
		return code;
	return *more ? size_rows_put_count(piece->txn, piece->arena, count, err)
		     : finish(piece->txn, count, row, err);
}

enum code catalog_count_piece(struct catalog *catalog, struct store_txn *txn, struct arena *arena,
			      uint64_t number, bool *more, struct err *err)
{
	struct piece piece = {.txn = txn, .arena = arena};
	struct currency_row row = {0};
	struct size_count count;
	struct table *table;
	bool is_counting;
	enum code code = size_rows_get_count(txn, arena, number, &count, &is_counting, err);

	*more = false;
	if (code != OK || !is_counting)
		return code;
	code = currency_intend(txn, number, err);
	if (code != OK)
		return code;
	code = currency_read(txn, number, &row, err);
	if (code != OK)
		return code;
	code = catalog_stored(catalog, txn, count.record, &table, err);
	if (code != OK)
		return code;
	bool is_there = row.is_there && table && table->identity.number == number &&
			table->state.status != STATUS_DELETING;
	bool is_due = is_there && COUNT_IS_COUNTING(row.count) &&
		      COUNT_EPOCH(row.count) + 1 == count.epoch;
	piece.table = table;
	code = is_due ? count_on(&piece, &count, &row, more, err)
		      : size_rows_del_count(txn, number, err); /* the table is gone */
	table_unref(table);
	return code;
}

static enum code step_once(struct catalog *catalog, struct arena *arena, uint64_t *after,
			   bool *is_there, struct err *err)
{
	struct size_count count;
	struct store_txn *txn;
	bool more;
	enum code code = store_begin(catalog->store, STORE_READ, &txn, err);

	*is_there = false;
	if (code != OK)
		return code;
	code = size_rows_next_count(txn, arena, *after, &count, is_there, err);
	store_abort(txn);
	if (code != OK || !*is_there)
		return code;
	code = store_begin(catalog->store, STORE_WRITE, &txn, err);
	if (code != OK)
		return code;
	code = catalog_count_piece(catalog, txn, arena, count.table, &more, err);
	*after = more ? count.table - 1 : count.table;
	return store_end(txn, code, err);
}

enum code catalog_count_step(struct catalog *catalog, uint64_t *after, bool *more, struct err *err)
{
	struct arena *arena = arena_new(0);
	struct retry retry = {0};
	uint64_t from = *after;
	enum code code;

	do {
		arena_reset(arena);
		*after = from;
		code = step_once(catalog, arena, after, more, err);
	} while (retry_again(&retry, code));
	arena_free(arena);
	return retry_code(code, err);
}
