#include "storage/backup/backup.h"

static const struct field backup_fields[] = {
	RECORD_FIELD(backup, name, "name", FIELD_STR),
	RECORD_ENUM(backup, type, "type", BACKUP_SYSTEM),
	RECORD_FIELD(backup, record, "record", FIELD_STR),
	RECORD_FIELD(backup, items, "items", FIELD_INT),
	RECORD_FIELD(backup, bytes, "bytes", FIELD_INT),
	RECORD_FIELD(backup, shown_ms, "shown_ms", FIELD_INT),
	RECORD_FIELD(backup, expires_ms, "expires_ms", FIELD_INT),
};
static const struct record backup_record = RECORD(backup, backup_fields);

enum code backup_of(struct arena *arena, const struct job *job, struct backup *backup,
		    struct err *err)
{
	return job_unpack(arena, &backup_record, job->body, backup) ? OK : job_malformed(job, err);
}

enum code backup_add(struct job_txn *txn, const struct table *table, const struct backup *backup,
		     int64_t now_ms, struct job *job, struct err *err)
{
	struct backup own = *backup;

	own.record = table_encode(txn->arena, table);
	*job = (struct job){
		.ns = txn->ns,
		.kind = BACKUP_KIND,
		.id = job_id(txn->arena, now_ms),
		.subject = table->identity.name,
		.created_ms = now_ms,
		.token = STR_ABSENT,
		.sameness = STR_ABSENT,
		.failure = STR_ABSENT,
		.message = STR_ABSENT,
		.body = job_pack(txn->arena, &backup_record, &own),
	};
	enum code code = copy_begin(txn, table, COPY_NOW, job, err);
	return code == OK ? job_add(txn, job, err) : code;
}

/* The backup of a deleted table goes when its time is over: until then its job is open, and due at
 * that time. */
static enum code expire_system_backup(struct job_step *step, struct err *err)
{
	struct job_txn txn;
	enum code code = job_run_begin(step, &txn, err);

	if (code != OK)
		return code;
	code = store_end_for_good(txn.txn, job_remove(&txn, step->job, err), err);
	step->is_put = code == OK;
	step->job->state = JOB_DONE;
	return code;
}

/* The job goes with its last piece: what is left is the backup. */
static enum code step_backup(struct job_step *step, struct err *err)
{
	struct backup backup;
	struct copy copy;
	enum code code = backup_of(step->arena, step->job, &backup, err);

	if (code != OK)
		return code;
	if (backup.type == BACKUP_SYSTEM)
		return expire_system_backup(step, err);
	if (!copy_of(step->arena, step->job, &copy))
		code = job_malformed(step->job, err);
	if (code != OK)
		return code;
	if (copy.stage != COPY_IS_DONE)
		return copy_step(step, &copy, err);
	if (step->now_ms < backup.shown_ms) {
		step->job->due_ms = backup.shown_ms;
		return OK;
	}
	backup.items = copy.items;
	backup.bytes = copy.bytes;
	step->job->body = job_pack(step->arena, &backup_record, &backup);
	step->job->state = JOB_DONE;
	return OK;
}

const struct job_kind backup_kind = {
	.name = "backup", .step = step_backup, .give_up = copy_give_up};

enum code backup_keep_deleted(struct store_txn *txn, const struct table *table, void *context,
			      bool *is_kept, struct err *err)
{
	const struct backup_deletion *deletion = context;
	struct arena *arena = err->arena;
	struct job_txn jobs = {
		deletion->catalog, {table->identity.account, table->identity.region}, txn, arena};

	*is_kept = table->log.reasons & LOG_RECOVERY;
	if (!*is_kept)
		return OK;
	const struct backup backup = {
		.name = str_printf(arena, STR_FMT "$DeletedTableBackup",
				   STR_ARG(table->identity.name)),
		.type = BACKUP_SYSTEM,
		.record = table_encode(arena, table),
		.expires_ms = deletion->now_ms + BACKUP_SYSTEM_MS,
		.items = (int64_t)deletion->size->items,
		.bytes = (int64_t)deletion->size->bytes,
	};
	/* AWS: DDB-BACKUP-015: the id ends in zeros */
	const struct job job = {
		.ns = jobs.ns,
		.kind = BACKUP_KIND,
		.id = str_printf(arena, "%014lld-00000000", (long long)deletion->now_ms),
		.due_ms = deletion->now_ms + BACKUP_SYSTEM_MS,
		.subject = table->identity.name,
		.created_ms = deletion->now_ms,
		.token = STR_ABSENT,
		.sameness = STR_ABSENT,
		.failure = STR_ABSENT,
		.message = STR_ABSENT,
		.data = table->identity.number,
		.body = job_pack(arena, &backup_record, &backup),
		.progress = STR_ABSENT,
	};
	return job_add(&jobs, &job, err);
}
