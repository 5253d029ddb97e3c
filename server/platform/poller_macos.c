#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/event.h>
#include <time.h>

#include "server/platform/poller.h"

int poller_open(void)
{
	int fd = kqueue();

	if (fd >= 0)
		fcntl(fd, F_SETFD, FD_CLOEXEC);
	return fd;
}

/*
 * The flags of the filter for reading (or writing) under a watch; 0 where the watch needs no such
 * filter. A peer that is gone shows at the filter for writing only: at the one for reading, the
 * peer may have closed its own side and still read.
 */
static uint16_t flags_of(unsigned watch, int16_t filter)
{
	if (filter == EVFILT_READ)
		return !(watch & POLLER_READ) ? 0
		       : watch & POLLER_EDGE  ? EV_ADD | EV_CLEAR
					      : EV_ADD;
	if (watch & POLLER_WRITE)
		return EV_ADD;
	return watch == POLLER_GONE ? EV_ADD | EV_CLEAR : 0;
}

bool poller_watch(int poller, int fd, unsigned watched, unsigned wanted, void *context)
{
	static const int16_t filters[] = {EVFILT_READ, EVFILT_WRITE};
	struct kevent changes[4];
	int n = 0;

	for (int i = 0; i < 2; i++) {
		uint16_t before = flags_of(watched, filters[i]),
			 after = flags_of(wanted, filters[i]);

		/* EV_CLEAR stays with a filter until it is deleted */
		if (before && before != after)
			EV_SET(&changes[n++], (uintptr_t)fd, filters[i], EV_DELETE, 0, 0, NULL);
		if (after && before != after)
			EV_SET(&changes[n++], (uintptr_t)fd, filters[i], after, 0, 0, context);
	}
	return n == 0 || kevent(poller, changes, n, NULL, 0, NULL) == 0;
}

int poller_wait(int poller, struct poller_event *events, int wait_ms)
{
	const struct timespec wait = {wait_ms / 1000, wait_ms % 1000 * 1000000L};
	struct kevent found[POLLER_EVENTS];
	int n = kevent(poller, NULL, 0, found, POLLER_EVENTS, wait_ms < 0 ? NULL : &wait);

	for (int i = 0; i < n; i++) {
		bool is_read = found[i].filter == EVFILT_READ;

		events[i].context = found[i].udata;
		events[i].ready = is_read                   ? POLLER_READ
				  : found[i].flags & EV_EOF ? POLLER_WRITE | POLLER_GONE
							    : POLLER_WRITE;
	}
	return n;
}
