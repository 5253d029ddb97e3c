#include "protocol/transfer/export_rules.h"
#include "protocol/transfer/transfer_show.h"
#include "storage/catalog/catalog_size.h"

static const char *const members[] = {
	"TableArn",
	"ExportTime",
	"S3Bucket",
	"S3BucketOwner",
	"S3Prefix",
	"S3SseAlgorithm",
	"S3SseKmsKeyId",
	"ExportFormat",
	"ExportType",
	"IncrementalExportSpecification",
	"FilterSpecification",
	NULL,
};

#define SMALL_BYTES ((uint64_t)4 << 20)

/*
 * A small table is copied by the request itself, as it is now: also a table that is deleted the
 * next moment is exported. What is large, or is to be as it was before, is copied piece by piece.
 */
static enum code is_small(struct call *call, struct table *table, struct transfer_body *body,
			  struct err *err)
{
	uint64_t items, bytes;
	enum code code = catalog_size(call->service->catalog, table, NULL, &items, &bytes, err);

	body->is_copied = code == OK && !body->is_incremental && body->to_ms == call->now_ms &&
			  bytes <= SMALL_BYTES && items <= SMALL_BYTES / 1000;
	return code;
}

/* AWS: a table that is gone comes before the token, by which an export after it is found again;
 * what the bucket is shows later, in the job. */
enum code op_export_table_to_point_in_time(struct call *call,
					   const struct export_table_to_point_in_time_input *input,
					   struct err *err)
{
	struct transfer_start start = {.kind = TRANSFER_EXPORT, .token = input->client_token};
	struct table *table;
	struct job job;
	bool is_found = false;
	enum code code = export_rules_check(call, input, err);

	if (code != OK)
		return code;
	code = transfer_table(call, input->table_arn, &table, err);
	if (code != OK)
		return code;
	start.table = table->identity.name;
	start.body = (struct transfer_body){.request = transfer_request(call, members),
					    .table_id = table->identity.id};
	code = transfer_find_same(call, &start, &job, &is_found, err);
	if (code != OK)
		return code;
	if (is_found)
		return transfer_show(call, TRANSFER_EXPORT, &job, err);
	code = export_rules_times(call, input, table, &start.body, err);
	if (code != OK)
		return code;
	start.copied = start.body.is_incremental ? NULL : table;
	start.body.hash = (int64_t)table->hash;
	start.body.partitions = export_rules_partitions(table);
	code = is_small(call, table, &start.body, err);
	if (code != OK)
		return code;
	code = transfer_begin(call, &start, &job, err);
	if (code != OK)
		return code;
	return transfer_show(call, TRANSFER_EXPORT, &job, err);
}
