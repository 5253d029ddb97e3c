/*
 * cpu - whether the processor, and the system's state for it, can run an extension of x86-64:
 * CPU_HAS(AVX512F). Names as in glibc's <sys/platform/x86.h>.
 *
 * glibc asks the processor when a program starts; elsewhere the first CPU_HAS does. Not
 * __builtin_cpu_supports(): it asks again before main(), and on a virtual machine each question is
 * an exit to the hypervisor, which cost each start 75 us on an EPYC. In programs that zig links it
 * is always false.
 */
#ifndef DYNALITH_CORE_CPU_H
#define DYNALITH_CORE_CPU_H

#include <stdatomic.h>
#include <stddef.h> /* __GLIBC_PREREQ() where there is one */

enum cpu_extension {
	CPU_SSE4_1 = 1,
	CPU_PCLMULQDQ = 2,
	CPU_AVX = 4,
	CPU_FMA = 8,
	CPU_AVX512F = 16,
	CPU_AVX512BW = 32,
	CPU_VPCLMULQDQ = 64,
	CPU_ASKED = 128, /* always set, so that an answer is never 0 */
};

/* Asks the processor. Returns its extensions as bits of enum cpu_extension, and CPU_ASKED.
 * Thread-safe. */
unsigned cpu_ask(void);

/* What cpu_ask() returned; 0 before the first call. */
extern atomic_uint cpu_answer;

static inline unsigned cpu_extensions(void)
{
	unsigned known = atomic_load_explicit(&cpu_answer, memory_order_relaxed);

	return known ? known : cpu_ask();
}

#if defined(__GLIBC_PREREQ) && __has_include(<sys/platform/x86.h>)
#if __GLIBC_PREREQ(2, 33)
#include <sys/platform/x86.h>
#define CPU_HAS(extension) CPU_FEATURE_ACTIVE(extension)
#endif
#endif
#ifndef CPU_HAS
#define CPU_HAS(extension) ((cpu_extensions() & CPU_##extension) != 0)
#endif

#endif
