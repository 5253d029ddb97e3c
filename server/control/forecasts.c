/*
 * forecasts - the endpoint that forecasts where tables would be throttled and what they would cost,
 * by what insight has seen of them, or by a plan.
 *
 * Tables of the namespace are as they are: nothing is counted as traffic. One forecast is made at a
 * time, within the CPU time of a request.
 */
#include "server/control/endpoints.h"

#include <stdatomic.h>

#include "protocol/insight/insight.h"
#include "protocol/op.h"
#include "server/forecast/described.h"
#include "server/forecast/run.h"
#include "server/forecast/seen.h"
#include "server/messages.h"
#include "server/seed/json_text.h"

#define SEEN "what insight has seen" /* in messages: the path of the plan */
#define ROWS_MOST 200

static atomic_flag forecasts_busy = ATOMIC_FLAG_INIT;

struct forecasts {
	const struct control_call *call;
	struct plan plan;
	struct str keys, made; /* made: the text of the plan that was made of insight; or absent */
	const struct json *targets, *policies; /* lists of Application Auto Scaling */
};

/* The answer of an operation as a tree; NULL where it is an error, as for a table that is gone. */
static const struct json *ask_namespace(const struct control_call *call, const char *operation,
					struct str body)
{
	struct op_request request =
		op_request_inside(call->arena, &call->ns, str_of(operation), body);
	struct op_response response = {0};
	struct err err = err_in(call->arena);
	const struct json *root = NULL;

	request.is_unseen = true;
	if (!op_run(call->control->service, &request, &response) || response.code != OK ||
	    json_parse(call->arena, response.body, &root, &err) != OK)
		return NULL;
	return root;
}

/* All entries of a listing of Application Auto Scaling, as one list. */
static enum code list_scaling(const struct control_call *call, const char *operation,
			      const char *member, const struct json **list, struct err *err)
{
	struct arena *arena = call->arena;
	struct json_out out = json_out_in(arena);
	struct str next = STR_ABSENT;

	json_out_open(&out, '[');
	do {
		struct json_out body = json_out_in(arena);

		json_out_open(&body, '{');
		json_out_field_string(&body, "ServiceNamespace", STR("dynamodb"));
		if (str_is_set(next))
			json_out_field_string(&body, "NextToken", next);
		json_out_close(&body, '}');
		const struct json *root = ask_namespace(call, operation, json_out_str(&body)),
				  *page = json_text_get(root, member, JSON_ARRAY);
		for (const struct json *one = page ? json_first(page) : NULL; one;
		     one = json_next(one))
			json_text_write(&out, arena, one);
		next = json_text_string(arena, root, "NextToken");
	} while (str_is_set(next));
	json_out_close(&out, ']');
	return json_parse(arena, json_out_str(&out), list, err);
}

static bool has_recovery(const struct control_call *call, struct str body)
{
	const struct json *root = ask_namespace(call, "DescribeContinuousBackups", body),
			  *of = json_text_get(root, "ContinuousBackupsDescription", JSON_OBJECT);

	of = json_text_get(of, "PointInTimeRecoveryDescription", JSON_OBJECT);
	struct str status = json_text_string(call->arena, of, "PointInTimeRecoveryStatus");
	return str_is_set(status) && str_eq(status, STR("ENABLED"));
}

static bool has_kinesis(const struct control_call *call, struct str body)
{
	const struct json *root = ask_namespace(call, "DescribeKinesisStreamingDestination", body);
	const struct json *list = json_text_get(root, "KinesisDataStreamDestinations", JSON_ARRAY);

	for (const struct json *one = list ? json_first(list) : NULL; one; one = json_next(one)) {
		struct str status = json_text_string(call->arena, one, "DestinationStatus");

		if (str_is_set(status) && str_eq(status, STR("ACTIVE")))
			return true;
	}
	return false;
}

/* The entry of a table that insight has seen, where it is of the namespace and still there. */
static void write_seen_table(struct forecasts *forecasts, const struct json *seen,
			     struct json_out *out)
{
	const struct control_call *call = forecasts->call;
	struct arena *arena = call->arena;
	struct str name = json_text_string(arena, seen, "table"),
		   account = json_text_string(arena, seen, "account"),
		   region = json_text_string(arena, seen, "region");

	if (!str_is_set(name) || !str_eq(account, call->ns.account) ||
	    !str_eq(region, call->ns.region))
		return;
	struct str body = json_text_request(arena, "TableName", name);
	struct described described = {
		.table = json_text_get(ask_namespace(call, "DescribeTable", body), "Table",
				       JSON_OBJECT),
		.targets = forecasts->targets,
		.policies = forecasts->policies};

	if (!described.table)
		return;
	described.has_recovery = has_recovery(call, body);
	described.has_kinesis = has_kinesis(call, body);
	described_write(out, arena, &described);
}

/* The namespace's tables among those that were seen, with their settings; *tables is their text as
 * a tree. */
static enum code read_seen_tables(struct forecasts *forecasts, const struct json *seen,
				  const struct json **tables, struct err *err)
{
	const struct control_call *call = forecasts->call;
	struct json_out out = json_out_in(call->arena);
	const struct json *list = json_text_get(seen, "tables", JSON_ARRAY);
	enum code code = list_scaling(call, "DescribeScalableTargets", "ScalableTargets",
				      &forecasts->targets, err);

	if (code != OK)
		return code;
	code = list_scaling(call, "DescribeScalingPolicies", "ScalingPolicies",
			    &forecasts->policies, err);
	if (code != OK)
		return code;
	json_out_open(&out, '{');
	json_out_name(&out, STR("tables"));
	json_out_open(&out, '[');
	for (const struct json *one = list ? json_first(list) : NULL; one; one = json_next(one))
		write_seen_table(forecasts, one, &out);
	json_out_close(&out, ']');
	json_out_close(&out, '}');
	code = json_parse(call->arena, json_out_str(&out), tables, err);
	return code != OK ? code
			  : plan_read_tables(call->arena, SEEN, *tables, &forecasts->plan, err);
}

/* The text of a plan with the tables of one text and the rest of another. */
static struct str join_plan(struct arena *arena, const struct json *first, const struct json *rest)
{
	struct json_out out = json_out_in(arena);
	const struct json *lists[] = {json_text_get(first, "tables", JSON_ARRAY),
				      json_text_get(rest, "tables", JSON_ARRAY)};

	json_out_open(&out, '{');
	json_out_name(&out, STR("tables"));
	json_out_open(&out, '[');
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		for (const struct json *one = lists[i] ? json_first(lists[i]) : NULL; one;
		     one = json_next(one))
			json_text_write(&out, arena, one);
	}
	json_out_close(&out, ']');
	json_text_copy(&out, arena, rest, "patterns");
	json_out_close(&out, '}');
	return json_out_str(&out);
}

static enum code read_seen(struct forecasts *forecasts, struct err *err)
{
	struct arena *arena = forecasts->call->arena;
	struct insight *insight = forecasts->call->control->service->insight;
	struct observed observed = {
		.arena = arena, .plan = &forecasts->plan, .keys = forecasts->keys};
	const struct json *seen, *tables = NULL, *rest;
	struct str text;

	if (!insight)
		return err_set(err, MSG_INSIGHT_OFF);
	enum code code = json_parse(arena, insight_describe(insight, arena), &seen, err);
	if (code != OK)
		return code;
	code = read_seen_tables(forecasts, seen, &tables, err);
	if (code != OK)
		return code;
	code = seen_plan(arena, SEEN, seen, &observed, &text, err);
	if (code != OK)
		return code;
	code = json_parse(arena, text, &rest, err);
	if (code != OK)
		return code;
	code = plan_read_tables(arena, SEEN, rest, &forecasts->plan, err);
	if (code != OK)
		return code;
	forecasts->made = join_plan(arena, tables, rest);
	return plan_read_patterns(arena, SEEN, rest, &forecasts->plan, err);
}

static enum code read_given(struct forecasts *forecasts, const struct json *plan, struct err *err)
{
	struct arena *arena = forecasts->call->arena;

	if (str_is_set(forecasts->keys))
		return err_set(err, MSG_FORECASTS_KEYS);
	enum code code = plan_read_tables(arena, "plan", plan, &forecasts->plan, err);
	return code != OK ? code : plan_read_patterns(arena, "plan", plan, &forecasts->plan, err);
}

/* Within the CPU time of a request. */
static enum code forecasts_run(struct forecasts *forecasts, const struct json *plan,
			       struct str *answer, struct err *err)
{
	struct arena *arena = forecasts->call->arena;
	const struct service *service = forecasts->call->control->service;
	struct prices prices;
	struct buf out = buf_in(arena);
	enum code code = plan ? read_given(forecasts, plan, err) : read_seen(forecasts, err);

	if (code != OK)
		return code;
	struct shown shown = {.arena = arena,
			      .plan = &forecasts->plan,
			      .rows_most = ROWS_MOST,
			      .made = forecasts->made};
	code = prices_read(arena, NULL, &prices, err);
	if (code != OK)
		return code;
	arena_limit_time(arena, service->cpu_ns, service->cpu_limit_ns);
	code = run_plan(arena, SEEN, &forecasts->plan, &prices, &shown, err);
	bool is_late = arena_is_late(arena);
	arena_limit_time(arena, NULL, 0);
	if (code != OK)
		return is_late ? err_set(err, MSG_FORECASTS_LATE) : code;
	show_json(&shown, &out);
	*answer = buf_str(&out);
	return OK;
}

/* A number as the command line has it; NULL where it is not there. */
static const char *word_of(struct arena *arena, const struct json *number)
{
	return number ? str_printf(arena, "%.17g", json_number(number)).p : NULL;
}

/*
 * POST forecast: {"scale": 1000, "days": 30, "growth": "3%/day", "keys": "zipf:1000000", "seed": 1,
 * "free_tier": true}, all as the options of the command, or nothing; and "plan", in place of what
 * insight has seen. The answer is that of --json; of what was seen it has the plan, too.
 */
enum code forecasts_make(const struct control_call *call, struct str *answer, struct err *err)
{
	const struct json *scale, *days, *growth, *seed, *keys, *free_tier, *plan;
	const struct control_member members[] = {
		{"scale", JSON_NUMBER, &scale},   {"days", JSON_NUMBER, &days},
		{"growth", JSON_STRING, &growth}, {"seed", JSON_NUMBER, &seed},
		{"keys", JSON_STRING, &keys},     {"free_tier", JSON_BOOLEAN, &free_tier},
		{"plan", JSON_OBJECT, &plan},
	};
	struct forecasts forecasts = {.call = call};
	enum code code = control_read(call, members, sizeof(members) / sizeof(members[0]), err);

	if (code != OK)
		return code;
	const struct run_words words = {
		.scale = word_of(call->arena, scale),
		.days = word_of(call->arena, days),
		.growth = growth ? json_c_string(call->arena, growth) : NULL,
		.seed = word_of(call->arena, seed),
		.keys = keys ? json_c_string(call->arena, keys) : NULL,
	};
	const char *wrong = run_take_words(call->arena, &words, &forecasts.plan, &forecasts.keys);

	if (wrong)
		return err_set(err, MSG_FORECASTS_WORD, wrong);
	forecasts.plan.has_free_tier = free_tier && json_boolean(free_tier);
	if (atomic_flag_test_and_set(&forecasts_busy))
		return err_set(err, MSG_FORECASTS_BUSY);
	code = forecasts_run(&forecasts, plan, answer, err);
	atomic_flag_clear(&forecasts_busy);
	return code;
}
