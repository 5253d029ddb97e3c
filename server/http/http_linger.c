#include "server/http/http_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "storage/monotonic.h"

#define LINGER_MS 5000
#define LINGER_LOOK_MS 5
#define LINGERS 32       /* sockets at once */
#define READS_AT_ONCE 16 /* so that a client that does not listen cannot send without end */

struct lingering {
	struct crew_job job; /* first */
	struct http *http;
	int fd;
	int64_t until_ms;
};

/* Reads what is there. Whether more may come. */
static bool waste(int fd)
{
	char bytes[16384];
	ssize_t n = 1;

	for (int i = 0; i < READS_AT_ONCE && n > 0; i++)
		n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
	return n > 0 || (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR));
}

static void end_linger(struct lingering *linger)
{
	atomic_fetch_sub(&linger->http->lingering, 1);
	close(linger->fd);
	free(linger);
}

static void linger_look(struct crew_job *job, bool is_late)
{
	struct lingering *linger = (struct lingering *)job;
	bool is_over = is_late || !waste(linger->fd) || monotonic_ms() >= linger->until_ms;

	if (is_over || !crew_take_in(linger->http->delays, job, LINGER_LOOK_MS))
		end_linger(linger);
}

void http_linger(struct http *http, const struct connection *connection)
{
	unsigned half = http->options.room.beyond / 2, most = half < LINGERS ? half : LINGERS;
	int fd = connection_fd(connection);
	char byte;
	ssize_t n = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);

	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK)) /* it has closed */
		return;
	bool has_room = atomic_fetch_add(&http->lingering, 1) < most;
	int own = has_room ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
	if (own < 0) {
		atomic_fetch_sub(&http->lingering, 1);
		return;
	}
	struct lingering *linger = arena_checked(calloc(1, sizeof(*linger)));
	linger->job.run = linger_look;
	linger->http = http;
	linger->fd = own;
	linger->until_ms = monotonic_ms() + LINGER_MS;
	if (!crew_take_in(http->delays, &linger->job, LINGER_LOOK_MS))
		end_linger(linger);
}
