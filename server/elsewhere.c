#include "server/elsewhere.h"

#include <stdlib.h>
#include <time.h>

#include "server/sigv4.h"

#define WAIT_MS 60000
#define REPLY_MAX ((size_t)64 << 20) /* bytes; AWS's largest answer has 16 MB */

struct elsewhere {
	struct client_target target;
	struct sigv4 *sigv4;
	struct str access_key, secret, token, region;
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

struct elsewhere *elsewhere_new(const char *url, const char *authorities)
{
	struct elsewhere *elsewhere = arena_checked(calloc(1, sizeof(*elsewhere)));

	if (!client_read_any_target(str_of(url), &elsewhere->target)) {
		free(elsewhere);
		return NULL;
	}
	elsewhere->target.authorities = authorities;
	elsewhere->access_key = str_of(setting("AWS_ACCESS_KEY_ID", "AWS_ACCESS_KEY", "dynalith"));
	elsewhere->secret = str_of(setting("AWS_SECRET_ACCESS_KEY", "AWS_SECRET_KEY", "dynalith"));
	elsewhere->token = str_of(setting("AWS_SESSION_TOKEN", NULL, NULL));
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

bool elsewhere_send(struct elsewhere *elsewhere, struct arena *arena, struct str target, struct str body, struct client_reply *reply, const char **problem)
{
	const struct client_target *server = &elsewhere->target;
	struct sigv4_own own = {
		.method = STR("POST"), .path = STR("/"), .body = body, .access_key = elsewhere->access_key, .secret = elsewhere->secret,
		.region = elsewhere->region, .target = target, .token = elsewhere->token,
		.host = str_printf(arena, STR_FMT ":" STR_FMT, STR_ARG(server->host), STR_ARG(server->port)),
	};
	struct str signature = sigv4_sign(elsewhere->sigv4, arena, &own, (int64_t)time(NULL));
	const struct client_request request = {
		.method = "POST", .body = body, .wait_ms = WAIT_MS, .reply_max = REPLY_MAX,
		.head = str_printf(arena, STR_FMT "X-Amz-Target: " STR_FMT "\r\n", STR_ARG(signature), STR_ARG(target)),
	};

	return client_ask(arena, server, &request, reply, problem);
}
