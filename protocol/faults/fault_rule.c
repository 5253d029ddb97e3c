#include "protocol/faults/fault_rule.h"

#include <math.h>
#include <stdlib.h>

#include "core/number.h"
#include "protocol/faults/messages.h"
#include "protocol/handler.h"
#include "protocol/wire/shape_walk.h"

#define LATENCY_MAX_MS 300000
#define MEMBERS_MAX 100 /* of a batch or a transaction */
#define PIECE_MAX 60000

/* A rule that is being read. */
struct reader {
	struct arena *arena; /* of the set */
	size_t number;       /* from 1 */
	struct fault_rule *rule;
	const struct json *condition, *names, *values;
	const char *fire, *effect; /* the members that said when, and what */
	struct str error;            /* its name; absent: there is none */
	bool has_operations, has_seed, has_per;
	struct err *err;
};

static bool read_text(struct reader *reader, const struct json *json, struct str *out)
{
	if (json_type(json) == JSON_STRING)
		*out = json_string(reader->arena, json);
	return json_type(json) == JSON_STRING && out->n > 0;
}

static bool read_rule_count(const struct json *json, int64_t least, int64_t most, uint64_t *out)
{
	int64_t n = -1;
	bool is_good =
		json_type(json) == JSON_NUMBER && json_integer(json, &n) && n >= least && n <= most;

	*out = (uint64_t)n;
	return is_good;
}

static enum code read_operation(struct reader *reader, const struct json *json)
{
	struct str name = json_string(reader->arena, json);
	enum op_id number;

	if (!ops_find(name, &number))
		return err_set(reader->err, MSG_FAULT_OPERATION, reader->number, STR_ARG(name));
	if (!ops_is_here(number))
		return err_set(reader->err, MSG_FAULT_ABSENT, reader->number, STR_ARG(name));
	fault_operations_add(&reader->rule->match.operations, number);
	return OK;
}

/* Each reads one member. False: it is not what the member wants. An error of more words is in
 * reader->err. */
static bool read_operations(struct reader *reader, const struct json *json)
{
	reader->has_operations = true;
	if (json_type(json) == JSON_STRING)
		return read_operation(reader, json) == OK || true;
	if (json_type(json) != JSON_ARRAY || !json_first(json))
		return false;
	for (const struct json *child = json_first(json); child; child = json_next(child)) {
		if (json_type(child) != JSON_STRING)
			return false;
		if (read_operation(reader, child) != OK)
			break;
	}
	return true;
}

static bool read_table(struct reader *reader, const struct json *json)
{
	return read_text(reader, json, &reader->rule->match.table) &&
	       call_is_name(reader->rule->match.table);
}

static bool read_index(struct reader *reader, const struct json *json)
{
	return read_text(reader, json, &reader->rule->match.index) &&
	       call_is_name(reader->rule->match.index);
}

static bool read_access_key(struct reader *reader, const struct json *json)
{
	return read_text(reader, json, &reader->rule->match.access_key);
}

static bool read_rule_attribute(struct reader *reader, const struct json *json, struct value *out)
{
	struct err value_err = err_in(reader->arena), err = err_in(reader->arena);
	struct walk walk = {.arena = reader->arena,
			    .err = &err,
			    .value_err = &value_err,
			    .is_older = true,
			    .depth_max = VALUE_DEPTH_MAX};

	return json_type(json) == JSON_OBJECT && json_count(json) == 1 &&
	       shape_read_attribute(&walk, json, out) == OK && value_err.code == OK;
}

static bool read_rule_number(struct reader *reader, double number, struct value *out)
{
	char *bytes = arena_bytes(reader->arena, NUMBER_MAX);
	struct err err = err_in(reader->arena);
	size_t n;

	if (number_parse(str_printf(reader->arena, "%.17g", number), bytes, &n, &err) != OK)
		return false;
	*out = value_of_str(TYPE_N, (struct str){bytes, n});
	return true;
}

static bool read_key(struct reader *reader, const struct json *json)
{
	struct fault_match *match = &reader->rule->match;
	const struct json *prefix =
		json_type(json) == JSON_OBJECT ? json_member(json, "prefix") : NULL;
	const struct json *text = prefix ? prefix : json;

	match->is_prefix = prefix != NULL;
	if (prefix && json_count(json) != 1)
		return false;
	if (json_type(text) == JSON_STRING) {
		match->key = value_of_str(TYPE_S, json_string(reader->arena, text));
		return match->key.n > 0 && match->key.n <= PARTITION_KEY_SIZE_MAX;
	}
	if (json_type(json) == JSON_NUMBER)
		return read_rule_number(reader, json_number(json), &match->key);
	return !prefix && read_rule_attribute(reader, json, &match->key) &&
	       type_is_scalar_key((enum type)match->key.type) && match->key.n > 0 &&
	       match->key.n <= PARTITION_KEY_SIZE_MAX;
}

static bool read_condition(struct reader *reader, const struct json *json)
{
	reader->condition = json;
	return json_type(json) == JSON_STRING;
}

static bool read_names(struct reader *reader, const struct json *json)
{
	reader->names = json;
	return json_type(json) == JSON_OBJECT && json_first(json);
}

static bool read_values(struct reader *reader, const struct json *json)
{
	reader->values = json;
	return json_type(json) == JSON_OBJECT && json_first(json);
}

static bool read_when(struct reader *reader, const struct json *json, enum fault_when when)
{
	reader->rule->fire.when = when;
	return read_rule_count(json, 1, INT64_MAX, &reader->rule->fire.n);
}

static bool read_nth(struct reader *reader, const struct json *json)
{
	return read_when(reader, json, FAULT_NTH);
}

static bool read_every(struct reader *reader, const struct json *json)
{
	return read_when(reader, json, FAULT_EVERY);
}

static bool read_first(struct reader *reader, const struct json *json)
{
	return read_when(reader, json, FAULT_FIRST);
}

static bool read_probability(struct reader *reader, const struct json *json)
{
	struct fault_fire *fire = &reader->rule->fire;

	fire->when = FAULT_PROBABILITY;
	fire->is_per_key = true;
	fire->probability = json_type(json) == JSON_NUMBER ? json_number(json) : 0;
	return fire->probability > 0 && fire->probability <= 1;
}

static bool read_seed(struct reader *reader, const struct json *json)
{
	reader->has_seed = true;
	return read_rule_count(json, 0, INT64_MAX, &reader->rule->fire.seed);
}

static bool read_per(struct reader *reader, const struct json *json)
{
	struct str text = STR("");
	bool is_text = read_text(reader, json, &text);

	reader->has_per = true;
	reader->rule->fire.is_per_key = str_eq(text, STR("key"));
	return is_text && (reader->rule->fire.is_per_key || str_eq(text, STR("rule")));
}

/* The code of an error's name, or of as much of it as names one alone. */
static bool find_error(struct str name, enum code *out)
{
	const char *found = NULL;

	for (enum code code = OK + 1; code < ERR_COUNT; code++) {
		struct str own = str_of(err_info(code)->name);

		if (!str_starts_with(own, name) || (found && strcmp(found, own.p) == 0))
			continue;
		if (found && !str_eq(own, name)) {
			if (strlen(found) == name.n)
				continue;
			return false;
		}
		found = own.p;
		*out = code;
	}
	return found != NULL && name.n > 0;
}

static bool is_throttling(enum code code)
{
	return code == ERR_THROUGHPUT_EXCEEDED || code == ERR_THROTTLING ||
	       code == ERR_REQUEST_LIMIT_EXCEEDED;
}

/* "TableReadKeyRangeThroughputExceeded" or "KeyRangeThroughputExceeded". AWS: API Reference,
 * ThrottlingReason. */
static bool is_reason(struct str reason)
{
	static const struct str limits[] = {
		STR_INIT("ProvisionedThroughputExceeded"), STR_INIT("KeyRangeThroughputExceeded"),
		STR_INIT("MaxOnDemandThroughputExceeded"), STR_INIT("AccountLimitExceeded")};
	static const struct str subjects[] = {STR_INIT(""), STR_INIT("TableRead"),
					      STR_INIT("TableWrite"), STR_INIT("IndexRead"),
					      STR_INIT("IndexWrite")};

	for (size_t i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++) {
		if (!str_starts_with(reason, subjects[i]))
			continue;
		for (size_t k = 0; k < sizeof(limits) / sizeof(limits[0]); k++) {
			if (str_eq((struct str){reason.p + subjects[i].n, reason.n - subjects[i].n},
				   limits[k]))
				return true;
		}
	}
	return false;
}

static enum code check_error(struct reader *reader)
{
	struct fault_effect *effect = &reader->rule->effect;
	struct str name = reader->error;

	if (!find_error(name, &effect->code))
		return err_set(reader->err, MSG_FAULT_ERROR, reader->number, STR_ARG(name));
	if (effect->code == ERR_TRANSACTION_CANCELED)
		return err_set(reader->err, MSG_FAULT_ERROR_CANCEL, reader->number);
	if (str_is_set(effect->message) && err_info(effect->code)->status >= 500)
		return err_set(reader->err, MSG_FAULT_MESSAGE, reader->number, STR_ARG(name));
	if (str_is_set(effect->reason) && !is_throttling(effect->code))
		return err_set(reader->err, MSG_FAULT_REASON_OF, reader->number, STR_ARG(name));
	if (str_is_set(effect->reason) && !is_reason(effect->reason))
		return err_set(reader->err, MSG_FAULT_REASON, reader->number,
			       STR_ARG(effect->reason));
	return OK;
}

static bool read_error(struct reader *reader, const struct json *json)
{
	struct fault_effect *effect = &reader->rule->effect;

	effect->kind = FAULT_ERROR;
	if (json_type(json) != JSON_OBJECT)
		return read_text(reader, json, &reader->error);
	for (const struct json *child = json_first(json); child; child = json_next(child)) {
		struct str member = json_name(reader->arena, child);
		struct str *to = str_eq(member, STR("name"))	? &reader->error
				 : str_eq(member, STR("message")) ? &effect->message
				 : str_eq(member, STR("reason"))  ? &effect->reason
								  : NULL;

		if (!to || !read_text(reader, child, to))
			return false;
	}
	return str_is_set(reader->error);
}

static bool read_message(struct reader *reader, const struct json *json)
{
	return read_text(reader, json, &reader->rule->effect.message);
}

static bool read_reason(struct reader *reader, const struct json *json)
{
	return read_text(reader, json, &reader->rule->effect.reason);
}

/* AWS: API Reference, TransactWriteItems, "Cancellation reason codes and possible error messages".
 */
static bool find_reason(struct str name, enum code *out)
{
	static const struct {
		struct str name;
		enum code code;
	} reasons[] = {
		{STR_INIT("ConditionalCheckFailed"), ERR_CONDITIONAL_CHECK_FAILED},
		{STR_INIT("ItemCollectionSizeLimitExceeded"), ERR_ITEM_COLLECTION_SIZE},
		{STR_INIT("TransactionConflict"), ERR_TRANSACTION_CONFLICT},
		{STR_INIT("ProvisionedThroughputExceeded"), ERR_THROUGHPUT_EXCEEDED},
		{STR_INIT("ThrottlingError"), ERR_THROTTLING},
		{STR_INIT("ValidationError"), ERR_VALIDATION},
	};

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		if (str_eq(reasons[i].name, name)) {
			*out = reasons[i].code;
			return true;
		}
	}
	return false;
}

static bool read_nested_members(struct reader *reader, const struct json *json)
{
	struct fault_effect *effect = &reader->rule->effect;
	size_t n = json_type(json) == JSON_ARRAY ? json_count(json) : 0;
	uint64_t *members = ARENA_ARRAY(reader->arena, uint64_t, n);

	if (n == 0 || n > MEMBERS_MAX)
		return false;
	for (const struct json *child = json_first(json); child; child = json_next(child)) {
		if (!read_rule_count(child, 0, MEMBERS_MAX - 1, &members[effect->member_count++]))
			return false;
	}
	effect->members = members;
	return true;
}

static bool read_cancel(struct reader *reader, const struct json *json)
{
	struct fault_effect *effect = &reader->rule->effect;
	struct str reason = STR_ABSENT;
	bool is_object = json_type(json) == JSON_OBJECT;

	effect->kind = FAULT_CANCEL;
	if (!is_object && !read_text(reader, json, &reason))
		return false;
	for (const struct json *child = is_object ? json_first(json) : NULL; child;
	     child = json_next(child)) {
		struct str member = json_name(reader->arena, child);
		bool is_good = false;

		if (str_eq(member, STR("members")))
			is_good = read_nested_members(reader, child);
		else if (str_eq(member, STR("reason")))
			is_good = read_text(reader, child, &reason);
		else if (str_eq(member, STR("message")))
			is_good = read_text(reader, child, &effect->message);
		if (!is_good)
			return false;
	}
	if (str_is_set(reason) && !find_reason(reason, &effect->code))
		(void)(err_set(reader->err, MSG_FAULT_CANCEL_CODE, reader->number,
			       STR_ARG(reason)) == OK);
	return str_is_set(reason);
}

static bool read_unprocessed(struct reader *reader, const struct json *json)
{
	struct fault_effect *effect = &reader->rule->effect;

	effect->kind = FAULT_UNPROCESSED;
	if (json_type(json) == JSON_STRING)
		return str_eq(json_string(reader->arena, json), STR("matching"));
	return read_rule_count(json, 1, MEMBERS_MAX, &effect->n);
}

static bool read_page_rows(struct reader *reader, const struct json *json)
{
	reader->rule->effect.kind = FAULT_PAGE;
	return read_rule_count(json, 0, INT64_MAX, &reader->rule->effect.n);
}

static bool read_close(struct reader *reader, const struct json *json)
{
	struct str text = STR("");

	reader->rule->effect.kind = FAULT_CLOSE;
	reader->rule->effect.is_after =
		read_text(reader, json, &text) && str_eq(text, STR("after"));
	return reader->rule->effect.is_after || str_eq(text, STR("before"));
}

static bool read_deliver(struct reader *reader, const struct json *json)
{
	struct str text = STR("");

	reader->rule->effect.kind = FAULT_DELIVER;
	reader->rule->effect.is_reversed =
		read_text(reader, json, &text) && str_eq(text, STR("reversed"));
	return reader->rule->effect.is_reversed || str_eq(text, STR("twice"));
}

static bool read_state(struct reader *reader, const struct json *json)
{
	struct str name = STR("");

	reader->rule->effect.kind = FAULT_STATE;
	return read_text(reader, json, &name) &&
	       fault_state_find(name, &reader->rule->effect.state);
}

static bool read_hold(struct reader *reader, const struct json *json)
{
	reader->rule->effect.kind = FAULT_HOLD;
	return read_rule_count(json, 1, LATENCY_MAX_MS, &reader->rule->effect.n);
}

static bool read_crc(struct reader *reader, const struct json *json)
{
	struct str text = STR("");

	reader->rule->effect.kind = FAULT_CRC;
	return read_text(reader, json, &text) && str_eq(text, STR("wrong"));
}

static bool read_trickle(struct reader *reader, const struct json *json)
{
	const struct json *bytes = json_type(json) == JSON_OBJECT ? json_member(json, "bytes")
								  : NULL,
			  *ms = bytes ? json_member(json, "ms") : NULL;
	uint64_t n = 0, pause = 0;

	reader->rule->effect.kind = FAULT_TRICKLE;
	if (!ms || json_count(json) != 2 || !read_rule_count(bytes, 1, PIECE_MAX, &n) ||
	    !read_rule_count(ms, 1, PIECE_MAX, &pause))
		return false;
	reader->rule->effect.piece_bytes = (uint32_t)n;
	reader->rule->effect.piece_ms = (uint32_t)pause;
	return true;
}

static bool read_ms(const struct json *json, double *out)
{
	*out = json && json_type(json) == JSON_NUMBER ? json_number(json) : -1;
	return *out >= 0 && *out <= LATENCY_MAX_MS;
}

static bool read_latency(struct reader *reader, const struct json *json)
{
	struct fault_latency *latency = &reader->rule->effect.latency;
	const struct json *uniform =
		json_type(json) == JSON_OBJECT ? json_member(json, "uniform") : NULL;
	const struct json *exponential =
		json_type(json) == JSON_OBJECT ? json_member(json, "exponential") : NULL;

	if (json_type(json) == JSON_OBJECT && json_count(json) != 1)
		return false;
	if (uniform) {
		const struct json *from =
			json_type(uniform) == JSON_ARRAY && json_count(uniform) == 2
				? json_first(uniform)
				: NULL;

		latency->spread = FAULT_UNIFORM;
		return from && read_ms(from, &latency->ms) &&
		       read_ms(json_next(from), &latency->to_ms) && latency->ms <= latency->to_ms;
	}
	latency->spread = exponential ? FAULT_EXPONENTIAL : FAULT_FIXED;
	return read_ms(exponential ? exponential : json, &latency->ms);
}

enum member_role { ROLE_MATCH, ROLE_FIRE, ROLE_EFFECT };

static const struct member_reader {
	const char *name;
	enum member_role role;
	bool (*read)(struct reader *reader, const struct json *json);
	const char *wants;
} members[] = {
	{"operation", ROLE_MATCH, read_operations, FAULT_WANTS_OPERATIONS},
	{"table", ROLE_MATCH, read_table, FAULT_WANTS_NAME},
	{"index", ROLE_MATCH, read_index, FAULT_WANTS_NAME},
	{"key", ROLE_MATCH, read_key, FAULT_WANTS_KEY},
	{"condition", ROLE_MATCH, read_condition, FAULT_WANTS_TEXT},
	{"names", ROLE_MATCH, read_names, FAULT_WANTS_NAMES},
	{"values", ROLE_MATCH, read_values, FAULT_WANTS_VALUES},
	{"access_key", ROLE_MATCH, read_access_key, FAULT_WANTS_TEXT},
	{"nth", ROLE_FIRE, read_nth, FAULT_WANTS_COUNT},
	{"every", ROLE_FIRE, read_every, FAULT_WANTS_COUNT},
	{"first", ROLE_FIRE, read_first, FAULT_WANTS_COUNT},
	{"probability", ROLE_FIRE, read_probability, FAULT_WANTS_PROBABILITY},
	{"seed", ROLE_MATCH, read_seed, FAULT_WANTS_SEED},
	{"per", ROLE_MATCH, read_per, FAULT_WANTS_PER},
	{"error", ROLE_EFFECT, read_error, FAULT_WANTS_ERROR},
	{"message", ROLE_MATCH, read_message, FAULT_WANTS_TEXT},
	{"reason", ROLE_MATCH, read_reason, FAULT_WANTS_TEXT},
	{"cancel", ROLE_EFFECT, read_cancel, FAULT_WANTS_CANCEL},
	{"unprocessed", ROLE_EFFECT, read_unprocessed, FAULT_WANTS_UNPROCESSED},
	{"page", ROLE_EFFECT, read_page_rows, FAULT_WANTS_PAGE},
	{"close", ROLE_EFFECT, read_close, FAULT_WANTS_CLOSE},
	{"hold", ROLE_EFFECT, read_hold, FAULT_WANTS_HOLD},
	{"crc", ROLE_EFFECT, read_crc, FAULT_WANTS_CRC},
	{"trickle", ROLE_EFFECT, read_trickle, FAULT_WANTS_TRICKLE},
	{"deliver", ROLE_EFFECT, read_deliver, FAULT_WANTS_DELIVER},
	{"status", ROLE_EFFECT, read_state, FAULT_WANTS_STATE},
	{"latency", ROLE_MATCH, read_latency, FAULT_WANTS_LATENCY},
};

#define MEMBERS (sizeof(members) / sizeof(members[0]))

static struct str list_rule_members(struct arena *arena, bool of_effects)
{
	struct buf buf = buf_in(arena);

	for (size_t i = 0; i < MEMBERS; i++) {
		if (!of_effects || members[i].role == ROLE_EFFECT)
			buf_printf(&buf, "%s%s", buf_str(&buf).n ? ", " : "", members[i].name);
	}
	if (of_effects)
		buf_add_lit(&buf, " or latency");
	return buf_str(&buf);
}

static const struct member_reader *find_member(struct str name)
{
	for (size_t i = 0; i < MEMBERS; i++) {
		if (str_eq(str_of(members[i].name), name))
			return &members[i];
	}
	return NULL;
}

static enum code read_rule_member(struct reader *reader, const struct json *json, uint32_t *seen)
{
	struct str name = json_name(reader->arena, json);
	const struct member_reader *member = find_member(name);
	struct err *err = reader->err;

	if (!member)
		return err_set(err, MSG_FAULT_UNKNOWN, reader->number, STR_ARG(name),
			       STR_ARG(list_rule_members(err->arena, false)));
	if (*seen >> (member - members) & 1)
		return err_set(err, MSG_FAULT_TWICE, reader->number, member->name);
	*seen |= 1u << (member - members);
	if (member->role == ROLE_FIRE && reader->fire)
		return err_set(err, MSG_FAULT_TWO_FIRES, reader->number, reader->fire,
			       member->name);
	if (member->role == ROLE_EFFECT && reader->effect)
		return err_set(err, MSG_FAULT_TWO_EFFECTS, reader->number, reader->effect,
			       member->name);
	reader->fire = member->role == ROLE_FIRE ? member->name : reader->fire;
	reader->effect = member->role == ROLE_EFFECT ? member->name : reader->effect;
	if (!member->read(reader, json))
		return err_set(err, MSG_FAULT_MEMBER, reader->number, member->name, member->wants);
	return err->code;
}

/* The condition with its names and values, by the one parser that there is. */
static enum code parse_condition(struct reader *reader)
{
	struct expr_env env = {.arena = reader->arena, .is_older = true};
	struct err err = err_in(reader->err->arena);

	env.names = ARENA_ARRAY(reader->arena, struct expr_name,
				reader->names ? json_count(reader->names) : 0);
	env.values = ARENA_ARRAY(reader->arena, struct expr_value,
				 reader->values ? json_count(reader->values) : 0);
	for (const struct json *child = reader->names ? json_first(reader->names) : NULL; child;
	     child = json_next(child)) {
		struct expr_name *name = &env.names[env.name_count++];

		name->placeholder = json_name(reader->arena, child);
		if (!read_text(reader, child, &name->name))
			return err_set(reader->err, MSG_FAULT_MEMBER, reader->number, "names",
				       FAULT_WANTS_NAMES);
	}
	for (const struct json *child = reader->values ? json_first(reader->values) : NULL; child;
	     child = json_next(child)) {
		struct expr_value *value = &env.values[env.value_count++];

		value->placeholder = json_name(reader->arena, child);
		if (!read_rule_attribute(reader, child, &value->value))
			return err_set(reader->err, MSG_FAULT_MEMBER, reader->number, "values",
				       FAULT_WANTS_VALUES);
	}
	struct str text = json_string(reader->arena, reader->condition);
	if (expr_parse_condition(&env, EXPR_CONDITION, text, &reader->rule->match.condition,
				 &err) != OK ||
	    expr_check_unused(&env, &err) != OK)
		return err_set(reader->err, MSG_FAULT_CONDITION, reader->number,
			       STR_ARG(err.message));
	return OK;
}

/* What stands alone. */
static enum code check_whole_rule(struct reader *reader)
{
	struct fault_rule *rule = reader->rule;
	bool has_latency = rule->effect.latency.spread != FAULT_NO_LATENCY;
	bool has_chance =
		rule->fire.when == FAULT_PROBABILITY || rule->effect.latency.spread > FAULT_FIXED;
	struct err *err = reader->err;

	if (!reader->effect && !has_latency)
		return err_set(err, MSG_FAULT_NO_EFFECT, reader->number,
			       STR_ARG(list_rule_members(err->arena, true)));
	if (!reader->effect)
		rule->effect.kind = FAULT_LATENCY;
	if (rule->effect.kind == FAULT_ERROR && check_error(reader) != OK)
		return err->code;
	if (rule->effect.kind != FAULT_ERROR && str_is_set(rule->effect.reason))
		return err_set(err, MSG_FAULT_LONE, reader->number, "reason", "'error'");
	if (rule->effect.kind != FAULT_ERROR && rule->effect.kind != FAULT_CANCEL &&
	    str_is_set(rule->effect.message))
		return err_set(err, MSG_FAULT_LONE, reader->number, "message", "'error'");
	if (!reader->condition && (reader->names || reader->values))
		return err_set(err, MSG_FAULT_LONE, reader->number,
			       reader->names ? "names" : "values", "'condition'");
	if (reader->has_seed && !has_chance)
		return err_set(err, MSG_FAULT_LONE, reader->number, "seed",
			       "'probability' or a 'latency' that varies");
	if (reader->has_per && (!reader->fire || rule->fire.when == FAULT_PROBABILITY))
		return err_set(err, MSG_FAULT_LONE, reader->number, "per",
			       "'nth', 'every' or 'first'");
	return reader->condition ? parse_condition(reader) : OK;
}

/* A trigger's batches have a table and nothing else. */
static enum code check_deliver(struct reader *reader)
{
	const struct fault_match *match = &reader->rule->match;
	const char *other = reader->has_operations			      ? "operation"
			    : str_is_set(match->index)			      ? "index"
			    : value_is_set(&match->key)			      ? "key"
			    : match->condition				      ? "condition"
			    : str_is_set(match->access_key)		      ? "access_key"
			    : reader->rule->effect.latency.spread != FAULT_NO_LATENCY ? "latency"
										      : NULL;

	return other ? err_set(reader->err, MSG_FAULT_DELIVER, reader->number, other) : OK;
}

/*
 * Leaves of the operations those that have all that the rule is about, and of the requests that do
 * their work those that the effect is about; none: it can never match.
 */
static enum code narrow_rule(struct reader *reader)
{
	struct fault_rule *rule = reader->rule;
	const struct {
		const char *member;
		bool is_given, is_of_request;
		unsigned wants;
		const char *what;
	} needs[] = {
		{"table", str_is_set(rule->match.table), false, OF_TABLE, "operations on a table"},
		{"index", str_is_set(rule->match.index), false, OF_INDEX,
		 "operations that read an index"},
		{"key", value_is_set(&rule->match.key), false, OF_ITEM, "operations on items"},
		{"condition", rule->match.condition != NULL, false, OF_ITEM, "operations on items"},
		{"status", rule->effect.kind == FAULT_STATE, false, OF_TABLE,
		 "operations on a table"},
		{"page", rule->effect.kind == FAULT_PAGE, false, OF_PAGE,
		 "Query, Scan and ExecuteStatement"},
		{"cancel", rule->effect.kind == FAULT_CANCEL, true, OF_TRANSACTION, "transactions"},
		{"unprocessed", rule->effect.kind == FAULT_UNPROCESSED, true, OF_BATCH,
		 "BatchGetItem and BatchWriteItem"},
	};

	if (rule->effect.kind == FAULT_DELIVER)
		return check_deliver(reader);
	if (!reader->has_operations)
		rule->match.operations = fault_operations_all();
	for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++) {
		if (needs[i].is_of_request || !needs[i].is_given)
			continue;
		if (!fault_operations_narrow(&rule->match.operations, needs[i].wants))
			return err_set(reader->err, MSG_FAULT_NEVER, reader->number,
				       needs[i].member, needs[i].what);
	}
	rule->match.requests = fault_operations_requests(&rule->match.operations);
	for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++) {
		if (!needs[i].is_of_request || !needs[i].is_given)
			continue;
		if (!fault_operations_narrow(&rule->match.requests, needs[i].wants))
			return err_set(reader->err, MSG_FAULT_NEVER, reader->number,
				       needs[i].member, needs[i].what);
	}
	return OK;
}

static bool takes_all(struct str own, struct str other)
{
	return !str_is_set(own) || (str_is_set(other) && str_eq(own, other));
}

/* Whether `rule` fires on all that `later` could match. */
static bool covers(const struct fault_rule *rule, const struct fault_rule *later)
{
	const struct fault_match *a = &rule->match, *b = &later->match;

	for (size_t i = 0; i < FAULT_OPERATIONS_MAX / 64; i++) {
		if (b->operations.bits[i] & ~a->operations.bits[i] ||
		    b->requests.bits[i] & ~a->requests.bits[i])
			return false;
	}
	bool is_alike =
		(rule->effect.kind == FAULT_DELIVER) == (later->effect.kind == FAULT_DELIVER);

	return is_alike && rule->fire.when == FAULT_ALWAYS && !a->condition &&
	       rule->effect.member_count == 0 && takes_all(a->table, b->table) &&
	       takes_all(a->index, b->index) && takes_all(a->access_key, b->access_key) &&
	       (!value_is_set(&a->key) || (!a->is_prefix && !b->is_prefix &&
					   value_is_set(&b->key) && value_equal(&a->key, &b->key)));
}

static enum code fill_rule(struct reader *reader, const struct fault_set *set,
			   const struct json *json)
{
	struct fault_rule *rule = reader->rule;
	uint32_t seen = 0;
	enum code code;

	for (const struct json *child = json_first(json); child; child = json_next(child)) {
		code = read_rule_member(reader, child, &seen);
		if (code != OK)
			return code;
	}
	code = check_whole_rule(reader);
	if (code != OK)
		return code;
	code = narrow_rule(reader);
	if (code != OK)
		return code;
	for (size_t i = 0; i < set->n; i++) {
		if (covers(&set->rules[i], rule))
			return err_set(reader->err, MSG_FAULT_SHADOWED, reader->number, i + 1);
	}
	if (rule->fire.is_per_key || rule->effect.latency.spread > FAULT_FIXED)
		rule->counts = fault_counts_new();
	return OK;
}

static enum code read_rule(struct fault_set *set, const struct json *json, struct err *err)
{
	struct fault_rule *rule = &set->rules[set->n];
	struct reader reader = {.arena = set->arena,
				.number = set->n + 1,
				.rule = rule,
				.error = STR_ABSENT,
				.err = err};

	if (json_type(json) != JSON_OBJECT)
		return err_set(err, MSG_FAULT_RULE, reader.number);
	rule->text = json;
	err->code = OK;
	enum code code = fill_rule(&reader, set, json);
	for (size_t i = 0; i < FAULT_OPERATIONS_MAX / 64; i++)
		set->requests.bits[i] |= rule->match.requests.bits[i];
	set->n++;
	return code;
}

static enum code read_rules(struct fault_set *set, struct str body, struct err *err)
{
	struct err own = err_in(set->arena);
	const struct json *root, *rules;
	enum code code = json_parse(set->arena, str_copy(set->arena, body), &root, &own);

	if (code != OK || json_type(root) != JSON_OBJECT || json_count(root) != 1)
		return err_set(err, MSG_FAULT_BODY);
	rules = json_member(root, "rules");
	if (!rules || json_type(rules) != JSON_ARRAY)
		return err_set(err, MSG_FAULT_BODY);
	size_t n = json_count(rules);
	if (n > FAULT_RULES_MAX)
		return err_set(err, MSG_FAULT_MANY, n, FAULT_RULES_MAX);
	set->rules = ARENA_ARRAY(set->arena, struct fault_rule, n);
	for (const struct json *child = json_first(rules); child && code == OK;
	     child = json_next(child))
		code = read_rule(set, child, err);
	return code;
}

enum code fault_set_read(struct str body, struct fault_set **out, struct err *err)
{
	struct arena *arena = arena_new(0);
	struct fault_set *set = ARENA_NEW(arena, struct fault_set);

	set->arena = arena;
	atomic_init(&set->refs, 1);
	enum code code = read_rules(set, body, err);
	if (code != OK)
		fault_set_unref(set);
	return RESULT(code, out, set);
}

struct fault_set *fault_set_ref(struct fault_set *set)
{
	atomic_fetch_add_explicit(&set->refs, 1, memory_order_relaxed);
	return set;
}

void fault_set_unref(struct fault_set *set)
{
	if (!set || atomic_fetch_sub(&set->refs, 1) > 1)
		return;
	for (size_t i = 0; i < set->n; i++)
		fault_counts_free(set->rules[i].counts);
	arena_free(set->arena);
}

static void write_number(struct json_out *out, const struct json *json)
{
	int64_t n;

	if (json_integer(json, &n))
		json_out_integer(out, n);
	else
		json_out_double(out, json_number(json));
}

/* As deep as json_parse lets it be. */
static void write_rule_json(struct json_out *out, struct arena *arena, const struct json *json)
{
	switch (json_type(json)) {
	case JSON_NULL:
		json_out_null(out);
		break;
	case JSON_BOOLEAN:
		json_out_boolean(out, json_boolean(json));
		break;
	case JSON_NUMBER:
		write_number(out, json);
		break;
	case JSON_STRING:
		json_out_string(out, json_string(arena, json));
		break;
	case JSON_ARRAY:
		json_out_open(out, '[');
		for (const struct json *child = json_first(json); child; child = json_next(child))
			write_rule_json(out, arena, child);
		json_out_close(out, ']');
		break;
	case JSON_OBJECT:
		json_out_open(out, '{');
		for (const struct json *child = json_first(json); child; child = json_next(child)) {
			json_out_name(out, json_name(arena, child));
			write_rule_json(out, arena, child);
		}
		json_out_close(out, '}');
		break;
	}
}

void fault_set_write(const struct fault_set *set, struct json_out *out)
{
	json_out_open(out, '[');
	for (size_t i = 0; set && i < set->n; i++) {
		const struct fault_rule *rule = &set->rules[i];

		json_out_open(out, '{');
		for (const struct json *child = json_first(rule->text); child;
		     child = json_next(child)) {
			json_out_name(out, json_name(out->buf.arena, child));
			write_rule_json(out, out->buf.arena, child);
		}
		json_out_field_integer(out, "matched", (int64_t)atomic_load(&rule->matched));
		json_out_field_integer(out, "fired", (int64_t)atomic_load(&rule->fired));
		json_out_close(out, '}');
	}
	json_out_close(out, ']');
}
