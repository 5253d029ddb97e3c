#include "server/importers/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "protocol/transfer/ion_binary.h"
#include "server/gzip.h"
#include "server/importers/dynamodb_local.h"
#include "server/importers/model.h"
#include "server/importers/onetable.h"
#include "server/importers/plan.h"
#include "server/importers/rows.h"
#include "server/importers/tables.h"
#include "server/importers/template.h"
#include "server/seed/document.h"
#include "server/seed/json_text.h"
#include "server/seed/messages.h"

#define UNPACKED_MAX ((size_t)4 << 30)
#define FOLDERS_MAX 16 /* one below the other */

static bool ends_with(struct str name, const char *suffix)
{
	size_t n = strlen(suffix);

	return name.n >= n && str_eq_nocase((struct str){name.p + name.n - n, n}, str_of(suffix));
}

/* The name without .gz. */
static struct str unpacked_name(struct str name)
{
	return ends_with(name, ".gz") ? (struct str){name.p, name.n - 3} : name;
}

static bool is_described(const struct json *root)
{
	return template_is_in(root) || plan_is_in(root) || model_is_in(root) ||
	       tables_are_in(root) || onetable_is_in(root);
}

static enum code read_document(struct seed *seed, struct str text, size_t first_line,
			       const struct json *root, struct err *err)
{
	if (template_is_in(root))
		return template_read(seed, root, err);
	if (plan_is_in(root))
		return plan_read(seed, root, err);
	if (model_is_in(root))
		return model_read(seed, root, err);
	if (tables_are_in(root))
		return tables_read(seed, root, err);
	if (onetable_is_in(root))
		return onetable_read(seed, root, err);
	if (json_type(root) != JSON_OBJECT && json_type(root) != JSON_ARRAY)
		return err_set(err, MSG_SEED_UNKNOWN, seed_path(seed));
	return rows_read_document(seed, text, first_line, root, err);
}

/* Whether the first line is an object by itself and others follow. */
static bool is_lines(struct str text)
{
	struct str rest = text, line = str_cut(&rest, '\n');
	struct arena *arena = arena_new(0);
	struct err err = err_in(arena);
	const struct json *root;
	bool is_one = str_trim(rest).n > 0 && json_parse(arena, line, &root, &err) == OK &&
		      json_type(root) == JSON_OBJECT;

	arena_free(arena);
	return is_one;
}

/* The text begins at that line of the file. */
static enum code read_json(struct seed *seed, struct str text, size_t first_line, struct err *err)
{
	const struct json *root;

	if (is_lines(text))
		return rows_read_lines(seed, text, first_line, err);
	if (json_parse(seed_arena(seed), text, &root, err) == OK) {
		if (is_described(root)) {
			source_locate(seed_source(seed), root, text, seed_path(seed), first_line);
			document_note_names(seed_arena(seed), seed_source(seed), root);
		}
		return read_document(seed, text, first_line, root, err);
	}
	struct str first = text;
	bool has_lines = str_trim(str_cut(&first, '\n')).n > 1 && text.p[0] == '{';
	if (has_lines && first.n > 0)
		return rows_read_lines(seed, text, first_line, err);
	err_set(err, MSG_SEED_NOT_JSON);
	return seed_at(seed, document_json_line(seed_arena(seed), text, first_line), err);
}

static enum code read_yaml(struct seed *seed, struct str text, struct err *err)
{
	const struct json *root;

	if (document_parse_yaml(seed_arena(seed), seed_source(seed), seed_path(seed), text, &root,
				err) != OK)
		return err->code;
	return is_described(root) ? read_document(seed, text, 1, root, err)
				  : err_set(err, MSG_SEED_UNKNOWN, seed_path(seed));
}

/* Programs and languages with tools of their own, which print what is read here. */
static const struct { const char *end, *instead;
} refused_forms[] = {
	{".tf", "HCL is read by its own tool: terraform show -json of a plan or a state"},
	{".tfvars", "HCL is read by its own tool: terraform show -json of a plan or a state"},
	{".hcl", "HCL is read by its own tool: terraform show -json of a plan or a state"},
	{".graphql",
	 "the stacks that Amplify builds are read: amplify/backend/api/NAME/build/stacks/*.json"},
	{"serverless.ts", "a program: serverless print --format json shows what is read here"},
	{"serverless.js", "a program: serverless print --format json shows what is read here"},
	{".ts", "a program: cdk synth prints a template that is read here"},
	{".js", "a program: print its tables as JSON, as CreateTable takes them"},
	{".py", "a program: print its tables as JSON, as CreateTable takes them or DescribeTable "
		"shows them"},
	{".toml", "no tables; parameters are given by --parameter or --parameter-file"},
};

static enum code refuse_form(struct seed *seed, struct str name, struct err *err)
{
	for (size_t i = 0; i < sizeof(refused_forms) / sizeof(refused_forms[0]); i++) {
		if (ends_with(name, refused_forms[i].end))
			return err_set(err, MSG_SEED_UNREADABLE, seed_path(seed),
				       refused_forms[i].instead);
	}
	return err_set(err, MSG_SEED_UNKNOWN, seed_path(seed));
}

static bool is_ion(struct str name, struct str text)
{
	return ends_with(name, ".ion") || str_starts_with(text, STR("$ion_1_0")) ||
	       ion_binary_is(text);
}

/* A number or a word at the end of a file ends with it. */
static struct str with_line_end(struct arena *arena, struct str text)
{
	bool is_ended = ion_binary_is(text) || (text.n > 0 && text.p[text.n - 1] == '\n');

	return is_ended ? text : str_printf(arena, STR_FMT "\n", STR_ARG(text));
}

static enum code read_text(struct seed *seed, const struct seed_file *file, struct err *err)
{
	struct str name = unpacked_name(str_of(file->path)), text = document_text(file->text);
	size_t i = 0, line = 1;

	if (str_starts_with(text, STR("SQLite format 3")))
		return dynamodb_local_read(seed, file, err);
	if (is_ion(name, text))
		return rows_read_ion(seed, with_line_end(seed_arena(seed), text), err);
	if (ends_with(name, ".csv"))
		return rows_read_csv(seed, text, err);
	for (; i < text.n && strchr(" \t\r\n", text.p[i]); i++)
		line += text.p[i] == '\n';
	struct str inside = {text.p + i, text.n - i};
	if (inside.n > 0 && (inside.p[0] == '{' || inside.p[0] == '['))
		return read_json(seed, inside, line, err);
	if (ends_with(name, ".yaml") || ends_with(name, ".yml") || ends_with(name, ".template"))
		return read_yaml(seed, text, err);
	return refuse_form(seed, name, err);
}

/* AWS: the manifest-summary.json beside the folder "data" of an export has the table's ARN. */
static struct str exported_table(struct arena *arena, const char *path)
{
	const char *data = strstr(path, "/data/"), *next;
	struct err err = err_in(arena);
	const struct json *root, *arn = NULL;
	void *bytes;
	size_t size;

	while (data && (next = strstr(data + 1, "/data/")))
		data = next;
	if (!data ||
	    document_map(
		    str_printf(arena, "%.*s/manifest-summary.json", (int)(data - path), path).p,
		    &bytes, &size, &err) != OK)
		return STR_ABSENT;
	struct str text = str_copy(arena, (struct str){bytes, size});
	if (size > 0)
		munmap(bytes, size);
	if (json_parse(arena, text, &root, &err) == OK && json_type(root) == JSON_OBJECT)
		arn = json_member(root, "tableArn");
	struct str rest = arn && json_type(arn) == JSON_STRING ? json_string(arena, arn) : STR("");
	str_cut(&rest, '/');
	return rest.n > 0 ? str_cut(&rest, '/') : STR_ABSENT;
}

/* "Music" of "data/Music.csv.gz". */
static struct str table_of(struct arena *arena, const char *path)
{
	struct str exported = exported_table(arena, path);
	const char *slash = strrchr(path, '/');
	struct str rest = str_of(slash ? slash + 1 : path);

	if (str_is_set(exported))
		return exported;
	rest = unpacked_name(rest);
	size_t n = rest.n;
	while (n > 1 && rest.p[n - 1] != '.')
		n--;
	return n > 1 ? (struct str){rest.p, n - 1} : rest;
}

static enum code load_text(struct seed *seed, struct arena *arena, const char *path,
			   struct str text, struct err *err)
{
	struct seed_file file = {
		.path = path, .table = table_of(arena, path), .text = text, .read = read_text};

	if (ends_with(str_of(path), ".gz") &&
	    gzip_decode(arena, GZIP_GZIP, text, UNPACKED_MAX, &file.text) != GZIP_FINE) {
		err_set(err, MSG_SEED_GZIP);
		return err_set(err, MSG_SEED_AT, path, STR_ARG(err->message));
	}
	/* AWS: an export has a file for each partition, also for one without items */
	if (file.text.n == 0 && str_is_set(exported_table(arena, path)))
		return OK;
	return seed_load(seed, &file, err);
}

enum code file_load(struct seed *seed, const char *path, struct err *err)
{
	void *bytes;
	size_t size;
	enum code code = document_map(path, &bytes, &size, err);

	if (code != OK)
		return code;
	struct arena *arena = arena_new(0);
	code = load_text(seed, arena, path, (struct str){size > 0 ? bytes : "", size}, err);
	arena_free(arena);
	if (size > 0)
		munmap(bytes, size);
	return code;
}

struct list {
	struct arena *arena;
	const char **files;
	size_t n;
};

static bool is_manifest(const char *name)
{
	return str_starts_with(str_of(name), STR("manifest-summary.")) ||
	       str_starts_with(str_of(name), STR("manifest-files.")) ||
	       strcmp(name, "_started") == 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static enum code add_path(struct list *list, const char *path, unsigned depth, struct err *err);

static enum code add_folder(struct list *list, const char *path, unsigned depth, struct err *err)
{
	DIR *folder = opendir(path);
	const char **names = NULL;
	size_t n = 0;
	enum code code = OK;

	if (!folder)
		return err_set(err, MSG_SEED_UNREADABLE, path, strerror(errno));
	errno = 0;
	for (const struct dirent *entry; (entry = readdir(folder)); errno = 0) {
		if (entry->d_name[0] == '.' || is_manifest(entry->d_name))
			continue;
		names = arena_room(list->arena, names, n, sizeof(*names));
		names[n++] = str_printf(list->arena, "%s/%s", path, entry->d_name).p;
	}
	if (errno != 0)
		code = err_set(err, MSG_SEED_UNREADABLE, path, strerror(errno));
	closedir(folder);
	if (n > 0)
		qsort(names, n, sizeof(*names), by_name);
	for (size_t i = 0; i < n && code == OK; i++)
		code = add_path(list, names[i], depth + 1, err);
	return code;
}

static enum code add_path(struct list *list, const char *path, unsigned depth, struct err *err)
{
	struct stat status;

	if (stat(path, &status) != 0)
		return err_set(err, MSG_SEED_UNREADABLE, path, strerror(errno));
	if (S_ISDIR(status.st_mode))
		return depth < FOLDERS_MAX
			       ? add_folder(list, path, depth, err)
			       : err_set(err, MSG_SEED_UNREADABLE, path, "nested too deeply");
	list->files = arena_room(list->arena, list->files, list->n, sizeof(*list->files));
	list->files[list->n++] = path;
	return OK;
}

enum code file_list(struct arena *arena, const char *path, const char ***files, size_t *n,
		    struct err *err)
{
	struct list list = {.arena = arena};
	enum code code = add_path(&list, path, 0, err);

	*files = list.files;
	*n = list.n;
	return code;
}
