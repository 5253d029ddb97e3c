#include "server/client/remote.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "protocol/wire/json.h"
#include "protocol/wire/json_out.h"
#include "server/command/interrupt.h"
#include "server/messages.h"
#include "server/sigv4.h"
#include "storage/store/durable.h"
#include "storage/store/copy_target.h"

#define TRIES_MAX 50         /* of a server that is overloaded */
#define PAUSE_NS 100000000
#define LAST_WORD_MS 500     /* to a server, of a command that is interrupted */
#define REPLY_MAX                                                                                  \
	((size_t)4 * 1024 * 1024) /* a block of a dump, in base64: behind up to 512 KB comes a     \
				     record of two images of 400 KB */

struct remote {
	struct client_target target;
	int wait_ms, whole_ms;
	unsigned tries;
	struct arena *arena;         /* of one request */
	struct sigv4 *sigv4;         /* NULL: requests are not signed */
	struct str access_key, secret;
	struct str url;
};

bool remote_is_url(const char *word)
{
	return str_starts_with(str_of(word), STR("http://")) ||
	       str_starts_with(str_of(word), STR("https://")) ||
	       client_is_host_and_port(str_of(word));
}

struct remote *remote_new(const char *url, const struct reach *reach)
{
	struct remote *remote = arena_checked(calloc(1, sizeof(*remote)));

	remote->url = str_of(url);
	remote->access_key = str_of(getenv("AWS_ACCESS_KEY_ID"));
	remote->secret = str_of(getenv("AWS_SECRET_ACCESS_KEY"));
	if (!client_read_endpoint(remote->url, &remote->target)) {
		free(remote);
		return NULL;
	}
	remote->target.authorities = reach->authorities;
	remote->wait_ms = reach->wait_ms;
	remote->tries = TRIES_MAX;
	remote->arena = arena_new(4 * 1024 * 1024);
	if (str_is_set(remote->access_key) && str_is_set(remote->secret))
		remote->sigv4 = sigv4_new(AUTH_VERIFY, NULL, 0);
	return remote;
}

struct remote *remote_again(const struct remote *remote, int whole_ms)
{
	struct remote *again =
		remote_new(remote->url.p, &(struct reach){.authorities = remote->target.authorities,
							  .wait_ms = whole_ms});

	again->whole_ms = whole_ms;
	again->tries = 1;
	return again;
}

void remote_free(struct remote *remote)
{
	sigv4_free(remote->sigv4);
	arena_free(remote->arena);
	free(remote);
}

static struct str request_head_of(struct remote *remote, const char *method, struct str path,
				  struct str query, struct str body)
{
	struct sigv4_own own = {
		.method = str_of(method),
		.path = path,
		.query = query,
		.body = body,
		.access_key = remote->access_key,
		.secret = remote->secret,
		.host = str_printf(remote->arena, STR_FMT ":" STR_FMT, STR_ARG(remote->target.host),
				   STR_ARG(remote->target.port)),
	};

	return remote->sigv4 ? sigv4_sign(remote->sigv4, remote->arena, &own, (int64_t)time(NULL))
			     : STR_ABSENT;
}

/* The message of an error. */
static struct str problem_of_answer(struct arena *arena, const struct client_reply *reply)
{
	struct err err = err_in(arena);
	const struct json *root, *message = NULL;

	if (json_parse(arena, reply->body, &root, &err) == OK && json_type(root) == JSON_OBJECT)
		message = json_member(root, "message") ? json_member(root, "message")
						       : json_member(root, "Message");
	return message && json_type(message) == JSON_STRING
		       ? json_string(arena, message)
		       : str_printf(arena, "status %d", reply->status);
}

/* Asks for a piece; the reply lies in the remote's arena. */
static enum code ask_remote(struct remote *remote, const char *method, struct str path,
			    struct str query, struct str body, struct str *answer, struct err *err)
{
	struct client_target target = remote->target;
	struct client_reply reply = {.status = 503};
	const char *problem = "";
	bool is_answered = true;

	target.path = query.n ? str_printf(remote->arena, STR_FMT "?" STR_FMT, STR_ARG(path),
					   STR_ARG(query))
			      : path;
	for (unsigned i = 0; i < remote->tries && is_answered && reply.status == 503; i++) {
		const struct client_request request = {
			.method = method,
			.head = request_head_of(remote, method, path, query, body),
			.body = body,
			.wait_ms = remote->wait_ms,
			.whole_ms = remote->whole_ms,
			.reply_max = REPLY_MAX};

		if (i > 0)
			nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
		is_answered = client_ask(remote->arena, &target, &request, &reply, &problem);
	}
	if (!is_answered)
		return err_set(
			err, MSG_REMOTE, STR_ARG(remote->url),
			STR_ARG(str_of(client_advice(err->arena, &remote->target, problem))));
	if (reply.status != 200)
		return err_set(err, MSG_REMOTE, STR_ARG(remote->url),
			       STR_ARG(problem_of_answer(err->arena, &reply)));
	*answer = reply.body;
	return OK;
}

static enum code ask_json(struct remote *remote, const char *method, struct str path,
			  struct str query, struct str body, const struct json **root,
			  struct err *err)
{
	struct err own = err_in(remote->arena);
	struct str answer;
	enum code code = ask_remote(remote, method, path, query, body, &answer, err);

	if (code != OK)
		return code;
	if (json_parse(remote->arena, answer, root, &own) != OK || json_type(*root) != JSON_OBJECT)
		return err_set(err, MSG_REMOTE, STR_ARG(remote->url),
			       STR_ARG(STR("no answer of this kind of server")));
	return OK;
}

enum code remote_fetch(struct remote *remote, struct str path, struct arena *arena,
		       struct str *text, struct err *err)
{
	struct str answer;

	arena_reset(remote->arena);
	enum code code = ask_remote(remote, "GET", path, STR(""), STR(""), &answer, err);
	if (code != OK)
		return code;
	*text = str_copy(arena, answer);
	return OK;
}

enum code remote_call(struct remote *remote, const char *method, struct str path, struct str query,
		      struct str body, const struct json **root, struct err *err)
{
	arena_reset(remote->arena);
	return ask_json(remote, method, path, query, body, root, err);
}

static uint64_t number_in_answer(const struct json *root, const char *name)
{
	const struct json *member = json_member(root, name);
	int64_t number = 0;

	return member && json_type(member) == JSON_NUMBER && json_integer(member, &number) &&
			       number > 0
		       ? (uint64_t)number
		       : 0;
}

static void add_answer(struct remote *remote, const struct json *root, struct check_report *report)
{
	const struct json *findings = json_member(root, "findings");

	if (findings && json_type(findings) == JSON_ARRAY) {
		for (const struct json *line = json_first(findings); line; line = json_next(line))
			report->tell(report->context, json_type(line) == JSON_STRING
							      ? json_string(remote->arena, line)
							      : STR("?"));
	}
	report->findings += number_in_answer(root, "count");
	report->tables += number_in_answer(root, "tables");
	report->items += number_in_answer(root, "items");
	report->index_rows += number_in_answer(root, "index_rows");
	report->expiry_rows += number_in_answer(root, "expiry_rows");
	report->records += number_in_answer(root, "records");
}

enum code remote_check(struct remote *remote, struct check_report *report, struct err *err)
{
	struct arena *next = arena_new(64 * 1024);
	struct str body = STR("{}");
	bool is_done = false;
	enum code code = OK;

	while (code == OK && !is_done) {
		const struct json *root = NULL, *cursor;

		arena_reset(remote->arena);
		code = ask_json(remote, "POST", STR("/_dynalith/check"), STR(""), body, &root, err);
		if (code != OK)
			break;
		add_answer(remote, root, report);
		cursor = json_member(root, "cursor");
		is_done = !cursor || json_type(cursor) != JSON_STRING;
		arena_reset(next);
		if (!is_done)
			body = str_printf(next, "{\"cursor\":\"" STR_FMT "\"}",
					  STR_ARG(json_string(remote->arena, cursor)));
	}
	arena_free(next);
	return code;
}

/* Begins a copy, or goes on with it; its size once it is whole, else 0. The id gets its place in
 * the arena of `err`. */
static enum code make_copy(struct remote *remote, struct str *query, uint64_t *bytes,
			   struct err *err)
{
	const struct json *root = NULL, *id;

	arena_reset(remote->arena);
	enum code code =
		ask_json(remote, "POST", STR("/_dynalith/backup"), *query, STR(""), &root, err);
	if (code != OK)
		return code;
	id = json_member(root, "backup");
	if (!id || json_type(id) != JSON_STRING)
		return err_set(err, MSG_REMOTE, STR_ARG(remote->url),
			       STR_ARG(STR("no answer of this kind of server")));
	if (query->n == 0)
		*query = str_printf(err->arena, "id=" STR_FMT,
				    STR_ARG(json_string(remote->arena, id)));
	*bytes = number_in_answer(root, "bytes");
	return OK;
}

static enum code take_bytes(struct remote *remote, struct str query, uint64_t bytes, int fd,
			    struct err *err)
{
	for (uint64_t at = 0; at < bytes;) {
		struct str piece;

		arena_reset(remote->arena);
		struct str where = str_printf(remote->arena, STR_FMT "&at=%llu", STR_ARG(query),
					      (unsigned long long)at);
		enum code code = ask_remote(remote, "POST", STR("/_dynalith/backup"), where,
					    STR(""), &piece, err);
		if (code != OK)
			return code;
		if (piece.n == 0 || piece.n > bytes - at)
			return err_set(err, MSG_REMOTE, STR_ARG(remote->url),
				       STR_ARG(STR("the copy is not whole")));
		errno = ENOSPC; /* a short write sets none */
		if (pwrite(fd, piece.p, piece.n, (off_t)at) != (ssize_t)piece.n)
			return err_set(err, MSG_REMOTE, STR_ARG(STR("the backup")),
				       STR_ARG(str_of(strerror(errno))));
		at += piece.n;
	}
	return durable_sync(fd) == 0 ? OK
				     : err_set(err, MSG_REMOTE, STR_ARG(STR("the backup")),
					       STR_ARG(str_of(strerror(errno))));
}

/* The server need not keep its copy any longer. */
static enum code end_copy(struct remote *remote, struct str query, struct err *err)
{
	struct str answer;

	arena_reset(remote->arena);
	return ask_remote(remote, "POST", STR("/_dynalith/backup"),
			  str_printf(remote->arena, STR_FMT "&at=end", STR_ARG(query)), STR(""),
			  &answer, err);
}

/* A copy that the server makes. */
struct made {
	const struct remote *remote;
	struct str query;
};

/* An interrupt_undo. */
static void forget_copy(void *context)
{
	const struct made *made = context;
	struct remote *again = remote_again(made->remote, LAST_WORD_MS);
	struct err ignored = err_in(again->arena);

	(void)(end_copy(again, made->query, &ignored) == OK);
}

static enum code wait_and_take(struct remote *remote, struct made *made, uint64_t bytes, int fd,
			       struct err *err)
{
	while (bytes == 0) {
		enum code code = make_copy(remote, &made->query, &bytes, err);
		if (code != OK)
			return code;
	}
	return take_bytes(remote, made->query, bytes, fd, err);
}

static enum code take_copy(struct remote *remote, int fd, struct err *err)
{
	struct err ignored = err_in(err->arena);
	struct made made = {.remote = remote, .query = STR("")};
	struct interrupt_undo undo = {.run = forget_copy, .context = &made};
	uint64_t bytes = 0;
	enum code code = make_copy(remote, &made.query, &bytes, err);

	if (code != OK)
		return code;
	interrupt_undo(&undo);
	code = wait_and_take(remote, &made, bytes, fd, err);
	enum code ended = end_copy(remote, made.query, code == OK ? err : &ignored);
	interrupt_forget(&undo);
	if (code != OK)
		return code;
	return ended;
}

static enum code copy_to_part(struct remote *remote, const char *part, struct err *err)
{
	int fd;
	enum code code = copy_target_open(part, &fd, err);

	if (code != OK)
		return code;
	code = take_copy(remote, fd, err);
	close(fd);
	return code;
}

enum code remote_backup(const char *url, const struct reach *reach, const char *part,
			struct err *err)
{
	struct remote *remote = remote_new(url, reach);

	if (!remote)
		return err_set(err, MSG_REMOTE, STR_ARG(str_of(url)),
			       STR_ARG(STR("is no URL of a server")));
	enum code code = copy_to_part(remote, part, err);
	remote_free(remote);
	return code;
}
