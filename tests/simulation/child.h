/* A part of a run in a process of its own, which has a copy of what the parent has in memory. */
#ifndef DYNALITH_SIMULATION_CHILD_H
#define DYNALITH_SIMULATION_CHILD_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Writes its answer to `out`. */
typedef void child_run(int out, const void *context);

/* Reads the answer of `size` bytes; false where the child ended without. *status is what waitpid()
 * says of it. */
static inline bool child_answers(child_run *run, const void *context, void *answer, size_t size,
				 int *status)
{
	int ends[2];

	if (pipe(ends) != 0)
		abort();
	fflush(stdout);
	pid_t child = fork();
	if (child < 0)
		abort();
	if (child == 0) {
		run(ends[1], context);
		_exit(0);
	}
	close(ends[1]);
	bool is_there = read(ends[0], answer, size) == (ssize_t)size;
	close(ends[0]);
	waitpid(child, status, 0);
	return is_there;
}

/* What a child_run() answers with. */
static inline void child_write(int out, const void *answer, size_t size)
{
	if (write(out, answer, size) != (ssize_t)size)
		abort();
}

#endif
