#include "tests/tiny/tiny_store.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "storage/store/store_messages.h"

/* Never changed once it is made; each array that has it counts. */
struct row {
	atomic_uint refs;
	struct keyspace keyspace;
	struct str key, value; /* in `bytes` */
	char bytes[];
};

/* Never changed once it is committed; the store and each transaction that reads it count. */
struct array {
	atomic_uint refs;
	size_t n, room;
	struct row **rows; /* by keyspace, then by key */
};

struct tiny_store {
	struct store base;
	pthread_mutex_t writer; /* held by the transaction that writes */
	pthread_mutex_t mutex;  /* of `current` */
	struct array *current;
};

struct tiny_txn {
	struct store_txn base;
	struct tiny_store *store;
	struct array *array;
	bool is_changed; /* the array is the transaction's own */
};

static struct tiny_txn *tiny(struct store_txn *txn)
{
	return (struct tiny_txn *)txn;
}

static void row_leave(struct row *row)
{
	if (atomic_fetch_sub(&row->refs, 1) == 1)
		free(row);
}

static struct array *array_new(size_t room)
{
	struct array *array = arena_checked(calloc(1, sizeof(*array)));

	array->refs = 1;
	array->room = room;
	array->rows = arena_checked(malloc(room * sizeof(*array->rows)));
	return array;
}

static void array_leave(struct array *array)
{
	if (atomic_fetch_sub(&array->refs, 1) != 1)
		return;
	for (size_t i = 0; i < array->n; i++)
		row_leave(array->rows[i]);
	free(array->rows);
	free(array);
}

static int compare(const struct row *row, struct keyspace keyspace, struct str key)
{
	if (row->keyspace.table != keyspace.table)
		return row->keyspace.table < keyspace.table ? -1 : 1;
	if (row->keyspace.part != keyspace.part)
		return row->keyspace.part < keyspace.part ? -1 : 1;
	return str_cmp(row->key, key);
}

/* Where the first row lies that is not before the key. */
static size_t place_of(const struct array *array, struct keyspace keyspace, struct str key)
{
	size_t low = 0, high = array->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare(array->rows[middle], keyspace, key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_at(const struct array *array, size_t i, struct keyspace keyspace, struct str key)
{
	return i < array->n && compare(array->rows[i], keyspace, key) == 0;
}

static void tiny_close(struct store *base)
{
	struct tiny_store *store = (struct tiny_store *)base;

	array_leave(store->current);
	pthread_mutex_destroy(&store->mutex);
	pthread_mutex_destroy(&store->writer);
	free(store);
}

static enum code tiny_begin(struct store *base, enum store_mode mode, struct store_txn **out,
			    struct err *err)
{
	struct tiny_store *store = (struct tiny_store *)base;
	struct tiny_txn *txn = arena_checked(calloc(1, sizeof(*txn)));

	(void)err;
	if (mode == STORE_WRITE)
		pthread_mutex_lock(&store->writer);
	pthread_mutex_lock(&store->mutex);
	*txn = (struct tiny_txn){
		.base = {.ops = base->ops, .mode = mode}, .store = store, .array = store->current};
	atomic_fetch_add(&txn->array->refs, 1);
	pthread_mutex_unlock(&store->mutex);
	*out = &txn->base;
	return OK;
}

static void tiny_abort(struct store_txn *base)
{
	struct tiny_store *store = tiny(base)->store;
	bool is_writer = base->mode == STORE_WRITE;

	array_leave(tiny(base)->array);
	free(base);
	if (is_writer)
		pthread_mutex_unlock(&store->writer);
}

static enum code tiny_commit(struct store_txn *base, struct err *err)
{
	struct tiny_store *store = tiny(base)->store;

	(void)err;
	if (tiny(base)->is_changed) {
		struct array *old = store->current; /* which only a writer changes */

		pthread_mutex_lock(&store->mutex);
		store->current = tiny(base)->array;
		pthread_mutex_unlock(&store->mutex);
		tiny(base)->array = old;
	}
	tiny_abort(base);
	return OK;
}

/* Makes the array the transaction's own, with room for one row more. */
static enum code begin_change(struct tiny_txn *txn, struct err *err)
{
	struct array *array = txn->array;

	if (txn->base.mode != STORE_WRITE)
		return err_set(err, MSG_STORE_NO_WRITE);
	if (txn->is_changed && array->n < array->room)
		return OK;
	struct array *own = array_new(array->n + array->n / 4 + 16);
	own->n = array->n;
	for (size_t i = 0; i < array->n; i++) {
		own->rows[i] = array->rows[i];
		atomic_fetch_add(&own->rows[i]->refs, 1);
	}
	array_leave(array);
	txn->array = own;
	txn->is_changed = true;
	return OK;
}

static struct row *row_new(struct keyspace keyspace, struct str key, struct str value)
{
	struct row *row = arena_checked(malloc(sizeof(*row) + key.n + value.n + 1));

	*row = (struct row){1, keyspace, {row->bytes, key.n}, {row->bytes + key.n, value.n}};
	if (key.n)
		memcpy(row->bytes, key.p, key.n);
	if (value.n)
		memcpy(row->bytes + key.n, value.p, value.n);
	return row;
}

static enum code tiny_put(struct store_txn *base, struct keyspace keyspace, struct str key,
			  struct str value, struct err *err)
{
	enum code code = begin_change(tiny(base), err);

	if (code != OK)
		return code;
	struct array *array = tiny(base)->array;
	size_t i = place_of(array, keyspace, key);
	struct row *row = row_new(keyspace, key,
				  value); /* before the old one goes: the bytes may be its own */
	if (is_at(array, i, keyspace, key))
		row_leave(array->rows[i]);
	else
		memmove(&array->rows[i + 1], &array->rows[i],
			(array->n++ - i) * sizeof(*array->rows));
	array->rows[i] = row;
	return OK;
}

static enum code tiny_del(struct store_txn *base, struct keyspace keyspace, struct str key,
			  struct err *err)
{
	enum code code = begin_change(tiny(base), err);

	if (code != OK)
		return code;
	struct array *array = tiny(base)->array;
	size_t i = place_of(array, keyspace, key);
	if (is_at(array, i, keyspace, key)) {
		row_leave(array->rows[i]);
		memmove(&array->rows[i], &array->rows[i + 1],
			(--array->n - i) * sizeof(*array->rows));
	}
	return OK;
}

static enum code tiny_get(struct store_txn *base, struct keyspace keyspace, struct str key,
			  struct arena *arena, struct str *value, struct err *err)
{
	const struct array *array = tiny(base)->array;
	size_t i = place_of(array, keyspace, key);

	(void)err;
	*value = is_at(array, i, keyspace, key) ? str_copy(arena, array->rows[i]->value)
						: STR_ABSENT;
	return OK;
}

static enum code tiny_page(struct store_txn *base, struct keyspace keyspace,
			   const struct store_range *range, struct store_bounds bounds,
			   struct arena *arena, struct store_page *page, struct err *err)
{
	const struct array *array = tiny(base)->array;
	const struct keyspace next = {keyspace.table, keyspace.part + 1};
	size_t low = place_of(array, keyspace, str_is_set(range->low) ? range->low : STR(""));
	size_t high = str_is_set(range->high) ? place_of(array, keyspace, range->high)
					      : place_of(array, next, STR("")),
	       bytes = 0;

	*page = (struct store_page){0};
	while (low < high && !page->is_more) {
		const struct row *row = array->rows[range->is_reverse ? --high : low++];

		page->v = arena_room(arena, page->v, page->n, sizeof(*page->v));
		page->v[page->n++] =
			(struct store_row){str_copy(arena, row->key), str_copy(arena, row->value)};
		bytes += row->key.n + row->value.n;
		page->is_more = (bounds.rows && page->n >= bounds.rows) ||
				(bounds.bytes && bytes >= bounds.bytes);
	}
	return err_if_over(arena, err);
}

static enum code tiny_keyspaces(struct store_txn *base, struct arena *arena,
				struct store_keyspaces *keyspaces, struct err *err)
{
	const struct array *array = tiny(base)->array;
	struct keyspace *v = ARENA_ARRAY(arena, struct keyspace, array->n);
	size_t n = 0;

	(void)err;
	for (size_t i = 0; i < array->n; i++) {
		if (n == 0 || !keyspace_is_same(v[n - 1], array->rows[i]->keyspace))
			v[n++] = array->rows[i]->keyspace;
	}
	*keyspaces = (struct store_keyspaces){n, v};
	return OK;
}

struct store *tiny_store_new(void)
{
	static const struct store_ops ops = {
		.close = tiny_close,
		.begin = tiny_begin,
		.commit = tiny_commit,
		.abort = tiny_abort,
		.keyspaces = tiny_keyspaces,
		.get = tiny_get,
		.page = tiny_page,
		.put = tiny_put,
		.del = tiny_del,
	};
	struct tiny_store *store = arena_checked(calloc(1, sizeof(*store)));

	store->base.ops = &ops;
	pthread_mutex_init(&store->writer, NULL);
	pthread_mutex_init(&store->mutex, NULL);
	store->current = array_new(0);
	return &store->base;
}
