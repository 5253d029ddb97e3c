#include "storage/store/transfer.h"

#include <stdlib.h>

#include "core/buf.h"
#include "storage/store/store_messages.h"
#include "storage/store/walk.h"

static const struct keyspace counters = {0, SYSTEM_COUNTERS};
static const struct keyspace tables = {0, SYSTEM_TABLES};
static const struct store_bounds range_bounds = {2000, 1 << 20};

#define MARK STR("transfer/unfinished")
#define CHANGES_MAX 4000 /* of a transaction */

struct run {
	const struct transfer *transfer;
	struct store_txn *source;       /* one for all */
	struct arena *arena;            /* of the lists of keyspaces */
	struct arena *ranges[2];        /* by turns: the next range begins with a key of this one */
	unsigned turn;
	struct transfer_keyspace now;
};

/* What the target lacks or has too much in a range. */
struct changes {
	struct arena *arena;
	size_t put_count, del_count;
	struct store_row *puts;
	struct str *dels;
};

static bool is_mark(struct keyspace keyspace, struct str key)
{
	return keyspace.table == 0 && keyspace.part == SYSTEM_COUNTERS && str_eq(key, MARK);
}

static enum code look_for_row(struct store *store, struct keyspace keyspace, struct str key,
			      bool *is_there, struct err *err)
{
	struct store_range range = {key, STR_ABSENT, false};
	struct store_page page;
	struct store_txn *txn;
	enum code code = store_begin(store, STORE_READ, &txn, err);

	*is_there = false;
	if (code != OK)
		return code;
	struct arena *arena = arena_new(0);
	code = store_page(txn, keyspace, &range, (struct store_bounds){1, 0}, arena, &page, err);
	store_abort(txn);
	*is_there = code == OK && page.n > 0 && (!str_is_set(key) || str_eq(page.v[0].key, key));
	arena_free(arena);
	return code;
}

enum code transfer_is_unfinished(struct store *store, bool *is_unfinished, struct err *err)
{
	return look_for_row(store, counters, MARK, is_unfinished, err);
}

enum code transfer_is_empty(struct store *store, bool *is_empty, struct err *err)
{
	bool is_there;
	enum code code = look_for_row(store, tables, STR_ABSENT, &is_there, err);

	*is_empty = !is_there;
	return code;
}

/* Reads nothing, so that it meets no conflict. */
static enum code set_mark(const struct run *run, bool is_set, struct err *err)
{
	struct store_txn *txn;
	enum code code = store_begin(run->transfer->to, STORE_WRITE, &txn, err);

	if (code != OK)
		return code;
	code = is_set ? store_put(txn, counters, MARK, STR("1"), err)
		      : store_del(txn, counters, MARK, err);
	return store_end(txn, code, err);
}

static int compare_keyspaces(const void *a, const void *b)
{
	const struct keyspace *x = a, *y = b;

	if (x->table != y->table)
		return x->table < y->table ? -1 : 1;
	return x->part == y->part ? 0 : x->part < y->part ? -1 : 1;
}

/* Those of tables, each once, in order. */
static enum code list_table_keyspaces(struct store_txn *txn, struct arena *arena,
				      struct store_keyspaces *out, struct err *err)
{
	struct store_keyspaces found;
	enum code code = store_keyspaces(txn, arena, &found, err);

	if (code != OK)
		return code;
	struct keyspace *v = ARENA_ARRAY(arena, struct keyspace, found.n);
	size_t n = 0;
	if (found.n > 0)
		memcpy(v, found.v, found.n * sizeof(*v));
	qsort(v, found.n, sizeof(*v), compare_keyspaces);
	for (size_t i = 0; i < found.n; i++) {
		if (v[i].table != 0 && (n == 0 || compare_keyspaces(&v[n - 1], &v[i]) != 0))
			v[n++] = v[i];
	}
	*out = (struct store_keyspaces){n, v};
	return OK;
}

static enum code list_target(const struct run *run, struct store_keyspaces *out, struct err *err)
{
	struct store_txn *txn;
	enum code code = store_begin(run->transfer->to, STORE_READ, &txn, err);

	if (code != OK)
		return code;
	code = list_table_keyspaces(txn, run->arena, out, err);
	store_abort(txn);
	return code;
}

static bool is_listed(const struct store_keyspaces *keyspaces, struct keyspace keyspace)
{
	return keyspaces->n > 0 && bsearch(&keyspace, keyspaces->v, keyspaces->n, sizeof(keyspace),
					   compare_keyspaces) != NULL;
}

static bool refers(const struct run *run, struct keyspace keyspace,
		   struct store_reference *reference)
{
	const struct transfer *transfer = run->transfer;

	return transfer->refers && transfer->refers(transfer->context, keyspace, reference);
}

static enum code create_or_drop(const struct run *run, struct keyspace keyspace, bool is_drop,
				struct err *err)
{
	struct store_txn *txn;
	enum code code = store_begin(run->transfer->to, STORE_WRITE, &txn, err);

	if (code != OK)
		return code;
	struct store_reference reference;
	if (is_drop)
		code = store_drop(txn, keyspace, err);
	else if (refers(run, keyspace, &reference))
		code = store_create_small(txn, keyspace, err);
	else
		code = store_create(txn, keyspace, err);
	return store_end(txn, code, err);
}

static void add_put(struct changes *changes, struct store_row row)
{
	changes->puts = arena_room(changes->arena, changes->puts, changes->put_count,
				   sizeof(*changes->puts));
	changes->puts[changes->put_count++] = row;
}

static void add_del(struct changes *changes, struct str key)
{
	changes->dels = arena_room(changes->arena, changes->dels, changes->del_count,
				   sizeof(*changes->dels));
	changes->dels[changes->del_count++] = str_copy(changes->arena, key);
}

/* Compares a range of the target with the rows that it should have, up to CHANGES_MAX rows that are
 * too many. */
static enum code compare_range(const struct run *run, const struct store_range *range,
			       const struct store_page *wanted, struct changes *changes,
			       struct err *err)
{
	struct keyspace keyspace = run->now.keyspace;
	struct store_txn *txn;
	struct store_row row;
	size_t at = 0;
	enum code code = store_begin(run->transfer->to, STORE_READ, &txn, err);

	if (code != OK)
		return code;
	struct walk walk = walk_begin(txn, keyspace, range, err);
	while (changes->del_count < CHANGES_MAX && walk_next(&walk, &row)) {
		while (at < wanted->n && str_cmp(wanted->v[at].key, row.key) < 0)
			add_put(changes, wanted->v[at++]);
		if (at < wanted->n && str_eq(wanted->v[at].key, row.key)) {
			if (!str_eq(wanted->v[at].value, row.value))
				add_put(changes, wanted->v[at]);
			at++;
		} else if (!is_mark(keyspace, row.key)) {
			add_del(changes, row.key);
		}
	}
	bool is_cut = changes->del_count >= CHANGES_MAX;
	while (at < wanted->n && !is_cut)
		add_put(changes, wanted->v[at++]);
	code = walk_end(&walk);
	store_abort(txn);
	return code;
}

static enum code apply_changes(const struct run *run, const struct changes *changes,
			       struct err *err)
{
	struct keyspace keyspace = run->now.keyspace;
	struct store_reference reference;
	struct store_txn *txn;
	enum code code = store_begin(run->transfer->to, STORE_WRITE, &txn, err);

	if (code != OK)
		return code;
	for (size_t i = 0; i < changes->del_count && code == OK; i++)
		code = store_del(txn, keyspace, changes->dels[i], err);
	for (size_t i = 0; i < changes->put_count && code == OK; i++)
		code = store_put_of(txn, keyspace,
				    refers(run, keyspace, &reference) ? &reference : NULL,
				    &changes->puts[i], changes->arena, err);
	return store_end(txn, code, err);
}

/* One comparison, and the changes that it asks for. */
static enum code make_more_equal(struct run *run, const struct store_range *range,
				 const struct store_page *wanted, struct changes *changes,
				 uint64_t *put, bool *is_equal, struct err *err)
{
	enum code code = compare_range(run, range, wanted, changes, err);

	*put += changes->put_count;
	run->now.written += changes->put_count;
	run->now.deleted += changes->del_count;
	if (code != OK)
		return code;
	/* a comparison has seen the range but for what lies behind CHANGES_MAX rows that are too
	 * many */
	*is_equal = run->transfer->is_comparison || changes->put_count + changes->del_count == 0;
	if (*put > wanted->n)
		return err_set(err, MSG_TRANSFER_DISTURBED);
	return *is_equal ? OK : apply_changes(run, changes, err);
}

/*
 * Until the range reads as it should. Rows that are put once are there when they are looked for
 * again, but those that a piece of deletions had cut off: else somebody else writes.
 */
static enum code make_equal(struct run *run, const struct store_range *range,
			    const struct store_page *wanted, struct err *err)
{
	uint64_t put = 0;

	for (bool is_equal = false; !is_equal;) {
		struct changes changes = {.arena = arena_new(0)};
		enum code code =
			make_more_equal(run, range, wanted, &changes, &put, &is_equal, err);

		arena_free(changes.arena);
		if (code != OK)
			return code;
	}
	return OK;
}

static void add_to_digest(struct run *run, const struct store_row *row)
{
	struct arena *arena = run->ranges[run->turn];
	struct buf buf = buf_in(arena);

	buf_add_str(&buf, (struct str){(const char *)run->now.digest, SHA256_SIZE});
	buf_add_be64(&buf, row->key.n);
	buf_add_str(&buf, row->key);
	buf_add_str(&buf, row->value);
	sha256_of(buf_str(&buf), run->now.digest);
}

/* Leaves out what is not transferred, and counts the rest. */
static void take_transferred(struct run *run, struct store_page *page)
{
	size_t n = 0;

	for (size_t i = 0; i < page->n; i++) {
		if (run->transfer->is_left_out(run->now.keyspace, page->v[i].key))
			continue;
		page->v[n++] = page->v[i];
		run->now.rows++;
		run->now.bytes += page->v[i].key.n + page->v[i].value.n;
		add_to_digest(run, &page->v[i]);
	}
	page->n = n;
}

/* The rows up to some bound; *left is cut to what follows them. */
static enum code transfer_range(struct run *run, struct store_range *left, bool *is_more,
				struct err *err)
{
	struct arena *arena = run->ranges[run->turn ^= 1];
	struct store_range range = *left;
	struct store_page page;

	arena_reset(arena);
	enum code code =
		store_page(run->source, run->now.keyspace, left, range_bounds, arena, &page, err);
	if (code != OK)
		return code;
	*is_more = page.is_more;
	if (page.is_more) {
		store_range_after(left, &page, arena);
		range.high = left->low;
	}
	take_transferred(run, &page);
	return make_equal(run, &range, &page, err);
}

static enum code transfer_keyspace(struct run *run, struct keyspace keyspace, struct err *err)
{
	struct store_range left = {STR_ABSENT, STR_ABSENT, false};
	bool is_more = true;

	run->now = (struct transfer_keyspace){.keyspace = keyspace};
	while (is_more) {
		enum code code = transfer_range(run, &left, &is_more, err);
		run->now.is_done = !is_more;
		if (code != OK)
			return code;
		run->transfer->tell(run->transfer->context, &run->now);
	}
	return OK;
}

/* A keyspace that only the target has. */
static enum code remove_keyspace(struct run *run, struct keyspace keyspace, struct err *err)
{
	struct store_txn *txn;
	struct store_stat stat = {0};
	enum code code = store_begin(run->transfer->to, STORE_READ, &txn, err);

	if (code != OK)
		return code;
	code = store_stat(txn, keyspace, &stat, err);
	store_abort(txn);
	run->now = (struct transfer_keyspace){
		.keyspace = keyspace, .deleted = stat.rows, .is_done = true};
	if (code != OK)
		return code;
	if (!run->transfer->is_comparison)
		code = create_or_drop(run, keyspace, true, err);
	if (code == OK)
		run->transfer->tell(run->transfer->context, &run->now);
	return code;
}

/* A comparison does not look for rows of a keyspace that the target does not have. */
static enum code count_missing(struct run *run, struct keyspace keyspace, struct err *err)
{
	const struct store_range all = {STR_ABSENT, STR_ABSENT, false};
	struct walk walk = walk_begin(run->source, keyspace, &all, err);
	struct store_row row;

	run->now = (struct transfer_keyspace){.keyspace = keyspace, .is_done = true};
	while (walk_next(&walk, &row)) {
		run->now.rows++;
		run->now.bytes += row.key.n + row.value.n;
	}
	run->now.written = run->now.rows;
	enum code code = walk_end(&walk);
	if (code == OK)
		run->transfer->tell(run->transfer->context, &run->now);
	return code;
}

static enum code transfer_all(struct run *run, struct err *err)
{
	struct store_keyspaces wanted = {0}, there = {0};
	enum code code = list_table_keyspaces(run->source, run->arena, &wanted, err);

	if (code != OK)
		return code;
	code = list_target(run, &there, err);
	if (code != OK)
		return code;
	for (size_t i = 0; i < wanted.n; i++) {
		bool is_there = is_listed(&there, wanted.v[i]);

		if (!is_there && run->transfer->is_comparison) {
			code = count_missing(run, wanted.v[i], err);
			if (code != OK)
				return code;
			continue;
		}
		if (!is_there)
			code = create_or_drop(run, wanted.v[i], false, err);
		if (code != OK)
			return code;
		code = transfer_keyspace(run, wanted.v[i], err);
		if (code != OK)
			return code;
	}
	for (size_t i = 0; i < there.n; i++) {
		if (!is_listed(&wanted, there.v[i]))
			code = remove_keyspace(run, there.v[i], err);
		if (code != OK)
			return code;
	}
	for (uint32_t part = 0; part < SYSTEM_PART_COUNT; part++) {
		code = transfer_keyspace(run, (struct keyspace){0, part}, err);
		if (code != OK)
			return code;
	}
	return OK;
}

static enum code tidy(struct store *store, struct err *err)
{
	bool is_more = true;

	while (is_more) {
		enum code code = store_tidy(store, &is_more, err);
		if (code != OK)
			return code;
	}
	return OK;
}

enum code transfer_run(const struct transfer *transfer, struct err *err)
{
	struct run run = {.transfer = transfer};
	bool is_unfinished;
	enum code code = transfer_is_unfinished(transfer->from, &is_unfinished, err);

	if (code != OK)
		return code;
	if (is_unfinished)
		return err_set(err, MSG_TRANSFER_SOURCE);
	if (!transfer->is_comparison)
		code = set_mark(&run, true, err);
	if (code != OK)
		return code;
	code = store_begin(transfer->from, STORE_READ, &run.source, err);
	if (code != OK)
		return code;
	run.arena = arena_new(0);
	run.ranges[0] = arena_new(0);
	run.ranges[1] = arena_new(0);
	code = transfer_all(&run, err);
	store_abort(run.source);
	arena_free(run.ranges[1]);
	arena_free(run.ranges[0]);
	arena_free(run.arena);
	if (code != OK)
		return code;
	if (!transfer->is_comparison)
		code = tidy(transfer->to, err);
	return code == OK && !transfer->is_comparison ? set_mark(&run, false, err) : code;
}
