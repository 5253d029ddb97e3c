/*
 * Idempotency tokens: SYSTEM_TOKENS maps a token to its expiry, the fingerprint of its request and
 * the sizes of its items, which older data files lack. SYSTEM_TOKEN_EXPIRY lists the tokens of each
 * namespace by expiry, so that the upkeep finds expired ones without a scan of all, and a namespace
 * whose clock is ahead removes no other's. Its rows are namespace, expiry, client's token; older
 * data files have rows without the namespace in front, which begin with a zero byte.
 *
 * A request looks at its token alone, by its key: requests with different tokens do not meet.
 */
#include "storage/messages.h"
#include "storage/store/row.h"
#include "storage/write/write_internal.h"

#define EXPIRED_AT_ONCE 64 /* tokens removed in one transaction: writers wait that long */

static const struct keyspace tokens = {0, SYSTEM_TOKENS};
static const struct keyspace expiries = {0, SYSTEM_TOKEN_EXPIRY};

struct str write_token_space(struct arena *arena, struct ns ns)
{
	return str_printf(arena, STR_FMT "/" STR_FMT "/", STR_ARG(ns.account), STR_ARG(ns.region));
}

static struct str expiry_key(struct arena *arena, struct str space, int64_t expires_ms,
			     struct str client_token)
{
	struct buf buf = buf_in(arena);

	buf_add_str(&buf, space);
	buf_add_be64(&buf, (uint64_t)expires_ms);
	buf_add_str(&buf, client_token);
	return buf_str(&buf);
}

/* A token that was used again after its expiry lives on: the row by which it was found is of its
 * first life. */
static bool is_over(int64_t expires_ms, int64_t now_ms)
{
	return expires_ms <= now_ms;
}

/* A token: when it expires, and the fingerprint of its request with the sizes of its items. */
static bool decode(struct str record, int64_t *expires_ms, struct str *fingerprint)
{
	struct row_reader row = row_read(record);

	*expires_ms = row_ms(&row);
	*fingerprint = row_rest(&row);
	return row_is_whole(&row);
}

static enum code remove_token_rows(struct store_txn *txn, struct arena *arena, struct str space,
				   const struct store_page *page, int64_t now_ms, struct err *err)
{
	struct store_key keys[EXPIRED_AT_ONCE];
	struct str records[EXPIRED_AT_ONCE];

	for (size_t i = 0; i < page->n; i++) {
		struct row_reader key = row_read(row_behind(page->v[i].key, space.n));
		struct buf token = buf_in(arena);

		(void)row_ms(&key);
		buf_add_str(&token, space);
		buf_add_str(&token, row_rest(&key));
		if (!row_is_whole(&key))
			return row_malformed(err, expiries, page->v[i].key);
		keys[i] = (struct store_key){tokens, buf_str(&token)};
	}
	enum code code = store_get_many(txn, keys, page->n, arena, records, err);
	if (code != OK)
		return code;
	for (size_t i = 0; i < page->n; i++) {
		int64_t expires_ms;
		struct str fingerprint;

		if (str_is_set(records[i]) && !decode(records[i], &expires_ms, &fingerprint))
			return row_malformed(err, tokens, keys[i].key);
		if (str_is_set(records[i]) && is_over(expires_ms, now_ms))
			code = store_del(txn, tokens, keys[i].key, err);
		if (code != OK)
			return code;
		code = store_del(txn, expiries, page->v[i].key, err);
		if (code != OK)
			return code;
	}
	return OK;
}

enum code write_find_tokens(struct store *store, struct arena *arena, struct str *after,
			    struct ns *ns, bool *is_found, struct err *err)
{
	struct store_range range = {*after, STR_ABSENT, false};
	struct store_page page = {.n = 0};
	struct store_txn *txn;
	enum code code = store_begin(store, STORE_READ, &txn, err);

	*is_found = false;
	if (code != OK)
		return code;
	code = store_page(txn, expiries, &range, (struct store_bounds){.rows = 1}, arena, &page,
			  err);
	store_abort(txn);
	if (code != OK || page.n == 0)
		return code;
	struct str key = page.v[0].key;
	struct row_reader row = row_read(key);

	*is_found = true;
	*ns = (struct ns){STR(""), STR("")};
	*after = STR("\x01"); /* a time begins with a zero byte */
	if (row_at(key, 0) == 0)
		return OK;
	ns->account = row_until(&row, '/');
	ns->region = row_until(&row, '/');
	*after = key_after_prefix(
		arena, row_first(key, key.n - row.rest.n)); /* all of the namespace: more than the
							       row that was found */
	return row.is_cut ? row_malformed(err, expiries, key) : OK;
}

/* The rows that are due. */
static enum code find_due_tokens(struct store *store, struct arena *arena, struct str space,
				 int64_t now_ms, struct store_page *page, struct err *err)
{
	struct store_range range = {expiry_key(arena, space, 0, STR("")),
				    expiry_key(arena, space, now_ms, STR("")), false};
	struct store_txn *txn;
	enum code code = store_begin(store, STORE_READ, &txn, err);

	page->n = 0;
	if (code != OK)
		return code;
	code = store_page(txn, expiries, &range, (struct store_bounds){.rows = EXPIRED_AT_ONCE},
			  arena, page, err);
	store_abort(txn);
	return code;
}

enum code write_expire_tokens(struct store *store, struct arena *arena, struct ns ns,
			      int64_t now_ms, write_may_expire *may, void *context, bool *more,
			      struct err *err)
{
	struct str space = ns.account.n ? write_token_space(arena, ns) : STR("");
	struct store_page page;
	struct store_txn *txn;
	enum code code = find_due_tokens(store, arena, space, now_ms, &page, err);

	*more = false;
	if (code != OK || page.n == 0 || !may(context))
		return code;
	code = store_begin(store, STORE_WRITE, &txn, err);
	if (code != OK)
		return code;
	code = remove_token_rows(txn, arena, space, &page, now_ms, err);
	*more = code == OK && page.is_more;
	return store_end(txn, code, err);
}

struct store_key write_token_key(const struct write_token *token)
{
	return (struct store_key){tokens, token->token};
}

enum code write_check_token(struct store_txn *txn, struct arena *arena, struct write_token *token,
			    int64_t now_ms, struct err *err)
{
	struct str known, noted;
	int64_t expires_ms;
	enum code code = store_get(txn, tokens, token->token, arena, &known, err);

	token->was_done = false;
	if (code != OK || !str_is_set(known))
		return code;
	if (!decode(known, &expires_ms, &noted))
		return row_malformed(err, tokens, token->token);
	if (is_over(expires_ms, now_ms))
		return OK;
	if (!str_starts_with(noted, token->fingerprint))
		return err_set(err, MSG_TOKEN_MISMATCH);
	token->was_done = true;
	token->sizes = row_behind(noted, token->fingerprint.n);
	return OK;
}

enum code write_note_token(struct store_txn *txn, struct arena *arena,
			   const struct write_token *token, struct err *err)
{
	struct str space = row_first(token->token, token->space_size),
		   client_token = row_behind(token->token, space.n);
	struct buf record = buf_in(arena);

	buf_add_be64(&record, (uint64_t)token->expires_ms);
	buf_add_str(&record, token->fingerprint);
	buf_add_str(&record, token->sizes);
	enum code code = store_put(txn, tokens, token->token, buf_str(&record), err);
	if (code != OK)
		return code;
	return store_put(txn, expiries,
			 expiry_key(arena, space, token->expires_ms, client_token), STR("-"), err);
}

bool write_token_is_sound(struct arena *arena, const struct store_row *row)
{
	int64_t expires_ms;
	struct str fingerprint;

	(void)arena;
	return decode(row->value, &expires_ms, &fingerprint);
}

bool write_token_expiry_is_sound(struct arena *arena, const struct store_row *row)
{
	struct row_reader key = row_read(row->key);

	(void)arena;
	if (row_at(row->key, 0) != 0) {
		(void)row_until(&key, '/');
		(void)row_until(&key, '/');
	}
	(void)row_ms(&key);
	return !key.is_cut && str_eq(row->value, STR("-"));
}
