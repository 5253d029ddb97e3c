#include "storage/read.h"

#include "core/image.h"
#include "core/key.h"
#include "storage/index_row.h"
#include "storage/item_key.h"
#include "storage/lag/history.h"
#include "storage/messages.h"
#include "storage/schema/currency.h"
#include "storage/store/row.h"
#include "storage/vector/vector_row.h"

#define SCRATCH_BYTES (64 * 1024)   /* of rows that are counted and forgotten, at once */
#define BATCH_BYTES_MIN                                                                            \
	(16 * 1024) /* of rows asked for at once: the last few of a page are not worth many calls  \
		     */

enum code read_prepare(struct arena *arena, struct read_item *item, struct err *err)
{
	return item_key_of_key(arena, item->table, item->key, &item->row_key, err);
}

static struct ns ns_of(const struct table *table)
{
	return (struct ns){table->identity.account, table->identity.region};
}

/* The moment that the reads of a table see, by what its row says (absent: nothing); *is_past: it is
 * not now. */
static enum code look_back(struct catalog *catalog, struct store_txn *txn,
			   const struct table *table, struct str row, bool is_global,
			   struct history_view *view, bool *is_past, struct err *err)
{
	int64_t now_ms = 0;
	struct lag lag;

	*is_past = catalog_options(catalog)->clocks &&
		   lag_holds(row, &catalog_options(catalog)->lag, &lag) &&
		   lag_ms(&lag, is_global) > 0;
	enum code code = *is_past ? clocks_tell(catalog_options(catalog)->clocks, txn, ns_of(table),
						&now_ms, err)
				  : OK;
	if (*is_past)
		*view = history_view_of(&lag, is_global, now_ms);
	return code;
}

/* Whether a table may lag: no more than a look where none does. */
static inline bool may_lag(const struct catalog *catalog, struct str row)
{
	return str_is_set(row) || lag_is_on(&catalog_options(catalog)->lag);
}

static enum code read_past(struct catalog *catalog, struct store_txn *txn, struct arena *arena,
			   const struct read_item *item, struct currency_item *row, struct err *err)
{
	struct history_view view;
	bool is_past = false;
	enum code code = item->mode == READ_EVENTUAL ? look_back(catalog, txn, row->table, row->lag,
								 false, &view, &is_past, err)
						     : OK;

	return code == OK && is_past ? history_get(txn, &view, table_items(row->table),
						   row->row_key, arena, &row->image, err)
				     : code;
}

/* What fails in a copy of the store is run again where it cannot be the copy's fault. */
static inline enum code code_of(const struct store_txn *txn, enum code code)
{
	return code != OK && txn->is_behind ? ERR_CONFLICT : code;
}

/* What the reading of an item of the table is charged for. */
static size_t charged_size(const struct table *table, struct arena *arena, struct str image,
			   bool charges_numbers)
{
	return charges_numbers ? image_item_size(image) : vector_row_read_size(table, arena, image);
}

static enum code read_items_in(struct catalog *catalog, struct store_txn *txn, struct arena *arena,
			       struct read_item *items, struct currency_item *rows, size_t n,
			       struct err *err)
{
	enum code code = currency_get_items(txn, arena, rows, n, err);

	if (code != OK)
		return code;
	for (size_t i = 0; i < n; i++) {
		if (!may_lag(catalog, rows[i].lag))
			continue;
		code = read_past(catalog, txn, arena, &items[i], &rows[i], err);
		if (code != OK)
			return code;
	}
	return err_if_over(arena, err);
}

static enum code read_part(struct catalog *catalog, enum store_mode mode, struct arena *arena,
			   struct read_item *items, size_t n, struct err *err)
{
	struct currency_item one, *rows = n == 1 ? &one : arena_alloc(arena, n * sizeof(*rows));
	struct store_txn *txn;
	enum code code = store_begin(catalog_store(catalog), mode, &txn, err);

	if (code != OK)
		return code;
	for (size_t i = 0; i < n; i++)
		rows[i] = (struct currency_item){.table = items[i].table,
						 .row_key = items[i].row_key};
	code = read_items_in(catalog, txn, arena, items, rows, n, err);
	if (code != OK) {
		code = code_of(txn, code);
		store_abort(txn);
		return code;
	}
	for (size_t i = 0; i < n; i++) {
		items[i].image = rows[i].image;
		items[i].cost = (struct cost){.table = items[i].table};
		items[i].cost.base.read =
			capacity_read(charged_size(items[i].table, arena, rows[i].image,
						   items[i].charges_numbers),
				      items[i].mode);
	}
	return store_commit(txn, err);
}

static bool may_be_behind(const struct read_item *items, size_t n)
{
	size_t i = 0;

	while (i < n && items[i].mode == READ_EVENTUAL)
		i++;
	return i == n;
}

enum code read_items(struct catalog *catalog, struct arena *arena, struct read_item *items,
		     size_t n, struct err *err)
{
	bool is_one = n == 0 || items[0].mode == READ_TRANSACTIONAL;
	size_t part = is_one ? n : store_units(catalog_store(catalog), n, ITEM_SIZE_MAX);

	for (size_t i = 0; i < n; i += part) {
		size_t count = n - i < part ? n - i : part;
		enum code code = read_part(catalog,
					   may_be_behind(items + i, count) ? STORE_READ_ONCE_BEHIND
									   : STORE_READ_ONCE,
					   arena, items + i, count, err);

		if (code == ERR_CONFLICT) /* it read more than once, as where a table lags; or a
					     copy of the store could not answer */
			code = read_part(catalog, STORE_READ, arena, items + i, count, err);
		if (code != OK)
			return code;
	}
	return OK;
}

/* Rows that the store gave at once. */
struct batch {
	struct store_row *rows;
	struct str *bases; /* the whole items, where rows of a local index are completed from the
			      table */
	size_t n;
	struct batch *next;
};

/* A page under way. */
struct visit {
	struct read_page *page;
	struct arena *arena;
	struct store_txn *txn;
	enum read_mode mode;
	bool needs_base; /* rows of a local index are completed from the table: for what is wanted
			  */
	bool filters_base;   /* the same, for the filter */
	bool is_full;
	uint64_t most;       /* rows */
	size_t bytes;        /* of the rows visited, by DynamoDB's rules */
	size_t charged;      /* the same, as they are charged for */
	struct arena *scratch;         /* for rows of which only the number is wanted; or NULL */
	struct batch *batches, **last;
	const struct history_view *past; /* NULL: it sees the present */
};

static bool is_held(void *page, const struct path *path)
{
	return index_projects(((struct read_page *)page)->index, path->steps[0].name);
}

/* Whether the page wants attributes that its index does not hold; only local indexes can fetch
 * them. */
static bool is_base_needed(struct read_page *page)
{
	const struct index *index = page->index;

	if (!index || !index->is_local || index->projection == PROJECT_ALL ||
	    page->select == READ_COUNT)
		return false;
	if (page->select == READ_ALL_ATTRIBUTES)
		return true;
	for (size_t i = 0; page->projection && i < page->projection->n; i++) {
		if (!is_held(page, page->projection->paths[i]))
			return true;
	}
	return false;
}

static bool is_base_filtered(struct read_page *page)
{
	return page->index && page->index->is_local && page->filter && !page->filters_row &&
	       !node_walk_paths(page->filter, is_held, page);
}

/* The whole items of the rows of an index; bills their reading to the table. */
static enum code fetch_bases(struct visit *visit, struct batch *batch, struct err *err)
{
	const struct table *table = visit->page->table;
	struct store_key *keys = ARENA_ARRAY(visit->arena, struct store_key, batch->n);
	enum code code = OK;

	batch->bases = ARENA_ARRAY(visit->arena, struct str, batch->n);
	for (size_t i = 0; i < batch->n; i++) {
		struct value own =
			item_key_attributes(visit->arena, table, NULL, batch->rows[i].value);

		keys[i].keyspace = table_items(table);
		code = item_key_of_key(visit->arena, table, &own, &keys[i].key, err);
		if (code != OK)
			return code;
	}
	code = store_get_many(visit->txn, keys, batch->n, visit->arena, batch->bases, err);
	if (code != OK)
		return code;
	for (size_t i = 0; i < batch->n && visit->past; i++) {
		code = history_get(visit->txn, visit->past, keys[i].keyspace, keys[i].key,
				   visit->arena, &batch->bases[i], err);
		if (code != OK)
			return code;
	}
	for (size_t i = 0; i < batch->n; i++) {
		if (!str_is_set(batch->bases[i]))
			return row_malformed(err, keys[i].keyspace, keys[i].key);
		visit->page->found.cost.base.read +=
			capacity_read(charged_size(table, visit->arena, batch->bases[i],
						   visit->page->charges_numbers),
				      visit->mode);
	}
	return OK;
}

/* Takes the rows of a batch up to the one that fills the page. */
static void count_rows(struct visit *visit, struct batch *batch)
{
	struct read_page *page = visit->page;
	bool has_vectors =
		!page->index && !page->charges_numbers && page->table->indexes.vector_n > 0;
	struct arena *scratch = has_vectors ? arena_new(0) : NULL;

	for (size_t i = 0; i < batch->n && !visit->is_full; i++) {
		size_t size = image_item_size(batch->rows[i].value);

		page->found.scanned++;
		visit->bytes += size;
		visit->charged += has_vectors ? vector_row_read_size(page->table, scratch,
								     batch->rows[i].value)
					      : size;
		if (has_vectors)
			arena_reset(scratch);
		visit->is_full = page->found.scanned >= visit->most ||
				 page->bytes_before + visit->bytes >= PAGE_SIZE_MAX;
		if (visit->is_full) {
			struct str row = visit->scratch
						 ? str_copy(visit->arena, batch->rows[i].value)
						 : batch->rows[i].value;

			batch->n = i + 1;
			page->found.last_key =
				item_key_attributes(visit->arena, page->table, page->index, row);
		}
	}
	arena_free(scratch);
}

/* As many rows as the page can still take, or a little more: in the store they may be smaller than
 * DynamoDB's rules say, or larger. */
static struct store_bounds bounds_of(const struct visit *visit)
{
	const struct read_page *page = visit->page;
	size_t taken = page->bytes_before + visit->bytes,
	       left = taken < PAGE_SIZE_MAX ? PAGE_SIZE_MAX - taken : 0;

	if (visit->scratch && left > SCRATCH_BYTES)
		left = SCRATCH_BYTES;
	return (struct store_bounds){visit->most - page->found.scanned,
				     left > BATCH_BYTES_MIN ? left : BATCH_BYTES_MIN};
}

/* The rows are copies, which are looked at when the transaction has ended: others may wait for its
 * end. */
static enum code read_visited_rows(struct visit *visit, struct store_range range, struct err *err)
{
	struct read_page *page = visit->page;
	struct keyspace keyspace =
		page->index ? index_keyspace(page->table, page->index) : table_items(page->table);
	struct index_row_reference room;
	const struct store_reference *reference =
		index_row_reference(page->table, page->index, &room);
	struct store_page rows = {.is_more = true};

	while (rows.is_more && !visit->is_full) {
		struct arena *arena = visit->scratch ? visit->scratch : visit->arena;
		enum code code =
			visit->past ? history_page(visit->txn, visit->past, keyspace, reference,
						   &range, bounds_of(visit), arena, &rows, err)
				    : store_page_of(visit->txn, keyspace, reference, &range,
						    bounds_of(visit), arena, &rows, err);

		if (code != OK || rows.n == 0)
			return code;
		for (size_t i = 0; i < rows.n; i++) {
			if (!str_is_set(
				    rows.v[i].value)) /* it stands for an item that is not there */
				return row_malformed(err, keyspace, rows.v[i].key);
		}
		struct batch *batch = ARENA_NEW(arena, struct batch);
		*batch = (struct batch){.rows = rows.v, .n = rows.n};
		count_rows(visit, batch);
		if (visit->needs_base || visit->filters_base)
			code = fetch_bases(visit, batch, err);
		if (code != OK)
			return code;
		code = err_if_over(visit->arena, err);
		if (code != OK)
			return code;
		if (rows.is_more && !visit->is_full)
			store_range_after(&range, &rows, visit->arena);
		if (visit->scratch) {
			arena_reset(visit->scratch);
			continue;
		}
		*visit->last = batch;
		visit->last = &batch->next;
	}
	return OK;
}

static void deliver_item(struct visit *visit, struct str image, struct str filtered)
{
	struct read_page *page = visit->page;
	struct subject subject = {visit->arena, NULL, filtered};

	if (page->filter && !expr_eval(page->filter, &subject))
		return;
	subject.image = image;
	struct read_row *row = &page->found.rows[page->found.count++];
	if (page->select == READ_COUNT)
		return;
	if (page->projection && !page->wants_image)
		row->projected = expr_project(page->projection, &subject);
	else
		row->image = image;
}

static enum code deliver_all(struct visit *visit, struct err *err)
{
	struct read_found *found = &visit->page->found;
	enum code code = OK;

	found->rows = ARENA_ARRAY(visit->arena, struct read_row, found->scanned);
	for (struct batch *batch = visit->batches; batch; batch = batch->next) {
		for (size_t i = 0; i < batch->n && code == OK; i++) {
			struct str own = batch->rows[i].value,
				   base = batch->bases ? batch->bases[i] : own;

			deliver_item(visit, visit->needs_base ? base : own,
				     visit->filters_base ? base : own);
			if (!arena_works(visit->arena, 8))
				code = err_if_over(visit->arena, err);
		}
	}
	return code;
}

static struct str later(struct str a, struct str b)
{
	return !str_is_set(a) || (str_is_set(b) && str_cmp(b, a) > 0) ? b : a;
}

static struct str earlier(struct str a, struct str b)
{
	return !str_is_set(a) || (str_is_set(b) && str_cmp(b, a) < 0) ? b : a;
}

static struct store_range whole_range(struct arena *arena, const struct read_page *page)
{
	struct store_range range = {STR_ABSENT, STR_ABSENT, false};

	if (page->keys)
		range = page->keys->range;
	else if (page->segments > 0)
		key_segment(arena, page->table->hash, page->segment, page->segments, &range.low,
			    &range.high);
	range.is_reverse = page->is_reverse;
	return range;
}

/* The range without what lies up to the start key. No key is a prefix of another, so a byte after
 * it is the next possible one. */
static struct store_range page_range(struct arena *arena, const struct read_page *page)
{
	struct store_range range = whole_range(arena, page);
	struct buf after = buf_in(arena);

	if (!str_is_set(page->start_after))
		return range;
	if (page->is_reverse) {
		range.high = earlier(range.high, page->start_after);
		return range;
	}
	buf_add_str(&after, page->start_after);
	buf_add_byte(&after, 0);
	range.low = later(range.low, buf_str(&after));
	return range;
}

/* `code` unless the table is another one by now. *lag is its row's. */
static enum code check_version(struct visit *visit, enum code code, struct str *lag,
			       struct err *err)
{
	struct err own = err_in(err->arena);
	enum code current = currency_check_lag(visit->txn, visit->page->table, lag, &own);

	if (current == OK)
		return code;
	*err = own;
	return current;
}

/* Nothing found so far. */
static void restart(struct visit *visit)
{
	visit->page->found =
		(struct read_found){.last_key = VALUE_NONE, .cost = {.table = visit->page->table}};
	visit->is_full = false;
	visit->bytes = visit->charged = 0;
	visit->batches = NULL;
	visit->last = &visit->batches;
}

/* The rows again, as they were, where the table lags. */
static enum code read_rows_past(struct catalog *catalog, struct visit *visit,
				struct store_range range, struct str lag, struct err *err)
{
	const struct read_page *page = visit->page;
	struct history_view view;
	bool is_past;
	enum code code = look_back(catalog, visit->txn, page->table, lag,
				   page->index && !page->index->is_local, &view, &is_past, err);

	if (code != OK || !is_past)
		return code;
	restart(visit);
	visit->past = &view;
	code = read_visited_rows(visit, range, err);
	visit->past = NULL;
	return code;
}

static enum code read_in_snapshot(struct catalog *catalog, struct visit *visit, struct err *err)
{
	struct str lag = STR_ABSENT;
	struct store_range range = page_range(visit->arena, visit->page);

	restart(visit);
	enum code code = currency_foresee(visit->txn, visit->arena, visit->page->table, err);
	if (code != OK)
		return code;
	code = read_visited_rows(visit, range, err);
	if (code != OK && code != ERR_RESOURCE_NOT_FOUND)
		return code;
	/* last, since it comes with the rows; those of a table that was changed or is gone count
	 * for nothing */
	code = check_version(visit, code, &lag, err);
	if (code != OK || visit->mode != READ_EVENTUAL || !may_lag(catalog, lag))
		return code;
	return read_rows_past(catalog, visit, range, lag, err);
}

/* One snapshot of the rows. */
static enum code read_in(struct catalog *catalog, struct visit *visit, enum store_mode mode,
			 struct err *err)
{
	enum code code = store_begin(catalog_store(catalog), mode, &visit->txn, err);

	if (code != OK)
		return code;
	code = read_in_snapshot(catalog, visit, err);
	if (code == OK)
		return store_commit(visit->txn, err);
	code = code_of(visit->txn, code);
	store_abort(visit->txn);
	return code;
}

/* Mostly one call of the store gives all rows. */
static enum code read_snapshot(struct catalog *catalog, struct visit *visit, struct err *err)
{
	bool has_bases = visit->needs_base || visit->filters_base;
	bool may_be_past = visit->mode == READ_EVENTUAL;
	enum code code = ERR_CONFLICT;

	if (may_be_past)
		code = read_in(catalog, visit,
			       has_bases ? STORE_READ_BEHIND : STORE_READ_ONCE_BEHIND, err);
	else if (!has_bases)
		code = read_in(catalog, visit, STORE_READ_ONCE, err);
	return code == ERR_CONFLICT ? read_in(catalog, visit, STORE_READ, err) : code;
}

enum code read_page(struct catalog *catalog, struct arena *arena, struct read_page *page,
		    struct err *err)
{
	bool is_counted_only = page->select == READ_COUNT && !page->filter;
	struct visit visit = {
		.page = page,
		.arena = arena,
		.mode = page->is_consistent ? READ_CONSISTENT : READ_EVENTUAL,
		.needs_base = is_base_needed(page),
		.filters_base = is_base_filtered(page),
		.most = page->limit ? page->limit : SIZE_MAX,
		.scratch = is_counted_only ? arena_new(SCRATCH_BYTES * 2) : NULL,
	};

	if (visit.needs_base ||
	    visit.filters_base) /* a page may end early, and says where to go on */
		visit.most = store_units(catalog_store(catalog), visit.most, ITEM_SIZE_MAX);
	enum code code = read_snapshot(catalog, &visit, err);
	if (is_counted_only) {
		arena_free(visit.scratch);
		page->found.count = page->found.scanned;
	}
	if (code != OK)
		return code;
	code = is_counted_only ? OK : deliver_all(&visit, err);
	if (code != OK)
		return code;
	double units = capacity_read(visit.charged, visit.mode);
	page->found.bytes = visit.bytes;
	if (page->index) {
		size_t i = (size_t)(page->index - page->table->indexes.v);

		page->found.cost.index[i].read = units;
		page->found.cost.index_is_touched[i] = true;
	} else {
		page->found.cost.base.read = units;
	}
	return OK;
}

static bool is_key_of(const struct key_schema *keys, struct str name)
{
	for (unsigned i = 0; i < key_schema_count(keys); i++)
		if (str_eq(keys->attributes[i].name, name))
			return true;
	return false;
}

/* How many attributes a start key has: the keys of the table, and those of the index that are not
 * among them. */
static unsigned start_key_count(const struct table *table, const struct index *index)
{
	unsigned n = key_schema_count(&table->keys);

	for (unsigned i = 0; index && i < key_schema_count(&index->keys); i++)
		n += !is_key_of(&table->keys, index->keys.attributes[i].name);
	return n;
}

/* Whether the start key has the keys, of their types. */
static bool has_keys(const struct key_schema *keys, const struct value *start_key)
{
	for (unsigned i = 0; i < key_schema_count(keys); i++) {
		const struct value *value = value_member(start_key, keys->attributes[i].name);

		if (!value || value->type != keys->attributes[i].type)
			return false;
	}
	return true;
}

enum code read_check_index_keys(const struct read_page *page, const struct value *start_key,
				struct err *err)
{
	const struct index *index = page->index;

	if (start_key->n != start_key_count(page->table, index))
		return index ? err_set(err, MSG_START_KEY_INVALID)
			     : err_set(err, MSG_START_KEY_SCHEMA);
	for (unsigned i = 0; index && i < key_schema_count(&index->keys); i++) {
		const struct value *value = value_member(start_key, index->keys.attributes[i].name);

		if (!value)
			return err_set(err, MSG_START_KEY_INVALID);
		if (value->type != index->keys.attributes[i].type)
			return err_set(err, MSG_KEY_SCHEMA);
	}
	return OK;
}

/* Exactly the key attributes of the table and the index, of their types. */
static enum code check_start_keys(const struct read_page *page, const struct value *start_key,
				  struct err *err)
{
	const struct table *table = page->table;
	const struct index *index = page->index;

	if (page->keys || page->is_newer) {
		bool is_right = start_key->n == start_key_count(table, index) &&
				has_keys(&table->keys, start_key);

		return is_right && (!index || has_keys(&index->keys, start_key))
			       ? OK
			       : err_set(err, MSG_START_KEY_INVALID);
	}
	enum code code = read_check_index_keys(page, start_key, err);
	return code != OK || has_keys(&table->keys, start_key) ? code
							       : err_set(err, MSG_START_KEY_SCHEMA);
}

/* As for the keys of items, none may be empty. */
static enum code check_start_values(const struct read_page *page, const struct value *start_key,
				    struct err *err)
{
	const struct table *table = page->table;
	const struct index *index = page->index;

	for (uint32_t i = 0; i < start_key->n; i++) {
		const struct member *member = &start_key->members[i];
		const char *kind = member->value.type == TYPE_S ? "string" : "binary";

		if (member->value.n > 0)
			continue;
		if (is_key_of(&table->keys, member->name))
			return page->keys ? err_set(err, MSG_KEY_EMPTY, kind, STR_ARG(member->name))
					  : err_set(err, MSG_START_KEY_EMPTY, kind,
						    STR_ARG(member->name));
		return err_set(err, MSG_START_KEY_INDEX_EMPTY, kind, STR_ARG(index->name),
			       STR_ARG(member->name));
	}
	return OK;
}

/* The encoded partition key of the start key. */
static struct str start_partition(struct arena *arena, const struct table *table,
				  const struct key_schema *keys, const struct value *start_key)
{
	const struct value *values[KEY_ATTRIBUTES_MAX];
	struct buf buf = buf_in(arena);

	for (unsigned i = 0; i < keys->hash_count; i++)
		values[i] = value_member(start_key, keys->attributes[i].name);
	key_add_partition(&buf, table->hash, values, keys->hash_count);
	return buf_str(&buf);
}

static bool is_within(const struct store_range *range, struct str key)
{
	return (!str_is_set(range->low) || str_cmp(key, range->low) >= 0) &&
	       (!str_is_set(range->high) || str_cmp(key, range->high) < 0);
}

/* Whether an element of the partition key but the last differs: AWS looks no further then. `own` is
 * the start key's partition. */
static bool is_elsewhere(struct arena *arena, const struct key_schema *keys,
			 const struct value *start_key, struct str own, struct str partition)
{
	struct buf leading = buf_in(arena), last = buf_in(arena);

	for (unsigned i = 0; i < keys->hash_count; i++)
		key_add(i + 1 < keys->hash_count ? &leading : &last,
			value_member(start_key, keys->attributes[i].name));
	size_t hash_n = own.n - leading.n - last.n;
	return !str_starts_with(row_behind(partition, hash_n), buf_str(&leading));
}

/* What is wrong with a start key that the key condition cannot have given: the sort key's condition
 * comes before the partition. */
static enum code outside_error(struct arena *arena, const struct read_page *page,
			       const struct value *start_key, struct str row_key, struct err *err)
{
	const struct key_schema *keys = page->index ? &page->index->keys : &page->table->keys;
	struct str partition = page->keys->partition,
		   own = start_partition(arena, page->table, keys, start_key);
	struct buf moved = buf_in(arena); /* the start key in the partition asked for */

	if (keys->hash_count > 1 && is_elsewhere(arena, keys, start_key, own, partition))
		return err_set(err, MSG_START_KEY_ONE_ROW);
	buf_add_str(&moved, partition);
	buf_add_str(&moved, row_behind(row_key, own.n));
	if (!is_within(&page->keys->range, buf_str(&moved)))
		return err_set(err, MSG_START_KEY_RANGE);
	if (!str_eq(page->keys->range.low, partition) ||
	    !str_eq(page->keys->range.high, key_after_prefix(arena, partition)))
		return err_set(err, MSG_START_KEY_ONE_ROW);
	return read_is_single(page) ? err_set(err, MSG_START_KEY_ALONE)
				    : err_set(err, MSG_START_KEY_OUTSIDE);
}

bool read_is_single(const struct read_page *page)
{
	return page->keys && !page->index && key_schema_count(&page->table->keys) == 1;
}

enum code read_start_key(struct arena *arena, const struct read_page *page,
			 const struct value *start_key, struct str *row_key, struct err *err)
{
	struct store_range range = whole_range(arena, page);
	enum code code = check_start_keys(page, start_key, err);

	if (code != OK)
		return code;
	code = check_start_values(page, start_key, err);
	if (code != OK)
		return code;
	*row_key = item_key_of_row(arena, page->table, page->index, start_key);
	if (is_within(&range, *row_key) && !read_is_single(page))
		return OK;
	if (!page->keys)
		return err_set(err, MSG_START_KEY_SEGMENT, page->segments, page->segment);
	return outside_error(arena, page, start_key, *row_key, err);
}
