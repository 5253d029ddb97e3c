#include "server/forecast/plan.h"

#include <math.h>
#include <string.h>

#include "server/forecast/messages.h"
#include "server/seed/json_text.h"

#define KEYS_COUNT_MAX 100000000
#define HOURS_MAX ((size_t)PLAN_DAYS_MAX * PLAN_HOURS)
#define ATTEMPTS_MAX 10
#define UNITS_MAX 1e7
#define RATE_MAX 1e7

/* One entry of the file, for messages. */
struct place {
	struct arena *arena;
	const char *path, *what;
	size_t number;
	struct err *err;
};

static enum code plan_refuse(const struct place *place, const char *why)
{
	return err_set(place->err, MSG_FORECAST_PLACE, place->path, place->what, place->number,
		       why);
}

/* Members have to be known: a slip in a name would forecast something else. */
static enum code plan_check_members(const struct place *place, const struct json *object,
				    const char *const *known)
{
	if (json_type(object) != JSON_OBJECT)
		return plan_refuse(place, "no JSON object");
	for (const struct json *m = json_first(object); m; m = json_next(m)) {
		struct str name = json_name(place->arena, m);
		size_t i = 0;

		while (known[i] && !str_eq(name, str_of(known[i])))
			i++;
		if (!known[i])
			return err_set(place->err, MSG_FORECAST_MEMBER, place->path, place->what,
				       place->number, STR_ARG(name));
	}
	return OK;
}

/* The member's number, or what `out` has already. False: it is there and out of its range. */
static bool plan_take_number(const struct json *object, const char *name, double least, double most,
			     double *out)
{
	const struct json *member = json_member(object, name);

	if (!member)
		return true;
	if (json_type(member) != JSON_NUMBER || !(json_number(member) >= least) ||
	    !(json_number(member) <= most))
		return false;
	*out = json_number(member);
	return true;
}

static bool take_integer(const struct json *object, const char *name, int64_t least, int64_t most,
			 int64_t *out)
{
	const struct json *member = json_member(object, name);

	return !member || (json_type(member) == JSON_NUMBER && json_integer(member, out) &&
			   *out >= least && *out <= most);
}

static bool take_boolean(const struct json *object, const char *name, bool *out)
{
	const struct json *member = json_member(object, name);

	if (!member)
		return true;
	if (json_type(member) != JSON_BOOLEAN)
		return false;
	*out = json_boolean(member);
	return true;
}

static enum code read_scaling(const struct place *place, const struct json *part, const char *name,
			      struct follow_rule *scaling, int64_t *rate)
{
	static const char *const known[] = {"target", "min", "max", NULL};
	const struct json *object = json_member(part, name);
	double target = 70;

	if (!object)
		return OK;
	enum code code = plan_check_members(place, object, known);
	if (code != OK)
		return code;
	scaling->least = 1;
	if (!plan_take_number(object, "target", 10, 90, &target))
		return plan_refuse(place, "\"target\" is a percentage from 10 to 90");
	if (!take_integer(object, "min", 1, (int64_t)UNITS_MAX, &scaling->least) ||
	    !take_integer(object, "max", 1, (int64_t)UNITS_MAX, &scaling->most) ||
	    scaling->most < scaling->least)
		return plan_refuse(place, "auto scaling wants \"min\" and \"max\", units");
	scaling->target = target;
	*rate = *rate > scaling->least ? *rate : scaling->least;
	return OK;
}

/* What a table and an index have alike. */
static enum code plan_read_part(const struct place *place, const struct json *object,
				bool is_on_demand, struct plan_part *part)
{
	static const char *const names[METER_SIDES][4] = {
		[METER_READ] = {"read", "scale_read", "max_read", "warm_read"},
		[METER_WRITE] = {"write", "scale_write", "max_write", "warm_write"},
	};
	static const int64_t warm_least[METER_SIDES] = {12000, 4000};

	for (enum meter_side side = 0; side < METER_SIDES; side++) {
		part->warm[side] = is_on_demand ? warm_least[side] : 0;
		if (!take_integer(object, names[side][0], 1, (int64_t)UNITS_MAX,
				  &part->rate[side]) ||
		    !take_integer(object, names[side][2], 1, (int64_t)UNITS_MAX,
				  &part->most[side]) ||
		    !take_integer(object, names[side][3], 1, (int64_t)UNITS_MAX, &part->warm[side]))
			return plan_refuse(place, "its units are integers from 1 to 10,000,000");
		if (is_on_demand && (part->rate[side] || json_member(object, names[side][1])))
			return plan_refuse(place, "read, write and their scaling are for "
						  "\"billing\": \"PROVISIONED\"");
		enum code code = read_scaling(place, object, names[side][1], &part->scaling[side],
					      &part->rate[side]);
		if (code != OK)
			return code;
		if (!is_on_demand && part->rate[side] == 0)
			return plan_refuse(place, "a provisioned table or index wants \"read\" and "
						  "\"write\", units per second");
		if (!is_on_demand && part->most[side])
			return plan_refuse(place, "max_read and max_write are for on demand");
	}
	if (!plan_take_number(object, "storage_gb", 0, 1e7, &part->gigabytes))
		return plan_refuse(place, "\"storage_gb\" is a number of gigabytes");
	return OK;
}

static enum code read_indexes(const struct place *place, const struct json *list,
			      struct plan_table *table)
{
	static const char *const known[] = {"name",       "read",        "write",      "max_read",
					    "max_write",  "warm_read",   "warm_write", "storage_gb",
					    "scale_read", "scale_write", NULL};

	if (list && json_type(list) != JSON_ARRAY)
		return plan_refuse(place, "\"indexes\" is a list");
	for (const struct json *one = list ? json_first(list) : NULL; one; one = json_next(one)) {
		if (table->n == PLAN_PARTS_MAX)
			return plan_refuse(place, "it has more than 20 indexes");
		struct plan_part *part = &table->parts[table->n++];
		enum code code = plan_check_members(place, one, known);
		if (code != OK)
			return code;
		part->name = json_text_string(place->arena, one, "name");
		if (!str_is_set(part->name) || part->name.n == 0)
			return plan_refuse(place, "an index wants a \"name\"");
		code = plan_read_part(place, one, table->is_on_demand, part);
		if (code != OK)
			return code;
	}
	return OK;
}

/* What is billed beside requests and stored bytes. */
static enum code plan_read_extras(const struct place *place, const struct json *object,
				  struct plan_table *table)
{
	const struct {
		const char *name;
		double *at;
	} gigabytes[] = {
		{"backup_gb", &table->backup_gigabytes},
		{"restore_gb", &table->restore_gigabytes},
		{"export_gb", &table->export_gigabytes},
		{"import_gb", &table->import_gigabytes},
	};

	for (size_t i = 0; i < sizeof(gigabytes) / sizeof(gigabytes[0]); i++) {
		if (!plan_take_number(object, gigabytes[i].name, 0, 1e7, gigabytes[i].at))
			return plan_refuse(place,
					   "\"backup_gb\", \"restore_gb\", \"export_gb\" and "
					   "\"import_gb\" are gigabytes of a month");
	}
	if (!take_boolean(object, "recovery", &table->has_recovery) ||
	    !take_boolean(object, "kinesis", &table->has_kinesis) ||
	    !take_integer(object, "replicas", 0, 40, &table->replicas) ||
	    !plan_take_number(object, "stream_reads", 0, 1e6, &table->stream_reads))
		return plan_refuse(place, "\"recovery\" and \"kinesis\" are true or false, "
					  "\"replicas\" a count, \"stream_reads\" reads a "
					  "second");
	return OK;
}

static enum code plan_read_table(const struct place *place, const struct json *object,
				 struct plan_table *table)
{
	static const char *const known[] = {
		"name",      "billing",      "read",       "write",       "max_read",   "max_write",
		"warm_read", "warm_write",   "scale_read", "scale_write", "storage_gb", "indexes",
		"recovery",  "replicas",     "class",      "backup_gb",   "restore_gb", "export_gb",
		"import_gb", "stream_reads", "kinesis",    NULL};
	enum code code = plan_check_members(place, object, known);

	if (code != OK)
		return code;
	struct str billing = json_text_string(place->arena, object, "billing"),
		   class = json_text_string(place->arena, object, "class");

	*table =
		(struct plan_table){.name = json_text_string(place->arena, object, "name"), .n = 1};
	if (!str_is_set(table->name) || table->name.n == 0)
		return plan_refuse(place, "it wants a \"name\"");
	table->is_on_demand = str_eq(billing, STR("PAY_PER_REQUEST"));
	if (!table->is_on_demand && !str_eq(billing, STR("PROVISIONED")))
		return plan_refuse(place, "\"billing\" is PROVISIONED or PAY_PER_REQUEST");
	table->is_infrequent = str_eq(class, STR("STANDARD_INFREQUENT_ACCESS"));
	if (str_is_set(class) && !table->is_infrequent && !str_eq(class, STR("STANDARD")))
		return plan_refuse(place, "\"class\" is STANDARD or STANDARD_INFREQUENT_ACCESS");
	code = plan_read_extras(place, object, table);
	if (code != OK)
		return code;
	table->parts[0].name = STR("");
	code = plan_read_part(place, object, table->is_on_demand, &table->parts[0]);
	return code != OK ? code : read_indexes(place, json_member(object, "indexes"), table);
}

size_t plan_table_at(const struct plan *plan, struct str name)
{
	size_t i = 0;

	while (i < plan->table_count && !str_eq(plan->tables[i].name, name))
		i++;
	return i;
}

enum code plan_read_tables(struct arena *arena, const char *path, const struct json *root,
			   struct plan *plan, struct err *err)
{
	const struct json *list = json_text_get(root, "tables", JSON_ARRAY);
	struct place place = {arena, path, "table", 0, err};

	if (!list)
		return err_set(err, MSG_FORECAST_INPUT, path);
	for (const struct json *one = json_first(list); one; one = json_next(one)) {
		struct plan_table table;

		place.number++;
		enum code code = plan_read_table(&place, one, &table);
		if (code != OK)
			return code;
		if (plan_table_at(plan, table.name) < plan->table_count)
			return plan_refuse(&place, "another table has its name");
		plan->tables = arena_room(arena, plan->tables, plan->table_count, sizeof(table));
		plan->tables[plan->table_count++] = table;
	}
	return OK;
}

double plan_units(enum meter_side side, int64_t bytes, bool is_strong, bool is_transaction)
{
	int64_t step = side == METER_READ ? 4096 : 1024;
	double n = bytes <= step ? 1 : (double)((bytes + step - 1) / step);

	if (is_transaction)
		return 2 * n;
	return side == METER_READ && !is_strong ? n / 2 : n;
}

static enum code plan_read_values(const struct place *place, const struct json *object,
				  struct plan_keys *keys)
{
	double sum = 0;

	if (json_type(object) != JSON_OBJECT || !json_first(object))
		return plan_refuse(place, "\"values\" is an object: the share of each key");
	keys->spread = SPREAD_VALUES;
	keys->names = ARENA_ARRAY(place->arena, struct str, json_count(object));
	keys->shares = ARENA_ARRAY(place->arena, double, json_count(object));
	for (const struct json *one = json_first(object); one; one = json_next(one)) {
		if (json_type(one) != JSON_NUMBER || !(json_number(one) > 0))
			return plan_refuse(place, "a share in \"values\" is a number from 0 to 1");
		keys->names[keys->n] = json_name(place->arena, one);
		keys->shares[keys->n++] = json_number(one);
		sum += json_number(one);
	}
	return sum <= 1.000001 ? OK : plan_refuse(place, "the shares in \"values\" exceed 1");
}

static enum code read_keys(const struct place *place, const struct json *object,
			   struct plan_keys *keys)
{
	static const char *const known[] = {"spread",      "count",  "exponent", "share",
					    "every_hours", "values", NULL};
	static const char *const spreads[] = {"uniform", "zipf", "hot", "time"};
	size_t i = 0;

	*keys = (struct plan_keys){
		.count = 1000000, .exponent = 1, .share = 0.8, .period_hours = PLAN_HOURS};
	if (!object)
		return OK;
	enum code code = plan_check_members(place, object, known);
	if (code != OK)
		return code;
	if (json_member(object, "values"))
		return plan_read_values(place, json_member(object, "values"), keys);
	struct str spread = json_text_string(place->arena, object, "spread");
	while (i < 4 && !str_eq(spread, str_of(spreads[i])))
		i++;
	if (i == 4)
		return plan_refuse(place, "\"spread\" of keys is uniform, zipf, hot or time");
	keys->spread = (enum plan_spread)i;
	keys->count = keys->spread == SPREAD_HOT ? 1 : keys->count;
	if (!take_integer(object, "count", 1, KEYS_COUNT_MAX, &keys->count) ||
	    !plan_take_number(object, "exponent", 0, 10, &keys->exponent) ||
	    !plan_take_number(object, "share", 0, 1, &keys->share) ||
	    !take_integer(object, "every_hours", 1, 24 * 366, &keys->period_hours))
		return plan_refuse(place, "of its keys, \"count\" is an integer to 100,000,000, "
					  "\"exponent\" a number to 10, \"share\" one to 1, "
					  "\"every_hours\" an integer");
	return OK;
}

/* A rate, or one for each hour; the list repeats. */
static enum code read_rates(const struct place *place, const struct json *rates,
			    struct plan_pattern *pattern)
{
	const char *why =
		"\"rate\" is requests per second: a number, or a list of 24 for the hours "
		"of a day (or of as many days as it has)";

	if (!rates || (json_type(rates) != JSON_NUMBER && json_type(rates) != JSON_ARRAY))
		return plan_refuse(place, why);
	bool is_list = json_type(rates) == JSON_ARRAY;
	pattern->hours = is_list ? json_count(rates) : 1;
	if (is_list &&
	    (pattern->hours == 0 || pattern->hours % PLAN_HOURS != 0 || pattern->hours > HOURS_MAX))
		return plan_refuse(place, why);
	pattern->rates = ARENA_ARRAY(place->arena, double, pattern->hours);
	const struct json *one = is_list ? json_first(rates) : rates;
	for (size_t i = 0; i < pattern->hours; i++) {
		if (json_type(one) != JSON_NUMBER || !(json_number(one) >= 0) ||
		    !(json_number(one) <= RATE_MAX))
			return plan_refuse(place, why);
		pattern->rates[i] = json_number(one);
		one = is_list ? json_next(one) : one;
	}
	return OK;
}

static enum code plan_read_units(const struct place *place, const struct json *object,
				 struct plan_pattern *pattern, struct plan_demand *demand)
{
	int64_t bytes = 0;

	demand->units = 0;
	if (!plan_take_number(object, "units", 0.001, UNITS_MAX, &demand->units) ||
	    !take_integer(object, "bytes", 1, 16 << 20, &bytes) ||
	    (demand->units > 0) == (bytes > 0))
		return plan_refuse(place,
				   "it wants \"units\" of a request, or the \"bytes\" that it "
				   "reads or writes");
	if (bytes > 0)
		demand->units = plan_units(pattern->side, bytes, pattern->is_strong,
					   pattern->is_transaction);
	if (demand->part == 0)
		pattern->bytes = bytes;
	return read_keys(place, json_member(object, "keys"), &demand->keys);
}

static enum code read_part_demand(const struct place *place, const struct json *object,
				  const struct plan_table *table, struct plan_pattern *pattern)
{
	static const char *const known[] = {"name", "units", "bytes", "keys", NULL};
	enum code code = plan_check_members(place, object, known);

	if (code != OK)
		return code;
	struct str name = json_text_string(place->arena, object, "name");
	struct plan_demand *demand = &pattern->demands[pattern->n];

	demand->part = 1;
	while (demand->part < table->n && !str_eq(table->parts[demand->part].name, name))
		demand->part++;
	if (demand->part == table->n || pattern->n == PLAN_PARTS_MAX)
		return plan_refuse(place, "its table has no index of that name");
	pattern->n++;
	return plan_read_units(place, object, pattern, demand);
}

/* A write takes of the table and of each index in "indexes"; a read of the table or of "index". */
static enum code read_demands(const struct place *place, const struct json *object,
			      const struct plan_table *table, struct plan_pattern *pattern)
{
	const struct json *list = json_member(object, "indexes");
	struct str index = json_text_string(place->arena, object, "index");
	struct plan_demand *first = &pattern->demands[0];

	if (list && (json_type(list) != JSON_ARRAY || pattern->side == METER_READ))
		return plan_refuse(place,
				   "\"indexes\" is a list, of a write; a read has \"index\"");
	if (str_is_set(index) && pattern->side == METER_WRITE)
		return plan_refuse(place, "\"index\" is for a read; a write has \"indexes\"");
	pattern->n = 1;
	while (str_is_set(index) && first->part < table->n &&
	       !str_eq(table->parts[first->part].name, index))
		first->part++;
	if (first->part == table->n)
		return plan_refuse(place, "its table has no index of that name");
	enum code code = plan_read_units(place, object, pattern, first);
	for (const struct json *one = list ? json_first(list) : NULL; one && code == OK;
	     one = json_next(one))
		code = read_part_demand(place, one, table, pattern);
	return code;
}

static enum code plan_read_pattern(const struct place *place, const struct json *object,
				   const struct plan *plan, struct plan_pattern *pattern)
{
	static const char *const known[] = {"name",        "table",    "does",  "rate",    "units",
					    "bytes",       "keys",     "index", "indexes", "strong",
					    "transaction", "attempts", NULL};
	int64_t attempts = 3;
	enum code code = plan_check_members(place, object, known);

	if (code != OK)
		return code;
	struct str does = json_text_string(place->arena, object, "does"),
		   table = json_text_string(place->arena, object, "table");
	*pattern = (struct plan_pattern){.name = json_text_string(place->arena, object, "name"),
					 .table = plan_table_at(plan, table),
					 .side = str_eq(does, STR("write")) ? METER_WRITE
									    : METER_READ};
	if (!str_is_set(pattern->name) || pattern->name.n == 0)
		return plan_refuse(place, "it wants a \"name\"");
	if (pattern->table == plan->table_count)
		return plan_refuse(place, "its \"table\" is none of the tables");
	if (pattern->side == METER_READ && !str_eq(does, STR("read")))
		return plan_refuse(place, "\"does\" is read or write");
	if (!take_boolean(object, "strong", &pattern->is_strong) ||
	    !take_boolean(object, "transaction", &pattern->is_transaction))
		return plan_refuse(place, "\"strong\" and \"transaction\" are true or false");
	if (!take_integer(object, "attempts", 1, ATTEMPTS_MAX, &attempts))
		return plan_refuse(place, "\"attempts\" of the SDK are from 1 to 10");
	pattern->attempts = (int)attempts;
	code = read_rates(place, json_member(object, "rate"), pattern);
	if (code != OK)
		return code;
	return read_demands(place, object, &plan->tables[pattern->table], pattern);
}

enum code plan_read_patterns(struct arena *arena, const char *path, const struct json *root,
			     struct plan *plan, struct err *err)
{
	const struct json *list = json_text_get(root, "patterns", JSON_ARRAY);
	struct place place = {arena, path, "pattern", 0, err};

	if (!list || !json_first(list))
		return err_set(err, MSG_FORECAST_INPUT, path);
	for (const struct json *one = json_first(list); one; one = json_next(one)) {
		struct plan_pattern pattern;

		place.number++;
		enum code code = plan_read_pattern(&place, one, plan, &pattern);
		if (code != OK)
			return code;
		plan->patterns =
			arena_room(arena, plan->patterns, plan->pattern_count, sizeof(pattern));
		plan->patterns[plan->pattern_count++] = pattern;
	}
	return OK;
}

void plan_note(struct arena *arena, struct plan *plan, struct str line)
{
	plan->notes = arena_room(arena, plan->notes, plan->note_count, sizeof(*plan->notes));
	plan->notes[plan->note_count++] = line;
}
