#include "storage/store/journal.h"

#include "core/buf.h"
#include "core/key.h"
#include "storage/store/row.h"

/*
 * Rows of a journal: a kind, the keyspace, and for rows their key. The value of ROW is a byte 1 and
 * the old value, or nothing where there was no row.
 */
enum kind {
	KIND_CREATED = 'c', /* the keyspace was not there */
	KIND_GONE = 'g',   /* it was there, and its rows are noted one by one: of a part that may be
			      created again */
	KIND_HIDDEN = 'h', /* it was there, and still is */
	KIND_ROW = 'r',
};

static const struct store_bounds piece = {500, (size_t)1 << 20};
static const struct store_range every_row = {{NULL, 0}, {NULL, 0}, false};

static struct keyspace keyspace_of(uint64_t journal)
{
	return (struct keyspace){journal, PART_JOURNAL};
}

static struct str row_key(struct arena *arena, enum kind kind, struct keyspace keyspace,
			  struct str key)
{
	struct buf buf = buf_in(arena);

	buf_add_byte(&buf, (int)kind);
	buf_add_be64(&buf, keyspace.table);
	buf_add_be32(&buf, keyspace.part);
	buf_add_str(&buf, key);
	return buf_str(&buf);
}

/* A row of a journal, taken apart. */
struct note {
	struct keyspace keyspace;
	struct str key, value;     /* of the row that was noted; an absent value: there was none */
	struct store_row row;      /* of the journal */
};

static bool decode_journal_row(const struct store_row *row, struct note *note)
{
	struct row_reader key = row_read(row->key), value = row_read(row->value);
	enum kind kind = (enum kind)row_byte(&key);

	*note = (struct note){.row = *row, .value = STR_ABSENT};
	note->keyspace.table = row_u64(&key);
	note->keyspace.part = row_u32(&key);
	note->key = row_rest(&key);
	if (kind == KIND_ROW && row->value.n > 0) {
		bool was_there = row_byte(&value) == 1;

		note->value = row_rest(&value);
		return was_there && row_is_whole(&key);
	}
	return row_is_whole(&key) && row->value.n == 0 &&
	       (kind == KIND_ROW ||
		note->keyspace.table != 0); /* the system's keyspaces neither come nor go */
}

static struct store_range range_after(struct arena *arena, struct str prefix)
{
	return (struct store_range){prefix, key_after_prefix(arena, prefix), false};
}

static struct store_range range_of_kind(struct arena *arena, enum kind kind)
{
	char byte = (char)kind;

	return range_after(arena, str_copy(arena, (struct str){&byte, 1}));
}

/* Whether the journal has the note. */
static enum code has(struct store_txn *txn, uint64_t journal, enum kind kind,
		     struct keyspace keyspace, struct str key, bool *is_there, struct err *err)
{
	struct str value;
	enum code code =
		store_get(txn, keyspace_of(journal), row_key(err->arena, kind, keyspace, key),
			  err->arena, &value, err);

	*is_there = code == OK && str_is_set(value);
	return code;
}

static enum code note(struct store_txn *txn, uint64_t journal, enum kind kind,
		      struct keyspace keyspace, struct str key, struct str value, struct err *err)
{
	return store_put(txn, keyspace_of(journal), row_key(err->arena, kind, keyspace, key), value,
			 err);
}

static enum code forget(struct store_txn *txn, uint64_t journal, enum kind kind,
			struct keyspace keyspace, struct err *err)
{
	return store_del(txn, keyspace_of(journal), row_key(err->arena, kind, keyspace, STR("")),
			 err);
}

/* Forgets the rows of a keyspace that was created since the journal began, and is gone. */
static enum code forget_keyspace(struct store_txn *txn, uint64_t journal, struct keyspace keyspace,
				 struct err *err)
{
	struct store_range rows =
		range_after(err->arena, row_key(err->arena, KIND_ROW, keyspace, STR("")));
	enum code code = store_del_range(txn, keyspace_of(journal), &rows, err);

	return code == OK ? forget(txn, journal, KIND_CREATED, keyspace, err) : code;
}

/* The backend's calls are made on the transaction with its own table in place, so that one armed
 * call is never made within another. */
struct pause {
	struct store_txn *txn;
	const struct store_ops *armed;
};

static struct pause begin_pause(struct store_txn *txn)
{
	struct pause pause = {txn, txn->ops};

	txn->ops = txn->below;
	return pause;
}

static enum code end_pause(struct pause pause, enum code code)
{
	pause.txn->ops = pause.armed;
	return code;
}

/* Notes the row as it is, unless it was noted before. */
static enum code note_row(struct store_txn *txn, struct keyspace keyspace, struct str key,
			  struct err *err)
{
	struct buf note_value = buf_in(err->arena);
	struct str old;
	bool is_noted;

	if (keyspace.table == 0 &&
	    (keyspace.part == SYSTEM_VERSIONS || keyspace.part == SYSTEM_HISTORY))
		return OK;
	enum code code = has(txn, txn->journal, KIND_ROW, keyspace, key, &is_noted, err);
	if (code != OK || is_noted)
		return code;
	code = store_get(txn, keyspace, key, err->arena, &old, err);
	if (code != OK)
		return code;
	if (str_is_set(old)) {
		buf_add_byte(&note_value, 1);
		buf_add_str(&note_value, old);
	}
	return note(txn, txn->journal, KIND_ROW, keyspace, key,
		    str_is_set(old) ? buf_str(&note_value) : STR(""), err);
}

static enum code note_range(struct store_txn *txn, struct keyspace keyspace,
			    const struct store_range *range, struct err *err)
{
	struct store_range rest = *range;
	struct store_page page = {.is_more = true};

	while (page.is_more) {
		enum code code = store_page(txn, keyspace, &rest, piece, err->arena, &page, err);
		if (code != OK)
			return code;
		for (size_t i = 0; i < page.n; i++) {
			code = note_row(txn, keyspace, page.v[i].key, err);
			if (code != OK)
				return code;
		}
		if (page.is_more)
			store_range_after(&rest, &page, err->arena);
	}
	return OK;
}

static enum code armed_commit(struct store_txn *txn, struct err *err)
{
	txn->ops = txn->below;
	return store_commit(txn, err);
}

static void armed_abort(struct store_txn *txn)
{
	txn->ops = txn->below;
	store_abort(txn);
}

/* Behind the creation itself. */
static enum code note_creation(struct store_txn *txn, struct keyspace keyspace, enum code code,
			       struct err *err)
{
	bool is_gone;

	if (code != OK)
		return code;
	code = has(txn, txn->journal, KIND_GONE, keyspace, STR(""), &is_gone, err);
	if (code != OK)
		return code;
	return is_gone ? forget(txn, txn->journal, KIND_GONE, keyspace, err)
		       : note(txn, txn->journal, KIND_CREATED, keyspace, STR(""), STR(""), err);
}

static enum code armed_create(struct store_txn *txn, struct keyspace keyspace, struct err *err)
{
	struct pause pause = begin_pause(txn);

	return end_pause(pause,
			 note_creation(txn, keyspace, store_create(txn, keyspace, err), err));
}

/* Numbers are never used twice, so what is hidden is in nobody's way: but for the queue of time to
 * live and what replication keeps, which come and go. */
static enum code hide(struct store_txn *txn, struct keyspace keyspace, struct err *err)
{
	if (keyspace.part != PART_EXPIRY && keyspace.part != PART_REPLICATION)
		return note(txn, txn->journal, KIND_HIDDEN, keyspace, STR(""), STR(""), err);
	enum code code = note_range(txn, keyspace, &every_row, err);
	if (code != OK)
		return code;
	code = note(txn, txn->journal, KIND_GONE, keyspace, STR(""), STR(""), err);
	return code == OK ? store_drop(txn, keyspace, err) : code;
}

static enum code drop_journalled(struct store_txn *txn, struct keyspace keyspace, struct err *err)
{
	bool is_new;
	enum code code = has(txn, txn->journal, KIND_CREATED, keyspace, STR(""), &is_new, err);

	if (code != OK)
		return code;
	if (!is_new)
		return hide(txn, keyspace, err);
	code = forget_keyspace(txn, txn->journal, keyspace, err);
	if (code != OK)
		return code;
	return store_drop(txn, keyspace, err);
}

static enum code armed_drop(struct store_txn *txn, struct keyspace keyspace, struct err *err)
{
	struct pause pause = begin_pause(txn);

	return end_pause(pause, drop_journalled(txn, keyspace, err));
}

static enum code armed_put(struct store_txn *txn, struct keyspace keyspace, struct str key,
			   struct str value, struct err *err)
{
	struct pause pause = begin_pause(txn);
	enum code code = note_row(txn, keyspace, key, err);

	return end_pause(pause, code != OK ? code : store_put(txn, keyspace, key, value, err));
}

static enum code armed_del(struct store_txn *txn, struct keyspace keyspace, struct str key,
			   struct err *err)
{
	struct pause pause = begin_pause(txn);
	enum code code = note_row(txn, keyspace, key, err);

	return end_pause(pause, code != OK ? code : store_del(txn, keyspace, key, err));
}

static enum code armed_del_range(struct store_txn *txn, struct keyspace keyspace,
				 const struct store_range *range, struct err *err)
{
	struct pause pause = begin_pause(txn);
	enum code code = note_range(txn, keyspace, range, err);

	return end_pause(pause, code != OK ? code : store_del_range(txn, keyspace, range, err));
}

static enum code armed_add(struct store_txn *txn, struct keyspace keyspace, struct str key,
			   int64_t delta, struct err *err)
{
	struct pause pause = begin_pause(txn);
	enum code code = note_row(txn, keyspace, key, err);

	return end_pause(pause, code != OK ? code : store_add(txn, keyspace, key, delta, err));
}

static enum code armed_stat(struct store_txn *txn, struct keyspace keyspace,
			    struct store_stat *stat, struct err *err)
{
	struct pause pause = begin_pause(txn);

	return end_pause(pause, store_stat(txn, keyspace, stat, err));
}

static enum code armed_get(struct store_txn *txn, struct keyspace keyspace, struct str key,
			   struct arena *arena, struct str *value, struct err *err)
{
	struct pause pause = begin_pause(txn);

	return end_pause(pause, store_get(txn, keyspace, key, arena, value, err));
}

static enum code armed_get_many(struct store_txn *txn, const struct store_key *keys, size_t n,
				struct arena *arena, struct str *values, struct err *err)
{
	struct pause pause = begin_pause(txn);

	return end_pause(pause, store_get_many(txn, keys, n, arena, values, err));
}

static enum code armed_page(struct store_txn *txn, struct keyspace keyspace,
			    const struct store_range *range, struct store_bounds bounds,
			    struct arena *arena, struct store_page *page, struct err *err)
{
	struct pause pause = begin_pause(txn);

	return end_pause(pause, store_page(txn, keyspace, range, bounds, arena, page, err));
}

/* The target was created since the journal began, or its rows would have to be noted. */
static enum code armed_copy(struct store_txn *txn, struct keyspace from, struct keyspace to,
			    struct err *err)
{
	struct pause pause = begin_pause(txn);

	return end_pause(pause, store_copy(txn, from, to, err));
}

static enum code armed_keyspaces(struct store_txn *txn, struct arena *arena,
				 struct store_keyspaces *keyspaces, struct err *err)
{
	struct pause pause = begin_pause(txn);

	return end_pause(pause, store_keyspaces(txn, arena, keyspaces, err));
}

static enum code armed_create_small(struct store_txn *txn, struct keyspace keyspace,
				    struct err *err)
{
	struct pause pause = begin_pause(txn);

	return end_pause(pause,
			 note_creation(txn, keyspace, store_create_small(txn, keyspace, err), err));
}

static enum code armed_page_of(struct store_txn *txn, struct keyspace keyspace,
			       const struct store_reference *reference,
			       const struct store_range *range, struct store_bounds bounds,
			       struct arena *arena, struct store_page *page, struct err *err)
{
	struct pause pause = begin_pause(txn);

	return end_pause(pause,
			 store_page_of(txn, keyspace, reference, range, bounds, arena, page, err));
}

static enum code armed_refer(struct store_txn *txn, struct keyspace keyspace, struct str key,
			     const struct store_key *to, struct err *err)
{
	struct pause pause = begin_pause(txn);
	enum code code = note_row(txn, keyspace, key, err);

	return end_pause(pause, code != OK ? code : store_refer(txn, keyspace, key, to, err));
}

/* Of a transaction, not of a store: the calls of a store are never made by it. */
static const struct store_ops armed_ops = {
	.commit = armed_commit,
	.abort = armed_abort,
	.create = armed_create,
	.drop = armed_drop,
	.stat = armed_stat,
	.get = armed_get,
	.put = armed_put,
	.del = armed_del,
	.get_many = armed_get_many,
	.page = armed_page,
	.del_range = armed_del_range,
	.add = armed_add,
	.copy = armed_copy,
	.keyspaces = armed_keyspaces,
	.create_small = armed_create_small,
	.page_of = armed_page_of,
	.refer = armed_refer,
};

void journal_arm(struct store_txn *txn, uint64_t stack, uint64_t journal)
{
	if (txn->mode != STORE_WRITE || txn->ops == &armed_ops)
		return;
	txn->below = txn->ops;
	txn->ops = &armed_ops;
	txn->stack = stack;
	txn->journal = journal;
}

void journal_disarm(struct store_txn *txn)
{
	if (txn->ops != &armed_ops)
		return;
	txn->ops = txn->below;
	txn->stack = txn->journal = 0;
}

enum code journal_put_for_good(struct store_txn *txn, struct keyspace keyspace, struct str key,
			       struct str value, struct err *err)
{
	if (txn->ops != &armed_ops)
		return store_put(txn, keyspace, key, value, err);
	struct pause pause = begin_pause(txn);
	return end_pause(pause, store_put(txn, keyspace, key, value, err));
}

enum code journal_create(struct store_txn *txn, uint64_t journal, struct err *err)
{
	return store_create(txn, keyspace_of(journal), err);
}

enum code journal_drop(struct store_txn *txn, uint64_t journal, struct err *err)
{
	return store_drop(txn, keyspace_of(journal), err);
}

/* What is done with each row of a kind. */
typedef enum code each_row(struct store_txn *txn, void *context, const struct note *note,
			   struct err *err);

/* In pieces, each with an arena of its own: there may be many rows. */
static enum code each(struct store_txn *txn, uint64_t journal, enum kind kind, each_row *handle,
		      void *context, struct err *err)
{
	struct arena *scratch = arena_new(0), *ends = arena_new(0);
	struct err own = err_in(scratch);
	struct store_range rest = range_of_kind(ends, kind);
	struct store_page page = {.is_more = true};
	enum code code = OK;

	while (code == OK && page.is_more) {
		code = store_page(txn, keyspace_of(journal), &rest, piece, scratch, &page, &own);
		for (size_t i = 0; i < page.n && code == OK; i++) {
			struct note noted;

			code = decode_journal_row(&page.v[i], &noted)
				       ? handle(txn, context, &noted, &own)
				       : row_malformed(&own, keyspace_of(journal), page.v[i].key);
		}
		if (code == OK && page.is_more)
			store_range_after(&rest, &page, ends);
		if (code == OK)
			arena_reset(scratch);
	}
	if (code != OK)
		err_copy(err, code, own.message);
	arena_free(scratch);
	arena_free(ends);
	return code;
}

struct undoing {
	uint64_t journal;
	journal_visit *visit;
	void *context;
};

static enum code undo_created(struct store_txn *txn, void *context, const struct note *noted,
			      struct err *err)
{
	const struct undoing *undoing = context;
	struct keyspace keyspace = noted->keyspace;
	enum code code = store_drop(txn, keyspace, err);

	undoing->visit(undoing->context, keyspace, STR_ABSENT);
	return code == OK ? forget_keyspace(txn, undoing->journal, keyspace, err) : code;
}

static enum code undo_gone(struct store_txn *txn, void *context, const struct note *noted,
			   struct err *err)
{
	const struct undoing *undoing = context;
	struct keyspace keyspace = noted->keyspace;

	undoing->visit(undoing->context, keyspace, STR_ABSENT);
	return store_create(txn, keyspace, err);
}

static enum code undo_hidden(struct store_txn *txn, void *context, const struct note *noted,
			     struct err *err)
{
	const struct undoing *undoing = context;

	(void)txn, (void)err;
	undoing->visit(undoing->context, noted->keyspace, STR_ABSENT);
	return OK;
}

static enum code undo_row(struct store_txn *txn, void *context, const struct note *noted,
			  struct err *err)
{
	const struct undoing *undoing = context;
	struct keyspace keyspace = noted->keyspace;

	if (!undoing->visit(undoing->context, keyspace, noted->key))
		return OK;
	if (!str_is_set(noted->value))
		return store_del(txn, keyspace, noted->key, err);
	return store_put(txn, keyspace, noted->key, noted->value, err);
}

enum code journal_undo(struct store_txn *txn, uint64_t journal, journal_visit *visit, void *context,
		       struct err *err)
{
	struct undoing undoing = {journal, visit, context};
	enum code code = each(txn, journal, KIND_CREATED, undo_created, &undoing, err);

	if (code != OK)
		return code;
	code = each(txn, journal, KIND_GONE, undo_gone, &undoing, err);
	if (code != OK)
		return code;
	code = each(txn, journal, KIND_HIDDEN, undo_hidden, &undoing, err);
	if (code != OK)
		return code;
	code = each(txn, journal, KIND_ROW, undo_row, &undoing, err);
	return code == OK ? store_del_range(txn, keyspace_of(journal), &every_row, err) : code;
}

static enum code drop_hidden(struct store_txn *txn, void *context, const struct note *noted,
			     struct err *err)
{
	(void)context;
	return store_drop(txn, noted->keyspace, err);
}

/* For the outer journal: it was not there when that began, or was dropped since and is there again.
 */
static enum code pass_created(struct store_txn *txn, void *context, const struct note *noted,
			      struct err *err)
{
	const uint64_t *outer = context;
	struct keyspace keyspace = noted->keyspace;
	bool is_gone;
	enum code code = has(txn, *outer, KIND_GONE, keyspace, STR(""), &is_gone, err);

	if (code != OK)
		return code;
	return is_gone ? forget(txn, *outer, KIND_GONE, keyspace, err)
		       : note(txn, *outer, KIND_CREATED, keyspace, STR(""), STR(""), err);
}

/* What was created since the outer journal began and dropped since the inner one did was never
 * there for the outer one. */
static enum code pass_hidden(struct store_txn *txn, void *context, const struct note *noted,
			     struct err *err)
{
	const uint64_t *outer = context;
	struct keyspace keyspace = noted->keyspace;
	bool is_new;
	enum code code = has(txn, *outer, KIND_CREATED, keyspace, STR(""), &is_new, err);

	if (code != OK)
		return code;
	if (!is_new)
		return note(txn, *outer, KIND_HIDDEN, keyspace, STR(""), STR(""), err);
	code = forget_keyspace(txn, *outer, keyspace, err);
	return code == OK ? store_drop(txn, keyspace, err) : code;
}

static enum code pass_gone(struct store_txn *txn, void *context, const struct note *noted,
			   struct err *err)
{
	const uint64_t *outer = context;
	struct keyspace keyspace = noted->keyspace;
	bool is_new;
	enum code code = has(txn, *outer, KIND_CREATED, keyspace, STR(""), &is_new, err);

	if (code != OK)
		return code;
	return is_new ? forget_keyspace(txn, *outer, keyspace, err)
		      : note(txn, *outer, KIND_GONE, keyspace, STR(""), STR(""), err);
}

/* The outer journal's value is older. Rows of keyspaces that are new to it go with these. */
static enum code pass_row(struct store_txn *txn, void *context, const struct note *noted,
			  struct err *err)
{
	const uint64_t *outer = context;
	bool is_noted;
	enum code code = has(txn, *outer, KIND_ROW, noted->keyspace, noted->key, &is_noted, err);

	return code != OK || is_noted
		       ? code
		       : store_put(txn, keyspace_of(*outer), noted->row.key, noted->row.value, err);
}

enum code journal_end(struct store_txn *txn, uint64_t journal, uint64_t outer, struct err *err)
{
	enum code code = OK;

	if (!outer) {
		code = each(txn, journal, KIND_HIDDEN, drop_hidden, NULL, err);
		return code == OK ? journal_drop(txn, journal, err) : code;
	}
	/* rows first: those of keyspaces that are new to the outer journal and gone by now go when
	 * these do */
	code = each(txn, journal, KIND_ROW, pass_row, &outer, err);
	if (code != OK)
		return code;
	code = each(txn, journal, KIND_CREATED, pass_created, &outer, err);
	if (code != OK)
		return code;
	code = each(txn, journal, KIND_HIDDEN, pass_hidden, &outer, err);
	if (code != OK)
		return code;
	code = each(txn, journal, KIND_GONE, pass_gone, &outer, err);
	return code == OK ? journal_drop(txn, journal, err) : code;
}

struct showing {
	journal_visit *visit;
	void *context;
};

static enum code show_hidden(struct store_txn *txn, void *context, const struct note *noted,
			     struct err *err)
{
	const struct showing *showing = context;

	(void)txn, (void)err;
	showing->visit(showing->context, noted->keyspace, STR_ABSENT);
	return OK;
}

enum code journal_hidden(struct store_txn *txn, uint64_t journal, journal_visit *visit,
			 void *context, struct err *err)
{
	struct showing showing = {visit, context};

	return each(txn, journal, KIND_HIDDEN, show_hidden, &showing, err);
}

bool journal_read(const struct store_row *row, struct keyspace *keyspace, struct store_row *noted)
{
	struct note note;
	bool is_sound = decode_journal_row(row, &note);

	*keyspace = note.keyspace;
	*noted = (struct store_row){note.key, note.value};
	return is_sound;
}
