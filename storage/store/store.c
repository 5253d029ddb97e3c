#include "storage/store/store.h"

#include "core/be.h"
#include "storage/store/store_messages.h"

static const struct store_range every_row = {{NULL, 0}, {NULL, 0}, false};

/* A journal changes nothing of what these calls say, so its transactions make them directly. */
static const struct store_ops *own_ops(const struct store_txn *txn)
{
	return txn->below ? txn->below : txn->ops;
}

static enum code check_writes(const struct store_txn *txn, struct err *err)
{
	return txn->mode == STORE_WRITE ? OK : err_set(err, MSG_STORE_NO_WRITE);
}

typedef enum code on_row(struct store_txn *txn, struct keyspace keyspace,
			 const struct store_row *row, void *context, struct err *err);

/* Each piece in an arena of its own: there may be many rows. */
static enum code each_row_of_range(struct store_txn *txn, struct keyspace keyspace,
				   const struct store_range *range, on_row *call, void *context,
				   struct err *err)
{
	static const struct store_bounds piece = {500, (size_t)1 << 20};
	struct arena *scratch = arena_new(0), *ends = arena_new(0);
	struct store_range rest = *range;
	struct store_page page = {.is_more = true};
	enum code code = OK;

	while (code == OK && page.is_more) {
		arena_reset(scratch);
		code = store_page(txn, keyspace, &rest, piece, scratch, &page, err);
		for (size_t i = 0; i < page.n && code == OK; i++)
			code = call(txn, keyspace, &page.v[i], context, err);
		if (code == OK && page.is_more)
			store_range_after(&rest, &page, ends);
	}
	arena_free(scratch);
	arena_free(ends);
	return code;
}

static enum code count_row(struct store_txn *txn, struct keyspace keyspace,
			   const struct store_row *row, void *context, struct err *err)
{
	struct store_stat *stat = context;

	(void)txn, (void)keyspace, (void)err;
	stat->rows++;
	stat->bytes += row->key.n + row->value.n;
	return OK;
}

static enum code del_row(struct store_txn *txn, struct keyspace keyspace,
			 const struct store_row *row, void *context, struct err *err)
{
	(void)context;
	return store_del(txn, keyspace, row->key, err);
}

static enum code put_row(struct store_txn *txn, struct keyspace keyspace,
			 const struct store_row *row, void *context, struct err *err)
{
	(void)keyspace;
	return store_put(txn, *(const struct keyspace *)context, row->key, row->value, err);
}

void store_close(struct store *store)
{
	if (store)
		store->ops->close(store);
}

enum code store_check(struct store *store, struct err *err)
{
	return store->ops->check ? store->ops->check(store, err) : OK;
}

void store_usage(struct store *store, struct store_usage *usage)
{
	*usage = (struct store_usage){0};
	if (store->ops->usage)
		store->ops->usage(store, usage);
}

enum code store_tidy(struct store *store, bool *is_more, struct err *err)
{
	*is_more = false;
	return store->ops->tidy ? store->ops->tidy(store, is_more, err) : OK;
}

enum code store_begin(struct store *store, enum store_mode mode, struct store_txn **txn,
		      struct err *err)
{
	enum code code = store->ops->begin(store, mode, txn, err);

	if (code == OK)
		(*txn)->can = store->can;
	return code;
}

enum code store_commit(struct store_txn *txn, struct err *err)
{
	return txn->ops->commit(txn, err);
}

enum code store_commit_for_good(struct store_txn *txn, struct err *err)
{
	enum code code = store_commit(txn, err);

	if (code == OK)
		arena_pardon(err->arena);
	return code;
}

void store_abort(struct store_txn *txn)
{
	txn->ops->abort(txn);
}

enum code store_end(struct store_txn *txn, enum code code, struct err *err)
{
	if (code == OK)
		return store_commit(txn, err);
	store_abort(txn);
	return code;
}

enum code store_end_for_good(struct store_txn *txn, enum code code, struct err *err)
{
	if (code == OK)
		return store_commit_for_good(txn, err);
	store_abort(txn);
	return code;
}

enum code store_create(struct store_txn *txn, struct keyspace keyspace, struct err *err)
{
	return txn->ops->create ? txn->ops->create(txn, keyspace, err) : check_writes(txn, err);
}

enum code store_create_small(struct store_txn *txn, struct keyspace keyspace, struct err *err)
{
	return txn->can & STORE_CAN_REFER ? txn->ops->create_small(txn, keyspace, err)
					  : store_create(txn, keyspace, err);
}

enum code store_drop(struct store_txn *txn, struct keyspace keyspace, struct err *err)
{
	return txn->ops->drop ? txn->ops->drop(txn, keyspace, err)
			      : store_del_range(txn, keyspace, &every_row, err);
}

enum code store_stat(struct store_txn *txn, struct keyspace keyspace, struct store_stat *stat,
		     struct err *err)
{
	if (txn->ops->stat)
		return txn->ops->stat(txn, keyspace, stat, err);
	*stat = (struct store_stat){0};
	return each_row_of_range(txn, keyspace, &every_row, count_row, stat, err);
}

enum code store_get(struct store_txn *txn, struct keyspace keyspace, struct str key,
		    struct arena *arena, struct str *value, struct err *err)
{
	return txn->ops->get(txn, keyspace, key, arena, value, err);
}

enum code store_put(struct store_txn *txn, struct keyspace keyspace, struct str key,
		    struct str value, struct err *err)
{
	return txn->ops->put(txn, keyspace, key, value, err);
}

enum code store_del(struct store_txn *txn, struct keyspace keyspace, struct str key,
		    struct err *err)
{
	return txn->ops->del(txn, keyspace, key, err);
}

enum code store_get_many(struct store_txn *txn, const struct store_key *keys, size_t n,
			 struct arena *arena, struct str *values, struct err *err)
{
	if (n > 0 && txn->ops->get_many)
		return txn->ops->get_many(txn, keys, n, arena, values, err);
	for (size_t i = 0; i < n; i++) {
		enum code code =
			store_get(txn, keys[i].keyspace, keys[i].key, arena, &values[i], err);
		if (code != OK)
			return code;
	}
	return OK;
}

enum code store_foresee(struct store_txn *txn, const struct store_key *keys, size_t n,
			struct err *err)
{
	return n > 0 && store_foresees(txn) ? own_ops(txn)->foresee(txn, keys, n, err) : OK;
}

enum code store_intend(struct store_txn *txn, const struct store_key *key, struct err *err)
{
	return store_foresees(txn) ? own_ops(txn)->intend(txn, key, err) : OK;
}

enum code store_verify(struct store_txn *txn, struct err *err)
{
	return store_foresees(txn) ? own_ops(txn)->verify(txn, err) : OK;
}

enum code store_page(struct store_txn *txn, struct keyspace keyspace,
		     const struct store_range *range, struct store_bounds bounds,
		     struct arena *arena, struct store_page *page, struct err *err)
{
	return txn->ops->page(txn, keyspace, range, bounds, arena, page, err);
}

#define REFERENCES_AT_ONCE 64 /* rows whose values are fetched together */

/* Cuts the page behind the row that reaches `bytes`. */
static void cut_page(struct store_page *page, size_t bytes)
{
	size_t sum = 0;

	for (size_t i = 0; i < page->n && bytes > 0; i++) {
		sum += page->v[i].key.n + page->v[i].value.n;
		if (sum >= bytes && i + 1 < page->n) {
			page->n = i + 1;
			page->is_more = true;
		}
	}
}

enum code store_page_by_keys(struct store_txn *txn, struct keyspace keyspace,
			     const struct store_reference *reference,
			     const struct store_range *range, struct store_bounds bounds,
			     struct arena *arena, struct store_page *page, struct err *err)
{
	size_t rows =
		bounds.rows && bounds.rows < REFERENCES_AT_ONCE ? bounds.rows : REFERENCES_AT_ONCE;
	enum code code =
		store_page(txn, keyspace, range, (struct store_bounds){rows, 0}, arena, page, err);
	struct store_key *keys = ARENA_ARRAY(arena, struct store_key, page->n);
	struct str *values = ARENA_ARRAY(arena, struct str, page->n);

	for (size_t i = 0; i < page->n; i++)
		keys[i] =
			(struct store_key){reference->to, reference->key_of(reference->context,
									    arena, page->v[i].key)};
	if (code != OK)
		return code;
	code = store_get_many(txn, keys, page->n, arena, values, err);
	if (code != OK)
		return code;
	for (size_t i = 0; i < page->n; i++)
		page->v[i].value = values[i];
	cut_page(page, bounds.bytes);
	return OK;
}

enum code store_page_of(struct store_txn *txn, struct keyspace keyspace,
			const struct store_reference *reference, const struct store_range *range,
			struct store_bounds bounds, struct arena *arena, struct store_page *page,
			struct err *err)
{
	if (!reference)
		return store_page(txn, keyspace, range, bounds, arena, page, err);
	return txn->can & STORE_CAN_REFER ? txn->ops->page_of(txn, keyspace, reference, range,
							      bounds, arena, page, err)
					  : store_page_by_keys(txn, keyspace, reference, range,
							       bounds, arena, page, err);
}

enum code store_refer(struct store_txn *txn, struct keyspace keyspace, struct str key,
		      const struct store_key *to, struct err *err)
{
	return txn->can & STORE_CAN_REFER ? txn->ops->refer(txn, keyspace, key, to, err)
					  : store_put(txn, keyspace, key, STORE_REFERENCE, err);
}

enum code store_put_of(struct store_txn *txn, struct keyspace keyspace,
		       const struct store_reference *reference, const struct store_row *row,
		       struct arena *arena, struct err *err)
{
	if (!reference || !str_eq(row->value, STORE_REFERENCE))
		return store_put(txn, keyspace, row->key, row->value, err);
	const struct store_key to = {reference->to,
				     reference->key_of(reference->context, arena, row->key)};
	return store_refer(txn, keyspace, row->key, &to, err);
}

void store_range_after(struct store_range *range, const struct store_page *page,
		       struct arena *arena)
{
	struct str last = str_copy(arena, page->v[page->n - 1].key);

	if (range->is_reverse)
		range->high = last;
	else
		range->low = (struct str){last.p, last.n + 1}; /* the zero byte behind the copy
								  makes it the next possible key */
}

enum code store_del_range(struct store_txn *txn, struct keyspace keyspace,
			  const struct store_range *range, struct err *err)
{
	if (txn->ops->del_range)
		return txn->ops->del_range(txn, keyspace, range, err);
	enum code code = check_writes(txn, err);
	return code != OK ? code : each_row_of_range(txn, keyspace, range, del_row, NULL, err);
}

enum code store_add(struct store_txn *txn, struct keyspace keyspace, struct str key, int64_t delta,
		    struct err *err)
{
	char bytes[STORE_NUMBER_BYTES];
	struct str value;

	if (txn->ops->add)
		return txn->ops->add(txn, keyspace, key, delta, err);
	enum code code = store_get(txn, keyspace, key, err->arena, &value, err);
	return code != OK ? code
			  : store_put(txn, keyspace, key,
				      store_number_value((int64_t)((uint64_t)store_number(value) +
								   (uint64_t)delta),
							 bytes),
				      err);
}

enum code store_append(struct store_txn *txn, const struct store_append *append, struct err *err)
{
	return txn->ops->append(txn, append, err);
}

enum code store_copy(struct store_txn *txn, struct keyspace from, struct keyspace to,
		     struct err *err)
{
	return txn->ops->copy ? txn->ops->copy(txn, from, to, err)
			      : each_row_of_range(txn, from, &every_row, put_row, &to, err);
}

enum code store_keyspaces(struct store_txn *txn, struct arena *arena,
			  struct store_keyspaces *keyspaces, struct err *err)
{
	return txn->ops->keyspaces(txn, arena, keyspaces, err);
}

enum code store_keyspaces_now(struct store *store, struct arena *arena,
			      struct store_keyspaces *keyspaces, struct err *err)
{
	struct store_txn *txn;
	enum code code = store_begin(store, STORE_READ, &txn, err);

	if (code != OK)
		return code;
	code = store_keyspaces(txn, arena, keyspaces, err);
	store_abort(txn);
	return code;
}

const struct store_limits *store_limits(const struct store *store)
{
	static const struct store_limits none = {0};

	return store->ops->limits ? store->ops->limits(store) : &none;
}

size_t store_units(const struct store *store, size_t most, size_t each)
{
	size_t limit = store_limits(store)->txn, units = limit ? limit / each : most;

	return units < 1 ? 1 : units < most ? units : most;
}
