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

bool poller_watch(int poller, int fd, unsigned watched, unsigned wanted, void *context)
{
	static const struct {
		unsigned event;
		int16_t filter;
	} rows[] = {{POLLER_READ, EVFILT_READ}, {POLLER_WRITE, EVFILT_WRITE}};
	struct kevent changes[2];
	int n = 0;

	for (int i = 0; i < 2; i++) {
		unsigned event = rows[i].event;

		if ((watched & event) != (wanted & event))
			EV_SET(&changes[n++], (uintptr_t)fd, rows[i].filter,
			       wanted & event ? EV_ADD : EV_DELETE, 0, 0, context);
	}
	return n == 0 || kevent(poller, changes, n, NULL, 0, NULL) == 0;
}

int poller_wait(int poller, struct poller_event *events, int wait_ms)
{
	const struct timespec wait = {wait_ms / 1000, wait_ms % 1000 * 1000000L};
	struct kevent found[POLLER_EVENTS];
	int n = kevent(poller, NULL, 0, found, POLLER_EVENTS, wait_ms < 0 ? NULL : &wait);

	for (int i = 0; i < n; i++) {
		events[i].context = found[i].udata;
		events[i].ready = found[i].filter == EVFILT_READ ? POLLER_READ : POLLER_WRITE;
	}
	return n;
}
