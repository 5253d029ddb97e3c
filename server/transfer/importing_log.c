#include "server/transfer/importing_log.h"

#include "core/buf.h"
#include "core/image.h"
#include "protocol/transfer/transfer.h"
#include "protocol/wire/json_out.h"
#include "storage/store/walk.h"

static struct str arn_name(const struct job *job)
{
	return str_eq(job->kind, transfer_name(TRANSFER_BULK)) ? STR("bulkOperationArn")
							       : STR("importArn");
}

/* Up to its last member. */
static struct json_out begin_line(struct arena *arena, const struct job *job, struct str bucket,
				  const struct importing_error *error)
{
	struct json_out out = json_out_in(arena);

	json_out_open(&out, '{');
	json_out_name(&out, STR("itemS3Pointer"));
	json_out_open(&out, '{');
	json_out_field_string(&out, "bucket", bucket);
	json_out_field_string(&out, "key", error->key);
	json_out_field_integer(&out, "itemIndex", error->number);
	json_out_close(&out, '}');
	json_out_name(&out, arn_name(job));
	json_out_string(&out, transfer_arn(arena, job));
	json_out_name(&out, STR("errorMessages"));
	json_out_open(&out, '[');
	json_out_string(&out, error->message);
	json_out_close(&out, ']');
	return out;
}

struct str importing_log_line(struct arena *arena, const struct job *job, struct str bucket,
			      const struct importing_error *error)
{
	struct json_out out = begin_line(arena, job, bucket, error);

	json_out_close(&out, '}');
	return json_out_str(&out);
}

struct str importing_log_unmet(struct arena *arena, const struct job *job, struct str bucket,
			       const struct importing_error *error, const struct value *attempted,
			       struct str existing)
{
	struct json_out out = begin_line(arena, job, bucket, error);
	struct value item;

	json_out_name(&out, STR("item"));
	json_out_item(&out, attempted);
	if (str_is_set(existing) && image_decode(arena, existing, &item)) {
		json_out_name(&out, STR("existingItem"));
		json_out_item(&out, &item);
	}
	json_out_close(&out, '}');
	return json_out_str(&out);
}

enum code importing_log_put(struct job_txn *txn, struct job *job, int64_t before,
			    const struct str *lines, size_t n, struct err *err)
{
	enum code code = OK;

	if (n == 0 || before >= IMPORTING_LOG_MAX)
		return OK;
	if (!job->data) {
		code = catalog_next_number(txn->txn, txn->arena, &job->data, err);
		if (code != OK)
			return code;
		code = store_create(txn->txn, (struct keyspace){job->data, PART_ITEMS}, err);
	}
	for (size_t i = 0; i < n && before + (int64_t)i < IMPORTING_LOG_MAX && code == OK; i++) {
		struct buf key = buf_in(txn->arena);

		buf_add_be64(&key, (uint64_t)before + i);
		code = store_put(txn->txn, (struct keyspace){job->data, PART_ITEMS}, buf_str(&key),
				 lines[i], err);
	}
	return code;
}

struct reading {
	struct arena *arena;
	struct str id;
	struct buf lines;
};

static enum code read_lines(struct job_txn *txn, void *context, struct err *err)
{
	struct reading *reading = context;
	struct store_range all = {STR_ABSENT, STR_ABSENT, false};
	struct store_row row;
	struct job job;
	enum code code = job_get(txn, transfer_name(TRANSFER_IMPORT), reading->id, &job, err);

	reading->lines = buf_in(reading->arena);
	if (code != OK || !job.data)
		return code;
	struct walk walk = walk_begin(txn->txn, (struct keyspace){job.data, PART_ITEMS}, &all, err);
	while (walk_next(&walk, &row)) {
		buf_add_str(&reading->lines, row.value);
		buf_add_byte(&reading->lines, '\n');
	}
	return walk_end(&walk);
}

enum code importing_log_read(struct catalog *catalog, struct ns ns, struct arena *arena,
			     struct str id, struct str *lines, struct err *err)
{
	struct reading reading = {.arena = arena, .id = id};
	enum code code = job_read(catalog, ns, read_lines, &reading, err);

	*lines = buf_str(&reading.lines);
	return code;
}
