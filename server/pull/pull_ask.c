#include "server/pull/pull_ask.h"

#include "protocol/ops.h"
#include "server/messages.h"
#include "server/seed/json_text.h"
#include "storage/monotonic.h"

#define TRIES 12 /* of a request that the source throttles or fails */
#define WAIT_MS_MAX 20000

static struct str error_type(struct arena *arena, struct str body, struct str *message)
{
	struct str type, text;

	json_text_error(arena, body, &type, &text);
	*message = str_is_set(type)
			   ? str_printf(arena, STR_FMT ": " STR_FMT, STR_ARG(type), STR_ARG(text))
			   : STR("no answer of DynamoDB's");
	return type;
}

static bool is_passing(int status, struct str type)
{
	static const char *const passing[] = {"ProvisionedThroughputExceededException",
					      "ThrottlingException", "RequestLimitExceeded",
					      "Throttling", "InternalServerError"};

	return status >= 500 || JSON_TEXT_IS_AMONG(type, passing);
}

static enum code pull_refused(struct str table, const char *operation, struct str type,
			      struct str message, struct err *err)
{
	if (str_eq(type, STR("AccessDeniedException")))
		return err_set(err, MSG_PULL_DENIED, STR_ARG(table), operation, STR_ARG(message));
	return err_set(err, MSG_PULL_REMOTE, STR_ARG(table), STR_ARG(str_of(operation)),
		       STR_ARG(message));
}

/* False where no answer came. */
static bool pull_send(const struct pull *pull, struct arena *arena, const char *operation,
		      struct str body, struct seed_reply *reply, struct str *problem)
{
	struct err err = err_in(arena);
	const struct seed_request request = {operation, body, pull->from.region,
					     pull->from.account};
	struct client_reply answer = {.status = 0};
	const char *why = "";

	if (!pull->source) {
		enum code code = pull->from.send(pull->from.context, arena, &request, reply, &err);

		*problem = err.message;
		return code == OK;
	}
	bool is_answered =
		elsewhere_send_in(pull->source, arena, pull->region,
				  ops_target(arena, str_of(operation)), body, &answer, &why);
	*reply = (struct seed_reply){answer.status, answer.body};
	*problem = str_of(why);
	return is_answered;
}

enum code pull_ask_once(const struct pull *pull, struct arena *arena, struct str table,
			const char *operation, struct str body, struct str *answer,
			bool *is_expired, struct err *err)
{
	struct str type, message;

	*is_expired = false;
	for (unsigned try = 0, ms = 50;; try++, ms = ms * 2 < WAIT_MS_MAX ? ms * 2 : WAIT_MS_MAX) {
		struct seed_reply reply = {.status = 0};
		bool is_answered = pull_send(pull, arena, operation, body, &reply, &message);

		if (is_answered && reply.status == 200) {
			*answer = reply.body;
			return OK;
		}
		type = STR("");
		if (is_answered)
			type = error_type(arena, reply.body, &message);
		*is_expired = str_eq(type, STR("ExpiredTokenException"));
		if (try == TRIES || !is_answered || !is_passing(reply.status, type))
			return pull_refused(table, operation, type, message, err);
		monotonic_sleep_ms(ms);
	}
}

enum code pull_ask(const struct pull *pull, struct arena *arena, struct str table,
		   const char *operation, struct str body, struct str *answer, struct err *err)
{
	bool is_expired = false;
	enum code code =
		pull_ask_once(pull, arena, table, operation, body, answer, &is_expired, err);

	if (!is_expired || !pull->renew(pull->context))
		return code;
	return pull_ask_once(pull, arena, table, operation, body, answer, &is_expired, err);
}

enum code pull_ask_file(const struct pull *pull, struct arena *arena, struct str table,
			const char *operation, struct str body, struct str *answer, struct err *err)
{
	const struct seed_request request = {operation, body, pull->target.region,
					     pull->target.account};
	struct seed_reply reply;
	struct str message;
	enum code code = pull->target.send(pull->target.context, arena, &request, &reply, err);

	if (code != OK)
		return code;
	*answer = reply.body;
	if (reply.status == 200)
		return OK;
	(void)error_type(arena, reply.body, &message);
	return err_set(err, MSG_PULL_HERE, STR_ARG(table), STR_ARG(message));
}

struct str pull_ask_arn(const struct pull *pull, struct arena *arena, struct str table)
{
	struct str account =
		str_is_set(pull->target.account) ? pull->target.account : STR("000000000000");

	return str_printf(arena, "arn:aws:dynamodb:" STR_FMT ":" STR_FMT ":table/" STR_FMT,
			  STR_ARG(pull->region), STR_ARG(account), STR_ARG(table));
}

bool pull_ask_has_table(const struct pull *pull, struct arena *arena, struct str table)
{
	struct err ignored = err_in(arena);
	struct str answer;

	return pull_ask_file(pull, arena, table, "DescribeTable",
			     json_text_request(arena, "TableName", table), &answer, &ignored) == OK;
}

