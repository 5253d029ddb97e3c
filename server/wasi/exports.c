/*
 * What dynalith.wasm exports beside dynalith.h: a host calls malloc() and free() for the memory of
 * a request, and this in place of dynalith_open(), whose log is a function.
 */
#include <stdio.h>

#include "server/library/dynalith.h"

struct dynalith *dynalith_wasi_open(const char *options);

/* The log goes to stderr, a line at a time. */
static void write_line(void *context, int level, const char *line, size_t n)
{
	(void)context, (void)level;
	fprintf(stderr, "%.*s\n", (int)n, line);
}

struct dynalith *dynalith_wasi_open(const char *options)
{
	return dynalith_open(options, write_line, NULL);
}
