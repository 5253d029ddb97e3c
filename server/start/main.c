/*
 * main - puts the parts together: configuration, an instance, HTTP; waits for a signal; takes them
 * apart again.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "server/start/backend.h"
#include "server/start/config.h"
#include "server/tools/copy.h"
#include "server/crash.h"
#include "server/start/dropin.h"
#include "server/start/front.h"
#include "server/ending.h"
#include "server/command/exit_status.h"
#include "server/tools/health.h"
#include "server/command/help.h"
#include "server/forecast/forecast.h"
#include "server/http/http.h"
#include "server/instance.h"
#include "server/command/interrupt.h"
#include "server/log.h"
#include "server/mcp/mcp.h"
#include "server/tools/maintain.h"
#include "server/messages.h"
#include "server/start/parent.h"
#include "server/platform/platform.h"
#include "server/races/races.h"
#include "server/recording/replay.h"
#include "server/report/report.h"
#include "server/pull/pull.h"
#include "server/tools/rollout_table.h"
#include "server/tools/who_decides.h"
#include "server/importers/apply.h"
#include "server/http/tls_context.h"
#include "server/version.h"
#include "storage/store/sqlite/sqlite_store.h"

extern char **environ; /* no header of POSIX declares it */

#define END_MS                                                                                     \
	9000 /* how long all of the end may take, so that with its last line it is less than 10 s  \
	      */
#define DRAIN_MS 5000 /* how long requests under way may take when the server ends */
#define NEIGHBOUR_MS 1000             /* to ask the server that has our port */
#define START_STACK                                                                                \
	(8 * 1024 * 1024) /* bytes, as a main thread usually has; musl gives other threads 128 KB  \
			   */

struct parts {
	struct arena *arena;
	const struct config *config;
	struct tls_context *tls; /* NULL: clients speak plain HTTP */
	struct instance *instance;
	struct http *http;
	struct err err; /* of `code`, which start_parts() sets */
	enum code code;
};

static bool is_every_address(const char *host)
{
	return strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0;
}

static struct str url_of(const struct parts *parts, unsigned port)
{
	const char *host =
		is_every_address(parts->config->host) ? "localhost" : parts->config->host;

	return str_printf(parts->arena, strchr(host, ':') ? "http%s://[%s]:%u" : "http%s://%s:%u",
			  parts->tls ? "s" : "", host, port);
}

/* What a person at a terminal wants to know first. */
static void say_ready_plainly(const struct parts *parts, struct str url, const char *welcome)
{
	const char *keys = instance_routes(parts->instance)->auth == AUTH_VERIFY ? "" :
		"AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local ";
	struct str data = config_data(parts->arena, parts->config);

	fprintf(stderr,
		"Dynalith " DYNALITH_VERSION " is ready. Ctrl-C ends it.\n"
		"  URL   " STR_FMT "  (in a browser: the console)\n"
		"  Data  " STR_FMT "\n"
		"  Keys  %s\n"
		"  Try   %saws dynamodb list-tables --region us-east-1 --endpoint-url " STR_FMT
		"\n",
		STR_ARG(url), STR_ARG(data), welcome, keys, STR_ARG(url));
}

/* Settings by which the server refuses whatever it is asked. */
static void warn_of_refusals(const struct config *config)
{
	if (strcmp(config->auth, "verify") == 0 && config->credential_count == 0)
		log_line(LOG_WARN, "--auth verify refuses all requests: \"credentials\" of "
				   "--config names no key");
	if (strcmp(config->iam, "enforce") == 0 && !config_names(config->policies))
		log_line(LOG_WARN, "--iam enforce refuses requests until PUT /_dynalith/policies "
				   "allows them: there is no --policies");
}

/* For a new user: the address, the keys to sign with, the place of the data, how to end it. */
static void say_ready(const struct parts *parts, struct str url)
{
	static const char *const welcomes[] = {
		[AUTH_OPEN] = "any access key and secret will do",
		[AUTH_VERIFY] = "signatures are checked",
		[AUTH_OFF] = "requests need no signature",
	};
	const struct config *config = parts->config;
	const char *welcome = welcomes[instance_routes(parts->instance)->auth];
	struct str message = str_printf(
		parts->arena,
		"dynalith " DYNALITH_VERSION " is ready: %s; Ctrl-C or SIGTERM ends it", welcome);
	const struct log_field fields[] = {
		{"url", url, false},
		{"host", is_every_address(config->host) ? str_of(config->host) : STR_ABSENT, false},
		{"auth", str_of(config->auth), false},
		{"data", config_data(parts->arena, config), false},
	};

	if (isatty(STDERR_FILENO) && log_is_on(LOG_INFO) &&
	    strcmp(config->log_format, "logfmt") == 0)
		say_ready_plainly(parts, url, welcome);
	else
		log_event(LOG_INFO, message.p, fields, sizeof(fields) / sizeof(fields[0]));
	warn_of_refusals(config);
	if (backend_file(config->store) && sqlite_store_library_note())
		log_line(LOG_WARN, "SQLite %s %s", sqlite_store_library_version(),
			 sqlite_store_library_note());
}

/* SIGHUP, which is among the signals with TLS only. */
static void reload(const struct parts *parts)
{
	struct arena *arena = arena_new(0);
	struct str problem;

	if (tls_context_reload(parts->tls, arena, &problem))
		log_line(LOG_INFO, "new connections get the certificate of %s as it is now",
			 parts->config->tls_cert);
	else
		log_line(LOG_ERROR, STR_FMT "; the certificate read before stays",
			 STR_ARG(problem));
	arena_free(arena);
}

static void print_banner(const struct config *config, unsigned port)
{
	const struct dropin_banner banner = {
		.port = port,
		.db_path = backend_file(config->store),
		.shared_db = config->shared_db,
		.delay_transient_statuses = config->delay_transient_statuses,
		.cors = config->cors,
	};

	if (config->is_dropin)
		dropin_banner(stdout, &banner);
}

/* Where another has the port: who, and what to do. */
static const char *explain_port(const struct parts *parts, const char *problem)
{
	const struct config *config = parts->config;
	const struct health_options options = {.host = config->host,
					       .port = (unsigned)config->port,
					       .is_tls = parts->tls,
					       .wait_ms = NEIGHBOUR_MS};

	if (strcmp(problem, strerror(EADDRINUSE)) != 0)
		return problem;
	return str_printf(parts->arena,
			  "%s: %s. End it, or choose another port: --port N, and 0 for a free one",
			  problem, health_who(parts->arena, &options))
		.p;
}

/* Listens first, then does the work that no client waits for. */
static enum code listen_first(struct parts *parts)
{
	const struct config *config = parts->config;
	const char *problem = "";

	front_set(instance_limits(parts->instance), config, parts->tls);
	parts->http = http_start(instance_limits(parts->instance), &problem);
	if (!parts->http)
		return err_set(&parts->err, MSG_NO_LISTENING, config->host, config->port,
			       explain_port(parts, problem));
	print_banner(config, http_port(parts->http));
	enum code code = instance_start(parts->instance, &parts->err);
	if (code != OK) {
		http_stop(parts->http, 0);
		return code;
	}
	crash_prepare();
	platform_keep_heap(); /* not earlier: it would make calloc() clear the large tables above,
				 which are fresh pages of the system now */
	return OK;
}

static void *start_parts(void *context)
{
	struct parts *parts = context;

	struct instance *instance;

	parts->code = instance_open(parts->arena, parts->config, &instance, &parts->err);
	if (parts->code == OK) {
		parts->instance = instance;
		parts->code = listen_first(parts);
	}
	return NULL;
}

/*
 * Runs start_parts() in a new thread, which the system puts on an idle core. The process itself
 * begins on its parent's core, where the parent often polls until the server answers.
 */
static void start_on_idle_core(struct parts *parts)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, START_STACK);
	if (pthread_create(&thread, &attributes, start_parts, parts) == 0)
		pthread_join(thread, NULL);
	else
		start_parts(parts);
	pthread_attr_destroy(&attributes);
}

/* Serves until SIGTERM or SIGINT; both are blocked already. */
static void serve_until_signal(const struct parts *parts, const sigset_t *signals)
{
	struct str url = url_of(parts, http_port(parts->http));
	int received = 0;

	say_ready(parts, url);
	if (parts->config->exit_with_parent && !parent_watch(url))
		log_line(LOG_ERROR, "there is no thread that watches standard input; the server "
				    "does not end with its parent");
	while (sigwait(signals, &received) == 0 && received == SIGHUP)
		reload(parts);
	ending_begin(END_MS);
	log_line(LOG_INFO, "ends on signal %d", received);
	http_stop(parts->http, DRAIN_MS);
}

/* The certificate, before the data is opened. SIGHUP is waited for with TLS only; else it ends the
 * process as ever. */
static bool prepare_tls(struct arena *arena, const struct config *config, sigset_t *signals,
			struct tls_context **tls)
{
	struct str problem;

	*tls = NULL;
	if (!config_names(config->tls_cert))
		return true;
	sigaddset(signals, SIGHUP);
	pthread_sigmask(SIG_BLOCK, signals, NULL);
	*tls = tls_context_new(arena, config->tls_cert, config->tls_key, &problem);
	if (!*tls)
		fprintf(stderr, "dynalith: " STR_FMT "\n", STR_ARG(problem));
	return *tls != NULL;
}

static int run_server(struct arena *arena, const struct config *config, sigset_t *signals)
{
	struct parts parts = {.arena = arena, .config = config, .err = err_in(arena)};

	if (!prepare_tls(arena, config, signals, &parts.tls))
		return EXIT_FAILED;
	start_on_idle_core(&parts);
	if (parts.code == OK)
		serve_until_signal(&parts, signals);
	else
		fprintf(stderr, "dynalith: " STR_FMT "\n", STR_ARG(parts.err.message));
	instance_close(parts.instance);
	tls_context_free(parts.tls);
	if (config_names(config->remove_on_exit))
		unlink(config->remove_on_exit);
	return parts.code == OK ? EXIT_DONE : EXIT_FAILED;
}

/* Uses TLS where these options make a server speak it, or where they name authorities. */
static int ask_for_health(struct arena *arena, const struct config *config)
{
	const char *authorities = config_names(config->tls_ca) ? config->tls_ca : NULL;
	const struct health_options options = {
		.host = config->host,
		.port = (unsigned)config->port,
		.is_tls = authorities || config_names(config->tls_cert),
		.authorities = authorities,
		.wait_ms = config->health_wait_ms,
	};

	return health_ask(arena, &options) ? EXIT_DONE : EXIT_FAILED;
}

static bool is_report(const char *path)
{
	if (!config_names(path) || report_is_named(path))
		return true;
	fprintf(stderr,
		"dynalith: --report: the extension is none of " REPORT_EXTENSIONS
		": %s; see dynalith help insight\n",
		path);
	return false;
}

/* Commands by the first word; the rest of the line is theirs. */
static const struct command {
	const char *word;
	int (*run)(struct arena *arena, int argc, char **argv);
} commands[] = {
#define COMMAND(word, run, arguments, summary, options, examples) {word, run},
#include "server/command/commands.def"
#undef COMMAND
};

static const struct command *command_of(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(argv[1], commands[i].word) == 0)
			return &commands[i];
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct arena *arena = arena_new(0);
	struct config config;
	sigset_t signals;
	int status = EXIT_FAILED;

	/* blocked before any thread is there, so that only sigwait gets them */
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a limit of the file size is a full disk, no end */
	crash_install();
	const struct command *command = command_of(argc, argv);
	if (command)
		interrupt_watch();
	bool is_help = command && help_is_wanted(argc, argv);
	if (command && (command->run || is_help)) {
		status = is_help ? help_run_command(command->word)
				 : help_check_options(command->word, argc, argv);
		if (status == EXIT_DONE && !is_help)
			status = command->run(arena, argc, argv);
		arena_free(arena);
		return status;
	}
	switch (config_read(arena, argc, argv, &config)) {
	case CONFIG_DONE:
		status = EXIT_DONE;
		break;
	case CONFIG_FAILED:
		status = config.is_dropin ? EXIT_FAILED : EXIT_MISUSE;
		break;
	case CONFIG_RUN:
		if (config.is_health) {
			status = ask_for_health(arena, &config);
			break;
		}
		log_configure(log_level_of(config.log_level),
			      strcmp(config.log_format, "json") == 0);
		config_warn_of_environment(environ);
		if (!config_is_used(&config) || !is_report(config.report)) {
			status = EXIT_MISUSE;
			break;
		}
		if (config.is_dropin && backend_file(config.store))
			dropin_warn_of_its_data(arena, config.db_path);
		status = run_server(arena, &config, &signals);
		break;
	}
	arena_free(arena);
	return status;
}
