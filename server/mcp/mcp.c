#include "server/mcp/mcp.h"

#include <stdio.h>
#include <string.h>

#include "server/command/exit_status.h"
#include "server/command/help.h"
#include "server/mcp/child.h"
#include "server/mcp/intake.h"
#include "server/mcp/rpc.h"


struct words {
	const char *endpoint;
	struct reach reach;
	bool may_write, has_own;
	char **options; /* of the server of its own */
	size_t option_count;
};

static bool read_mcp_words(int argc, char **argv, struct words *words)
{
	*words = (struct words){.reach = reach_usual()};
	for (int i = 2; i < argc; i++) {
		if (strcmp(argv[i], "--") == 0) {
			words->has_own = true;
			words->options = argv + i + 1;
			words->option_count = (size_t)(argc - i - 1);
			break;
		}
		if (strcmp(argv[i], "--allow-writes") == 0)
			words->may_write = true;
		else if ((strcmp(argv[i], "--endpoint") == 0 ||
			  strcmp(argv[i], "--endpoint-url") == 0) &&
			 i + 1 < argc)
			words->endpoint = argv[++i];
		else if (!reach_take(&words->reach, argc, argv, &i))
			return false;
	}
	return !(words->has_own && words->endpoint);
}

static void answer_all(const struct tools *tools, struct intake *intake)
{
	struct arena *arena;
	struct str line;
	bool is_read = true;

	while (is_read && intake_next(intake, &arena, &line)) {
		struct str answer = STR("");

		if (line.n > RPC_LINE_MAX)
			answer = rpc_too_long(arena);
		else if (str_trim(line).n > 0)
			answer = rpc_answer(tools, arena, line);
		if (!intake_was_cancelled(intake) && answer.n > 0) {
			fwrite(answer.p, 1, answer.n, stdout);
			putc('\n', stdout);
		}
		is_read = fflush(stdout) == 0;
		arena_free(arena);
	}
}

static int fail(const char *problem)
{
	fprintf(stderr, "dynalith: %s\n", problem);
	return EXIT_FAILED;
}

int mcp_run(struct arena *arena, int argc, char **argv)
{
	struct child child = {-1, -1, -1, NULL};
	struct tools tools = {0};
	struct words words;

	if (!read_mcp_words(argc, argv, &words))
		return help_misuse("mcp");
	tools.may_write = words.may_write;
	if (words.has_own &&
	    !child_start(arena, argv[0], words.options, words.option_count, &child)) {
		child_stop(&child);
		return fail("mcp: the server did not start");
	}
	const char *url = words.has_own    ? child.url
			  : words.endpoint ? words.endpoint
					   : elsewhere_default();
	tools.elsewhere = elsewhere_new(url, &words.reach);
	if (!tools.elsewhere) {
		child_stop(&child);
		return EXIT_MISUSE;
	}
	struct intake *intake = intake_start();

	if (intake) {
		elsewhere_stop_by(tools.elsewhere, intake_cancelled(intake));
		answer_all(&tools, intake);
	}
	elsewhere_free(tools.elsewhere);
	child_stop(&child);
	return intake ? EXIT_DONE : fail("mcp: there is no thread to read with");
}
