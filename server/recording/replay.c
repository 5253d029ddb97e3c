#include "server/recording/replay.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/ops.h"
#include "server/client/elsewhere.h"
#include "server/command/exit_status.h"
#include "server/command/help.h"
#include "server/messages.h"
#include "server/recording/compare.h"
#include "server/recording/difference.h"
#include "server/recording/renamed.h"
#include "server/recording/tape.h"

#define TOGETHER_MAX 64
#define TOGETHER 16

struct words {
	const char *command, *files[2], *endpoint;
	struct reach reach;
	size_t file_count;
	long connections;
};

struct replay {
	struct elsewhere *elsewhere;
	struct renamed *renamed;
	size_t sent, different;
};

/* A request that is sent, by a thread of its own where several are sent together. */
struct sending {
	struct replay *replay;
	struct arena *arena;
	struct tape_line line;
	struct client_reply reply;
	const char *problem;
	bool is_answered;
	pthread_t thread;
	bool has_thread;
};

static int fail(struct str problem)
{
	fprintf(stderr, "dynalith: " STR_FMT "\n", STR_ARG(problem));
	return EXIT_FAILED;
}

static bool read_replay_words(int argc, char **argv, struct words *words)
{
	char *end;

	*words = (struct words){.command = argv[1],
				.endpoint = elsewhere_default(),
				.reach = reach_usual(),
				.connections = TOGETHER};
	for (int i = 2; i < argc; i++) {
		bool has_value =
			argv[i][0] == '-' && i + 1 < argc && strcmp(words->command, "replay") == 0;

		if (argv[i][0] != '-' && words->file_count < 2) {
			words->files[words->file_count++] = argv[i];
		} else if (has_value && (strcmp(argv[i], "--endpoint") == 0 ||
					 strcmp(argv[i], "--endpoint-url") == 0)) {
			words->endpoint = argv[++i];
		} else if (has_value && strcmp(argv[i], "--connections") == 0) {
			words->connections = strtol(argv[++i], &end, 10);
			if (*end != '\0' || words->connections < 1 ||
			    words->connections > TOGETHER_MAX)
				return false;
		} else if (!has_value || !reach_take(&words->reach, argc, argv, &i)) {
			return false;
		}
	}
	return words->file_count == (strcmp(words->command, "diff") == 0 ? 2 : 1);
}

static void remember(void *context, struct str then, struct str now)
{
	renamed_add(context, then, now);
}

static void *send_recorded(void *context)
{
	struct sending *sending = context;
	struct str target = ops_target(sending->arena, sending->line.operation);
	struct str body =
		renamed_apply(sending->replay->renamed, sending->arena, sending->line.request);

	sending->is_answered = elsewhere_send(sending->replay->elsewhere, sending->arena, target,
					      body, &sending->reply, &sending->problem);
	return NULL;
}

static const struct json *json_of(struct arena *arena, struct str body)
{
	struct err err = err_in(arena);
	const struct json *root;

	return json_parse(arena, body, &root, &err) == OK ? root : NULL;
}

static enum code judge_sent(struct replay *replay, struct sending *sending, struct err *err)
{
	const struct tape_line *line = &sending->line;
	struct comparison comparison = {
		.arena = sending->arena,
		.first = "recorded",
		.second = "now",
		.lines = buf_in(sending->arena),
		.passed = remember,
		.context = replay->renamed,
	};

	if (!sending->is_answered)
		return err_set(err, MSG_RECORDING_UNSENT, line->number, STR_ARG(line->operation),
			       sending->problem);
	compare_status(&comparison, line->status, sending->reply.status);
	compare_bodies(&comparison, line->response, json_of(sending->arena, sending->reply.body));
	replay->sent++;
	replay->different += comparison.n > 0;
	if (comparison.n > 0)
		difference_show(line, buf_str(&comparison.lines));
	return OK;
}

static enum code send_together(struct replay *replay, struct sending *group, size_t n,
			       struct err *err)
{
	enum code code = OK;

	for (size_t i = 1; i < n; i++)
		group[i].has_thread =
			pthread_create(&group[i].thread, NULL, send_recorded, &group[i]) == 0;
	for (size_t i = 0; i < n; i++) {
		if (!group[i].has_thread)
			send_recorded(&group[i]);
	}
	for (size_t i = 1; i < n; i++) {
		if (group[i].has_thread)
			pthread_join(group[i].thread, NULL);
	}
	for (size_t i = 0; i < n && code == OK; i++)
		code = judge_sent(replay, &group[i], err);
	for (size_t i = 0; i < n; i++)
		arena_free(group[i].arena);
	return code;
}

/* The next group begins with `next`, if *is_there: each of its requests began before the first of
 * them was answered. */
static enum code replay_tape(struct replay *replay, struct tape *tape, size_t together,
			     struct err *err)
{
	struct sending group[TOGETHER_MAX], next = {.replay = replay, .arena = arena_new(0)};
	bool is_there;
	enum code code = tape_next(tape, next.arena, &next.line, &is_there, err);

	while (code == OK && is_there) {
		size_t n = 0;

		while (code == OK && is_there && n < together &&
		       (n == 0 || next.line.start_us < group[0].line.end_us)) {
			group[n++] = next;
			next = (struct sending){.replay = replay, .arena = arena_new(0)};
			code = tape_next(tape, next.arena, &next.line, &is_there, err);
		}
		enum code sent = send_together(replay, group, n, err);
		code = code == OK ? sent : code;
	}
	arena_free(next.arena);
	return code;
}

static int conclude(const char *what, size_t n, size_t different)
{
	printf("%zu %s, %zu different\n", n, what, different);
	return different > 0 ? EXIT_FOUND : EXIT_DONE;
}

static int run_replay(const struct words *words, struct tape *tape, struct err *err)
{
	struct replay replay = {.elsewhere = elsewhere_new(words->endpoint, &words->reach)};

	if (!replay.elsewhere)
		return EXIT_MISUSE;
	replay.renamed = renamed_new();
	enum code code = replay_tape(&replay, tape, (size_t)words->connections, err);
	int status = conclude("requests", replay.sent, replay.different);
	renamed_free(replay.renamed);
	elsewhere_free(replay.elsewhere);
	return code == OK ? status : fail(err->message);
}

static int run_diff(struct tape *const tapes[2], struct err *err)
{
	struct difference difference;
	enum code code = difference_print(tapes[0], tapes[1], &difference, err);

	return code == OK ? conclude("requests in the first", difference.requests,
				     difference.different)
			  : fail(err->message);
}

static enum code open_tapes(const struct words *words, struct tape *tapes[2], struct err *err)
{
	for (size_t i = 0; i < words->file_count; i++) {
		enum code code = tape_open(words->files[i], i == 1, &tapes[i], err);
		if (code != OK)
			return code;
	}
	if (words->file_count == 1 && tape_is_masked(tapes[0]))
		return err_set(err, MSG_RECORDING_MASKED, words->files[0]);
	return OK;
}

int replay_run(struct arena *arena, int argc, char **argv)
{
	struct words words;
	struct tape *tapes[2] = {NULL, NULL};
	struct err err = err_in(arena);

	if (!read_replay_words(argc, argv, &words))
		return help_misuse(words.command);
	bool is_diff = words.file_count == 2;
	enum code code = open_tapes(&words, tapes, &err);
	int status = code != OK ? fail(err.message)
		     : is_diff  ? run_diff(tapes, &err)
				: run_replay(&words, tapes[0], &err);
	tape_close(tapes[0]);
	tape_close(tapes[1]);
	return status;
}
