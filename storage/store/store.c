#include "storage/store/store.h"

void store_close(struct store *store)
{
	if (store)
		store->ops->close(store);
}

enum code store_check(struct store *store, struct err *err)
{
	return store->ops->check(store, err);
}

void store_usage(struct store *store, struct store_usage *usage)
{
	*usage = (struct store_usage){0};
	if (store->ops->usage)
		store->ops->usage(store, usage);
}

enum code store_begin(struct store *store, enum store_mode mode, struct store_txn **txn, struct err *err)
{
	return store->ops->begin(store, mode, txn, err);
}

enum code store_commit(struct store_txn *txn, struct err *err)
{
	return txn->ops->commit(txn, err);
}

enum code store_commit_for_good(struct store_txn *txn, struct err *err)
{
	enum code code = store_commit(txn, err);

	if (code == OK)
		arena_pardon(err->arena);
	return code;
}

void store_abort(struct store_txn *txn)
{
	txn->ops->abort(txn);
}

enum code store_create(struct store_txn *txn, struct keyspace keyspace, struct err *err)
{
	return txn->ops->create(txn, keyspace, err);
}

enum code store_drop(struct store_txn *txn, struct keyspace keyspace, struct err *err)
{
	return txn->ops->drop(txn, keyspace, err);
}

enum code store_stat(struct store_txn *txn, struct keyspace keyspace, struct store_stat *stat, struct err *err)
{
	return txn->ops->stat(txn, keyspace, stat, err);
}

enum code store_get(struct store_txn *txn, struct keyspace keyspace, struct str key, struct arena *arena, struct str *value,
		    struct err *err)
{
	return txn->ops->get(txn, keyspace, key, arena, value, err);
}

enum code store_put(struct store_txn *txn, struct keyspace keyspace, struct str key, struct str value, struct err *err)
{
	return txn->ops->put(txn, keyspace, key, value, err);
}

enum code store_del(struct store_txn *txn, struct keyspace keyspace, struct str key, struct err *err)
{
	return txn->ops->del(txn, keyspace, key, err);
}

enum code store_scan(struct store_txn *txn, struct keyspace keyspace, const struct store_range *range, store_visit *visit,
		     void *context, struct err *err)
{
	return txn->ops->scan(txn, keyspace, range, visit, context, err);
}
