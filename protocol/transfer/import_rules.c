#include "protocol/transfer/import_rules.h"

#include "protocol/tables/settings.h"
#include "protocol/tables/table_rules.h"
#include "protocol/tables/throughput_rules.h"
#include "protocol/transfer/messages.h"
#include "protocol/wire/shape_tables.h"

static const char *format_name(int format)
{
	return format == IMPORT_FORMAT_ION ? "ION" : "DYNAMODB_JSON";
}

enum code import_rules_check(const struct import_table_input *input, struct err *err)
{
	if (input->input_format_options && input->input_format_options->csv &&
	    input->input_format != IMPORT_FORMAT_CSV)
		return err_set(err, MSG_IMPORT_OPTIONS, format_name(input->input_format));
	return OK;
}

static enum code fill_imported(const struct create_table_input *input, struct table *table,
			       struct err *err)
{
	enum code code = table_rules_create(input, table, err);

	if (code != OK)
		return code;
	return throughput_rules_limits(NULL, table, err);
}

enum code import_rules_table(struct ns ns, const struct table_creation_parameters *parameters,
			     struct table **table, struct err *err)
{
	const struct create_table_input input = {
		.attribute_definitions = parameters->attribute_definitions,
		.table_name = parameters->table_name,
		.key_schema = parameters->key_schema,
		.global_secondary_indexes = parameters->global_secondary_indexes,
		.billing_mode = parameters->billing_mode,
		.provisioned_throughput = parameters->provisioned_throughput,
		.on_demand_throughput = parameters->on_demand_throughput,
		.sse_specification = parameters->sse_specification,
		.vector_indexes = parameters->vector_indexes,
	};
	struct table *made = table_new(&settings_records);

	made->identity.account = str_copy(made->arena, ns.account);
	made->identity.region = str_copy(made->arena, ns.region);
	made->identity.name = str_copy(made->arena, parameters->table_name);
	enum code code = fill_imported(&input, made, err);
	if (code != OK)
		table_unref(made);
	return RESULT(code, table, made);
}

struct records_form import_rules_form(struct arena *arena, const struct import_table_input *input)
{
	static const enum record_form forms[] = {
		[IMPORT_FORMAT_DYNAMODB_JSON] = RECORD_JSON,
		[IMPORT_FORMAT_ION] = RECORD_ION,
		[IMPORT_FORMAT_CSV] = RECORD_CSV,
	};
	static const enum type types[] = {
		[SCALAR_ATTRIBUTE_TYPE_S] = TYPE_S,
		[SCALAR_ATTRIBUTE_TYPE_N] = TYPE_N,
		[SCALAR_ATTRIBUTE_TYPE_B] = TYPE_B,
	};
	const struct attribute_definitions *definitions =
		&input->table_creation_parameters->attribute_definitions;
	const struct csv_options *csv =
		input->input_format_options ? input->input_format_options->csv : NULL;
	struct records_key *keys = ARENA_ARRAY(arena, struct records_key, definitions->n);

	for (size_t i = 0; i < definitions->n; i++)
		keys[i] = (struct records_key){definitions->v[i].attribute_name,
					       types[definitions->v[i].attribute_type]};
	return (struct records_form){
		.form = forms[input->input_format],
		.delimiter = csv && csv->delimiter.n ? csv->delimiter.p[0] : ',',
		.head = csv ? csv->header_list.v : NULL,
		.head_n = csv ? csv->header_list.n : 0,
		.keys = keys,
		.key_n = definitions->n,
	};
}
