#include "protocol/tables/table_messages.h"
#include "protocol/timing/timing.h"
#include "protocol/transfer/import_rules.h"
#include "protocol/transfer/transfer_show.h"
#include "storage/uuid.h"

static const char *const members[] = {"S3BucketSource",          "InputFormat",
				      "InputFormatOptions",      "InputCompressionType",
				      "TableCreationParameters", NULL};

/*
 * AWS: recorded, DDB-IMPORT-017 to 019. While an import is in progress its token finds it. Then the
 * table that is there comes first; and when that is gone, the token finds the import again.
 */
static enum code begin_import_once(struct call *call, const struct transfer_start *start,
				   struct job *job, struct err *err)
{
	struct table *existing;
	bool is_found = false;
	enum code code = transfer_find_same(call, start, job, &is_found, err);

	if (code != OK ||
	    (is_found && transfer_show_seen(call, job, &start->body).state == JOB_RUNNING))
		return code;
	code = catalog_get(call->service->catalog, call->ns, start->table, call->now_ms, &existing,
			   err);
	if (code == OK) {
		call_hold(call, existing);
		return err_set(err, MSG_TABLE_EXISTS, STR_ARG(start->table));
	}
	if (code != ERR_RESOURCE_NOT_FOUND)
		return code;
	return is_found ? OK : transfer_begin(call, start, job, err);
}

enum code op_import_table(struct call *call, const struct import_table_input *input,
			  struct err *err)
{
	struct transfer_start start = {.kind = TRANSFER_IMPORT,
				       .token = input->client_token,
				       .table = input->table_creation_parameters->table_name};
	struct table *table = NULL;
	struct job job;
	enum code code = call_refresh(call, err);

	if (code != OK)
		return code;
	code = import_rules_check(input, err);
	if (code != OK)
		return code;
	code = import_rules_table(call->ns, input->table_creation_parameters, &table, err);
	if (code != OK)
		return code;
	table_unref(table);
	start.body = (struct transfer_body){.request = transfer_request(call, members),
					    .table_id = uuid_new(call->arena)};
	if (timing_is_on(call)) {
		start.body.known_ms = call->now_ms + timing_lasts(call, TIMING_IMPORT_KNOWN);
		start.body.active_ms = call->now_ms + timing_lasts(call, TIMING_IMPORT) -
				       timing_lasts(call, TIMING_IMPORT_ACTIVE);
	}
	code = begin_import_once(call, &start, &job, err);
	if (code != OK)
		return code;
	return transfer_show(call, TRANSFER_IMPORT, &job, err);
}
