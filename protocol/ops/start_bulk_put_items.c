#include "protocol/tables/table_messages.h"
#include "protocol/timing/timing.h"
#include "protocol/transfer/messages.h"
#include "protocol/transfer/transfer_show.h"

#define OUTPUT_TYPES_MAX 2 /* as many as there are */

static const char *const members[] = {"InputS3Configuration", "OutputS3Configuration", "TableName",
				      "MaxWriteRequestUnits", "PerformanceTier",       NULL};

/* Developer Guide, "Bulk put items considerations": no table of a global table, and none whose
 * index is being created. */
static enum code check_bulk_table(const struct table *table, struct err *err)
{
	if (table_is_global(table))
		return err_set(err, MSG_BULK_GLOBAL, STR_ARG(table->identity.name));
	if (table->state.status == STATUS_CREATING || table->state.status == STATUS_DELETING)
		return err_set(err, MSG_TABLE_IN_USE,
			       table->state.status == STATUS_CREATING ? "created" : "deleted",
			       STR_ARG(table->identity.name));
	for (size_t i = 0; i < table_index_total(table); i++) {
		const struct index *index = table_index_at(table, i);

		if (index->status == STATUS_CREATING)
			return err_set(err, MSG_INDEX_BEING_CREATED, STR_ARG(table->identity.name),
				       STR_ARG(index->name));
	}
	return OK;
}

/* API Reference: a token with other parameters is IdempotentParameterMismatchException; the table
 * must exist. */
enum code op_start_bulk_put_items(struct call *call, const struct start_bulk_put_items_input *input,
				  struct err *err)
{
	const struct output_s3_configuration *output = input->output_s3_configuration;
	struct transfer_start start = {.kind = TRANSFER_BULK, .token = input->client_token};
	struct table *table;
	struct job job;

	if (output->output_type.n == 0 || output->output_type.n > OUTPUT_TYPES_MAX)
		return err_set(err, MSG_BULK_OUTPUT);
	if (!str_is_set(output->s3_bucket))
		return err_set(err, MSG_BULK_BUCKET);
	if (str_is_set(output->s3_sse_kms_key_id) &&
	    output->s3_sse_algorithm != S3_SSE_ALGORITHM_KMS)
		return err_set(err, MSG_EXPORT_KMS_KEY);
	enum code code = call_table(call, input->table_name, ABSENT_RESOURCE, &table, err);
	if (code != OK)
		return code;
	code = check_bulk_table(table, err);
	if (code != OK)
		return code;
	start.table = table->identity.name;
	start.body = (struct transfer_body){.request = transfer_request(call, members),
					    .table_id = table->identity.id};
	code = transfer_begin(call, &start, &job, err);
	if (code != OK)
		return code;
	return transfer_show(call, TRANSFER_BULK, &job, err);
}
