/*
 * compat - calls of POSIX that WASI preview 1 does not have, for dynalith.wasm alone: each fails
 * with ENOSYS, or does nothing where there is nothing to do. mk/wasm.mk includes it before each
 * file.
 */
#ifndef DYNALITH_SERVER_WASI_COMPAT_H
#define DYNALITH_SERVER_WASI_COMPAT_H

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>

#undef MADV_HUGEPAGE

#define WASI_MISSING(declaration)                                                                  \
	static inline declaration                                                                  \
	{                                                                                          \
		errno = ENOSYS;                                                                    \
		return -1;                                                                         \
	}

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunused-parameter"
WASI_MISSING(int fchown(int fd, uid_t owner, gid_t group))
WASI_MISSING(int mkostemp(char *name, int flags))
WASI_MISSING(int connect(int fd, const struct sockaddr *address, socklen_t n))
#pragma clang diagnostic pop
#ifndef SO_ERROR
#define SO_ERROR 4
#endif

/* There are no signals. */
#define SIG_BLOCK 0
#define SIG_UNBLOCK 1
#define SIG_SETMASK 2

static inline int sigfillset(sigset_t *set)
{
	*set = 0;
	return 0;
}

static inline int pthread_sigmask(int how, const sigset_t *set, sigset_t *before)
{
	(void)how, (void)set;
	if (before)
		*before = 0;
	return 0;
}

#endif
