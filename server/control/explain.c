/*
 * explain - the endpoint that explains a request without carrying it out. It changes nothing, and
 * needs no --insight.
 */
#include "server/control/endpoints.h"

#include "protocol/iam/iam.h"
#include "protocol/insight/insight.h"
#include "server/messages.h"
#include "server/seed/json_text.h"

#define PAGES_MAX 50 /* that are followed to say what all of them cost */

/* Who is asked about: in the namespace of the call, by the policies of a key where there is one. */
struct asker {
	struct ns ns; /* the first member: op_request_inside() */
	struct str access_key; /* or absent */
};

static struct str key_of_asker(void *context, struct arena *arena)
{
	(void)arena;
	return ((const struct asker *)context)->access_key;
}

/* A read from its first page to its last. */
struct whole {
	const struct control_call *call;
	struct asker asker;
	struct op_request request;
	struct str operation;
	const char *more, *next; /* the member of the answer that says where to go on, and that of
				    the request that takes it */
	uint64_t pages, read, returned;
	double units;
	bool is_cut;
};

/* How many items the accesses of a page read, by its explanation: the answer of a statement does
 * not say it. */
static uint64_t items_read(struct arena *arena, struct str explanation)
{
	struct str accesses = json_text_find(explanation, STR("accesses")), access;
	struct str rest = str_is_set(accesses) ? json_text_inside(accesses) : STR("");
	struct err err = err_in(arena);
	uint64_t sum = 0;

	while (json_text_element(&rest, &access)) {
		const struct json *root, *member;
		int64_t n;

		if (json_parse(arena, access, &root, &err) != OK)
			continue;
		member = json_member(root, "items_read");
		if (member && json_integer(member, &n))
			sum += (uint64_t)n;
	}
	return sum;
}

static void count_page(struct whole *whole, struct arena *arena, const struct op_response *response)
{
	const struct json *body;
	struct err err = err_in(arena);
	int64_t returned = 0;

	whole->pages++;
	whole->units += response->consumed.read;
	whole->read += items_read(arena, response->explanation);
	if (json_parse(arena, response->body, &body, &err) != OK)
		return;
	const struct json *count = json_member(body, "Count"), *items = json_member(body, "Items");
	if (count && json_integer(count, &returned))
		whole->returned += (uint64_t)returned;
	else if (items)
		whole->returned += json_count(items);
}

/* The request for the page behind the answer's; false where there is none. */
static bool go_on(struct whole *whole, struct arena *arena, struct str answer, struct str *body)
{
	struct str from = json_text_find(answer, str_of(whole->more)),
		   rest = json_text_inside(whole->request.body), name, value;
	struct buf next = buf_in(arena);

	if (!str_is_set(from))
		return false;
	buf_printf(&next, "{\"%s\":" STR_FMT, whole->next, STR_ARG(from));
	while (json_text_member(&rest, &name, &value)) {
		if (!str_eq(name, str_of(whole->next)))
			buf_printf(&next, ",\"" STR_FMT "\":" STR_FMT, STR_ARG(name),
				   STR_ARG(value));
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
	json_out_field_integer(&out, "items_read", (int64_t)whole->read);
	json_out_field_integer(&out, "items_returned", (int64_t)whole->returned);
	json_out_name(&out, STR("read_units"));
	json_out_units(&out, whole->units);
	json_out_field_boolean(&out, "is_cut", whole->is_cut);
	json_out_close(&out, '}');
	explanation.n--;
	return str_printf(whole->call->arena, STR_FMT ",\"whole\":" STR_FMT "}",
			  STR_ARG(explanation), STR_ARG(json_out_str(&out)));
}

/* {"operation": "Query", "request": {...}, "access_key": KEY} */
static enum code read_request(struct whole *whole, struct err *err)
{
	static const struct {
		const char *operation, *more, *next;
	} paged[] = {
		{"Query", "LastEvaluatedKey", "ExclusiveStartKey"},
		{"Scan", "LastEvaluatedKey", "ExclusiveStartKey"},
		{"ExecuteStatement", "NextToken", "NextToken"},
	};
	const struct control_call *call = whole->call;
	const struct json *operation = NULL, *body = NULL, *key = NULL;
	enum op_id id;
	const struct control_member members[] = {{"operation", JSON_STRING, &operation},
						 {"request", JSON_OBJECT, &body},
						 {"access_key", JSON_STRING, &key}};
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
	if (key && !call->control->service->iam)
		return err_set(err, MSG_IAM_OFF);
	if (key && !call->may_control) /* by another key's policies it would see more than it may */
		return err_set(err, MSG_EXPLAIN_KEY);
	whole->asker = (struct asker){call->ns, key ? json_string(call->arena, key) : STR_ABSENT};
	whole->request = op_request_inside(
		call->arena, &whole->asker.ns, whole->operation,
		json_text_find(call->body,
			       STR("request"))); /* as it stands: numbers keep all their digits */
	whole->request.access_key = key ? key_of_asker : NULL;
	whole->request.explain = OP_EXPLAIN_ALONE;
	return OK;
}

/* An array's elements, or a single value; none where it is absent. */
struct one_or_many {
	struct str rest, single;
};

static struct one_or_many one_or_many(struct str value)
{
	bool is_array = value.n > 0 && value.p[0] == '[';

	return (struct one_or_many){is_array ? json_text_inside(value) : STR(""),
				    is_array || value.n == 0 ? STR_ABSENT : value};
}

static bool next_of(struct one_or_many *values, struct str *one)
{
	if (!str_is_set(values->single))
		return values->rest.n > 0 && json_text_element(&values->rest, one);
	*one = values->single;
	values->single = STR_ABSENT;
	return true;
}

/* The statement of that number among all of a principal's member; else what is left of the number.
 */
static struct str find_statement(struct str policies, int64_t *number)
{
	struct one_or_many policy_list = one_or_many(policies);
	struct str policy, statement;

	while (next_of(&policy_list, &policy)) {
		struct one_or_many statements =
			one_or_many(json_text_find(policy, STR("Statement")));

		while (next_of(&statements, &statement)) {
			if ((*number)-- == 0)
				return statement;
		}
	}
	return STR_ABSENT;
}

/* Whose the statement of that number is in the document that counts, and on which line, from 1. */
static struct str place_of_statement(const struct whole *whole, struct str document, int64_t number)
{
	static const char *const members[] = {"identity", "boundary",
					      "session"}; /* in the order of their numbers */
	struct str rest = json_text_inside(json_text_find(document, STR("principals"))), principal;

	for (unsigned p = 0; json_text_element(&rest, &principal); p++) {
		for (size_t m = 0; m < sizeof(members) / sizeof(members[0]); m++) {
			struct str statement = find_statement(
				json_text_find(principal, str_of(members[m])), &number);
			size_t line = 1;

			if (!str_is_set(statement))
				continue;
			for (const char *at = document.p; at < statement.p; at++)
				line += *at == '\n';
			return str_printf(whole->call->arena,
					  ",\"document\":\"principals[%u].%s\",\"line\":%zu", p,
					  members[m], line);
		}
	}
	return STR("");
}

/* Adds to each decision of a policy of the document where its statement stands. */
static struct str decided_by(const struct whole *whole, struct str explanation)
{
	const struct control *control = whole->call->control;
	struct arena *arena = whole->call->arena;
	struct str decisions = json_text_find(explanation, STR("iam")), rest, one, document;
	struct err err = err_in(arena);
	struct buf buf = buf_in(arena);

	if (!str_is_set(decisions) || iam_show(control->service->iam, control->service->catalog,
					       arena, &document, &err) != OK)
		return explanation;
	buf_add(&buf, explanation.p, (size_t)(decisions.p - explanation.p));
	buf_add_byte(&buf, '[');
	rest = json_text_inside(decisions);
	for (bool is_first = true; json_text_element(&rest, &one); is_first = false) {
		const struct json *root;
		int64_t number = 0;
		bool is_of_document =
			json_parse(arena, one, &root, &err) == OK &&
			json_member(root, "statement") &&
			json_integer(json_member(root, "statement"), &number) &&
			!str_eq(json_text_string(arena, root, "policy"), STR("resource"));

		buf_printf(&buf, "%s%.*s" STR_FMT "}", is_first ? "" : ",", (int)one.n - 1, one.p,
			   STR_ARG(is_of_document ? place_of_statement(whole, document, number)
						  : STR("")));
	}
	buf_add_byte(&buf, ']');
	const char *end = decisions.p + decisions.n;
	buf_add(&buf, end, (size_t)(explanation.p + explanation.n - end));
	return buf_str(&buf);
}

enum code explain_request(const struct control_call *call, struct str *answer, struct err *err)
{
	struct whole whole = {.call = call};
	struct op_response response = {0};
	enum code code = read_request(&whole, err);

	if (code != OK)
		return code;
	op_run(call->control->service, &whole.request,
	       &response); /* without a slice it comes to its end */
	*answer = decided_by(&whole, response.explanation);
	if (!whole.more || response.code != OK)
		return OK;
	follow(&whole, &response);
	*answer = with_whole(&whole, *answer);
	return OK;
}
