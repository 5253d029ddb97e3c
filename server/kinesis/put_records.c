#include "server/kinesis/put_records.h"

#include <string.h>
#include <time.h>

#include "core/base64.h"
#include "protocol/tables/arn.h"
#include "protocol/wire/json.h"
#include "protocol/wire/json_out.h"
#include "server/kinesis/messages.h"

#define TARGET_PUT "Kinesis_20131202.PutRecords"
#define TARGET_DESCRIBE "Kinesis_20131202.DescribeStreamSummary"
#define WAIT_MS 60000
#define STREAM_PREFIX STR("stream/")

/* Both names of the stream: some endpoints know only the short one. */
static void name_stream(struct json_out *out, struct str stream_arn)
{
	struct str resource = arn_split(stream_arn).resource;

	if (str_starts_with(resource, STREAM_PREFIX))
		json_out_field_string(
			out, "StreamName",
			((struct str){resource.p + STREAM_PREFIX.n, resource.n - STREAM_PREFIX.n}));
	json_out_field_string(out, "StreamARN", stream_arn);
}

static struct str put_records_body_of(struct arena *arena, const struct put_batch *request)
{
	struct json_out out = json_out_in(arena);

	json_out_open(&out, '{');
	name_stream(&out, request->stream_arn);
	json_out_name(&out, STR("Records"));
	json_out_open(&out, '[');
	for (size_t i = 0; i < request->n; i++) {
		struct buf data = buf_in(arena);

		base64_encode(request->v[i]->data, &data);
		json_out_open(&out, '{');
		json_out_field_string(&out, "Data", buf_str(&data));
		json_out_field_string(&out, "PartitionKey", request->v[i]->key);
		json_out_close(&out, '}');
	}
	json_out_close(&out, ']');
	json_out_close(&out, '}');
	return json_out_str(&out);
}

static struct str text_of(struct arena *arena, const struct json *object, const char *name)
{
	const struct json *member =
		object && json_type(object) == JSON_OBJECT ? json_member(object, name) : NULL;

	return member && json_type(member) == JSON_STRING ? json_string(arena, member) : STR_ABSENT;
}

/* The type of the error in an answer, without what stands before it; *problem: for the log. */
static struct str error_of_reply(struct arena *arena, const struct client_reply *reply,
				 const struct json *body, struct str *problem)
{
	struct str type = text_of(arena, body, "__type"), message = text_of(arena, body, "message");
	const char *hash = str_is_set(type) ? memchr(type.p, '#', type.n) : NULL;

	if (hash)
		type = (struct str){hash + 1, (size_t)(type.p + type.n - hash - 1)};
	*problem = str_printf(arena, MSG_KINESIS_ANSWER, reply->status,
			      STR_ARG(str_is_set(type) ? type : STR("")),
			      STR_ARG(str_is_set(message) ? message : STR("")));
	return type;
}

/* What an answer without a list of records says. AWS: a request that is wrong itself gets 400 with
 * one of three types; others may pass. */
static enum put_result put_records_refused(struct arena *arena, const struct client_reply *reply,
					   const struct json *body, struct str *problem)
{
	static const struct str wrong[] = {
		STR_INIT("ValidationException"),
		STR_INIT("InvalidArgumentException"),
		STR_INIT("SerializationException"),
	};
	struct str type = error_of_reply(arena, reply, body, problem);

	if (reply->status == 413)
		return PUT_REFUSED;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]) && reply->status == 400; i++) {
		if (str_is_set(type) && str_eq(type, wrong[i]))
			return PUT_REFUSED;
	}
	return PUT_FAILED;
}

/* AWS: the answer has an entry for each record, in their order; one with an ErrorCode was not
 * taken. */
static enum put_result judge_put_records(struct arena *arena, const struct put_batch *request,
					 const struct client_reply *reply, struct str *problem)
{
	struct err err = err_in(arena);
	const struct json *body = NULL, *list = NULL;
	bool are_all_done = true;

	if (json_parse(arena, reply->body, &body, &err) != OK || json_type(body) != JSON_OBJECT)
		body = NULL;
	if (body && reply->status == 200)
		list = json_member(body, "Records");
	if (!list || json_type(list) != JSON_ARRAY || json_count(list) != request->n)
		return put_records_refused(arena, reply, body, problem);
	const struct json *entry = json_first(list);
	for (size_t i = 0; i < request->n; i++, entry = json_next(entry)) {
		struct str code = text_of(arena, entry, "ErrorCode");

		request->v[i]->is_done = !str_is_set(code);
		if (!request->v[i]->is_done && are_all_done)
			*problem = code;
		are_all_done = are_all_done && request->v[i]->is_done;
	}
	return are_all_done ? PUT_SENT : PUT_PARTLY;
}

/* One signed request; false, and *problem, where there is no answer. */
static bool ask_kinesis(const struct put_endpoint *endpoint, struct arena *arena,
			struct str stream_arn, const char *operation, struct str body,
			struct put_tick tick, struct client_reply *reply, struct str *problem)
{
	struct str secret = str_of(endpoint->credentials), key = str_cut(&secret, ':');
	struct client_target target;
	const char *reason = "";

	if (!client_read_any_target(str_of(endpoint->where), &target))
		return false;
	target.authorities = endpoint->authorities;
	struct sigv4_own own = {
		.method = STR("POST"),
		.path = target.path,
		.query = STR(""),
		.body = body,
		.host = str_printf(arena, STR_FMT ":" STR_FMT, STR_ARG(target.host),
				   STR_ARG(target.port)),
		.access_key = key,
		.secret = secret,
		.region = arn_split(stream_arn).region,
		.target = str_of(operation),
		.service = STR("kinesis"),
	};
	const struct client_request sent = {
		.method = "POST",
		.body = body,
		.wait_ms = WAIT_MS,
		.whole_ms = WAIT_MS,
		.stopping = endpoint->stopping,
		.tick = tick.tick,
		.tick_context = tick.context,
		.type = STR("application/x-amz-json-1.1"),
		.head = str_printf(
			arena, "X-Amz-Target: %s\r\n" STR_FMT, operation,
			STR_ARG(sigv4_sign(endpoint->sigv4, arena, &own, (int64_t)time(NULL)))),
	};
	if (client_ask(arena, &target, &sent, reply, &reason))
		return true;
	*problem = str_of(reason);
	return false;
}

enum put_result put_records_probe(const struct put_endpoint *endpoint, struct arena *arena,
				  struct str stream_arn, struct put_tick tick, struct str *problem)
{
	struct json_out out = json_out_in(arena);
	struct err err = err_in(arena);
	struct client_reply reply = {0};
	const struct json *body = NULL;

	json_out_open(&out, '{');
	name_stream(&out, stream_arn);
	json_out_close(&out, '}');
	if (!ask_kinesis(endpoint, arena, stream_arn, TARGET_DESCRIBE, json_out_str(&out), tick,
			 &reply, problem))
		return PUT_FAILED;
	if (json_parse(arena, reply.body, &body, &err) != OK)
		body = NULL;
	struct str type = error_of_reply(arena, &reply, body, problem);
	if (str_is_set(type) && (str_eq(type, STR("ResourceNotFoundException")) ||
				 str_eq(type, STR("AccessDeniedException"))))
		return PUT_REFUSED;
	return reply.status >= 500 && reply.status != 501 ? PUT_FAILED : PUT_SENT;
}

enum put_result put_records_send(const struct put_endpoint *endpoint, struct arena *arena,
				 const struct put_batch *request, struct str *problem)
{
	struct client_reply reply = {0};

	if (!ask_kinesis(endpoint, arena, request->stream_arn, TARGET_PUT,
			 put_records_body_of(arena, request), request->tick, &reply, problem))
		return PUT_FAILED;
	return judge_put_records(arena, request, &reply, problem);
}
