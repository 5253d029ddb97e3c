#include "protocol/throughput/throughput_settings.h"

#include "protocol/handler.h"
#include "protocol/throughput/messages.h"

#define SETTINGS_KEEP 4096
#define BURST_MAX 3600
#define LEFT_MAX 1000000000
#define FULL (-1)

struct reader {
	struct arena *arena; /* of the settings */
	struct throughput_settings *settings;
	struct throughput_scope *scope;
	bool has_mode;
	struct err *err;
};

struct throughput_settings throughput_settings_default(enum throughput_mode mode)
{
	return (struct throughput_settings){
		.all = {.table = STR_ABSENT,
			.mode = mode,
			.rules = {.burst_seconds = THROUGHPUT_BURST_SECONDS,
				  .is_adaptive = true,
				  .servers = 1}},
	};
}

static bool read_count(const struct json *json, int64_t least, int64_t most, int64_t *out)
{
	return json_type(json) == JSON_NUMBER && json_integer(json, out) && *out >= least &&
	       *out <= most;
}

/* Each reads one member. False: it is not what the member wants, unless reader->err says more. */
static bool read_mode(struct reader *reader, const struct json *json)
{
	struct str text =
		json_type(json) == JSON_STRING ? json_string(reader->arena, json) : STR("");

	reader->has_mode = true;
	reader->scope->mode = str_eq(text, STR("enforce")) ? THROUGHPUT_ENFORCE : THROUGHPUT_OFF;
	return reader->scope->mode == THROUGHPUT_ENFORCE || str_eq(text, STR("off"));
}

static bool read_burst(struct reader *reader, const struct json *json)
{
	return read_count(json, 0, BURST_MAX, &reader->scope->rules.burst_seconds);
}

static bool read_adaptive(struct reader *reader, const struct json *json)
{
	if (json_type(json) == JSON_BOOLEAN)
		reader->scope->rules.is_adaptive = json_boolean(json);
	return json_type(json) == JSON_BOOLEAN;
}

static bool read_servers(struct reader *reader, const struct json *json)
{
	return read_count(json, 1, THROUGHPUT_SERVERS_MAX, &reader->scope->rules.servers);
}

/* {"read": N, "write": N}, one of the two at least. */
static bool read_units(const struct json *json, struct throughput_left *left)
{
	static const char *const names[METER_SIDES] = {
		[METER_READ] = "read", [METER_WRITE] = "write"};
	size_t known = 0;

	if (json_type(json) != JSON_OBJECT)
		return false;
	for (enum meter_side side = 0; side < METER_SIDES; side++) {
		const struct json *units = json_member(json, names[side]);

		left->units[side] = FULL;
		if (units && !read_count(units, 0, LEFT_MAX, &left->units[side]))
			return false;
		known += units != NULL;
	}
	return known > 0 && known == json_count(json);
}

static bool add_left(struct reader *reader, struct str index, const struct json *json)
{
	struct throughput_scope *scope = reader->scope;
	struct throughput_left left = {.index = index};

	if (!read_units(json, &left))
		return false;
	scope->left =
		arena_room(reader->arena, scope->left, scope->left_count, sizeof(*scope->left));
	scope->left[scope->left_count++] = left;
	return true;
}

static bool read_left(struct reader *reader, const struct json *json)
{
	return add_left(reader, STR_ABSENT, json);
}

static bool read_index_scopes(struct reader *reader, const struct json *json)
{
	bool is_good = json_type(json) == JSON_OBJECT;

	for (const struct json *index = is_good ? json_first(json) : NULL; index && is_good;
	     index = json_next(index)) {
		struct str name = json_name(reader->arena, index);

		is_good = call_is_name(name) && add_left(reader, name, index);
	}
	return is_good;
}

static bool read_tables(struct reader *reader, const struct json *json);

static const struct setting {
	const char *name;
	bool is_of_all, is_of_table;
	bool (*read)(struct reader *reader, const struct json *json);
	const char *wants;
} members[] = {
	{"throughput", true, true, read_mode, THROUGHPUT_WANTS_MODE},
	{"burst_seconds", true, true, read_burst, THROUGHPUT_WANTS_BURST},
	{"adaptive", true, true, read_adaptive, THROUGHPUT_WANTS_BOOLEAN},
	{"servers", true, false, read_servers, THROUGHPUT_WANTS_SERVERS},
	{"tables", true, false, read_tables, THROUGHPUT_WANTS_TABLES},
	{"left", false, true, read_left, THROUGHPUT_WANTS_LEFT},
	{"indexes", false, true, read_index_scopes, THROUGHPUT_WANTS_INDEXES},
};

#define MEMBERS (sizeof(members) / sizeof(members[0]))

static enum code refuse_unknown(struct reader *reader, struct str name)
{
	struct str table = reader->scope->table;
	struct buf list = buf_in(reader->arena);
	bool is_table = str_is_set(table);

	for (size_t i = 0; i < MEMBERS; i++) {
		if (is_table ? members[i].is_of_table : members[i].is_of_all)
			buf_printf(&list, "%s%s", list.n ? ", " : "", members[i].name);
	}
	return err_set(reader->err, MSG_THROUGHPUT_UNKNOWN, STR_ARG(name),
		       is_table ? " of table " : "", STR_ARG(table), STR_ARG(buf_str(&list)));
}

static enum code read_scope(struct reader *reader, const struct json *json)
{
	struct str table = reader->scope->table;

	for (const struct json *child = json_first(json); child; child = json_next(child)) {
		struct str name = json_name(reader->arena, child);
		const struct setting *member = NULL;

		for (size_t i = 0; i < MEMBERS && !member; i++) {
			if (str_eq(name, str_of(members[i].name)) &&
			    (str_is_set(table) ? members[i].is_of_table : members[i].is_of_all))
				member = &members[i];
		}
		if (!member)
			return refuse_unknown(reader, name);
		bool is_good = member->read(reader, child);
		if (reader->err->code != OK)
			return reader->err->code;
		if (!is_good)
			return err_set(reader->err, MSG_THROUGHPUT_MEMBER, member->name,
				       str_is_set(table) ? " of table " : "", STR_ARG(table),
				       member->wants);
	}
	return OK;
}

/* After the other members of the namespace, whose rules are a table's where it has none. */
static enum code read_table_scopes(struct reader *reader, const struct json *json)
{
	struct throughput_settings *settings = reader->settings;
	enum code code = OK;

	settings->tables = ARENA_ARRAY(reader->arena, struct throughput_scope, json_count(json));
	for (const struct json *child = json_first(json); child && code == OK;
	     child = json_next(child)) {
		struct throughput_scope *scope = &settings->tables[settings->n++];

		*scope = (struct throughput_scope){.table = json_name(reader->arena, child),
						   .mode = THROUGHPUT_ENFORCE,
						   .rules = settings->all.rules};
		if (!call_is_name(scope->table))
			return err_set(reader->err, MSG_THROUGHPUT_TABLE, STR_ARG(scope->table));
		if (json_type(child) != JSON_OBJECT)
			return err_set(reader->err, MSG_THROUGHPUT_MEMBER, "tables", "",
				       STR_ARG(STR("")), THROUGHPUT_WANTS_TABLES);
		reader->scope = scope;
		code = read_scope(reader, child);
	}
	return code;
}

static bool read_tables(struct reader *reader, const struct json *json)
{
	reader->has_mode = true; /* in its tables */
	return json_type(json) == JSON_OBJECT;
}

static enum code read_all_scopes(struct reader *reader, struct str body)
{
	const struct json *root;
	struct err own = err_in(reader->arena);

	if (json_parse(reader->arena, body, &root, &own) != OK || json_type(root) != JSON_OBJECT)
		return err_set(reader->err, MSG_THROUGHPUT_BODY);
	enum code code = read_scope(reader, root);
	if (code != OK)
		return code;
	if (!reader->has_mode)
		return err_set(reader->err, MSG_THROUGHPUT_BODY);
	const struct json *tables = json_member(root, "tables");
	return tables ? read_table_scopes(reader, tables) : OK;
}

enum code throughput_settings_read(struct str body, enum throughput_mode mode,
				   struct throughput_settings *out, struct err *err)
{
	struct arena *arena = arena_new(SETTINGS_KEEP);
	struct err own = err_in(arena);

	struct throughput_settings settings = throughput_settings_default(mode);
	settings.arena = arena;
	struct reader reader = {
		.arena = arena, .settings = &settings, .scope = &settings.all, .err = &own};
	enum code code = read_all_scopes(&reader, body);
	if (code != OK) {
		err_copy(err, code, own.message);
		throughput_settings_free(&settings);
	}
	return RESULT(code, out, settings);
}

void throughput_settings_free(struct throughput_settings *settings)
{
	if (settings->arena)
		arena_free(settings->arena);
	settings->arena = NULL;
}

const struct throughput_scope *throughput_settings_of(const struct throughput_settings *settings,
						      struct str table)
{
	for (size_t i = 0; i < settings->n; i++) {
		if (str_eq(settings->tables[i].table, table))
			return &settings->tables[i];
	}
	return &settings->all;
}

const struct throughput_left *throughput_settings_left(const struct throughput_scope *scope,
						       struct str index)
{
	for (size_t i = 0; i < scope->left_count; i++) {
		if (str_is_set(index) == str_is_set(scope->left[i].index) &&
		    (!str_is_set(index) || str_eq(index, scope->left[i].index)))
			return &scope->left[i];
	}
	return NULL;
}

void throughput_settings_write(const struct throughput_scope *scope, struct json_out *out)
{
	json_out_field_string(out, "throughput",
			      scope->mode == THROUGHPUT_ENFORCE ? STR("enforce") : STR("off"));
	json_out_field_integer(out, "burst_seconds", scope->rules.burst_seconds);
	json_out_field_boolean(out, "adaptive", scope->rules.is_adaptive);
	if (!str_is_set(scope->table))
		json_out_field_integer(out, "servers", scope->rules.servers);
}
