#include "storage/catalog/clocks.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/buf.h"
#include "storage/messages.h"
#include "storage/schema/ns_name.h"
#include "storage/store/retry.h"
#include "storage/store/row.h"

#define PREFIX "clock/"
#define PREFIX_END "clock0"       /* behind every key: '0' follows '/' */
#define PAGE_ROWS 1000

static const struct keyspace counters = {0, SYSTEM_COUNTERS};
static const struct store_key version_key = {{0, SYSTEM_VERSIONS},
					     STR_INIT("clocks")}; /* keys of tables have 8 bytes */

/* The clock of one namespace. */
struct own {
	struct ns_name ns; /* first */
	struct clocks_setting setting;
};

struct clocks {
	struct store *store;     /* NULL: no rows */
	bool is_one;
	pthread_mutex_t turning; /* one turn at a time in this process */
	/* The default setting in one word, so that no reader sees half a turn: twice its ms, plus 1
	 * where it is frozen. */
	atomic_llong state;
	atomic_size_t n;
	_Atomic uint64_t version; /* of the rows that are in memory; 0: there were none */
	pthread_rwlock_t lock;    /* of `own` */
	struct own *own;          /* by account and region */
};

struct clocks *clocks_new(struct store *store, bool is_one)
{
	struct clocks *clocks = arena_checked(calloc(1, sizeof(*clocks)));

	clocks->store = store;
	clocks->is_one = is_one;
	pthread_mutex_init(&clocks->turning, NULL);
	pthread_rwlock_init(&clocks->lock, NULL);
	return clocks;
}

void clocks_free(struct clocks *clocks)
{
	if (!clocks)
		return;
	pthread_rwlock_destroy(&clocks->lock);
	pthread_mutex_destroy(&clocks->turning);
	free(clocks->own);
	free(clocks);
}

bool clocks_are_one(const struct clocks *clocks)
{
	return clocks->is_one;
}

int64_t clocks_real_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t clocks_now_of(struct clocks_setting setting, int64_t real_ms)
{
	return setting.is_frozen ? setting.ms : real_ms + setting.ms;
}

static struct clocks_setting default_setting(const struct clocks *clocks)
{
	long long state = atomic_load(&clocks->state);
	bool is_frozen = state & 1;

	return (struct clocks_setting){is_frozen, (state - is_frozen) / 2};
}

static void set_default(struct clocks *clocks, struct clocks_setting setting)
{
	atomic_store(&clocks->state, setting.ms * 2 + setting.is_frozen);
}

/* Where the namespace's clock is or would be. The lock is held. */
static size_t position(const struct clocks *clocks, struct ns ns, bool *found)
{
	return ns_name_search(clocks->own, atomic_load(&clocks->n), sizeof(*clocks->own), ns,
			      found);
}

/* Without the lock where no namespace has a clock of its own, which is nearly always. */
struct clocks_setting clocks_get(struct clocks *clocks, const struct ns *ns, bool *is_own)
{
	struct clocks_setting setting = default_setting(clocks);

	*is_own = false;
	if (!ns || clocks->is_one || atomic_load(&clocks->n) == 0)
		return setting;
	pthread_rwlock_rdlock(&clocks->lock);
	size_t at = position(clocks, *ns, is_own);
	if (*is_own)
		setting = clocks->own[at].setting;
	pthread_rwlock_unlock(&clocks->lock);
	return setting;
}

void clocks_each(struct clocks *clocks, clocks_visit *visit, void *context)
{
	pthread_rwlock_rdlock(&clocks->lock);
	for (size_t i = 0; i < atomic_load(&clocks->n); i++) {
		const struct own *own = &clocks->own[i];

		visit(context, ns_of_name(&own->ns), own->setting);
	}
	pthread_rwlock_unlock(&clocks->lock);
}

/* Gives the namespace its own clock, or takes it away (`setting` NULL), in memory. The lock is held
 * for writing. */
static void keep_setting(struct clocks *clocks, struct ns ns, const struct clocks_setting *setting)
{
	size_t n = atomic_load(&clocks->n);
	bool found;
	size_t at = position(clocks, ns, &found);

	if (!setting && found) {
		memmove(clocks->own + at, clocks->own + at + 1,
			(n - at - 1) * sizeof(*clocks->own));
		atomic_store(&clocks->n, n - 1);
	}
	if (!setting)
		return;
	if (!found) {
		clocks->own = arena_checked(realloc(clocks->own, (n + 1) * sizeof(*clocks->own)));
		memmove(clocks->own + at + 1, clocks->own + at, (n - at) * sizeof(*clocks->own));
		clocks->own[at].ns = ns_name_of(ns);
		atomic_store(&clocks->n, n + 1);
	}
	clocks->own[at].setting = *setting;
}

static struct str key_of(struct arena *arena, const struct ns *ns)
{
	return ns ? str_printf(arena, PREFIX STR_FMT "/" STR_FMT, STR_ARG(ns->account),
			       STR_ARG(ns->region))
		  : STR(PREFIX);
}

/* Puts a row among the settings read so far. Keys come in the order of namespaces; the default's is
 * the first. */
static bool take_clock_row(struct clocks *read, const struct store_row *row)
{
	struct row_reader key = row_read(row_behind(row->key, sizeof(PREFIX) - 1)),
			  value = row_read(row->value);
	struct clocks_setting setting = {.is_frozen = row_byte(&value) != 0};

	setting.ms = row_ms(&value);
	if (!row_is_whole(&value))
		return false;
	if (key.rest.n == 0) {
		set_default(read, setting);
		return true;
	}
	struct ns ns = {.account = row_until(&key, '/')};
	ns.region = row_rest(&key);
	if (!row_is_whole(&key) || ns.account.n != NS_ACCOUNT_SIZE || ns.region.n == 0 ||
	    ns.region.n > NS_REGION_MAX)
		return false;
	keep_setting(read, ns, &setting);
	return true;
}

static enum code read_clock_rows(struct store_txn *txn, struct clocks *read, struct err *err)
{
	struct store_range range = {STR(PREFIX), STR(PREFIX_END), false};
	struct store_page page = {.is_more = true};

	while (page.is_more) {
		enum code code =
			store_page(txn, counters, &range, (struct store_bounds){.rows = PAGE_ROWS},
				   err->arena, &page, err);
		if (code != OK)
			return code;
		for (size_t i = 0; i < page.n; i++) {
			if (!take_clock_row(read, &page.v[i]))
				code = row_malformed(err, counters, page.v[i].key);
			if (code != OK)
				return code;
		}
		if (page.is_more)
			store_range_after(&range, &page, err->arena);
	}
	return OK;
}

/* Makes what was read what counts, unless a later version does already. Takes over the array. */
static void replace_settings(struct clocks *clocks, struct clocks *read, uint64_t version)
{
	pthread_rwlock_wrlock(&clocks->lock);
	if (version > atomic_load(&clocks->version)) {
		struct own *old = clocks->own;

		clocks->own = read->own;
		atomic_store(&clocks->n, atomic_load(&read->n));
		set_default(clocks, default_setting(read));
		atomic_store(&clocks->version, version);
		read->own = old;
	}
	pthread_rwlock_unlock(&clocks->lock);
	free(read->own);
}

static enum code refresh(struct clocks *clocks, struct store_txn *txn, uint64_t *version,
			 struct err *err)
{
	struct clocks read = {.n = 0};
	enum code code = row_get_number(txn, version_key.keyspace, version_key.key, err->arena,
					version, err);

	if (code != OK || *version <= atomic_load(&clocks->version))
		return code;
	code = read_clock_rows(txn, &read, err);
	if (code == OK)
		replace_settings(clocks, &read, *version);
	else
		free(read.own);
	return code;
}

/* Takes in what other processes turned, as the transaction sees it. Costs nothing where none can,
 * or where `clocks` is NULL. */
static enum code clocks_refresh_in(struct clocks *clocks, struct store_txn *txn, struct err *err)
{
	uint64_t version;

	return clocks && clocks->store ? refresh(clocks, txn, &version, err) : OK;
}

enum code clocks_foresee(struct clocks *clocks, struct store_txn *txn, struct err *err)
{
	return clocks && clocks->store && store_foresees(txn)
		       ? store_foresee(txn, &version_key, 1, err)
		       : OK;
}

enum code clocks_stamp(struct clocks *clocks, struct store_txn *txn, struct ns ns, int64_t *now_ms,
		       struct err *err)
{
	uint64_t version;
	bool is_own;

	if (!clocks || !clocks->store)
		return OK;
	enum code code = refresh(clocks, txn, &version, err);
	if (code == OK)
		*now_ms = clocks_now_of(clocks_get(clocks, &ns, &is_own), clocks_real_ms());
	return code;
}

enum code clocks_tell(struct clocks *clocks, struct store_txn *txn, struct ns ns, int64_t *now_ms,
		      struct err *err)
{
	enum code code = clocks_refresh_in(clocks, txn, err);
	bool is_own;

	*now_ms = clocks_now_of(clocks_get(clocks, &ns, &is_own), clocks_real_ms());
	return code;
}

enum code clocks_refresh(struct clocks *clocks, struct err *err)
{
	struct store_txn *txn;

	if (!clocks || !clocks->store)
		return OK;
	enum code code = store_begin(clocks->store, STORE_READ, &txn, err);
	if (code != OK)
		return code;
	code = clocks_refresh_in(clocks, txn, err);
	store_abort(txn);
	return code;
}

/* What the turn makes of the clock as it is in memory; ERR_VALIDATION where there is no room for
 * one more. */
static enum code decide_turn(struct clocks *clocks, const struct ns *ns, clocks_turn *turn,
			     void *context, struct clocks_setting *next, enum clocks_action *action,
			     struct err *err)
{
	static const struct clocks_setting machine = {false, 0};
	bool is_own;
	struct clocks_setting setting = clocks_get(clocks, ns, &is_own);
	enum code code =
		turn(context, setting, ns ? default_setting(clocks) : machine, next, action, err);

	if (code != OK)
		return code;
	if (ns && !is_own && *action == CLOCKS_SET && atomic_load(&clocks->n) >= CLOCKS_MAX)
		return err_set(err, MSG_CLOCK_MANY, CLOCKS_MAX);
	return OK;
}

static enum code change_memory(struct clocks *clocks, const struct ns *ns, clocks_turn *turn,
			       void *context, struct err *err)
{
	struct clocks_setting next;
	enum clocks_action action;
	enum code code = decide_turn(clocks, ns, turn, context, &next, &action, err);

	if (code != OK || action == CLOCKS_NOTHING)
		return code;
	pthread_rwlock_wrlock(&clocks->lock);
	if (ns)
		keep_setting(clocks, *ns, action == CLOCKS_SET ? &next : NULL);
	else
		set_default(clocks, next);
	pthread_rwlock_unlock(&clocks->lock);
	return OK;
}

static enum code put_clock_rows(struct store_txn *txn, const struct ns *ns,
				const struct clocks_setting *next, bool is_kept, uint64_t version,
				struct err *err)
{
	struct buf row = buf_in(err->arena), number = buf_in(err->arena);
	struct str key = key_of(err->arena, ns);

	buf_add_byte(&row, next->is_frozen);
	buf_add_be64(&row, (uint64_t)next->ms);
	buf_add_be64(&number, version);
	enum code code = is_kept ? store_put(txn, counters, key, buf_str(&row), err)
				 : store_del(txn, counters, key, err);
	return code == OK ? store_put(txn, version_key.keyspace, version_key.key, buf_str(&number),
				      err)
			  : code;
}

/* Writes what the turn makes of the clock; CLOCKS_NOTHING: there is nothing to commit. */
static enum code turn_in(struct clocks *clocks, struct store_txn *txn, const struct ns *ns,
			 clocks_turn *turn, void *context, enum clocks_action *action,
			 struct err *err)
{
	struct clocks_setting next;
	uint64_t version;
	enum code code = store_intend(txn, &version_key, err);

	if (code != OK)
		return code;
	code = refresh(clocks, txn, &version, err);
	if (code != OK)
		return code;
	code = decide_turn(clocks, ns, turn, context, &next, action, err);
	if (code != OK || *action == CLOCKS_NOTHING)
		return code;
	return put_clock_rows(txn, ns, &next, *action == CLOCKS_SET, version + 1, err);
}

static enum code change_rows(struct clocks *clocks, const struct ns *ns, clocks_turn *turn,
			     void *context, struct err *err)
{
	enum clocks_action action = CLOCKS_NOTHING;
	struct store_txn *txn;
	enum code code = store_begin(clocks->store, STORE_WRITE, &txn, err);

	if (code != OK)
		return code;
	code = turn_in(clocks, txn, ns, turn, context, &action, err);
	if (code == OK && action != CLOCKS_NOTHING)
		return store_commit(txn, err);
	store_abort(txn);
	return code;
}

static enum code change_and_refresh(struct clocks *clocks, const struct ns *ns, clocks_turn *turn,
				    void *context, struct err *err)
{
	struct retry retry = {0};
	enum code code;

	do {
		code = clocks->store ? change_rows(clocks, ns, turn, context, err)
				     : change_memory(clocks, ns, turn, context, err);
	} while (retry_again(&retry, code));
	code = retry_code(code, err);
	if (code != OK)
		return code;
	return clocks_refresh(clocks, err);
}

enum code clocks_change(struct clocks *clocks, const struct ns *ns, clocks_turn *turn,
			void *context, struct err *err)
{
	pthread_mutex_lock(&clocks->turning);
	enum code code = change_and_refresh(clocks, ns, turn, context, err);
	pthread_mutex_unlock(&clocks->turning);
	return code;
}

bool clocks_is_sound(struct arena *arena, const struct store_row *row)
{
	struct clocks read = {.n = 0};
	bool is_sound = take_clock_row(&read, row);

	(void)arena;
	free(read.own);
	return is_sound;
}
