#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>

#include "server/platform/poller.h"

int poller_open(void)
{
	return epoll_create1(EPOLL_CLOEXEC);
}

bool poller_watch(int poller, int fd, unsigned watched, unsigned wanted, void *context)
{
	struct epoll_event event = {.events = (wanted & POLLER_READ ? EPOLLIN : 0u) |
					      (wanted & POLLER_WRITE ? EPOLLOUT : 0u),
				    .data.ptr = context};

	if (watched == wanted)
		return true;
	return epoll_ctl(poller,
			 !wanted   ? EPOLL_CTL_DEL
			 : watched ? EPOLL_CTL_MOD
				   : EPOLL_CTL_ADD,
			 fd, &event) == 0;
}

int poller_wait(int poller, struct poller_event *events, int wait_ms)
{
	struct epoll_event found[POLLER_EVENTS];
	int n = epoll_pwait(poller, found, POLLER_EVENTS, wait_ms, NULL);

	for (int i = 0; i < n; i++) {
		uint32_t is = found[i].events;

		events[i].context = found[i].data.ptr;
		events[i].ready = (is & ~(uint32_t)EPOLLOUT ? POLLER_READ : 0u) |
				  (is & ~(uint32_t)EPOLLIN ? POLLER_WRITE : 0u);
	}
	return n;
}
