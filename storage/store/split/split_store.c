#include "storage/store/split/split_store.h"

#include <stdlib.h>

#include "core/buf.h"
#include "storage/store/row.h"
#include "storage/store/store_messages.h"

/*
 * What a row of the inner store has in front. A value of the length of a number has nothing: it may
 * be one, and be added to. So no other value may get that length by its mark.
 */
enum mark {
	MARK_WHOLE = 0,
	MARK_PADDED = 1, /* one byte more, and the value */
	MARK_SPLIT = 2,  /* the length of all in 8 bytes, and the first piece */
};

#define SPLIT_HEAD 9             /* the mark and the length */
#define PIECE_NUMBER 4           /* bytes of a piece's number */
#define PIECES_PART 0x80000000u  /* added to a keyspace's part: where its pieces are */
#define END_OF_KEY                                                                                 \
	"\0\1" /* in the keys of pieces, behind the row's key, of which zero bytes are "\0\377" */

struct split_store {
	struct store base;
	struct store *inner;
	struct store_limits limits;
	size_t value_max; /* of the inner store */
};

struct split_txn {
	struct store_txn base;
	struct split_store *store;
	struct store_txn *inner;
};

static struct store_txn *inner_of(struct store_txn *base)
{
	return ((struct split_txn *)base)->inner;
}

static size_t value_max(struct store_txn *base)
{
	return ((struct split_txn *)base)->store->value_max;
}

static struct keyspace pieces_of(struct keyspace keyspace)
{
	return (struct keyspace){keyspace.table, keyspace.part | PIECES_PART};
}

static bool is_of_pieces(struct keyspace keyspace)
{
	return (keyspace.part & PIECES_PART) != 0;
}

/* In the order of keys, also where one is a prefix of another. */
static struct buf piece_prefix(struct arena *arena, struct str key)
{
	struct buf buf = buf_in(arena);

	for (size_t i = 0; i < key.n; i++) {
		buf_add_byte(&buf, row_at(key, i));
		if (row_at(key, i) == 0)
			buf_add_byte(&buf, 0xFF);
	}
	buf_add(&buf, END_OF_KEY, sizeof(END_OF_KEY) - 1);
	return buf;
}

static struct str piece_key(struct arena *arena, struct str key, uint32_t number)
{
	struct buf buf = piece_prefix(arena, key);

	buf_add_be32(&buf, number);
	return buf_str(&buf);
}

/* All pieces of a row. */
static struct store_range pieces_range(struct arena *arena, struct str key)
{
	struct buf low = piece_prefix(arena, key), high = piece_prefix(arena, key);

	for (int i = 0; i < PIECE_NUMBER + 1; i++)
		buf_add_byte(&high, 0xFF);
	return (struct store_range){buf_str(&low), buf_str(&high), false};
}

static enum code join_pieces(struct store_txn *base, const struct store_key *at, uint64_t n,
			     struct str first, struct arena *scratch, struct buf *bytes,
			     struct err *err)
{
	size_t known = first.n;
	struct store_range range = pieces_range(scratch, at->key);
	struct store_page page;
	enum code code = store_page(inner_of(base), pieces_of(at->keyspace), &range,
				    (struct store_bounds){0, 0}, scratch, &page, err);

	if (code != OK)
		return code;
	for (size_t i = 0; i < page.n; i++)
		known += page.v[i].value.n;
	/* the length is not believed before all of it is there */
	if (known != n)
		return row_malformed(err, at->keyspace, at->key);
	buf_reserve(bytes, n + 1);
	buf_add_str(bytes, first);
	for (size_t i = 0; i < page.n; i++)
		buf_add_str(bytes, page.v[i].value);
	return OK;
}

/* The value of `n` bytes that begins with these, put together from its pieces. */
static enum code put_together(struct store_txn *base, const struct store_key *at, uint64_t n,
			      struct str first, struct arena *arena, struct str *value,
			      struct err *err)
{
	struct arena *scratch = arena_new(0);
	struct buf bytes = buf_in(arena);
	enum code code = join_pieces(base, at, n, first, scratch, &bytes, err);

	*buf_reserve(&bytes, 1) = '\0'; /* which does not count */
	*value = buf_str(&bytes);
	arena_free(scratch);
	return code;
}

/* What is kept for a row becomes its value. */
static enum code open_value(struct store_txn *base, const struct store_key *at, struct arena *arena,
			    struct str *value, struct err *err)
{
	struct row_reader row = row_read(*value);

	if (!str_is_set(*value) || value->n == STORE_NUMBER_BYTES)
		return OK;
	unsigned mark = row_byte(&row);
	uint64_t n = mark == MARK_SPLIT ? row_u64(&row) : 0;
	if (mark == MARK_PADDED)
		(void)row_byte(&row);
	if (row.is_cut || mark > MARK_SPLIT)
		return row_malformed(err, at->keyspace, at->key);
	struct str rest = row_rest(&row);
	if (mark == MARK_SPLIT)
		return put_together(base, at, n, rest, arena, value, err);
	*value = rest;
	return OK;
}

static enum code split_get(struct store_txn *base, struct keyspace keyspace, struct str key,
			   struct arena *arena, struct str *value, struct err *err)
{
	const struct store_key at = {keyspace, key};
	enum code code = store_get(inner_of(base), keyspace, key, arena, value, err);

	return code == OK ? open_value(base, &at, arena, value, err) : code;
}

static enum code split_get_many(struct store_txn *base, const struct store_key *keys, size_t n,
				struct arena *arena, struct str *values, struct err *err)
{
	enum code code = store_get_many(inner_of(base), keys, n, arena, values, err);

	if (code != OK)
		return code;
	for (size_t i = 0; i < n; i++) {
		code = open_value(base, &keys[i], arena, &values[i], err);
		if (code != OK)
			return code;
	}
	return OK;
}

/* Of values put together. */
static bool is_full(struct store_bounds bounds, size_t rows, size_t bytes)
{
	return (bounds.rows && rows >= bounds.rows) || (bounds.bytes && bytes >= bounds.bytes);
}

/* The inner store's pages are bounded by what it keeps of each row, so one of them may be too long
 * or too short. */
static enum code split_page(struct store_txn *base, struct keyspace keyspace,
			    const struct store_range *range, struct store_bounds bounds,
			    struct arena *arena, struct store_page *page, struct err *err)
{
	struct store_range rest = *range;
	struct store_page part = {.is_more = true};
	size_t bytes = 0;

	*page = (struct store_page){0};
	for (part.n = 1; part.is_more && part.n > 0 && !page->is_more;) {
		const struct store_bounds left = {bounds.rows ? bounds.rows - page->n : 0,
						  bounds.bytes ? bounds.bytes - bytes : 0};
		enum code code =
			store_page(inner_of(base), keyspace, &rest, left, arena, &part, err);

		if (code != OK)
			return code;
		for (size_t i = 0; i < part.n && !page->is_more; i++) {
			struct store_key at = {keyspace, part.v[i].key};
			struct store_row row = part.v[i];

			code = open_value(base, &at, arena, &row.value, err);
			if (code != OK)
				return code;
			page->v = arena_room(arena, page->v, page->n, sizeof(*page->v));
			page->v[page->n++] = row;
			bytes += row.key.n + row.value.n;
			page->is_more = is_full(bounds, page->n, bytes);
		}
		if (part.n > 0)
			store_range_after(&rest, &part, arena);
	}
	return OK;
}

static enum code del_pieces(struct store_txn *base, struct keyspace keyspace, struct str key,
			    struct err *err)
{
	struct arena *scratch = arena_new(0);
	struct store_range range = pieces_range(scratch, key);
	enum code code = store_del_range(inner_of(base), pieces_of(keyspace), &range, err);

	arena_free(scratch);
	return code;
}

static enum code put_pieces(struct store_txn *base, struct arena *scratch, struct keyspace keyspace,
			    struct str key, struct str value, struct err *err)
{
	size_t most = value_max(base);
	struct buf row = buf_in(scratch);

	buf_add_byte(&row, MARK_SPLIT);
	buf_add_be64(&row, value.n);
	buf_add(&row, value.p, most - SPLIT_HEAD);
	enum code code = store_put(inner_of(base), keyspace, key, buf_str(&row), err);
	if (code != OK)
		return code;
	uint32_t number = 0;
	for (size_t at = most - SPLIT_HEAD; at < value.n; at += most) {
		struct str piece = row_first(row_behind(value, at), most);

		code = store_put(inner_of(base), pieces_of(keyspace),
				 piece_key(scratch, key, number++), piece, err);
		if (code != OK)
			return code;
	}
	return OK;
}

static enum code put_whole(struct store_txn *base, struct arena *scratch, struct keyspace keyspace,
			   struct str key, struct str value, struct err *err)
{
	struct buf row = buf_in(scratch);

	if (value.n == STORE_NUMBER_BYTES)
		return store_put(inner_of(base), keyspace, key, value, err);
	buf_reserve(&row, value.n + 2);
	if (value.n + 1 == STORE_NUMBER_BYTES) {
		buf_add_byte(&row, MARK_PADDED);
		buf_add_byte(&row, 0);
	} else {
		buf_add_byte(&row, MARK_WHOLE);
	}
	buf_add_str(&row, value);
	return store_put(inner_of(base), keyspace, key, buf_str(&row), err);
}

/* A larger value before this one may have left pieces. */
static enum code split_put(struct store_txn *base, struct keyspace keyspace, struct str key,
			   struct str value, struct err *err)
{
	enum code code = del_pieces(base, keyspace, key, err);

	if (code != OK)
		return code;
	struct arena *scratch = arena_new(0);
	code = value.n < value_max(base) ? put_whole(base, scratch, keyspace, key, value, err)
					 : put_pieces(base, scratch, keyspace, key, value, err);
	arena_free(scratch);
	return code;
}

static enum code split_del(struct store_txn *base, struct keyspace keyspace, struct str key,
			   struct err *err)
{
	enum code code = del_pieces(base, keyspace, key, err);

	return code == OK ? store_del(inner_of(base), keyspace, key, err) : code;
}

static enum code split_del_range(struct store_txn *base, struct keyspace keyspace,
				 const struct store_range *range, struct err *err)
{
	struct arena *scratch = arena_new(0);
	struct store_range pieces = {STR_ABSENT, STR_ABSENT, false};
	struct buf bound;

	if (str_is_set(range->low)) {
		bound = piece_prefix(scratch, range->low);
		pieces.low = buf_str(&bound);
	}
	if (str_is_set(range->high)) {
		bound = piece_prefix(scratch, range->high);
		pieces.high = buf_str(&bound);
	}
	enum code code = store_del_range(inner_of(base), pieces_of(keyspace), &pieces, err);
	arena_free(scratch);
	if (code != OK)
		return code;
	return store_del_range(inner_of(base), keyspace, range, err);
}

static enum code split_add(struct store_txn *base, struct keyspace keyspace, struct str key,
			   int64_t delta, struct err *err)
{
	return store_add(inner_of(base), keyspace, key, delta, err);
}

static enum code split_create(struct store_txn *base, struct keyspace keyspace, struct err *err)
{
	return store_create(inner_of(base), keyspace, err);
}

static enum code split_drop(struct store_txn *base, struct keyspace keyspace, struct err *err)
{
	const struct store_range all = {STR_ABSENT, STR_ABSENT, false};
	enum code code = store_del_range(inner_of(base), pieces_of(keyspace), &all, err);

	return code == OK ? store_drop(inner_of(base), keyspace, err) : code;
}

/* The bytes are those that the inner store keeps. */
static enum code split_stat(struct store_txn *base, struct keyspace keyspace,
			    struct store_stat *stat, struct err *err)
{
	struct store_stat pieces = {0};
	enum code code = store_stat(inner_of(base), keyspace, stat, err);

	if (code != OK)
		return code;
	code = store_stat(inner_of(base), pieces_of(keyspace), &pieces, err);
	if (code != OK)
		return code;
	stat->bytes += pieces.bytes;
	return OK;
}

/* Those of pieces are not shown. */
static enum code split_keyspaces(struct store_txn *base, struct arena *arena,
				 struct store_keyspaces *keyspaces, struct err *err)
{
	struct store_keyspaces all;
	enum code code = store_keyspaces(inner_of(base), arena, &all, err);

	if (code != OK)
		return code;
	struct keyspace *v = ARENA_ARRAY(arena, struct keyspace, all.n);
	*keyspaces = (struct store_keyspaces){0, v};
	for (size_t i = 0; i < all.n; i++) {
		if (!is_of_pieces(all.v[i]))
			v[keyspaces->n++] = all.v[i];
	}
	return OK;
}

static enum code split_commit(struct store_txn *base, struct err *err)
{
	struct store_txn *inner = inner_of(base);

	free(base);
	return store_commit(inner, err);
}

static void split_abort(struct store_txn *base)
{
	struct store_txn *inner = inner_of(base);

	free(base);
	store_abort(inner);
}

static enum code split_begin(struct store *base, enum store_mode mode, struct store_txn **out,
			     struct err *err)
{
	struct split_store *store = (struct split_store *)base;
	struct store_txn *inner;
	enum code code = store_begin(store->inner, mode, &inner, err);

	if (code != OK)
		return code;
	struct split_txn *txn = arena_checked(calloc(1, sizeof(*txn)));
	*txn = (struct split_txn){{.ops = base->ops, .mode = mode}, store, inner};
	*out = &txn->base;
	return OK;
}

static void split_close(struct store *base)
{
	store_close(((struct split_store *)base)->inner);
	free(base);
}

static enum code split_check(struct store *base, struct err *err)
{
	return store_check(((struct split_store *)base)->inner, err);
}

static void split_usage(struct store *base, struct store_usage *usage)
{
	store_usage(((struct split_store *)base)->inner, usage);
}

static const struct store_limits *split_limits(const struct store *base)
{
	return &((const struct split_store *)base)->limits;
}

struct store *split_store_new(struct store *inner)
{
	static const struct store_ops ops = {
		.close = split_close,
		.check = split_check,
		.usage = split_usage,
		.begin = split_begin,
		.commit = split_commit,
		.abort = split_abort,
		.create = split_create,
		.drop = split_drop,
		.stat = split_stat,
		.get = split_get,
		.put = split_put,
		.del = split_del,
		.get_many = split_get_many,
		.page = split_page,
		.del_range = split_del_range,
		.add = split_add,
		.limits = split_limits,
		.keyspaces = split_keyspaces,
	};
	const struct store_limits *limits = store_limits(inner);

	if (!limits->value)
		return inner;
	struct split_store *store = arena_checked(calloc(1, sizeof(*store)));
	*store = (struct split_store){{.ops = &ops}, inner, *limits, limits->value};
	store->limits.value = 0;
	return &store->base;
}
