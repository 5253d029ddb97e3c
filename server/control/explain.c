#include "server/control/explain.h"

#include "protocol/insight/insight.h"
#include "server/messages.h"
#include "server/seed/json_text.h"

#define PAGES_MAX 50 /* that are followed to say what all of them cost */

static enum code let_in(void *context, struct ns *ns, struct err *err)
{
	const struct control_call *call = context;

	(void)err;
	*ns = call->ns;
	return OK;
}

/* A read from its first page to its last. */
struct whole {
	const struct control_call *call;
	struct op_request request;
	struct str operation;
	const char *more, *next;  /* the member of the answer that says where to go on, and that of the request that takes it */
	uint64_t pages, read, returned;
	double units;
	bool is_cut;
};

static void count_page(struct whole *whole, struct arena *arena, const struct op_response *response)
{
	const struct json *body;
	struct err err = err_in(arena);
	int64_t read = 0, returned = 0;

	whole->pages++;
	whole->units += response->consumed.read;
	if (json_parse(arena, response->body, &body, &err) != OK)
		return;
	const struct json *scanned = json_member(body, "ScannedCount"), *count = json_member(body, "Count"), *items = json_member(body, "Items");
	if (count && json_integer(count, &returned))
		whole->returned += (uint64_t)returned;
	else if (items)
		whole->returned += json_count(items);
	if (scanned && json_integer(scanned, &read))
		whole->read += (uint64_t)read;
}

/* The request for the page behind the answer's; false where there is none. */
static bool go_on(struct whole *whole, struct arena *arena, struct str answer, struct str *body)
{
	struct str from = json_text_find(answer, str_of(whole->more)), rest = json_text_inside(whole->request.body), name, value;
	struct buf next = buf_in(arena);

	if (!str_is_set(from))
		return false;
	buf_printf(&next, "{\"%s\":" STR_FMT, whole->next, STR_ARG(from));
	while (json_text_member(&rest, &name, &value)) {
		if (!str_eq(name, str_of(whole->next)))
			buf_printf(&next, ",\"" STR_FMT "\":" STR_FMT, STR_ARG(name), STR_ARG(value));
	}
	buf_add_byte(&next, '}');
	*body = buf_str(&next);
	return true;
}

/* Each page in memory of its own. */
static void follow(struct whole *whole, const struct op_response *first)
{
	struct arena *arena = arena_new(0), *next;
	struct op_request request = whole->request;
	struct op_response response = *first;

	count_page(whole, arena, &response);
	while (response.code == OK && go_on(whole, arena, response.body, &request.body)) {
		if (whole->pages == PAGES_MAX) {
			whole->is_cut = true;
			break;
		}
		next = arena_new(0);
		request.arena = next;
		response = (struct op_response){0};
		request.body = str_copy(next, request.body);
		op_run(whole->call->control->service, &request, &response);
		arena_free(arena);
		arena = next;
		if (response.code == OK)
			count_page(whole, arena, &response);
		else
			whole->is_cut = true;
	}
	arena_free(arena);
}

static struct str with_whole(const struct whole *whole, struct str explanation)
{
	struct json_out out = json_out_in(whole->call->arena);

	json_out_open(&out, '{');
	json_out_field_integer(&out, "pages", (int64_t)whole->pages);
	if (!str_eq(whole->operation, STR("ExecuteStatement"))) /* whose answer does not say how many it read */
		json_out_field_integer(&out, "items_read", (int64_t)whole->read);
	json_out_field_integer(&out, "items_returned", (int64_t)whole->returned);
	json_out_name(&out, STR("read_units"));
	json_out_units(&out, whole->units);
	json_out_field_boolean(&out, "is_cut", whole->is_cut);
	json_out_close(&out, '}');
	explanation.n--;
	return str_printf(whole->call->arena, STR_FMT ",\"whole\":" STR_FMT "}", STR_ARG(explanation), STR_ARG(json_out_str(&out)));
}

/* {"operation": "Query", "request": {...}} */
static enum code read_request(struct whole *whole, struct err *err)
{
	static const struct {
		const char *operation, *more, *next;
	} paged[] = {
		{"Query", "LastEvaluatedKey", "ExclusiveStartKey"}, {"Scan", "LastEvaluatedKey", "ExclusiveStartKey"}, {"ExecuteStatement", "NextToken", "NextToken"},
	};
	const struct control_call *call = whole->call;
	const struct json *operation = NULL, *body = NULL;
	enum op_id id;
	const struct control_member members[] = {{"operation", JSON_STRING, &operation}, {"request", JSON_OBJECT, &body}};
	enum code code = control_read(call, members, sizeof(members) / sizeof(members[0]), err);

	if (code != OK)
		return code;
	if (!operation || !body)
		return err_set(err, MSG_EXPLAIN_BODY);
	whole->operation = json_string(call->arena, operation);
	if (!ops_find(whole->operation, &id) || !ops_is_of_items(id))
		return err_set(err, MSG_EXPLAIN_OPERATION, STR_ARG(whole->operation));
	for (size_t i = 0; i < sizeof(paged) / sizeof(paged[0]); i++) {
		if (str_eq(whole->operation, str_of(paged[i].operation)))
			whole->more = paged[i].more, whole->next = paged[i].next;
	}
	whole->request = (struct op_request){
		.arena = call->arena, .target = str_printf(call->arena, "DynamoDB_20120810." STR_FMT, STR_ARG(whole->operation)),
		.content_type = STR("application/x-amz-json-1.0"), .authenticate = let_in, .auth_context = (struct control_call *)(uintptr_t)call,
		.body = json_text_find(call->body, STR("request")), /* as it stands: numbers keep all their digits */
		.explain = OP_EXPLAIN_ALONE,
	};
	return OK;
}

enum code explain_request(const struct control_call *call, struct str *answer, struct err *err)
{
	struct whole whole = {.call = call};
	struct op_response response = {0};
	enum code code = read_request(&whole, err);

	if (code != OK)
		return code;
	op_run(call->control->service, &whole.request, &response); /* without a slice it comes to its end */
	*answer = response.explanation;
	if (!whole.more || response.code != OK)
		return OK;
	follow(&whole, &response);
	*answer = with_whole(&whole, *answer);
	return OK;
}
