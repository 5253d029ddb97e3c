#include "storage/upkeep/lease.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/buf.h"
#include "storage/catalog/catalog.h"
#include "storage/store/row.h"
#include "storage/uuid.h"

#define PREFIX "lease/"
#define PREFIX_END "lease0" /* behind every name: '0' follows '/' */
#define ID_MAX 40
#define SWEEP_AFTER_MS 3600000
#define SWEEP_ROWS 100      /* looked at in one read */

static const struct keyspace counters = {0, SYSTEM_COUNTERS};

struct held {
	struct str name; /* malloced */
	uint64_t epoch;
	int64_t until_ms;
};

struct leases {
	struct lease_options options;
	char id[ID_MAX];
	pthread_mutex_t lock; /* of what follows; not held over a transaction */
	size_t n;
	struct held *v;
};

/* A row, taken apart; an absent one has run out. */
struct row {
	uint64_t epoch;
	int64_t until_ms;
	struct str holder;
};

static int64_t real_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool lease_is_row(struct keyspace keyspace, struct str key)
{
	return keyspace.table == 0 && keyspace.part == SYSTEM_COUNTERS &&
	       str_starts_with(key, STR(PREFIX));
}

struct leases *lease_open(const struct lease_options *options)
{
	struct leases *leases = arena_checked(calloc(1, sizeof(*leases)));
	struct arena *arena = arena_new(0);
	struct str id = uuid_new(arena);

	leases->options = *options;
	if (leases->options.length_ms == 0)
		leases->options.length_ms = LEASE_MS;
	if (!leases->options.now_ms)
		leases->options.now_ms = real_ms;
	memcpy(leases->id, id.p, id.n < ID_MAX ? id.n : ID_MAX - 1);
	pthread_mutex_init(&leases->lock, NULL);
	arena_free(arena);
	return leases;
}

void lease_close(struct leases *leases)
{
	if (!leases)
		return;
	while (leases->n > 0)
		lease_release(leases, leases->v[leases->n - 1].name);
	free(leases->v);
	pthread_mutex_destroy(&leases->lock);
	free(leases);
}

/* NULL: it is not in memory. The lock is held. */
static struct held *find(struct leases *leases, struct str name)
{
	for (size_t i = 0; i < leases->n; i++) {
		if (str_eq(leases->v[i].name, name))
			return &leases->v[i];
	}
	return NULL;
}

/* How much longer it is held by what is in memory; 0: not at all. */
static int64_t time_left(struct leases *leases, struct str name, uint64_t *epoch)
{
	pthread_mutex_lock(&leases->lock);
	const struct held *held = find(leases, name);
	int64_t left = held ? held->until_ms - leases->options.now_ms() : 0;
	*epoch = held ? held->epoch : 0;
	pthread_mutex_unlock(&leases->lock);
	return left > 0 ? left : 0;
}

static void keep_lease(struct leases *leases, struct str name, const struct row *row)
{
	pthread_mutex_lock(&leases->lock);
	struct held *held = find(leases, name);
	if (!held) {
		leases->v = arena_checked(realloc(leases->v, (leases->n + 1) * sizeof(*leases->v)));
		held = &leases->v[leases->n++];
		held->name = str_duplicate(name);
	}
	held->epoch = row->epoch;
	held->until_ms = row->until_ms;
	pthread_mutex_unlock(&leases->lock);
}

static void forget(struct leases *leases, struct str name)
{
	pthread_mutex_lock(&leases->lock);
	struct held *held = find(leases, name);
	if (held) {
		free((void *)(uintptr_t)held->name.p);
		*held = leases->v[--leases->n];
	}
	pthread_mutex_unlock(&leases->lock);
}

static struct str key_of(struct arena *arena, struct str name)
{
	return str_printf(arena, PREFIX STR_FMT, STR_ARG(name));
}

/* A malformed row is one that has run out: it is written again by who takes the lease. */
static struct row read_row(struct str value)
{
	struct row_reader row = row_read(value);
	struct row lease = {.epoch = row_u64(&row)};

	lease.until_ms = row_ms(&row);
	lease.holder = row_rest(&row);
	return str_is_set(value) && row_is_whole(&row) ? lease : (struct row){.holder = STR_ABSENT};
}

static struct str write_row(struct arena *arena, const struct row *row)
{
	struct buf buf = buf_in(arena);

	buf_add_be64(&buf, row->epoch);
	buf_add_be64(&buf, (uint64_t)row->until_ms);
	buf_add_str(&buf, row->holder);
	return buf_str(&buf);
}

static bool is_own(const struct leases *leases, const struct row *row)
{
	return str_is_set(row->holder) && str_eq(row->holder, str_of(leases->id));
}

/* The row as it is; a read costs a waiting process less than a writing transaction. */
static enum code look_at_lease(struct leases *leases, struct str key, struct row *row,
			       struct err *err)
{
	struct store_txn *txn;
	struct str value = STR_ABSENT;
	enum code code = store_begin(leases->options.store, STORE_READ, &txn, err);

	if (code != OK)
		return code;
	code = store_get(txn, counters, key, err->arena, &value, err);
	store_abort(txn);
	*row = read_row(code == OK ? value : STR_ABSENT);
	return code;
}

/* One transaction: the row becomes this process's, unless it is another's and has not run out. */
static enum code take_lease_once(struct leases *leases, struct str key, struct row *row,
				 bool *is_held, struct err *err)
{
	struct store_txn *txn;
	struct str value;
	enum code code = store_begin(leases->options.store, STORE_WRITE, &txn, err);

	*is_held = false;
	if (code != OK)
		return code;
	code = store_get(txn, counters, key, err->arena, &value, err);
	if (code == OK) {
		int64_t now_ms = leases->options.now_ms();

		*row = read_row(value);
		*is_held = is_own(leases, row) || row->until_ms <= now_ms;
		*row = (struct row){row->epoch + !is_own(leases, row),
				    now_ms + leases->options.length_ms, str_of(leases->id)};
	}
	if (code != OK || !*is_held) {
		store_abort(txn);
		return code;
	}
	return store_end(txn, store_put(txn, counters, key, write_row(err->arena, row), err), err);
}

static enum code take_lease_if_free(struct leases *leases, struct str key, struct row *row,
				    bool *is_held, struct err *err)
{
	enum code code = look_at_lease(leases, key, row, err);

	if (code != OK || (!is_own(leases, row) && row->until_ms > leases->options.now_ms()))
		return code;
	return take_lease_once(leases, key, row, is_held, err);
}

/* What fails is written to the caller's `err`, whose arena may live on: the rest is scratch. */
static enum code take_lease_row(struct leases *leases, struct str name, struct row *row,
				bool *is_held, struct err *err)
{
	struct arena *scratch = arena_new(0);
	struct err own = err_in(scratch);
	struct str key = key_of(scratch, name);

	*is_held = false;
	enum code code = take_lease_if_free(leases, key, row, is_held, &own);
	if (code == ERR_CONFLICT) { /* another process was faster */
		*is_held = false;
		code = OK;
	}
	if (code != OK) {
		*is_held = false;
		err_copy(err, code, own.message);
	}
	arena_free(scratch);
	return code;
}

enum code lease_take(struct leases *leases, struct str name, bool *is_held, bool *is_new,
		     struct err *err)
{
	uint64_t epoch;
	struct row row;
	enum code code = OK;

	*is_held = true;
	if (is_new)
		*is_new = false;
	if (!leases || leases->options.is_alone)
		return OK;
	int64_t left = time_left(leases, name, &epoch);
	if (left > leases->options.length_ms / 3 * 2)
		return OK;
	code = take_lease_row(leases, name, &row, is_held, err);
	if (code == OK && *is_held)
		keep_lease(leases, name, &row);
	else if (code == OK)
		forget(leases, name);
	if (is_new)
		*is_new = *is_held && (left == 0 || row.epoch != epoch);
	/* it could not be renewed in time: it is held until it runs out */
	if (code != OK && left > 0)
		*is_held = true;
	return *is_held ? OK : code;
}

bool lease_is_ours(struct leases *leases, struct str name)
{
	struct arena *arena = arena_new(0);
	struct err err = err_in(arena);
	bool is_held = false;
	enum code code = lease_take(leases, name, &is_held, NULL, &err);

	arena_free(arena);
	return code == OK && is_held;
}

bool lease_is_held(struct leases *leases, struct str name)
{
	uint64_t epoch;

	return !leases || leases->options.is_alone || time_left(leases, name, &epoch) > 0;
}

static enum code delete_row(struct leases *leases, struct str key, int64_t before_ms,
			    struct err *err)
{
	struct store_txn *txn;
	struct str value;
	enum code code = store_begin(leases->options.store, STORE_WRITE, &txn, err);

	if (code != OK)
		return code;
	code = store_get(txn, counters, key, err->arena, &value, err);
	struct row row = read_row(code == OK ? value : STR_ABSENT);
	if (code != OK || !str_is_set(value) ||
	    (!is_own(leases, &row) && row.until_ms >= before_ms)) {
		store_abort(txn);
		return code;
	}
	return store_end(txn, store_del(txn, counters, key, err), err);
}

void lease_release(struct leases *leases, struct str name)
{
	uint64_t epoch;

	if (!leases || leases->options.is_alone)
		return;
	struct arena *arena = arena_new(0);
	struct err err = err_in(arena);
	struct str key = key_of(arena, name);
	bool is_held = time_left(leases, name, &epoch) > 0;

	forget(leases, name);
	if (is_held && delete_row(leases, key, INT64_MIN, &err) != OK)
		err = err_in(arena);
	arena_free(arena);
}

enum code lease_sweep(struct leases *leases, struct err *err)
{
	struct store_range range = {STR(PREFIX), STR(PREFIX_END), false};
	struct store_page page = {.is_more = true};
	enum code code = OK;

	if (!leases || leases->options.is_alone)
		return OK;
	int64_t before_ms = leases->options.now_ms() - SWEEP_AFTER_MS;
	while (page.is_more && code == OK) {
		struct store_txn *txn;

		code = store_begin(leases->options.store, STORE_READ, &txn, err);
		if (code != OK)
			return code;
		code = store_page(txn, counters, &range, (struct store_bounds){.rows = SWEEP_ROWS},
				  err->arena, &page, err);
		store_abort(txn);
		for (size_t i = 0; i < page.n && code == OK; i++) {
			if (read_row(page.v[i].value).until_ms < before_ms)
				code = delete_row(leases, page.v[i].key, before_ms, err);
		}
		if (code == OK && page.is_more)
			store_range_after(&range, &page, err->arena);
	}
	return code == ERR_CONFLICT ? OK : code;
}

bool lease_is_sound(struct arena *arena, const struct store_row *row)
{
	(void)arena;
	return str_is_set(read_row(row->value).holder);
}
