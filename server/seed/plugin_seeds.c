#include "server/seed/plugin_seeds.h"

#include <sys/mman.h>

#include "server/seed/document.h"
#include "server/seed/json_text.h"
#include "server/seed/messages.h"
#include "server/seed/rows.h"

struct putting {
	struct seed *seed;
	struct intrinsics *in;
	struct source *source;
	size_t entries;
};

/* Node.js: JSON of a Buffer, which the plugins make bytes of. */
static bool has_buffer(struct arena *arena, const struct json *item)
{
	for (const struct json *at = json_type(item) == JSON_OBJECT ? json_first(item) : NULL; at;
	     at = json_next(at)) {
		struct str type = json_text_string(arena, at, "type");

		if (str_is_set(type) && str_eq(type, STR("Buffer")) &&
		    json_text_get(at, "data", JSON_ARRAY))
			return true;
	}
	return false;
}

static enum code read_items(struct seed *seed, const struct seed_file *file, struct err *err)
{
	struct arena *arena = seed_arena(seed);
	struct str text = document_text(file->text);
	const struct json *root;

	if (json_parse(arena, text, &root, err) != OK) {
		err_set(err, MSG_SEED_NOT_JSON);
		return seed_at(seed, 0, err);
	}
	bool is_array = json_type(root) == JSON_ARRAY;
	for (const struct json *at = is_array ? json_first(root) : root; at;
	     at = is_array ? json_next(at) : NULL) {
		if (has_buffer(arena, at))
			seed_refuse(seed, (struct origin){file->path, 0}, STR(""),
				    STR("a Buffer of Node.js: {\"B\": \"...\"} is read"));
	}
	return rows_read_document(seed, text, 1, root, err);
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
	if (!str_is_set(table)) {
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
	const struct seed_options *options = seed_options(putting->seed);
	const struct json *start = json_text_get(plugin, "start", JSON_OBJECT);

	for (size_t i = 0; i < options->parameter_count; i++) {
		if (str_eq(options->parameters[i].name, STR("seed")))
			return options->parameters[i].value;
	}
	return json_text_string(putting->in->arena, start, "seed");
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

/* serverless-dynamodb-seed. Others may have something else of that name. */
static enum code put_named(struct putting *putting, const struct json *seeds, struct err *err)
{
	enum code code = OK;

	source_use(putting->source, seeds);
	for (const struct json *at = json_first(seeds); at && code == OK; at = json_next(at)) {
		struct str name = json_name(putting->in->arena, at);

		if (json_text_get(at, "table", JSON_STRING) && json_member(at, "sources"))
			code = put_entry(putting, at, err);
		else if (!str_eq(name, STR("dynamodb")) || json_type(at) != JSON_OBJECT)
			source_use_all(putting->source, at);
	}
	return code;
}

enum place { PLACE_CATEGORIES, PLACE_NAMED, PLACE_LIST };

static enum code put_place(struct putting *putting, enum place place, const struct json *plugin,
			   const struct json *seeds, struct err *err)
{
	if (place == PLACE_LIST)
		return put_entries(putting, seeds, err);
	if (json_type(seeds) != JSON_OBJECT) {
		source_use_all(putting->source, seeds);
		return OK;
	}
	return place == PLACE_NAMED ? put_named(putting, seeds, err)
				    : put_categories(putting, plugin, seeds, err);
}

/* "custom" or a part of it. What is no map here, such as a program's, is named where it may have
 * seeds. */
static const struct json *open_map(struct putting *putting, const struct json *value,
				   const char *name)
{
	struct intrinsics *in = putting->in;
	const struct json *opened = value ? intrinsics_peel(in, value) : NULL;

	if (value && !opened) {
		seed_warn(putting->seed, source_origin(putting->source, value), str_of(name),
			  str_printf(in->arena, "seeds of plugins in it are not put: " STR_FMT,
				     STR_ARG(in->problem)));
		in->problem = STR_ABSENT;
	}
	return opened && json_type(opened) == JSON_OBJECT ? opened : NULL;
}

enum code plugin_seeds_put(struct seed *seed, struct intrinsics *in, size_t *entries,
			   struct err *err)
{
	static const struct {
		const char *plugin, *member, *path;
		enum place place;
	} places[] = {
		{"dynamodb", "seed", "custom.dynamodb.seed", PLACE_CATEGORIES},
		{"serverless-dynamodb", "seed", "custom.serverless-dynamodb.seed",
		 PLACE_CATEGORIES},
		{NULL, "seed", "custom.seed", PLACE_NAMED},
		{"fixtures", "rules", "custom.fixtures.rules", PLACE_LIST},
		{"dynalite", "seed", "custom.dynalite.seed", PLACE_LIST},
	};
	struct putting putting = {.seed = seed, .in = in, .source = in->source};
	const struct json *custom = open_map(&putting, json_member(in->root, "custom"), "custom");
	enum code code = OK;

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]) && code == OK && custom; i++) {
		const char *name = places[i].plugin;
		const struct json *plugin =
			name ? open_map(&putting, json_member(custom, name), name) : custom;
		const struct json *member = plugin ? json_member(plugin, places[i].member) : NULL;
		const struct json *seeds = member ? intrinsics_resolve(in, member) : NULL;

		if (!seeds)
			continue;
		code = put_place(&putting, places[i].place, plugin, seeds, err);
		seed_refuse_unused(seed, seeds, str_of(places[i].path));
	}
	return RESULT(code, entries, putting.entries);
}
