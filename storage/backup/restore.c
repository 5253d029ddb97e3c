#include "storage/backup/restore.h"

#include "core/image.h"
#include "storage/monotonic.h"
#include "storage/pace.h"
#include "storage/store/row.h"
#include "storage/write/write.h"

#define PIECE_ROWS 200
#define PIECE_BYTES ((size_t)512 * 1024) /* of items; each is written with its rows in indexes */
#define STEP_MS 40                       /* pieces of one step */

static const struct field restore_fields[] = {
	RECORD_FIELD(restore, backup, "backup", FIELD_STR),
	RECORD_FIELD(restore, source, "source", FIELD_STR),
	RECORD_FIELD(restore, region, "region", FIELD_STR),
	RECORD_FIELD(restore, at_ms, "at_ms", FIELD_INT),
	RECORD_FIELD(restore, shown_ms, "shown_ms", FIELD_INT),
	RECORD_FIELD(restore, data, "data", FIELD_INT),
	RECORD_FIELD(restore, is_copied, "is_copied", FIELD_BOOL),
	RECORD_FIELD(restore, key, "key", FIELD_STR),
	RECORD_FIELD(restore, is_filled, "is_filled", FIELD_BOOL),
};
static const struct record restore_record = RECORD(restore, restore_fields);

enum code restore_of(struct arena *arena, const struct job *job, struct restore *restore,
		     struct err *err)
{
	return job_unpack(arena, &restore_record, job->body, restore) ? OK
								      : job_malformed(job, err);
}

struct beginning {
	struct catalog *catalog;
	const struct table *source;
	const struct restore *restore;
	struct job *job;
};

static enum code add_job(struct store_txn *store, void *context, struct err *err)
{
	const struct beginning *beginning = context;
	struct job *job = beginning->job;
	struct job_txn txn = {beginning->catalog, job->ns, store, err->arena};
	enum code code = beginning->source ? copy_begin(&txn, beginning->source,
							beginning->restore->at_ms, job, err)
					   : OK;

	return code == OK ? job_add(&txn, job, err) : code;
}

enum code restore_begin(struct catalog *catalog, struct ns ns, const struct table *source,
			struct table *table, const struct restore *restore, int64_t now_ms,
			struct job *job, struct table **created, struct err *err)
{
	struct beginning beginning = {catalog, source, restore, job};
	struct str record = table_encode(err->arena, table);
	struct table *new; /* may be described by a clone, which counts together with the table that
			      it is a clone of */

	table_unref(table);
	enum code code = table_decode_new(record, catalog_options(catalog)->settings, &new, err);
	if (code != OK)
		return code;
	*job = (struct job){
		.ns = ns,
		.kind = RESTORE_KIND,
		.id = job_id(err->arena, now_ms),
		.subject = str_copy(err->arena, new->identity.name),
		.created_ms = now_ms,
		.token = STR_ABSENT,
		.sameness = STR_ABSENT,
		.failure = STR_ABSENT,
		.message = STR_ABSENT,
		.body = job_pack(err->arena, &restore_record, restore),
		.progress = STR_ABSENT,
	};
	new->group =
		(struct table_group){.id = STR_ABSENT}; /* AWS: a restored table is of one region */
	new->state.settles_ms = INT64_MAX;
	new->state.job = str_copy(new->arena, job->id);
	return catalog_create_with(catalog, ns, new, now_ms, add_job, &beginning, created, err);
}

enum code restore_uses(struct job_txn *txn, struct str backup, int64_t now_ms, bool *is_used,
		       struct err *err)
{
	struct job *jobs;
	size_t n;
	enum code code = job_list_open(txn, RESTORE_KIND, STR_ABSENT, &jobs, &n, err);

	*is_used = false;
	if (code != OK)
		return code;
	for (size_t i = 0; i < n; i++) {
		struct restore restore;

		code = restore_of(txn->arena, &jobs[i], &restore, err);
		if (code != OK)
			return code;
		bool is_over = restore.is_filled && restore.shown_ms <= now_ms;
		*is_used = *is_used || (!is_over && str_is_set(restore.backup) &&
					str_eq(restore.backup, backup));
	}
	return OK;
}

/* The table that waits for the job. */
static enum code find_waiting_table(struct job_step *step, struct table **table, struct err *err)
{
	enum code code = clocks_refresh(catalog_options(step->catalog)->clocks, err);

	if (code != OK)
		return code;
	code = catalog_get_current(step->catalog, step->job->ns, step->job->subject, step->now_ms,
				   table, err);
	if (code != OK ||
	    (str_is_set((*table)->state.job) && str_eq((*table)->state.job, step->job->id)))
		return code;
	table_unref(*table);
	return err_default(err, ERR_RESOURCE_IN_USE);
}

/* The number of the keyspace with the items. */
static uint64_t data_of(const struct job_step *step, const struct restore *restore)
{
	return restore->data ? restore->data : step->job->data;
}

/* Writes a page of items as new ones. */
static enum code write_restored_page(struct job_step *step, struct table *table, uint64_t data,
				     const struct store_page *page, struct arena *arena,
				     struct err *err)
{
	struct write *writes = ARENA_ARRAY(arena, struct write, page->n);
	struct value *items = ARENA_ARRAY(arena, struct value, page->n);

	for (size_t i = 0; i < page->n; i++) {
		if (!image_decode(arena, page->v[i].value, &items[i]))
			return row_malformed(err, (struct keyspace){data, PART_ITEMS},
					     page->v[i].key);
		writes[i] = (struct write){.table = table,
					   .kind = WRITE_PUT,
					   .item = &items[i],
					   .is_batch = true,
					   .expiry_row = STR_ABSENT};
		enum code code = write_prepare(arena, &writes[i], err);
		if (code != OK)
			return code;
	}
	return page->n > 0 ? write_run(step->catalog, arena, writes, page->n, WRITE_BATCH, NULL,
				       step->now_ms, err)
			   : OK;
}

static enum code read_source_page(struct job_step *step, struct restore *restore,
				  struct arena *arena, struct store_page *page, struct err *err)
{
	const struct store_bounds bounds = {pace_rows(catalog_pace(step->catalog), PIECE_ROWS),
					    pace_bytes(catalog_pace(step->catalog), PIECE_BYTES)};
	struct store_txn *txn;
	enum code code = store_begin(catalog_store(step->catalog), STORE_READ, &txn, err);

	if (code != OK)
		return code;
	code = copy_page(txn, data_of(step, restore), bounds, arena, &restore->key, page, err);
	store_abort(txn);
	return code;
}

static enum code restore_page(struct job_step *step, struct restore *restore, struct table *table,
			      struct err *err)
{
	struct store_page page = {.n = 0};
	enum code code = read_source_page(step, restore, err->arena, &page, err);

	if (code != OK)
		return code;
	return write_restored_page(step, table, data_of(step, restore), &page, err->arena, err);
}

/* Pieces for some milliseconds, or one while requests come. A piece that is done twice writes the
 * same items again. */
static enum code fill_restored_table(struct job_step *step, struct restore *restore,
				     struct table *table, struct err *err)
{
	int64_t until_ms = monotonic_ms() + STEP_MS;
	enum code code = OK;

	do {
		struct arena *arena = arena_new(1024 * 1024);
		struct err own = err_in(arena);

		code = restore_page(step, restore, table, &own);
		if (str_is_set(restore->key))
			restore->key = str_copy(step->arena, restore->key);
		if (code != OK)
			err_copy(err, code, own.message);
		arena_free(arena);
	} while (code == OK && str_is_set(restore->key) && monotonic_ms() < until_ms &&
		 !pace_is_crowded(catalog_pace(step->catalog)));
	restore->is_filled = code == OK && !str_is_set(restore->key);
	return code;
}

/* The table is whole. */
static enum code finish(struct job_step *step, struct table *table, struct err *err)
{
	struct table *next = table_clone(table);

	next->state = (struct table_state){.status = STATUS_ACTIVE, .job = STR_ABSENT};
	for (size_t i = 0; i < table_index_total(next); i++)
		table_index_at(next, i)->status = STATUS_ACTIVE;
	return catalog_replace(step->catalog, table, next, err);
}

/* The row ends before the table's does: an ACTIVE table has all its items, and a CREATING one has a
 * job. */
static enum code end_restore(struct job_step *step, struct err *err)
{
	struct job_txn txn;
	enum code code = job_run_begin(step, &txn, err);

	if (code != OK)
		return code;
	if (step->job->data)
		code = store_drop(txn.txn, (struct keyspace){step->job->data, PART_ITEMS}, err);
	step->job->data = 0;
	step->job->state = JOB_DONE;
	if (code == OK)
		return job_run_commit(step, &txn, err);
	store_abort(txn.txn);
	return code;
}

static enum code step_waiting_table(struct job_step *step, struct restore *restore,
				    struct table *table, struct err *err)
{
	enum code code = OK;

	if (!restore->is_filled) {
		code = fill_restored_table(step, restore, table, err);
		step->job->body = job_pack(step->arena, &restore_record, restore);
		return code;
	}
	if (step->now_ms < restore->shown_ms) {
		step->job->due_ms = restore->shown_ms;
		return OK;
	}
	return finish(step, table, err);
}

static enum code step_source_copy(struct job_step *step, struct restore *restore, struct err *err)
{
	struct copy copy;

	if (!copy_of(step->arena, step->job, &copy))
		return job_malformed(step->job, err);
	if (copy.stage != COPY_IS_DONE)
		return copy_step(step, &copy, err);
	restore->is_copied = true;
	step->job->body = job_pack(step->arena, &restore_record, restore);
	return OK;
}

/* A table that cannot be made whole is none. */
static enum code remove_table(struct job_step *step, struct table *table, enum code why,
			      struct err *err)
{
	struct arena *arena = arena_new(0);
	struct err own = err_in(arena);
	enum code code = catalog_delete(step->catalog, table, step->now_ms, &own);

	arena_free(arena);
	return code == OK || code == ERR_RESOURCE_NOT_FOUND
		       ? why
		       : err_default(err, ERR_CONFLICT); /* tried again */
}

static enum code step_restore(struct job_step *step, struct err *err)
{
	struct restore restore;
	struct table *table;
	enum code code = restore_of(step->arena, step->job, &restore, err);

	if (code != OK)
		return code;
	if (restore.is_filled) {
		code = clocks_refresh(catalog_options(step->catalog)->clocks, err);
		if (code != OK)
			return code;
		code = catalog_get_current(step->catalog, step->job->ns, step->job->subject,
					   step->now_ms, &table, err);
		bool is_waiting = code == OK && str_is_set(table->state.job) &&
				  str_eq(table->state.job, step->job->id);
		if (code == OK && !is_waiting)
			table_unref(table);
		if (code == ERR_RESOURCE_NOT_FOUND ||
		    (code == OK && !is_waiting)) /* it was made ACTIVE, and maybe deleted since */
			return end_restore(step, err);
	} else {
		code = find_waiting_table(step, &table, err);
	}
	if (code != OK)
		return code;
	code = !restore.data && !restore.is_copied ? step_source_copy(step, &restore, err)
						   : step_waiting_table(step, &restore, table, err);
	if (code != OK && !job_run_passes(code))
		code = remove_table(step, table, code, err);
	table_unref(table);
	return code;
}

const struct job_kind restore_kind = {
	.name = "restore", .step = step_restore, .give_up = copy_give_up};
