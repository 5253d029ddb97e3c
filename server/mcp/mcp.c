#include "server/mcp/mcp.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "server/mcp/child.h"
#include "server/mcp/rpc.h"

#define USAGE "usage: dynalith mcp [--endpoint URL] [--allow-writes] [--tls-ca FILE] [-- OPTIONS of a server of its own]"
#define KEEP ((size_t)1 << 20)

enum { ENDED = 0, FAILED = 1, MISUSE = 2 };

struct words {
	const char *endpoint, *authorities;
	bool may_write, has_own;
	char **options; /* of the server of its own */
	size_t option_count;
};

bool mcp_is_asked(int argc, char **argv)
{
	return argc > 1 && strcmp(argv[1], "mcp") == 0;
}

static bool read_words(int argc, char **argv, struct words *words)
{
	*words = (struct words){0};
	for (int i = 2; i < argc; i++) {
		if (strcmp(argv[i], "--") == 0) {
			words->has_own = true;
			words->options = argv + i + 1;
			words->option_count = (size_t)(argc - i - 1);
			break;
		}
		if (strcmp(argv[i], "--allow-writes") == 0)
			words->may_write = true;
		else if ((strcmp(argv[i], "--endpoint") == 0 || strcmp(argv[i], "--endpoint-url") == 0) && i + 1 < argc)
			words->endpoint = argv[++i];
		else if (strcmp(argv[i], "--tls-ca") == 0 && i + 1 < argc)
			words->authorities = argv[++i];
		else
			return false;
	}
	return !(words->has_own && words->endpoint);
}

/* A line without its end; at most RPC_LINE_MAX + 1 bytes of it. False at the end of the input. */
static bool read_line(struct arena *arena, struct str *line)
{
	struct buf bytes = buf_in(arena);
	int c;

	while ((c = getc(stdin)) != EOF && c != '\n') {
		if (bytes.n <= RPC_LINE_MAX)
			buf_add_byte(&bytes, c);
	}
	*line = buf_str(&bytes);
	return c != EOF || line->n > 0;
}

static void answer_all(const struct tools *tools)
{
	struct arena *arena = arena_new(KEEP);
	struct str line;

	while (read_line(arena, &line)) {
		struct str answer = STR("");

		if (line.n > RPC_LINE_MAX)
			answer = rpc_too_long(arena);
		else if (str_trim(line).n > 0)
			answer = rpc_answer(tools, arena, line);
		if (answer.n > 0) {
			fwrite(answer.p, 1, answer.n, stdout);
			putc('\n', stdout);
		}
		if (fflush(stdout) != 0)
			break; /* nobody reads */
		arena_reset(arena);
	}
	arena_free(arena);
}

static int fail(const char *problem, int status)
{
	fprintf(stderr, "%s%s\n", status == MISUSE ? "" : "dynalith: ", problem);
	return status;
}

int mcp_run(struct arena *arena, int argc, char **argv)
{
	struct child child = {-1, -1, -1, NULL};
	struct tools tools = {0};
	struct words words;
	sigset_t signals;

	if (!read_words(argc, argv, &words))
		return fail(USAGE, MISUSE);
	sigemptyset(&signals); /* these end it as they end any client */
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
	tools.may_write = words.may_write;
	if (words.has_own && !child_start(arena, argv[0], words.options, words.option_count, &child)) {
		child_stop(&child);
		return fail("mcp: the server did not start", FAILED);
	}
	const char *url = words.has_own ? child.url : words.endpoint ? words.endpoint : elsewhere_default();
	tools.elsewhere = elsewhere_new(url, words.authorities);
	if (!tools.elsewhere) {
		child_stop(&child);
		return fail(USAGE, MISUSE);
	}
	answer_all(&tools);
	elsewhere_free(tools.elsewhere);
	child_stop(&child);
	return ENDED;
}
