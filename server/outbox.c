#include "server/outbox.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/arena.h"
#include "server/platform/platform.h"

/* What a socket did not take. */
struct rest {
	struct rest *next;
	int fd;
	size_t n;
	char p[];
};

struct outbox {
	bool is_open;
	size_t count;
	size_t used; /* bytes of `text` */
	uint64_t since_ns; /* when a request that works was told of these answers; 0: none was */
	struct {
		int fd;
		size_t n;
	} answers[OUTBOX_ANSWERS];
	struct rest *rests;
	char text[OUTBOX_BYTES];
};

static _Thread_local struct outbox *own;
static pthread_key_t ends;

/* The thread ends, and its sockets are open still. */
static void end(void *box)
{
	struct outbox *outbox = box;

	own = outbox;
	outbox_end_turn();
	own = NULL;
	while (outbox->rests) {
		struct rest *rest = outbox->rests;

		outbox->rests = rest->next;
		free(rest);
	}
	free(outbox);
}

static void make_key(void)
{
	pthread_key_create(&ends, end);
}

void outbox_turn(int events)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (!own && events > 1) {
		pthread_once(&once, make_key);
		own = arena_checked(malloc(sizeof(*own)));
		own->count = 0;
		own->used = 0;
		own->since_ns = 0;
		own->rests = NULL;
		pthread_setspecific(ends, own);
	}
	if (own)
		own->is_open = events > 1;
}

static struct rest **find_rest(int fd)
{
	struct rest **at = &own->rests;

	while (*at && (*at)->fd != fd)
		at = &(*at)->next;
	return at;
}

/* Behind what is kept for the socket already. */
static void keep_rest(int fd, const char *p, size_t n)
{
	struct rest **at = find_rest(fd), *rest = *at;
	size_t before = rest ? rest->n : 0;
	struct rest *larger = arena_checked(realloc(rest, sizeof(*rest) + before + n));

	if (!rest)
		*larger = (struct rest){.fd = fd};
	memcpy(larger->p + before, p, n);
	larger->n = before + n;
	*at = larger;
}

/* How many of the bytes need no more care: those that went, or all where the connection is gone. */
static size_t send_some(int fd, const char *p, size_t n)
{
	ssize_t sent = platform_send(fd, p, n);

	if (sent >= 0)
		return (size_t)sent;
	return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? 0 : n;
}

/* True where nothing is left for the socket. */
static bool send_rest(struct rest **at)
{
	struct rest *rest = *at;
	size_t sent = send_some(rest->fd, rest->p, rest->n);

	if (sent < rest->n) {
		rest->n -= sent;
		memmove(rest->p, rest->p + sent, rest->n);
		return false;
	}
	*at = rest->next;
	free(rest);
	return true;
}

static bool is_owed(int fd)
{
	return own->rests && *find_rest(fd);
}

bool outbox_put(int fd, const struct iovec *parts, size_t count)
{
	size_t n = 0;

	if (!own || !own->is_open || is_owed(fd))
		return false;
	for (size_t i = 0; i < count; i++)
		n += parts[i].iov_len;
	if (n > OUTBOX_ANSWER)
		return false;
	if (own->count == OUTBOX_ANSWERS || n > sizeof(own->text) - own->used)
		outbox_send();
	if (is_owed(fd))
		return false;
	own->answers[own->count].fd = fd;
	own->answers[own->count++].n = n;
	for (size_t i = 0; i < count; i++) {
		if (parts[i].iov_len > 0)
			memcpy(own->text + own->used, parts[i].iov_base, parts[i].iov_len);
		own->used += parts[i].iov_len;
	}
	return true;
}

void outbox_send(void)
{
	const char *p = own ? own->text : NULL;

	for (size_t i = 0; own && i < own->count; i++) {
		int fd = own->answers[i].fd;
		size_t n = own->answers[i].n, sent = is_owed(fd) ? 0 : send_some(fd, p, n);

		if (sent < n)
			keep_rest(fd, p + sent, n - sent);
		p += n;
	}
	if (own) {
		own->count = own->used = 0;
		own->since_ns = 0;
	}
}

void outbox_works(uint64_t now_ns)
{
	if (!own || own->count == 0)
		return;
	if (own->since_ns == 0)
		own->since_ns = now_ns;
	else if (now_ns - own->since_ns >= OUTBOX_PATIENCE_NS)
		outbox_send();
}

void outbox_end_turn(void)
{
	outbox_send();
	for (struct rest **at = own ? &own->rests : NULL; at && *at;) {
		if (!send_rest(at))
			at = &(*at)->next;
	}
}

bool outbox_clear(int fd)
{
	outbox_send();
	return !own || !is_owed(fd) || send_rest(find_rest(fd));
}

void outbox_forget(int fd)
{
	if (outbox_clear(fd))
		return;
	struct rest **at = find_rest(fd), *rest = *at;
	*at = rest->next;
	free(rest);
}
