/* BatchExecuteStatement. AWS: API Reference, BatchExecuteStatement. */
#include "protocol/handler.h"
#include "core/seen.h"
#include "protocol/item_messages.h"
#include "protocol/partiql/messages.h"
#include "protocol/partiql/partiql.h"
#include "protocol/respond.h"
#include "protocol/rules.h"
#include "protocol/work/work.h"

#define MOVES_MAX 10 /* times a statement is run again because its table was changed meanwhile */

/* A statement on its way: `err` has what refused it, before it ran or after. */
struct slot {
	const struct batch_statement_request *request;
	struct partiql_statement statement;
	struct read_item read;
	struct write write;
	const struct table *table; /* set once it ran */
	struct err err;
};

static bool is_read(const struct slot *slot)
{
	return slot->statement.kind == PARTIQL_SELECT;
}

static enum code parse_slot(struct call *call, struct slot *slot)
{
	const struct value *parameters;
	enum code code = partiql_parameters(call->arena, &slot->request->parameters, &parameters,
					    &slot->err);

	if (code != OK)
		return code;
	code = partiql_parse(call, slot->request->statement, parameters,
			     slot->request->parameters.n, false, &slot->statement, &slot->err);
	if (code != OK && slot->statement.kind == PARTIQL_OTHER)
		return err_set(&slot->err, MSG_PARTIQL_BATCH_OPERATION);
	return code;
}

/* An error of one statement is its own; all others fail the request. */
static enum code plan_slot(struct call *call, struct slot *slot)
{
	bool is_point = false;
	enum code code;

	slot->write.wants_item_on_failure =
		slot->request->return_values_on_condition_check_failure ==
		RETURN_VALUES_ON_CONDITION_CHECK_FAILURE_ALL_OLD;
	if (!is_read(slot))
		return partiql_plan_write(call, &slot->statement, &slot->write, NULL, &slot->err);
	slot->read.mode =
		opt_is_true(slot->request->consistent_read) ? READ_CONSISTENT : READ_EVENTUAL;
	code = partiql_plan_point(call, &slot->statement, &slot->read, &is_point, &slot->err);
	if (code != OK || is_point)
		return code;
	code = partiql_check_select(call, &slot->statement, &slot->err);
	return code != OK ? code : err_set(&slot->err, MSG_PARTIQL_BATCH_KEY);
}

static enum code prepare_slots(struct call *call, struct slot *slots, size_t n, struct err *err)
{
	struct seen seen = seen_new(call->arena, n);
	int kind = -1;

	for (size_t i = 0; i < n; i++) {
		if (slots[i].err.code != OK)
			continue;
		if (kind >= 0 && kind != is_read(&slots[i]))
			return err_set(err, MSG_PARTIQL_BATCH_MIXED);
		kind = is_read(&slots[i]);
	}
	for (size_t i = 0; i < n; i++) {
		struct slot *slot = &slots[i];

		if (slot->err.code != OK)
			continue;
		slot->err.code = plan_slot(call, slot);
		const struct table *table = is_read(slot) ? slot->read.table : slot->write.table;
		struct str row_key = is_read(slot) ? slot->read.row_key : slot->write.row_key;
		if (str_is_set(row_key) &&
		    !seen_add(&seen, rules_item_name(call->arena, table, row_key)))
			return err_set(err, MSG_BATCH_DUPLICATES);
	}
	return OK;
}

static struct work work_of(struct call *call, struct slot *slot)
{
	if (is_read(slot))
		return (struct work){.call = call, .kind = WORK_OF_ITEM, .reads = &slot->read,
				     .n = 1};
	return (struct work){.call = call, .writes = &slot->write, .n = 1, .mode = WRITE_ALONE};
}

static enum code run_once(struct call *call, struct slot *slot)
{
	struct work work = work_of(call, slot);

	return work_run(&work, &slot->err);
}

/* Faults come before any statement is run. One that ends the request is in *err. */
static enum code meet_faults(struct call *call, struct slot *slots, size_t n, struct err *err)
{
	for (size_t i = 0; i < n; i++) {
		struct slot *slot = &slots[i];

		if (slot->err.code != OK)
			continue;
		struct work work = work_of(call, slot);
		enum code code = work_meet(&work, &slot->err);

		if (code != OK && (work_is_dropped(call) || err_info(code)->status >= 500)) {
			*err = slot->err;
			return code;
		}
		if (code != OK)
			slot->table = is_read(slot) ? slot->read.table : slot->write.table;
	}
	return OK;
}

/* Parses and plans the statement again, by its table as it is now. */
static void renew(struct call *call, struct slot *slot)
{
	call_look_again(call);
	*slot = (struct slot){.request = slot->request, .err = err_in(call->arena)};
	slot->err.code = parse_slot(call, slot);
	if (slot->err.code == OK)
		slot->err.code = plan_slot(call, slot);
}

/* AWS: what failed is in its table's total, where another statement of the table succeeded, and in
 * none of the parts. */
static void charge(struct call *call, const struct slot *slot)
{
	const struct cost *cost = is_read(slot) ? &slot->read.cost : &slot->write.cost;
	struct cost failed = {.table = cost->table};

	if (slot->err.code != OK)
		failed.failed = cost_total(cost);
	call_charge(call, slot->err.code != OK ? &failed : cost);
}

/*
 * Each statement succeeds or fails on its own. An error of the store fails the request as long as
 * nothing was changed (*is_changed); later it fails the statement. A conflict always fails the
 * statement, since running the whole request again would run earlier statements twice.
 */
static enum code run_slot(struct call *call, struct slot *slot, bool *is_changed, struct err *err)
{
	enum code code = run_once(call, slot);

	for (int i = 0; i < MOVES_MAX && code == ERR_TABLE_MOVED; i++) {
		(void)catalog_holds(call->service->catalog,
				    is_read(slot) ? slot->read.table
						  : slot->write.table); /* not any more */
		renew(call, slot);
		if (slot->err.code != OK)
			return OK;
		code = run_once(call, slot);
	}
	if (code != OK && err_info(code)->status >= 500) { /* what it cost is not known */
		*err = slot->err;
		return *is_changed ? OK : code;
	}
	*is_changed = *is_changed || (code == OK && !is_read(slot));
	slot->err.code = code != OK ? partiql_write_error(&slot->statement, &slot->err) : OK;
	slot->table = is_read(slot) ? slot->read.table : slot->write.table;
	if (!work_is_throttled(slot->err.code))
		charge(call, slot);
	return OK;
}

static void respond_slot(struct call *call, const struct slot *slot)
{
	struct json_out *out = &call->out;

	json_out_open(out, '{');
	if (slot->err.code != OK) {
		const struct err_info *info = err_info(slot->err.code);
		bool is_ours = info->status >= 500;
		const char *reason = is_ours ? "InternalServerError" : write_reason(slot->err.code);

		json_out_name(out, STR("Error"));
		json_out_open(out, '{');
		json_out_field_string(out, "Code", str_of(reason));
		/* details of server errors go to the log, not to the client */
		json_out_field_string(out, "Message",
				      is_ours ? str_of(info->text) : slot->err.message);
		if (str_is_set(slot->err.item)) {
			json_out_name(out, STR("Item"));
			json_out_image(out, slot->err.item);
		}
		json_out_close(out, '}');
	}
	/* AWS: also of a statement that was refused for its table or its item, not of one that
	 * names no item */
	bool is_named = slot->read.key || slot->write.key || slot->write.item ||
			slot->err.code == ERR_RESOURCE_NOT_FOUND;
	if (slot->table || is_named)
		json_out_field_string(out, "TableName",
				      slot->table ? slot->table->identity.name
						  : slot->statement.table);
	if (slot->err.code == OK && is_read(slot) && str_is_set(slot->read.image)) {
		json_out_name(out, STR("Item"));
		partiql_respond_item(call, slot->statement.columns, slot->read.image);
	} else if (slot->err.code == OK && !is_read(slot)) {
		partiql_respond_returning(call, &slot->statement, &slot->write, STR("Item"));
	}
	json_out_close(out, '}');
}

static void respond_slots(struct call *call, int wanted, const struct slot *slots, size_t n)
{
	enum capacity_form form = CAPACITY_READ;
	bool has_success = false;

	json_out_open(&call->out, '{');
	json_out_name(&call->out, STR("Responses"));
	json_out_open(&call->out, '[');
	for (size_t i = 0; i < n; i++) {
		respond_slot(call, &slots[i]);
		if (slots[i].table)
			form = is_read(&slots[i]) ? CAPACITY_READ : CAPACITY_WRITE;
		has_success = has_success || slots[i].err.code == OK;
	}
	json_out_close(&call->out, ']');
	if (has_success)
		respond_capacities(call, wanted, form);
	json_out_close(&call->out, '}');
}

enum code op_batch_execute_statement(struct call *call,
				     const struct batch_execute_statement_input *input,
				     struct err *err)
{
	size_t n = input->statements.n;
	struct slot *slots = ARENA_ARRAY(call->arena, struct slot, n);
	bool is_changed = false;

	for (size_t i = 0; i < n && !arena_is_over(call->arena); i++) {
		slots[i].request = &input->statements.v[i];
		slots[i].err = err_in(call->arena);
		slots[i].err.code = parse_slot(call, &slots[i]);
		if (slots[i].err.code == OK && call->request.refused &&
		    call->request.refused[i].code != OK)
			slots[i].err = call->request.refused[i];
	}
	enum code code = err_if_over(call->arena, err); /* such an error is no statement's */
	if (code != OK)
		return code;
	code = prepare_slots(call, slots, n, err);
	if (code != OK)
		return code;
	code = meet_faults(call, slots, n, err);
	for (size_t i = 0; i < n && code == OK; i++)
		if (slots[i].err.code == OK)
			code = run_slot(call, &slots[i], &is_changed, err);
	if (code != OK)
		return code;
	respond_slots(call, input->return_consumed_capacity, slots, n);
	return OK;
}
