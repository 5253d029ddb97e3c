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

struct expired {
	struct arena *arena;
	size_t n;
	struct str keys[EXPIRED_PER_WRITE];
};

static bool collect(void *context, struct str key, struct str value)
{
	struct expired *expired = context;

	(void)value;
	expired->keys[expired->n++] = str_copy(expired->arena, key);
	return expired->n < EXPIRED_PER_WRITE;
}

static struct str expiry_key(struct arena *arena, struct str space, int64_t expires_ms, struct str client_token)
{
	struct buf buf = buf_in(arena);

	buf_add_str(&buf, space);
	buf_add_be64(&buf, (uint64_t)expires_ms);
	buf_add_str(&buf, client_token);
	return buf_str(&buf);
}

/* A token that was used again after its expiry lives on: this row tells of its first life. */
static enum code remove_token(struct store_txn *txn, struct arena *arena, struct str token, int64_t now_ms, struct err *err)
{
	struct str record;
	enum code code = store_get(txn, tokens, token, arena, &record, err);

	if (code != OK || !str_is_set(record) || (int64_t)str_be(record.p, record.n < 8 ? record.n : 8) > now_ms)
		return code;
	return store_del(txn, tokens, token, err);
}

/* Of one namespace; `space` is empty for the rows of older data files. */
static enum code remove_expired(struct store_txn *txn, struct arena *arena, struct str space, int64_t now_ms, struct err *err)
{
	struct expired expired = {.arena = arena};
	struct store_range range = {expiry_key(arena, space, 0, STR("")), expiry_key(arena, space, now_ms, STR("")), false};
	enum code code = store_scan(txn, expiries, &range, collect, &expired, err);

	for (size_t i = 0; i < expired.n && code == OK; i++) {
		struct str key = expired.keys[i], rest = {key.p + space.n + 8, key.n - space.n - 8};

		struct buf token = buf_in(arena);

		buf_add_str(&token, space);
		buf_add_str(&token, rest);
		code = remove_token(txn, arena, buf_str(&token), now_ms, err);
		if (code == OK)
			code = store_del(txn, expiries, key, err);
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
