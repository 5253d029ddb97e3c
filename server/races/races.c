#include "server/races/races.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "protocol/wire/json.h"
#include "protocol/wire/json_out.h"
#include "server/command/exit_status.h"
#include "server/command/help.h"
#include "server/log.h"
#include "server/platform/platform.h"
#include "server/races/messages.h"
#include "server/races/race_invariants.h"
#include "server/races/race_page.h"
#include "server/races/race_report.h"
#include "server/races/race_run.h"
#include "server/races/race_search.h"
#include "server/report/document.h"

#define BUDGET 100
#define BUDGET_MAX 1000000
#define QUIET_MIN_MS 5
#define QUIET_MAX_MS 60
#define LIMIT_TIMES 10
#define LIMIT_MORE_MS 10000
#define LIMIT_PLAIN_MS 600000
#define PLAINS_MAX 3 /* of these one must pass */
#define REPLAYS 3
#define REPLAYS_MAX 10000
#define FOLLOWS_MAX 5 /* runs for one replay whose requests come in another order */
#define SHRINKS 30
#define ORDERS_MAX 4096
#define STALE_MAX 20 /* drawn orders without a new one: there is none left, or hardly one */

struct words {
	const char *order, *all, *invariants, *out, *init, *html;
	long budget, port, quiet_ms, replays;
	uint64_t seed;
	unsigned troubles; /* a set of 1 << enum race_trouble_kind */
	bool is_by_lines, is_in_process;
	char **argv;
};

struct races {
	struct arena *arena;
	struct words words;
	struct race_program program;
	struct race_run plain, usual;
	struct race_facts facts;       /* of all runs */
	struct race_facts plain_facts; /* of the plain one */
	size_t runs, failed, hung, untroubled;
	bool fails_alone; /* the plain run does */
};

static int complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int complain(const char *format, ...)
{
	va_list ap;

	fflush(stdout);
	fputs("dynalith: ", stderr);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	return EXIT_FAILED;
}

static bool read_number(const char *text, long low, long high, long *out)
{
	char *end;

	errno = 0;
	*out = strtol(text, &end, 10);
	return errno == 0 && *text != '\0' && *end == '\0' && *out >= low && *out <= high;
}

static bool take_text(struct races *races, const char *name, const char *value)
{
	const struct {
		const char *name, **to;
	} texts[] = {
		{"--order", &races->words.order},
		{"--all", &races->words.all},
		{"--invariants", &races->words.invariants},
		{"--check", &races->program.check},
		{"--reset-command", &races->program.reset},
		{"--init", &races->words.init},
		{"--out", &races->words.out},
		{"--html", &races->words.html},
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (strcmp(name, texts[i].name) == 0) {
			*texts[i].to = value;
			return true;
		}
	}
	return false;
}

static bool races_take_number(struct races *races, const char *name, const char *value)
{
	struct words *words = &races->words;
	long seed;

	if (strcmp(name, "--budget") == 0)
		return read_number(value, 1, BUDGET_MAX, &words->budget);
	if (strcmp(name, "--port") == 0)
		return read_number(value, 0, 65535, &words->port);
	if (strcmp(name, "--replays") == 0)
		return read_number(value, 1, REPLAYS_MAX, &words->replays);
	if (strcmp(name, "--quiet-ms") == 0)
		return read_number(value, 1, 10000, &words->quiet_ms);
	if (strcmp(name, "--seed") != 0 || !read_number(value, 0, LONG_MAX, &seed))
		return false;
	words->seed = (uint64_t)seed;
	return true;
}

static bool take_trouble(struct words *words, const char *name)
{
	static const char *const names[TROUBLE_KINDS] = {
		[TROUBLE_LOST] = "--lost-answers",  [TROUBLE_THROTTLED] = "--throttling",
		[TROUBLE_CONFLICT] = "--conflicts", [TROUBLE_LAGGED] = "--lag",
		[TROUBLE_KEPT] = "--ttl",
	};

	for (enum race_trouble_kind kind = TROUBLE_NONE + 1; kind < TROUBLE_KINDS; kind++) {
		if (strcmp(name, names[kind]) == 0) {
			words->troubles |= 1u << kind;
			return true;
		}
	}
	return false;
}

static bool races_read_words(struct races *races, int argc, char **argv)
{
	struct words *words = &races->words;

	*words = (struct words){.budget = BUDGET, .replays = REPLAYS, .out = "races", .seed = 1};
	for (int i = 2; i < argc; i++) {
		if (strcmp(argv[i], "--") == 0) {
			words->argv = argv + i + 1;
			break;
		}
		if (take_trouble(words, argv[i]))
			continue;
		if (strcmp(argv[i], "--by-lines") == 0) {
			words->is_by_lines = true;
			continue;
		}
		if (strcmp(argv[i], "--in-process") == 0) {
			words->is_by_lines = words->is_in_process = true;
			continue;
		}
		if (i + 1 >= argc || (!take_text(races, argv[i], argv[i + 1]) &&
				      !races_take_number(races, argv[i], argv[i + 1])))
			return false;
		i++;
	}
	return (words->is_by_lines ? !words->argv : words->argv && words->argv[0]) &&
	       !(words->all && (words->order || words->html));
}

/* Of a server of this process: what an engine of a test has anyway. */
static void add_own_options(const struct races *races, struct json_out *out)
{
	json_out_name(out, STR("in_memory"));
	json_out_boolean(out, true);
	json_out_name(out, STR("host"));
	json_out_string(out, STR("127.0.0.1"));
	json_out_name(out, STR("port"));
	json_out_integer(out, races->words.port);
	json_out_name(out, STR("auth"));
	json_out_string(out, STR("off"));
}

static const char *races_options(struct races *races)
{
	struct json_out out = json_out_in(races->arena);

	json_out_open(&out, '{');
	if (!races->words.is_in_process)
		add_own_options(races, &out);
	if (races->program.expires) {
		json_out_name(&out, STR("ttl.period"));
		json_out_integer(&out, 0);
	}
	if (races->words.init) {
		json_out_name(&out, STR("init"));
		json_out_string(&out, str_of(races->words.init));
	}
	json_out_close(&out, '}');
	return str_printf(races->arena, STR_FMT, STR_ARG(buf_str(&out.buf))).p;
}

/* For the runs from now on: time to live is the scheduler's. */
static void expire_if(struct races *races, bool is_kept)
{
	races->program.expires = is_kept || races->words.troubles & 1u << TROUBLE_KEPT;
	races->program.options = races_options(races);
}

/* Whether the plain run is one of orders that keep what has expired: with --all some may. */
static bool words_keep(struct races *races)
{
	struct race_plan plan = {.kind = PLAN_USUAL};
	struct err err = err_in(races->arena);

	if (races->words.order &&
	    race_report_read(races->arena, races->words.order, &plan, &err) != OK)
		return false; /* replay() says so */
	return races->words.all || plan.trouble.kind == TROUBLE_KEPT;
}

static bool run(struct races *races, const struct race_plan *plan, struct race_run *out)
{
	struct err err = err_in(races->arena);

	races->runs++;
	if (race_run(&races->program, plan, out, &err) == OK)
		return true;
	complain(STR_FMT, STR_ARG(err.message));
	race_run_free(out);
	return false;
}

static void print_output(const struct race_run *run)
{
	if (run->output.n == 0)
		return;
	printf("\nThe command printed:\n" STR_FMT "%s", STR_ARG(run->output),
	       run->output.p[run->output.n - 1] == '\n' ? "" : "\n");
}

static int complain_of_plain(const struct races *races, const char *more)
{
	print_output(&races->plain);
	return complain("the command fails by itself: " STR_FMT "%s", STR_ARG(races->plain.why),
			more);
}

static int complain_of_silence(const struct races *races)
{
	return races->words.is_by_lines
		       ? complain("the test sent no request: its clients must be made with what "
				  "races() gives each function")
		       : complain("the command sent no request: it must take the endpoint of its "
				  "environment (AWS_ENDPOINT_URL_DYNAMODB) in place of another "
				  "one or of a server of its own, or be told by --port N where "
				  "the server is to listen");
}

/* As it is: what comes before which answer, and how long it takes. EXIT_DONE: go on. A program that
 * always fails by its race may pass where its requests are held. */
static int run_plain_races(struct races *races)
{
	struct race_run *plain = &races->plain;
	uint64_t gap;

	races->program.limit_ms = LIMIT_PLAIN_MS;
	for (int i = 1; run(races, NULL, plain); i++) {
		if (plain->end == RACE_PASSED || i == PLAINS_MAX)
			break;
		race_run_free(plain); /* a program with a race may fail by itself, too */
	}
	if (!plain->arena)
		return EXIT_FAILED;
	bool is_search = !races->words.order && !races->words.all;
	races->fails_alone = plain->end == RACE_FAILED && plain->trace.n > 0 && is_search;
	if (plain->end != RACE_PASSED && !races->fails_alone)
		return complain_of_plain(races, "");
	if (plain->trace.n == 0)
		return complain_of_silence(races);
	race_trace_learn(&races->plain_facts, &plain->trace);
	gap = 2 * (uint64_t)plain->gap_ms;
	races->program.quiet_ms = gap < QUIET_MIN_MS   ? QUIET_MIN_MS
				  : gap > QUIET_MAX_MS ? QUIET_MAX_MS
						       : (unsigned)gap;
	if (races->words.quiet_ms > 0)
		races->program.quiet_ms = (unsigned)races->words.quiet_ms;
	races->program.limit_ms = LIMIT_TIMES * plain->took_ms + LIMIT_MORE_MS;
	if (!races->fails_alone)
		printf("The command passes, with %zu requests in %" PRIu64 " ms.\n", plain->trace.n,
		       plain->took_ms);
	if (plain->left > 0)
		printf("It leaves %u process%s behind, which run%s on: what is sent from there "
		       "later belongs to no run.\n",
		       plain->left, plain->left == 1 ? "" : "es", plain->left == 1 ? "s" : "");
	fflush(stdout);
	return EXIT_DONE;
}

/* The requests of a trace in that order. */
static struct race_plan plan_of(struct arena *arena, const struct race_trace *trace,
				const size_t *order, struct race_trouble trouble)
{
	uint64_t *ids = ARENA_ARRAY(arena, uint64_t, trace->order_n + 1);
	size_t *chains = ARENA_ARRAY(arena, size_t, trace->order_n + 1);

	for (size_t k = 0; k < trace->order_n; k++) {
		ids[k] = trace->requests[order[k]].id;
		chains[k] = trace->requests[order[k]].chain;
	}
	return (struct race_plan){.kind = PLAN_ORDER,
				  .order = ids,
				  .chains = chains,
				  .order_n = trace->order_n,
				  .trouble = trouble};
}

/* Runs an order. Requests that are alike get their numbers by arrival: where two clients arrive the
 * other way round, the order does not come about, and it runs again. */
static bool run_order(struct races *races, const struct race_plan *plan, struct race_run *out)
{
	for (int i = 1; run(races, plan, out); i++) {
		if (out->end != RACE_PASSED || i == FOLLOWS_MAX ||
		    race_plan_is_followed(plan, &out->trace))
			return true;
		race_run_free(out);
	}
	return false;
}

/* How many of so many replays fail again. -1: the server cannot be started. */
static long count_failures(struct races *races, const struct race_plan *plan, long replays)
{
	long failures = 0;

	for (long i = 0; i < replays; i++) {
		struct race_run again;

		if (!run_order(races, plan, &again))
			return -1;
		failures += again.end == RACE_FAILED;
		race_run_free(&again);
	}
	return failures;
}

/*
 * The order with one switch fewer: where it leaves a chain for the `nth` time, that chain's next
 * block comes first. NULL where there is no such place.
 */
static size_t *without_switch(struct arena *arena, const struct race_trace *trace, size_t nth)
{
	size_t *order = ARENA_ARRAY(arena, size_t, trace->order_n + 1);
	size_t n = 0, seen = 0, at = 0, from = 0, to;

	for (size_t k = 1; k < trace->order_n && from == 0; k++) {
		size_t before = trace->requests[trace->order[k - 1]].chain;

		if (trace->requests[trace->order[k]].chain == before)
			continue;
		for (size_t i = k + 1; i < trace->order_n && from == 0; i++) {
			if (trace->requests[trace->order[i]].chain != before)
				continue;
			if (seen++ == nth) {
				at = k;
				from = i;
			}
			break;
		}
	}
	if (from == 0)
		return NULL;
	size_t chain = trace->requests[trace->order[from]].chain;
	for (to = from; to < trace->order_n && trace->requests[trace->order[to]].chain == chain;)
		to++;
	for (size_t k = 0; k < trace->order_n; k++) {
		if (k == at) {
			for (size_t i = from; i < to; i++)
				order[n++] = trace->order[i];
		}
		if (k < from || k >= to)
			order[n++] = trace->order[k];
	}
	return order;
}

/* Takes the place of *found by runs that fail with fewer switches. */
static void shrink(struct races *races, struct race_run *found, struct race_trouble trouble)
{
	size_t nth = 0;

	for (int tries = 0; tries < SHRINKS; tries++) {
		size_t *order = without_switch(races->arena, &found->trace, nth);
		struct race_run shorter;

		if (!order)
			return;
		struct race_plan plan = plan_of(races->arena, &found->trace, order, trouble);
		if (!run(races, &plan, &shorter))
			return;
		if (shorter.end == RACE_FAILED &&
		    race_report_switches(&shorter.trace) < race_report_switches(&found->trace)) {
			race_run_free(found);
			*found = shorter;
			nth = 0;
			continue;
		}
		race_run_free(&shorter);
		nth++;
	}
}

static struct str command_of(struct races *races, const char *path)
{
	struct buf buf = buf_in(races->arena);

	if (races->words.is_by_lines)
		return str_printf(races->arena, "the test with the order %s", path);
	buf_printf(&buf, "dynalith races --order %s --", path);
	for (char *const *word = races->words.argv; *word; word++)
		buf_printf(&buf, " %s", *word);
	return buf_str(&buf);
}

/* The file's name. */
static struct str write_order(struct races *races, const struct race_run *found,
			      const struct race_lines *lines, struct str name,
			      struct race_trouble trouble)
{
	struct str path =
		str_printf(races->arena, "%s/" STR_FMT ".json", races->words.out, STR_ARG(name));
	struct str text = race_report_json(races->arena, lines, found->why, trouble);
	struct err err = err_in(races->arena);

	mkdir(races->words.out, 0777);
	if (document_write(path.p, text, &err) != OK)
		complain(STR_FMT, STR_ARG(err.message));
	else
		printf("\n" STR_FMT " replays it:\n  " STR_FMT "\n", STR_ARG(path),
		       STR_ARG(command_of(races, path.p)));
	return path;
}

static void write_page(struct races *races, const struct race_run *failed,
		       const struct race_lines *lines, struct race_trouble trouble,
		       const char *order)
{
	struct err err = err_in(races->arena);
	const struct race_page page = {
		.lines = lines,
		.name = race_report_name(races->arena, &failed->trace, trouble),
		.why = failed->why,
		.command = command_of(races, order),
		.output = failed->output,
	};

	if (races->words.html &&
	    document_write(races->words.html, race_page_html(races->arena, &page), &err) != OK)
		complain(STR_FMT, STR_ARG(err.message));
}

/* Whether the failure is one of its order. It is printed then, and written. */
static int confirm(struct races *races, struct race_run *found, struct race_trouble trouble)
{
	struct race_plan plan = plan_of(races->arena, &found->trace, found->trace.order, trouble);
	size_t orders = races->runs;
	long failures = count_failures(races, &plan, REPLAYS);

	if (failures < 0)
		return EXIT_FAILED;
	if (failures == 0)
		return EXIT_DONE;
	shrink(races, found, trouble);
	plan = plan_of(races->arena, &found->trace, found->trace.order, trouble);
	failures = count_failures(races, &plan, races->words.replays);
	if (failures < 0)
		return EXIT_FAILED;
	struct str name = race_report_name(races->arena, &found->trace, trouble);
	printf("\nFound after %zu runs: " STR_FMT ".\nOrder " STR_FMT ", with %zu switch%s; it "
	       "failed again in %ld of %ld replays.\n\n",
	       orders, STR_ARG(found->why), STR_ARG(name), race_report_switches(&found->trace),
	       race_report_switches(&found->trace) == 1 ? "" : "es", failures,
	       races->words.replays);
	struct race_lines lines =
		race_lines_of(races->arena, &races->usual.trace, &found->trace, trouble);
	race_report_print(stdout, races->arena, &lines);
	print_output(found);
	struct str path = write_order(races, found, &lines, name, trouble);
	write_page(races, found, &lines, trouble, path.p);
	return EXIT_FOUND;
}

static void show_progress(const struct races *races, const struct race_search *search)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r%zu of %ld runs, %zu different orders ", races->runs,
			races->words.budget, race_search_orders(search));
}

/* One order. EXIT_DONE: go on. */
static int try_plan(struct races *races, struct race_search *search, const struct race_plan *plan)
{
	struct race_run tried;
	int status = EXIT_DONE;

	if (!run(races, plan, &tried))
		return EXIT_FAILED;
	race_search_learn(search, &tried.trace);
	show_progress(races, search);
	races->hung += tried.end == RACE_HUNG;
	races->untroubled += tried.trace.is_untroubled;
	if (tried.end == RACE_FAILED) {
		races->failed++;
		if (isatty(STDERR_FILENO))
			fprintf(stderr, "\n");
		status = confirm(races, &tried, plan->trouble);
	}
	race_run_free(&tried);
	return status;
}

static int races_conclude(const struct races *races, const struct race_search *search)
{
	size_t pairs, seen;

	race_search_cover(search, &pairs, &seen);
	if (races->fails_alone)
		return complain_of_plain(races, "; no order of its requests was found that does");
	if (races->failed > 0)
		return complain("%zu runs failed, and none of them failed again in the same order: "
				"the command depends on more than the order of its requests",
				races->failed);
	printf("None found in %zu runs, with %zu different orders. Of %zu pairs of requests that "
	       "meet in the data and may change places, %zu were seen both ways.\n",
	       races->runs, race_search_orders(search), pairs, seen);
	if (races->untroubled > 0)
		printf("%zu runs went without the throttling or conflict that they were for: the "
		       "command sets rules of faults of its own.\n",
		       races->untroubled);
	if (races->hung > 0)
		printf("%zu run%s did not end within %.1f s and %s ended.\n", races->hung,
		       races->hung == 1 ? "" : "s", (double)races->program.limit_ms / 1000,
		       races->hung == 1 ? "was" : "were");
	return EXIT_DONE;
}

static int search_orders(struct races *races)
{
	struct race_plan plan = {.kind = PLAN_USUAL};
	struct race_search *search;
	int status = EXIT_DONE;
	unsigned stale = 0; /* runs since the last order that was new */

	if (!run(races, &plan, &races->usual))
		return EXIT_FAILED;
	if (races->usual.end == RACE_HUNG)
		return complain("held one at a time, the command does not end: " STR_FMT,
				STR_ARG(races->usual.why));
	if (races->fails_alone && races->usual.end == RACE_FAILED)
		return complain_of_plain(races, "");
	if (races->fails_alone)
		printf("The command fails by itself: " STR_FMT ". It passes where its %zu requests "
		       "run one at a time.\n",
		       STR_ARG(races->plain.why), races->usual.trace.n);
	search = race_search_new(races->arena, &races->usual.trace, &races->facts,
				 races->words.seed, races->words.troubles);
	race_search_learn(search, &races->plain.trace);
	race_search_learn(search, &races->usual.trace);
	if (races->usual.end == RACE_FAILED) {
		races->failed++;
		status = confirm(races, &races->usual, plan.trouble);
	}
	while (status == EXIT_DONE && races->runs < (size_t)races->words.budget &&
	       stale < STALE_MAX && race_search_next(search, &plan)) {
		size_t orders = race_search_orders(search);

		status = try_plan(races, search, &plan);
		stale = race_search_orders(search) > orders || plan.kind != PLAN_PRIORITY
				? 0
				: stale + 1;
	}
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\n");
	return status == EXIT_DONE ? races_conclude(races, search) : status;
}

/* Beside the plain run, which is all that there is to compare it with. */
static void print_replay(struct races *races, struct race_run *again, struct race_trouble trouble,
			 const char *order)
{
	struct race_lines lines =
		race_lines_of(races->arena, &races->plain.trace, &again->trace, trouble);
	race_report_print(stdout, races->arena, &lines);
	print_output(again);
	write_page(races, again, &lines, trouble, order);
}

/* EXIT_FOUND where it fails by that order. */
static int replay(struct races *races, const char *path)
{
	struct err err = err_in(races->arena);
	struct race_plan plan;
	struct race_run again;
	size_t missing = 0;

	if (race_report_read(races->arena, path, &plan, &err) != OK)
		return complain(STR_FMT, STR_ARG(err.message));
	expire_if(races, plan.trouble.kind == TROUBLE_KEPT);
	if (!run_order(races, &plan, &again))
		return EXIT_FAILED;
	for (size_t i = 0; i < plan.order_n; i++)
		missing += race_trace_find(&again.trace, plan.order[i]) == RACE_NONE;
	if (missing > 0)
		complain("%s: %zu of its %zu requests did not come: the command has changed, or is "
			 "not deterministic",
			 path, missing, plan.order_n);
	printf("%s: ", path);
	if (again.end == RACE_PASSED)
		printf("passes\n");
	else
		printf("fails: " STR_FMT "\n", STR_ARG(again.why));
	if (again.end != RACE_PASSED && !races->words.all)
		print_replay(races, &again, plan.trouble, path);
	int status = again.end == RACE_PASSED ? EXIT_DONE : EXIT_FOUND;
	race_run_free(&again);
	return status;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Every *.json of the folder, by name. */
static int replay_all(struct races *races)
{
	const char **names = ARENA_ARRAY(races->arena, const char *, ORDERS_MAX);
	DIR *folder = opendir(races->words.all);
	int status = EXIT_DONE;
	size_t n = 0;

	if (!folder)
		return complain("%s: %s", races->words.all, strerror(errno));
	for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
		size_t length = strlen(entry->d_name);

		if (length < 5 || strcmp(entry->d_name + length - 5, ".json") != 0)
			continue;
		if (n == ORDERS_MAX) {
			closedir(folder);
			return complain("%s: more than %d orders", races->words.all, ORDERS_MAX);
		}
		names[n++] = str_printf(races->arena, "%s/%s", races->words.all, entry->d_name).p;
	}
	closedir(folder);
	if (n == 0)
		return complain("%s: no order is in it", races->words.all);
	qsort((void *)names, n, sizeof(*names), compare_names);
	for (size_t i = 0; i < n; i++) {
		int one = replay(races, names[i]);

		if (one == EXIT_FAILED)
			return one;
		status = one == EXIT_FOUND ? one : status;
	}
	return status;
}

int races_run(struct arena *arena, int argc, char **argv)
{
	struct races races = {
		.arena = arena, .facts = {.arena = arena}, .plain_facts = {.arena = arena}};
	struct err err = err_in(arena);
	int status;

	if (!races_read_words(&races, argc, argv))
		return help_misuse("races");
	if (races.words.invariants && race_invariants_read(arena, races.words.invariants,
							   &races.program.invariants, &err) != OK)
		return complain(STR_FMT, STR_ARG(err.message));
	if (races.words.is_in_process && (races.program.check || races.words.port > 0))
		return complain("--check and --port need a server, and with --in-process there is "
				"none: the test checks what its engine holds");
	log_configure(LOG_ERROR, false);
	platform_adopt();
	races.program.argv = races.words.argv;
	races.program.talk = races.words.is_by_lines ? race_run_talk_new() : NULL;
	races.program.has_engine = races.words.is_in_process;
	expire_if(&races, words_keep(&races));
	races.program.facts = &races.facts;
	races.program.judging = &races.plain_facts;
	struct arena *memory = arena_new(0);
	races.program.memory = gate_memory_new(memory);
	status = run_plain_races(&races);
	if (status == EXIT_DONE)
		status = races.words.order ? replay(&races, races.words.order)
			 : races.words.all ? replay_all(&races)
					   : search_orders(&races);
	race_run_free(&races.plain);
	race_run_free(&races.usual);
	race_run_talk_free(races.program.talk);
	arena_free(memory);
	return status;
}
