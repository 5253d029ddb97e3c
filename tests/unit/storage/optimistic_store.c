#include "tests/unit/storage/optimistic_store.h"

#include <pthread.h>
#include <stdlib.h>

/* What a row was from a version on. */
struct image {
	uint64_t version;
	bool is_there;
	bool is_sum; /* of a transaction's own: `delta` is added to what the row is when it commits
		      */
	int64_t delta;
	struct str value; /* malloced */
	struct image *older;
};

struct row {
	struct keyspace keyspace;
	struct str key; /* malloced */
	struct image *newest;
};

struct rows {
	size_t n, capacity;
	struct row *v; /* by keyspace, then key */
};

struct optimistic_db {
	pthread_mutex_t lock;
	unsigned refs;
	uint64_t version;
	struct rows rows;
	struct optimistic_faults faults;
	struct store_limits limits;
	uint64_t draws;
	struct optimistic_counts counts;
};

struct process {
	struct store base;
	struct optimistic_db *db;
};

/* Keys from low (inclusive) to high (exclusive, absent: to the end) of a keyspace that were looked
 * at. */
struct look {
	struct keyspace keyspace;
	struct str low, high;
};

struct txn {
	struct store_txn base;
	struct optimistic_db *db;
	struct arena *arena;
	uint64_t snapshot;
	size_t bytes;    /* read and written */
	bool is_beyond;  /* the limits */
	struct rows own; /* each row with one image, in the arena */
	size_t look_count, look_capacity;
	struct look *looks;
	size_t gap_count;
	struct look *gaps; /* ranges that it deleted, but for its own rows in them; in the arena */
};

static int compare(struct keyspace a, struct str a_key, struct keyspace b, struct str b_key)
{
	if (a.table != b.table)
		return a.table < b.table ? -1 : 1;
	if (a.part != b.part)
		return a.part < b.part ? -1 : 1;
	return str_cmp(a_key, b_key);
}

static size_t position(const struct rows *rows, struct keyspace keyspace, struct str key)
{
	size_t low = 0, high = rows->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare(rows->v[middle].keyspace, rows->v[middle].key, keyspace, key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_at(const struct rows *rows, size_t at, struct keyspace keyspace, struct str key)
{
	return at < rows->n && compare(rows->v[at].keyspace, rows->v[at].key, keyspace, key) == 0;
}

/* The place of the row, made where there was none; its key is the caller's to keep. */
static struct row *place(struct rows *rows, struct keyspace keyspace, struct str key, bool *is_new)
{
	size_t at = position(rows, keyspace, key);

	*is_new = !is_at(rows, at, keyspace, key);
	if (!*is_new)
		return &rows->v[at];
	if (rows->n == rows->capacity) {
		rows->capacity = rows->capacity ? rows->capacity * 2 : 64;
		rows->v = arena_checked(realloc(rows->v, rows->capacity * sizeof(*rows->v)));
	}
	memmove(&rows->v[at + 1], &rows->v[at], (rows->n - at) * sizeof(*rows->v));
	rows->n++;
	rows->v[at] = (struct row){keyspace, key, NULL};
	return &rows->v[at];
}

static struct str copied(struct str str)
{
	char *bytes = arena_checked(malloc(str.n + 1));

	if (str.n > 0)
		memcpy(bytes, str.p, str.n);
	return (struct str){bytes, str.n};
}

static void free_str(struct str str)
{
	free((void *)(uintptr_t)str.p);
}

static void free_row(struct row *row)
{
	for (struct image *image = row->newest, *older; image; image = older) {
		older = image->older;
		free_str(image->value);
		free(image);
	}
	free_str(row->key);
}

struct optimistic_db *optimistic_db_new(void)
{
	struct optimistic_db *db = arena_checked(calloc(1, sizeof(*db)));

	pthread_mutex_init(&db->lock, NULL);
	db->refs = 1;
	return db;
}

void optimistic_db_unref(struct optimistic_db *db)
{
	pthread_mutex_lock(&db->lock);
	bool is_last = --db->refs == 0;
	pthread_mutex_unlock(&db->lock);
	if (!is_last)
		return;
	for (size_t i = 0; i < db->rows.n; i++)
		free_row(&db->rows.v[i]);
	free(db->rows.v);
	pthread_mutex_destroy(&db->lock);
	free(db);
}

void optimistic_db_fail(struct optimistic_db *db, const struct optimistic_faults *faults)
{
	pthread_mutex_lock(&db->lock);
	db->faults = *faults;
	db->draws = faults->seed;
	pthread_mutex_unlock(&db->lock);
}

void optimistic_db_limit(struct optimistic_db *db, const struct store_limits *limits)
{
	pthread_mutex_lock(&db->lock);
	db->limits = *limits;
	pthread_mutex_unlock(&db->lock);
}

struct optimistic_counts optimistic_db_counts(struct optimistic_db *db)
{
	pthread_mutex_lock(&db->lock);
	struct optimistic_counts counts = db->counts;
	pthread_mutex_unlock(&db->lock);
	return counts;
}

static void process_close(struct store *store)
{
	struct process *process = (struct process *)store;

	optimistic_db_unref(process->db);
	free(process);
}

static enum code process_check(struct store *store, struct err *err)
{
	(void)store, (void)err;
	return OK;
}

static const struct store_ops process_ops;

static enum code process_begin(struct store *store, enum store_mode mode, struct store_txn **out,
			       struct err *err)
{
	struct txn *txn = arena_checked(calloc(1, sizeof(*txn)));

	(void)err;
	*txn = (struct txn){.base = {.ops = &process_ops, .mode = mode},
			    .db = ((struct process *)store)->db,
			    .arena = arena_new(0)};
	pthread_mutex_lock(&txn->db->lock);
	txn->snapshot = txn->db->version;
	pthread_mutex_unlock(&txn->db->lock);
	*out = &txn->base;
	return OK;
}

static void count_row(struct txn *txn, size_t key, size_t value)
{
	const struct store_limits *limits = &txn->db->limits;

	txn->bytes += key + value;
	txn->is_beyond = txn->is_beyond || (limits->value && value > limits->value) ||
			 (limits->txn && txn->bytes > limits->txn);
}

static void end(struct txn *txn)
{
	if (txn->is_beyond) {
		pthread_mutex_lock(&txn->db->lock);
		txn->db->counts.beyond++;
		pthread_mutex_unlock(&txn->db->lock);
	}
	arena_free(txn->arena);
	free(txn->own.v);
	free(txn->looks);
	free(txn);
}

static bool is_within(const struct look *look, const struct row *row)
{
	return keyspace_is_same(row->keyspace, look->keyspace) &&
	       str_cmp(row->key, look->low) >= 0 &&
	       (!str_is_set(look->high) || str_cmp(row->key, look->high) < 0);
}

/* Whether a row in the look's range was changed after the snapshot. */
static bool is_changed(const struct optimistic_db *db, const struct look *look, uint64_t snapshot)
{
	for (size_t at = position(&db->rows, look->keyspace, look->low);
	     at < db->rows.n && is_within(look, &db->rows.v[at]); at++) {
		if (db->rows.v[at].newest->version > snapshot)
			return true;
	}
	return false;
}

static void add_image(struct row *row, uint64_t version, bool is_there, struct str value)
{
	struct image *image = arena_checked(calloc(1, sizeof(*image)));

	*image = (struct image){.version = version,
				.is_there = is_there,
				.value = copied(value),
				.older = row->newest};
	row->newest = image;
}

static struct str sum(const struct image *base, int64_t delta, char *bytes)
{
	return store_number_value((base && base->is_there ? store_number(base->value) : 0) + delta,
				  bytes);
}

static void apply(struct optimistic_db *db, const struct txn *txn)
{
	char bytes[STORE_NUMBER_BYTES];

	db->version++;
	for (size_t i = 0; i < txn->gap_count; i++) {
		const struct look *gap = &txn->gaps[i];

		for (size_t at = position(&db->rows, gap->keyspace, gap->low);
		     at < db->rows.n && is_within(gap, &db->rows.v[at]); at++) {
			if (db->rows.v[at].newest->is_there)
				add_image(&db->rows.v[at], db->version, false, STR(""));
		}
	}
	for (size_t i = 0; i < txn->own.n; i++) {
		const struct image *own = txn->own.v[i].newest;
		bool is_new;
		struct row *row =
			place(&db->rows, txn->own.v[i].keyspace, txn->own.v[i].key, &is_new);

		if (is_new)
			row->key = copied(txn->own.v[i].key);
		add_image(row, db->version, own->is_there,
			  own->is_sum ? sum(row->newest, own->delta, bytes) : own->value);
	}
}

static bool is_drawn(struct optimistic_db *db, unsigned chances)
{
	db->draws = db->draws * 6364136223846793005u + 1442695040888963407u;
	return chances > 0 && (db->draws >> 33) % 1000 < chances;
}

static enum code commit_locked(struct txn *txn, struct err *err)
{
	struct optimistic_db *db = txn->db;

	if (is_drawn(db, db->faults.conflict))
		return err_default(err, ERR_CONFLICT);
	if (is_drawn(db, db->faults.unavailable))
		return err_default(err, ERR_STORE_UNAVAILABLE);
	if (is_drawn(db, db->faults.unknown_lost))
		return err_default(err, ERR_STORE_UNKNOWN);
	for (size_t i = 0; i < txn->look_count; i++) {
		if (!is_changed(db, &txn->looks[i], txn->snapshot))
			continue;
		db->counts.conflicts++;
		return err_default(err, ERR_CONFLICT);
	}
	apply(db, txn);
	db->counts.commits++;
	return is_drawn(db, db->faults.unknown_done) ? err_default(err, ERR_STORE_UNKNOWN) : OK;
}

static enum code process_commit(struct store_txn *base, struct err *err)
{
	struct txn *txn = (struct txn *)base;
	enum code code = txn->is_beyond ? err_default(err, ERR_INTERNAL) : OK;

	if (code == OK && txn->own.n + txn->gap_count > 0) {
		pthread_mutex_lock(&txn->db->lock);
		code = commit_locked(txn, err);
		pthread_mutex_unlock(&txn->db->lock);
	}
	end(txn);
	return code;
}

static void process_abort(struct store_txn *base)
{
	end((struct txn *)base);
}

static enum code process_create(struct store_txn *base, struct keyspace keyspace, struct err *err)
{
	(void)base, (void)keyspace, (void)err;
	return OK;
}

static void note(struct txn *txn, struct keyspace keyspace, struct str low, struct str high)
{
	if (txn->base.mode == STORE_READ)
		return;
	if (txn->look_count == txn->look_capacity) {
		txn->look_capacity = txn->look_capacity ? txn->look_capacity * 2 : 16;
		txn->looks = arena_checked(
			realloc(txn->looks, txn->look_capacity * sizeof(*txn->looks)));
	}
	txn->looks[txn->look_count++] =
		(struct look){keyspace, str_copy(txn->arena, low),
			      str_is_set(high) ? str_copy(txn->arena, high) : high};
}

/* The least key above this one. */
static struct str after(struct txn *txn, struct str key)
{
	return (struct str){str_copy(txn->arena, key).p,
			    key.n + 1}; /* with the zero byte behind the copy */
}

/* What the row is in the snapshot; NULL where there is none. The database's lock is held. */
static const struct image *image_at(const struct txn *txn, const struct row *row)
{
	const struct image *image = row->newest;

	while (image && image->version > txn->snapshot)
		image = image->older;
	return image && image->is_there ? image : NULL;
}

static bool is_in_gap(const struct txn *txn, struct keyspace keyspace, struct str key)
{
	const struct row row = {keyspace, key, NULL};

	for (size_t i = 0; i < txn->gap_count; i++) {
		if (is_within(&txn->gaps[i], &row))
			return true;
	}
	return false;
}

static enum code process_get(struct store_txn *base, struct keyspace keyspace, struct str key,
			     struct arena *arena, struct str *value, struct err *err)
{
	struct txn *txn = (struct txn *)base;
	size_t at = position(&txn->own, keyspace, key);

	(void)err;
	const struct image *own =
		is_at(&txn->own, at, keyspace, key) ? txn->own.v[at].newest : NULL;
	char bytes[STORE_NUMBER_BYTES];

	*value = STR_ABSENT;
	if (own && !own->is_sum) {
		if (own->is_there)
			*value = str_copy(arena, own->value);
		return OK;
	}
	if (!own && is_in_gap(txn, keyspace, key))
		return OK;
	note(txn, keyspace, key, after(txn, key));
	pthread_mutex_lock(&txn->db->lock);
	at = position(&txn->db->rows, keyspace, key);
	const struct image *image = is_at(&txn->db->rows, at, keyspace, key)
					    ? image_at(txn, &txn->db->rows.v[at])
					    : NULL;
	if (own)
		*value = str_copy(arena, sum(image, own->delta, bytes));
	else if (image)
		*value = str_copy(arena, image->value);
	pthread_mutex_unlock(&txn->db->lock);
	count_row(txn, key.n, value->n);
	return OK;
}

static enum code process_get_many(struct store_txn *base, const struct store_key *keys, size_t n,
				  struct arena *arena, struct str *values, struct err *err)
{
	enum code code = OK;

	for (size_t i = 0; i < n && code == OK; i++)
		code = process_get(base, keys[i].keyspace, keys[i].key, arena, &values[i], err);
	return code;
}

/* The transaction's own image of the row; NULL before it was filled in for the first time. */
static struct image **own_image(struct txn *txn, struct keyspace keyspace, struct str key)
{
	bool is_new;
	struct row *row = place(&txn->own, keyspace, key, &is_new);

	if (is_new)
		row->key = str_copy(txn->arena, key);
	return &row->newest;
}

static enum code check_writing(const struct txn *txn, struct err *err)
{
	return txn->base.mode == STORE_WRITE ? OK : err_default(err, ERR_INTERNAL);
}

static enum code process_write(struct store_txn *base, struct keyspace keyspace, struct str key,
			       bool is_there, struct str value, struct err *err)
{
	struct txn *txn = (struct txn *)base;
	struct image **image;
	enum code code = check_writing(txn, err);

	if (code != OK)
		return code;
	count_row(txn, key.n, value.n);
	image = own_image(txn, keyspace, key);
	*image = ARENA_NEW(txn->arena, struct image);
	**image = (struct image){.is_there = is_there,
				 .value = is_there && value.p ? str_copy(txn->arena, value)
							      : STR("")};
	return OK;
}

static enum code process_add(struct store_txn *base, struct keyspace keyspace, struct str key,
			     int64_t delta, struct err *err)
{
	struct txn *txn = (struct txn *)base;
	char bytes[STORE_NUMBER_BYTES];
	struct image **image;
	enum code code = check_writing(txn, err);

	if (code != OK)
		return code;
	image = own_image(txn, keyspace, key);
	if (*image && !(*image)->is_sum)
		return process_write(base, keyspace, key, true, sum(*image, delta, bytes), err);
	if (!*image && is_in_gap(txn, keyspace, key))
		return process_write(base, keyspace, key, true, sum(NULL, delta, bytes), err);
	if (!*image)
		*image = ARENA_NEW(txn->arena, struct image);
	**image = (struct image){.is_there = true,
				 .is_sum = true,
				 .delta = (*image)->delta + delta,
				 .value = STR("")};
	return OK;
}

static enum code process_del_range(struct store_txn *base, struct keyspace keyspace,
				   const struct store_range *range, struct err *err)
{
	struct txn *txn = (struct txn *)base;
	struct str low = str_is_set(range->low) ? range->low : STR("");
	struct look gap = {keyspace, str_copy(txn->arena, low), str_copy(txn->arena, range->high)};
	size_t kept = 0;
	enum code code = check_writing(txn, err);

	if (code != OK)
		return code;
	for (size_t i = 0; i < txn->own.n; i++) {
		if (!is_within(&gap, &txn->own.v[i]))
			txn->own.v[kept++] = txn->own.v[i];
	}
	txn->own.n = kept;
	txn->gaps = arena_room(txn->arena, txn->gaps, txn->gap_count, sizeof(*txn->gaps));
	txn->gaps[txn->gap_count++] = gap;
	return OK;
}

static enum code process_put(struct store_txn *base, struct keyspace keyspace, struct str key,
			     struct str value, struct err *err)
{
	return process_write(base, keyspace, key, true, value, err);
}

static enum code process_del(struct store_txn *base, struct keyspace keyspace, struct str key,
			     struct err *err)
{
	return process_write(base, keyspace, key, false, STR(""), err);
}

/* A row of the snapshot or of the transaction's own. */
struct seen {
	struct str key, value;
};

struct merge {
	struct txn *txn;
	struct keyspace keyspace;
	const struct store_range *range;
	struct store_bounds bounds; /* where it may end early, in rising order */
	size_t n, capacity, bytes;
	struct seen *v;
};

static bool is_in(const struct merge *merge, const struct row *row)
{
	return compare(row->keyspace, STR(""), merge->keyspace, STR("")) == 0 &&
	       (!str_is_set(merge->range->high) || str_cmp(row->key, merge->range->high) < 0);
}

static void add(struct merge *merge, struct str key, struct str value)
{
	if (merge->n == merge->capacity) {
		merge->capacity = merge->capacity ? merge->capacity * 2 : 64;
		merge->v = arena_checked(realloc(merge->v, merge->capacity * sizeof(*merge->v)));
	}
	merge->v[merge->n++] = (struct seen){key, value};
	merge->bytes += key.n + value.n;
}

static bool is_full(struct store_bounds bounds, size_t rows, size_t bytes)
{
	return (bounds.rows && rows >= bounds.rows) || (bounds.bytes && bytes >= bounds.bytes);
}

/* The value of a row that is in the snapshot, in the transaction's own, or in both; absent where it
 * is deleted. */
static struct str merged(const struct merge *merge, const struct row *base, const struct row *own)
{
	const struct image *image = base ? image_at(merge->txn, base) : NULL;

	if (own && own->newest->is_sum)
		return str_copy(merge->txn->arena,
				sum(image, own->newest->delta, (char[STORE_NUMBER_BYTES]){0}));
	if (own)
		return own->newest->is_there ? own->newest->value : STR_ABSENT;
	return image && !is_in_gap(merge->txn, base->keyspace, base->key) ? image->value
									  : STR_ABSENT;
}

/* All rows of the range in rising order. The database's lock is held. */
static void gather(struct merge *merge)
{
	const struct rows *base = &merge->txn->db->rows, *own = &merge->txn->own;
	struct str low = str_is_set(merge->range->low) ? merge->range->low : STR("");
	size_t i = position(base, merge->keyspace, low), k = position(own, merge->keyspace, low);

	for (;;) {
		const struct row *a = i < base->n && is_in(merge, &base->v[i]) ? &base->v[i] : NULL;
		const struct row *b = k < own->n && is_in(merge, &own->v[k]) ? &own->v[k] : NULL;
		int order = !a ? 1 : !b ? -1 : str_cmp(a->key, b->key);

		if ((!a && !b) || is_full(merge->bounds, merge->n, merge->bytes))
			return;
		struct str value = merged(merge, order <= 0 ? a : NULL, order >= 0 ? b : NULL);
		if (str_is_set(value))
			add(merge, order < 0 ? a->key : b->key, value);
		i += order <= 0;
		k += order >= 0;
	}
}

static enum code process_page(struct store_txn *base, struct keyspace keyspace,
			      const struct store_range *range, struct store_bounds bounds,
			      struct arena *arena, struct store_page *page, struct err *err)
{
	struct txn *txn = (struct txn *)base;
	struct merge merge = {.txn = txn,
			      .keyspace = keyspace,
			      .range = range,
			      .bounds = range->is_reverse ? (struct store_bounds){0} : bounds};
	struct str low = str_is_set(range->low) ? range->low : STR(""), high = range->high;
	size_t bytes = 0;

	(void)err;
	*page = (struct store_page){0};
	pthread_mutex_lock(&txn->db->lock);
	gather(&merge);
	page->v = arena_alloc(arena, merge.n * sizeof(*page->v));
	while (page->n < merge.n && !page->is_more) {
		const struct seen *seen =
			&merge.v[range->is_reverse ? merge.n - 1 - page->n : page->n];

		page->v[page->n++] = (struct store_row){str_copy(arena, seen->key),
							str_copy(arena, seen->value)};
		bytes += seen->key.n + seen->value.n;
		count_row(txn, seen->key.n, seen->value.n);
		page->is_more = is_full(bounds, page->n, bytes);
		if (page->is_more && range->is_reverse)
			low = seen->key;
		else if (page->is_more)
			high = after(txn, seen->key);
	}
	note(txn, keyspace, low, high);
	pthread_mutex_unlock(&txn->db->lock);
	free(merge.v);
	return OK;
}

static enum code process_drop(struct store_txn *base, struct keyspace keyspace, struct err *err)
{
	return process_del_range(base, keyspace,
				 &(struct store_range){STR_ABSENT, STR_ABSENT, false}, err);
}

static enum code process_stat(struct store_txn *base, struct keyspace keyspace,
			      struct store_stat *stat, struct err *err)
{
	struct store_range all = {STR_ABSENT, STR_ABSENT, false};
	struct store_page page;
	enum code code = process_page(base, keyspace, &all, (struct store_bounds){0, 0},
				      ((struct txn *)base)->arena, &page, err);

	*stat = (struct store_stat){.rows = page.n};
	for (size_t i = 0; i < page.n; i++)
		stat->bytes += page.v[i].key.n + page.v[i].value.n;
	return code;
}

static const struct store_limits *process_limits(const struct store *store)
{
	return &((const struct process *)store)->db->limits;
}

static const struct store_ops process_ops = {
	.limits = process_limits,
	.close = process_close,
	.check = process_check,
	.begin = process_begin,
	.commit = process_commit,
	.abort = process_abort,
	.create = process_create,
	.drop = process_drop,
	.stat = process_stat,
	.get = process_get,
	.put = process_put,
	.del = process_del,
	.get_many = process_get_many,
	.page = process_page,
	.del_range = process_del_range,
	.add = process_add,
};

struct store *optimistic_open(struct optimistic_db *db)
{
	struct process *process = arena_checked(calloc(1, sizeof(*process)));

	*process = (struct process){{.ops = &process_ops}, db};
	pthread_mutex_lock(&db->lock);
	db->refs++;
	pthread_mutex_unlock(&db->lock);
	return &process->base;
}
