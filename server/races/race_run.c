#include "server/races/race_run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "protocol/wire/json.h"
#include "protocol/wire/json_out.h"
#include "server/client/elsewhere.h"
#include "server/command/interrupt.h"
#include "server/http/http.h"
#include "server/instance.h"
#include "server/races/messages.h"
#include "server/races/race_invariants.h"
#include "server/start/front.h"
#include "storage/monotonic.h"

extern char **environ; /* macOS: no header has it */

#define OUTPUT_MAX 16384
#define LOOK_NS 1000000       /* between two looks whether the program has ended */
#define LIMIT_NONE_MS 3600000 /* for the first run of a test */
#define WAIT_MS 10000         /* for an invariant's answer */

/* What is taken down again at the end of a run. */
struct stand {
	struct config config;
	struct instance *instance;
	struct gate *gate;
	struct race_watch *watch; /* NULL: no invariant needs one */
	struct http *http;
	struct str url;
	FILE *output;
	_Atomic pid_t child;
	struct interrupt_undo undo;
	bool is_by_lines, has_ended;
};

static void kill_group(void *context)
{
	const struct stand *stand = context;

	if (stand->child > 0)
		kill(-stand->child, SIGKILL);
}

static pid_t program_of(const void *of)
{
	const struct stand *stand = of;

	return stand->is_by_lines ? getppid() : -stand->child;
}

static enum code open_server(const struct race_program *program, const struct race_plan *plan,
			     struct race_run *run, struct stand *stand, struct err *err)
{
	struct arena *arena = run->arena;
	const char *wrong = "";
	struct str problem;

	if (!config_read_text(arena, str_of(program->options), &stand->config, &problem))
		return err_set(err, MSG_RACES_SERVER, STR_ARG(problem));
	enum code code = instance_open(arena, &stand->config, &stand->instance, err);
	if (code != OK)
		return code;
	struct http_options *http = instance_limits(stand->instance);
	const struct race_watch_server watched = {http->handler, http->context, http->is_held};
	if (program->invariants)
		stand->watch = race_invariants_watch(program->invariants, &watched, arena);
	const struct gate_options options = {
		.handler = http->handler,
		.context = http->context,
		.is_held = http->is_held,
		.trace = &run->trace,
		.plan = plan,
		.memory = program->memory,
		.watch = stand->watch,
		.quiet_ms = program->quiet_ms,
		.expires = program->expires,
		.program = program_of,
		.of = stand,
	};

	front_set(http, &stand->config, NULL);
	stand->gate = gate_new(&options);
	http->handler = gate_handle;
	http->context = stand->gate;
	http->is_held = gate_is_held;
	http->held_look_ms = 1;
	stand->http = http_start(http, &wrong);
	if (!stand->http)
		return err_set(err, MSG_RACES_LISTEN, stand->config.port, wrong);
	stand->url = str_printf(arena, "http://127.0.0.1:%u", http_port(stand->http));
	return instance_start(stand->instance, err);
}

static void close_server(struct stand *stand)
{
	if (stand->gate)
		gate_open(stand->gate);
	if (stand->http)
		http_stop(stand->http, 1000);
	if (stand->gate)
		gate_free(stand->gate);
	race_watch_free(stand->watch);
	instance_close(stand->instance);
	if (stand->output)
		fclose(stand->output);
}

/* Whether "NAME=value" is of one of the names, which end with NULL. */
static bool is_named_in(const char *const *names, const char *variable)
{
	while (*names &&
	       !(strncmp(variable, *names, strlen(*names)) == 0 && variable[strlen(*names)] == '='))
		names++;
	return *names != NULL;
}

/* This process's, with where the server is, and what signs unless that is set. Ends with NULL. */
static char **environment_of(struct arena *arena, struct str url)
{
	static const char *const addresses[] = {"AWS_ENDPOINT_URL_DYNAMODB",
						"AWS_ENDPOINT_URL_DYNAMODB_STREAMS",
						"AWS_ENDPOINT_URL", "DYNALITH_URL", NULL};
	static const char *const others[][2] = {{"AWS_ACCESS_KEY_ID", "races"},
						{"AWS_SECRET_ACCESS_KEY", "races"},
						{"AWS_REGION", "us-east-1"},
						{"AWS_DEFAULT_REGION", "us-east-1"}};
	const size_t addresses_n = sizeof(addresses) / sizeof(addresses[0]) - 1;
	const size_t others_n = sizeof(others) / sizeof(others[0]);
	size_t n = 0, to = 0;

	while (environ[n])
		n++;
	const char **all = ARENA_ARRAY(arena, const char *, n + addresses_n + others_n + 1);
	for (size_t i = 0; i < n; i++) {
		if (!is_named_in(addresses, environ[i]))
			all[to++] = environ[i];
	}
	for (size_t i = 0; i < addresses_n; i++)
		all[to++] = str_printf(arena, "%s=" STR_FMT, addresses[i], STR_ARG(url)).p;
	for (size_t i = 0; i < others_n; i++) {
		if (!getenv(others[i][0]))
			all[to++] = str_printf(arena, "%s=%s", others[i][0], others[i][1]).p;
	}
	all[to] = NULL;
	return (char **)(uintptr_t)all;
}

/*
 * Starts the command as the leader of a group. 0, or an errno. Not by fork(): a thread of the
 * server may hold the allocator's lock then, for which the child would wait for ever.
 */
static int spawn_command(struct arena *arena, struct stand *stand, char *const *argv)
{
	posix_spawnattr_t attributes;
	posix_spawn_file_actions_t files;
	sigset_t none, usual;
	pid_t child = 0;

	sigemptyset(&none);
	sigemptyset(&usual);
	sigaddset(&usual, SIGPIPE);
	sigaddset(&usual, SIGXFSZ);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
						      POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setpgroup(&attributes, 0);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &usual);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, fileno(stand->output), STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&files, fileno(stand->output), STDERR_FILENO);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	int problem = posix_spawnp(&child, argv[0], &files, &attributes, argv,
				   environment_of(arena, stand->url));
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attributes);
	stand->child = problem == 0 ? child : 0;
	return problem;
}

/* The command's status as waitpid() gives it; -1: its time is over, and it was ended. */
static int run_command(struct arena *arena, struct stand *stand, char *const *argv,
		       uint64_t limit_ms)
{
	const struct timespec look = {0, LOOK_NS};
	int64_t end_ms = monotonic_ms() + (int64_t)limit_ms;
	int status = 0;
	pid_t done = 0;

	fflush(stand->output);
	int problem = spawn_command(arena, stand, argv);
	if (problem != 0) {
		fprintf(stand->output, "%s: %s\n", argv[0], strerror(problem));
		return 127 << 8;
	}
	while (done == 0 && !(limit_ms > 0 && monotonic_ms() > end_ms)) {
		nanosleep(&look, NULL);
		done = waitpid(stand->child, &status, WNOHANG);
	}
	kill(-stand->child, SIGKILL); /* what it left behind, too */
	if (done == 0)
		waitpid(stand->child, &status, 0);
	stand->child = 0;
	return done == 0 ? -1 : status;
}

static struct str read_output(struct arena *arena, FILE *file)
{
	char *bytes = arena_bytes(arena, OUTPUT_MAX);

	fflush(file);
	fseek(file, 0, SEEK_END);
	long size = ftell(file);
	fseek(file, size > OUTPUT_MAX ? size - OUTPUT_MAX : 0, SEEK_SET);
	return (struct str){bytes, fread(bytes, 1, OUTPUT_MAX, file)};
}

static void fail(struct race_run *run, struct str why)
{
	run->end = RACE_FAILED;
	run->why = why;
}

static void judge_end(struct race_run *run, const char *what, int status, uint64_t limit_ms)
{
	if (status == -1) {
		run->end = RACE_HUNG;
		run->why = str_printf(run->arena, "%s did not end within %.1f s", what,
				      (double)limit_ms / 1000);
	} else if (WIFSIGNALED(status)) {
		fail(run,
		     str_printf(run->arena, "%s was ended by signal %d", what, WTERMSIG(status)));
	} else if (WEXITSTATUS(status) != 0) {
		fail(run,
		     str_printf(run->arena, "%s ended with status %d", what, WEXITSTATUS(status)));
	}
}

static void check_invariants(const struct race_program *program, const struct stand *stand,
			     struct race_run *run)
{
	struct reach reach = reach_usual();
	struct elsewhere *server = elsewhere_new(stand->url.p, &reach);
	struct str why = server ? race_invariants_check(program->invariants, server, stand->watch,
							&run->trace, run->arena)
				: STR("the invariants cannot be asked");

	if (str_is_set(why))
		fail(run, why);
	elsewhere_free(server);
}

static void run_shell(struct stand *stand, const char *command, const char *what,
		      const struct race_program *program, struct race_run *run)
{
	char shell[] = "/bin/sh", option[] = "-c";
	char *words = arena_bytes(run->arena, strlen(command) + 1);
	char *argv[] = {shell, option, memcpy(words, command, strlen(command) + 1), NULL};

	judge_end(run, what, run_command(run->arena, stand, argv, program->limit_ms),
		  program->limit_ms);
}

/* The next line of standard input without its end, in the arena. Absent: it has ended, or, with
 * *is_late, no line came in that time; 0: any. */
static struct str read_line(struct arena *arena, uint64_t limit_ms, bool *is_late)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	int64_t end_ms = monotonic_ms() + (int64_t)limit_ms;
	struct buf line = buf_in(arena);
	char byte;

	*is_late = false;
	for (;;) {
		int64_t left = limit_ms ? end_ms - monotonic_ms() : LIMIT_NONE_MS;

		*is_late = left <= 0 || poll(&input, 1, (int)left) == 0;
		if (*is_late || read(STDIN_FILENO, &byte, 1) != 1)
			return STR_ABSENT;
		if (byte == '\n')
			return buf_str(&line);
		if (line.n < OUTPUT_MAX)
			buf_add_byte(&line, byte);
	}
}

/*
 * The program is a test in the process that has started this one. For each run it is told where the
 * server is, "run URL", and answers "passed" or "failed WHY". Where it does not in time, all its
 * requests go on, and it has as much time again.
 */
static void run_by_lines(const struct race_program *program, struct stand *stand,
			 struct race_run *run)
{
	bool is_late, is_lost = false;

	printf("run " STR_FMT "\n", STR_ARG(stand->url));
	fflush(stdout);
	struct str said = read_line(run->arena, program->limit_ms, &is_late);
	if (is_late) {
		judge_end(run, "the test", -1, program->limit_ms);
		gate_open(stand->gate);
		said = read_line(run->arena, program->limit_ms, &is_lost);
	}
	stand->has_ended = !str_is_set(said);
	if (!is_late && str_starts_with(said, STR("failed")))
		fail(run, str_printf(run->arena, "the test " STR_FMT, STR_ARG(said)));
}

static void run_program(const struct race_program *program, struct stand *stand,
			struct race_run *run)
{
	int64_t began_ms = monotonic_ms();

	if (program->reset)
		run_shell(stand, program->reset, "--reset-command", program, run);
	if (run->end == RACE_PASSED && stand->is_by_lines)
		run_by_lines(program, stand, run);
	else if (run->end == RACE_PASSED)
		judge_end(run, "the command",
			  run_command(run->arena, stand, program->argv, program->limit_ms),
			  program->limit_ms);
	run->took_ms = (uint64_t)(monotonic_ms() - began_ms);
	run->gap_ms = gate_gap_ms(stand->gate);
	gate_open(stand->gate);
	gate_settle(stand->gate, program->judging);
	if (run->end == RACE_PASSED && program->invariants)
		check_invariants(program, stand, run);
	if (run->end == RACE_PASSED && program->check)
		run_shell(stand, program->check, "--check", program, run);
	run->output = read_output(run->arena, stand->output);
}

void race_run_free(struct race_run *run)
{
	arena_free(run->trace.arena);
	arena_free(run->arena);
	*run = (struct race_run){0};
}

enum code race_run(const struct race_program *program, const struct race_plan *plan,
		   struct race_run *run, struct err *err)
{
	struct stand stand = {.output = tmpfile(), .is_by_lines = !program->argv};

	*run = (struct race_run){.arena = arena_new(0)};
	run->trace = race_trace_in(arena_new(0), program->facts);
	if (!stand.output)
		return err_set(err, MSG_RACES_FILE, strerror(errno));
	stand.undo = (struct interrupt_undo){.run = kill_group, .context = &stand};
	enum code code = open_server(program, plan, run, &stand, err);
	if (code == OK) {
		interrupt_undo(&stand.undo);
		run_program(program, &stand, run);
		interrupt_forget(&stand.undo);
		if (stand.has_ended)
			code = err_set(err, MSG_RACES_ENDED);
	}
	close_server(&stand);
	return code;
}
