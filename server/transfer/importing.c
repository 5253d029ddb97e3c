#include "server/transfer/importing.h"

#include <stdlib.h>
#include <time.h>

#include "core/image.h"
#include "protocol/transfer/import_rules.h"
#include "protocol/transfer/usage.h"
#include "server/log.h"
#include "server/transfer/importing_log.h"
#include "server/transfer/loading.h"
#include "server/transfer/messages.h"
#include "server/transfer/outcome.h"
#include "storage/index_row.h"
#include "storage/monotonic.h"
#include "storage/write/write.h"

#define PIECE_ROWS 8000 /* with those of the indexes */
#define PIECE_BYTES ((size_t)4 << 20) /* of the items */
#define CONDITIONAL_MAX                                                                            \
	100 /* records with conditions in a transaction: as many as a client's may have */
#define NEVER_MS INT64_MAX

enum phase { BEGIN, LOAD, FINISH, DROP };

struct importing {
	struct s3 *s3;
	struct faults *faults;
	struct loading *loadings; /* of the jobs under way */
	struct arena *parsed;     /* a record at a time */
	struct arena_budget memory; /* of it */
};

struct lines {
	struct str *v;
	size_t n;
};

/* A step. */
struct piece {
	struct importing *importing;
	struct job_step *step;
	enum transfer_kind kind;
	const struct import_table_input *import;   /* of its kind */
	const struct start_bulk_put_items_input *bulk;
	struct loading *loading;
	struct table *table;      /* a reference; or NULL */
	struct transfer_body body;
	struct transfer_progress progress;
	struct write *writes;
	struct importing_error *origins; /* of the writes; their messages are not set */
	size_t n;
	size_t bytes;             /* of the images */
	struct lines refused;     /* of the log */
	struct lines unmet;       /* bulk: where conditions were false, if that is asked for */
	int64_t errors_before;
};

struct importing *importing_new(struct s3 *s3, struct faults *faults)
{
	struct importing *importing = arena_checked(calloc(1, sizeof(*importing)));

	importing->s3 = s3;
	importing->faults = faults;
	importing->memory.limit = RECORD_MEMORY_MAX;
	importing->parsed = arena_new_within(1 << 20, &importing->memory);
	return importing;
}

void importing_free(struct importing *importing)
{
	if (!importing)
		return;
	while (importing->loadings) {
		struct loading *first = importing->loadings;

		importing->loadings = *loading_next(first);
		loading_free(first);
	}
	arena_free(importing->parsed);
	free(importing);
}

static void forget_loading(struct importing *importing, struct str id)
{
	for (struct loading **at = &importing->loadings; *at; at = loading_next(*at)) {
		if (str_eq(loading_id(*at), id)) {
			struct loading *gone = *at;

			*at = *loading_next(gone);
			loading_free(gone);
			return;
		}
	}
}

static enum source_coding coding_of(int compression)
{
	return compression == INPUT_COMPRESSION_TYPE_GZIP   ? SOURCE_GZIP
	       : compression == INPUT_COMPRESSION_TYPE_ZSTD ? SOURCE_ZSTD
							    : SOURCE_PLAIN;
}

/* What the request reads, in an arena that the loading takes over. */
static enum code loading_options_of(const struct piece *piece, struct arena *arena,
				    struct loading_options *options, struct err *err)
{
	const void *input;
	enum code code = transfer_bind(arena, piece->kind, &piece->body, &input, err);

	if (code != OK)
		return code;
	*options = (struct loading_options){.s3 = piece->importing->s3};
	if (piece->kind == TRANSFER_IMPORT) {
		const struct import_table_input *import = input;

		options->bucket = (struct s3_bucket){import->s3_bucket_source->s3_bucket,
						     import->s3_bucket_source->s3_bucket_owner};
		options->prefix = import->s3_bucket_source->s3_key_prefix;
		options->coding = coding_of(import->input_compression_type);
		options->form = import_rules_form(arena, import);
		return OK;
	}
	const struct input_s3_configuration *bulk =
		((const struct start_bulk_put_items_input *)input)->input_s3_configuration;
	options->bucket = (struct s3_bucket){bulk->s3_bucket, bulk->s3_bucket_owner};
	options->prefix = bulk->s3_key_prefix;
	options->coding = coding_of(bulk->input_compression_type);
	options->form.takes_conditions = true;
	options->form.form =
		bulk->input_format == BULK_OPERATION_INPUT_FORMAT_ION ? RECORD_ION : RECORD_JSON;
	return OK;
}

static enum code open_loading(struct piece *piece, struct err *err)
{
	struct importing *importing = piece->importing;
	struct loading_options options;

	for (struct loading *at = importing->loadings; at; at = *loading_next(at)) {
		if (str_eq(loading_id(at), piece->step->job->id)) {
			piece->loading = at;
			return OK;
		}
	}
	struct arena *arena = arena_new(0);
	struct err reason = err_in(arena);
	enum code code = loading_options_of(piece, arena, &options, &reason);
	if (code != OK) {
		err_copy(err, code, reason.message);
		arena_free(arena);
		return code;
	}
	piece->loading = loading_new(arena, piece->step->job->id, &options);
	*loading_next(piece->loading) = importing->loadings;
	importing->loadings = piece->loading;
	return OK;
}

static struct str bucket_of(const struct piece *piece)
{
	return piece->import ? piece->import->s3_bucket_source->s3_bucket
			     : piece->bulk->input_s3_configuration->s3_bucket;
}

/* A failure behind which no table may stay. */
static void give_up_import(struct piece *piece)
{
	struct job *job = piece->step->job;

	if (job->state == JOB_FAILED && piece->kind == TRANSFER_IMPORT &&
	    piece->progress.phase != BEGIN) {
		job->state = JOB_RUNNING; /* until the table is gone */
		piece->progress.phase = DROP;
	}
}

static bool s3_failed(struct piece *piece, const struct s3_problem *problem)
{
	outcome_s3(piece->step, piece->importing->s3, problem);
	give_up_import(piece);
	return false;
}

static bool seek(struct piece *piece)
{
	struct s3_problem problem;

	return loading_seek(piece->loading, piece->step->arena, &piece->progress, &problem) ||
	       s3_failed(piece, &problem);
}

/* Creates the import's table, or finds it where that was done before. AWS: the bucket is looked at
 * first; of two imports into one table the second fails. */
static enum code begin_import(struct piece *piece, struct err *err)
{
	struct job_step *step = piece->step;
	struct str name = piece->import->table_creation_parameters->table_name;
	struct table *table, *created;

	if (!seek(piece))
		return OK;
	if (step->now_ms < piece->body.known_ms) {
		step->job->due_ms = piece->body.known_ms;
		return OK;
	}
	enum code code = catalog_get(step->catalog, step->job->ns, name, step->now_ms, &table, err);
	if (code == OK) {
		bool is_ours = str_eq(table->identity.id, piece->body.table_id);

		table_unref(table);
		if (is_ours)
			piece->progress.phase = LOAD;
		else
			outcome_failed(
				step, STR("TableAlreadyExists"),
				str_printf(step->arena, MSG_IMPORT_TABLE_EXISTS, STR_ARG(name)));
		return OK;
	}
	if (code != ERR_RESOURCE_NOT_FOUND)
		return code;
	code = import_rules_table(step->job->ns, piece->import->table_creation_parameters, &table,
				  err);
	if (code != OK)
		return code;
	table->identity.id = str_copy(table->arena, piece->body.table_id);
	table->state.settles_ms = NEVER_MS;
	code = catalog_create(step->catalog, step->job->ns, table, step->now_ms, &created, err);
	if (code == ERR_RESOURCE_IN_USE) {
		outcome_failed(step, STR("TableAlreadyExists"),
			       str_printf(step->arena, MSG_IMPORT_TABLE_EXISTS, STR_ARG(name)));
		return OK;
	}
	if (code != OK)
		return code;
	table_unref(created);
	piece->progress.phase = LOAD;
	return OK;
}

/* Sets piece->table, or fails the job: the table is deleted, or is another one. */
static enum code find_import_table(struct piece *piece, struct err *err)
{
	struct job_step *step = piece->step;
	enum code code = catalog_get(step->catalog, step->job->ns, step->job->subject, step->now_ms,
				     &piece->table, err);

	if (code == OK && str_eq(piece->table->identity.id, piece->body.table_id) &&
	    piece->table->state.status != STATUS_DELETING)
		return OK;
	if (code != OK && code != ERR_RESOURCE_NOT_FOUND)
		return code;
	table_unref(code == OK ? piece->table : NULL);
	piece->table = NULL;
	if (piece->kind == TRANSFER_IMPORT)
		outcome_failed(step, STR("TableNotFoundException"),
			       str_printf(step->arena, MSG_IMPORT_TABLE_GONE,
					  STR_ARG(step->job->subject)));
	else
		outcome_failed(
			step, STR("ResourceNotFoundException"),
			str_printf(step->arena, MSG_BULK_TABLE_GONE, STR_ARG(step->job->subject)));
	return OK;
}

static void add_line(struct arena *arena, struct lines *lines, struct str line)
{
	lines->v = arena_room(arena, lines->v, lines->n, sizeof(*lines->v));
	lines->v[lines->n++] = line;
}

static void refuse_record(struct piece *piece, const struct importing_error *origin,
			  struct str message)
{
	struct arena *arena = piece->step->arena;
	struct importing_error error = *origin;

	piece->progress.errors++;
	if (piece->kind == TRANSFER_IMPORT &&
	    piece->errors_before + (int64_t)piece->refused.n >= IMPORTING_LOG_MAX)
		return;
	error.message = message;
	add_line(arena, &piece->refused,
		 importing_log_line(arena, piece->step->job, bucket_of(piece), &error));
}

/* Whether a bulk operation is to report such records. */
static bool reports(const struct piece *piece, int type)
{
	const struct output_s3_configuration *output = piece->bulk->output_s3_configuration;

	for (size_t i = 0; i < output->output_type.n; i++) {
		if (output->output_type.v[i] == type)
			return true;
	}
	return false;
}

/* Model: condition-check failures are no errors; reported are the attempted item and the existing
 * one. */
static void note_unmet(struct piece *piece, const struct write *write, struct str existing)
{
	struct arena *arena = piece->step->arena;
	struct importing_error error = piece->origins[write - piece->writes];

	piece->progress.unmet++;
	if (!reports(piece, OUTPUT_TYPE_ENUM_CONDITION_CHECK_FAILURE))
		return;
	error.message = STR(MSG_BULK_CONDITION);
	add_line(arena, &piece->unmet,
		 importing_log_unmet(arena, piece->step->job, bucket_of(piece), &error, write->item,
				     existing));
}

static struct write write_of(const struct piece *piece, struct value *item)
{
	return (struct write){
		.table = piece->table, .kind = WRITE_PUT, .item = item, .is_batch = false};
}

/* Those that a table with collections refuses one by one. */
static enum code write_singly(struct piece *piece, struct write *const *writes, size_t n,
			      struct err *err)
{
	for (size_t i = 0; i < n; i++) {
		struct err reason = err_in(piece->step->arena);
		enum code code = write_run(piece->step->catalog, piece->step->arena, writes[i], 1,
					   WRITE_ALONE, NULL, piece->step->now_ms, &reason);

		if (outcome_passes(code)) {
			*err = reason;
			return code;
		}
		if (code != OK)
			refuse_record(piece, &piece->origins[writes[i] - piece->writes],
				      reason.message);
		piece->progress.done += code == OK;
	}
	return OK;
}

/* Of different items, in one transaction. `together` has room for them. */
static enum code write_together(struct piece *piece, struct write *const *writes, size_t n,
				struct write *together, struct err *err)
{
	struct job_step *step = piece->step;
	struct err reason = err_in(step->arena);

	for (size_t i = 0; i < n; i++)
		together[i] = *writes[i];
	enum code code = write_run(step->catalog, step->arena, together, n, WRITE_BATCH, NULL,
				   step->now_ms, &reason);
	if (code == ERR_ITEM_COLLECTION_SIZE)
		code = write_singly(piece, writes, n, &reason);
	else if (code == OK)
		piece->progress.done += (int64_t)n;
	if (code != OK)
		*err = reason;
	return code;
}

/* What became of writes that were run together: takes those that failed out. Returns how many are
 * left. */
static size_t take_failed(struct piece *piece, struct write **writes, size_t n,
			  const struct err *reasons)
{
	size_t left = 0;

	for (size_t i = 0; i < n; i++) {
		if (reasons[i].code == OK)
			writes[left++] = writes[i];
		else if (reasons[i].code == ERR_CONDITIONAL_CHECK_FAILED)
			note_unmet(piece, writes[i], reasons[i].item);
		else
			refuse_record(piece, &piece->origins[writes[i] - piece->writes],
				      reasons[i].message);
	}
	return left;
}

/* Those of different items that have conditions. What fails is taken out, and the others run again.
 */
static enum code write_conditional(struct piece *piece, struct write **writes, size_t n,
				   struct write *together, struct err *err)
{
	struct job_step *step = piece->step;
	enum code code = ERR_TRANSACTION_CANCELED;

	while (n > 0 && code == ERR_TRANSACTION_CANCELED) {
		struct err reason = err_in(step->arena);
		size_t left = 0;

		for (size_t i = 0; i < n; i++)
			together[i] = *writes[i];
		code = write_run(step->catalog, step->arena, together, n, WRITE_TRANSACTION, NULL,
				 step->now_ms, &reason);
		if (code == OK)
			piece->progress.done += (int64_t)n;
		else if (code == ERR_TRANSACTION_CANCELED)
			left = take_failed(piece, writes, n, reason.reasons);
		else
			*err = reason;
		if (code == ERR_TRANSACTION_CANCELED && left == n)
			return err_default(err, ERR_CONFLICT); /* canceled for none of them: the
								  piece is tried again */
		n = left;
	}
	return code == ERR_TRANSACTION_CANCELED ? OK : code;
}

/* Takes those without conditions to the front. Returns how many these are. */
static size_t part_plain(struct write **writes, size_t n, struct write **conditional)
{
	size_t plain = 0, others = 0;

	for (size_t i = 0; i < n; i++) {
		if (writes[i]->condition)
			conditional[others++] = writes[i];
		else
			writes[plain++] = writes[i];
	}
	return plain;
}

/* Of different items. The two other arrays have room for them. */
static enum code write_round(struct piece *piece, struct write **writes, size_t n,
			     struct write **conditional, struct write *together, struct err *err)
{
	size_t plain = part_plain(writes, n, conditional), others = n - plain;
	enum code code = plain > 0 ? write_together(piece, writes, plain, together, err) : OK;

	for (size_t i = 0; i < others && code == OK; i += CONDITIONAL_MAX) {
		size_t some = others - i < CONDITIONAL_MAX ? others - i : CONDITIONAL_MAX;

		code = write_conditional(piece, conditional + i, some, together, err);
	}
	return code;
}

/* By the item's key; of one item those that came first. */
static int by_row_key(const void *a, const void *b)
{
	const struct write *one = *(struct write *const *)a, *other = *(struct write *const *)b;
	int order = str_cmp(one->row_key, other->row_key);

	return order ? order : one < other ? -1 : 1;
}

/* Takes the first write of each item out of those that are sorted. Returns how many there are. */
static size_t take_firsts(struct write **sorted, size_t *n, struct write **firsts)
{
	size_t first_n = 0, left = 0;

	for (size_t i = 0; i < *n; i++) {
		if (first_n > 0 && str_eq(firsts[first_n - 1]->row_key, sorted[i]->row_key))
			sorted[left++] = sorted[i];
		else
			firsts[first_n++] = sorted[i];
	}
	*n = left;
	return first_n;
}

/* What the items to be written have in an index. */
static void count_index(struct piece *piece, struct usage *usage, enum usage_kind kind,
			const struct index *index)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < piece->n; i++) {
		const struct write *write = &piece->writes[i];

		bytes += index_row_of(piece->step->arena, write->table, index, write->item,
				      write->item_image)
				 .size;
	}
	usage_add(usage, kind, index->name, bytes);
}

static void count_usage(struct piece *piece)
{
	const struct table_indexes *indexes = &piece->table->indexes;
	struct usage usage = usage_read(piece->step->arena, piece->progress.usage);

	for (size_t i = 0; i < piece->n; i++)
		usage.table += image_item_size(piece->writes[i].item_image);
	for (size_t i = 0; i < indexes->n; i++)
		count_index(piece, &usage, indexes->v[i].is_local ? USAGE_LOCAL : USAGE_GLOBAL,
			    &indexes->v[i]);
	for (size_t i = 0; i < indexes->vector_n; i++)
		count_index(piece, &usage, USAGE_VECTOR, &indexes->vectors[i]);
	piece->progress.usage = usage_pack(&usage);
}

/*
 * Writes what was collected, in the order of the keys: a page of the store that gets several items
 * is then found and changed once, which halves the system's part of an import to disk. Items that
 * are there twice take a transaction more.
 */
static enum code flush_writes(struct piece *piece, struct err *err)
{
	struct arena *arena = piece->step->arena;
	size_t room = piece->n * sizeof(struct write *);
	struct write **sorted = arena_alloc(arena, room), **firsts = arena_alloc(arena, room),
		     **conditional = arena_alloc(arena, room);
	struct write *together = arena_alloc(arena, piece->n * sizeof(*together));
	enum code code = OK;

	if (piece->kind == TRANSFER_BULK && piece->n > 0)
		count_usage(piece);
	for (size_t i = 0; i < piece->n; i++)
		sorted[i] = &piece->writes[i];
	if (piece->n > 0)
		qsort(sorted, piece->n, sizeof(*sorted), by_row_key);
	while (piece->n > 0 && code == OK)
		code = write_round(piece, firsts, take_firsts(sorted, &piece->n, firsts),
				   conditional, together, err);
	return code;
}

/* Adds the item to what is written next; one that the table refuses is counted. */
static enum code prepare_write(struct piece *piece, const struct loading_record *record,
			       struct write *write, struct err *err)
{
	struct arena *arena = piece->step->arena;
	enum code code = write_prepare(arena, write, err);

	if (code != OK)
		return code;
	if (records_have_condition(&record->record))
		code = records_condition(arena, &record->record, &write->condition, err);
	if (code != OK)
		return code;
	return fault_at_import(piece->importing->faults, arena, write, err);
}

static enum code add_import_item(struct piece *piece, const struct loading_record *record,
				 struct err *err)
{
	struct arena *arena = piece->step->arena;
	struct importing_error origin = {.key = piece->progress.object, .number = record->number};
	struct err reason = err_in(arena);
	struct value item = record->record.item;
	struct write write = write_of(piece, &item);

	if (prepare_write(piece, record, &write, &reason) != OK) {
		refuse_record(piece, &origin, reason.message);
		return OK;
	}
	struct value *own = ARENA_NEW(arena, struct value);
	if (!image_decode(arena, write.item_image, own)) /* the record's memory goes */
		return err_default(err, ERR_INTERNAL);
	write.item = own;
	write.wants_item_on_failure =
		write.condition && reports(piece, OUTPUT_TYPE_ENUM_CONDITION_CHECK_FAILURE);
	piece->bytes += write.item_image.n;
	piece->writes[piece->n] = write;
	piece->origins[piece->n++] = origin;
	return OK;
}

/* An item is a row in the table and one in each index: other writers wait for all of them. */
static bool is_full(const struct piece *piece, int64_t items)
{
	return items * (1 + (int64_t)table_index_total(piece->table)) >= PIECE_ROWS ||
	       piece->bytes >= PIECE_BYTES;
}

/* The next records, up to a piece. */
static enum code load_piece(struct piece *piece, struct err *err)
{
	struct arena *parsed = piece->importing->parsed, *arena = piece->step->arena;
	struct loading_record record = {.kind = RECORD_ITEM};
	struct s3_problem problem;
	int64_t items = 0;
	enum code code = OK;

	piece->writes = ARENA_ARRAY(arena, struct write, PIECE_ROWS);
	piece->origins = ARENA_ARRAY(arena, struct importing_error, PIECE_ROWS);
	while (code == OK && !is_full(piece, items)) {
		bool is_taken =
			loading_take(piece->loading, parsed, &piece->progress, &record, &problem);

		if (!is_taken) {
			problem.message = str_copy(arena, problem.message);
			s3_failed(piece, &problem);
			break;
		}
		if (record.kind == RECORD_END)
			break;
		items++;
		if (record.kind == RECORD_ITEM)
			code = add_import_item(piece, &record, err);
		else
			refuse_record(piece,
				      &(struct importing_error){.key = piece->progress.object,
								.number = record.number},
				      str_copy(arena, record.err.message));
		arena_reset(parsed);
	}
	arena_reset(parsed);
	piece->progress.items += items;
	if (code != OK)
		return code;
	code = flush_writes(piece, err);
	if (code != OK)
		return code;
	if (record.kind == RECORD_END)
		piece->progress.phase = FINISH;
	return OK;
}

static void activate(struct table *table)
{
	table->state.status = STATUS_ACTIVE;
	for (size_t i = 0; i < table_index_total(table); i++)
		table_index_at(table, i)->status = STATUS_ACTIVE;
}

/* The table becomes ACTIVE, once it has been CREATING for as long as tables are. */
static enum code finish_import(struct piece *piece, struct err *err)
{
	struct job_step *step = piece->step;
	enum code code = OK;

	if (piece->table->state.settles_ms == NEVER_MS) {
		struct table *next = table_clone(piece->table);
		int64_t settles_ms = next->identity.created_ms +
				     catalog_options(step->catalog)->transient_status_ms;

		if (piece->body.active_ms)
			settles_ms = piece->body.active_ms;
		next->state.settles_ms = settles_ms > step->now_ms ? settles_ms : 0;
		if (next->state.settles_ms == 0)
			activate(next);
		code = catalog_replace(step->catalog, piece->table, next, err);
	}
	if (code != OK)
		return code;
	if (piece->progress.errors == 0) {
		step->job->state = JOB_DONE;
		return OK;
	}
	log_line(LOG_WARN, MSG_IMPORT_LOG, STR_ARG(step->job->id), STR_ARG(step->job->subject),
		 (long long)piece->progress.errors, (long long)piece->progress.items,
		 STR_ARG(step->job->id));
	outcome_failed(step, STR(TRANSFER_BAD_ITEMS), STR(MSG_IMPORT_ITEMS));
	return OK;
}

/* Deletes the table of an import that failed; then the import says so. */
static enum code drop_import_table(struct piece *piece, struct err *err)
{
	struct job_step *step = piece->step;
	struct table *table;
	enum code code = catalog_get(step->catalog, step->job->ns, step->job->subject, step->now_ms,
				     &table, err);

	if (code == OK) {
		if (str_eq(table->identity.id, piece->body.table_id))
			code = catalog_delete(step->catalog, table, step->now_ms, err);
		table_unref(table);
	}
	if (code != OK && code != ERR_RESOURCE_NOT_FOUND)
		return code;
	step->job->state = JOB_FAILED;
	return OK;
}

static enum code advance_import(struct piece *piece, struct err *err)
{
	if (piece->progress.phase == BEGIN)
		return begin_import(piece, err);
	if (piece->progress.phase == DROP)
		return drop_import_table(piece, err);
	enum code code = find_import_table(piece, err);
	if (code != OK || piece->step->job->state != JOB_RUNNING)
		return code;
	if (piece->progress.phase == FINISH)
		return finish_import(piece, err);
	return seek(piece) ? load_piece(piece, err) : OK;
}

/* The records of a step that were not written, as an object of the output bucket. */
static void write_output(struct piece *piece, int type, const char *folder,
			 const struct lines *found)
{
	const struct output_s3_configuration *output = piece->bulk->output_s3_configuration;
	struct arena *arena = piece->step->arena;
	struct str prefix = output->s3_key_prefix;
	struct buf lines = buf_in(arena);
	struct s3_problem problem;

	if (!reports(piece, type) || found->n == 0)
		return;
	for (size_t i = 0; i < found->n; i++) {
		buf_add_str(&lines, found->v[i]);
		buf_add_byte(&lines, '\n');
	}
	struct str key = str_printf(
		arena, STR_FMT "%sAWSDynamoDB/" STR_FMT "/%s/%08lld.json", STR_ARG(prefix),
		prefix.n > 0 && prefix.p[prefix.n - 1] != '/' ? "/" : "",
		STR_ARG(piece->step->job->id), folder, (long long)piece->progress.outputs);
	const struct s3_sse sse = {
		.algorithm = output->s3_sse_algorithm == S3_SSE_ALGORITHM_KMS ? STR("KMS")
			     : output->s3_sse_algorithm                       ? STR("AES256")
									      : STR_ABSENT,
		.key = output->s3_sse_kms_key_id,
	};
	const struct s3_bucket bucket = {output->s3_bucket, output->s3_bucket_owner};
	if (s3_write(piece->importing->s3, arena, bucket, key, buf_str(&lines), &sse, &problem))
		piece->progress.outputs++;
	else
		outcome_s3(piece->step, piece->importing->s3, &problem);
}

/* Not faster than MaxWriteRequestUnits, a unit being a KB: the piece's share of a second is slept,
 * one second at most. */
static void slow_down(const struct piece *piece)
{
	int64_t most = piece->bulk->max_write_request_units.value;
	int64_t units = (int64_t)(piece->bytes / 1024) + 1, ms = most > 0 ? units * 1000 / most : 0;

	ms = ms > 1000 ? 1000 : ms;
	monotonic_sleep_ms(ms);
}

static enum code advance_bulk(struct piece *piece, struct err *err)
{
	struct job_step *step = piece->step;

	if (piece->body.is_canceled) {
		step->job->state = JOB_CANCELED;
		step->job->failure = STR("BulkOperationCancelled");
		step->job->message = STR(MSG_BULK_CANCELED);
		return OK;
	}
	if (!seek(piece))
		return OK;
	if (piece->progress.phase == BEGIN) {
		piece->progress.total_bytes = (int64_t)loading_total(piece->loading);
		piece->progress.phase = LOAD;
	}
	if (piece->progress.phase == FINISH) {
		step->job->state = JOB_DONE;
		return OK;
	}
	enum code code = find_import_table(piece, err);
	if (code != OK)
		return code;
	if (step->job->state == JOB_RUNNING)
		code = load_piece(piece, err);
	if (code != OK)
		return code;
	if (step->job->state == JOB_RUNNING) {
		write_output(piece, OUTPUT_TYPE_ENUM_ERROR, "error", &piece->refused);
		write_output(piece, OUTPUT_TYPE_ENUM_CONDITION_CHECK_FAILURE,
			     "condition-check-failure", &piece->unmet);
		slow_down(piece);
	}
	return OK;
}

/* Puts the job, with the lines of its log where it has new ones. */
static enum code put_import_job(struct piece *piece, struct err *err)
{
	struct job_step *step = piece->step;
	struct job_txn txn;

	step->job->progress = transfer_pack_progress(step->arena, &piece->progress);
	if (piece->kind != TRANSFER_IMPORT || piece->refused.n == 0)
		return OK; /* the runner puts it */
	enum code code = job_run_begin(step, &txn, err);
	if (code != OK)
		return code;
	code = importing_log_put(&txn, step->job, piece->errors_before, piece->refused.v,
				 piece->refused.n, err);
	if (code == OK)
		return job_run_commit(step, &txn, err);
	store_abort(txn.txn);
	return code;
}

static enum code open_and_advance(struct piece *piece, struct err *err)
{
	enum code code = open_loading(piece, err);

	if (code != OK)
		return code;
	return piece->import ? advance_import(piece, err) : advance_bulk(piece, err);
}

static enum code advance_piece(struct piece *piece, struct err *err)
{
	const void *input = NULL;
	enum code code = transfer_bind(piece->step->arena, piece->kind, &piece->body, &input, err);

	if (code != OK)
		return code;
	if (piece->kind == TRANSFER_IMPORT)
		piece->import = input;
	else
		piece->bulk = input;
	code = open_and_advance(piece, err);
	table_unref(piece->table);
	if (code == OK || outcome_passes(code))
		return code;
	outcome_failed(piece->step, str_of(err_info(code)->name), err->message);
	give_up_import(piece);
	return OK;
}

static enum code advance_and_put(struct piece *piece, struct err *err)
{
	enum code code = advance_piece(piece, err);

	if (code != OK)
		return code;
	return put_import_job(piece, err);
}

static enum code step_piece(struct job_step *step, enum transfer_kind kind, struct err *err)
{
	struct piece piece = {.importing = step->context, .step = step, .kind = kind};

	if (!transfer_read(step->arena, step->job, &piece.body, &piece.progress))
		return err_default(err, ERR_INTERNAL);
	piece.errors_before = piece.progress.errors;
	enum code code = advance_and_put(&piece, err);
	if (code != OK || step->job->state != JOB_RUNNING)
		forget_loading(piece.importing, step->job->id);
	return code;
}

static enum code step_import(struct job_step *step, struct err *err)
{
	return step_piece(step, TRANSFER_IMPORT, err);
}

static enum code step_bulk(struct job_step *step, struct err *err)
{
	return step_piece(step, TRANSFER_BULK, err);
}

void importing_register(struct job_run *jobs, struct importing *importing)
{
	job_run_register(
		jobs,
		&(struct job_kind){.name = "import", .step = step_import, .context = importing});
	job_run_register(
		jobs, &(struct job_kind){.name = "bulk", .step = step_bulk, .context = importing});
}
