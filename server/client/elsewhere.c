#include "server/client/elsewhere.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "server/sigv4.h"

#define REPLY_MAX ((size_t)64 << 20) /* bytes; AWS's largest answer has 16 MB */

struct elsewhere {
	struct client_target target;
	int wait_ms;
	struct sigv4 *sigv4;
	struct elsewhere_keys keys;
	struct str region;
	const atomic_bool *stopping; /* or NULL */
};

static const char *setting(const char *first, const char *second, const char *otherwise)
{
	const char *value = getenv(first);

	if (!value || !*value)
		value = second ? getenv(second) : NULL;
	return value && *value ? value : otherwise;
}

const char *elsewhere_default(void)
{
	return setting("AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL", "http://localhost:8000");
}

struct elsewhere *elsewhere_new(const char *url, const struct reach *reach)
{
	struct elsewhere *elsewhere = arena_checked(calloc(1, sizeof(*elsewhere)));

	if (!client_read_endpoint(str_of(url), &elsewhere->target)) {
		fprintf(stderr,
			"dynalith: the endpoint wants http://HOST:PORT or https://HOST:PORT, not "
			"%s\n",
			url);
		free(elsewhere);
		return NULL;
	}
	elsewhere->target.authorities = reach->authorities;
	elsewhere->wait_ms = reach->wait_ms;
	elsewhere->keys.access_key =
		str_of(setting("AWS_ACCESS_KEY_ID", "AWS_ACCESS_KEY", "dynalith"));
	elsewhere->keys.secret =
		str_of(setting("AWS_SECRET_ACCESS_KEY", "AWS_SECRET_KEY", "dynalith"));
	elsewhere->keys.token = str_of(setting("AWS_SESSION_TOKEN", NULL, NULL));
	elsewhere->region = str_of(setting("AWS_REGION", "AWS_DEFAULT_REGION", "us-east-1"));
	elsewhere->sigv4 = sigv4_new(AUTH_VERIFY, NULL, 0);
	return elsewhere;
}

void elsewhere_free(struct elsewhere *elsewhere)
{
	if (!elsewhere)
		return;
	sigv4_free(elsewhere->sigv4);
	free(elsewhere);
}

void elsewhere_sign_by(struct elsewhere *elsewhere, const struct elsewhere_keys *keys)
{
	elsewhere->keys = *keys;
}

void elsewhere_stop_by(struct elsewhere *elsewhere, const atomic_bool *stopping)
{
	elsewhere->stopping = stopping;
}

/* `target` absent: the endpoints of this kind of server. */
static bool send_signed(struct elsewhere *elsewhere, struct arena *arena, struct str region,
			const char *method, struct str path, struct str target, struct str body,
			struct client_reply *reply, const char **problem)
{
	struct client_target server = elsewhere->target;
	struct sigv4_own own = {
		.method = str_of(method),
		.path = path,
		.body = body,
		.access_key = elsewhere->keys.access_key,
		.secret = elsewhere->keys.secret,
		.region = region,
		.target = target,
		.token = elsewhere->keys.token,
		.host = str_printf(arena, STR_FMT ":" STR_FMT, STR_ARG(server.host),
				   STR_ARG(server.port)),
	};
	struct str signature = sigv4_sign(elsewhere->sigv4, arena, &own, (int64_t)time(NULL));
	struct str name = str_is_set(target) ? str_printf(arena, "X-Amz-Target: " STR_FMT "\r\n",
							  STR_ARG(target))
					     : STR("");
	const struct client_request request = {
		.method = method,
		.body = body,
		.wait_ms = elsewhere->wait_ms,
		.reply_max = REPLY_MAX,
		.stopping = elsewhere->stopping,
		.head = str_printf(arena, STR_FMT STR_FMT, STR_ARG(signature), STR_ARG(name)),
	};

	if (!str_is_set(target))
		server.path = path;
	bool is_answered = client_ask(arena, &server, &request, reply, problem);
	*problem = is_answered ? *problem : client_advice(arena, &server, *problem);
	return is_answered;
}

bool elsewhere_send(struct elsewhere *elsewhere, struct arena *arena, struct str target,
		    struct str body, struct client_reply *reply, const char **problem)
{
	return elsewhere_send_in(elsewhere, arena, elsewhere->region, target, body, reply, problem);
}

bool elsewhere_send_in(struct elsewhere *elsewhere, struct arena *arena, struct str region,
		       struct str target, struct str body, struct client_reply *reply,
		       const char **problem)
{
	return send_signed(elsewhere, arena, region, "POST", STR("/"), target, body, reply,
			   problem);
}

struct str elsewhere_region(const struct elsewhere *elsewhere)
{
	return elsewhere->region;
}

struct str elsewhere_access_key(const struct elsewhere *elsewhere)
{
	return elsewhere->keys.access_key;
}

bool elsewhere_control(struct elsewhere *elsewhere, struct arena *arena, const char *method,
		       struct str path, struct str body, struct client_reply *reply,
		       const char **problem)
{
	return send_signed(elsewhere, arena, elsewhere->region, method, path, STR_ABSENT, body,
			   reply, problem);
}
