/*
 * platform - what Linux and macOS do in different ways, apart from waiting for sockets (poller.h)
 * and for the disk (storage/store/durable.h).
 *
 * platform_linux.c and platform_macos.c implement it, and make compiles one of them. No other file
 * asks which system it is compiled for.
 */
#ifndef DYNALITH_SERVER_PLATFORM_PLATFORM_H
#define DYNALITH_SERVER_PLATFORM_PLATFORM_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <time.h>

/* --- sockets: each new one is closed on exec, never blocks, and raises no SIGPIPE where
 * platform_send() writes to it --- */

/* As socket(), accept() and a socketpair() of streams: -1 or false with errno set. */
int platform_socket(int family, int type, int protocol);
int platform_accept(int listener, struct sockaddr *peer, socklen_t *n);
bool platform_socketpair(int pair[2]);

/* Two ends of a pipe that are closed on exec and never block. False with errno set. */
bool platform_pipe(int ends[2]);

/* Sends what the socket takes at once: as send(). */
ssize_t platform_send(int fd, const void *bytes, size_t n);

/* Whether the peer has ended its side of the connection, with bytes before its end still unread or
 * not. False where the system does not say. */
bool platform_has_ended(int fd);

/* --- threads --- */

/* Whether threads can be had. Where not, instance_tick() does the work of the background. */
bool platform_has_threads(void);

/* A condition for platform_wait(). */
void platform_condition(pthread_cond_t *condition);

/* As pthread_cond_timedwait(), until a time of CLOCK_MONOTONIC. */
int platform_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until);

/* --- the process --- */

/* Replaces the process by another of its own program file; returns where it cannot. For a child
 * between fork() and exec. */
void platform_run_again(char *const *arguments);

/*
 * On Linux, makes glibc keep up to 8 MB of free memory at the end of each heap until
 * platform_trim_heap(). With another C library, arenas keep up to 8 MB of freed blocks in all
 * (core/spare.h). By default most of the memory of a large answer goes back to the system at once,
 * and the next answer takes a page fault per 4 KB. Changes the whole process: not for the library.
 */
void platform_keep_heap(void);

/* Gives free pages of the heap back to the system, where the C library has a call for that. */
void platform_trim_heap(void);

/* Cores that the process may use at once, at least 1: on Linux those of its affinity, and no more
 * than the quota of its container. */
unsigned platform_cores(void);

/* On Linux: `cores`, or fewer where the file of a control group (cpu.max: "max 100000", or "150000
 * 100000" for one and a half) allows no more. */
unsigned platform_cores_within(unsigned cores, const char *path);

struct platform_figures {
	uint64_t resident_bytes, virtual_bytes;
	uint64_t threads;
	uint64_t files;   /* open */
	double started_s; /* Unix time */
};

/* Figures that the system does not give stay as they are. */
void platform_measure(struct platform_figures *figures);

/* Whether a thread of a process, or, as for kill(), with a minus of a group of processes, runs or
 * could run at this moment. The calling thread is not counted. False where the system does not
 * tell. */
bool platform_works(pid_t who);

/* From now on processes whose parents have ended are children of this one, not of init, where the
 * system has a call for that. */
void platform_adopt(void);

/* How many children run that are not of the group of processes `but`. 0 where the system does not
 * tell. */
unsigned platform_children(pid_t but);

#endif
