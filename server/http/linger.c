#include "server/http/linger.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/arena.h"
#include "core/crc32.h"
#include "server/platform/platform.h"
#include "storage/monotonic.h"

#define LINGER_MS 5000
#define LINGER_LOOK_MS 5
#define READS_AT_ONCE 16 /* so that a client that does not listen cannot send without end */
#define REFUSAL_MOST 1024 /* bytes */

struct lingering {
	struct crew_job job; /* first */
	struct lingers *lingers;
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

static void linger_look(struct crew_job *job, bool is_late)
{
	struct lingering *at = (struct lingering *)job;
	struct lingers *lingers = at->lingers;

	if (!is_late && waste(at->fd) && monotonic_ms() < at->until_ms) {
		crew_take_in(lingers->crew, job, LINGER_LOOK_MS);
		return;
	}
	close(at->fd);
	free(at);
	atomic_fetch_sub(&lingers->count, 1);
}

void linger_keep(struct lingers *lingers, int fd)
{
	if (!waste(fd)) /* it has closed */
		return;
	bool has_room = atomic_fetch_add(&lingers->count, 1) < lingers->most;
	int own = has_room ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
	if (own < 0) {
		atomic_fetch_sub(&lingers->count, 1);
		return;
	}
	struct lingering *at = arena_checked(calloc(1, sizeof(*at)));
	*at = (struct lingering){{.run = linger_look}, lingers, own, monotonic_ms() + LINGER_MS};
	crew_take_in(lingers->crew, &at->job, LINGER_LOOK_MS);
}

void linger_refuse(struct lingers *lingers, int fd, const char *status, struct str body)
{
	char text[REFUSAL_MOST];
	int n = snprintf(text, sizeof(text),
			 "HTTP/1.1 %s\r\nConnection: close\r\nContent-Type: "
			 "application/x-amz-json-1.0\r\nContent-Length: %zu\r\nx-amz-crc32: "
			 "%u\r\n\r\n" STR_FMT,
			 status, body.n, crc32_of(body.p, body.n), STR_ARG(body));

	platform_send(fd, text, (size_t)n);
	shutdown(fd, SHUT_WR);
	linger_keep(lingers, fd);
}
