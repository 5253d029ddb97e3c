#include "server/crash.h"

#if __has_include(<execinfo.h>)
#include <execinfo.h>
#else
#include <dlfcn.h>
#endif
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <unwind.h>

#define FRAMES_MAX 64
#define STACK_SIZE (64 * 1024)
#define PATIENCE_S 5 /* a handler that hangs is ended */

static const struct {
	int number;
	const char *name;
} signals[] = {
	{SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},
	{SIGILL, "SIGILL"},   {SIGABRT, "SIGABRT"},
};

#define SIGNALS (sizeof(signals) / sizeof(signals[0]))

static struct sigaction before[SIGNALS];
static pthread_key_t stacks;
static bool is_installed; /* not in programs that only link this */
static _Thread_local const char *request;
static _Thread_local bool has_stack;

struct frames {
	int n;
	void *v[FRAMES_MAX];
};

static _Unwind_Reason_Code add_stack_frame(struct _Unwind_Context *context, void *into)
{
	struct frames *frames = into;
	void *at = (void *)_Unwind_GetIP(context); /* NOLINT(performance-no-int-to-ptr) */

	if (!at || frames->n == FRAMES_MAX)
		return _URC_END_OF_STACK;
	frames->v[frames->n++] = at;
	return _URC_NO_REASON;
}

static void say(const char *text)
{
	ssize_t written = write(STDERR_FILENO, text, strlen(text));

	(void)written;
}

static void write_crash_frames(const struct frames *frames)
{
#if __has_include(<execinfo.h>)
	backtrace_symbols_fd(frames->v, frames->n, STDERR_FILENO);
#else /* musl has no such function */
	for (int i = 0; i < frames->n; i++) {
		const char *at = frames->v[i];
		Dl_info info;
		char line[512];

		if (!dladdr(at, &info) || !info.dli_fname)
			continue;
		snprintf(line, sizeof(line), "%s(%s+0x%zx)[0x%zx]\n", info.dli_fname,
			 info.dli_sname ? info.dli_sname : "",
			 (size_t)(at -
				  (const char *)(info.dli_sname ? info.dli_saddr : info.dli_fbase)),
			 (size_t)at);
		say(line);
	}
#endif
}

static void on_crash(int number)
{
	struct frames frames = {0};
	const char *name = "a signal";

	alarm(PATIENCE_S);
	for (size_t i = 0; i < SIGNALS; i++) {
		if (signals[i].number == number) {
			name = signals[i].name;
			sigaction(number, &before[i], NULL);
		}
	}
	say("dynalith: crashed by ");
	say(name);
	say("; request ");
	say(request ? request : "none");
	say("; stack:\n");
	_Unwind_Backtrace(add_stack_frame, &frames);
	write_crash_frames(&frames);
	raise(number); /* taken as soon as this handler returns */
}

static void free_stack(void *stack)
{
	const stack_t none = {.ss_flags = SS_DISABLE};

	sigaltstack(&none, NULL);
	free(stack);
}

/* Sanitizers give each thread a stack of their own. */
static void give_stack(void)
{
	stack_t stack = {.ss_size = STACK_SIZE};

	has_stack = true;
	if (sigaltstack(NULL, &stack) == 0 && !(stack.ss_flags & SS_DISABLE))
		return;
	stack = (stack_t){.ss_sp = malloc(STACK_SIZE), .ss_size = STACK_SIZE};
	if (stack.ss_sp && sigaltstack(&stack, NULL) == 0)
		pthread_setspecific(stacks, stack.ss_sp);
}

void crash_install(void)
{
	struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK};

	pthread_key_create(&stacks, free_stack);
	for (size_t i = 0; i < SIGNALS; i++)
		sigaction(signals[i].number, &action, &before[i]);
	is_installed = true;
	crash_request(NULL);
}

void crash_prepare(void)
{
	struct frames frames = {0};

	_Unwind_Backtrace(add_stack_frame, &frames);
}

void crash_request(const char *id)
{
	request = id;
	if (!has_stack && is_installed)
		give_stack();
}
