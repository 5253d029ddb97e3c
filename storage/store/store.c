#include "storage/store/store.h"

#include "core/be.h"

void store_close(struct store *store)
{
	if (store)
		store->ops->close(store);
}

enum code store_check(struct store *store, struct err *err)
{
	return store->ops->check(store, err);
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

enum code store_begin(struct store *store, enum store_mode mode, struct store_txn **txn, struct err *err)
{
	return store->ops->begin(store, mode, txn, err);
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

enum code store_create(struct store_txn *txn, struct keyspace keyspace, struct err *err)
{
	return txn->ops->create(txn, keyspace, err);
}

enum code store_create_small(struct store_txn *txn, struct keyspace keyspace, struct err *err)
{
	return txn->references ? txn->references->create(txn, keyspace, err) : store_create(txn, keyspace, err);
}

enum code store_drop(struct store_txn *txn, struct keyspace keyspace, struct err *err)
{
	return txn->ops->drop(txn, keyspace, err);
}

enum code store_stat(struct store_txn *txn, struct keyspace keyspace, struct store_stat *stat, struct err *err)
{
	return txn->ops->stat(txn, keyspace, stat, err);
}

enum code store_get(struct store_txn *txn, struct keyspace keyspace, struct str key, struct arena *arena, struct str *value,
		    struct err *err)
{
	return txn->ops->get(txn, keyspace, key, arena, value, err);
}

enum code store_put(struct store_txn *txn, struct keyspace keyspace, struct str key, struct str value, struct err *err)
{
	return txn->ops->put(txn, keyspace, key, value, err);
}

enum code store_del(struct store_txn *txn, struct keyspace keyspace, struct str key, struct err *err)
{
	return txn->ops->del(txn, keyspace, key, err);
}

enum code store_get_many(struct store_txn *txn, const struct store_key *keys, size_t n, struct arena *arena, struct str *values, struct err *err)
{
	return n > 0 ? txn->ops->get_many(txn, keys, n, arena, values, err) : OK;
}

enum code store_foresee(struct store_txn *txn, const struct store_key *keys, size_t n, struct err *err)
{
	return n > 0 && txn->foresee ? txn->foresee(txn, keys, n, err) : OK;
}

enum code store_intend(struct store_txn *txn, const struct store_key *key, struct err *err)
{
	return txn->intend ? txn->intend(txn, key, err) : OK;
}

enum code store_verify(struct store_txn *txn, struct err *err)
{
	return txn->verify ? txn->verify(txn, err) : OK;
}

enum code store_page(struct store_txn *txn, struct keyspace keyspace, const struct store_range *range, struct store_bounds bounds,
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

enum code store_page_by_keys(struct store_txn *txn, struct keyspace keyspace, const struct store_reference *reference, const struct store_range *range,
			     struct store_bounds bounds, struct arena *arena, struct store_page *page, struct err *err)
{
	size_t rows = bounds.rows && bounds.rows < REFERENCES_AT_ONCE ? bounds.rows : REFERENCES_AT_ONCE;
	enum code code = store_page(txn, keyspace, range, (struct store_bounds){rows, 0}, arena, page, err);
	struct store_key *keys = ARENA_ARRAY(arena, struct store_key, page->n);
	struct str *values = ARENA_ARRAY(arena, struct str, page->n);

	for (size_t i = 0; i < page->n; i++)
		keys[i] = (struct store_key){reference->to, reference->key_of(reference->context, arena, page->v[i].key)};
	if (code == OK)
		code = store_get_many(txn, keys, page->n, arena, values, err);
	for (size_t i = 0; i < page->n && code == OK; i++)
		page->v[i].value = values[i];
	if (code == OK)
		cut_page(page, bounds.bytes);
	return code;
}

enum code store_page_of(struct store_txn *txn, struct keyspace keyspace, const struct store_reference *reference, const struct store_range *range,
			struct store_bounds bounds, struct arena *arena, struct store_page *page, struct err *err)
{
	if (!reference)
		return store_page(txn, keyspace, range, bounds, arena, page, err);
	return txn->references ? txn->references->page_of(txn, keyspace, reference, range, bounds, arena, page, err)
			       : store_page_by_keys(txn, keyspace, reference, range, bounds, arena, page, err);
}

enum code store_refer(struct store_txn *txn, struct keyspace keyspace, struct str key, const struct store_key *to, struct err *err)
{
	return txn->references ? txn->references->refer(txn, keyspace, key, to, err) : store_put(txn, keyspace, key, STORE_REFERENCE, err);
}

enum code store_put_of(struct store_txn *txn, struct keyspace keyspace, const struct store_reference *reference, const struct store_row *row,
		       struct arena *arena, struct err *err)
{
	if (!reference || !str_eq(row->value, STORE_REFERENCE))
		return store_put(txn, keyspace, row->key, row->value, err);
	const struct store_key to = {reference->to, reference->key_of(reference->context, arena, row->key)};
	return store_refer(txn, keyspace, row->key, &to, err);
}

bool store_refers(const struct store *store)
{
	return store->references != NULL;
}

void store_range_after(struct store_range *range, const struct store_page *page, struct arena *arena)
{
	struct str last = str_copy(arena, page->v[page->n - 1].key);

	if (range->is_reverse)
		range->high = last;
	else
		range->low = (struct str){last.p, last.n + 1}; /* the zero byte behind the copy makes it the next possible key */
}

enum code store_del_range(struct store_txn *txn, struct keyspace keyspace, const struct store_range *range, struct err *err)
{
	return txn->ops->del_range(txn, keyspace, range, err);
}

enum code store_add(struct store_txn *txn, struct keyspace keyspace, struct str key, int64_t delta, struct err *err)
{
	return txn->ops->add(txn, keyspace, key, delta, err);
}

enum code store_append(struct store_txn *txn, const struct store_append *append, struct err *err)
{
	return txn->append(txn, append, err);
}

/* Each piece in an arena of its own: there may be many rows. */
static enum code copy_by_rows(struct store_txn *txn, struct keyspace from, struct keyspace to, struct err *err)
{
	static const struct store_bounds piece = {500, (size_t)1 << 20};
	struct arena *scratch = arena_new(0), *ends = arena_new(0);
	struct store_range rest = {STR_ABSENT, STR_ABSENT, false};
	struct store_page page = {.is_more = true};
	enum code code = OK;

	while (code == OK && page.is_more) {
		arena_reset(scratch);
		code = store_page(txn, from, &rest, piece, scratch, &page, err);
		for (size_t i = 0; i < page.n && code == OK; i++)
			code = store_put(txn, to, page.v[i].key, page.v[i].value, err);
		if (code == OK && page.is_more)
			store_range_after(&rest, &page, ends);
	}
	arena_free(scratch);
	arena_free(ends);
	return code;
}

enum code store_copy(struct store_txn *txn, struct keyspace from, struct keyspace to, struct err *err)
{
	return txn->ops->copy ? txn->ops->copy(txn, from, to, err) : copy_by_rows(txn, from, to, err);
}

enum code store_keyspaces(struct store_txn *txn, struct arena *arena, struct store_keyspaces *keyspaces, struct err *err)
{
	return txn->ops->keyspaces(txn, arena, keyspaces, err);
}

struct str store_number_value(int64_t number, char *bytes)
{
	put_be64(bytes, (uint64_t)number);
	return (struct str){bytes, STORE_NUMBER_BYTES};
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
