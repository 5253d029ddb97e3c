#include "server/races/race_run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "protocol/ops.h"
#include "protocol/wire/json.h"
#include "protocol/wire/json_out.h"
#include "server/client/elsewhere.h"
#include "server/command/interrupt.h"
#include "server/http/http.h"
#include "server/instance.h"
#include "server/platform/platform.h"
#include "server/races/messages.h"
#include "server/races/race_invariants.h"
#include "server/start/front.h"
#include "storage/monotonic.h"

extern char **environ; /* macOS: no header has it */

#define OUTPUT_MAX 16384
#define LOOK_NS 1000000 /* between two looks whether the program has ended */

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
	unsigned left; /* processes that the last command left behind */
	bool is_by_lines;
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

static void open_gate(const struct race_program *program, const struct race_plan *plan,
		      struct race_run *run, struct stand *stand,
		      const struct race_watch_server *server)
{
	if (program->invariants)
		stand->watch = race_invariants_watch(program->invariants, server, run->arena);
	stand->gate = gate_new(&(struct gate_options){
		.handler = server->handler,
		.context = server->context,
		.is_held = server->is_held,
		.trace = &run->trace,
		.plan = plan,
		.memory = program->memory,
		.watch = stand->watch,
		.quiet_ms = program->quiet_ms,
		.expires = program->expires,
		.program = program_of,
		.of = stand,
	});
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
	open_gate(program, plan, run, stand,
		  &(struct race_watch_server){http->handler, http->context, http->is_held});
	front_set(http, &stand->config, NULL);
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
	stand->left = platform_children(stand->child);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
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

/* A race_ask. */
static bool ask_server(void *context, struct arena *arena, struct str operation, struct str body,
		       int *status, struct str *answer)
{
	struct client_reply reply = {.body = STR("")};
	const char *problem = "the invariants cannot be asked";
	bool is_answered = context && elsewhere_send(context, arena, ops_target(arena, operation),
						     body, &reply, &problem);

	*status = reply.status;
	*answer = is_answered ? reply.body : str_of(problem);
	return is_answered;
}

static void check_invariants(const struct race_program *program, const struct stand *stand,
			     struct race_run *run)
{
	struct reach reach = reach_usual();
	struct elsewhere *server = program->has_engine ? NULL : elsewhere_new(stand->url.p, &reach);
	struct str why = race_invariants_check(
		program->invariants, program->has_engine ? race_run_talk_ask : ask_server,
		program->has_engine ? (void *)program->talk : (void *)server, stand->watch,
		&run->trace, run->arena);

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

/*
 * The program is a test in the process that has started this one. Where it does not end in time,
 * all its requests go on, and it has as much time again.
 */
static enum code run_by_lines(const struct race_program *program, struct stand *stand,
			      struct race_run *run, struct err *err)
{
	const struct race_talk_run about = {
		.arena = run->arena,
		.gate = stand->gate,
		.about = program->has_engine ? str_of(program->options) : stand->url,
		.limit_ms = program->limit_ms,
	};
	bool is_late;
	struct str said = race_run_talk(program->talk, &about, &is_late);

	if (str_is_set(race_run_talk_problem(program->talk)))
		return err_set(err, MSG_RACES_LINE, STR_ARG(race_run_talk_problem(program->talk)));
	if (!str_is_set(said))
		return err_set(err, MSG_RACES_ENDED);
	if (is_late)
		judge_end(run, "the test", -1, program->limit_ms);
	else if (str_starts_with(said, STR("failed")))
		fail(run, str_printf(run->arena, "the test " STR_FMT, STR_ARG(said)));
	return OK;
}

static enum code run_program(const struct race_program *program, struct stand *stand,
			     struct race_run *run, struct err *err)
{
	int64_t began_ms = monotonic_ms();
	enum code code = OK;

	if (program->reset)
		run_shell(stand, program->reset, "--reset-command", program, run);
	if (run->end == RACE_PASSED && program->talk)
		code = run_by_lines(program, stand, run, err);
	else if (run->end == RACE_PASSED)
		judge_end(run, "the command",
			  run_command(run->arena, stand, program->argv, program->limit_ms),
			  program->limit_ms);
	run->took_ms = (uint64_t)(monotonic_ms() - began_ms);
	run->left = stand->left;
	run->gap_ms = gate_gap_ms(stand->gate);
	gate_open(stand->gate);
	gate_settle(stand->gate, program->judging);
	if (code == OK && run->end == RACE_PASSED && program->invariants)
		check_invariants(program, stand, run);
	if (code == OK && run->end == RACE_PASSED && program->check)
		run_shell(stand, program->check, "--check", program, run);
	run->output = read_output(run->arena, stand->output);
	return code;
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
	struct stand stand = {.output = tmpfile(), .is_by_lines = program->talk != NULL};

	*run = (struct race_run){.arena = arena_new(0)};
	run->trace = race_trace_in(arena_new(0), program->facts);
	if (!stand.output)
		return err_set(err, MSG_RACES_FILE, strerror(errno));
	stand.undo = (struct interrupt_undo){.run = kill_group, .context = &stand};
	if (program->has_engine)
		open_gate(program, plan, run, &stand,
			  &(struct race_watch_server){race_run_talk_handle, program->talk,
						      race_run_talk_is_held});
	enum code code = program->has_engine ? OK : open_server(program, plan, run, &stand, err);
	if (code == OK) {
		interrupt_undo(&stand.undo);
		code = run_program(program, &stand, run, err);
		interrupt_forget(&stand.undo);
	}
	close_server(&stand);
	return code;
}
