#include "storage/store/trace/trace_store.h"

#include <inttypes.h>
#include <pthread.h>

#include "storage/store/store_messages.h"

#define KEYSPACES_MAX 256 /* counted one by one; further ones only in the totals */

struct keyspace_count {
	struct keyspace keyspace;
	uint64_t calls[TRACE_CALL_COUNT];
};

struct trace_store {
	struct store base;
	struct store *inner;
	pthread_mutex_t mutex;
	uint64_t calls[TRACE_CALL_COUNT];
	size_t keyspace_count;
	struct keyspace_count keyspaces[KEYSPACES_MAX];
	uint64_t fail_in, late_in;
	enum trace_call fail_call; /* that counts; TRACE_CALL_COUNT: each does */
	enum code fail_code, late_code;
	enum trace_call hook_call;
	trace_hook *hook; /* NULL: none */
	void *hook_context;
	FILE *log;
};

struct trace_txn {
	struct store_txn base;
	struct trace_store *store;
	struct store_txn *inner;
	enum code late; /* how the commit ends */
};

static const char *const names[TRACE_CALL_COUNT] = {
	"begin", "commit", "abort", "create", "drop", "stat", "get", "put", "del", "get_many",
	"page", "del_range", "add", "row",
};

static struct keyspace_count *trace_count_of(struct trace_store *store, struct keyspace keyspace)
{
	for (size_t i = 0; i < store->keyspace_count; i++) {
		struct keyspace *known = &store->keyspaces[i].keyspace;

		if (known->table == keyspace.table && known->part == keyspace.part)
			return &store->keyspaces[i];
	}
	if (store->keyspace_count == KEYSPACES_MAX)
		return NULL;
	store->keyspaces[store->keyspace_count].keyspace = keyspace;
	return &store->keyspaces[store->keyspace_count++];
}

/* Counts and logs a call; a call that shall fail does so here. */
static enum code trace(struct trace_store *store, enum trace_call call,
		       const struct keyspace *keyspace, struct err *err)
{
	enum code code = OK;

	pthread_mutex_lock(&store->mutex);
	store->calls[call]++;
	struct keyspace_count *count = keyspace ? trace_count_of(store, *keyspace) : NULL;
	if (count)
		count->calls[call]++;
	bool counts = store->fail_call == TRACE_CALL_COUNT
			      ? call != TRACE_ROW && call != TRACE_ABORT
			      : call == store->fail_call;
	if (counts && store->fail_in > 0 && --store->fail_in == 0)
		code = store->fail_code;
	if (store->log && keyspace)
		fprintf(store->log, "%s %" PRIu64 "/%" PRIu32 "%s\n", names[call], keyspace->table,
			keyspace->part, code != OK ? " fails" : "");
	else if (store->log)
		fprintf(store->log, "%s%s\n", names[call], code != OK ? " fails" : "");
	pthread_mutex_unlock(&store->mutex);
	return code == OK ? OK : err_set(err, code, "%s", "a fault was injected");
}

/* What comes behind a call; gives back how it ended. */
static enum code done(struct trace_store *store, enum trace_call call, enum code code)
{
	pthread_mutex_lock(&store->mutex);
	trace_hook *hook = store->hook_call == call ? store->hook : NULL;
	void *context = store->hook_context;
	if (hook)
		store->hook = NULL;
	pthread_mutex_unlock(&store->mutex);
	if (hook)
		hook(context);
	return code;
}

static void trace_close(struct store *base)
{
	struct trace_store *store = (struct trace_store *)base;

	store_close(store->inner);
	pthread_mutex_destroy(&store->mutex);
	free(store);
}

static enum code trace_check(struct store *base, struct err *err)
{
	return store_check(((struct trace_store *)base)->inner, err);
}

static void trace_usage(struct store *base, struct store_usage *usage)
{
	store_usage(((struct trace_store *)base)->inner, usage);
}

static enum code trace_foresee(struct store_txn *base, const struct store_key *keys, size_t n,
			       struct err *err)
{
	return store_foresee(((struct trace_txn *)base)->inner, keys, n, err);
}

static enum code trace_intend(struct store_txn *base, const struct store_key *key, struct err *err)
{
	return store_intend(((struct trace_txn *)base)->inner, key, err);
}

static enum code trace_verify(struct store_txn *base, struct err *err)
{
	return store_verify(((struct trace_txn *)base)->inner, err);
}

static enum code trace_append(struct store_txn *base, const struct store_append *append,
			      struct err *err)
{
	return store_append(((struct trace_txn *)base)->inner, append, err);
}

static enum code trace_begin(struct store *base, enum store_mode mode, struct store_txn **out,
			     struct err *err)
{
	struct trace_store *store = (struct trace_store *)base;
	struct store_txn *inner;
	enum code code = trace(store, TRACE_BEGIN, NULL, err);

	if (code != OK)
		return done(store, TRACE_BEGIN, code);
	code = store_begin(store->inner, mode, &inner, err);
	if (code != OK)
		return done(store, TRACE_BEGIN, code);
	struct trace_txn *txn = calloc(1, sizeof(*txn));
	if (!txn) {
		store_abort(inner);
		return err_set(err, MSG_STORE_FAILED, "out of memory");
	}
	*txn = (struct trace_txn){
		.base = {.ops = base->ops, .mode = mode}, .store = store, .inner = inner,
	};
	code = done(store, TRACE_BEGIN, OK);
	return RESULT(code, out, &txn->base);
}

static void trace_abort(struct store_txn *base)
{
	struct trace_txn *txn = (struct trace_txn *)base;
	struct trace_store *store = txn->store;
	struct err ignored = {.arena = NULL};
	enum code code = trace(store, TRACE_ABORT, NULL, &ignored); /* never fails */

	store_abort(txn->inner);
	free(txn);
	code = done(store, TRACE_ABORT, code);
	(void)code;
}

static enum code trace_late_commit(struct trace_txn *txn, struct err *err)
{
	enum code code = trace(txn->store, TRACE_COMMIT, NULL, err);

	if (code != OK || txn->late == OK)
		return code;
	return err_set(err, txn->late, "%s", "a fault was injected");
}

static enum code trace_commit(struct store_txn *base, struct err *err)
{
	struct trace_txn *txn = (struct trace_txn *)base;
	struct trace_store *store = txn->store;
	enum code code = store_end(txn->inner, trace_late_commit(txn, err), err);

	free(txn);
	return done(store, TRACE_COMMIT, code);
}

static enum code trace_create(struct store_txn *base, struct keyspace keyspace, struct err *err)
{
	struct trace_txn *txn = (struct trace_txn *)base;
	enum code code = trace(txn->store, TRACE_CREATE, &keyspace, err);

	return done(txn->store, TRACE_CREATE,
		    code != OK ? code : store_create(txn->inner, keyspace, err));
}

static enum code trace_drop(struct store_txn *base, struct keyspace keyspace, struct err *err)
{
	struct trace_txn *txn = (struct trace_txn *)base;
	enum code code = trace(txn->store, TRACE_DROP, &keyspace, err);

	return done(txn->store, TRACE_DROP,
		    code != OK ? code : store_drop(txn->inner, keyspace, err));
}

static enum code trace_stat(struct store_txn *base, struct keyspace keyspace,
			    struct store_stat *stat, struct err *err)
{
	struct trace_txn *txn = (struct trace_txn *)base;
	enum code code = trace(txn->store, TRACE_STAT, &keyspace, err);

	return done(txn->store, TRACE_STAT,
		    code != OK ? code : store_stat(txn->inner, keyspace, stat, err));
}

static enum code trace_get(struct store_txn *base, struct keyspace keyspace, struct str key,
			   struct arena *arena, struct str *value, struct err *err)
{
	struct trace_txn *txn = (struct trace_txn *)base;
	enum code code = trace(txn->store, TRACE_GET, &keyspace, err);

	return done(txn->store, TRACE_GET,
		    code != OK ? code : store_get(txn->inner, keyspace, key, arena, value, err));
}

/* Behind a write. */
static void note_write(struct trace_txn *txn)
{
	pthread_mutex_lock(&txn->store->mutex);
	if (txn->store->late_in > 0 && --txn->store->late_in == 0)
		txn->late = txn->store->late_code;
	pthread_mutex_unlock(&txn->store->mutex);
}

static enum code trace_put(struct store_txn *base, struct keyspace keyspace, struct str key,
			   struct str value, struct err *err)
{
	struct trace_txn *txn = (struct trace_txn *)base;
	enum code code = trace(txn->store, TRACE_PUT, &keyspace, err);

	note_write(txn);
	return done(txn->store, TRACE_PUT,
		    code != OK ? code : store_put(txn->inner, keyspace, key, value, err));
}

static enum code trace_del(struct store_txn *base, struct keyspace keyspace, struct str key,
			   struct err *err)
{
	struct trace_txn *txn = (struct trace_txn *)base;
	enum code code = trace(txn->store, TRACE_DEL, &keyspace, err);

	note_write(txn);
	return done(txn->store, TRACE_DEL,
		    code != OK ? code : store_del(txn->inner, keyspace, key, err));
}

static enum code trace_get_many(struct store_txn *base, const struct store_key *keys, size_t n,
				struct arena *arena, struct str *values, struct err *err)
{
	struct trace_txn *txn = (struct trace_txn *)base;
	enum code code = trace(txn->store, TRACE_GET_MANY, &keys[0].keyspace, err);

	return done(txn->store, TRACE_GET_MANY,
		    code != OK ? code : store_get_many(txn->inner, keys, n, arena, values, err));
}

static void note_rows(struct trace_store *store, struct keyspace keyspace,
		      const struct store_page *page)
{
	struct err ignored = {.arena = NULL};

	for (size_t i = 0; i < page->n; i++) {
		enum code never = trace(store, TRACE_ROW, &keyspace, &ignored); /* never fails */

		(void)never;
	}
}

static enum code trace_page(struct store_txn *base, struct keyspace keyspace,
			    const struct store_range *range, struct store_bounds bounds,
			    struct arena *arena, struct store_page *page, struct err *err)
{
	struct trace_txn *txn = (struct trace_txn *)base;
	enum code code = trace(txn->store, TRACE_PAGE, &keyspace, err);

	*page = (struct store_page){0};
	if (code != OK)
		return done(txn->store, TRACE_PAGE, code);
	code = store_page(txn->inner, keyspace, range, bounds, arena, page, err);
	note_rows(txn->store, keyspace, page);
	return done(txn->store, TRACE_PAGE, code);
}

/* Counted as a creation. */
static enum code trace_create_small(struct store_txn *base, struct keyspace keyspace,
				    struct err *err)
{
	struct trace_txn *txn = (struct trace_txn *)base;
	enum code code = trace(txn->store, TRACE_CREATE, &keyspace, err);

	return done(txn->store, TRACE_CREATE,
		    code != OK ? code : store_create_small(txn->inner, keyspace, err));
}

/* Counted as a page, with its rows. */
static enum code trace_page_of(struct store_txn *base, struct keyspace keyspace,
			       const struct store_reference *reference,
			       const struct store_range *range, struct store_bounds bounds,
			       struct arena *arena, struct store_page *page, struct err *err)
{
	struct trace_txn *txn = (struct trace_txn *)base;
	enum code code = trace(txn->store, TRACE_PAGE, &keyspace, err);

	*page = (struct store_page){0};
	if (code != OK)
		return done(txn->store, TRACE_PAGE, code);
	code = store_page_of(txn->inner, keyspace, reference, range, bounds, arena, page, err);
	note_rows(txn->store, keyspace, page);
	return done(txn->store, TRACE_PAGE, code);
}

/* Counted as a put. */
static enum code trace_refer(struct store_txn *base, struct keyspace keyspace, struct str key,
			     const struct store_key *to, struct err *err)
{
	struct trace_txn *txn = (struct trace_txn *)base;
	enum code code = trace(txn->store, TRACE_PUT, &keyspace, err);

	note_write(txn);
	return done(txn->store, TRACE_PUT,
		    code != OK ? code : store_refer(txn->inner, keyspace, key, to, err));
}

/* For tools: it is no call that could fail beneath a request. */
static enum code trace_keyspaces(struct store_txn *base, struct arena *arena,
				 struct store_keyspaces *keyspaces, struct err *err)
{
	return store_keyspaces(((struct trace_txn *)base)->inner, arena, keyspaces, err);
}

static enum code trace_del_range(struct store_txn *base, struct keyspace keyspace,
				 const struct store_range *range, struct err *err)
{
	struct trace_txn *txn = (struct trace_txn *)base;
	enum code code = trace(txn->store, TRACE_DEL_RANGE, &keyspace, err);

	note_write(txn);
	return done(txn->store, TRACE_DEL_RANGE,
		    code != OK ? code : store_del_range(txn->inner, keyspace, range, err));
}

static enum code trace_add(struct store_txn *base, struct keyspace keyspace, struct str key,
			   int64_t delta, struct err *err)
{
	struct trace_txn *txn = (struct trace_txn *)base;
	enum code code = trace(txn->store, TRACE_ADD, &keyspace, err);

	note_write(txn);
	return done(txn->store, TRACE_ADD,
		    code != OK ? code : store_add(txn->inner, keyspace, key, delta, err));
}

static enum code trace_tidy(struct store *base, bool *is_more, struct err *err)
{
	return store_tidy(((struct trace_store *)base)->inner, is_more, err);
}

static const struct store_limits *trace_limits(const struct store *base)
{
	return store_limits(((const struct trace_store *)base)->inner);
}

struct store *trace_store_new(struct store *inner)
{
	static const struct store_ops ops = {
		.close = trace_close,
		.check = trace_check,
		.usage = trace_usage,
		.begin = trace_begin,
		.commit = trace_commit,
		.abort = trace_abort,
		.create = trace_create,
		.drop = trace_drop,
		.stat = trace_stat,
		.get = trace_get,
		.put = trace_put,
		.del = trace_del,
		.get_many = trace_get_many,
		.page = trace_page,
		.del_range = trace_del_range,
		.add = trace_add,
		.limits = trace_limits,
		.tidy = trace_tidy,
		.keyspaces = trace_keyspaces,
		.create_small = trace_create_small,
		.page_of = trace_page_of,
		.refer = trace_refer,
		.foresee = trace_foresee,
		.intend = trace_intend,
		.verify = trace_verify,
		.append = trace_append,
	};
	struct trace_store *store = arena_checked(calloc(1, sizeof(*store)));

	store->base.ops = &ops;
	store->base.can = inner->can;
	store->inner = inner;
	pthread_mutex_init(&store->mutex, NULL);
	return &store->base;
}

void trace_store_copy(struct store *base)
{
	base->can &= ~(unsigned)STORE_CAN_REFER;
}

uint64_t trace_store_count(const struct store *base, enum trace_call call)
{
	struct trace_store *store = (struct trace_store *)base;

	pthread_mutex_lock(&store->mutex);
	uint64_t count = store->calls[call];
	pthread_mutex_unlock(&store->mutex);
	return count;
}

uint64_t trace_store_count_in(const struct store *base, enum trace_call call,
			      struct keyspace keyspace)
{
	struct trace_store *store = (struct trace_store *)base;
	uint64_t count = 0;

	pthread_mutex_lock(&store->mutex);
	for (size_t i = 0; i < store->keyspace_count; i++) {
		const struct keyspace *known = &store->keyspaces[i].keyspace;

		if (known->table == keyspace.table && known->part == keyspace.part)
			count = store->keyspaces[i].calls[call];
	}
	pthread_mutex_unlock(&store->mutex);
	return count;
}

void trace_store_reset(struct store *base)
{
	struct trace_store *store = (struct trace_store *)base;

	pthread_mutex_lock(&store->mutex);
	memset(store->calls, 0, sizeof(store->calls));
	store->keyspace_count = 0;
	memset(store->keyspaces, 0, sizeof(store->keyspaces));
	pthread_mutex_unlock(&store->mutex);
}

static void fail(struct store *base, enum trace_call call, uint64_t n, enum code code)
{
	struct trace_store *store = (struct trace_store *)base;

	pthread_mutex_lock(&store->mutex);
	store->fail_in = n;
	store->fail_call = call;
	store->fail_code = code;
	pthread_mutex_unlock(&store->mutex);
}

void trace_store_fail(struct store *base, uint64_t n, enum code code)
{
	fail(base, TRACE_CALL_COUNT, n, code);
}

void trace_store_fail_next(struct store *base, enum trace_call call, enum code code)
{
	fail(base, call, 1, code);
}

void trace_store_fail_late(struct store *base, uint64_t n, enum code code)
{
	struct trace_store *store = (struct trace_store *)base;

	pthread_mutex_lock(&store->mutex);
	store->late_in = n;
	store->late_code = code;
	pthread_mutex_unlock(&store->mutex);
}

void trace_store_after(struct store *base, enum trace_call call, trace_hook *hook, void *context)
{
	struct trace_store *store = (struct trace_store *)base;

	pthread_mutex_lock(&store->mutex);
	store->hook_call = call;
	store->hook = hook;
	store->hook_context = context;
	pthread_mutex_unlock(&store->mutex);
}

void trace_store_log(struct store *base, FILE *file)
{
	struct trace_store *store = (struct trace_store *)base;

	pthread_mutex_lock(&store->mutex);
	store->log = file;
	pthread_mutex_unlock(&store->mutex);
}
