/*
 * What dynalith.wasm exports beside dynalith.h: a host calls malloc() and free() for the memory of
 * a request, and this in place of dynalith_open(), whose log is a function.
 */
#include <stdio.h>

#include "server/library/dynalith.h"
#include "server/request_id.h"

struct dynalith *dynalith_wasi_open(const char *options);
struct dynalith *dynalith_wasi_wake(void);

static struct dynalith *opened;

/* The log goes to stderr, a line at a time. */
static void write_line(void *context, int level, const char *line, size_t n)
{
	(void)context, (void)level;
	fprintf(stderr, "%.*s\n", (int)n, line);
}

struct dynalith *dynalith_wasi_open(const char *options)
{
	opened = dynalith_open(options, write_line, NULL);
	return opened;
}

/*
 * For a host that has copied the memory of another instance, whose instance of dynalith_wasi_open()
 * it gets. Random numbers begin again; the host's monotonic clock must go on where the other's was.
 */
struct dynalith *dynalith_wasi_wake(void)
{
	request_id_seed();
	return opened;
}
