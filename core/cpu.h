/*
 * cpu - whether the processor, and the system's state for it, can run an extension of x86-64: CPU_HAS(AVX512F, "avx512f").
 *
 * glibc has asked already when a program starts; the compiler's own answer asks again, before main(), and on a virtual machine each question is an exit to
 * the hypervisor: 75 us of every start on an EPYC. Names: glibc's <sys/platform/x86.h>, and the compiler's for __builtin_cpu_supports().
 */
#ifndef DYNALITH_CORE_CPU_H
#define DYNALITH_CORE_CPU_H

#include <stddef.h> /* __GLIBC_PREREQ() where there is one */

#if defined(__GLIBC_PREREQ) && __has_include(<sys/platform/x86.h>)
#if __GLIBC_PREREQ(2, 33)
#include <sys/platform/x86.h>
#define CPU_HAS(feature, name) CPU_FEATURE_ACTIVE(feature)
#endif
#endif
#ifndef CPU_HAS
#define CPU_HAS(feature, name) __builtin_cpu_supports(name)
#endif

#endif
