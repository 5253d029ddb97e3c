#include "server/platform/cpu_clock.h"

#include <time.h>

static _Thread_local struct {
	uint64_t at_ns; /* when it was read; 0: never */
	uint64_t read_ns, latest_ns;
} own;

uint64_t cpu_clock_ns(uint64_t now_ns)
{
	struct timespec cpu;

	if (own.at_ns == 0 || now_ns - own.at_ns > CPU_CLOCK_GUESS_NS) {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
		own.read_ns = (uint64_t)cpu.tv_sec * 1000000000u + (uint64_t)cpu.tv_nsec;
		own.at_ns = now_ns;
	}
	uint64_t guess_ns = own.read_ns + (now_ns - own.at_ns);
	if (guess_ns > own.latest_ns)
		own.latest_ns = guess_ns;
	return own.latest_ns;
}
