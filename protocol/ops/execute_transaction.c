/* ExecuteTransaction. AWS: API Reference, ExecuteTransaction. */
#include "core/image.h"
#include "core/seen.h"
#include "protocol/handler.h"
#include "protocol/item_messages.h"
#include "protocol/partiql/messages.h"
#include "protocol/partiql/partiql.h"
#include "protocol/respond.h"
#include "protocol/rules.h"
#include "protocol/tables/replica_rules.h"
#include "protocol/work/work.h"

#define RESPONSE_SIZE_MAX (4u * 1024 * 1024)     /* bytes of items by DynamoDB's rules */

struct transaction {
	struct call *call;
	const struct execute_transaction_input *input;
	size_t n;
	bool is_read;
	struct partiql_statement *statements;
	const struct value **parameters;
	struct read_item *reads;
	struct write *writes;
	struct err *reasons;
};

/* An error in the words of one statement, named by its place. */
static enum code in_statement(struct transaction *transaction, size_t i, const struct err *own,
			      struct err *err)
{
	if (!err_is_validation(own->code) || transaction->statements[i].kind == PARTIQL_OTHER) {
		*err = *own;
		return own->code;
	}
	return err_set(err, MSG_PARTIQL_TRANSACTION_STATEMENT, i, STR_ARG(own->message));
}

/* A parameter that is nested too deeply comes after the errors of the statements before it, and
 * before its own statement's. */
static enum code check_depth(struct transaction *transaction, size_t i, struct err *err)
{
	struct err own = err_in(transaction->call->arena);

	if (partiql_check_parameters(&transaction->input->transact_statements.v[i].parameters, true,
				     &own) == OK)
		return OK;
	for (size_t k = 0; k < i; k++) {
		if (transaction->reasons[k].code)
			return in_statement(transaction, k, &transaction->reasons[k], err);
	}
	*err = own;
	return own.code;
}

/* Parses all statements. Each keeps its error until its turn, except where the text is no statement
 * at all. */
static enum code parse_statements(struct transaction *transaction, struct err *err)
{
	const struct parameterized_statement *requests = transaction->input->transact_statements.v;
	struct arena *arena = transaction->call->arena;
	enum code code = OK;

	for (size_t i = 0; i < transaction->n && code == OK; i++)
		code = partiql_check_parameters(&requests[i].parameters, false, err);
	if (code != OK)
		return code;
	for (size_t i = 0; i < transaction->n; i++) {
		struct err *own = &transaction->reasons[i];
		struct partiql_statement *statement = &transaction->statements[i];

		*own = err_in(arena);
		code = check_depth(transaction, i, err);
		if (code != OK)
			return code;
		code = partiql_parameters(arena, &requests[i].parameters,
					  &transaction->parameters[i], err);
		if (code != OK)
			return code;
		code = err_if_over(arena, err); /* such an error is no statement's */
		if (code != OK)
			return code;
		own->code = partiql_parse(transaction->call, requests[i].statement,
					  transaction->parameters[i], requests[i].parameters.n,
					  true, statement, own);
		if (statement->kind == PARTIQL_NONE || statement->kind == PARTIQL_OTHER)
			return in_statement(transaction, i, own, err);
	}
	transaction->is_read = transaction->statements[0].kind == PARTIQL_SELECT;
	for (size_t i = 1; i < transaction->n; i++)
		if ((transaction->statements[i].kind == PARTIQL_SELECT) != transaction->is_read)
			return err_set(err, MSG_PARTIQL_TRANSACTION_MIXED);
	return OK;
}

/* Refuses what a transaction does not allow in a statement. */
static enum code check(const struct partiql_statement *statement, struct err *err)
{
	if (statement->kind == PARTIQL_SELECT && str_is_set(statement->index))
		return err_set(err, MSG_PARTIQL_TRANSACTION_INDEX);
	if (statement->kind == PARTIQL_EXISTS && str_is_set(statement->index))
		return err_set(err, MSG_PARTIQL_TRANSACTION_EXISTS_INDEX);
	return OK;
}

static enum code plan_read(struct transaction *transaction, size_t i, struct err *err,
			   bool *is_whole)
{
	bool is_point;
	enum code code;

	transaction->reads[i].mode = READ_TRANSACTIONAL;
	code = partiql_plan_point(transaction->call, &transaction->statements[i],
				  &transaction->reads[i], &is_point, err);
	if (code != OK)
		return code;
	code = replica_rules_transaction(transaction->reads[i].table, err);
	if (code || is_point)
		return code;
	*is_whole = true;
	code = partiql_check_select(transaction->call, &transaction->statements[i], err);
	return code != OK ? code : err_set(err, MSG_PARTIQL_TRANSACTION_KEY);
}

static enum code plan_write(struct transaction *transaction, size_t i, const struct table *table,
			    struct err *err, bool *is_whole)
{
	const struct parameterized_statement *request =
		&transaction->input->transact_statements.v[i];
	struct partiql_statement *statement = &transaction->statements[i];

	transaction->writes[i].is_global_first = true;
	transaction->writes[i].wants_item_on_failure =
		request->return_values_on_condition_check_failure ==
		RETURN_VALUES_ON_CONDITION_CHECK_FAILURE_ALL_OLD;
	if (statement->kind == PARTIQL_EXISTS &&
	    !partiql_is_item_check(transaction->call, statement, table)) {
		*is_whole = true;
		return err_set(err, MSG_PARTIQL_TRANSACTION_EXISTS);
	}
	return partiql_plan_write(transaction->call, statement, &transaction->writes[i], is_whole,
				  err);
}

/* Plans one statement. A mistake in its key cancels the transaction; *is_whole: the error is the
 * request's. */
static enum code look_up_statement(struct transaction *transaction,
				   struct partiql_statement *statement, struct table **table,
				   struct err *err)
{
	if (err->code != OK)
		return err->code;
	enum code code = check(statement, err);
	if (code != OK)
		return code;
	return call_table(transaction->call, statement->table, ABSENT_RESOURCE, table, err);
}

static enum code plan_statement(struct transaction *transaction, size_t i, struct err *err,
				bool *is_whole)
{
	struct partiql_statement *statement = &transaction->statements[i];
	struct table *table;
	enum code code = look_up_statement(transaction, statement, &table, err);

	*is_whole = code != OK && code != ERR_RESOURCE_NOT_FOUND;
	if (code != OK)
		return code;
	code = transaction->is_read ? plan_read(transaction, i, err, is_whole)
				    : plan_write(transaction, i, table, err, is_whole);
	if (code || !statement->returning_count)
		return code;
	*is_whole = true;
	return err_set(err, MSG_PARTIQL_TRANSACTION_RETURNING);
}

/* In the order of the statements; the first that is refused decides. */
static enum code plan_all(struct transaction *transaction, struct err *err)
{
	struct arena *arena = transaction->call->arena;
	struct seen seen = seen_new(arena, transaction->n);
	bool is_whole;

	for (size_t i = 0; i < transaction->n; i++) {
		if (plan_statement(transaction, i, &transaction->reasons[i], &is_whole)) {
			if (is_whole)
				return in_statement(transaction, i, &transaction->reasons[i], err);
			for (size_t k = i + 1; k < transaction->n; k++)
				transaction->reasons[k] = err_in(arena);
			return write_canceled(transaction->reasons, transaction->n, err);
		}
	}
	for (size_t i = 0; i < transaction->n; i++) {
		const struct table *table = transaction->is_read ? transaction->reads[i].table
								 : transaction->writes[i].table;
		struct str row_key = transaction->is_read ? transaction->reads[i].row_key
							  : transaction->writes[i].row_key;

		if (!seen_add(&seen, rules_item_name(arena, table, row_key)))
			return err_set(err, MSG_TRANSACT_DUPLICATES);
	}
	return OK;
}

static enum code run_reads(struct transaction *transaction, struct err *err)
{
	struct call *call = transaction->call;
	size_t size = 0;
	struct work work =
		{.call = call, .kind = WORK_OF_TRANSACTION, .reads = transaction->reads,
		 .n = transaction->n};
	enum code code = work_do(&work, err);

	if (code != OK)
		return code;
	json_out_open(&call->out, '{');
	json_out_name(&call->out, STR("Responses"));
	json_out_open(&call->out, '[');
	for (size_t i = 0; i < transaction->n; i++) {
		size += image_item_size(transaction->reads[i].image);
		call_charge(call, &transaction->reads[i].cost);
		json_out_open(&call->out, '{');
		if (str_is_set(transaction->reads[i].image)) {
			json_out_name(&call->out, STR("Item"));
			partiql_respond_item(call, transaction->statements[i].columns,
					     transaction->reads[i].image);
		}
		json_out_close(&call->out, '}');
	}
	json_out_close(&call->out, ']');
	if (size > RESPONSE_SIZE_MAX)
		return err_set(err, MSG_TRANSACT_RESPONSE_SIZE, size);
	respond_capacities(call, transaction->input->return_consumed_capacity,
			   CAPACITY_TRANSACT_READ);
	json_out_close(&call->out, '}');
	return OK;
}

/* Two requests are the same if their statements and parameters are. */
static struct str sameness_of_statements(const struct transaction *transaction)
{
	struct buf buf = buf_in(transaction->call->arena);

	for (size_t i = 0; i < transaction->n; i++) {
		const struct parameterized_statement *request =
			&transaction->input->transact_statements.v[i];
		struct value list = {.type = TYPE_L,
				     .n = (uint32_t)request->parameters.n,
				     .elements = transaction->parameters[i]};
		struct member member = {STR("p"), list};
		struct value item = {.type = TYPE_M, .n = 1, .members = &member};

		/* AWS: NONE is the same as its absence */
		buf_add_byte(&buf, request->return_values_on_condition_check_failure ==
					   RETURN_VALUES_ON_CONDITION_CHECK_FAILURE_ALL_OLD);
		buf_add_varint(&buf, request->statement.n);
		buf_add_str(&buf, request->statement);
		image_encode(&item, &buf);
	}
	return buf_str(&buf);
}

/*
 * AWS: a DELETE of an item that is not there does nothing; but where another statement cancels the
 * transaction, its condition counts. The condition is NOT attribute_exists(key) OR what the
 * statement says.
 */
static void fail_delete(const struct transaction *transaction, size_t i, struct err *reason)
{
	const struct write *write = &transaction->writes[i];
	struct subject none = {.arena = transaction->call->arena};

	if (reason->code == OK && write->kind == WRITE_DELETE && write->condition &&
	    !str_is_set(write->old_image) && !expr_eval(write->condition->args[1], &none))
		(void)(err_default(reason, ERR_CONDITIONAL_CHECK_FAILED) == OK);
}

/* A failed INSERT found an item: its reason is DuplicateItem, not a failed condition. */
static enum code cancel(struct transaction *transaction, struct err *err)
{
	if (err->code != ERR_TRANSACTION_CANCELED || err->reason_count != transaction->n)
		return err->code;
	for (size_t i = 0; i < transaction->n; i++) {
		fail_delete(transaction, i, &err->reasons[i]);
		partiql_write_error(&transaction->statements[i], &err->reasons[i]);
	}
	return write_canceled(err->reasons, transaction->n, err);
}

static enum code run_statement_writes(struct transaction *transaction, struct err *err)
{
	struct call *call = transaction->call;
	struct str client_token = transaction->input->client_request_token;
	struct write_token token = call_token(
		call, client_token,
		str_is_set(client_token) ? sameness_of_statements(transaction) : STR_ABSENT);
	struct work work = {
		.call = call, .writes = transaction->writes, .n = transaction->n,
			.mode = WRITE_TRANSACTION, .token = &token,
	};
	enum code code = work_meet(&work, err);

	if (code != OK)
		return code;
	code = work_run(&work, err);
	if (code != OK)
		return cancel(transaction, err);
	for (size_t i = 0; i < transaction->n; i++)
		call_charge(call, &transaction->writes[i].cost);
	json_out_open(&call->out, '{');
	json_out_name(&call->out, STR("Responses"));
	json_out_open(&call->out, '[');
	json_out_close(&call->out, ']');
	respond_capacities(call, transaction->input->return_consumed_capacity,
			   CAPACITY_TRANSACT_WRITE);
	json_out_close(&call->out, '}');
	return OK;
}

enum code op_execute_transaction(struct call *call, const struct execute_transaction_input *input,
				 struct err *err)
{
	size_t n = input->transact_statements.n;
	struct transaction transaction = {
		.call = call,
		.input = input,
		.n = n,
		.statements = ARENA_ARRAY(call->arena, struct partiql_statement, n),
		.parameters = ARENA_ARRAY(call->arena, const struct value *, n),
		.reads = ARENA_ARRAY(call->arena, struct read_item, n),
		.writes = ARENA_ARRAY(call->arena, struct write, n),
		.reasons = ARENA_ARRAY(call->arena, struct err, n),
	};
	enum code code = parse_statements(&transaction, err);

	if (code != OK)
		return code;
	code = plan_all(&transaction, err);
	if (code != OK)
		return code;
	return transaction.is_read ? run_reads(&transaction, err)
				   : run_statement_writes(&transaction, err);
}
