/*
 * What the processor says of itself, beside what the compiler's own question says.
 */
#include "core/cpu.h"
#include "tests/unit/test.h"

static bool has(unsigned extensions, enum cpu_extension which)
{
	return extensions & which;
}

TEST(says_what_the_compiler_says)
{
	unsigned extensions = cpu_ask();

	CHECK(has(extensions, CPU_ASKED));
#if defined(__x86_64__)
	__builtin_cpu_init();
	CHECK_INT(has(extensions, CPU_SSE4_1), __builtin_cpu_supports("sse4.1") != 0);
	CHECK_INT(has(extensions, CPU_PCLMULQDQ), __builtin_cpu_supports("pclmul") != 0);
	CHECK_INT(has(extensions, CPU_AVX), __builtin_cpu_supports("avx") != 0);
	CHECK_INT(has(extensions, CPU_FMA), __builtin_cpu_supports("fma") != 0);
	CHECK_INT(has(extensions, CPU_AVX512F), __builtin_cpu_supports("avx512f") != 0);
	CHECK_INT(has(extensions, CPU_AVX512BW), __builtin_cpu_supports("avx512bw") != 0);
	CHECK_INT(has(extensions, CPU_VPCLMULQDQ), __builtin_cpu_supports("vpclmulqdq") != 0);
#else
	CHECK_INT(extensions, CPU_ASKED);
#endif
}

TEST(asks_once)
{
	unsigned extensions = cpu_ask();

	atomic_store(&cpu_answer, 0);
	CHECK_INT(cpu_extensions(), extensions);
	atomic_store(&cpu_answer, CPU_ASKED);
	CHECK_INT(cpu_extensions(), CPU_ASKED);
	atomic_store(&cpu_answer, 0);
	CHECK_INT(cpu_extensions(), extensions);
}

TEST(agrees_with_the_C_library)
{
	CHECK_INT(CPU_HAS(SSE4_1) != 0, has(cpu_ask(), CPU_SSE4_1));
	CHECK_INT(CPU_HAS(PCLMULQDQ) != 0, has(cpu_ask(), CPU_PCLMULQDQ));
	CHECK_INT(CPU_HAS(AVX512F) != 0, has(cpu_ask(), CPU_AVX512F));
}

TEST_MAIN(TEST_CASE(says_what_the_compiler_says), TEST_CASE(asks_once),
	  TEST_CASE(agrees_with_the_C_library))
