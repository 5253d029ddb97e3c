#include "server/recording/compare.h"

#include <stdlib.h>

#include "protocol/wire/json_out.h"
#include "server/seed/json_text.h"

#define LINES_MAX 20  /* of one answer */
#define SHOWN_MAX 80  /* bytes of a value */
#define DEPTH_MAX 200 /* json_parse allows fewer */

static const char *const passed_over[] = {
	"ApproximateCreationDateTime",
	"BackupArn",
	"BackupCreationDateTime",
	"CreationDateTime",
	"CreationRequestDateTime",
	"EarliestRestorableDateTime",
	"EndingSequenceNumber",
	"ExportArn",
	"ImportArn",
	"IndexArn",
	"LastDecreaseDateTime",
	"LastEvaluatedShardId",
	"LastEvaluatedStreamArn",
	"LastIncreaseDateTime",
	"LastUpdateToPayPerRequestDateTime",
	"LatestRestorableDateTime",
	"LatestStreamArn",
	"LatestStreamLabel",
	"NextShardIterator",
	"NextToken",
	"ParentShardId",
	"SequenceNumber",
	"ShardId",
	"ShardIterator",
	"StartingSequenceNumber",
	"StreamArn",
	"StreamLabel",
	"TableArn",
	"TableId",
	"awsRegion",
	"eventID",
};

static bool is_passed_over(struct str name, const struct json *value)
{
	if (json_type(value) != JSON_STRING &&
	    json_type(value) != JSON_NUMBER) /* an attribute's value is an object */
		return false;
	for (size_t i = 0; i < sizeof(passed_over) / sizeof(passed_over[0]); i++) {
		if (str_eq(name, str_of(passed_over[i])))
			return true;
	}
	return false;
}

static struct str shown_difference(struct comparison *comparison, const struct json *value)
{
	struct json_out out = json_out_in(comparison->arena);

	if (!value)
		return STR("nothing");
	json_text_write(&out, comparison->arena, value);
	struct str text = json_out_str(&out);
	return text.n <= SHOWN_MAX ? text
				   : str_printf(comparison->arena, STR_FMT "... (%zu bytes)",
						SHOWN_MAX, text.p, text.n);
}

static void differ(struct comparison *comparison, struct str path, const struct json *first,
		   const struct json *second)
{
	if (comparison->n++ < LINES_MAX)
		buf_printf(&comparison->lines, "  " STR_FMT ": %s " STR_FMT ", %s " STR_FMT "\n",
			   STR_ARG(path.n ? path : STR("body")), comparison->first,
			   STR_ARG(shown_difference(comparison, first)), comparison->second,
			   STR_ARG(shown_difference(comparison, second)));
}

static bool is_set_of_values(struct str name, const struct json *value)
{
	return json_type(value) == JSON_ARRAY &&
	       (str_eq(name, STR("SS")) || str_eq(name, STR("NS")) || str_eq(name, STR("BS")));
}

static bool is_same_scalar(struct comparison *comparison, const struct json *first,
			   const struct json *second)
{
	if (json_type(first) != json_type(second))
		return false;
	switch (json_type(first)) {
	case JSON_STRING:
		return str_eq(json_string(comparison->arena, first),
			      json_string(comparison->arena, second));
	case JSON_NUMBER:
		return !(json_number(first) < json_number(second)) &&
		       !(json_number(first) > json_number(second));
	case JSON_BOOLEAN:
		return json_boolean(first) == json_boolean(second);
	default:
		return json_type(first) == JSON_NULL;
	}
}

/* The elements as texts, in the order of these. */
static struct str *sorted_texts(struct comparison *comparison, const struct json *set, size_t n)
{
	struct str *texts = ARENA_ARRAY(comparison->arena, struct str, n + 1);
	size_t i = 0;

	for (const struct json *element = json_first(set); element; element = json_next(element)) {
		struct json_out out = json_out_in(comparison->arena);

		json_text_write(&out, comparison->arena, element);
		texts[i++] = json_out_str(&out);
	}
	qsort(texts, n, sizeof(*texts), str_order);
	return texts;
}

static bool is_same_set(struct comparison *comparison, const struct json *first,
			const struct json *second)
{
	size_t n = json_count(first);

	if (n != json_count(second))
		return false;
	const struct str *a = sorted_texts(comparison, first, n),
			 *b = sorted_texts(comparison, second, n);
	for (size_t i = 0; i < n; i++) {
		if (!str_eq(a[i], b[i]))
			return false;
	}
	return true;
}

static void compare_values(struct comparison *comparison, struct str path, const struct json *first,
			   const struct json *second, unsigned depth);

static void compare_member(struct comparison *comparison, struct str path, struct str name,
			   const struct json *first, const struct json *second, unsigned depth)
{
	struct str inner = path.n ? str_printf(comparison->arena, STR_FMT "." STR_FMT,
					       STR_ARG(path), STR_ARG(name))
				  : name;

	if (!first || !second) {
		differ(comparison, inner, first, second);
	} else if (is_passed_over(name, first) && is_passed_over(name, second)) {
		if (comparison->passed && json_type(first) == JSON_STRING &&
		    json_type(second) == JSON_STRING)
			comparison->passed(comparison->context,
					   json_string(comparison->arena, first),
					   json_string(comparison->arena, second));
	} else if (is_set_of_values(name, first) && is_set_of_values(name, second)) {
		if (!is_same_set(comparison, first, second))
			differ(comparison, inner, first, second);
	} else {
		compare_values(comparison, inner, first, second, depth);
	}
}

/* A member, to be found by its name. */
struct named {
	struct str name;
	size_t place;
	const struct json *member;
};

static int compare_named(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int order = str_cmp(x->name, y->name);

	return order ? order : x->place < y->place ? -1 : x->place > y->place;
}

/* The members in the order of their names; of a name that stands twice the last one, as for
 * json_member. Returns how many. */
static size_t sort_members(struct comparison *comparison, const struct json *object,
			   struct named **out)
{
	size_t n = 0, kept = 0;

	*out = ARENA_ARRAY(comparison->arena, struct named, json_count(object) + 1);
	for (const struct json *member = json_first(object); member;
	     member = json_next(member), n++)
		(*out)[n] = (struct named){json_name(comparison->arena, member), n, member};
	qsort(*out, n, sizeof(**out), compare_named);
	for (size_t i = 0; i < n; i++) {
		if (kept > 0 && str_eq((*out)[kept - 1].name, (*out)[i].name))
			kept--;
		(*out)[kept++] = (*out)[i];
	}
	return kept;
}

static const struct json *member_of(const struct named *members, size_t n, struct str name)
{
	bool is_there;
	size_t at = str_search(members, n, sizeof(*members), name, &is_there);

	return is_there ? members[at].member : NULL;
}

static void compare_objects(struct comparison *comparison, struct str path,
			    const struct json *first, const struct json *second, unsigned depth)
{
	struct named *a, *b;
	size_t n = sort_members(comparison, first, &a), m = sort_members(comparison, second, &b);

	for (const struct json *member = json_first(first); member; member = json_next(member)) {
		struct str name = json_name(comparison->arena, member);

		compare_member(comparison, path, name, member, member_of(b, m, name), depth);
	}
	for (const struct json *member = json_first(second); member; member = json_next(member)) {
		struct str name = json_name(comparison->arena, member);

		if (!member_of(a, n, name))
			compare_member(comparison, path, name, NULL, member, depth);
	}
}

static void compare_arrays(struct comparison *comparison, struct str path, const struct json *first,
			   const struct json *second, unsigned depth)
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

static void compare_values(struct comparison *comparison, struct str path, const struct json *first,
			   const struct json *second, unsigned depth)
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
	buf_printf(&comparison->lines, "  status: %s %lld, %s %lld\n", comparison->first,
		   (long long)first, comparison->second, (long long)second);
}

void compare_bodies(struct comparison *comparison, const struct json *first,
		    const struct json *second)
{
	if (first && second)
		compare_values(comparison, STR(""), first, second, 0);
	else if (first || second)
		differ(comparison, STR(""), first, second);
	if (comparison->n > LINES_MAX)
		buf_printf(&comparison->lines, "  ... %zu differences in all\n", comparison->n);
}
