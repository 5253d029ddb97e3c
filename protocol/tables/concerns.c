#include "protocol/tables/concerns.h"

#include "protocol/tables/table_messages.h"
#include "protocol/tables/throughput_rules.h"

static const struct conflict {
	unsigned concern, beside;
	const char *text;
} conflicts[] = {
#define CONFLICT(concern, beside, text) {concern, (beside) & ~(unsigned)(concern), text},
#include "protocol/tables/concerns.def"
#undef CONFLICT
};

static unsigned of_indexes(const struct update_table_input *input)
{
	unsigned concerns = 0;

	for (size_t i = 0; i < input->global_secondary_index_updates.n; i++) {
		const struct global_secondary_index_update *update =
			&input->global_secondary_index_updates.v[i];

		concerns |= update->create   ? CONCERN_INDEX_CREATE
			    : update->delete ? CONCERN_INDEX_DELETE
					     : CONCERN_INDEX_UPDATE;
	}
	for (size_t i = 0; i < input->vector_index_updates.n; i++)
		concerns |= input->vector_index_updates.v[i].create ? CONCERN_INDEX_CREATE
								    : CONCERN_INDEX_DELETE;
	return concerns;
}

unsigned concerns_of(const struct update_table_input *input)
{
	const struct {
		bool is_asked;
		enum concern concern;
	} of_parameters[] = {
		{input->replica_updates.n > 0, CONCERN_REPLICAS},
		{input->global_table_settings_replication_mode, CONCERN_OTHER},
		{input->sse_specification, CONCERN_ENCRYPTION},
		{str_is_set(input->table_class), CONCERN_CLASS},
#define SWITCH(of, member, name, scope, parameter, input_member, concern)                          \
	{input->input_member.is_set, CONCERN_##concern},
#include "protocol/tables/settings.def"
		{input->disassociation_protection_enabled.is_set, CONCERN_DISASSOCIATION},
		{throughput_rules_has_on_demand(input->on_demand_throughput), CONCERN_ON_DEMAND},
		{throughput_rules_has_warm(input->warm_throughput), CONCERN_WARM},
		{input->stream_specification, CONCERN_STREAM},
		{input->provisioned_throughput && input->billing_mode != BILLING_MODE_PROVISIONED,
		 CONCERN_UNITS},
		{input->billing_mode == BILLING_MODE_PROVISIONED, CONCERN_TO_PROVISIONED},
		{input->billing_mode == BILLING_MODE_PAY_PER_REQUEST, CONCERN_TO_ON_DEMAND},
	};
	unsigned concerns = of_indexes(input);

	for (size_t i = 0; i < sizeof(of_parameters) / sizeof(of_parameters[0]); i++)
		concerns |= of_parameters[i].is_asked ? (unsigned)of_parameters[i].concern : 0;
	return concerns;
}

enum code concerns_check(unsigned concerns, struct err *err)
{
	for (size_t i = 0; i < sizeof(conflicts) / sizeof(conflicts[0]); i++) {
		if ((concerns & conflicts[i].concern) && (concerns & conflicts[i].beside))
			return err_set(err, MSG_UPDATE_CONFLICT, conflicts[i].text);
	}
	return OK;
}
