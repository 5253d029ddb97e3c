#include "server/tools/health.h"

#include <stdio.h>
#include <string.h>

#include "core/err.h"
#include "protocol/wire/json.h"
#include "server/client/client.h"

#define WAIT_MS 5000

/* The status of the answer, which may be wanted as well; 0 where there is none. */
static int ask_health(struct arena *arena, const struct health_options *options, struct str host,
		      struct str *body, const char **problem)
{
	const struct client_target target = {.host = host,
					     .port = str_printf(arena, "%u", options->port),
					     .path = STR("/_dynalith/health"),
					     .is_tls = options->is_tls,
					     .authorities = options->authorities};
	int wait_ms = options->wait_ms ? options->wait_ms : WAIT_MS;
	const struct client_request request = {
		.method = "GET", .body = STR(""), .wait_ms = wait_ms, .whole_ms = wait_ms};
	struct client_reply reply = {0};

	bool is_answered = client_ask(arena, &target, &request, &reply, problem);
	if (!is_answered)
		*problem = client_advice(arena, &target, *problem);
	if (body)
		*body = reply.body;
	return is_answered ? reply.status : 0;
}

static bool is_every_address(const char *host)
{
	return strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0;
}

/* A member that is a text; absent where there is none. */
static struct str member_text_of(struct arena *arena, struct str body, const char *name)
{
	struct err err = err_in(arena);
	const struct json *root, *member = NULL;

	if (json_parse(arena, body, &root, &err) == OK && json_type(root) == JSON_OBJECT)
		member = json_member(root, name);
	return member && json_type(member) == JSON_STRING ? json_string(arena, member) : STR_ABSENT;
}

const char *health_who(struct arena *arena, const struct health_options *options)
{
	struct str host = str_of(is_every_address(options->host) ? "127.0.0.1" : options->host),
		   body = STR("");
	const char *problem;

	int status = ask_health(arena, options, host, &body, &problem);
	struct str version = status ? member_text_of(arena, body, "version") : STR_ABSENT,
		   data = status ? member_text_of(arena, body, "store") : STR_ABSENT;
	if (!str_is_set(version) || !str_is_set(data))
		return "another program has it";
	const char *place = str_eq(data, STR("memory")) ? "in memory"
			    : str_eq(data, STR("file")) ? "in a file"
							: "in a database";
	return str_printf(arena, "Dynalith " STR_FMT " answers there, its data %s",
			  STR_ARG(version), place)
		.p;
}

bool health_ask(struct arena *arena, const struct health_options *options)
{
	const char *host = options->host, *problem = "";
	bool is_any = is_every_address(host);
	int status = ask_health(arena, options, is_any ? STR("127.0.0.1") : str_of(host), NULL,
				&problem);

	if (status == 0 && is_any && host[0] == ':')
		status = ask_health(arena, options, STR("::1"), NULL, &problem);
	if (status == 0)
		fprintf(stderr, "dynalith: %s:%u: %s\n", host, options->port, problem);
	else if (status != 200)
		fprintf(stderr, "dynalith: %s:%u: answers with status %d\n", host, options->port,
			status);
	return status == 200;
}
