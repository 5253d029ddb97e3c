#include "server/races/gate_trouble.h"

#include "protocol/wire/json.h"
#include "protocol/wire/json_out.h"

#define PATH_FAULTS "/_dynalith/faults"
#define PATH_LAG "/_dynalith/lag"
#define LONGEST_LAG "{\"lag\":3600000,\"index_lag\":3600000}"
#define LATE_MAX 8 /* reads that may lag where the one that is meant does not come */

/* Absent: it was refused. */
static struct str ask_control(const struct gate_trouble *trouble,
			      const struct http_request *request, struct str method,
			      const char *path, struct str body)
{
	struct http_request control = {
		.haste = HTTP_LONG,
		.arena = request->arena,
		.method = method,
		.path = str_of(path),
		.query = STR(""),
		.body = body,
		.wire_body = body,
		.id = request->id,
		.headers = request->headers,
	};
	struct http_response response = {0};

	return trouble->handler(trouble->context, &control, &response) && response.status == 200
		       ? response.body
		       : STR_ABSENT;
}

/* Not in the place of what the program has set. */
static bool set_control(struct gate_trouble *trouble, const struct http_request *request,
			const char *path, struct str none, struct str body)
{
	bool is_set = str_eq(ask_control(trouble, request, STR("GET"), path, STR("")), none) &&
		      str_is_set(ask_control(trouble, request, STR("PUT"), path, body));

	trouble->is_prevented = trouble->is_prevented || !is_set;
	return is_set;
}

static void remove_expired(const struct gate_trouble *trouble, const struct http_request *request)
{
	const struct headers none = {0}; /* of no client: the clock that all follow */
	struct http_request everywhere = *request;

	everywhere.headers = &none;
	(void)ask_control(trouble, &everywhere, STR("POST"), "/_dynalith/clock",
			  STR("{\"advance\":0}"));
}

/* The records are there, and not seen yet: the next request begins at the same place. */
static void answer_no_records(const struct http_request *request, struct http_response *response)
{
	struct err err = err_in(request->arena);
	const struct json *root, *iterator = NULL;
	struct json_out out = json_out_in(request->arena);

	if (json_parse(request->arena, request->body, &root, &err) == OK)
		iterator = json_member(root, "ShardIterator");
	json_out_open(&out, '{');
	json_out_name(&out, STR("Records"));
	json_out_open(&out, '[');
	json_out_close(&out, ']');
	if (iterator) {
		json_out_name(&out, STR("NextShardIterator"));
		json_out_string(&out, json_string(request->arena, iterator));
	}
	json_out_close(&out, '}');
	response->status = 200;
	response->content_type = STR("application/x-amz-json-1.0");
	response->body = json_out_str(&out);
}

static void begin_expiry(struct gate_trouble *trouble, const struct race_request *about,
			 const struct http_request *request)
{
	const struct race_plan *plan = trouble->plan;

	if (plan && plan->trouble.kind == TROUBLE_KEPT && about->id == plan->trouble.request)
		trouble->is_over = true;
	if (!plan || plan->trouble.kind != TROUBLE_KEPT || trouble->is_over)
		remove_expired(trouble, request);
}

bool gate_trouble_begin(struct gate_trouble *trouble, const struct race_request *about,
			const struct http_request *request, struct http_response *response)
{
	const struct race_plan *plan = trouble->plan;

	if (trouble->expires)
		begin_expiry(trouble, about, request);
	if (!plan)
		return false;
	if (plan->trouble.kind == TROUBLE_LAGGED && about->id == plan->trouble.since)
		trouble->is_lagging =
			set_control(trouble, request, PATH_LAG, STR("{}"), STR(LONGEST_LAG));
	if (about->id != plan->trouble.request)
		return false;
	if (plan->trouble.kind == TROUBLE_LAGGED && !plan->trouble.since) {
		answer_no_records(request, response);
		return true;
	}
	struct str rules = race_trouble_rules(request->arena, plan->trouble.kind, about->operation);
	if (str_is_set(rules))
		trouble->has_rules =
			set_control(trouble, request, PATH_FAULTS, STR("{\"rules\":[]}"), rules);
	return false;
}

void gate_trouble_end(struct gate_trouble *trouble, const struct race_request *about,
		      const struct http_request *request, struct http_response *response)
{
	const struct race_plan *plan = trouble->plan;
	bool is_meant = plan && about->id == plan->trouble.request;

	if (is_meant && plan->trouble.kind == TROUBLE_LOST)
		response->fault.is_dropped = true;
	if (trouble->has_rules)
		(void)ask_control(trouble, request, STR("DELETE"), PATH_FAULTS, STR(""));
	trouble->has_rules = false;
	if (!trouble->is_lagging)
		return;
	trouble->late += race_trouble_fits(TROUBLE_LAGGED, about);
	if (!is_meant && trouble->late < LATE_MAX)
		return;
	(void)ask_control(trouble, request, STR("DELETE"), PATH_LAG, STR(""));
	trouble->is_lagging = false;
}
