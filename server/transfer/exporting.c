#include "server/transfer/exporting.h"

#include "core/image.h"
#include "protocol/transfer/export_rules.h"
#include "protocol/transfer/ion_out.h"
#include "protocol/wire/json_out.h"
#include "server/gzip.h"
#include "server/transfer/changes.h"
#include "server/transfer/manifest.h"
#include "server/transfer/outcome.h"
#include "server/transfer/transfer_rows.h"
#include "storage/backup/copy.h"

#define BILLED_MIN                                                                                 \
	10000000 /* AWS: recorded, DDB-EXPORT-019: an incremental export is billed so much at      \
		    least */
#define FILE_BYTES ((size_t)4 << 20) /* of the rows in one data file */

enum phase { BEGIN, COLLECT, DATA, MANIFEST };

/* A step of an export. */
struct exporting {
	struct job_step *step;
	struct s3 *s3;
	const struct export_table_to_point_in_time_input *input;
	struct expressions expressions; /* of its filter */
	struct transfer_body body;
	struct transfer_progress progress;
	struct manifest manifest;
};

static bool put_object(struct exporting *e, struct str key, struct str bytes)
{
	const struct s3_sse sse = {
		.algorithm = e->input->s3_sse_algorithm == S3_SSE_ALGORITHM_KMS ? STR("KMS")
			     : e->input->s3_sse_algorithm                       ? STR("AES256")
										: STR_ABSENT,
		.key = e->input->s3_sse_kms_key_id,
	};
	const struct s3_bucket bucket = {e->input->s3_bucket, e->input->s3_bucket_owner};
	struct s3_problem problem;

	if (s3_write(e->s3, e->step->arena, bucket, key, bytes, &sse, &problem))
		return true;
	outcome_s3(e->step, e->s3, &problem);
	return false;
}

/* AWS: an empty file, which shows that the bucket can be written to. */
static void begin(struct exporting *e)
{
	if (put_object(e, manifest_key(&e->manifest, STR("_started")), STR("")))
		e->progress.phase = e->body.is_incremental ? COLLECT : DATA;
}

static void add_value(struct json_out *out, bool is_ion, const struct value *item)
{
	if (is_ion)
		ion_out_value(&out->buf, item);
	else
		json_out_item(out, item);
	out->needs_comma = false;
}

static bool is_wanted(const struct exporting *e, const struct subject *subject)
{
	return (!e->expressions.key_condition ||
		expr_eval(e->expressions.key_condition, subject)) &&
	       (!e->expressions.filter || expr_eval(e->expressions.filter, subject));
}

/* Metadata, Keys and images of an item that changed. AWS: as one that was put and deleted within
 * the window, none. */
static bool add_exported_change(struct exporting *e, struct arena *arena, struct str row,
				struct json_out *out, bool *is_none)
{
	bool is_ion = e->input->export_format == EXPORT_FORMAT_ION;
	bool shows_old = e->input->incremental_export_specification->export_view_type !=
			 EXPORT_VIEW_TYPE_NEW_IMAGE;
	struct change change;
	struct value keys, old_item, new_item;

	if (!changes_read(row, &change) || !image_decode(arena, change.keys, &keys) ||
	    (str_is_set(change.old_image) && !image_decode(arena, change.old_image, &old_item)) ||
	    (str_is_set(change.new_image) && !image_decode(arena, change.new_image, &new_item)))
		return false;
	*is_none = !str_is_set(change.old_image) && !str_is_set(change.new_image);
	const struct subject subject = {
		arena, NULL, str_is_set(change.new_image) ? change.new_image : change.old_image};
	*is_none = *is_none || !is_wanted(e, &subject);
	if (*is_none)
		return true;
	out->needs_comma = false;
	buf_printf(&out->buf,
		   is_ion ? "$ion_1_0 {Record:{Metadata:{WriteTimestampMicros:%lld.},Keys:"
			  : "{\"Metadata\":{\"WriteTimestampMicros\":{\"N\":\"%lld\"}},\"Keys\":",
		   (long long)change.micros);
	add_value(out, is_ion, &keys);
	if (str_is_set(change.new_image)) {
		buf_add_str(&out->buf, is_ion ? STR(",NewImage:") : STR(",\"NewImage\":"));
		add_value(out, is_ion, &new_item);
	}
	if (str_is_set(change.old_image) && shows_old) {
		buf_add_str(&out->buf, is_ion ? STR(",OldImage:") : STR(",\"OldImage\":"));
		add_value(out, is_ion, &old_item);
	}
	buf_add_str(&out->buf, is_ion ? STR("}}\n") : STR("}\n"));
	e->progress.bytes +=
		(int64_t)(image_item_size(change.new_image) + image_item_size(change.old_image));
	return true;
}

/* The line of an item; false for an image that is malformed. */
static bool add_exported_item(struct exporting *e, struct arena *arena, struct str image,
			      struct json_out *out)
{
	struct subject subject = {arena, NULL, image};
	bool is_ion = e->input->export_format == EXPORT_FORMAT_ION;
	struct value item;

	if (e->expressions.projection)
		item = expr_project(e->expressions.projection, &subject);
	else if (is_ion && !image_decode(arena, image, &item))
		return false;
	out->needs_comma = false;
	if (is_ion) {
		buf_add_lit(&out->buf, "$ion_1_0 {Item:");
		ion_out_value(&out->buf, &item);
		buf_add_lit(&out->buf, "}\n");
		return true;
	}
	buf_add_lit(&out->buf, "{\"Item\":");
	if (e->expressions.projection)
		json_out_item(out, &item);
	else
		json_out_image(out, image);
	buf_add_lit(&out->buf, "}\n");
	return !out->is_malformed;
}

static bool add_exported_row(struct exporting *e, struct arena *arena, struct str row,
			     struct json_out *out, bool *is_none)
{
	const struct subject subject = {arena, NULL, row};

	if (e->body.is_incremental)
		return add_exported_change(e, arena, row, out, is_none);
	*is_none = !is_wanted(e, &subject);
	if (*is_none)
		return true;
	e->progress.bytes += (int64_t)image_item_size(row);
	return add_exported_item(e, arena, row, out);
}

static enum code add_exported_rows(struct exporting *e, const struct store_page *page,
				   struct json_out *out, int64_t *items, struct err *err)
{
	struct arena *scratch = arena_new(FILE_BYTES);
	enum code code = OK;

	for (size_t i = 0; i < page->n && code == OK; i++) {
		bool is_none = true;

		if (!add_exported_row(e, scratch, page->v[i].value, out, &is_none))
			code = err_default(err, ERR_INTERNAL);
		*items += code == OK && !is_none;
		arena_reset(scratch);
	}
	arena_free(scratch);
	return code;
}

/* A data file of these rows. */
static enum code write_file(struct exporting *e, const struct store_page *page, struct err *err)
{
	struct json_out out = json_out_in(e->step->arena);
	struct buf files = buf_in(e->step->arena);
	unsigned char digest[MD5_SIZE];
	int64_t items = 0;
	struct md5 md5;
	enum code code = add_exported_rows(e, page, &out, &items, err);

	if (code != OK)
		return code;
	struct str bytes = gzip_encode(e->step->arena, GZIP_GZIP, json_out_str(&out));
	if (!str_is_set(bytes))
		return err_default(err, ERR_INTERNAL);
	if (!put_object(e,
			manifest_data_key(&e->manifest, e->progress.files.n / MANIFEST_FILE_BYTES),
			bytes))
		return OK;
	md5_begin(&md5);
	md5_add(&md5, bytes.p, bytes.n);
	md5_end(&md5, digest);
	buf_add_str(&files, e->progress.files);
	manifest_add_file(&files, items, digest);
	e->progress.files = buf_str(&files);
	e->progress.items += items;
	return OK;
}

/* The next file; `records` counts the partitions that are done. */
static enum code write_data(struct exporting *e, struct err *err)
{
	struct store_page page = {.n = 0};
	struct store_range range =
		transfer_rows_partition(e->step->arena, &e->body, (uint32_t)e->progress.records);
	bool is_first = !str_is_set(e->progress.after);
	enum code code;

	if (!is_first) {
		struct buf next = buf_in(e->step->arena);

		buf_add_str(&next, e->progress.after); /* no key is a prefix of another */
		buf_add_byte(&next, 0);
		range.low = buf_str(&next);
	}
	code = transfer_rows_read(e->step, &range, FILE_BYTES, &page, err);
	if (code != OK)
		return code;
	if (page.n > 0 || is_first)
		code = write_file(e, &page, err);
	if (code != OK || e->step->job->state != JOB_RUNNING)
		return code;
	e->progress.after = page.is_more ? page.v[page.n - 1].key : STR_ABSENT;
	if (!page.is_more && ++e->progress.records >= e->body.partitions)
		e->progress.phase = MANIFEST;
	return OK;
}

static bool put_manifest(struct exporting *e, const char *name, struct str text)
{
	struct arena *arena = e->step->arena;

	return put_object(e, manifest_key(&e->manifest, str_printf(arena, "%s.json", name)),
			  text) &&
	       put_object(e, manifest_key(&e->manifest, str_printf(arena, "%s.md5", name)),
			  manifest_md5(arena, text));
}

/* The summary comes last: a tool that finds it finds all it names. */
static void write_manifests(struct exporting *e)
{
	if (e->body.is_incremental && e->progress.bytes < BILLED_MIN)
		e->progress.bytes = BILLED_MIN;
	if (!put_manifest(e, "manifest-files", manifest_files(&e->manifest)) ||
	    !put_manifest(e, "manifest-summary", manifest_summary(&e->manifest, e->step->now_ms)))
		return;
	e->progress.manifest = manifest_key(&e->manifest, STR("manifest-summary.json"));
	e->step->job->state = JOB_DONE;
}

static enum code advance_export(struct exporting *e, struct err *err)
{
	switch ((enum phase)e->progress.phase) {
	case BEGIN:
		begin(e);
		return OK;
	case COLLECT:
		return changes_collect(e->step, &e->body, &e->progress, DATA, err);
	case DATA:
		return write_data(e, err);
	case MANIFEST:
		write_manifests(e);
	}
	return OK;
}

/* The next piece of the copy; when that is whole, the export's own progress begins. */
static enum code step_export_copy(struct job_step *step, struct transfer_body *body,
				  struct err *err)
{
	struct copy copy;
	enum code code =
		copy_of(step->arena, step->job, &copy) ? OK : err_default(err, ERR_INTERNAL);

	if (code != OK)
		return code;
	if (copy.stage != COPY_IS_DONE)
		return copy_step(step, &copy, err);
	body->is_copied = true;
	step->job->body = transfer_pack_body(step->arena, body);
	step->job->progress =
		transfer_pack_progress(step->arena, &(struct transfer_progress){.phase = BEGIN});
	return OK;
}

/* The job is over by its last piece: its keyspace goes with it. */
static enum code put_export_job(struct exporting *e, struct err *err)
{
	struct job_step *step = e->step;

	if (step->is_put)
		return OK;
	step->job->progress = transfer_pack_progress(step->arena, &e->progress);
	return step->job->state == JOB_RUNNING ? OK : transfer_rows_end(step, err);
}

static enum code run_export(struct exporting *e, struct err *err)
{
	const void *input = NULL;
	enum code code = transfer_bind(e->step->arena, TRANSFER_EXPORT, &e->body, &input, err);

	e->input = input;
	if (code != OK)
		return code;
	if (e->input->filter_specification)
		code = export_rules_filter(e->step->arena, e->input->filter_specification,
					   &e->expressions, err);
	if (code != OK)
		return code;
	e->manifest = (struct manifest){.arena = e->step->arena,
					.job = e->step->job,
					.input = e->input,
					.body = &e->body,
					.progress = &e->progress};
	code = advance_export(e, err);
	if (code != OK)
		return code;
	return put_export_job(e, err);
}

static enum code take_export_step(struct exporting *e, struct err *err)
{
	struct job_step *step = e->step;

	if (!transfer_read(step->arena, step->job, &e->body, &e->progress))
		return err_default(err, ERR_INTERNAL);
	return e->body.is_incremental || e->body.is_copied ? run_export(e, err)
							   : step_export_copy(step, &e->body, err);
}

static enum code step_export(struct job_step *step, struct err *err)
{
	struct exporting e = {.step = step, .s3 = step->context};
	enum code code = take_export_step(&e, err);

	if (code == OK || outcome_passes(code))
		return code;
	outcome_failed(step, str_of(err_info(code)->name), err->message);
	return transfer_rows_end(step, err);
}

void exporting_register(struct job_run *jobs, struct s3 *s3)
{
	job_run_register(jobs,
			 &(struct job_kind){.name = "export", .step = step_export, .context = s3});
}
