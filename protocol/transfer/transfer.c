#include "protocol/transfer/transfer.h"

#include <string.h>

#include "protocol/tables/arn.h"
#include "protocol/timing/timing.h"
#include "protocol/transfer/messages.h"
#include "protocol/wire/shape_tables.h"
#include "storage/backup/copy.h"
#include "storage/uuid.h"

#define TOKEN_MS ((int64_t)8 * 3600 * 1000)
#define LISTED_MS ((int64_t)90 * 86400 * 1000)
#define TOKEN_TEXT                                                                                 \
	56 /* bytes of a NextToken, which shows two digits for each. AWS: 112 digits at least, in  \
	      groups of 16 */
#define PAGE_DEFAULT 10 /* AWS: recorded, DDB-IMPORT-016 */
#define LOOKS 100

static const struct field body_fields[] = {
	RECORD_FIELD(transfer_body, request, "request", FIELD_STR),
	RECORD_FIELD(transfer_body, table_id, "table_id", FIELD_STR),
	RECORD_FIELD(transfer_body, from_ms, "from_ms", FIELD_INT),
	RECORD_FIELD(transfer_body, to_ms, "to_ms", FIELD_INT),
	RECORD_FIELD(transfer_body, hash, "hash", FIELD_INT),
	RECORD_FIELD(transfer_body, partitions, "partitions", FIELD_INT),
	RECORD_FIELD(transfer_body, is_incremental, "is_incremental", FIELD_BOOL),
	RECORD_FIELD(transfer_body, is_canceled, "is_canceled", FIELD_BOOL),
	RECORD_FIELD(transfer_body, is_copied, "is_copied", FIELD_BOOL),
	RECORD_FIELD(transfer_body, known_ms, "known_ms", FIELD_INT),
	RECORD_FIELD(transfer_body, active_ms, "active_ms", FIELD_INT),
};
static const struct record body_record = RECORD(transfer_body, body_fields);

static const struct field progress_fields[] = {
	RECORD_FIELD(transfer_progress, phase, "phase", FIELD_INT),
	RECORD_FIELD(transfer_progress, items, "items", FIELD_INT),
	RECORD_FIELD(transfer_progress, done, "done", FIELD_INT),
	RECORD_FIELD(transfer_progress, errors, "errors", FIELD_INT),
	RECORD_FIELD(transfer_progress, unmet, "unmet", FIELD_INT),
	RECORD_FIELD(transfer_progress, bytes, "bytes", FIELD_INT),
	RECORD_FIELD(transfer_progress, total_bytes, "total_bytes", FIELD_INT),
	RECORD_FIELD(transfer_progress, object, "object", FIELD_STR),
	RECORD_FIELD(transfer_progress, records, "records", FIELD_INT),
	RECORD_FIELD(transfer_progress, object_bytes, "object_bytes", FIELD_INT),
	RECORD_FIELD(transfer_progress, next, "next_change", FIELD_INT),
	RECORD_FIELD(transfer_progress, end, "end_change", FIELD_INT),
	RECORD_FIELD(transfer_progress, outputs, "outputs", FIELD_INT),
	RECORD_FIELD(transfer_progress, after, "after", FIELD_STR),
	RECORD_FIELD(transfer_progress, files, "files", FIELD_STR),
	RECORD_FIELD(transfer_progress, manifest, "manifest", FIELD_STR),
	RECORD_FIELD(transfer_progress, usage, "usage", FIELD_STR),
};
static const struct record progress_record = RECORD(transfer_progress, progress_fields);

static const struct {
	struct str name, part;
	const struct shape *input;
} kinds[TRANSFER_KIND_COUNT] = {
	[TRANSFER_EXPORT] = {STR_INIT("export"), STR_INIT("/export/"),
			     &shape_export_table_to_point_in_time_input},
	[TRANSFER_IMPORT] = {STR_INIT("import"), STR_INIT("/import/"), &shape_import_table_input},
	[TRANSFER_BULK] = {STR_INIT("bulk"), STR_INIT("/bulk-operation/"),
			   &shape_start_bulk_put_items_input},
};

struct str transfer_name(enum transfer_kind kind)
{
	return kinds[kind].name;
}

bool transfer_read(struct arena *arena, const struct job *job, struct transfer_body *body,
		   struct transfer_progress *progress)
{
	return job_unpack(arena, &body_record, job->body, body) &&
	       job_unpack(arena, &progress_record, job->progress, progress);
}

struct str transfer_pack_body(struct arena *arena, const struct transfer_body *body)
{
	return job_pack(arena, &body_record, body);
}

struct str transfer_pack_progress(struct arena *arena, const struct transfer_progress *progress)
{
	return job_pack(arena, &progress_record, progress);
}

/* It nests no deeper than the parser lets it. */
void transfer_echo(struct json_out *out, struct arena *arena, const struct json *json)
{
	int64_t integer;

	switch (json_type(json)) {
	case JSON_NULL:
		json_out_null(out);
		return;
	case JSON_BOOLEAN:
		json_out_boolean(out, json_boolean(json));
		return;
	case JSON_NUMBER:
		if (json_integer(json, &integer))
			json_out_integer(out, integer);
		else
			json_out_double(out, json_number(json));
		return;
	case JSON_STRING:
		json_out_string(out, json_string(arena, json));
		return;
	case JSON_ARRAY:
	case JSON_OBJECT:
		break;
	}
	bool is_object = json_type(json) == JSON_OBJECT;
	json_out_open(out, is_object ? '{' : '[');
	for (const struct json *child = json_first(json); child; child = json_next(child)) {
		if (is_object)
			json_out_name(out, json_name(arena, child));
		transfer_echo(out, arena, child);
	}
	json_out_close(out, is_object ? '}' : ']');
}

struct str transfer_request(struct call *call, const char *const names[])
{
	struct json_out out = json_out_in(call->arena);

	json_out_open(&out, '{');
	for (size_t i = 0; names[i]; i++) {
		const struct json *member = json_member(call->request.json, names[i]);

		if (!member || json_type(member) == JSON_NULL)
			continue;
		json_out_name(&out, str_of(names[i]));
		transfer_echo(&out, call->arena, member);
	}
	json_out_close(&out, '}');
	return json_out_str(&out);
}

enum code transfer_bind(struct arena *arena, enum transfer_kind kind,
			const struct transfer_body *body, const void **input, struct err *err)
{
	struct shape_bound bound;
	const struct json *json;
	enum code code = json_parse(arena, body->request, &json, err);

	if (code != OK)
		return code;
	code = shape_bind(arena, kinds[kind].input, SURFACE_OLDER, json, &bound, err);
	if (code != OK)
		return code;
	*input = bound.input;
	return OK;
}

enum code transfer_table(struct call *call, struct str arn, struct table **table, struct err *err)
{
	struct arn parts = arn_split(arn);
	struct str name = STR("");

	if (!str_starts_with(arn, STR("arn:")))
		return err_set(err, MSG_TRANSFER_NOT_ARN);
	if (str_starts_with(parts.resource, STR("table/")))
		name = (struct str){parts.resource.p + 6, parts.resource.n - 6};
	if (!call_is_name(name))
		return err_set(err, MSG_TRANSFER_ARN);
	if (!call_owns(call, parts.account, call->ns.region))
		return err_set(err, MSG_TRANSFER_DENIED);
	if (!call_owns(call, parts.account, parts.region))
		return err_set(err, MSG_TRANSFER_NO_TABLE, STR_ARG(arn));
	enum code code = timing_table(call, name, TIMING_BY_BACKUPS, table, err);
	if (code == ERR_TABLE_NOT_FOUND ||
	    (code == OK && (*table)->state.status == STATUS_DELETING))
		return err_set(err, MSG_TRANSFER_NO_TABLE, STR_ARG(arn));
	return code;
}

struct str transfer_table_arn(struct arena *arena, struct ns ns, struct str table)
{
	return str_printf(arena, "arn:aws:dynamodb:" STR_FMT ":" STR_FMT ":table/" STR_FMT,
			  STR_ARG(ns.region), STR_ARG(ns.account), STR_ARG(table));
}

struct str transfer_arn(struct arena *arena, const struct job *job)
{
	struct str part = STR("");

	for (size_t i = 0; i < TRANSFER_KIND_COUNT; i++)
		part = str_eq(kinds[i].name, job->kind) ? kinds[i].part : part;
	return str_printf(arena, STR_FMT STR_FMT STR_FMT,
			  STR_ARG(transfer_table_arn(arena, job->ns, job->subject)), STR_ARG(part),
			  STR_ARG(job->id));
}

static enum code conflict(enum transfer_kind kind, struct err *err)
{
	if (kind == TRANSFER_EXPORT)
		return err_set(err, MSG_EXPORT_CONFLICT);
	return kind == TRANSFER_IMPORT ? err_set(err, MSG_IMPORT_CONFLICT)
				       : err_set(err, MSG_BULK_CONFLICT);
}

/* AWS: recorded, DDB-IMPORT-017: an import with another key prefix is the same, one with another
 * table is not. */
static struct str sameness(const struct transfer_start *start)
{
	return start->kind == TRANSFER_IMPORT ? start->table : start->body.request;
}

struct starting {
	struct call *call;
	const struct transfer_start *start;
	struct job *job;
	bool is_found;
};

static enum code find_same(struct job_txn *txn, void *context, struct err *err)
{
	struct starting *starting = context;
	const struct transfer_start *start = starting->start;
	struct job *job = starting->job;
	enum code code = OK;

	starting->is_found = false;
	if (start->token.n > 0)
		code = job_find_token(txn, kinds[start->kind].name, start->token, job,
				      &starting->is_found, err);
	if (code != OK || !starting->is_found)
		return code;
	int64_t since = job->ended_ms ? job->ended_ms : starting->call->now_ms;
	starting->is_found = starting->call->now_ms < since + TOKEN_MS;
	return starting->is_found && !str_eq(job->sameness, sameness(start))
		       ? conflict(start->kind, err)
		       : OK;
}

/* All at once: a piece of a copy is no smaller. */
static enum code copy_small(struct job_txn *txn, const struct table *table, struct job *job,
			    struct err *err)
{
	enum code code = catalog_next_number(txn->txn, txn->arena, &job->data, err);
	struct keyspace copy = {job->data, PART_ITEMS};

	if (code != OK)
		return code;
	code = store_create(txn->txn, copy, err);
	if (code != OK)
		return code;
	return store_copy(txn->txn, table_items(table), copy, err);
}

static enum code begin_transfer_job(struct job_txn *txn, void *context, struct err *err)
{
	struct starting *starting = context;
	const struct transfer_start *start = starting->start;
	struct call *call = starting->call;
	enum code code = find_same(txn, context, err);

	if (code != OK || starting->is_found)
		return code;
	*starting->job = (struct job){
		.ns = call->ns,
		.kind = kinds[start->kind].name,
		.id = job_id(txn->arena, call->now_ms),
		.subject = start->table,
		.state = JOB_RUNNING,
		.created_ms = call->now_ms,
		.due_ms = call->now_ms,
		.token = start->token.n > 0 ? start->token : uuid_new(txn->arena),
		.sameness = sameness(start),
		.body = transfer_pack_body(txn->arena, &start->body),
	};
	if (start->body.is_copied)
		code = copy_small(txn, start->copied, starting->job, err);
	else if (start->copied)
		code = copy_begin(txn, start->copied, start->body.to_ms, starting->job, err);
	if (code != OK)
		return code;
	return job_add(txn, starting->job, err);
}

enum code transfer_find_same(struct call *call, const struct transfer_start *start, struct job *job,
			     bool *is_found, struct err *err)
{
	struct starting starting = {.call = call, .start = start, .job = job};
	enum code code = job_read(call->service->catalog, call->ns, find_same, &starting, err);

	return RESULT(code, is_found, starting.is_found);
}

enum code transfer_begin(struct call *call, const struct transfer_start *start, struct job *job,
			 struct err *err)
{
	struct starting starting = {.call = call, .start = start, .job = job};
	enum code code =
		job_write(call->service->catalog, call->ns, begin_transfer_job, &starting, err);

	if (code != OK)
		return code;
	if (!starting.is_found && call->service->upkeep.wake)
		call->service->upkeep.wake(call->service->upkeep.context);
	return OK;
}

/* The table and the id of "table/NAME/export/ID". */
static bool take_apart(enum transfer_kind kind, struct str resource, struct str *table,
		       struct str *id)
{
	struct str part = kinds[kind].part;

	if (!str_starts_with(resource, STR("table/")))
		return false;
	*table = (struct str){resource.p + 6, resource.n - 6};
	const char *at = memmem(table->p, table->n, part.p, part.n);
	if (!at)
		return false;
	*id = (struct str){at + part.n, (size_t)(table->p + table->n - at) - part.n};
	table->n = (size_t)(at - table->p);
	return id->n > 0 && call_is_name(*table) && !memchr(id->p, '/', id->n);
}

static enum code bad_arn(enum transfer_kind kind, struct err *err)
{
	if (kind == TRANSFER_EXPORT)
		return err_set(err, MSG_EXPORT_ARN);
	return kind == TRANSFER_IMPORT ? err_set(err, MSG_IMPORT_ARN) : err_set(err, MSG_BULK_ARN);
}

static enum code absent(enum transfer_kind kind, struct str arn, bool is_region, struct err *err)
{
	if (kind == TRANSFER_EXPORT)
		return is_region ? err_set(err, MSG_EXPORT_REGION)
				 : err_set(err, MSG_EXPORT_ABSENT, STR_ARG(arn));
	if (kind == TRANSFER_IMPORT)
		return is_region ? err_set(err, MSG_IMPORT_REGION)
				 : err_set(err, MSG_IMPORT_ABSENT, STR_ARG(arn));
	return err_set(err, MSG_BULK_ABSENT, STR_ARG(arn));
}

enum code transfer_find(struct call *call, enum transfer_kind kind, struct str arn, struct job *job,
			struct err *err)
{
	struct str table, id;
	struct arn parts = arn_split(arn);

	if (!str_starts_with(arn, STR("arn:")) || !str_eq(parts.service, STR("dynamodb")) ||
	    !take_apart(kind, parts.resource, &table, &id))
		return bad_arn(kind, err);
	if (!call_owns(call, parts.account, call->ns.region))
		return err_set(err, MSG_TRANSFER_DENIED);
	if (!call_owns(call, parts.account, parts.region))
		return absent(kind, arn, true, err);
	enum code code = call_refresh(call, err);
	if (code != OK)
		return code;
	code = job_find(call->service->catalog, call->ns, kinds[kind].name, id, job, err);
	if (code == ERR_RESOURCE_NOT_FOUND || (code == OK && !str_eq(job->subject, table)))
		return absent(kind, arn, false, err);
	return code;
}

static struct str token_of(struct arena *arena, enum transfer_kind kind, struct str id)
{
	char text[TOKEN_TEXT + 1];
	struct buf out = buf_in(arena);

	snprintf(text, sizeof(text), "%-8s%-*.*s", kinds[kind].name.p, TOKEN_TEXT - 8, (int)id.n,
		 id.p);
	buf_add_hex(&out, text, TOKEN_TEXT);
	return buf_str(&out);
}

static int hex_of(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The id in a token of ours; AWS: a token of the other list is refused. */
static bool read_list_token(struct arena *arena, enum transfer_kind kind, struct str token,
			    struct str *id)
{
	char *text = arena_bytes(arena, TOKEN_TEXT);
	size_t n = TOKEN_TEXT;

	if (token.n != 2 * (size_t)TOKEN_TEXT)
		return false;
	for (size_t i = 0; i < TOKEN_TEXT; i++) {
		int high = hex_of(token.p[2 * i]), low = hex_of(token.p[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		text[i] = (char)(high * 16 + low);
	}
	while (n > 8 && text[n - 1] == ' ')
		n--;
	*id = (struct str){text + 8, n - 8};
	return str_eq(token_of(arena, kind, *id), token) && id->n > 0;
}

struct listing {
	struct call *call;
	struct transfer_list *list;
	struct str after;
};

static bool is_transfer_listed(const struct listing *listing, struct arena *arena,
			       const struct job *job)
{
	const struct transfer_list *list = listing->list;
	struct transfer_progress progress;
	struct transfer_body body;

	if (job->created_ms + LISTED_MS < listing->call->now_ms ||
	    (str_is_set(list->table) && !str_eq(job->subject, list->table)))
		return false;
	return !str_is_set(list->table_id) || (transfer_read(arena, job, &body, &progress) &&
					       str_eq(body.table_id, list->table_id));
}

static enum code collect_transfers(struct job_txn *txn, void *context, struct err *err)
{
	struct listing *listing = context;
	struct transfer_list *list = listing->list;
	struct job_page page = {
		.after = listing->after, .is_reverse = true, .limit = LOOKS, .is_more = true};
	enum code code = OK;

	list->n = 0;
	list->next = STR_ABSENT;
	list->jobs = ARENA_ARRAY(txn->arena, struct job, list->limit);
	while (code == OK && page.is_more && !str_is_set(list->next)) {
		code = job_list(txn, kinds[list->kind].name, &page, err);
		for (size_t i = 0; i < page.n && code == OK && !str_is_set(list->next); i++) {
			if (!is_transfer_listed(listing, txn->arena, &page.jobs[i]))
				continue;
			if (list->n == list->limit)
				list->next = token_of(txn->arena, list->kind,
						      list->jobs[list->n - 1].id);
			else
				list->jobs[list->n++] = page.jobs[i];
		}
	}
	return code;
}

enum code transfer_list(struct call *call, struct transfer_list *list, struct err *err)
{
	struct listing listing = {.call = call, .list = list};

	if (str_is_set(list->token) &&
	    !read_list_token(call->arena, list->kind, list->token, &listing.after))
		return err_set(err, MSG_TRANSFER_TOKEN, STR_ARG(list->token));
	if (list->limit == 0)
		list->limit = PAGE_DEFAULT;
	enum code code = call_refresh(call, err);
	if (code != OK)
		return code;
	return job_read(call->service->catalog, call->ns, collect_transfers, &listing, err);
}
