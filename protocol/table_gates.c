#include "protocol/table_gates.h"

#include "core/expr_messages.h"
#include "protocol/handler.h"
#include "protocol/rollouts.h"
#include "protocol/rules.h"
#include "storage/key_condition.h"
#include "storage/messages.h"

#define GATES_MAX 10

typedef enum code table_gate(struct table_passage *passage, struct err *err);

static enum code gate_table(struct table_passage *passage, struct err *err)
{
	enum code code =
		call_table(passage->call, passage->name, ABSENT_RESOURCE, &passage->table, err);

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
	bool is_large = passage->expressions->update_charge > ITEM_SIZE_MAX &&
			rollout_has(passage->call, ROLLOUT_UPDATE_SIZE);

	return is_large ? err_set(err, MSG_UPDATE_SIZE) : OK;
}

static enum code gate_update_keys(struct table_passage *passage, struct err *err)
{
	return rules_update_keys(passage->write->table, passage->write->update, err);
}

static enum code gate_no_vector(struct table_passage *passage, struct err *err)
{
	const struct page_request *request = passage->request;

	return rules_not_vector(passage->table, request->index_name, request->consistent,
				!passage->keys, err);
}

static enum code gate_index(struct table_passage *passage, struct err *err)
{
	const struct page_request *request = passage->request;

	return rules_index(passage->table, request->index_name, request->consistent,
			   &passage->page->index, err);
}

static enum code gate_key_condition(struct table_passage *passage, struct err *err)
{
	const struct read_page *page = passage->page;

	return key_condition_resolve(passage->call->arena, page->table, page->index,
				     passage->expressions->key_condition, passage->keys, err);
}

static enum code gate_filter_keys(struct table_passage *passage, struct err *err)
{
	const struct read_page *page = passage->page;
	const struct key_schema *schema = page->index ? &page->index->keys : &page->table->keys;
	const char *parameter =
		passage->request->has_query_filter ? "QueryFilter" : "Filter Expression";

	return rules_query_filter(schema, page->filter, parameter, err);
}

static enum code gate_filter_projected(struct table_passage *passage, struct err *err)
{
	return rules_filter_projected(passage->call->arena, passage->page->index,
				      passage->page->filter, err);
}

static enum code gate_start_key_form(struct table_passage *passage, struct err *err)
{
	return passage->request->start_key
		       ? read_check_index_keys(passage->page, passage->request->start_key, err)
		       : OK;
}

/* A key attribute in the start key has the type of the schema; errors name the index. */
static enum code check_start_types(const struct key_schema *keys, const struct value *start_key,
				   struct str index, struct err *err)
{
	for (unsigned i = 0; i < key_schema_count(keys); i++) {
		const struct key_attribute *attribute = &keys->attributes[i];
		const struct value *value = value_member(start_key, attribute->name);

		if (value && value->type != attribute->type)
			return err_set(err, MSG_INDEX_KEY_TYPE, STR_ARG(attribute->name),
				       type_name(attribute->type),
				       type_name((enum type)value->type), STR_ARG(index));
	}
	return OK;
}

/* AWS's newer layer reads a Scan's start key as an item's: for the index that is named, or for all.
 */
static enum code gate_start_key_types(struct table_passage *passage, struct err *err)
{
	const struct value *start_key = passage->request->start_key;
	const struct index *named = passage->page->index;
	const struct table *table = passage->table;

	for (size_t i = 0; start_key && i < table->indexes.n; i++) {
		const struct index *index = &table->indexes.v[i];

		if (named && index != named)
			continue;
		enum code code = check_start_types(&index->keys, start_key, index->name, err);
		if (code != OK)
			return code;
		code = check_start_types(&table->keys, start_key, index->name, err);
		if (code != OK)
			return code;
	}
	return OK;
}

static enum code gate_start_key(struct table_passage *passage, struct err *err)
{
	struct read_page *page = passage->page;

	return passage->request->start_key
		       ? read_start_key(passage->call->arena, page, passage->request->start_key,
					&page->start_after, err)
		       : OK;
}

static enum code gate_select(struct table_passage *passage, struct err *err)
{
	const struct page_request *request = passage->request;
	struct read_page *page = passage->page;

	return rules_select(request->select, page->index != NULL, page->projection,
			    request->has_attributes_to_get, &page->select, err);
}

static enum code gate_select_index(struct table_passage *passage, struct err *err)
{
	const struct read_page *page = passage->page;

	return rules_select_index(passage->call->arena, page->index, page->select, page->projection,
				  err);
}

/* AWS: the precedence of errors is the order of each row. tests/golden pins it. */
static table_gate *const orders[ORDER_COUNT][GATES_MAX] = {
	[ORDER_NAMED] = {gate_table, gate_key_paths},
	[ORDER_READ] = {gate_table, gate_key_paths, gate_read},
	[ORDER_WRITE] = {gate_table, gate_key_paths, gate_write, gate_update_size,
			 gate_update_keys},
	[ORDER_CHANGE] = {gate_write, gate_update_keys},
	[ORDER_QUERY] = {gate_table, gate_no_vector, gate_index, gate_key_paths, gate_key_condition,
			 gate_filter_keys, gate_filter_projected, gate_start_key,
			 gate_select_index},
	[ORDER_SCAN] = {gate_table, gate_no_vector, gate_index, gate_start_key_form, gate_select,
			gate_select_index, gate_start_key, gate_key_paths},
	[ORDER_SCAN_NEWER] = {gate_table, gate_no_vector, gate_index, gate_select_index,
			      gate_start_key_types, gate_start_key, gate_key_paths},
};

enum code table_gates_pass(enum table_order order, struct table_passage *passage, struct err *err)
{
	enum code code = OK;

	for (size_t i = 0; i < GATES_MAX && orders[order][i] && code == OK; i++)
		code = orders[order][i](passage, err);
	return code;
}
