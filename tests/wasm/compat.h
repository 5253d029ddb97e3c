/*
 * compat - what unit tests call and WASI preview 1 does not have. Their stores are in memory here,
 * so nothing looks into the folders that they make. mk/wasm.mk includes it before each test.
 */
#ifndef DYNALITH_TEST_WASM_COMPAT_H
#define DYNALITH_TEST_WASM_COMPAT_H

#include <unistd.h>

#define mkdtemp(name) (name)
#define rmdir(name) 0

#define RLIMIT_FSIZE 1

typedef unsigned long long rlim_t;

struct rlimit {
	rlim_t rlim_cur, rlim_max;
};

static inline int getrlimit(int resource, struct rlimit *limit)
{
	(void)resource, (void)limit;
	return -1;
}

static inline int setrlimit(int resource, const struct rlimit *limit)
{
	(void)resource, (void)limit;
	return -1;
}

#endif
