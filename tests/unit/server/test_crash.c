#include "server/crash.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/test.h"

static char text[65536];

/* Runs it in a process of its own; its stderr is in `text`, its status is returned. */
static int run_apart(void (*act)(void))
{
	int pipes[2], status = 0;
	size_t n = 0;

	if (pipe(pipes) != 0)
		abort();
	pid_t child = fork();
	if (child == 0) {
		dup2(pipes[1], STDERR_FILENO);
		crash_install();
		crash_request("REQUEST1");
		act();
		_exit(0);
	}
	close(pipes[1]);
	for (ssize_t got = 1; got > 0 && n < sizeof(text) - 1; n += got > 0 ? (size_t)got : 0)
		got = read(pipes[0], text + n, sizeof(text) - 1 - n);
	text[n] = '\0';
	close(pipes[0]);
	waitpid(child, &status, 0);
	return status;
}

/* Not NULL, which the sanitizer for undefined behaviour would see first. */
static void read_nothing(void)
{
	const volatile char *volatile nowhere = (const volatile char *)4096;

	(void)*nowhere;
}

static volatile int depth;

/* Ends by the end of the stack. */
static __attribute__((noinline)) int sink(volatile char *before)
{
	volatile char here[4096];

	here[0] = before[0];
	if (++depth < 0)
		return 0;
	int below = sink(here);
	return below + here[0];
}

static void overflow(void)
{
	volatile char first[1] = {0};

	sink(first);
}

static void stop(void)
{
	crash_request(NULL);
	abort();
}

/* A sanitizer that reports after us ends the process in its own way. */
static bool has_died(int status, int number)
{
	return (WIFSIGNALED(status) && WTERMSIG(status) == number) ||
	       (WIFEXITED(status) && WEXITSTATUS(status) != 0);
}

TEST(a_crash_tells_its_signal_request_and_stack)
{
	CHECK(has_died(run_apart(read_nothing), SIGSEGV));
	CHECK(strstr(text, "dynalith: crashed by SIGSEGV; request REQUEST1; stack:\n") != NULL);
	CHECK(strstr(text, "test_crash(") != NULL);
}

TEST(an_overflow_of_the_stack_too)
{
	CHECK(has_died(run_apart(overflow), SIGSEGV));
	CHECK(strstr(text, "dynalith: crashed by SIGSEGV; request REQUEST1; stack:\n") != NULL);
}

TEST(abort_without_a_request)
{
	CHECK(has_died(run_apart(stop), SIGABRT));
	CHECK(strstr(text, "dynalith: crashed by SIGABRT; request none; stack:\n") != NULL);
}

TEST_MAIN(TEST_CASE(a_crash_tells_its_signal_request_and_stack),
	  TEST_CASE(an_overflow_of_the_stack_too), TEST_CASE(abort_without_a_request))
