#include "server/transfer/changes.h"

#include "core/image.h"
#include "server/transfer/messages.h"
#include "server/transfer/outcome.h"
#include "storage/item_key.h"
#include "storage/stream/change_log.h"

#define HEAD_BYTES 17 /* flags, time, lengths */
#define HAS_OLD 1
#define HAS_NEW 2

static struct str row_of_change(struct arena *arena, const struct change *change)
{
	struct buf out = buf_in(arena);

	buf_add_byte(&out, (str_is_set(change->old_image) ? HAS_OLD : 0) |
				   (str_is_set(change->new_image) ? HAS_NEW : 0));
	buf_add_be64(&out, (uint64_t)change->micros);
	buf_add_be32(&out, (uint32_t)change->keys.n);
	buf_add_be32(&out, (uint32_t)change->old_image.n);
	buf_add_str(&out, change->keys);
	buf_add_str(&out, change->old_image);
	buf_add_str(&out, change->new_image);
	return buf_str(&out);
}

bool changes_read(struct str row, struct change *change)
{
	if (row.n < HEAD_BYTES)
		return false;
	size_t keys = (size_t)str_be(row.p + 9, 4), old = (size_t)str_be(row.p + 13, 4),
	       left = row.n - HEAD_BYTES;

	if (keys > left || old > left - keys)
		return false;
	const char *at = row.p + HEAD_BYTES;
	*change = (struct change){
		.micros = (int64_t)str_be(row.p + 1, 8),
		.keys = {at, keys},
		.old_image = row.p[0] & HAS_OLD ? (struct str){at + keys, old} : STR_ABSENT,
		.new_image = row.p[0] & HAS_NEW ? (struct str){at + keys + old, left - keys - old}
						: STR_ABSENT,
	};
	return true;
}

static struct str keys_of_record(struct arena *arena, const struct table *table,
				 const struct stream_record *record)
{
	struct str image = str_is_set(record->new_image)   ? record->new_image
			   : str_is_set(record->old_image) ? record->old_image
							   : record->keys_image;
	struct value keys = item_key_attributes(arena, table, NULL, image);
	struct buf out = buf_in(arena);

	image_encode(&keys, &out);
	return buf_str(&out);
}

/* The first change of an item says how it was before. */
static enum code merge_change(struct job_step *step, struct job_txn *txn, const struct table *table,
			      const struct stream_record *record, struct err *err)
{
	struct keyspace keyspace = {step->job->data, PART_ITEMS};
	struct change change = {.keys = keys_of_record(step->arena, table, record),
				.old_image = record->old_image},
		      known;
	struct str key, row;
	enum code code = change_log_key(step->arena, table, record, &key, err);

	if (code != OK)
		return code;
	code = store_get(txn->txn, keyspace, key, step->arena, &row, err);
	if (code != OK)
		return code;
	if (str_is_set(row) && changes_read(row, &known))
		change.old_image = known.old_image;
	change.new_image = record->new_image;
	change.micros = record->created_ms * 1000;
	return store_put(txn->txn, keyspace, key, row_of_change(step->arena, &change), err);
}

/* AWS: the window begins with the first moment and ends before the last. */
static enum code find_log_ends(struct job_step *step, struct job_txn *txn,
			       const struct table *table, const struct transfer_body *body,
			       struct transfer_progress *progress, struct err *err)
{
	uint64_t next, end;
	enum code code = catalog_next_number(txn->txn, step->arena, &step->job->data, err);

	if (code != OK)
		return code;
	code = store_create(txn->txn, (struct keyspace){step->job->data, PART_ITEMS}, err);
	if (code != OK)
		return code;
	code = change_log_after(txn->txn, table, body->from_ms - 1, &next, err);
	if (code != OK)
		return code;
	code = change_log_after(txn->txn, table, body->to_ms - 1, &end, err);
	if (code != OK)
		return code;
	progress->next = (int64_t)next;
	progress->end = (int64_t)end;
	return OK;
}

static enum code collect_changes(struct job_step *step, struct job_txn *txn,
				 const struct table *table, const struct transfer_body *body,
				 struct transfer_progress *progress, int64_t next, struct err *err)
{
	struct change_log_page page = {.bounds = {JOB_PIECE_ROWS, JOB_PIECE_BYTES}};
	enum code code =
		progress->end == 0 ? find_log_ends(step, txn, table, body, progress, err) : OK;

	if (code != OK)
		return code;
	page.from = (uint64_t)progress->next;
	page.to = (uint64_t)progress->end;
	if (page.from < page.to)
		code = change_log_read(txn->txn, step->arena, table, &page, err);
	if (code != OK)
		return code;
	for (size_t i = 0; i < page.n; i++) {
		code = merge_change(step, txn, table, &page.v[i], err);
		if (code != OK)
			return code;
	}
	progress->next = (int64_t)page.from;
	if (!page.is_more)
		progress->phase = next;
	step->job->progress = transfer_pack_progress(step->arena, progress);
	return OK;
}

static enum code collect_and_commit(struct job_step *step, const struct table *table,
				    const struct transfer_body *body,
				    struct transfer_progress *progress, int64_t next,
				    struct err *err)
{
	struct job_txn txn;

	if (!str_eq(table->identity.id, body->table_id))
		return err_set(err, MSG_EXPORT_TABLE_GONE, STR_ARG(step->job->subject));
	enum code code = job_run_begin(step, &txn, err);
	if (code != OK)
		return code;
	code = collect_changes(step, &txn, table, body, progress, next, err);
	if (code == OK)
		return job_run_commit(step, &txn, err);
	store_abort(txn.txn);
	return code;
}

enum code changes_collect(struct job_step *step, const struct transfer_body *body,
			  struct transfer_progress *progress, int64_t next, struct err *err)
{
	struct table *table;
	enum code code = catalog_get(step->catalog, step->job->ns, step->job->subject, step->now_ms,
				     &table, err);

	if (code != OK)
		return code == ERR_RESOURCE_NOT_FOUND
			       ? err_set(err, MSG_EXPORT_TABLE_GONE, STR_ARG(step->job->subject))
			       : code;
	code = collect_and_commit(step, table, body, progress, next, err);
	table_unref(table);
	return code;
}
