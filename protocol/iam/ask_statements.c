#include "protocol/iam/ask_statements.h"

#include "protocol/partiql/plan.h"

/* A statement with what stands beside it. */
struct stated {
	struct str text;
	const struct parameter_list *parameters;
	bool shows_old;
	const char *enclosing;
};

static const struct {
	const char *action;
	bool is_read;
} kinds[] = {
	[PARTIQL_SELECT] = {"PartiQLSelect", true},  [PARTIQL_EXISTS] = {"PartiQLSelect", true},
	[PARTIQL_INSERT] = {"PartiQLInsert", false}, [PARTIQL_UPDATE] = {"PartiQLUpdate", false},
	[PARTIQL_DELETE] = {"PartiQLDelete", false},
};

static struct str returning(const struct partiql_statement *statement, const struct stated *stated)
{
	static const char *const names[] = {
		[PARTIQL_RETURN_NONE] = "NONE",
		[PARTIQL_RETURN_ALL_OLD] = "ALL_OLD",
		[PARTIQL_RETURN_ALL_NEW] = "ALL_NEW",
		[PARTIQL_RETURN_MODIFIED_OLD] = "UPDATED_OLD",
		[PARTIQL_RETURN_MODIFIED_NEW] = "UPDATED_NEW",
	};

	return stated->shows_old ? STR("ALL_OLD") : str_of(names[statement->returning]);
}

/* The partitions that a SELECT reads; none: all. A write's key is in its condition, or in its item.
 */
static void add_leading(struct iam_asking *asking, const struct partiql_statement *statement,
			struct iam_matter *matter)
{
	struct call *call = asking->request->call;
	const struct key_schema *keys =
		iam_asking_keys(iam_asking_table(asking, statement->table), statement->index);
	struct err err = err_in(asking->arena);
	struct partiql_plan plan;
	struct write write = {0};

	if (statement->kind != PARTIQL_SELECT) {
		if (keys && partiql_plan_write(call, statement, &write, NULL, &err) ==
				    OK) /* else the statement fails */
			iam_asking_lead(asking, &matter->leading, keys,
					write.key ? write.key : write.item);
		return;
	}
	if (!keys || partiql_plan_select(call, statement, &plan, &err) != OK)
		return;
	matter->full_scan = plan.is_keyed ? STR("false") : STR("true");
	for (size_t i = 0; plan.is_keyed && i < plan.n; i++) {
		const struct member member = {keys->attributes[0].name, *plan.ranges[i].partition};
		const struct value item = {.type = TYPE_M, .n = 1, .members = &member};

		iam_asking_lead(asking, &matter->leading, keys, &item);
	}
}

static void ask_statement(struct iam_asking *asking, const struct stated *stated)
{
	struct call *call = asking->request->call;
	struct partiql_statement statement = {0};
	const struct value *parameters = NULL;
	struct err err = err_in(asking->arena);
	const struct json *capacity = iam_asking_member(asking, "ReturnConsumedCapacity");

	if (partiql_parameters(asking->arena, stated->parameters, &parameters, &err) != OK ||
	    partiql_parse(call, stated->text, parameters, stated->parameters->n,
			  stated->enclosing != NULL, &statement, &err) != OK)
		return; /* it does nothing but fail */
	if (statement.kind >= sizeof(kinds) / sizeof(kinds[0]) || !kinds[statement.kind].action)
		return;
	bool is_read = kinds[statement.kind].is_read;
	struct iam_matter matter = {
		.action = str_of(kinds[statement.kind].action),
		.table = statement.table,
		.index = statement.index,
		.is_of_data = true,
		.resource = STR_ABSENT,
		.select = is_read ? statement.columns ? STR("SPECIFIC_ATTRIBUTES")
						      : STR("ALL_ATTRIBUTES")
				  : STR_ABSENT,
		.return_values = is_read ? STR_ABSENT : returning(&statement, stated),
		.enclosing = str_of(stated->enclosing),
		.full_scan = STR_ABSENT,
		.capacity = capacity && json_type(capacity) == JSON_STRING
				    ? json_string(asking->arena, capacity)
				    : STR("NONE"),
	};
	if (statement.columns)
		iam_words_of_projection(asking->arena, &matter.attributes,
					&statement.columns->paths);
	iam_words_of_node(asking->arena, &matter.attributes, statement.where);
	iam_words_of_item(asking->arena, &matter.attributes, statement.item);
	iam_words_of_update(asking->arena, &matter.attributes, statement.update);
	for (size_t i = 0; i < statement.order_count; i++)
		iam_words_add(asking->arena, &matter.attributes, statement.order[i].name);
	add_leading(asking, &statement, &matter);
	iam_asking_add(asking, &matter);
}

#define STATED(from, name)                                                                         \
	(const struct stated)                                                                      \
	{                                                                                          \
		(from)->statement, &(from)->parameters,                                            \
			(from)->return_values_on_condition_check_failure ==                        \
				RETURN_VALUES_ON_CONDITION_CHECK_FAILURE_ALL_OLD,                  \
			(name)                                                                     \
	}

void iam_ask_execute_statement(struct iam_asking *asking)
{
	const struct execute_statement_input *own = asking->request->input;

	ask_statement(asking, &STATED(own, NULL));
}

void iam_ask_batch_execute_statement(struct iam_asking *asking)
{
	const struct batch_execute_statement_input *own = asking->request->input;

	asking->asked.statement_count = own->statements.n;
	for (size_t i = 0; i < own->statements.n; i++) {
		asking->statement = i + 1;
		ask_statement(asking, &STATED(&own->statements.v[i], NULL));
	}
}

void iam_ask_execute_transaction(struct iam_asking *asking)
{
	const struct execute_transaction_input *own = asking->request->input;

	for (size_t i = 0; i < own->transact_statements.n; i++)
		ask_statement(asking,
			      &STATED(&own->transact_statements.v[i], "ExecuteTransaction"));
}
