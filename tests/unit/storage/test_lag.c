/*
 * The past of a keyspace against copies of all its states: random changes at moments that rise,
 * then pages of random ranges, both ways, of every size, as they were. So much is changed at times
 * that the history of a page does not fit beside it. Then rows that are due, and what a clock that
 * is turned back does.
 */
#include <stdlib.h>

#include "core/buf.h"
#include "storage/lag/history.h"
#include "storage/store/sqlite/sqlite_store.h"
#include "tests/unit/test.h"

#define KEYS 1500
#define STATES 40
#define TABLE 7

static const struct keyspace items = {TABLE, PART_ITEMS}, history = {0, SYSTEM_HISTORY};
static const struct ns ns = {STR_INIT("000000000000"), STR_INIT("us-east-1")};

/* A store, and the states that its keyspace had: a number for each key, 0 for none. */
struct world {
	struct arena *arena;
	struct err err;
	struct store *store;
	int n;
	struct state {
		int64_t ms;
		int values[KEYS];
	} states[STATES];
};

static unsigned long long seed = 3;

static unsigned draw(unsigned n)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(seed >> 33) % n;
}

static struct world *world_new(void)
{
	struct sqlite_store_options options = {.readers = 1, .cache_bytes = 1 << 20};
	struct world *w = calloc(1, sizeof(*w));
	struct store_txn *txn;

	w->arena = arena_new(1 << 20);
	w->err = err_in(w->arena);
	CHECK_INT(sqlite_store_open(&options, &w->store, &w->err), OK);
	CHECK_INT(store_begin(w->store, STORE_WRITE, &txn, &w->err), OK);
	CHECK_INT(store_create(txn, items, &w->err), OK);
	CHECK_INT(lag_begin(txn, &w->err), OK);
	CHECK_INT(lag_begin(txn, &w->err), OK);
	CHECK_INT(store_commit(txn, &w->err), OK);
	return w;
}

static void world_free(struct world *w)
{
	store_close(w->store);
	arena_free(w->arena);
	free(w);
}

/* Some keys end with a zero byte, which is where the next page begins. */
static struct str key_of(struct arena *arena, int key)
{
	struct buf buf = buf_in(arena);

	buf_add_str(&buf, str_printf(arena, "%05d", key / 2));
	buf_add_byte(&buf, key % 2);
	buf_add_byte(&buf, 0);
	return buf_str(&buf);
}

static const struct lag lag = {.table_ms = 100, .index_ms = 250};

static void change(struct world *w, struct store_txn *txn, int64_t now_ms, int key, int value)
{
	struct state *state = &w->states[w->n - 1];
	const struct history_writer writer = {.txn = txn,
					      .arena = w->arena,
					      .lag = lag,
					      .space = STR("000000000000/us-east-1/"),
					      .now_ms = now_ms,
					      .item = (uint64_t)key};
	struct str row = key_of(w->arena, key),
		   old = state->values[key] ? str_printf(w->arena, "%d", state->values[key])
					    : STR_ABSENT;

	CHECK_INT(history_note(&writer, items, false, row, old, &w->err), OK);
	CHECK_INT(value ? store_put(txn, items, row, str_printf(w->arena, "%d", value), &w->err)
			: store_del(txn, items, row, &w->err),
		  OK);
	state->values[key] = value;
}

/* A new state, in which some rows are others, or a long run of them is gone or new. */
static void step(struct world *w)
{
	struct state *state = &w->states[w->n++];
	struct store_txn *txn;
	unsigned kind = draw(4);

	if (w->n > 1)
		*state = state[-1];
	state->ms += draw(3) ? 1 + (int)draw(60) : 0;
	CHECK_INT(store_begin(w->store, STORE_WRITE, &txn, &w->err), OK);
	for (int i = 0; i < 30 && kind > 1; i++)
		change(w, txn, state->ms, (int)draw(KEYS), (int)draw(3) ? 1 + (int)draw(1000) : 0);
	for (int i = 0, from = (int)draw(KEYS / 8); i < KEYS * 3 / 4 && kind <= 1; i++)
		change(w, txn, state->ms, from + i, kind ? 1 + (int)draw(1000) : 0);
	CHECK_INT(store_commit(txn, &w->err), OK);
}

static const struct state *state_at(const struct world *w, int64_t ms)
{
	static const struct state none;
	int i = w->n;

	while (i > 0 && w->states[i - 1].ms > ms)
		i--;
	return i ? &w->states[i - 1] : &none;
}

/* Whether the pages of a range, one behind the other, have what the state has. */
static bool is_state(struct world *w, struct store_txn *txn, const struct history_view *view,
		     struct store_range range, struct store_bounds bounds,
		     const struct state *state)
{
	struct store_page page = {.is_more = true};
	struct arena *scratch = arena_new(0);
	bool is_reverse = range.is_reverse, is_same = true;
	struct store_range whole = range;
	int key = is_reverse ? KEYS - 1 : 0;

	while (page.is_more && is_same) {
		CHECK_INT(history_page(txn, view, items, NULL, &range, bounds, scratch, &page,
				       &w->err),
			  OK);
		for (size_t i = 0; i < page.n && is_same; i++) {
			for (; key >= 0 && key < KEYS; key += is_reverse ? -1 : 1) {
				struct str row = key_of(scratch, key);
				bool is_in =
					(!str_is_set(whole.low) || str_cmp(row, whole.low) >= 0) &&
					(!str_is_set(whole.high) || str_cmp(row, whole.high) < 0);
				if (is_in && state->values[key])
					break;
			}
			is_same = key >= 0 && key < KEYS &&
				  str_eq(page.v[i].key, key_of(scratch, key)) &&
				  str_eq(page.v[i].value,
					 str_printf(scratch, "%d", state->values[key]));
			key += is_reverse ? -1 : 1;
		}
		CHECK(page.n > 0 || !page.is_more);
		if (page.is_more)
			store_range_after(&range, &page, scratch);
	}
	for (; is_same && key >= 0 && key < KEYS; key += is_reverse ? -1 : 1) {
		struct str row = key_of(scratch, key);
		bool is_in = (!str_is_set(whole.low) || str_cmp(row, whole.low) >= 0) &&
			     (!str_is_set(whole.high) || str_cmp(row, whole.high) < 0);
		is_same = !is_in || !state->values[key];
	}
	arena_free(scratch);
	return is_same;
}

TEST(pages_are_what_they_were)
{
	struct world *w = world_new();

	while (w->n < STATES)
		step(w);
	for (int i = 0; i < 150 / TEST_SLOWNESS; i++) {
		int64_t now_ms = w->states[draw(STATES)].ms + draw(200);
		struct history_view view = history_view_of(&lag, draw(2), now_ms);
		int a = (int)draw(KEYS), b = (int)draw(KEYS);
		struct store_range range = {draw(2) ? key_of(w->arena, a < b ? a : b) : STR_ABSENT,
					    draw(2) ? key_of(w->arena, a < b ? b : a) : STR_ABSENT,
					    draw(2)};
		struct store_bounds bounds = {draw(2) ? 1 + draw(5) : 400 + draw(2000), 1 << 20};
		struct store_txn *txn;
		struct str value = STR_ABSENT;

		if (now_ms <
		    w->states[STATES - 1]
			    .ms) /* a view from before the end sees later writes as not yet there */
			now_ms = w->states[STATES - 1].ms;
		view.now_ms = now_ms;
		const struct state *state = state_at(w, now_ms - view.lag_ms);
		CHECK_INT(store_begin(w->store, STORE_READ, &txn, &w->err), OK);
		CHECK(is_state(w, txn, &view, range, bounds, state));
		CHECK_INT(store_get(txn, items, key_of(w->arena, a), w->arena, &value, &w->err),
			  OK);
		CHECK_INT(history_get(txn, &view, items, key_of(w->arena, a), w->arena, &value,
				      &w->err),
			  OK);
		CHECK(str_is_set(value)
			      ? str_eq(value, str_printf(w->arena, "%d", state->values[a]))
			      : !state->values[a]);
		CHECK_INT(store_commit(txn, &w->err), OK);
	}
	world_free(w);
}

static uint64_t count_rows(struct world *w)
{
	struct store_stat stat = {0};
	struct store_txn *txn;

	CHECK_INT(store_begin(w->store, STORE_READ, &txn, &w->err), OK);
	CHECK_INT(store_stat(txn, history, &stat, &w->err), OK);
	store_abort(txn);
	return stat.rows;
}

static bool may_not(void *context)
{
	++*(int *)context;
	return false;
}

static bool may(void *context)
{
	(void)context;
	return true;
}

static void trim(struct world *w, int64_t now_ms, bool is_turned)
{
	bool more = true;

	while (more)
		CHECK_INT(history_trim(w->store, w->arena, ns, now_ms, is_turned, may, NULL, &more,
				       &w->err),
			  OK);
}

TEST(what_nobody_needs_goes)
{
	struct world *w = world_new();
	struct str after = STR("");
	struct ns found;
	bool is_found, more;
	int asked = 0;
	struct store_txn *txn;

	w->n = 1;
	CHECK_INT(history_find(w->store, w->arena, &after, &found, &is_found, &w->err), OK);
	CHECK(!is_found);
	CHECK_INT(store_begin(w->store, STORE_WRITE, &txn, &w->err), OK);
	for (int i = 0; i < 100; i++)
		change(w, txn, 1000 + i, i, 1);
	for (int i = 0; i < 100; i++) /* once more in the same millisecond: one row each */
		change(w, txn, 1000 + i, i, 2);
	CHECK_INT(store_commit(txn, &w->err), OK);
	CHECK_INT(count_rows(w), 200);
	CHECK_INT(history_find(w->store, w->arena, &after, &found, &is_found, &w->err), OK);
	CHECK(is_found && str_eq(found.account, ns.account) && str_eq(found.region, ns.region));
	CHECK_INT(history_find(w->store, w->arena, &after, &found, &is_found, &w->err), OK);
	CHECK(!is_found);
	CHECK_INT(
		history_trim(w->store, w->arena, ns, 1249, false, may_not, &asked, &more, &w->err),
		OK);
	CHECK_INT(asked, 0); /* nothing is due: nobody has to ask */
	CHECK_INT(
		history_trim(w->store, w->arena, ns, 1250, false, may_not, &asked, &more, &w->err),
		OK);
	CHECK_INT(asked, 1);
	CHECK_INT(count_rows(w), 200);
	trim(w, 1250 + 9, false);
	CHECK_INT(count_rows(w), 180);
	trim(w, 1049, true); /* the clock was turned back: the rows of 1010 to 1049 stay */
	CHECK_INT(count_rows(w), 80);
	CHECK_INT(store_begin(w->store, STORE_WRITE, &txn, &w->err), OK);
	CHECK_INT(history_forget(txn, TABLE + 1, &w->err), OK);
	CHECK_INT(store_commit(txn, &w->err), OK);
	CHECK_INT(count_rows(w), 80);
	CHECK_INT(store_begin(w->store, STORE_WRITE, &txn, &w->err), OK);
	CHECK_INT(history_forget(txn, TABLE, &w->err), OK);
	CHECK_INT(store_commit(txn, &w->err), OK);
	CHECK_INT(count_rows(w), 40);
	trim(w, 2000, false);
	CHECK_INT(count_rows(w), 0);
	world_free(w);
}

TEST(a_jitter_is_of_the_seed_the_item_and_the_moment)
{
	struct world *w = world_new();
	struct lag own = {.table_ms = 10, .jitter_ms = 90, .seed = 1};
	struct history_writer writer = {
		.arena = w->arena, .lag = own, .space = STR("a/b/"), .now_ms = 1000};
	struct str value;
	unsigned shown[2] = {0};

	CHECK_INT(store_begin(w->store, STORE_WRITE, &writer.txn, &w->err), OK);
	for (int i = 0; i < 50; i++) {
		writer.item = (uint64_t)i;
		CHECK_INT(history_note(&writer, items, false, key_of(w->arena, i), STR("old"),
				       &w->err),
			  OK);
	}
	CHECK_INT(store_commit(writer.txn, &w->err), OK);
	CHECK_INT(store_begin(w->store, STORE_READ, &writer.txn, &w->err), OK);
	for (int k = 0; k < 3; k++) {
		own.seed = k < 2 ? 1 : 2;
		unsigned now = 0;
		for (int i = 0; i < 50; i++) {
			struct history_view view = history_view_of(&own, false, 1050);

			value = STR("new");
			CHECK_INT(history_get(writer.txn, &view, items, key_of(w->arena, i),
					      w->arena, &value, &w->err),
				  OK);
			now = now * 2 + str_eq(value, STR("new")) * (unsigned)(i + 1);
			view.now_ms = 1009;
			CHECK_INT(history_get(writer.txn, &view, items, key_of(w->arena, i),
					      w->arena, &value, &w->err),
				  OK);
			CHECK(str_eq(value, STR("old")));
			value = STR("new");
			view.now_ms = 1100;
			CHECK_INT(history_get(writer.txn, &view, items, key_of(w->arena, i),
					      w->arena, &value, &w->err),
				  OK);
			CHECK(str_eq(value, STR("new")));
		}
		if (k < 2)
			shown[k] = now;
		else
			CHECK(now != shown[0]);
	}
	CHECK(shown[0] == shown[1] && shown[0] > 0);
	store_abort(writer.txn);
	world_free(w);
}

TEST_MAIN(TEST_CASE(pages_are_what_they_were), TEST_CASE(what_nobody_needs_goes),
	  TEST_CASE(a_jitter_is_of_the_seed_the_item_and_the_moment))
