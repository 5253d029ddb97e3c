/*
 * poller - waits for many sockets at once: by epoll in poller_linux.c, by kqueue in poller_macos.c.
 *
 * A poller is a file descriptor; close() ends it. A descriptor that is closed leaves its pollers by
 * itself.
 */
#ifndef DYNALITH_SERVER_PLATFORM_POLLER_H
#define DYNALITH_SERVER_PLATFORM_POLLER_H

#include <stdbool.h>

#define POLLER_EVENTS 128 /* that poller_wait() returns at most */

enum { POLLER_READ = 1, POLLER_WRITE = 2 }; /* reported as long as it can be done, or would fail */

struct poller_event {
	void *context;
	unsigned ready; /* POLLER_READ, _WRITE */
};

/* A descriptor that is closed on exec, or -1. */
int poller_open(void);

/* Makes the poller wait for the events `wanted` of a descriptor in place of the events `watched`;
 * 0: for none. */
bool poller_watch(int poller, int fd, unsigned watched, unsigned wanted, void *context);

/* Waits up to `wait_ms`, -1: without end. Returns how many of `events` it has filled, or -1 with
 * errno. One descriptor may have several. */
int poller_wait(int poller, struct poller_event *events, int wait_ms);

#endif
