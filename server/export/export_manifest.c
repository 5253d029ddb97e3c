#include "server/export/export_manifest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base64.h"
#include "core/buf.h"
#include "server/messages.h"
#include "server/seed/json_text.h"

#define SUMMARY "manifest-summary"
#define FILES "manifest-files"
#define TIME_FORM "%Y-%m-%dT%H:%M:%S"

static enum code manifest_wrong(const struct export_place *place, struct str name, const char *why,
				struct err *err)
{
	return err_set(err, MSG_PULL_EXPORT, STR_ARG(export_place_shown(place, err->arena, name)),
		       STR_ARG(str_of(why)));
}

/* Whether a checksum's text is that of the bytes: base64, or hexadecimal digits. */
static bool is_md5_of(struct arena *arena, struct str text, struct str bytes)
{
	unsigned char digest[MD5_SIZE];
	struct buf plain = buf_in(arena), hex = buf_in(arena);

	md5_of(bytes.p, bytes.n, digest);
	base64_encode((struct str){(const char *)digest, MD5_SIZE}, &plain);
	buf_add_hex(&hex, (const char *)digest, MD5_SIZE);
	text = str_trim(text);
	return str_eq(text, buf_str(&plain)) || str_eq(text, buf_str(&hex));
}

/* NAME.json, of which NAME.md5 has the checksum. AWS's guide calls that NAME.checksum. */
static enum code read_manifest_text(struct export_place *place, const char *name, struct str *text,
				    struct err *err)
{
	struct str shown = str_printf(err->arena, "%s.json", name), sum;
	struct err own = err_in(err->arena);
	enum code code = export_place_read(place, shown, text, err);

	if (code != OK)
		return code;
	struct str copy = str_copy(err->arena, *text);
	code = export_place_read(place, str_printf(err->arena, "%s.md5", name), &sum, err);
	if (code != OK &&
	    export_place_read(place, str_printf(own.arena, "%s.checksum", name), &sum, &own) != OK)
		return code;
	if (!is_md5_of(err->arena, sum, copy))
		return manifest_wrong(place, shown, "it is not what its checksum (.md5) is of",
				      err);
	return RESULT(OK, text, copy);
}

static bool read_manifest_time(struct arena *arena, const struct json *root, const char *name,
			       int64_t *ms)
{
	struct str text = json_text_string(arena, root, name);
	struct tm tm = {0};
	const char *end =
		str_is_set(text) ? strptime(str_copy(arena, text).p, TIME_FORM, &tm) : NULL;

	if (!end)
		return false;
	*ms = (int64_t)timegm(&tm) * 1000 +
	      (*end == '.' ? (int64_t)(strtod(end, NULL) * 1000 + 0.5) : 0);
	return true;
}

struct str export_manifest_time(struct arena *arena, int64_t ms)
{
	time_t seconds = (time_t)(ms / 1000);
	char text[40] = "";
	struct tm tm;

	if (gmtime_r(&seconds, &tm))
		(void)strftime(text, sizeof(text), TIME_FORM, &tm);
	return str_printf(arena, "%s.%03dZ", text, (int)(ms % 1000));
}

/* arn:aws:dynamodb:REGION:ACCOUNT:table/NAME */
static bool read_table_arn(struct str arn, struct export_manifest *manifest)
{
	for (int i = 0; i < 3; i++)
		(void)str_cut(&arn, ':');
	manifest->region = str_cut(&arn, ':');
	(void)str_cut(&arn, ':');
	if (!str_starts_with(arn, STR("table/")))
		return false;
	manifest->table = (struct str){arn.p + 6, arn.n - 6};
	return manifest->table.n > 0 && manifest->region.n > 0;
}

static enum code read_summary(struct export_manifest *manifest, struct err *err)
{
	struct arena *arena = err->arena;
	struct err own = err_in(arena);
	const struct json *root;
	struct str text;
	enum code code = read_manifest_text(manifest->place, SUMMARY, &text, err);

	if (code != OK)
		return code;
	if (json_parse(arena, text, &root, &own) != OK)
		return manifest_wrong(manifest->place, STR(SUMMARY ".json"), "it is no JSON", err);
	struct str form = json_text_string(arena, root, "outputFormat"),
		   view = json_text_string(arena, root, "outputView");
	manifest->is_incremental =
		str_eq(json_text_string(arena, root, "exportType"), STR("INCREMENTAL_EXPORT"));
	manifest->is_ion = str_eq(form, STR("ION"));
	manifest->has_old_images = str_eq(view, STR("NEW_AND_OLD_IMAGES"));
	manifest->table_id = json_text_string(arena, root, "tableId");
	manifest->folder = json_text_string(arena, root, "manifestFilesS3Key");
	if ((!manifest->is_ion && !str_eq(form, STR("DYNAMODB_JSON"))) ||
	    !read_table_arn(json_text_string(arena, root, "tableArn"), manifest) ||
	    !str_is_set(manifest->table_id) || !str_is_set(manifest->folder) ||
	    manifest->folder.n < sizeof(FILES ".json"))
		return manifest_wrong(manifest->place, STR(SUMMARY ".json"),
				      "it lacks outputFormat (DYNAMODB_JSON or ION), tableArn, "
				      "tableId or manifestFilesS3Key",
				      err);
	manifest->folder.n -= sizeof(FILES ".json"); /* with the slash */
	bool has_times =
		manifest->is_incremental
			? read_manifest_time(arena, root, "exportFromTime", &manifest->from_ms) &&
				  read_manifest_time(arena, root, "exportToTime",
						     &manifest->until_ms)
			: read_manifest_time(arena, root, "exportTime", &manifest->until_ms);
	return has_times ? OK
			 : manifest_wrong(manifest->place, STR(SUMMARY ".json"),
					  "it does not say of which time it is", err);
}

/* From the export's folder on. False: it lies elsewhere. */
static bool relative_name(struct arena *arena, struct str folder, struct str key, struct str *name)
{
	struct str above = folder;

	while (above.n > 0 && above.p[above.n - 1] != '/')
		above.n--;
	if (str_contains(key, STR("../")) || key.n <= folder.n)
		return false;
	if (str_starts_with(key, folder) && key.p[folder.n] == '/')
		*name = (struct str){key.p + folder.n + 1, key.n - folder.n - 1};
	else if (str_starts_with(key, above))
		*name = str_printf(arena, "../" STR_FMT, (int)(key.n - above.n), key.p + above.n);
	else
		return false;
	return true;
}

static enum code read_files_line(struct export_manifest *manifest, struct str line, size_t number,
				 struct err *err)
{
	struct arena *arena = err->arena;
	struct err own = err_in(arena);
	const struct json *root;
	struct str sum, shown = str_printf(arena, FILES ".json:%zu", number);

	if (json_parse(arena, line, &root, &own) != OK)
		return manifest_wrong(manifest->place, shown, "the line is no JSON", err);
	struct str key = json_text_string(arena, root, "dataFileS3Key"),
		   text = json_text_string(arena, root, "md5Checksum");
	manifest->files =
		arena_room(arena, manifest->files, manifest->file_count, sizeof(*manifest->files));
	struct export_manifest_file *file = &manifest->files[manifest->file_count];
	if (!str_is_set(key) || !relative_name(arena, manifest->folder, key, &file->name))
		return manifest_wrong(manifest->place, shown,
				      "dataFileS3Key is missing, or not one of this export", err);
	if (!str_is_set(text) || !base64_decode(arena, text, &sum) || sum.n != MD5_SIZE ||
	    !json_text_get(root, "itemCount", JSON_NUMBER))
		return manifest_wrong(manifest->place, shown,
				      "md5Checksum or itemCount is missing or wrong", err);
	memcpy(file->md5, sum.p, MD5_SIZE);
	file->items = (uint64_t)json_text_number(root, "itemCount");
	manifest->file_count++;
	return OK;
}

static enum code read_files(struct export_manifest *manifest, struct err *err)
{
	struct str text;
	enum code code = read_manifest_text(manifest->place, FILES, &text, err);

	if (code != OK)
		return code;
	for (size_t number = 1; text.n > 0; number++) {
		struct str line = str_trim(str_cut(&text, '\n'));

		if (line.n == 0)
			continue;
		code = read_files_line(manifest, line, number, err);
		if (code != OK)
			return code;
	}
	return OK;
}

enum code export_manifest_read(struct export_place *place, const char *where,
			       struct export_manifest *manifest, struct err *err)
{
	struct export_manifest read = {.where = where, .place = place};
	enum code code = read_summary(&read, err);

	if (code != OK)
		return code;
	code = read_files(&read, err);
	return RESULT(code, manifest, read);
}

enum code export_manifest_data(const struct export_manifest *manifest,
			       const struct export_manifest_file *file, struct str *bytes,
			       struct err *err)
{
	unsigned char digest[MD5_SIZE];
	struct str read;
	enum code code = export_place_read(manifest->place, file->name, &read, err);

	if (code != OK)
		return code;
	md5_of(read.p, read.n, digest);
	const struct str is = {(const char *)digest, MD5_SIZE},
			 wanted = {(const char *)file->md5, MD5_SIZE};
	if (!str_eq(is, wanted))
		return manifest_wrong(manifest->place, file->name,
				      "its MD5 is not the one in the manifest: it is cut off, or "
				      "another file",
				      err);
	return RESULT(OK, bytes, read);
}

static enum code check_next(const struct export_manifest *before,
			    const struct export_manifest *next, struct err *err)
{
	if (!next->is_incremental)
		return err_set(err, MSG_PULL_FULL_LATER, next->where);
	if (next->from_ms > before->until_ms)
		return err_set(err, MSG_PULL_GAP, next->where,
			       STR_ARG(export_manifest_time(err->arena, next->from_ms)),
			       STR_ARG(export_manifest_time(err->arena, before->until_ms)));
	if (next->until_ms < before->until_ms)
		return err_set(err, MSG_PULL_ORDER, next->where,
			       STR_ARG(export_manifest_time(err->arena, next->until_ms)),
			       STR_ARG(export_manifest_time(err->arena, before->until_ms)));
	return OK;
}

enum code export_manifest_chain(const struct export_manifest *manifests, size_t n, struct str table,
				struct err *err)
{
	for (size_t i = 0; i < n; i++) {
		if (!str_eq(manifests[i].table, table))
			return err_set(err, MSG_PULL_OTHER_TABLE, manifests[i].where,
				       STR_ARG(manifests[i].table), STR_ARG(table));
		if (!str_eq(manifests[i].table_id, manifests[0].table_id))
			return err_set(err, MSG_PULL_OTHER_ID, manifests[i].where, STR_ARG(table));
		enum code code = i > 0 ? check_next(&manifests[i - 1], &manifests[i], err) : OK;
		if (code != OK)
			return code;
	}
	return OK;
}
