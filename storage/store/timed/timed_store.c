#include "storage/store/timed/timed_store.h"

#include <stdlib.h>

#include "storage/monotonic.h"

struct timed_store {
	struct store base;
	struct store_ops ops; /* of the store and of its writing transactions: the inner store's
				 own, but for those below */
	struct store *inner;
	timed_observe *observe;
	void *context;
};

static void timed_close(struct store *base)
{
	struct timed_store *store = (struct timed_store *)base;

	store_close(store->inner);
	free(store);
}

static enum code timed_check(struct store *base, struct err *err)
{
	return store_check(((struct timed_store *)base)->inner, err);
}

static void timed_usage(struct store *base, struct store_usage *usage)
{
	store_usage(((struct timed_store *)base)->inner, usage);
}

static enum code timed_tidy(struct store *base, bool *is_more, struct err *err)
{
	return store_tidy(((struct timed_store *)base)->inner, is_more, err);
}

static const struct store_limits *timed_limits(const struct store *base)
{
	return store_limits(((const struct timed_store *)base)->inner);
}

static enum code timed_begin(struct store *base, enum store_mode mode, struct store_txn **txn,
			     struct err *err)
{
	struct timed_store *store = (struct timed_store *)base;

	if (mode != STORE_WRITE)
		return store_begin(store->inner, mode, txn, err);
	uint64_t start = monotonic_ns();
	enum code code = store_begin(store->inner, mode, txn, err);
	store->observe(store->context, TIMED_BEGIN, monotonic_ns() - start);
	if (code == OK)
		(*txn)->ops = &store->ops;
	return code;
}

/* The transaction is the inner store's own; its table of calls lies in our store. The inner store,
 * which may be of this kind too, finds its own there. */
static enum code timed_commit(struct store_txn *txn, struct err *err)
{
	const struct timed_store *store =
		(const struct timed_store *)((const char *)txn->ops -
					     offsetof(struct timed_store, ops));
	uint64_t start = monotonic_ns();

	txn->ops = store->inner->ops;
	enum code code = store_commit(txn, err);

	store->observe(store->context, TIMED_COMMIT, monotonic_ns() - start);
	return code;
}

struct store *timed_store_new(struct store *inner, timed_observe *observe, void *context)
{
	struct timed_store *store = arena_checked(calloc(1, sizeof(*store)));

	*store = (struct timed_store){
		.ops = *inner->ops, .inner = inner, .observe = observe, .context = context};
	store->ops.close = timed_close;
	store->ops.check = timed_check;
	store->ops.usage = timed_usage;
	store->ops.begin = timed_begin;
	store->ops.commit = timed_commit;
	store->ops.limits = timed_limits;
	store->ops.tidy = timed_tidy;
	store->base.ops = &store->ops;
	store->base.can = inner->can;
	store->base.maintenance = NULL; /* it would get this store */
	return &store->base;
}
