#include "server/mcp/child.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server/platform/platform.h"

#define URL_MAX 256

static _Noreturn void become_server(const char *program, const char **words, const int input[2],
				    const int output[2])
{
	char *const *argv = (char *const *)(uintptr_t)words; /* exec changes none of them */

	dup2(input[0], STDIN_FILENO);
	dup2(output[1], STDOUT_FILENO);
	for (size_t i = 0; i < 2; i++) {
		close(input[i]);
		close(output[i]);
	}
	platform_run_again(argv);
	execvp(program, argv);
	_exit(127);
}

/* The first line that the server prints: its address. */
static bool read_url(struct arena *arena, struct child *child)
{
	char *line = arena_bytes(arena, URL_MAX);
	size_t n = 0;

	while (n < URL_MAX - 1) {
		ssize_t got = read(child->output, line + n, 1);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0 || line[n] == '\n')
			break;
		n++;
	}
	line[n] = '\0';
	child->url = line;
	return n > 0;
}

bool child_start(struct arena *arena, const char *program, char **options, size_t n,
		 struct child *child)
{
	static const char *const before[] = {"--log-level", "warn", "--insight", "on"},
				 *const behind[] = {"--host", "127.0.0.1", "--port", "0",
						    "--exit-with-parent"};
	const char **argv = ARENA_ARRAY(arena, const char *,
					n + sizeof(before) / sizeof(before[0]) +
						sizeof(behind) / sizeof(behind[0]) + 2);
	int input[2], output[2];
	size_t at = 0;

	*child = (struct child){-1, -1, -1, NULL};
	argv[at++] = "dynalith";
	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++)
		argv[at++] = before[i];
	for (size_t i = 0; i < n; i++)
		argv[at++] = options[i];
	for (size_t i = 0; i < sizeof(behind) / sizeof(behind[0]); i++)
		argv[at++] = behind[i];
	if (pipe(input) != 0)
		return false;
	if (pipe(output) != 0) {
		close(input[0]);
		close(input[1]);
		return false;
	}
	child->pid = fork();
	if (child->pid == 0)
		become_server(program, argv, input, output);
	close(input[0]);
	close(output[1]);
	child->input = input[1];
	child->output = output[0];
	return child->pid > 0 && read_url(arena, child);
}

void child_stop(struct child *child)
{
	if (child->input >= 0)
		close(child->input);
	if (child->pid > 0) {
		while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	if (child->output >= 0)
		close(child->output);
}
