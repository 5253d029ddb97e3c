/*
 * Idempotency tokens: SYSTEM_TOKENS maps a token to its expiry and the request's fingerprint; SYSTEM_TOKEN_EXPIRY lists those of each namespace by
 * expiry, so that expired ones are found without a scan of all, and a namespace whose clock is ahead removes no other's. Its rows are
 * namespace, expiry, client's token; older data files have rows without the namespace in front, which begin with a zero byte.
 */
#include "storage/messages.h"
#include "storage/write/write_internal.h"

#define EXPIRED_PER_WRITE 8 /* tokens removed by each transaction that brings a new one: more than it adds */

static const struct keyspace tokens = {0, SYSTEM_TOKENS};
static const struct keyspace expiries = {0, SYSTEM_TOKEN_EXPIRY};

struct str write_token_space(struct arena *arena, struct ns ns)
{
	return str_printf(arena, STR_FMT "/" STR_FMT "/", STR_ARG(ns.account), STR_ARG(ns.region));
}

static struct str expiry_key(struct arena *arena, struct str space, int64_t expires_ms, struct str client_token)
{
	struct buf buf = buf_in(arena);

	buf_add_str(&buf, space);
	buf_add_be64(&buf, (uint64_t)expires_ms);
	buf_add_str(&buf, client_token);
	return buf_str(&buf);
}

/* A token that was used again after its expiry lives on: the row by which it was found tells of its first life. */
static bool is_over(struct str record, int64_t now_ms)
{
	return str_is_set(record) && (int64_t)str_be(record.p, record.n < 8 ? record.n : 8) <= now_ms;
}

/* Of one namespace; `space` is empty for the rows of older data files. */
static enum code remove_expired(struct store_txn *txn, struct arena *arena, struct str space, int64_t now_ms, struct err *err)
{
	struct store_range range = {expiry_key(arena, space, 0, STR("")), expiry_key(arena, space, now_ms, STR("")), false};
	struct store_key keys[EXPIRED_PER_WRITE];
	struct str records[EXPIRED_PER_WRITE];
	struct store_page expired;
	enum code code = store_page(txn, expiries, &range, (struct store_bounds){.rows = EXPIRED_PER_WRITE}, arena, &expired, err);

	for (size_t i = 0; i < expired.n && code == OK; i++) {
		struct str key = expired.v[i].key, rest = {key.p + space.n + 8, key.n - space.n - 8};
		struct buf token = buf_in(arena);

		buf_add_str(&token, space);
		buf_add_str(&token, rest);
		keys[i] = (struct store_key){tokens, buf_str(&token)};
	}
	if (code == OK)
		code = store_get_many(txn, keys, expired.n, arena, records, err);
	for (size_t i = 0; i < expired.n && code == OK; i++) {
		if (is_over(records[i], now_ms))
			code = store_del(txn, tokens, keys[i].key, err);
		if (code == OK)
			code = store_del(txn, expiries, expired.v[i].key, err);
	}
	return code;
}

enum code write_check_token(struct store_txn *txn, struct arena *arena, struct write_token *token, int64_t now_ms, struct err *err)
{
	struct str space = {token->token.p, token->space_size}, client_token = {token->token.p + space.n, token->token.n - space.n};
	struct buf record = buf_in(arena);
	struct str known;
	enum code code = remove_expired(txn, arena, space, now_ms, err);

	if (code == OK)
		code = remove_expired(txn, arena, STR(""), now_ms, err);
	if (code == OK)
		code = store_get(txn, tokens, token->token, arena, &known, err);
	if (code != OK)
		return code;
	if (str_is_set(known) && known.n >= 8 && (int64_t)str_be(known.p, 8) > now_ms) {
		if (!str_eq((struct str){known.p + 8, known.n - 8}, token->fingerprint))
			return err_set(err, MSG_TOKEN_MISMATCH);
		token->was_done = true;
		return OK;
	}
	buf_add_be64(&record, (uint64_t)token->expires_ms);
	buf_add_str(&record, token->fingerprint);
	code = store_put(txn, tokens, token->token, buf_str(&record), err);
	return code != OK ? code : store_put(txn, expiries, expiry_key(arena, space, token->expires_ms, client_token), STR("-"), err);
}
