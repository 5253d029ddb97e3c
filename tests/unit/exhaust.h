/*
 * exhaust - allocations that fail, each in a process of its own. The linker turns malloc, calloc,
 * realloc and mmap of our own objects, and of SQLite's where it is compiled in, into those of this
 * file: the Makefile names the programs that have it.
 */
#ifndef DYNALITH_TEST_EXHAUST_H
#define DYNALITH_TEST_EXHAUST_H

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/test.h"

static uint64_t exhaust_in; /* which of the next allocations fails, from 1; 0: none */

static bool exhaust_now(void)
{
	return exhaust_in > 0 && --exhaust_in == 0;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__real_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset);

void *__wrap_malloc(size_t size)
{
	return exhaust_now() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return exhaust_now() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	return exhaust_now() ? NULL : __real_realloc(p, size);
}

void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	return (flags & MAP_ANONYMOUS) && exhaust_now()
		       ? MAP_FAILED
		       : __real_mmap(at, size, protection, flags, fd, offset);
}

/* What a process told on stderr. */
static inline struct str exhaust_read(int fd, char *bytes, size_t max)
{
	size_t n = 0;
	ssize_t got;

	while (n < max && (got = read(fd, bytes + n, max - n)) != 0) {
		if (got > 0)
			n += (size_t)got;
		else if (errno != EINTR)
			break;
	}
	return (struct str){bytes, n};
}

static inline bool exhaust_is_told(struct str text)
{
	const char *end = text.n > 0 ? memchr(text.p, '\n', text.n) : NULL;

	return end && end + 1 == text.p + text.n && str_contains(text, STR("out of memory"));
}

#define EXHAUST_ABORTED (-1) /* with the one line that says why */
#define EXHAUST_BROKEN                                                                             \
	(-2) /* by another signal, such as that of a process that hangs, or without the line */
#define EXHAUST_SECONDS 120

/* Runs `live` in a process of its own. What it returned, from 0 to 255, or one of the above; of
 * EXHAUST_BROKEN stderr has the details. */
static inline int exhaust_apart(int (*live)(void *context), void *context)
{
	static const struct rlimit no_core = {0, 0};
	char bytes[2000];
	int told[2], status = 0;

	if (pipe(told) != 0)
		abort();
	pid_t child = fork();
	if (child == 0) {
		dup2(told[1], STDERR_FILENO);
		setrlimit(RLIMIT_CORE, &no_core);
		alarm(EXHAUST_SECONDS);
		_exit(live(context));
	}
	close(told[1]);
	struct str text = exhaust_read(told[0], bytes, sizeof(bytes));
	close(told[0]);
	if (waitpid(child, &status, 0) != child)
		abort();
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT && exhaust_is_told(text))
		return EXHAUST_ABORTED;
	fprintf(stderr, "status %d: " STR_FMT "\n", status, STR_ARG(text));
	return EXHAUST_BROKEN;
}

#endif
