#include "protocol/partiql/messages.h"
#include "protocol/partiql/plan.h"
#include "protocol/rules.h"
#include "storage/messages.h"

static const struct node *both(struct arena *arena, enum node_kind kind, const struct node *a,
			       const struct node *b)
{
	return a && b ? node_new(arena, kind, 2, (const struct node *const[]){a, b}) : a ? a : b;
}

/* Whether the item exists, or not: every item has its partition key. */
static const struct node *existence(struct arena *arena, const struct table *table,
				    enum node_kind kind)
{
	const struct node *path =
		node_path(arena, path_of_name(arena, table->keys.attributes[0].name));

	return node_new(arena, kind, 1, &path);
}

/* Why a condition does not name one item. */
enum fault { FAULT_NONE, FAULT_MISSING, FAULT_TWICE, FAULT_SCALAR, FAULT_TYPE };

#define fault(kind, ...) ((void)(err_set(__VA_ARGS__) == OK), (kind))

/* The sort key first. AWS: a transaction says it as GetItem does, but for a key that no item has in
 * a write. */
static enum fault check_key_types(const struct table *table,
				  const struct partiql_statement *statement,
				  const struct member *members, struct err *err)
{
	const struct key_attribute *attributes = table->keys.attributes;
	bool is_read = statement->kind == PARTIQL_SELECT;
	unsigned n = key_schema_count(&table->keys);

	for (unsigned k = n; k-- > 0 && !(statement->is_transaction && is_read);)
		if (!type_is_scalar_key((enum type)members[k].value.type))
			return fault(FAULT_SCALAR, err, MSG_PARTIQL_KEY_SCALAR,
				     STR_ARG(attributes[k].name),
				     type_name((enum type)members[k].value.type));
	for (unsigned k = n; k-- > 0;)
		if (members[k].value.type != attributes[k].type)
			return statement->is_transaction
				       ? fault(FAULT_TYPE, err, MSG_KEY_SCHEMA)
				       : fault(FAULT_TYPE, err, MSG_PARTIQL_KEY_TYPE,
					       STR_ARG(attributes[k].name));
	return FAULT_NONE;
}

/* Takes the equalities of the key attributes out of the condition; *rest is the remaining
 * condition, or NULL. */
static enum fault take_key(struct arena *arena, const struct table *table,
			   const struct partiql_statement *statement, struct value *key,
			   const struct node **rest, struct err *err)
{
	unsigned count = key_schema_count(&table->keys);
	struct member *members = ARENA_ARRAY(arena, struct member, KEY_ATTRIBUTES_MAX);
	const struct node **conjuncts;
	size_t n = partiql_conjuncts(arena, statement->where, &conjuncts);

	*rest = NULL;
	for (size_t i = 0; i < n; i++) {
		const struct value *value = NULL;
		unsigned k = 0;

		/* AWS: an IN names the item of a read only */
		for (; k < count && !value &&
		       (conjuncts[i]->kind == NODE_EQ || statement->kind == PARTIQL_SELECT);
		     k++)
			value = partiql_equality(conjuncts[i], table->keys.attributes[k].name);
		if (!value) {
			*rest = both(arena, NODE_AND, *rest, conjuncts[i]);
			continue;
		}
		if (value_is_set(&members[k - 1].value) &&
		    value_equal(&members[k - 1].value, value))
			continue;
		if (value_is_set(&members[k - 1].value))
			return fault(FAULT_TWICE, err, MSG_PARTIQL_KEY_TWICE,
				     STR_ARG(table->keys.attributes[k - 1].name));
		members[k - 1] = (struct member){table->keys.attributes[k - 1].name, *value};
	}
	for (unsigned k = 0; k < count; k++)
		if (!value_is_set(&members[k].value))
			return fault(FAULT_MISSING, err, MSG_PARTIQL_KEY_EQUALITY);
	enum fault wrong = check_key_types(table, statement, members, err);
	if (wrong != FAULT_NONE)
		return wrong;
	value_sort_members(members, count, NULL);
	*key = (struct value){.type = TYPE_M, .n = count, .members = members};
	return FAULT_NONE;
}

/* RETURNING is checked last. */
static enum code check_returning(const struct partiql_statement *statement, struct err *err)
{
	static const char *const names[] = {
		[PARTIQL_RETURN_ALL_OLD] = "ALL OLD",
		[PARTIQL_RETURN_ALL_NEW] = "ALL NEW",
		[PARTIQL_RETURN_MODIFIED_OLD] = "MODIFIED OLD",
		[PARTIQL_RETURN_MODIFIED_NEW] = "MODIFIED NEW",
	};

	if (statement->returning_count && statement->kind == PARTIQL_INSERT)
		return err_set(err, MSG_PARTIQL_INSERT_RETURNING);
	if (statement->returning_count > 1)
		return err_set(err, MSG_PARTIQL_RETURNING_MANY);
	if (statement->returns_columns)
		return err_set(err, MSG_PARTIQL_RETURNING_STAR);
	if (statement->kind == PARTIQL_DELETE && statement->returning_count &&
	    statement->returning != PARTIQL_RETURN_ALL_OLD)
		return err_set(err, MSG_PARTIQL_DELETE_RETURNING, names[statement->returning]);
	return OK;
}

static enum code plan_insert(struct call *call, const struct partiql_statement *statement,
			     struct write *write, bool *is_malformed, struct err *err)
{
	const struct key_schema *keys = &write->table->keys;

	write->kind = WRITE_PUT;
	write->condition = existence(call->arena, write->table, NODE_ATTRIBUTE_NOT_EXISTS);
	for (unsigned i = 0; i < key_schema_count(keys); i++) {
		const struct value *value = value_member(statement->item, keys->attributes[i].name);

		if (!value)
			return err_set(err, MSG_PARTIQL_KEY_ABSENT,
				       STR_ARG(keys->attributes[i].name));
		if (value->type != keys->attributes[i].type && !statement->is_transaction)
			return err_set(err, MSG_PARTIQL_KEY_TYPE,
				       STR_ARG(keys->attributes[i].name));
	}
	enum code code = check_returning(statement, err);
	*is_malformed = code != OK;
	if (code != OK)
		return code;
	write->item = statement->item;
	/* a parameter may have one level more than an item */
	write->is_too_deep = value_depth(statement->item) > VALUE_DEPTH_MAX;
	return write_prepare(call->arena, write, err);
}

/* The write of an UPDATE, DELETE or EXISTS, whose condition is `rest`. */
static enum code plan_change(struct call *call, const struct partiql_statement *statement,
			     const struct node *rest, struct write *write, struct err *err)
{
	struct expressions expressions = {.update = statement->update,
					  .condition = statement->where};
	enum code code = rules_key_paths(write->table, &expressions, err);

	if (code != OK)
		return code;
	write->kind = statement->kind == PARTIQL_UPDATE   ? WRITE_UPDATE
		      : statement->kind == PARTIQL_DELETE ? WRITE_DELETE
							  : WRITE_CHECK;
	write->update = statement->update;
	write->condition = rest;
	if (statement->kind == PARTIQL_UPDATE || statement->kind == PARTIQL_EXISTS)
		write->condition =
			both(call->arena, NODE_AND,
			     existence(call->arena, write->table, NODE_ATTRIBUTE_EXISTS), rest);
	else if (rest)
		write->condition =
			both(call->arena, NODE_OR,
			     existence(call->arena, write->table, NODE_ATTRIBUTE_NOT_EXISTS), rest);
	code = write_prepare(call->arena, write, err);
	return code != OK ? code : rules_update_keys(write->table, write->update, err);
}

enum code partiql_plan_write(struct call *call, const struct partiql_statement *statement,
			     struct write *write, bool *is_malformed, struct err *err)
{
	struct value *key = ARENA_NEW(call->arena, struct value);
	const struct node *rest;
	bool ignored;
	enum code code = call_table(call, statement->table, ABSENT_RESOURCE, &write->table, err);

	is_malformed = is_malformed ? is_malformed : &ignored;
	*is_malformed = false;
	if (code != OK)
		return code;
	if (statement->kind == PARTIQL_INSERT)
		return plan_insert(call, statement, write, is_malformed, err);
	enum fault fault = take_key(call->arena, write->table, statement, key, &rest, err);
	*is_malformed = fault == FAULT_SCALAR;
	if (fault != FAULT_NONE)
		return err->code;
	code = check_returning(statement, err);
	*is_malformed = code != OK;
	if (code != OK)
		return code;
	write->key = key;
	return plan_change(call, statement, rest, write, err);
}

enum code partiql_plan_point(struct call *call, const struct partiql_statement *statement,
			     struct read_item *read, bool *is_point, struct err *err)
{
	struct value *key = ARENA_NEW(call->arena, struct value);
	struct err own = err_in(call->arena);
	const struct node *rest;
	enum code code = call_table(call, statement->table, ABSENT_RESOURCE, &read->table, err);

	bool is_found = false;
	if (code == OK && !str_is_set(statement->index) && statement->where &&
	    !statement->order_count) {
		enum fault fault = take_key(call->arena, read->table, statement, key, &rest, &own);

		if (fault == FAULT_TYPE || fault == FAULT_SCALAR) {
			*err = own;
			code = own.code;
		}
		is_found = fault == FAULT_NONE && !rest;
	}
	if (is_found) {
		read->key = key;
		code = read_prepare(call->arena, read, err);
	}
	return RESULT(code, is_point, is_found);
}

bool partiql_is_item_check(struct call *call, const struct partiql_statement *statement,
			   const struct table *table)
{
	struct err ignored = err_in(call->arena);
	const struct node *rest = NULL;
	struct value key;
	enum fault fault = take_key(call->arena, table, statement, &key, &rest, &ignored);

	return fault == FAULT_NONE ? rest != NULL : fault == FAULT_TYPE || fault == FAULT_SCALAR;
}
