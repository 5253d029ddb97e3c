#include "server/recording/compare.h"

#include <string.h>

#include "protocol/wire/json_out.h"
#include "server/seed/json_text.h"

#define LINES_MAX 20  /* of one answer */
#define SHOWN_MAX 80  /* bytes of a value */
#define DEPTH_MAX 200 /* json_parse allows fewer */

static const char *const passed_over[] = {
	"ApproximateCreationDateTime", "BackupArn", "BackupCreationDateTime", "CreationDateTime", "CreationRequestDateTime", "EarliestRestorableDateTime",
	"EndingSequenceNumber", "ExportArn", "ImportArn", "IndexArn", "LastDecreaseDateTime", "LastEvaluatedShardId", "LastEvaluatedStreamArn",
	"LastIncreaseDateTime", "LastUpdateToPayPerRequestDateTime", "LatestRestorableDateTime", "LatestStreamArn", "LatestStreamLabel", "NextShardIterator",
	"NextToken", "ParentShardId", "SequenceNumber", "ShardId", "ShardIterator", "StartingSequenceNumber", "StreamArn", "StreamLabel", "TableArn", "TableId",
	"awsRegion", "eventID",
};

static bool is_passed_over(struct str name, const struct json *value)
{
	if (json_type(value) != JSON_STRING && json_type(value) != JSON_NUMBER) /* an attribute's value is an object */
		return false;
	for (size_t i = 0; i < sizeof(passed_over) / sizeof(passed_over[0]); i++) {
		if (str_eq(name, str_of(passed_over[i])))
			return true;
	}
	return false;
}

static struct str shown(struct comparison *comparison, const struct json *value)
{
	struct json_out out = json_out_in(comparison->arena);

	if (!value)
		return STR("nothing");
	json_text_write(&out, comparison->arena, value);
	struct str text = json_out_str(&out);
	return text.n <= SHOWN_MAX ? text : str_printf(comparison->arena, STR_FMT "... (%zu bytes)", SHOWN_MAX, text.p, text.n);
}

static void differ(struct comparison *comparison, struct str path, const struct json *first, const struct json *second)
{
	if (comparison->n++ < LINES_MAX)
		buf_printf(&comparison->lines, "  " STR_FMT ": %s " STR_FMT ", %s " STR_FMT "\n", STR_ARG(path.n ? path : STR("body")), comparison->first,
			   STR_ARG(shown(comparison, first)), comparison->second, STR_ARG(shown(comparison, second)));
}

static bool is_set_of_values(struct str name, const struct json *value)
{
	return json_type(value) == JSON_ARRAY && (str_eq(name, STR("SS")) || str_eq(name, STR("NS")) || str_eq(name, STR("BS")));
}

static bool is_same_scalar(struct comparison *comparison, const struct json *first, const struct json *second)
{
	if (json_type(first) != json_type(second))
		return false;
	switch (json_type(first)) {
	case JSON_STRING:
		return str_eq(json_string(comparison->arena, first), json_string(comparison->arena, second));
	case JSON_NUMBER:
		return !(json_number(first) < json_number(second)) && !(json_number(first) > json_number(second));
	case JSON_BOOLEAN:
		return json_boolean(first) == json_boolean(second);
	default:
		return json_type(first) == JSON_NULL;
	}
}

static bool is_same_set(struct comparison *comparison, const struct json *first, const struct json *second)
{
	bool is_same = json_count(first) == json_count(second);

	for (const struct json *element = json_first(first); element && is_same; element = json_next(element)) {
		bool is_found = false;

		for (const struct json *other = json_first(second); other && !is_found; other = json_next(other))
			is_found = is_same_scalar(comparison, element, other);
		is_same = is_found;
	}
	return is_same;
}

static void compare_values(struct comparison *comparison, struct str path, const struct json *first, const struct json *second, unsigned depth);

static void compare_member(struct comparison *comparison, struct str path, struct str name, const struct json *first, const struct json *second, unsigned depth)
{
	struct str inner = path.n ? str_printf(comparison->arena, STR_FMT "." STR_FMT, STR_ARG(path), STR_ARG(name)) : name;

	if (!first || !second) {
		differ(comparison, inner, first, second);
	} else if (is_passed_over(name, first) && is_passed_over(name, second)) {
		if (comparison->passed && json_type(first) == JSON_STRING && json_type(second) == JSON_STRING)
			comparison->passed(comparison->context, json_string(comparison->arena, first), json_string(comparison->arena, second));
	} else if (is_set_of_values(name, first) && is_set_of_values(name, second)) {
		if (!is_same_set(comparison, first, second))
			differ(comparison, inner, first, second);
	} else {
		compare_values(comparison, inner, first, second, depth);
	}
}

static const struct json *member_of(struct comparison *comparison, const struct json *object, struct str name)
{
	const char *text = str_copy(comparison->arena, name).p;

	return strlen(text) == name.n ? json_member(object, text) : NULL;
}

static void compare_objects(struct comparison *comparison, struct str path, const struct json *first, const struct json *second, unsigned depth)
{
	for (const struct json *member = json_first(first); member; member = json_next(member)) {
		struct str name = json_name(comparison->arena, member);

		compare_member(comparison, path, name, member, member_of(comparison, second, name), depth);
	}
	for (const struct json *member = json_first(second); member; member = json_next(member)) {
		struct str name = json_name(comparison->arena, member);

		if (!member_of(comparison, first, name))
			compare_member(comparison, path, name, NULL, member, depth);
	}
}

static void compare_arrays(struct comparison *comparison, struct str path, const struct json *first, const struct json *second, unsigned depth)
{
	const struct json *a = json_first(first), *b = json_first(second);

	for (size_t i = 0; a || b; i++) {
		struct str inner = str_printf(comparison->arena, STR_FMT "[%zu]", STR_ARG(path), i);

		if (a && b)
			compare_values(comparison, inner, a, b, depth);
		else
			differ(comparison, inner, a, b);
		a = a ? json_next(a) : NULL;
		b = b ? json_next(b) : NULL;
	}
}

static void compare_values(struct comparison *comparison, struct str path, const struct json *first, const struct json *second, unsigned depth)
{
	bool is_object = json_type(first) == JSON_OBJECT && json_type(second) == JSON_OBJECT;
	bool is_array = json_type(first) == JSON_ARRAY && json_type(second) == JSON_ARRAY;

	if (depth > DEPTH_MAX)
		return;
	if (is_object)
		compare_objects(comparison, path, first, second, depth + 1);
	else if (is_array)
		compare_arrays(comparison, path, first, second, depth + 1);
	else if (!is_same_scalar(comparison, first, second))
		differ(comparison, path, first, second);
}

void compare_status(struct comparison *comparison, int64_t first, int64_t second)
{
	if (first == second)
		return;
	comparison->n++;
	buf_printf(&comparison->lines, "  status: %s %lld, %s %lld\n", comparison->first, (long long)first, comparison->second, (long long)second);
}

void compare_bodies(struct comparison *comparison, const struct json *first, const struct json *second)
{
	if (first && second)
		compare_values(comparison, STR(""), first, second, 0);
	else if (first || second)
		differ(comparison, STR(""), first, second);
	if (comparison->n > LINES_MAX)
		buf_printf(&comparison->lines, "  ... %zu differences in all\n", comparison->n);
}
