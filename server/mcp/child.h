/*
 * child - a server of this program's own as a child process, on a free port of 127.0.0.1. It ends
 * with its parent (server/start/parent.h).
 */
#ifndef DYNALITH_SERVER_CHILD_H
#define DYNALITH_SERVER_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "core/arena.h"

struct child {
	pid_t pid;
	int input, output; /* its standard input and output; -1: none */
	const char *url;   /* in the arena */
};

/* `options` are the server's, `n` of them; `program` is argv[0]. False where it does not start: it
 * has said why on stderr. */
bool child_start(struct arena *arena, const char *program, char **options, size_t n,
		 struct child *child);

/* Waits for its end. */
void child_stop(struct child *child);

#endif
