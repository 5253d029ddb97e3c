#include "protocol/faults/faults.h"

#include <stdlib.h>

#include "protocol/faults/fault_operation.h"
#include "protocol/faults/fault_state.h"
#include "protocol/faults/faults_internal.h"
#include "protocol/faults/messages.h"
#include "protocol/ns_map.h"
#include "protocol/tables/arn.h"

struct faults {
	struct ns_map sets; /* struct fault_set */
};

static void *ref(void *set)
{
	return fault_set_ref(set);
}

static void unref(void *set)
{
	fault_set_unref(set);
}

struct faults *faults_new(bool is_shared)
{
	struct faults *faults = arena_checked(calloc(1, sizeof(*faults)));

	ns_map_init(&faults->sets, is_shared, ref, unref);
	return faults;
}

void faults_free(struct faults *faults)
{
	if (!faults)
		return;
	ns_map_free(&faults->sets);
	free(faults);
}

bool faults_are_set(const struct faults *faults)
{
	return faults && ns_map_count(&faults->sets) > 0;
}

static struct fault_set *find(struct faults *faults, struct ns ns)
{
	return ns_map_find(&faults->sets, ns);
}

enum code faults_set(struct faults *faults, struct ns ns, struct str body, struct err *err)
{
	struct fault_set *set;

	if (!ns_map_takes(&faults->sets, ns))
		return err_set(err, MSG_FAULT_NAMESPACE, STR_ARG(ns.account), STR_ARG(ns.region));
	enum code code = fault_set_read(body, &set, err);
	if (code != OK)
		return code;
	if (set->n == 0)
		faults_clear(faults, &ns);
	else if (ns_map_put(&faults->sets, ns, set, FAULT_NAMESPACES_MAX))
		return OK;
	else
		code = err_set(err, MSG_FAULT_NAMESPACES, FAULT_NAMESPACES_MAX);
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

bool faults_has_set(struct faults *faults, struct ns ns, const struct fault_set *set)
{
	struct fault_set *now = find(faults, ns);

	fault_set_unref(now);
	return now == set;
}

void faults_clear(struct faults *faults, const struct ns *ns)
{
	ns_map_clear(&faults->sets, ns);
}

enum fault_delivery fault_deliver(struct faults *faults, struct ns ns, struct str table)
{
	struct fault_set *set = faults_are_set(faults) ? find(faults, ns) : NULL;
	enum fault_delivery delivery = set ? fault_judge_delivery(set, table) : FAULT_DELIVER_ONCE;

	fault_set_unref(set);
	return delivery;
}

struct str fault_replica_state(struct faults *faults, const struct table *replica)
{
	const struct table_identity *table = &replica->identity;
	struct fault_set *set = faults_are_set(faults)
					? find(faults, (struct ns){table->account, table->region})
					: NULL;
	enum fault_state state = set ? fault_judge_state(set, table->name) : FAULT_STATE_NONE;

	fault_set_unref(set);
	return state ? fault_state_name(state) : STR_ABSENT;
}

enum code fault_at_import(struct faults *faults, struct arena *arena, const struct write *write,
			  struct err *err)
{
	const struct table_identity *table = &write->table->identity;
	struct fault_set *set = faults_are_set(faults)
					? find(faults, (struct ns){table->account, table->region})
					: NULL;
	enum code code = set ? fault_judge_put(set, arena, write, err) : OK;

	fault_set_unref(set);
	return code;
}

void fault_begin(struct faults *faults, struct call *call, enum op_id operation,
		 const struct fault_signer *signer)
{
	struct fault_set *set = find(faults, call->ns);

	if (!set || !fault_operations_have(&set->requests, operation)) {
		fault_set_unref(set);
		return;
	}
	struct fault_call *own = ARENA_NEW(call->arena, struct fault_call);
	*own = (struct fault_call){.set = set, .operation = operation, .signer = signer};
	call->hooks[HOOK_FAULTS] = own;
}

void fault_again(struct call *call)
{
	struct fault_call *own = fault_call_of(call);

	if (!own)
		return;
	own->at = 0;
	own->left_out = NULL;
}

void fault_end(struct call *call, struct fault_reply *reply)
{
	struct fault_call *own = fault_call_of(call);

	*reply = own->reply;
	fault_set_unref(own->set);
	call->hooks[HOOK_FAULTS] = NULL;
}

bool fault_has_counted(const struct call *call)
{
	const struct fault_call *own = fault_call_of(call);

	return own && own->has_counted;
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

	if (ops_subjects(fault_call_of(call)->operation) & ~(unsigned)OF_TABLE)
		return OK; /* its hook knows more */
	if (str_starts_with(text, STR("arn:"))) {
		struct str resource = arn_split(text).resource;

		name = STR_ABSENT;
		if (str_starts_with(resource, STR("table/")))
			arn_table_part(resource, &name);
	}
	return fault_at_table(call, name, STR_ABSENT, err);
}
