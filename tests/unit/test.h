/*
 * test - a small harness for unit tests: one executable per module.
 *
 *     TEST(adds_two_numbers)
 *     {
 *             CHECK(1 + 1 == 2);
 *             CHECK_STR(str_of("a"), "a");
 *     }
 *     TEST_MAIN(adds_two_numbers, ...)
 *
 * A failed check prints where and goes on; the executable ends with
 * "NAME: N passed, N failed" and status 1 when anything failed. A test counts once.
 */
#ifndef DYNALITH_TEST_H
#define DYNALITH_TEST_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/str.h"

/* By what tests that try many of a kind are to try fewer: builds with sanitizers are so much
 * slower. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TEST_SLOWNESS 8
#elif __has_feature(address_sanitizer)
#define TEST_SLOWNESS 2
#endif
#elif defined(__SANITIZE_THREAD__)
#define TEST_SLOWNESS 8
#elif defined(__SANITIZE_ADDRESS__)
#define TEST_SLOWNESS 2
#endif
#ifndef TEST_SLOWNESS
#define TEST_SLOWNESS 1
#endif

struct test_case {
	const char *name;
	void (*run)(void);
};

static int test_failures; /* of the running test */

#define CHECK(condition)                                                                        \
	do {                                                                                    \
		if (!(condition)) {                                                             \
			fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
			test_failures++;                                                        \
		}                                                                               \
	} while (0)

#define CHECK_INT(actual, expected)                                                                \
	do {                                                                                       \
		long long test_a = (long long)(actual), test_e = (long long)(expected);            \
		if (test_a != test_e) {                                                            \
			fprintf(stderr, "%s:%d: %s is %lld, not %lld\n", __FILE__, __LINE__,       \
				#actual, test_a, test_e);                                          \
			test_failures++;                                                           \
		}                                                                                  \
	} while (0)

#define CHECK_STR(actual, expected)                                                                \
	do {                                                                                       \
		struct str test_a = (actual);                                                      \
		const char *test_e = (expected);                                                   \
		if (test_a.n != strlen(test_e) ||                                                  \
		    (test_a.n && memcmp(test_a.p, test_e, test_a.n) != 0)) {                       \
			fprintf(stderr, "%s:%d: %s is \"%.*s\", not \"%s\"\n", __FILE__, __LINE__, \
				#actual, (int)test_a.n, test_a.p ? test_a.p : "", test_e);         \
			test_failures++;                                                           \
		}                                                                                  \
	} while (0)

#define TEST(name) static void test_##name(void)
#define TEST_CASE(name) {#name, test_##name}

static int test_run(const char *file, const struct test_case *cases, size_t n)
{
	int passed = 0, failed = 0;

	for (size_t i = 0; i < n; i++) {
		test_failures = 0;
		cases[i].run();
		if (test_failures) {
			failed++;
			fprintf(stderr, "%s: %s failed\n", file, cases[i].name);
		} else {
			passed++;
		}
	}
	printf("%s: %d passed, %d failed\n", file, passed, failed);
	return failed ? 1 : 0;
}

/* TEST_MAIN(TEST_CASE(a), TEST_CASE(b)) */
#define TEST_MAIN(...)                                                                       \
	int main(void)                                                                       \
	{                                                                                    \
		static const struct test_case cases[] = {__VA_ARGS__};                       \
		return test_run(__FILE__, cases, sizeof(cases) / sizeof(cases[0]));          \
	}

#endif
