/* What a process has and an instance of WebAssembly has not: signals, a forced end, CPU clocks. */
#include <time.h>

#include "server/command/interrupt.h"
#include "server/crash.h"
#include "server/ending.h"
#include "server/platform/cpu_clock.h"
#include "server/platform/platform.h"
#include "server/platform/process.h"

void crash_request(const char *id)
{
	(void)id;
}

void ending_part(const char *name)
{
	(void)name;
}

void ending_doing(const char *what)
{
	(void)what;
}

void interrupt_undo_file(struct interrupt_undo *undo, const char *path)
{
	(void)undo, (void)path;
}

void interrupt_forget(struct interrupt_undo *undo)
{
	(void)undo;
}

/* Nothing else runs meanwhile. */
uint64_t cpu_clock_ns(uint64_t now_ns)
{
	return now_ns;
}

void process_read(struct process_figures *figures)
{
	struct platform_figures own = {0};

	platform_measure(&own);
	*figures = (struct process_figures){.resident_bytes = own.resident_bytes,
					    .virtual_bytes = own.virtual_bytes,
					    .threads = own.threads};
}
