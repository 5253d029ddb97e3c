#include "storage/store/postgresql/postgresql_store.h"

#include <stdlib.h>
#include <time.h>

#include "storage/store/postgresql/transaction.h"
#include "storage/store/store_messages.h"

#define MAKE_RUNS 100        /* several servers may make the table at the same moment */
#define MAKE_PAUSE_NS 50000000

struct postgresql_store {
	struct store base;
	struct libpq pq;
	char *url;
	struct link_options link;
	struct pool *pool;
	struct followers *followers; /* NULL: there are none */
};

#define FORMAT "SELECT encode(v, 'escape') FROM dynalith_kv WHERE ks = -1 AND k = '\\x00'"

static void postgresql_close(struct store *base)
{
	struct postgresql_store *store = (struct postgresql_store *)base;

	if (store->followers)
		followers_free(store->followers);
	if (store->pool)
		pool_free(store->pool);
	libpq_unload(&store->pq);
	free(store->url);
	free(store);
}

/* Tries what requests do, so that also a server that nobody asks notices. */
static enum code postgresql_check(struct store *base, struct err *err)
{
	struct pool *pool = ((struct postgresql_store *)base)->pool;
	struct followers *followers = ((struct postgresql_store *)base)->followers;
	struct link *link;

	if (pool_take(pool, &link, err) == OK) {
		link_send(link, STATEMENT_PROBE, NULL, 0);
		pool_judge(pool, link, link_wait(link, err));
		pool_give(pool, link);
	}
	if (followers)
		followers_open(followers);
	struct str problem = pool_problem(pool, err->arena);
	return str_is_set(problem) ? err_set(err, MSG_STORE_LOST, STR_ARG(problem)) : OK;
}

static enum code postgresql_begin(struct store *base, enum store_mode mode, struct store_txn **txn,
				  struct err *err)
{
	struct postgresql_store *store = (struct postgresql_store *)base;

	return transaction_begin(base->ops, store->pool, store->followers, mode, txn, err);
}

static enum code postgresql_tidy(struct store *base, bool *is_more, struct err *err)
{
	struct store_txn *txn;
	enum code code = postgresql_begin(base, STORE_WRITE, &txn, err);

	*is_more = false;
	if (code != OK)
		return code;
	code = transaction_tidy(txn, is_more, err);
	if (code == OK)
		return transaction_commit(txn, err);
	transaction_abort(txn);
	return code;
}

static void postgresql_usage(struct store *base, struct store_usage *usage)
{
	const struct link_counts *counts =
		pool_counts(((const struct postgresql_store *)base)->pool);

	const struct followers *followers = ((const struct postgresql_store *)base)->followers;

	*usage = (struct store_usage){
		.is_elsewhere = true,
		.has_copies = followers != NULL,
		.reason = pool_reason(((const struct postgresql_store *)base)->pool)};
	for (size_t i = 0; followers && i < STORE_BEHIND_COUNT; i++)
		usage->behind[i] = followers_counted(followers, (enum store_behind)i);
	for (size_t i = 0; i < STORE_FAILURE_COUNT; i++)
		usage->failures[i] = atomic_load(&counts->failures[i]);
}

static const struct store_ops postgresql_ops = {
	.close = postgresql_close,
	.check = postgresql_check,
	.begin = postgresql_begin,
	.commit = transaction_commit,
	.abort = transaction_abort,
	.create = transaction_create,
	.drop = transaction_drop,
	.stat = transaction_stat,
	.get = transaction_get,
	.put = transaction_put,
	.del = transaction_del,
	.get_many = transaction_get_many,
	.page = transaction_page,
	.del_range = transaction_del_range,
	.add = transaction_add,
	.usage = postgresql_usage,
	.keyspaces = transaction_keyspaces,
	.tidy = postgresql_tidy,
	.copy = transaction_copy,
	.foresee = transaction_foresee,
	.intend = transaction_intend,
	.verify = transaction_verify,
	.append = transaction_append,
};

/* Another server makes the table at this moment: its rows of the catalog appear between the looks
 * of CREATE TABLE at them. */
static bool is_made_by_another(const struct link *link, enum code code)
{
	static const char *const states[] = {
		"42P07", /* the table is there */
		"42710", /* the type of that name is there */
		"XX000", /* "tuple concurrently updated" */
	};

	for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++)
		if (strcmp(link->state, states[i]) == 0)
			return true;
	return code == ERR_CONFLICT; /* a row of the catalog is there */
}

/* The format that the database has; the table is made where it is missing. */
static enum code make(struct link *link, const struct profile *profile, struct str *format,
		      struct err *err)
{
	enum code code = link_command(link, FORMAT, format, err);

	for (unsigned i = 0; i < MAKE_RUNS && (code != OK || !str_is_set(*format)); i++) {
		if (code != OK && strcmp(link->state, "42P01") != 0 && code != ERR_CONFLICT)
			return code;
		code = link_command(link, profile->make, NULL, err);
		if (code != OK && !is_made_by_another(link, code))
			return code;
		if (code != OK)
			nanosleep(&(struct timespec){0, MAKE_PAUSE_NS}, NULL);
		code = link_command(link, FORMAT, format, err);
	}
	return code;
}

/* By a connection of its own, which has nothing prepared. */
static enum code make_by(struct link *link, const struct postgresql_store *store,
			 const struct profile **profile, struct str *format,
			 struct link_host *hosts, size_t *host_count, struct err *err)
{
	struct str version = STR_ABSENT;
	enum code code = link_connect(link, &store->link, err);

	if (code != OK)
		return code;
	if (!*profile) {
		code = link_command(link, "SELECT version()", &version, err);
		if (code != OK)
			return code;
		*profile = profile_of_version(version);
	}
	code = make(link, *profile, format, err);
	if (code != OK)
		return code;
	*host_count = link_hosts(link, hosts);
	return OK;
}

static enum code make_ready(struct postgresql_store *store, const char *name,
			    struct link_host *hosts, size_t *host_count, struct err *err)
{
	struct link_counts counts = {0};
	struct link link = {.pq = &store->pq, .counts = &counts};
	struct str format = STR_ABSENT;
	enum code code = profile_of_url(store->url, &store->link.profile, err);

	if (code != OK)
		return code;
	code = libpq_load(&store->pq, err);
	if (code != OK)
		return code;
	const struct profile *profile = store->link.profile;
	code = make_by(&link, store, &profile, &format, hosts, host_count, err);
	link_free(&link);
	store->link.profile = profile;
	if (code != OK)
		return err_set(err, MSG_STORE_OPEN, name, link.problem);
	unsigned long found = str_is_set(format) ? strtoul(format.p, NULL, 10) : 0;
	return found > POSTGRESQL_STORE_FORMAT ? err_set(err, MSG_STORE_NEWER, name,
							 (unsigned)found, POSTGRESQL_STORE_FORMAT)
					       : OK;
}

enum code postgresql_store_open(const struct postgresql_store_options *options, struct store **out,
				struct err *err)
{
	struct postgresql_store *store = arena_checked(calloc(1, sizeof(*store)));
	struct link_host hosts[LINK_HOSTS_MAX];
	unsigned links = options->connections ? options->connections : 1;
	size_t host_count = 0;

	store->base =
		(struct store){.ops = &postgresql_ops, .can = STORE_CAN_FORESEE | STORE_CAN_APPEND};
	store->url = arena_checked(strdup(options->url));
	store->link =
		(struct link_options){.url = store->url,
				      .answer_ms = LINK_ANSWER_MS,
				      .is_asynchronous = options->durability == DURABILITY_OFF};
	enum code code = make_ready(store, options->name, hosts, &host_count, err);
	if (code != OK) {
		postgresql_close(&store->base);
		return code;
	}
	store->pool = pool_new(&store->pq, &store->link, links);
	if (options->follower_lag_ms)
		store->followers = followers_new(
			&store->pq, &(struct followers_options){&store->link, hosts, host_count,
								links, options->follower_lag_ms});
	*out = &store->base;
	return OK;
}

struct postgresql_store_counts postgresql_store_counts(const struct store *base)
{
	const struct link_counts *counts =
		pool_counts(((const struct postgresql_store *)base)->pool);

	return (struct postgresql_store_counts){atomic_load(&counts->waits),
						atomic_load(&counts->statements)};
}
