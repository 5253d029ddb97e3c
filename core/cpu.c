#include "core/cpu.h"

#if defined(__x86_64__)
#include <cpuid.h>

/* Registers that the system saves when it switches threads, as bits of XCR0. Source: Intel's
 * manual, volume 1, "Managing state using the XSAVE feature set". */
#define STATE_AVX 0x6     /* SSE, AVX */
#define STATE_AVX512 0xE6 /* these, the masks, the upper halves, the upper 16 registers */

static unsigned saved_state(unsigned features)
{
	unsigned low = 0, high = 0;

	if (features & bit_OSXSAVE)
		__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	return low;
}

static unsigned if_set(unsigned bits, unsigned bit, enum cpu_extension extension)
{
	return bits & bit ? extension : 0;
}

static unsigned read_features(void)
{
	unsigned most, a, b, c, d, features;

	__cpuid(0, most, a, c, d);
	__cpuid(1, a, b, features, d);
	b = c = 0;
	if (most >= 7)
		__cpuid_count(7, 0, a, b, c, d);
	unsigned state = saved_state(features), found = if_set(features, bit_SSE4_1, CPU_SSE4_1) |
							if_set(features, bit_PCLMUL, CPU_PCLMULQDQ);
	if ((state & STATE_AVX) != STATE_AVX)
		return found;
	found |= if_set(features, bit_AVX, CPU_AVX) | if_set(features, bit_FMA, CPU_FMA) |
		 if_set(c, bit_VPCLMULQDQ, CPU_VPCLMULQDQ);
	if ((state & STATE_AVX512) != STATE_AVX512)
		return found;
	return found | if_set(b, bit_AVX512F, CPU_AVX512F) | if_set(b, bit_AVX512BW, CPU_AVX512BW);
}
#else
static unsigned read_features(void)
{
	return 0;
}
#endif

atomic_uint cpu_answer;

unsigned cpu_ask(void)
{
	unsigned answer = read_features() | CPU_ASKED;

	atomic_store_explicit(&cpu_answer, answer, memory_order_relaxed);
	return answer;
}
