#include "server/platform/platform.h"

#include <errno.h>

/* WASI preview 1 opens no sockets and no pipes. */
static int refuse(void)
{
	errno = ENOSYS;
	return -1;
}

int platform_socket(int family, int type, int protocol)
{
	(void)family, (void)type, (void)protocol;
	return refuse();
}

int platform_accept(int listener, struct sockaddr *peer, socklen_t *n)
{
	(void)listener, (void)peer, (void)n;
	return refuse();
}

bool platform_socketpair(int pair[2])
{
	(void)pair;
	return refuse() == 0;
}

bool platform_pipe(int ends[2])
{
	(void)ends;
	return refuse() == 0;
}

ssize_t platform_send(int fd, const void *bytes, size_t n)
{
	(void)fd, (void)bytes, (void)n;
	return refuse();
}

bool platform_has_ended(int fd)
{
	(void)fd;
	return false;
}

bool platform_has_threads(void)
{
	return false;
}

void platform_condition(pthread_cond_t *condition)
{
	pthread_cond_init(condition, NULL);
}

/* Nobody else could signal it. */
int platform_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until)
{
	(void)condition, (void)mutex, (void)until;
	return ETIMEDOUT;
}

void platform_run_again(char *const *arguments)
{
	(void)arguments;
}

void platform_keep_heap(void)
{
}

void platform_trim_heap(void)
{
}

unsigned platform_cores(void)
{
	return 1;
}

unsigned platform_cores_within(unsigned cores, const char *path)
{
	(void)path;
	return cores;
}

void platform_measure(struct platform_figures *figures)
{
	figures->resident_bytes = figures->virtual_bytes = (uint64_t)__builtin_wasm_memory_size(0)
							   << 16;
	figures->threads = 1;
}
