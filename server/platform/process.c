#include "server/platform/process.h"

#include <sys/resource.h>

#include "server/platform/platform.h"

void process_read(struct process_figures *figures)
{
	struct platform_figures figured = {0};
	struct rusage usage;
	struct rlimit files;

	platform_measure(&figured);
	*figures = (struct process_figures){.resident_bytes = figured.resident_bytes,
					    .virtual_bytes = figured.virtual_bytes,
					    .threads = figured.threads,
					    .files = figured.files,
					    .started_s = figured.started_s};
	if (getrlimit(RLIMIT_NOFILE, &files) == 0)
		figures->files_max = files.rlim_cur;
	if (getrusage(RUSAGE_SELF, &usage) == 0)
		figures->cpu_s = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
				 (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}
