#include "protocol/faults/faults.h"

#include <pthread.h>
#include <stdlib.h>

#include "protocol/faults/fault_operation.h"
#include "protocol/faults/faults_internal.h"
#include "protocol/faults/messages.h"
#include "protocol/tables/arn.h"

#define ACCOUNT_SIZE 12
#define REGION_MAX 63

struct entry {
	char account[ACCOUNT_SIZE + 1], region[REGION_MAX + 1];
	struct fault_set *set;
};

struct faults {
	bool is_shared;
	atomic_size_t n;
	pthread_rwlock_t lock; /* of `entries` */
	struct entry *entries; /* by account and region */
};

struct faults *faults_new(bool is_shared)
{
	struct faults *faults = arena_checked(calloc(1, sizeof(*faults)));

	faults->is_shared = is_shared;
	pthread_rwlock_init(&faults->lock, NULL);
	return faults;
}

void faults_free(struct faults *faults)
{
	if (!faults)
		return;
	faults_clear(faults, NULL);
	pthread_rwlock_destroy(&faults->lock);
	free(faults->entries);
	free(faults);
}

bool faults_are_set(const struct faults *faults)
{
	return faults && atomic_load_explicit(&faults->n, memory_order_relaxed) > 0;
}

/* All namespaces are one: that of no name. */
static struct ns own_namespace(const struct faults *faults, struct ns ns)
{
	return faults->is_shared ? (struct ns){STR(""), STR("")} : ns;
}

/* Where the namespace's rules are or would be. The lock is held. */
static size_t position(const struct faults *faults, struct ns ns, bool *is_there)
{
	size_t low = 0, high = atomic_load_explicit(&faults->n, memory_order_relaxed);

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct entry *entry = &faults->entries[middle];
		int order = str_cmp(str_of(entry->account), ns.account);

		order = order ? order : str_cmp(str_of(entry->region), ns.region);
		if (order == 0) {
			*is_there = true;
			return middle;
		}
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	*is_there = false;
	return low;
}

/* The namespace's rules with a reference, or NULL. */
static struct fault_set *find(struct faults *faults, struct ns ns)
{
	struct ns own = own_namespace(faults, ns);
	bool is_there;

	pthread_rwlock_rdlock(&faults->lock);
	size_t at = position(faults, own, &is_there);
	struct fault_set *set = is_there ? fault_set_ref(faults->entries[at].set) : NULL;
	pthread_rwlock_unlock(&faults->lock);
	return set;
}

/* The lock is held for writing. Takes the reference over where it succeeds. */
static enum code put(struct faults *faults, struct ns ns, struct fault_set *set, struct err *err)
{
	size_t n = atomic_load(&faults->n);
	bool is_there;
	size_t at = position(faults, ns, &is_there);

	if (is_there) {
		fault_set_unref(faults->entries[at].set);
		faults->entries[at].set = set;
		return OK;
	}
	if (n == FAULT_NAMESPACES_MAX)
		return err_set(err, MSG_FAULT_NAMESPACES, FAULT_NAMESPACES_MAX);
	faults->entries = arena_checked(realloc(faults->entries, (n + 1) * sizeof(*faults->entries)));
	memmove(faults->entries + at + 1, faults->entries + at, (n - at) * sizeof(*faults->entries));
	faults->entries[at] = (struct entry){.set = set};
	memcpy(faults->entries[at].account, ns.account.p, ns.account.n);
	memcpy(faults->entries[at].region, ns.region.p, ns.region.n);
	atomic_store(&faults->n, n + 1);
	return OK;
}

/* The lock is held for writing. */
static void drop(struct faults *faults, size_t at)
{
	size_t n = atomic_load(&faults->n);

	fault_set_unref(faults->entries[at].set);
	memmove(faults->entries + at, faults->entries + at + 1, (n - at - 1) * sizeof(*faults->entries));
	atomic_store(&faults->n, n - 1);
}

enum code faults_set(struct faults *faults, struct ns ns, struct str body, struct err *err)
{
	struct fault_set *set;

	if (!faults->is_shared && (ns.account.n != ACCOUNT_SIZE || ns.region.n == 0 || ns.region.n > REGION_MAX || str_has_zero(ns.region)))
		return err_set(err, MSG_FAULT_NAMESPACE, STR_ARG(ns.account), STR_ARG(ns.region));
	enum code code = fault_set_read(body, &set, err);
	if (code != OK)
		return code;
	if (set->n == 0) {
		fault_set_unref(set);
		faults_clear(faults, &ns);
		return OK;
	}
	pthread_rwlock_wrlock(&faults->lock);
	code = put(faults, own_namespace(faults, ns), set, err);
	pthread_rwlock_unlock(&faults->lock);
	if (code != OK)
		fault_set_unref(set);
	return code;
}

struct str faults_describe(struct faults *faults, struct ns ns, struct arena *arena)
{
	struct json_out out = json_out_in(arena);
	struct fault_set *set = find(faults, ns);

	json_out_open(&out, '{');
	json_out_name(&out, STR("rules"));
	fault_set_write(set, &out);
	json_out_close(&out, '}');
	fault_set_unref(set);
	return json_out_str(&out);
}

void faults_clear(struct faults *faults, const struct ns *ns)
{
	bool is_there;

	pthread_rwlock_wrlock(&faults->lock);
	if (ns) {
		size_t at = position(faults, own_namespace(faults, *ns), &is_there);

		if (is_there)
			drop(faults, at);
	}
	while (!ns && atomic_load(&faults->n) > 0)
		drop(faults, atomic_load(&faults->n) - 1);
	pthread_rwlock_unlock(&faults->lock);
}

enum fault_delivery fault_deliver(struct faults *faults, struct ns ns, struct str table)
{
	struct fault_set *set = faults_are_set(faults) ? find(faults, ns) : NULL;
	enum fault_delivery delivery = set ? fault_judge_delivery(set, table) : FAULT_DELIVER_ONCE;

	fault_set_unref(set);
	return delivery;
}

void fault_begin(struct faults *faults, struct call *call, size_t operation, const struct fault_signer *signer)
{
	struct fault_set *set = find(faults, call->ns);

	if (!set || !fault_operations_have(&set->operations, operation)) {
		fault_set_unref(set);
		return;
	}
	call->faults = ARENA_NEW(call->arena, struct fault_call);
	*call->faults = (struct fault_call){.set = set, .operation = operation, .signer = signer};
}

void fault_again(struct call *call)
{
	call->faults->at = 0;
	call->faults->left_out = NULL;
}

void fault_end(struct call *call, struct fault_reply *reply)
{
	*reply = call->faults->reply;
	fault_set_unref(call->faults->set);
	call->faults = NULL;
}

/* The name or the ARN of its table, in the member that gives it; absent where none does. */
static struct str named_table(struct arena *arena, const struct json *json)
{
	static const char *const names[] = {"TableName", "ResourceArn", "StreamArn"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct json *member = json_member(json, names[i]);

		if (member && json_type(member) == JSON_STRING)
			return json_string(arena, member);
	}
	return STR_ABSENT;
}

enum code fault_at_request(struct call *call, const struct json *json, struct err *err)
{
	struct str text = named_table(call->arena, json), name = text;

	if (fault_operation_has(call->faults->operation) & ~(unsigned)FAULT_OF_TABLE)
		return OK; /* its hook knows more */
	if (str_starts_with(text, STR("arn:"))) {
		struct str resource = arn_split(text).resource;

		name = STR_ABSENT;
		if (str_starts_with(resource, STR("table/")))
			arn_table_part(resource, &name);
	}
	return fault_at_table(call, name, STR_ABSENT, err);
}
