#include "server/platform/platform.h"

#include <dirent.h>
#include <fcntl.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/spare.h"

#define HEAP_KEPT (8 * 1024 * 1024) /* the answer to a Scan of 1 MB takes up to 5 MB */

int platform_socket(int family, int type, int protocol)
{
	return socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);
}

int platform_accept(int listener, struct sockaddr *peer, socklen_t *n)
{
	return accept4(listener, peer, n, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

bool platform_socketpair(int pair[2])
{
	return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) == 0;
}

bool platform_pipe(int ends[2])
{
	return pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0;
}

ssize_t platform_send(int fd, const void *bytes, size_t n)
{
	return sendto(fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT, NULL, 0);
}

bool platform_has_ended(int fd)
{
	struct pollfd end = {fd, POLLRDHUP, 0};

	return poll(&end, 1, 0) == 1 && (end.revents & POLLRDHUP);
}

bool platform_has_threads(void)
{
	return true;
}

void platform_condition(pthread_cond_t *condition)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(condition, &attributes);
	pthread_condattr_destroy(&attributes);
}

int platform_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until)
{
	return pthread_cond_timedwait(condition, mutex, until);
}

void platform_run_again(char *const *arguments)
{
	execv("/proc/self/exe", arguments);
}

unsigned platform_cores_within(unsigned cores, const char *path)
{
	unsigned long quota, period;
	FILE *file = fopen(path, "re");
	/* "max" is no number */
	bool is_limited = file && fscanf(file, "%lu %lu", &quota, &period) == 2 && period > 0;

	if (file)
		fclose(file);
	unsigned long whole = is_limited ? quota / period + (quota % period > 0) : cores;
	return whole < 1 ? 1 : whole < cores ? (unsigned)whole : cores;
}

unsigned platform_cores(void)
{
	cpu_set_t set;
	long cores = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set)
								  : sysconf(_SC_NPROCESSORS_ONLN);

	return platform_cores_within(cores < 1 ? 1 : (unsigned)cores, "/sys/fs/cgroup/cpu.max");
}

void platform_keep_heap(void)
{
#ifdef __GLIBC__
	mallopt(M_TRIM_THRESHOLD, HEAP_KEPT);
	mallopt(M_MMAP_THRESHOLD, HEAP_KEPT); /* glibc stops adapting both once either is set */
#else
	spare_limit(HEAP_KEPT);
#endif
}

void platform_trim_heap(void)
{
#ifdef __GLIBC__
	malloc_trim(0);
#else
	spare_free();
#endif
}

/* The fields of /proc/self/stat behind the name, which may hold anything. Source: proc(5). */
#define STAT_FORMAT                                                                                \
	"%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %llu %*d %llu %llu "  \
	"%lld"

static void read_stat(struct platform_figures *figures)
{
	unsigned long long threads = 0, started = 0, size = 0;
	long long pages = 0;
	struct timespec wall, up;
	char text[1024];
	FILE *file = fopen("/proc/self/stat", "re");

	if (!file)
		return;
	size_t n = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[n] = '\0';
	const char *rest = strrchr(text, ')');
	/* NOLINTNEXTLINE(cert-err34-c): the kernel's own numbers fit */
	if (!rest || sscanf(rest + 2, STAT_FORMAT, &threads, &started, &size, &pages) != 4)
		return;
	figures->threads = threads;
	figures->virtual_bytes = size;
	figures->resident_bytes = (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
	clock_gettime(CLOCK_REALTIME, &wall);
	clock_gettime(CLOCK_BOOTTIME, &up);
	figures->started_s = (double)(wall.tv_sec - up.tv_sec) +
			     (double)(wall.tv_nsec - up.tv_nsec) / 1e9 +
			     (double)started / (double)sysconf(_SC_CLK_TCK);
}

static uint64_t count_files(void)
{
	DIR *folder = opendir("/proc/self/fd");
	uint64_t n = 0;

	if (!folder)
		return 0;
	for (const struct dirent *entry = readdir(folder); entry; entry = readdir(folder))
		n += entry->d_name[0] != '.';
	closedir(folder);
	return n - 1; /* the folder itself */
}

void platform_measure(struct platform_figures *figures)
{
	read_stat(figures);
	figures->files = count_files();
}

/* proc_pid_stat(5): "PID (NAME) STATE PARENT GROUP ..."; the name may hold anything. */
static bool read_proc_state(const char *path, char *state, int *parent, int *group)
{
	char line[512];
	FILE *file = fopen(path, "re");

	if (!file)
		return false;
	size_t n = fread(line, 1, sizeof(line) - 1, file);
	fclose(file);
	line[n] = '\0';
	const char *behind = strrchr(line, ')');
	return behind && sscanf(behind + 1, " %c %d %d", state, parent, group) == 3;
}

static bool has_running_thread(const char *process)
{
	char path[64], own[24], state;
	int parent, group;
	bool is_running = false;

	snprintf(own, sizeof(own), "%ld", syscall(SYS_gettid));
	snprintf(path, sizeof(path), "/proc/%.16s/task", process);
	DIR *tasks = opendir(path);
	for (struct dirent *task = tasks ? readdir(tasks) : NULL; task && !is_running;
	     task = readdir(tasks)) {
		snprintf(path, sizeof(path), "/proc/%.16s/task/%.16s/stat", process, task->d_name);
		is_running = *task->d_name != '.' && strcmp(task->d_name, own) != 0 &&
			     read_proc_state(path, &state, &parent, &group) && state == 'R';
	}
	if (tasks)
		closedir(tasks);
	return is_running;
}

static bool has_group(const char *process, pid_t group)
{
	char path[64], state;
	int parent, its_group;

	snprintf(path, sizeof(path), "/proc/%.16s/stat", process);
	return *process >= '1' && *process <= '9' &&
	       read_proc_state(path, &state, &parent, &its_group) && its_group == group;
}

bool platform_works(pid_t who)
{
	char process[16];

	if (who >= 0) {
		snprintf(process, sizeof(process), "%d", (int)who);
		return has_running_thread(process);
	}
	DIR *processes = opendir("/proc");
	bool works = false;

	for (struct dirent *one = processes ? readdir(processes) : NULL; one && !works;
	     one = readdir(processes))
		works = has_group(one->d_name, -who) && has_running_thread(one->d_name);
	if (processes)
		closedir(processes);
	return works;
}

void platform_adopt(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

unsigned platform_children(pid_t but)
{
	DIR *processes = opendir("/proc");
	char path[64], state;
	int parent, group;
	unsigned n = 0;

	for (struct dirent *one = processes ? readdir(processes) : NULL; one;
	     one = readdir(processes)) {
		snprintf(path, sizeof(path), "/proc/%.16s/stat", one->d_name);
		n += *one->d_name >= '1' && *one->d_name <= '9' &&
		     read_proc_state(path, &state, &parent, &group) && parent == getpid() &&
		     group != but && state != 'Z' && state != 'X';
	}
	if (processes)
		closedir(processes);
	return n;
}
