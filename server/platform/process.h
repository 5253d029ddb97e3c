/*
 * process - figures of this process for the metrics: CPU time, memory, open files.
 */
#ifndef DYNALITH_SERVER_PROCESS_H
#define DYNALITH_SERVER_PROCESS_H

#include <stdint.h>

struct process_figures {
	double cpu_s;             /* of all threads, since the start */
	uint64_t resident_bytes;
	uint64_t virtual_bytes;
	uint64_t threads;
	uint64_t files, files_max; /* open; the soft limit */
	double started_s;          /* Unix time */
};

/* Figures that this system does not provide are 0. */
void process_read(struct process_figures *figures);

#endif
