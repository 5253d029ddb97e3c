#include "server/process.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* The fields of /proc/self/stat behind the name, which may hold anything. Source: proc(5). */
#define STAT_FORMAT "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %llu %*d %llu %llu %lld"

static void read_stat(struct process_figures *figures)
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
#ifdef CLOCK_BOOTTIME
	clock_gettime(CLOCK_BOOTTIME, &up);
#else
	clock_gettime(CLOCK_MONOTONIC, &up);
#endif
	figures->started_s = (double)(wall.tv_sec - up.tv_sec) + (double)(wall.tv_nsec - up.tv_nsec) / 1e9 +
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

void process_read(struct process_figures *figures)
{
	struct rusage usage;
	struct rlimit files;

	memset(figures, 0, sizeof(*figures));
	read_stat(figures);
	figures->files = count_files();
	if (getrlimit(RLIMIT_NOFILE, &files) == 0)
		figures->files_max = files.rlim_cur;
	if (getrusage(RUSAGE_SELF, &usage) == 0)
		figures->cpu_s = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
				 (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}
