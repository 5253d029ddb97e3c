#include "protocol/transfer/transfer_show.h"

#include "protocol/timing/timing.h"
#include "protocol/transfer/usage.h"
#include "protocol/wire/shape_tables.h"

/* A description under way. */
struct showing {
	struct call *call;
	struct json_out *out;
	const struct job *job; /* as it is seen */
	const struct json *request;
	struct transfer_body body;
	struct transfer_progress progress;
};

/* How long it takes at AWS. */
static enum timing member_row_of(const struct job *job, const struct transfer_body *body)
{
	bool is_failed = job->state == JOB_FAILED;

	if (str_eq(job->kind, transfer_name(TRANSFER_IMPORT))) /* AWS: lines that are no items end
								  it no earlier: DDB-IMPORT-013 */
		return is_failed && !str_eq(job->failure, STR(TRANSFER_BAD_ITEMS))
			       ? TIMING_IMPORT_FAILS
			       : TIMING_IMPORT;
	if (is_failed)
		return TIMING_EXPORT_FAILS;
	return body->is_incremental ? TIMING_EXPORT_INCREMENTAL : TIMING_EXPORT;
}

struct job transfer_show_seen(const struct call *call, const struct job *job,
			      const struct transfer_body *body)
{
	struct job seen = *job;
	bool is_bulk = str_eq(job->kind, transfer_name(TRANSFER_BULK)); /* not captured */

	if (!timing_is_on(call) || is_bulk || job->state == JOB_RUNNING)
		return seen;
	int64_t ends_ms = job->created_ms + timing_lasts(call, member_row_of(job, body));
	if (seen.ended_ms < ends_ms)
		seen.ended_ms = ends_ms;
	if (call->now_ms < job->created_ms ||
	    call->now_ms >= ends_ms) /* of a clock that was turned back no time is known */
		return seen;
	seen.state = JOB_RUNNING;
	seen.ended_ms = 0;
	seen.failure = seen.message = STR_ABSENT;
	return seen;
}

static enum code open_job(struct call *call, const struct job *job, struct showing *showing,
			  struct err *err)
{
	struct job *seen = ARENA_NEW(call->arena, struct job);

	struct showing own = {.call = call, .out = &call->out, .job = seen};
	if (!transfer_read(call->arena, job, &own.body, &own.progress))
		return err_default(err, ERR_INTERNAL);
	*seen = transfer_show_seen(call, job, &own.body);
	enum code code = json_parse(call->arena, own.body.request, &own.request, err);
	return RESULT(code, showing, own);
}

static void add_text(struct showing *s, const char *name, struct str text)
{
	if (!str_is_set(text))
		return;
	json_out_name(s->out, str_of(name));
	json_out_string(s->out, text);
}

static void add_time(struct showing *s, const char *name, int64_t ms)
{
	if (ms == 0)
		return;
	json_out_name(s->out, str_of(name));
	json_out_time_ms(s->out, ms);
}

static void add_number(struct showing *s, const char *name, int64_t number)
{
	json_out_name(s->out, str_of(name));
	json_out_integer(s->out, number);
}

/* The request's member, as it was given; false where it has none. */
static bool add_shown_member(struct showing *s, const struct json *object, const char *name)
{
	const struct json *member = json_member(object, name);

	if (!member)
		return false;
	json_out_name(s->out, str_of(name));
	transfer_echo(s->out, s->call->arena, member);
	return true;
}

static void add_member_or(struct showing *s, const char *name, struct str otherwise)
{
	if (!add_shown_member(s, s->request, name))
		add_text(s, name, otherwise);
}

/* "CANCELLING", ... of a bulk operation; the statuses of the other kinds are among these. */
static struct str transfer_show_status(const struct job *job, const struct transfer_body *body,
				       const struct transfer_progress *progress)
{
	switch (job->state) {
	case JOB_DONE:
		return str_eq(job->kind, transfer_name(TRANSFER_BULK)) && progress->errors > 0
			       ? STR("COMPLETED_WITH_ERRORS")
			       : STR("COMPLETED");
	case JOB_FAILED:
		return STR("FAILED");
	case JOB_CANCELED:
		return STR("CANCELLED");
	case JOB_RUNNING:
		break;
	}
	return body->is_canceled ? STR("CANCELLING") : STR("IN_PROGRESS");
}

static void add_status(struct showing *s, const char *name)
{
	add_text(s, name, transfer_show_status(s->job, &s->body, &s->progress));
}

static void add_window(struct showing *s)
{
	const struct json *given = json_member(s->request, "IncrementalExportSpecification");

	json_out_name(s->out, STR("IncrementalExportSpecification"));
	json_out_open(s->out, '{');
	add_time(s, "ExportFromTime", s->body.from_ms);
	add_time(s, "ExportToTime", s->body.to_ms);
	if (!given || !add_shown_member(s, given, "ExportViewType"))
		add_text(s, "ExportViewType", STR("NEW_AND_OLD_IMAGES"));
	json_out_close(s->out, '}');
}

static void show_export(struct showing *s)
{
	const struct job *job = s->job;
	bool is_done = job->state == JOB_DONE;

	add_text(s, "ExportArn", transfer_arn(s->call->arena, job));
	add_status(s, "ExportStatus");
	add_time(s, "StartTime", job->created_ms);
	add_time(s, "EndTime", job->ended_ms);
	if (is_done)
		add_text(s, "ExportManifest", s->progress.manifest);
	add_text(s, "TableArn", transfer_table_arn(s->call->arena, job->ns, job->subject));
	add_text(s, "TableId", s->body.table_id);
	if (!s->body.is_incremental)
		add_time(s, "ExportTime", s->body.to_ms);
	add_text(s, "ClientToken", job->token);
	add_shown_member(s, s->request, "S3Bucket");
	add_shown_member(s, s->request, "S3BucketOwner");
	add_shown_member(s, s->request, "S3Prefix");
	add_member_or(s, "S3SseAlgorithm", STR("AES256"));
	add_shown_member(s, s->request, "S3SseKmsKeyId");
	add_text(s, "FailureCode", job->failure);
	add_text(s, "FailureMessage", job->message);
	add_member_or(s, "ExportFormat", STR("DYNAMODB_JSON"));
	if (is_done) {
		add_number(s, "BilledSizeBytes", s->progress.bytes);
		add_number(s, "ItemCount", s->progress.items);
	}
	if (s->body.is_incremental) {
		add_text(s, "ExportType", STR("INCREMENTAL_EXPORT"));
		add_window(s);
	}
	add_shown_member(s, s->request, "FilterSpecification");
	add_text(s, "DestinationType", STR("S3"));
}

static struct str log_group(const struct showing *s)
{
	return str_printf(s->call->arena,
			  "arn:aws:logs:" STR_FMT ":" STR_FMT ":log-group:/aws-dynamodb/imports:*",
			  STR_ARG(s->job->ns.region), STR_ARG(s->job->ns.account));
}

/* AWS: with the owner, whether one was given or not. */
static void add_source(struct showing *s)
{
	const struct json *source = json_member(s->request, "S3BucketSource");

	json_out_name(s->out, STR("S3BucketSource"));
	json_out_open(s->out, '{');
	if (!add_shown_member(s, source, "S3BucketOwner"))
		add_text(s, "S3BucketOwner", s->job->ns.account);
	add_shown_member(s, source, "S3Bucket");
	add_shown_member(s, source, "S3KeyPrefix");
	json_out_close(s->out, '}');
}

static void show_import(struct showing *s)
{
	const struct job *job = s->job;

	add_text(s, "ImportArn", transfer_arn(s->call->arena, job));
	add_status(s, "ImportStatus");
	add_text(s, "TableArn", transfer_table_arn(s->call->arena, job->ns, job->subject));
	add_text(s, "TableId", s->body.table_id);
	add_text(s, "ClientToken", job->token);
	add_source(s);
	add_number(s, "ErrorCount", s->progress.errors);
	add_text(s, "CloudWatchLogGroupArn", log_group(s));
	add_shown_member(s, s->request, "InputFormat");
	add_shown_member(s, s->request, "InputFormatOptions");
	add_member_or(s, "InputCompressionType", STR("NONE"));
	add_shown_member(s, s->request, "TableCreationParameters");
	add_time(s, "StartTime", job->created_ms);
	add_time(s, "EndTime", job->ended_ms);
	add_number(s, "ProcessedSizeBytes", s->progress.bytes);
	add_number(s, "ProcessedItemCount", s->progress.items);
	add_number(s, "ImportedItemCount", s->progress.done);
	add_text(s, "FailureCode", job->failure);
	add_text(s, "FailureMessage", job->message);
}

static void add_bytes(struct showing *s, struct str name, bool is_vector, uint64_t bytes)
{
	json_out_name(s->out, name);
	json_out_open(s->out, '{');
	add_number(s, is_vector ? "BulkPutVectorBytes" : "BulkPutBytes", (int64_t)bytes);
	json_out_close(s->out, '}');
}

static void add_shown_indexes(struct showing *s, const struct usage *usage, enum usage_kind kind)
{
	static const char *const names[] = {
		[USAGE_LOCAL] = "LocalSecondaryIndexes",
		[USAGE_GLOBAL] = "GlobalSecondaryIndexes",
		[USAGE_VECTOR] = "VectorIndexes",
	};
	bool is_open = false;

	for (size_t i = 0; i < usage->n; i++) {
		const struct usage_entry *entry = &usage->v[i];

		if (entry->kind != kind || entry->bytes == 0)
			continue;
		if (!is_open) {
			json_out_name(s->out, str_of(names[kind]));
			json_out_open(s->out, '{');
		}
		is_open = true;
		add_bytes(s, entry->name, kind == USAGE_VECTOR, entry->bytes);
	}
	if (is_open)
		json_out_close(s->out, '}');
}

/* AWS: the sum is without the bytes of vectors; of the indexes those that the operation affected.
 */
static void add_usage(struct showing *s)
{
	struct usage usage = usage_read(s->call->arena, s->progress.usage);
	uint64_t sum = usage.table;

	for (size_t i = 0; i < usage.n; i++)
		sum += usage.v[i].kind == USAGE_VECTOR ? 0 : usage.v[i].bytes;
	json_out_name(s->out, STR("BulkOperationUsage"));
	json_out_open(s->out, '[');
	json_out_open(s->out, '{');
	add_text(s, "TableName", s->job->subject);
	add_number(s, "BulkPutBytes", (int64_t)sum);
	add_bytes(s, STR("Table"), false, usage.table);
	for (int kind = 0; kind < USAGE_KINDS; kind++)
		add_shown_indexes(s, &usage, (enum usage_kind)kind);
	json_out_close(s->out, '}');
	json_out_close(s->out, ']');
}

static void show_bulk(struct showing *s)
{
	const struct job *job = s->job;

	add_text(s, "BulkOperationArn", transfer_arn(s->call->arena, job));
	add_status(s, "BulkOperationStatus");
	json_out_name(s->out, STR("TableDetails"));
	json_out_open(s->out, '[');
	json_out_open(s->out, '{');
	add_text(s, "TableName", job->subject);
	add_text(s, "TableId", s->body.table_id);
	json_out_close(s->out, '}');
	json_out_close(s->out, ']');
	add_text(s, "ClientToken", job->token);
	add_shown_member(s, s->request, "InputS3Configuration");
	add_shown_member(s, s->request, "OutputS3Configuration");
	add_time(s, "StartTime", job->created_ms);
	add_time(s, "EndTime", job->ended_ms);
	add_number(s, "ProcessedItemCount", s->progress.items);
	add_number(s, "ProcessedInputBytes", s->progress.bytes);
	if (s->progress.phase > 0) /* AWS: not until it was calculated */
		add_number(s, "TotalInputBytes", s->progress.total_bytes);
	add_usage(s);
	add_number(s, "FailedItemCount", s->progress.errors);
	add_text(s, "FailureCode", job->failure);
	add_text(s, "FailureMessage", job->message);
	add_shown_member(s, s->request, "MaxWriteRequestUnits");
	add_member_or(s, "PerformanceTier", STR("STANDARD"));
}

static void summarize_export(struct showing *s)
{
	add_text(s, "ExportArn", transfer_arn(s->call->arena, s->job));
	add_status(s, "ExportStatus");
	add_text(s, "ExportType",
		 s->body.is_incremental ? STR("INCREMENTAL_EXPORT") : STR("FULL_EXPORT"));
}

static void summarize_import(struct showing *s)
{
	add_text(s, "ImportArn", transfer_arn(s->call->arena, s->job));
	add_status(s, "ImportStatus");
	add_text(s, "TableArn", transfer_table_arn(s->call->arena, s->job->ns, s->job->subject));
	add_source(s);
	add_text(s, "CloudWatchLogGroupArn", log_group(s));
	add_shown_member(s, s->request, "InputFormat");
	add_time(s, "StartTime", s->job->created_ms);
	add_time(s, "EndTime", s->job->ended_ms);
}

static void summarize_bulk(struct showing *s)
{
	add_text(s, "BulkOperationArn", transfer_arn(s->call->arena, s->job));
	add_status(s, "BulkOperationStatus");
	add_time(s, "StartTime", s->job->created_ms);
	add_time(s, "EndTime", s->job->ended_ms);
}

static const struct {
	struct str description, list;
	void (*show)(struct showing *s);
	void (*summarize)(struct showing *s);
} shows[TRANSFER_KIND_COUNT] = {
	[TRANSFER_EXPORT] = {STR_INIT("ExportDescription"), STR_INIT("ExportSummaries"),
			     show_export, summarize_export},
	[TRANSFER_IMPORT] = {STR_INIT("ImportTableDescription"), STR_INIT("ImportSummaryList"),
			     show_import, summarize_import},
	[TRANSFER_BULK] = {STR_INIT("BulkOperationDescription"),
			   STR_INIT("BulkOperationsSummaryList"), show_bulk, summarize_bulk},
};

enum code transfer_show(struct call *call, enum transfer_kind kind, const struct job *job,
			struct err *err)
{
	struct showing showing;
	enum code code = open_job(call, job, &showing, err);

	if (code != OK)
		return code;
	json_out_open(&call->out, '{');
	json_out_name(&call->out, shows[kind].description);
	json_out_open(&call->out, '{');
	shows[kind].show(&showing);
	json_out_close(&call->out, '}');
	json_out_close(&call->out, '}');
	return OK;
}

enum code transfer_show_list(struct call *call, const struct transfer_list *list, struct err *err)
{
	enum code code = OK;

	json_out_open(&call->out, '{');
	json_out_name(&call->out, shows[list->kind].list);
	json_out_open(&call->out, '[');
	for (size_t i = 0; i < list->n && code == OK; i++) {
		struct showing showing;

		code = open_job(call, &list->jobs[i], &showing, err);
		if (code != OK)
			break;
		json_out_open(&call->out, '{');
		shows[list->kind].summarize(&showing);
		json_out_close(&call->out, '}');
	}
	json_out_close(&call->out, ']');
	if (str_is_set(list->next))
		json_out_field_string(&call->out, "NextToken", list->next);
	json_out_close(&call->out, '}');
	return code;
}
