#include "server/transfer/manifest.h"

#include <time.h>

#include "core/base64.h"
#include "core/sha256.h"
#include "protocol/wire/json_out.h"

#define NAME_LETTERS 26

struct str manifest_md5(struct arena *arena, struct str text)
{
	unsigned char digest[MD5_SIZE];
	struct buf out = buf_in(arena);

	md5_of(text.p, text.n, digest);
	base64_encode((struct str){(const char *)digest, MD5_SIZE}, &out);
	return buf_str(&out);
}

/* AWS: a prefix is joined with '/', unless it ends with one (DDB-EXPORT-018). */
static struct str root(const struct manifest *m)
{
	struct str prefix = m->input->s3_prefix;
	bool needs_slash = prefix.n > 0 && prefix.p[prefix.n - 1] != '/';

	return str_printf(m->arena, STR_FMT "%sAWSDynamoDB/", STR_ARG(prefix),
			  needs_slash ? "/" : "");
}

struct str manifest_key(const struct manifest *m, struct str name)
{
	return str_printf(m->arena, STR_FMT STR_FMT "/" STR_FMT, STR_ARG(root(m)),
			  STR_ARG(m->job->id), STR_ARG(name));
}

/* AWS: incremental exports share one folder for their data. */
struct str manifest_data_key(const struct manifest *m, size_t n)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz234567";
	const char *ending = m->input->export_format == EXPORT_FORMAT_ION ? ".ion.gz" : ".json.gz";
	unsigned char digest[SHA256_SIZE];
	char name[NAME_LETTERS + 1] = "";

	sha256_of(str_printf(m->arena, STR_FMT "/" STR_FMT "/%zu", STR_ARG(m->job->ns.account),
			     STR_ARG(m->job->id), n),
		  digest);
	for (size_t i = 0; i < NAME_LETTERS; i++)
		name[i] = letters[digest[i] & 31];
	if (m->body->is_incremental)
		return str_printf(m->arena, STR_FMT "data/%s%s", STR_ARG(root(m)), name, ending);
	return manifest_key(m, str_printf(m->arena, "data/%s%s", name, ending));
}

void manifest_add_file(struct buf *files, int64_t items, const unsigned char md5[MD5_SIZE])
{
	buf_add_be64(files, (uint64_t)items);
	buf_add(files, md5, MD5_SIZE);
}

struct str manifest_files(const struct manifest *m)
{
	struct json_out out = json_out_in(m->arena);

	for (size_t n = 0; (n + 1) * MANIFEST_FILE_BYTES <= m->progress->files.n; n++) {
		const char *file = m->progress->files.p + n * MANIFEST_FILE_BYTES;
		struct buf checksum = buf_in(m->arena), etag = buf_in(m->arena);

		base64_encode((struct str){file + 8, MD5_SIZE}, &checksum);
		buf_add_hex(&etag, file + 8, MD5_SIZE);
		out.needs_comma = false;
		json_out_open(&out, '{');
		json_out_field_integer(&out, "itemCount", (int64_t)str_be(file, 8));
		json_out_field_string(&out, "md5Checksum", buf_str(&checksum));
		json_out_field_string(&out, "etag", buf_str(&etag));
		json_out_field_string(&out, "dataFileS3Key", manifest_data_key(m, n));
		json_out_close(&out, '}');
		buf_add_byte(&out.buf, '\n');
	}
	return json_out_str(&out);
}

static void add_manifest_time(struct json_out *out, const char *name, int64_t ms)
{
	time_t seconds = (time_t)(ms / 1000);
	char text[40];
	struct tm tm;
	size_t n = gmtime_r(&seconds, &tm) ? strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm)
					   : 0;

	n += (size_t)snprintf(text + n, sizeof(text) - n, ".%03dZ", (int)(ms % 1000));
	json_out_name(out, str_of(name));
	json_out_string(out, (struct str){text, n});
}

static void add_text(struct json_out *out, const char *name, struct str text)
{
	json_out_name(out, str_of(name));
	if (str_is_set(text))
		json_out_string(out, text);
	else
		json_out_null(out);
}

struct str manifest_summary(const struct manifest *m, int64_t end_ms)
{
	const struct incremental_export_specification *window =
		m->input->incremental_export_specification;
	struct json_out out = json_out_in(m->arena);
	bool is_kms = m->input->s3_sse_algorithm == S3_SSE_ALGORITHM_KMS,
	     is_new = window && window->export_view_type == EXPORT_VIEW_TYPE_NEW_IMAGE;

	json_out_open(&out, '{');
	json_out_field_string(&out, "version",
			      m->body->is_incremental ? STR("2023-08-01") : STR("2020-06-30"));
	json_out_field_string(&out, "exportArn", transfer_arn(m->arena, m->job));
	add_manifest_time(&out, "startTime", m->job->created_ms);
	add_manifest_time(&out, "endTime", end_ms);
	json_out_field_string(&out, "tableArn",
			      transfer_table_arn(m->arena, m->job->ns, m->job->subject));
	json_out_field_string(&out, "tableId", m->body->table_id);
	if (m->body->is_incremental) {
		add_manifest_time(&out, "exportFromTime", m->body->from_ms);
		add_manifest_time(&out, "exportToTime", m->body->to_ms);
	} else {
		add_manifest_time(&out, "exportTime", m->body->to_ms);
	}
	json_out_field_string(&out, "s3Bucket", m->input->s3_bucket);
	add_text(&out, "s3Prefix", m->input->s3_prefix);
	json_out_field_string(&out, "s3SseAlgorithm", is_kms ? STR("KMS") : STR("AES256"));
	add_text(&out, "s3SseKmsKeyId", m->input->s3_sse_kms_key_id);
	json_out_field_string(&out, "manifestFilesS3Key",
			      manifest_key(m, STR("manifest-files.json")));
	json_out_field_integer(&out, "billedSizeBytes", m->progress->bytes);
	json_out_field_integer(&out, "itemCount", m->progress->items);
	json_out_field_string(&out, "outputFormat",
			      m->input->export_format == EXPORT_FORMAT_ION ? STR("ION")
									   : STR("DYNAMODB_JSON"));
	if (m->body->is_incremental) {
		json_out_field_string(&out, "outputView",
				      is_new ? STR("NEW_IMAGE") : STR("NEW_AND_OLD_IMAGES"));
		json_out_field_string(&out, "exportType", STR("INCREMENTAL_EXPORT"));
	}
	json_out_close(&out, '}');
	return json_out_str(&out);
}
