#include "protocol/iam/ask_items.h"

#include "protocol/legacy.h"

/* One item, page or batch of a table, whichever operation names it. */
struct wanted {
	const char *action;
	struct str table, index;
	const struct value *key, *item;
	struct expression_request texts;
	const struct attribute_name_list *attributes;   /* AttributesToGet */
	const struct expected_attribute_map *expected;
	const struct attribute_updates *updates;
	const struct filter_condition_map *filter;      /* QueryFilter, ScanFilter */
	const struct key_conditions *key_conditions;
	bool is_read, is_write;
	bool shows_old; /* where its condition fails */
	const char *enclosing;
};

/* A member of the request as it is written; absent where it is no text, or the operation has no
 * such member. */
static struct str written(const struct iam_asking *asking, const char *name)
{
	const struct json *value = iam_asking_member(asking, name);

	return value && json_type(value) == JSON_STRING ? json_string(asking->arena, value)
							: STR_ABSENT;
}

static struct str or_else(struct str text, const char *otherwise)
{
	return str_is_set(text) ? text : str_of(otherwise);
}

/* AWS: API Reference, Query, Select: what a request that does not say it asks for. */
static struct str select_of(const struct iam_asking *asking, const struct wanted *wanted)
{
	bool is_projected = str_is_set(wanted->texts.projection) ||
			    (wanted->attributes && wanted->attributes->n > 0);

	return or_else(written(asking, "Select"), is_projected ? "SPECIFIC_ATTRIBUTES"
						  : str_is_set(wanted->index)
							  ? "ALL_PROJECTED_ATTRIBUTES"
							  : "ALL_ATTRIBUTES");
}

/* AWS: Developer Guide, "Using IAM with DynamoDB transactions", example 4:
 * an old item that a failed condition shows counts. Of single writes: by analogy. */
static struct str return_values_of(const struct iam_asking *asking, const struct wanted *wanted)
{
	return wanted->shows_old
		       ? STR("ALL_OLD")
		       : or_else(wanted->enclosing ? STR_ABSENT : written(asking, "ReturnValues"),
				 "NONE");
}

#define ADD_NAMES(list)                                                                     \
	for (size_t i = 0; (list) && i < (list)->n; i++)                                    \
	iam_words_add(asking->arena, &matter->attributes, (list)->v[i].key)

static void add_legacy(struct iam_asking *asking, const struct wanted *wanted,
		       struct iam_matter *matter)
{
	for (size_t i = 0; wanted->attributes && i < wanted->attributes->n; i++) {
		struct str rest = wanted->attributes->v[i]; /* a path, as in a projection */

		rest = str_cut(&rest, '.');
		iam_words_add(asking->arena, &matter->attributes, str_cut(&rest, '['));
	}
	ADD_NAMES(wanted->expected);
	ADD_NAMES(wanted->updates);
	ADD_NAMES(wanted->filter);
	ADD_NAMES(wanted->key_conditions);
}

static void add_expressions(struct iam_asking *asking, const struct wanted *wanted,
			    const struct key_schema *keys, struct iam_matter *matter)
{
	struct expressions read;
	struct err err = err_in(asking->arena);

	if (expressions_parse(asking->request->call, &wanted->texts, &read, &err) != OK) {
		if (asking->asked.unread.code == OK)
			asking->asked.unread = err;
		return;
	}
	iam_words_of_projection(asking->arena, &matter->attributes, read.projection);
	iam_words_of_update(asking->arena, &matter->attributes, read.update);
	iam_words_of_node(asking->arena, &matter->attributes, read.condition);
	iam_words_of_node(asking->arena, &matter->attributes, read.filter);
	iam_words_of_node(asking->arena, &matter->attributes, read.key_condition);
	iam_words_of_node(asking->arena, &matter->attributes, read.search);
	const struct node *condition = read.key_condition ? read.key_condition : read.search;
	if (!condition && wanted->key_conditions &&
	    legacy_key_conditions(asking->arena, wanted->key_conditions, &condition, &err) != OK)
		condition = NULL;
	iam_asking_lead_by(asking, &matter->leading, keys, condition);
}

static struct iam_matter matter_of(struct iam_asking *asking, const struct wanted *wanted)
{
	struct iam_matter matter = {
		.action = str_of(wanted->action),
		.table = wanted->table,
		.index = wanted->index,
		.is_of_data = true,
		.resource = STR_ABSENT,
		.select = wanted->is_read ? select_of(asking, wanted) : STR_ABSENT,
		.return_values = wanted->is_write ? return_values_of(asking, wanted) : STR_ABSENT,
		.capacity = or_else(written(asking, "ReturnConsumedCapacity"), "NONE"),
		.enclosing = str_of(wanted->enclosing),
		.full_scan = STR_ABSENT,
	};
	return matter;
}

static void ask_subject(struct iam_asking *asking, const struct wanted *wanted)
{
	struct iam_matter matter = matter_of(asking, wanted);
	const struct key_schema *keys =
		iam_asking_keys(iam_asking_table(asking, wanted->table), wanted->index);

	iam_asking_lead(asking, &matter.leading, keys, wanted->key);
	iam_asking_lead(asking, &matter.leading, keys, wanted->item);
	iam_words_of_item(asking->arena, &matter.attributes, wanted->key);
	iam_words_of_item(asking->arena, &matter.attributes, wanted->item);
	add_legacy(asking, wanted, &matter);
	add_expressions(asking, wanted, keys, &matter);
	iam_asking_add(asking, &matter);
}

#define CONDITIONED(from)                                                                          \
	{                                                                                          \
		.condition = (from)->condition_expression,                                         \
		.names = &(from)->expression_attribute_names,                                      \
		.values = (from)->expression_attribute_values                                      \
	}
#define SHOWS_OLD(from)                                                                            \
	((from)->return_values_on_condition_check_failure ==                                       \
	 RETURN_VALUES_ON_CONDITION_CHECK_FAILURE_ALL_OLD)

void iam_ask_get_item(struct iam_asking *asking)
{
	const struct get_item_input *own = asking->request->input;
	const struct wanted wanted = {
		.action = "GetItem",
		.table = own->table_name,
		.key = own->key,
		.attributes = &own->attributes_to_get,
		.is_read = true,
		.texts = {.projection = own->projection_expression,
			  .names = &own->expression_attribute_names},
	};

	ask_subject(asking, &wanted);
}

void iam_ask_put_item(struct iam_asking *asking)
{
	const struct put_item_input *own = asking->request->input;
	const struct wanted wanted = {
		.action = "PutItem",
		.table = own->table_name,
		.item = own->item,
		.expected = &own->expected,
		.is_write = true,
		.shows_old = SHOWS_OLD(own),
		.texts = CONDITIONED(own),
	};

	ask_subject(asking, &wanted);
}

void iam_ask_update_item(struct iam_asking *asking)
{
	const struct update_item_input *own = asking->request->input;
	struct wanted wanted = {
		.action = "UpdateItem",
		.table = own->table_name,
		.key = own->key,
		.expected = &own->expected,
		.updates = &own->attribute_updates,
		.is_write = true,
		.shows_old = SHOWS_OLD(own),
		.texts = CONDITIONED(own),
	};

	wanted.texts.update = own->update_expression;
	ask_subject(asking, &wanted);
}

void iam_ask_delete_item(struct iam_asking *asking)
{
	const struct delete_item_input *own = asking->request->input;
	const struct wanted wanted = {
		.action = "DeleteItem",
		.table = own->table_name,
		.key = own->key,
		.expected = &own->expected,
		.is_write = true,
		.shows_old = SHOWS_OLD(own),
		.texts = CONDITIONED(own),
	};

	ask_subject(asking, &wanted);
}

void iam_ask_query(struct iam_asking *asking)
{
	const struct query_input *own = asking->request->input;
	const struct wanted wanted = {
		.action = "Query",
		.table = own->table_name,
		.index = own->index_name,
		.attributes = &own->attributes_to_get,
		.filter = &own->query_filter,
		.key_conditions = &own->key_conditions,
		.is_read = true,
		.texts = {.projection = own->projection_expression,
			  .filter = own->filter_expression,
			  .key_condition = own->key_condition_expression,
			  .names = &own->expression_attribute_names,
			  .values = own->expression_attribute_values},
	};

	ask_subject(asking, &wanted);
}

void iam_ask_scan(struct iam_asking *asking)
{
	const struct scan_input *own = asking->request->input;
	const struct wanted wanted = {
		.action = "Scan",
		.table = own->table_name,
		.index = own->index_name,
		.attributes = &own->attributes_to_get,
		.filter = &own->scan_filter,
		.is_read = true,
		.texts = {.projection = own->projection_expression,
			  .filter = own->filter_expression,
			  .names = &own->expression_attribute_names,
			  .values = own->expression_attribute_values},
	};

	ask_subject(asking, &wanted);
}

void iam_ask_search_vectors(struct iam_asking *asking)
{
	const struct search_vectors_input *own = asking->request->input;
	const struct wanted wanted = {
		.action = "SearchVectors",
		.table = own->table_name,
		.index = own->index_name,
		.is_read = true,
		.texts = {.projection = own->projection_expression,
			  .search = own->search_condition_expression,
			  .names = &own->expression_attribute_names,
			  .values = own->expression_attribute_values},
	};

	ask_subject(asking, &wanted);
}

/* One question per table, about all of its keys. */
void iam_ask_batch_get_item(struct iam_asking *asking)
{
	const struct batch_get_item_input *own = asking->request->input;

	for (size_t i = 0; i < own->request_items.n; i++) {
		const struct keys_and_attributes *request = &own->request_items.v[i].value;
		const struct wanted wanted = {
			.action = "BatchGetItem",
			.table = own->request_items.v[i].key,
			.attributes = &request->attributes_to_get,
			.is_read = true,
			.texts = {.projection = request->projection_expression,
				  .names = &request->expression_attribute_names},
		};
		struct iam_matter matter = matter_of(asking, &wanted);
		const struct key_schema *keys =
			iam_asking_keys(iam_asking_table(asking, wanted.table), STR_ABSENT);

		for (size_t k = 0; k < request->keys.n; k++) {
			iam_asking_lead(asking, &matter.leading, keys, request->keys.v[k]);
			iam_words_of_item(asking->arena, &matter.attributes, request->keys.v[k]);
		}
		add_legacy(asking, &wanted, &matter);
		add_expressions(asking, &wanted, keys, &matter);
		iam_asking_add(asking, &matter);
	}
}

void iam_ask_batch_write_item(struct iam_asking *asking)
{
	const struct batch_write_item_input *own = asking->request->input;

	for (size_t i = 0; i < own->request_items.n; i++) {
		const struct write_requests *writes = &own->request_items.v[i].value;
		const struct wanted wanted = {.action = "BatchWriteItem",
					      .table = own->request_items.v[i].key};
		struct iam_matter matter = matter_of(asking, &wanted);
		const struct key_schema *keys =
			iam_asking_keys(iam_asking_table(asking, wanted.table), STR_ABSENT);

		for (size_t k = 0; k < writes->n; k++) {
			const struct write_request *write = &writes->v[k];
			const struct value *item = write->put_request ? write->put_request->item
						   : write->delete_request
							   ? write->delete_request->key
							   : NULL;

			iam_asking_lead(asking, &matter.leading, keys, item);
			iam_words_of_item(asking->arena, &matter.attributes, item);
		}
		iam_asking_add(asking, &matter);
	}
}

void iam_ask_transact_get_items(struct iam_asking *asking)
{
	const struct transact_get_items_input *own = asking->request->input;

	for (size_t i = 0; i < own->transact_items.n; i++) {
		const struct get_action *get = own->transact_items.v[i].get;
		const struct wanted wanted = {
			.action = "GetItem",
			.table = get->table_name,
			.key = get->key,
			.is_read = true,
			.enclosing = "TransactGetItems",
			.texts = {.projection = get->projection_expression,
				  .names = &get->expression_attribute_names,
				  .action = &asking->request->call->actions[i]},
		};

		ask_subject(asking, &wanted);
	}
}

/* The parts that the four kinds of action share, by their fields. */
#define ACTION(name, from, subject_field)                                                          \
	(struct wanted)                                                                            \
	{                                                                                          \
		.action = (name), .table = (from)->table_name,                                     \
		.subject_field = (from)->subject_field, .is_write = true,                          \
		.shows_old = SHOWS_OLD(from), .enclosing = "TransactWriteItems",                   \
		.texts = CONDITIONED(from)                                                         \
	}

static void ask_action(struct iam_asking *asking, size_t i, struct wanted wanted)
{
	wanted.texts.action = &asking->request->call->actions[i];
	ask_subject(asking, &wanted);
}

void iam_ask_transact_write_items(struct iam_asking *asking)
{
	const struct transact_write_items_input *own = asking->request->input;

	for (size_t i = 0; i < own->transact_items.n; i++) {
		const struct transact_write_item *item = &own->transact_items.v[i];

		if (item->put)
			ask_action(asking, i, ACTION("PutItem", item->put, item));
		if (item->delete)
			ask_action(asking, i, ACTION("DeleteItem", item->delete, key));
		if (item->condition_check)
			ask_action(asking, i,
				   ACTION("ConditionCheckItem", item->condition_check, key));
		if (item->update) {
			struct wanted wanted = ACTION("UpdateItem", item->update, key);

			wanted.texts.update = item->update->update_expression;
			ask_action(asking, i, wanted);
		}
	}
}
