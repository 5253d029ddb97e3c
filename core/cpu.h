/*
 * cpu - whether the processor, and the system's state for it, can run an extension of x86-64: CPU_HAS(AVX512F). Names as in glibc's <sys/platform/x86.h>.
 *
 * glibc has asked already when a program starts; elsewhere the first CPU_HAS asks. On a virtual machine each question is an exit to the hypervisor: a start
 * by the compiler's __builtin_cpu_supports() took 75 us more on an EPYC. Programs that zig links never ask for it, and it says no to everything there.
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
	CPU_ASKED = 128, /* is always there */
};

/* Asks the processor: the extensions it has, as bits. Thread-safe. */
unsigned cpu_ask(void);

/* What cpu_ask() said; 0 before it was called. */
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
