#include "server/importers/plugin_seeds.h"

#include <string.h>
#include <sys/mman.h>

#include "server/importers/rows.h"
#include "server/seed/document.h"
#include "server/seed/json_text.h"
#include "server/seed/messages.h"

struct putting {
	struct seed *seed;
	struct intrinsics *in;
	struct source *source;
	size_t entries;
};

static enum code read_items(struct seed *seed, const struct seed_file *file, struct err *err)
{
	struct arena *arena = seed_arena(seed);
	struct str text = document_text(file->text);
	size_t first_line = file->first_line > 0 ? file->first_line : 1;
	const struct json *root;

	if (json_parse(arena, text, &root, err) != OK) {
		err_set(err, MSG_SEED_NOT_JSON);
		return seed_at(seed, document_json_line(arena, text, first_line), err);
	}
	return rows_read_document(seed, text, first_line, root, err);
}

static enum code put_file(struct putting *putting, struct str table, const struct json *name,
			  struct err *err)
{
	struct arena *arena = putting->in->arena;
	void *bytes;
	size_t size;

	source_use(putting->source, name);
	if (json_type(name) != JSON_STRING)
		return err_set(err, MSG_SEED_SEEDS);
	const char *path =
		document_beside(arena, seed_path(putting->seed), json_string(arena, name));
	enum code code = document_map(path, &bytes, &size, err);
	if (code != OK)
		return code;
	struct seed_file file = {.path = path,
				 .table = table,
				 .text = str_copy(arena, (struct str){size > 0 ? bytes : "", size}),
				 .read = read_items};
	if (size > 0)
		munmap(bytes, size);
	return seed_read_within(putting->seed, &file, err);
}

/* Of a list of files, or of one. */
static enum code put_files(struct putting *putting, struct str table, const struct json *entry,
			   const char *member, struct err *err)
{
	const struct json *files = source_member(putting->source, entry, member);
	bool is_list = files && json_type(files) == JSON_ARRAY;
	enum code code = OK;

	for (const struct json *at = is_list ? json_first(files) : files; at && code == OK;
	     at = is_list ? json_next(at) : NULL)
		code = put_file(putting, table, at, err);
	return code == OK
		       ? OK
		       : seed_at_origin(putting->seed, source_origin(putting->source, files), err);
}

static enum code put_entry(struct putting *putting, const struct json *entry, struct err *err)
{
	static const char *const members[] = {"sources", "rawsources", "source"};
	struct str table = source_string(putting->source, putting->in->arena, entry, "table");
	enum code code = OK;

	source_use(putting->source, entry);
	source_pass_over(putting->source, entry, "enable"); /* when the plugin runs */
	putting->entries++;
	size_t n = 0;
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		n += json_type(entry) == JSON_OBJECT && json_member(entry, members[i]);
	if (!str_is_set(table) || n == 0) {
		err_set(err, MSG_SEED_SEEDS);
		return seed_at_origin(putting->seed, source_origin(putting->source, entry), err);
	}
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]) && code == OK; i++)
		code = put_files(putting, table, entry, members[i], err);
	return code;
}

static enum code put_entries(struct putting *putting, const struct json *list, struct err *err)
{
	enum code code = OK;

	source_use(putting->source, list);
	for (const struct json *at = list ? json_first(list) : NULL; at && code == OK;
	     at = json_next(at))
		code = put_entry(putting, at, err);
	return code;
}

/* Whether the list "a,b" has that name; all do where there is none. */
static bool is_chosen(struct str list, struct str name)
{
	while (list.n > 0) {
		if (str_eq(str_trim(str_cut(&list, ',')), name))
			return true;
	}
	return !str_is_set(list);
}

/* --parameter seed=a,b as the plugin's --seed; else start.seed. */
static struct str chosen(struct putting *putting, const struct json *plugin)
{
	struct str given = intrinsics_given(putting->in, STR("seed"));
	const struct json *start = json_text_get(plugin, "start", JSON_OBJECT);

	return str_is_set(given) ? given : json_text_string(putting->in->arena, start, "seed");
}

static enum code put_categories(struct putting *putting, const struct json *plugin,
				const struct json *seeds, struct err *err)
{
	struct str names = chosen(putting, plugin);
	enum code code = OK;

	source_use(putting->source, seeds);
	for (const struct json *at = json_first(seeds); at && code == OK; at = json_next(at)) {
		struct str name = json_name(putting->in->arena, at);

		if (is_chosen(names, name)) {
			source_use(putting->source, at);
			code = put_entries(putting,
					   source_get(putting->source, at, "sources", JSON_ARRAY),
					   err);
			continue;
		}
		source_use_all(putting->source, at);
		seed_warn(putting->seed, source_origin(putting->source, at), name,
			  STR("the category is not chosen: its seeds are not put"));
	}
	return code;
}

/* "custom" or a part of it. What is no map here, such as a program's, is named where it may have
 * seeds. */
static const struct json *open_map(struct putting *putting, const struct json *value,
				   struct str name)
{
	struct intrinsics *in = putting->in;
	const struct json *opened = value ? intrinsics_peel(in, value) : NULL;

	if (value && !opened) {
		seed_warn(putting->seed, source_origin(putting->source, value), name,
			  str_printf(in->arena, "seeds of plugins in it are not put: " STR_FMT,
				     STR_ARG(in->problem)));
		in->problem = STR_ABSENT;
	}
	return opened && json_type(opened) == JSON_OBJECT ? opened : NULL;
}

/* An item as it stands in the document. */
static enum code put_inline(struct putting *putting, struct str table, const struct json *item,
			    struct err *err)
{
	struct origin origin = source_origin(putting->source, item);
	struct json_out out = json_out_in(putting->in->arena);

	source_use_all(putting->source, item);
	json_out_open(&out, '[');
	json_text_write(&out, putting->in->arena, item);
	json_out_close(&out, ']');
	struct seed_file file = {.path = origin.path ? origin.path : seed_path(putting->seed),
				 .table = table,
				 .text = json_out_str(&out),
				 .first_line = origin.line,
				 .read = read_items};
	return seed_read_within(putting->seed, &file, err);
}

/* Variables make texts of booleans. */
static bool is_off(struct arena *arena, const struct json *value)
{
	return json_type(value) == JSON_STRING
		       ? str_eq_nocase(json_string(arena, value), STR("false"))
		       : json_type(value) == JSON_BOOLEAN && !json_boolean(value);
}

/* What the plugin does to a table before it puts items. */
static void judge_preparation(struct putting *putting, const struct json *seeds, struct str path)
{
	static const struct {
		const char *member, *reason;
		bool is_refused;
	} steps[] = {
		{"clone", "items of another table are not copied", true},
		{"truncate", "items that are there stay, unless these have their keys", false},
		{"emptyOnly", "items are put whether or not the table has some", false},
	};

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		const struct json *step = source_member(putting->source, seeds, steps[i].member);
		struct origin origin = source_origin(putting->source, step);
		struct str name = str_printf(putting->in->arena, STR_FMT ".%s", STR_ARG(path),
					     steps[i].member);

		if (!step || is_off(putting->in->arena, step))
			continue;
		source_use_all(putting->source, step);
		if (steps[i].is_refused)
			seed_refuse(putting->seed, origin, name, str_of(steps[i].reason));
		else
			seed_warn(putting->seed, origin, name, str_of(steps[i].reason));
	}
}

/* serverless-seed-plugin: items, or a map that has them in data. */
static enum code put_data(struct putting *putting, struct str table, const struct json *seeds,
			  struct str path, struct err *err)
{
	bool is_list = json_type(seeds) == JSON_ARRAY;
	const struct json *data =
		is_list ? seeds : source_get(putting->source, seeds, "data", JSON_ARRAY);

	source_use(putting->source, seeds);
	putting->entries++;
	if (!is_list)
		judge_preparation(putting, seeds, path);
	if (!str_is_set(table) || (!data && !json_text_get(seeds, "clone", JSON_OBJECT))) {
		err_set(err, MSG_SEED_SEEDS);
		return seed_at_origin(putting->seed, source_origin(putting->source, seeds), err);
	}
	for (const struct json *at = data ? json_first(data) : NULL; at; at = json_next(at)) {
		enum code code = put_inline(putting, table, at, err);

		if (code != OK)
			return code;
	}
	return OK;
}

/* custom.seed.dynamodb: by logical ids of tables, or a list of maps with table and data. */
static enum code put_tables(struct putting *putting, const struct json *tables, struct err *err)
{
	struct arena *arena = putting->in->arena;
	bool is_list = json_type(tables) == JSON_ARRAY;

	source_use(putting->source, tables);
	for (const struct json *at = json_first(tables); at; at = json_next(at)) {
		struct str id = is_list ? source_string(putting->source, arena, at, "table")
					: json_name(arena, at);
		struct str name = is_list ? id : intrinsics_resource_name(putting->in, id);
		struct str path = str_printf(arena, "custom.seed.dynamodb." STR_FMT, STR_ARG(id));
		enum code code = put_data(putting, str_is_set(name) ? name : id, at, path, err);

		if (code != OK)
			return code;
	}
	return OK;
}

/* custom.seed: of serverless-dynamodb-seed, and of serverless-seed-plugin, which fills other
 * services too. Others may have something else of that name. */
static enum code put_named(struct putting *putting, const struct json *seeds, struct err *err)
{
	struct intrinsics *in = putting->in;

	for (const struct json *at = json_first(seeds); at; at = json_next(at)) {
		struct str name = json_name(in->arena, at);
		bool is_ours = str_eq(name, STR("dynamodb"));
		const struct json *peeled = is_ours ? NULL : open_map(putting, at, name);

		if (!is_ours && !(json_text_get(peeled, "table", JSON_STRING) &&
				  json_member(peeled, "sources")))
			continue;
		const struct json *entry = intrinsics_resolve(in, at);
		if (!entry)
			return OK; /* the caller names the problem */
		enum code code =
			is_ours ? put_tables(putting, entry, err) : put_entry(putting, entry, err);
		if (code != OK)
			return code;
		seed_refuse_unused(putting->seed, entry,
				   str_printf(in->arena, "custom.seed." STR_FMT, STR_ARG(name)));
	}
	return OK;
}

static enum code put_place(struct putting *putting, bool has_categories, const struct json *plugin,
			   const struct json *seeds, struct err *err)
{
	if (!has_categories || json_type(seeds) == JSON_ARRAY)
		return put_entries(putting, seeds, err);
	if (json_type(seeds) == JSON_OBJECT)
		return put_categories(putting, plugin, seeds, err);
	if (json_type(seeds) == JSON_BOOLEAN || json_type(seeds) == JSON_NULL)
		source_use(putting->source, seeds);
	return OK;
}

static void warn_of_plugin(const struct putting *putting, const struct json *member,
			   const char *path, const char *why)
{
	struct arena *arena = putting->in->arena;

	seed_warn(putting->seed, source_origin(putting->source, member),
		  str_printf(arena, "%.*s" STR_FMT, (int)(strrchr(path, '.') + 1 - path), path,
			     STR_ARG(json_name(arena, member))),
		  str_of(why));
}

/* What plugins do to tables beside seeds. `path`: of the plugin's seeds. */
static void judge_plugin(const struct putting *putting, const struct json *plugin, const char *path)
{
	static const char *const known[] = {"seed", "start", "stages", "server", "client"};

	for (const struct json *at = json_first(plugin); at; at = json_next(at)) {
		struct str name = json_name(putting->in->arena, at);

		if (str_eq(name, STR("migration"))) {
			if (json_type(at) == JSON_OBJECT)
				warn_of_plugin(putting, at, path,
					       "its files are not read; apply reads them by "
					       "their names");
			continue;
		}
		if (!JSON_TEXT_IS_AMONG(name, known))
			warn_of_plugin(putting, at, path, "not known here");
	}
}

static void judge_capacities(struct putting *putting, const struct json *custom)
{
	const struct json *capacities = json_member(custom, "capacities");

	if (capacities)
		seed_warn(putting->seed, source_origin(putting->source, capacities),
			  STR("custom.capacities"),
			  STR("not carried out; capacity stays as the table has it"));
}

enum code plugin_seeds_put(struct seed *seed, struct intrinsics *in, size_t *entries,
			   struct err *err)
{
	static const struct {
		const char *plugin, *member, *path;
		bool has_categories;
	} places[] = {
		{"dynamodb", "seed", "custom.dynamodb.seed", true},
		{"serverless-dynamodb", "seed", "custom.serverless-dynamodb.seed", true},
		{"fixtures", "rules", "custom.fixtures.rules", false},
		{"dynalite", "seed", "custom.dynalite.seed", false},
	};
	struct putting putting = {.seed = seed, .in = in, .source = in->source};
	const struct json *custom =
		open_map(&putting, json_member(in->root, "custom"), STR("custom"));

	if (custom)
		judge_capacities(&putting, custom);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]) && custom; i++) {
		const char *name = places[i].plugin;
		const struct json *plugin =
			open_map(&putting, json_member(custom, name), str_of(name));
		if (places[i].has_categories && plugin)
			judge_plugin(&putting, plugin, places[i].path);
		const struct json *member = plugin ? json_member(plugin, places[i].member) : NULL;
		const struct json *seeds = member ? intrinsics_resolve(in, member) : NULL;

		if (!seeds)
			continue;
		enum code code = put_place(&putting, places[i].has_categories, plugin, seeds, err);
		if (code != OK)
			return code;
		seed_refuse_unused(seed, seeds, str_of(places[i].path));
	}
	const struct json *named =
		custom ? open_map(&putting, json_member(custom, "seed"), STR("custom.seed")) : NULL;
	enum code code = named ? put_named(&putting, named, err) : OK;
	return RESULT(code, entries, putting.entries);
}
