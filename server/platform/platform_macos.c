#include "server/platform/platform.h"

#include <errno.h>
#include <fcntl.h>
#include <libproc.h>
#include <limits.h>
#include <mach-o/dyld.h>
#include <mach/mach.h>
#include <malloc/malloc.h>
#include <unistd.h>

#define SECOND_NS 1000000000L

static bool close_both(const int ends[2])
{
	close(ends[0]);
	close(ends[1]);
	return false;
}

static bool make_own(int fd)
{
	return fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 && fcntl(fd, F_SETFL, O_NONBLOCK) == 0;
}

/* No flag of send() keeps SIGPIPE away on each version of macOS that this is for; an option of the
 * socket does. On failure the socket is closed. */
static int prepare(int fd, int error)
{
	int on = 1;

	if (fd < 0 ||
	    (make_own(fd) && setsockopt(fd, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof(on)) == 0))
		return fd;
	close(fd);
	errno = error;
	return -1;
}

int platform_socket(int family, int type, int protocol)
{
	return prepare(socket(family, type, protocol), ENOBUFS);
}

/* setsockopt() fails where the client has gone already. */
int platform_accept(int listener, struct sockaddr *peer, socklen_t *n)
{
	return prepare(accept(listener, peer, n), ECONNABORTED);
}

bool platform_socketpair(int pair[2])
{
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
		return false;
	for (int i = 0; i < 2; i++) {
		if (prepare(pair[i], ENOBUFS) < 0) {
			close(pair[1 - i]);
			return false;
		}
	}
	return true;
}

bool platform_pipe(int ends[2])
{
	if (pipe(ends) != 0)
		return false;
	return (make_own(ends[0]) && make_own(ends[1])) || close_both(ends);
}

ssize_t platform_send(int fd, const void *bytes, size_t n)
{
	return sendto(fd, bytes, n, MSG_DONTWAIT, NULL, 0);
}

bool platform_has_ended(int fd)
{
	(void)fd;
	return false;
}

bool platform_has_threads(void)
{
	return true;
}

void platform_condition(pthread_cond_t *condition)
{
	pthread_cond_init(condition, NULL);
}

/* Conditions know the real time only, and durations. */
int platform_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until)
{
	struct timespec now, left = {0, 0};

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (now.tv_sec < until->tv_sec ||
	    (now.tv_sec == until->tv_sec && now.tv_nsec < until->tv_nsec)) {
		bool borrows = until->tv_nsec < now.tv_nsec;

		left.tv_sec = until->tv_sec - now.tv_sec - borrows;
		left.tv_nsec = until->tv_nsec - now.tv_nsec + (borrows ? SECOND_NS : 0);
	}
	return pthread_cond_timedwait_relative_np(condition, mutex, &left);
}

void platform_run_again(char *const *arguments)
{
	char path[PATH_MAX];
	uint32_t size = sizeof(path);

	if (_NSGetExecutablePath(path, &size) == 0)
		execv(path, arguments);
}

unsigned platform_cores_within(unsigned cores, const char *path)
{
	(void)path;
	return cores;
}

unsigned platform_cores(void)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	return cores < 1 ? 1 : (unsigned)cores;
}

void platform_keep_heap(void)
{
}

void platform_trim_heap(void)
{
	malloc_zone_pressure_relief(NULL, 0);
}

void platform_measure(struct platform_figures *figures)
{
	struct proc_taskallinfo all;
	pid_t pid = getpid();

	if (proc_pidinfo(pid, PROC_PIDTASKALLINFO, 0, &all, sizeof(all)) == (int)sizeof(all)) {
		figures->resident_bytes = all.ptinfo.pti_resident_size;
		figures->virtual_bytes = all.ptinfo.pti_virtual_size;
		figures->threads = (uint64_t)all.ptinfo.pti_threadnum;
		figures->started_s =
			(double)all.pbsd.pbi_start_tvsec + (double)all.pbsd.pbi_start_tvusec / 1e6;
		figures->files = all.pbsd.pbi_nfiles;
	}
}

bool platform_works(pid_t who)
{
	(void)who;
	return false;
}

void platform_adopt(void)
{
}

unsigned platform_children(pid_t but)
{
	(void)but;
	return 0;
}
