#include "protocol/table_gates.h"

#include "core/expr_messages.h"
#include "protocol/handler.h"
#include "protocol/rules.h"
#include "storage/key_condition.h"
#include "storage/messages.h"

#define GATES_MAX 10

typedef enum code table_gate(struct table_passage *passage, struct err *err);

static enum code gate_table(struct table_passage *passage, struct err *err)
{
	enum code code = call_table(passage->call, passage->name, ABSENT_RESOURCE, &passage->table, err);

	if (passage->read)
		passage->read->table = passage->table;
	if (passage->write)
		passage->write->table = passage->table;
	if (passage->page)
		passage->page->table = passage->table;
	return code;
}

static enum code gate_key_paths(struct table_passage *passage, struct err *err)
{
	return rules_key_paths(passage->table, passage->expressions, err);
}

static enum code gate_read(struct table_passage *passage, struct err *err)
{
	return read_prepare(passage->call->arena, passage->read, err);
}

static enum code gate_write(struct table_passage *passage, struct err *err)
{
	return write_prepare(passage->call->arena, passage->write, err);
}

static enum code gate_update_size(struct table_passage *passage, struct err *err)
{
	return passage->expressions->update_charge > ITEM_SIZE_MAX ? err_set(err, MSG_UPDATE_SIZE) : OK;
}

static enum code gate_update_keys(struct table_passage *passage, struct err *err)
{
	return rules_update_keys(passage->write->table, passage->write->update, err);
}

static enum code gate_no_vector(struct table_passage *passage, struct err *err)
{
	const struct page_request *request = passage->request;

	return rules_not_vector(passage->table, request->index_name, request->consistent, !passage->keys, err);
}

static enum code gate_index(struct table_passage *passage, struct err *err)
{
	const struct page_request *request = passage->request;

	return rules_index(passage->table, request->index_name, request->consistent, &passage->page->index, err);
}

static enum code gate_key_condition(struct table_passage *passage, struct err *err)
{
	const struct read_page *page = passage->page;

	return key_condition_resolve(passage->call->arena, page->table, page->index, passage->expressions->key_condition, passage->keys, err);
}

static enum code gate_filter_keys(struct table_passage *passage, struct err *err)
{
	const struct read_page *page = passage->page;
	const struct key_schema *schema = page->index ? &page->index->keys : &page->table->keys;
	const char *parameter = passage->request->has_query_filter ? "QueryFilter" : "Filter Expression";

	return rules_query_filter(schema, page->filter, parameter, err);
}

static enum code gate_filter_projected(struct table_passage *passage, struct err *err)
{
	return rules_filter_projected(passage->call->arena, passage->page->index, passage->page->filter, err);
}

static enum code gate_start_key_form(struct table_passage *passage, struct err *err)
{
	return passage->request->start_key ? read_check_index_keys(passage->page, passage->request->start_key, err) : OK;
}

static enum code gate_start_key(struct table_passage *passage, struct err *err)
{
	struct read_page *page = passage->page;

	return passage->request->start_key ? read_start_key(passage->call->arena, page, passage->request->start_key, &page->start_after, err) : OK;
}

static enum code gate_select(struct table_passage *passage, struct err *err)
{
	const struct page_request *request = passage->request;
	struct read_page *page = passage->page;

	return rules_select(request->select, page->index != NULL, page->projection, request->has_attributes_to_get, &page->select, err);
}

static enum code gate_select_index(struct table_passage *passage, struct err *err)
{
	const struct read_page *page = passage->page;

	return rules_select_index(passage->call->arena, page->index, page->select, page->projection, err);
}

/* AWS: the precedence of errors is the order of each row. tests/golden pins it. */
static table_gate *const orders[ORDER_COUNT][GATES_MAX] = {
	[ORDER_NAMED] = {gate_table, gate_key_paths},
	[ORDER_READ] = {gate_table, gate_key_paths, gate_read},
	[ORDER_WRITE] = {gate_table, gate_key_paths, gate_write, gate_update_size, gate_update_keys},
	[ORDER_CHANGE] = {gate_write, gate_update_keys},
	[ORDER_QUERY] = {gate_table, gate_no_vector, gate_index, gate_key_paths, gate_key_condition, gate_filter_keys, gate_filter_projected,
			 gate_start_key, gate_select_index},
	[ORDER_SCAN] = {gate_table, gate_no_vector, gate_index, gate_start_key_form, gate_select, gate_select_index, gate_start_key, gate_key_paths},
};

enum code table_gates_pass(enum table_order order, struct table_passage *passage, struct err *err)
{
	enum code code = OK;

	for (size_t i = 0; i < GATES_MAX && orders[order][i] && code == OK; i++)
		code = orders[order][i](passage, err);
	return code;
}
