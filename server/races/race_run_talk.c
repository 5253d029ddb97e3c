#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "protocol/ops.h"
#include "protocol/wire/json.h"
#include "protocol/wire/json_out.h"
#include "server/races/race_run.h"
#include "server/seed/json_text.h"
#include "storage/monotonic.h"

#define ROOM_MIN 65536
#define LOOK_MS 1             /* between two looks whether a request may go */
#define REPLY_MS 60000        /* for what the test is asked */
#define LIMIT_NONE_MS 3600000 /* for the first run of a test */

/* A request of the test, until its client has the answer. */
struct told {
	struct told *next;
	struct race_talk *talk;
	struct arena *arena; /* it and all of its own lie there */
	size_t number;
	struct headers headers;
	struct http_request request; /* its claim is this */
	bool is_free;                /* of an operation that the gate does not know */
	bool is_sent, is_answered;
	int status;
	struct str answer;
};

struct race_talk {
	char *bytes; /* what was read, of which `taken` were looked at */
	size_t n, taken, room;
	bool has_ended;
	struct str wrong; /* the line that is none of these; absent: none */
	/* Of a run: */
	struct arena *arena;
	struct gate *gate;
	struct told *first;
	bool is_over;
	struct str said; /* absent: it goes on */
	/* Of a question: */
	struct arena *reply_arena;
	bool has_reply;
	int status;
	struct str reply;
};

struct race_talk *race_run_talk_new(void)
{
	struct race_talk *talk = arena_checked(calloc(1, sizeof(*talk)));

	talk->wrong = STR_ABSENT;
	return talk;
}

void race_run_talk_free(struct race_talk *talk)
{
	if (talk)
		free(talk->bytes);
	free(talk);
}

static void make_talk_room(struct race_talk *talk)
{
	talk->n -= talk->taken;
	if (talk->n > 0 && talk->taken > 0)
		memmove(talk->bytes, talk->bytes + talk->taken, talk->n);
	talk->taken = 0;
	if (talk->n < talk->room)
		return;
	talk->room = talk->room ? 2 * talk->room : ROOM_MIN;
	talk->bytes = arena_checked(realloc(talk->bytes, talk->room));
}

/* A line without its end, which stays until the next call. False: none came in that time, or none
 * comes any more. */
static bool read_talk_line(struct race_talk *talk, int wait_ms, struct str *line)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

	while (!talk->has_ended) {
		char *from = talk->bytes + talk->taken;
		char *end =
			talk->n > talk->taken ? memchr(from, '\n', talk->n - talk->taken) : NULL;

		if (end) {
			*line = (struct str){from, (size_t)(end - from)};
			talk->taken += line->n + 1;
			return true;
		}
		make_talk_room(talk);
		int ready = poll(&input, 1, wait_ms);
		if (ready == 0)
			return false;
		if (ready < 0 && errno == EINTR)
			continue;
		ssize_t got = read(STDIN_FILENO, talk->bytes + talk->n, talk->room - talk->n);
		talk->has_ended = got <= 0;
		talk->n += got > 0 ? (size_t)got : 0;
	}
	return false;
}

bool race_run_talk_is_held(const void *hold)
{
	const struct told *told = hold;

	return !told->is_answered && !told->talk->is_over;
}

static bool is_told_held(const struct told *told)
{
	const void *hold = told->request.hold;

	return told->is_free ? race_run_talk_is_held(told) : hold && gate_is_held(hold);
}

/* Goes on with it, as the front end does with a request of HTTP. True: its client has the answer.
 */
static bool carry_told(struct told *told)
{
	struct race_talk *talk = told->talk;
	struct http_response response = {0};

	if (!(told->is_free ? race_run_talk_handle(talk, &told->request, &response)
			    : gate_handle(talk->gate, &told->request, &response))) {
		told->request.hold = response.hold;
		return false;
	}
	if (!talk->is_over)
		printf("%s %zu\n", response.fault.is_dropped ? "lost" : "done", told->number);
	fflush(stdout);
	return true;
}

/* All that may. Others may come meanwhile, behind them. */
static void carry_all(struct race_talk *talk)
{
	for (struct told **at = &talk->first; *at;) {
		struct told *told = *at;

		if (is_told_held(told) || !carry_told(told)) {
			at = &told->next;
			continue;
		}
		*at = told->next;
		arena_free(told->arena);
	}
}

static void add_told_header(struct told *told, const struct json *about, const char *member,
			    const char *header)
{
	struct str value = json_text_string(told->arena, about, member);

	if (str_is_set(value))
		headers_add(&told->headers, told->arena, str_of(header), value);
}

/* {"target", "agent", "attempt", "authorization", "body"}: only the target must be there. */
static bool take_came(struct race_talk *talk, size_t number, struct str text)
{
	struct arena *arena = arena_new(0);
	struct told *told = arena_calloc(arena, 1, sizeof(*told)), **at = &talk->first;
	struct err err = err_in(arena);
	const struct json *about;
	struct str operation;

	if (!talk->gate || json_parse(arena, str_copy(arena, text), &about, &err) != OK) {
		arena_free(arena);
		return false;
	}
	*told = (struct told){.talk = talk, .arena = arena, .number = number};
	add_told_header(told, about, "target", "X-Amz-Target");
	add_told_header(told, about, "agent", "User-Agent");
	add_told_header(told, about, "attempt", "amz-sdk-request");
	add_told_header(told, about, "authorization", "Authorization");
	struct str body = json_text_string(arena, about, "body");
	told->is_free = ops_of_target(headers_first(&told->headers, STR("X-Amz-Target")),
				      &operation) == SERVICE_COUNT;
	told->request = (struct http_request){
		.haste = HTTP_LONG,
		.arena = arena,
		.method = STR("POST"),
		.path = STR("/"),
		.query = STR(""),
		.body = str_is_set(body) ? body : STR(""),
		.id = STR(""),
		.headers = &told->headers,
		.claim = told,
	};
	told->request.wire_body = told->request.body;
	while (*at)
		at = &(*at)->next;
	*at = told;
	(void)carry_told(told); /* it has come; its answer has not */
	return true;
}

/* STATUS BODY: the body is a string of JSON. */
static bool read_answer(struct arena *arena, struct str text, int *status, struct str *body)
{
	struct err err = err_in(arena);
	const struct json *root, *number;
	struct str first = str_cut(&text, ' ');
	int64_t value;

	if (json_parse(arena, str_copy(arena, first), &number, &err) != OK ||
	    json_type(number) != JSON_NUMBER || !json_integer(number, &value) || value < 0 ||
	    value > 999 || json_parse(arena, str_copy(arena, text), &root, &err) != OK ||
	    json_type(root) != JSON_STRING)
		return false;
	*status = (int)value;
	*body = json_string(arena, root);
	return true;
}

static bool take_answered(struct race_talk *talk, size_t number, struct str text)
{
	struct told *told = talk->first;

	while (told && told->number != number)
		told = told->next;
	if (!told)
		return true; /* of a run that has ended */
	told->is_answered = read_answer(told->arena, text, &told->status, &told->answer);
	return told->is_answered;
}

static bool read_told_number(struct str text, size_t *number)
{
	*number = 0;
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] < '0' || text.p[i] > '9' || i == 18)
			return false;
		*number = *number * 10 + (size_t)(text.p[i] - '0');
	}
	return text.n > 0;
}

static bool take_word(struct race_talk *talk, struct str line)
{
	struct str rest = line, word = str_cut(&rest, ' ');
	size_t number;

	if (str_eq(word, STR("came")))
		return read_told_number(str_cut(&rest, ' '), &number) &&
		       take_came(talk, number, rest);
	if (str_eq(word, STR("answered")))
		return read_told_number(str_cut(&rest, ' '), &number) &&
		       take_answered(talk, number, rest);
	if (str_eq(word, STR("asked")) && talk->reply_arena) {
		talk->has_reply = read_answer(talk->reply_arena, rest, &talk->status, &talk->reply);
		return talk->has_reply;
	}
	if (str_starts_with(line, STR("passed")) || str_starts_with(line, STR("failed"))) {
		talk->said = str_copy(talk->arena, line);
		return true;
	}
	return false;
}

/* The next line of the test, if one comes in that time. */
static void take_line(struct race_talk *talk, int wait_ms)
{
	struct str line;

	if (!read_talk_line(talk, wait_ms, &line) || take_word(talk, line))
		return;
	talk->wrong = str_copy(talk->arena, line);
	talk->has_ended = true;
}

static void add_ask_member(struct json_out *out, const char *name, struct str value)
{
	if (!str_is_set(value))
		return;
	json_out_name(out, str_of(name));
	json_out_string(out, value);
}

/* A request of this process itself, which the test's engine carries out at once. */
static bool ask_engine(struct race_talk *talk, const struct http_request *request,
		       struct http_response *response)
{
	int64_t end_ms = monotonic_ms() + REPLY_MS;
	struct json_out out = json_out_in(request->arena);

	json_out_open(&out, '{');
	add_ask_member(&out, "method", request->method);
	add_ask_member(&out, "path", request->path);
	add_ask_member(&out, "target", headers_first(request->headers, STR("X-Amz-Target")));
	add_ask_member(&out, "authorization",
		       headers_first(request->headers, STR("Authorization")));
	add_ask_member(&out, "body", request->body);
	json_out_close(&out, '}');
	printf("ask " STR_FMT "\n", STR_ARG(json_out_str(&out)));
	fflush(stdout);
	talk->reply_arena = request->arena;
	talk->has_reply = false;
	while (!talk->has_reply && !talk->has_ended && monotonic_ms() < end_ms)
		take_line(talk, REPLY_MS);
	talk->reply_arena = NULL;
	response->status = talk->status;
	response->body = talk->reply;
	return talk->has_reply;
}

bool race_run_talk_handle(void *context, const struct http_request *request,
			  struct http_response *response)
{
	struct race_talk *talk = context;
	struct told *told = request->claim;

	if (!told)
		return ask_engine(talk, request, response);
	if (talk->is_over)
		return true;
	if (told->is_answered) {
		response->status = told->status;
		response->body = told->answer;
		return true;
	}
	if (!told->is_sent)
		printf("go %zu\n", told->number);
	fflush(stdout);
	told->is_sent = true;
	response->hold = told;
	return false;
}

bool race_run_talk_ask(void *context, struct arena *arena, struct str operation, struct str body,
		       int *status, struct str *answer)
{
	struct headers headers = {0};
	struct http_response response = {0};
	const struct http_request request = {
		.haste = HTTP_LONG,
		.arena = arena,
		.method = STR("POST"),
		.path = STR("/"),
		.query = STR(""),
		.body = body,
		.wire_body = body,
		.id = STR(""),
		.headers = &headers,
	};

	headers_add(&headers, arena, STR("X-Amz-Target"), ops_target(arena, operation));
	bool is_answered = ask_engine(context, &request, &response);
	*status = response.status;
	*answer = is_answered ? response.body : STR("the test does not answer");
	return is_answered;
}

/* No client waits for what is left. */
static void end_talk(struct race_talk *talk)
{
	talk->is_over = true;
	gate_open(talk->gate);
	while (talk->first) {
		struct told *told = talk->first;

		talk->first = told->next;
		while (!carry_told(told))
			;
		arena_free(told->arena);
	}
	talk->gate = NULL;
}

struct str race_run_talk(struct race_talk *talk, const struct race_talk_run *run, bool *is_late)
{
	int64_t end_ms = monotonic_ms() + (int64_t)run->limit_ms;

	*is_late = false;
	talk->arena = run->arena;
	talk->gate = run->gate;
	talk->is_over = false;
	talk->said = STR_ABSENT;
	printf("run " STR_FMT "\n", STR_ARG(run->about));
	fflush(stdout);
	while (!str_is_set(talk->said) && !talk->has_ended) {
		int64_t left = run->limit_ms ? end_ms - monotonic_ms() : LIMIT_NONE_MS;

		if (left <= 0 && *is_late)
			break;
		if (left <= 0) {
			*is_late = true;
			gate_open(talk->gate);
			end_ms += (int64_t)run->limit_ms;
			continue;
		}
		take_line(talk, talk->first ? LOOK_MS : (int)left);
		carry_all(talk);
	}
	end_talk(talk);
	return talk->said;
}

struct str race_run_talk_problem(const struct race_talk *talk)
{
	return talk->wrong;
}
