#include "server/races/race_invariants.h"

#include <string.h>

#include "core/buf.h"
#include "core/number.h"
#include "protocol/wire/json.h"
#include "protocol/wire/json_out.h"
#include "server/races/messages.h"
#include "server/races/race_anomaly.h"
#include "server/races/race_report.h"
#include "server/seed/json_text.h"

#define FILE_MAX (1u << 20)

/* What a SELECT gives. */
struct rows {
	struct str *values; /* as JSON, of the first attribute; of rows that have none: absent */
	size_t n;
	struct str first;   /* row; absent: there is none */
	struct str problem; /* absent: it was answered */
};

/* One invariant, while it is checked. */
struct asked {
	race_ask *ask;
	void *context;
	struct race_watch *watch;
	const struct race_trace *trace;
	struct arena *arena;
	struct str first, second; /* what its members say */
};

/* Why it is broken; absent: it holds. */
typedef struct str invariant_check(const struct asked *asked);

static void add_rows(struct arena *arena, struct rows *rows, struct str items)
{
	struct str rest = json_text_inside(items), item, name, value;

	while (json_text_element(&rest, &item)) {
		struct str inside = json_text_inside(item);

		rows->first = rows->n > 0 ? rows->first : item;
		rows->values = arena_room(arena, rows->values, rows->n, sizeof(*rows->values));
		rows->values[rows->n++] =
			json_text_member(&inside, &name, &value) ? value : STR_ABSENT;
	}
}

static struct str statement_body(struct arena *arena, struct str statement, struct str token)
{
	struct json_out body = json_out_in(arena);

	json_out_open(&body, '{');
	json_out_name(&body, STR("Statement"));
	json_out_string(&body, statement);
	if (str_is_set(token)) {
		json_out_name(&body, STR("NextToken"));
		json_out_string(&body, token);
	}
	json_out_close(&body, '}');
	return buf_str(&body.buf);
}

/* All pages. */
static struct rows select_rows(const struct asked *asked, struct str statement)
{
	struct arena *arena = asked->arena;
	struct rows rows = {.problem = STR_ABSENT};
	struct str token = STR_ABSENT;

	do {
		struct err err = err_in(arena);
		const struct json *answer, *next;
		struct str reply;
		int status;

		if (!asked->ask(asked->context, arena, STR("ExecuteStatement"),
				statement_body(arena, statement, token), &status, &reply) ||
		    status != 200 || json_parse(arena, reply, &answer, &err) != OK) {
			rows.problem = reply;
			return rows;
		}
		add_rows(arena, &rows, json_text_find(reply, STR("Items")));
		next = json_member(answer, "NextToken");
		token = next ? json_string(arena, next) : STR_ABSENT;
	} while (str_is_set(token));
	return rows;
}

static struct str no_row(const struct asked *asked)
{
	struct rows rows = select_rows(asked, asked->first);

	return str_is_set(rows.problem) ? rows.problem : rows.first;
}

static bool has_value(const struct rows *rows, size_t n, struct str value)
{
	size_t i = 0;

	while (i < n && !(str_is_set(rows->values[i]) && str_eq(rows->values[i], value)))
		i++;
	return i < n;
}

static struct str unique_values(const struct asked *asked)
{
	struct rows rows = select_rows(asked, asked->first);

	for (size_t i = 0; i < rows.n && !str_is_set(rows.problem); i++) {
		if (str_is_set(rows.values[i]) && has_value(&rows, i, rows.values[i]))
			return str_printf(asked->arena, STR_FMT " is there twice",
					  STR_ARG(rows.values[i]));
	}
	return rows.problem;
}

static struct str no_orphans(const struct asked *asked)
{
	struct rows rows = select_rows(asked, asked->first);
	struct rows others = select_rows(asked, asked->second);

	if (str_is_set(rows.problem) || str_is_set(others.problem))
		return str_is_set(rows.problem) ? rows.problem : others.problem;
	for (size_t i = 0; i < rows.n; i++) {
		if (str_is_set(rows.values[i]) && !has_value(&others, others.n, rows.values[i]))
			return str_printf(asked->arena, STR_FMT " is not there",
					  STR_ARG(rows.values[i]));
	}
	return STR_ABSENT;
}

/* Values that are no numbers do not count. In canonical form; absent: it cannot be added up. */
static struct str sum_of(struct arena *arena, const struct rows *rows)
{
	char sum[NUMBER_MAX], one[NUMBER_MAX], both[NUMBER_MAX];
	size_t n = number_from_int(0, sum), one_n;
	struct err err = err_in(arena);

	for (size_t i = 0; i < rows->n; i++) {
		struct str text = str_is_set(rows->values[i])
					  ? json_text_find(rows->values[i], STR("N"))
					  : STR_ABSENT;

		if (!str_is_set(text) || text.n < 2)
			continue;
		text = (struct str){text.p + 1, text.n - 2};
		if (number_parse(text, one, &one_n, &err) != OK ||
		    number_add((struct str){sum, n}, (struct str){one, one_n}, both, &n, &err) !=
			    OK)
			return STR_ABSENT;
		memcpy(sum, both, n);
	}
	struct buf buf = buf_in(arena);
	number_format((struct str){sum, n}, &buf);
	return buf_str(&buf);
}

static struct str compare_sums(const struct asked *asked, bool is_count)
{
	struct rows rows = select_rows(asked, asked->first);
	struct rows others = select_rows(asked, asked->second);

	if (str_is_set(rows.problem) || str_is_set(others.problem))
		return str_is_set(rows.problem) ? rows.problem : others.problem;
	struct str sum = sum_of(asked->arena, &rows);
	struct str other = is_count ? str_printf(asked->arena, "%zu", others.n)
				    : sum_of(asked->arena, &others);
	if (!str_is_set(sum) || !str_is_set(other))
		return STR("a sum has more than 38 digits");
	return str_eq(sum, other) ? STR_ABSENT
				  : str_printf(asked->arena, STR_FMT " is not " STR_FMT,
					       STR_ARG(sum), STR_ARG(other));
}

static struct str equal_sums(const struct asked *asked)
{
	return compare_sums(asked, false);
}

static struct str sum_is_count(const struct asked *asked)
{
	return compare_sums(asked, true);
}

static struct str no_anomaly(const struct asked *asked)
{
	size_t at[4];

	if (str_eq(asked->first, STR("lost update")))
		return race_anomaly_overwrite(asked->trace, 0, true, at)
			       ? str_printf(asked->arena,
					    "step %zu read, step %zu wrote, and step %zu put "
					    "another item in its place",
					    at[0] + 1, at[1] + 1, at[2] + 1)
			       : STR_ABSENT;
	return race_anomaly_skew(asked->trace, at)
		       ? str_printf(asked->arena,
				    "step %zu read what step %zu writes, and step %zu what step "
				    "%zu writes",
				    at[2] + 1, at[1] + 1, at[3] + 1, at[0] + 1)
		       : STR_ABSENT;
}

/* Why the table cannot be described: its name may be wrong. Absent: it can. */
static struct str problem_of_table(const struct asked *asked, struct str table)
{
	struct json_out body = json_out_in(asked->arena);
	struct str reply;
	int status;

	json_out_open(&body, '{');
	json_out_name(&body, STR("TableName"));
	json_out_string(&body, table);
	json_out_close(&body, '}');
	return asked->ask(asked->context, asked->arena, STR("DescribeTable"), buf_str(&body.buf),
			  &status, &reply) &&
			       status == 200
		       ? STR_ABSENT
		       : reply;
}

static struct str only_rises(const struct asked *asked)
{
	struct str how, problem = problem_of_table(asked, asked->second);
	size_t number;

	if (str_is_set(problem) || !race_watch_has_fallen(asked->watch, asked->second, asked->first,
							  asked->arena, &number, &how))
		return problem;
	return str_printf(asked->arena, STR_FMT " behind step %zu", STR_ARG(how),
			  race_trace_place(asked->trace, asked->trace->requests[number].id) + 1);
}

static const struct form {
	const char *first, *second; /* members; the second one may be none */
	invariant_check *check;
} forms[] = {
	{"statement", NULL, no_row},
	{"unique", NULL, unique_values},
	{"each", "in", no_orphans},
	{"sum", "equals_sum", equal_sums},
	{"sum", "equals_count", sum_is_count},
	{"never", NULL, no_anomaly},
	{"rises", "of", only_rises},
};

static bool is_text(const struct json *invariant, const char *name)
{
	const struct json *member = json_member(invariant, name);

	return member && json_type(member) == JSON_STRING;
}

/* NULL: it has none. */
static const struct form *form_of(struct arena *arena, const struct json *invariant)
{
	if (json_type(invariant) != JSON_OBJECT || !is_text(invariant, "name"))
		return NULL;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		const struct form *form = &forms[i];

		if (!is_text(invariant, form->first) ||
		    (form->second && !is_text(invariant, form->second)) ||
		    json_count(invariant) != (form->second ? 3u : 2u))
			continue;
		if (form->check != no_anomaly)
			return form;
		struct str kind = json_string(arena, json_member(invariant, "never"));
		return str_eq(kind, STR("lost update")) || str_eq(kind, STR("write skew")) ? form
											   : NULL;
	}
	return NULL;
}

enum code race_invariants_read(struct arena *arena, const char *path, const struct json **list,
			       struct err *err)
{
	const struct json *root;
	enum code code = race_report_json_of(arena, path, FILE_MAX, &root, err);

	if (code != OK)
		return code;
	*list = json_type(root) == JSON_OBJECT ? json_member(root, "invariants") : NULL;
	if (!*list || json_type(*list) != JSON_ARRAY || json_count(root) != 1)
		return err_set(err, MSG_RACES_INVARIANTS, path);
	for (const struct json *one = json_first(*list); one; one = json_next(one)) {
		if (!form_of(arena, one))
			return err_set(err, MSG_RACES_INVARIANTS, path);
	}
	return OK;
}

struct race_watch *race_invariants_watch(const struct json *list,
					 const struct race_watch_server *server,
					 struct arena *arena)
{
	struct race_watch *watch = NULL;

	for (const struct json *one = json_first(list); one; one = json_next(one)) {
		if (!is_text(one, "rises"))
			continue;
		watch = watch ? watch : race_watch_new(server);
		race_watch_add(watch, json_string(arena, json_member(one, "of")),
			       json_string(arena, json_member(one, "rises")));
	}
	return watch;
}

struct str race_invariants_check(const struct json *list, race_ask *ask, void *context,
				 struct race_watch *watch, const struct race_trace *trace,
				 struct arena *arena)
{
	for (const struct json *one = json_first(list); one; one = json_next(one)) {
		const struct form *form = form_of(arena, one);
		struct asked asked = {
			.ask = ask,
			.context = context,
			.watch = watch,
			.trace = trace,
			.arena = arena,
			.first = json_string(arena, json_member(one, form->first)),
			.second = form->second ? json_string(arena, json_member(one, form->second))
					       : STR_ABSENT,
		};
		struct str why = form->check(&asked);

		if (str_is_set(why))
			return str_printf(arena, "invariant \"" STR_FMT "\" is broken: " STR_FMT,
					  STR_ARG(json_string(arena, json_member(one, "name"))),
					  STR_ARG(why));
	}
	return STR_ABSENT;
}
