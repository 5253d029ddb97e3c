#include "server/outbox.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "core/arena.h"
#include "core/str.h"
#include "server/messages.h"
#include "server/platform/platform.h"
#include "server/refusal.h"

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
		uint64_t group;
	} answers[OUTBOX_ANSWERS];
	size_t pending; /* answers with a group */
	struct rest *rests;
	char text[OUTBOX_BYTES];
};

static _Thread_local struct outbox *own;
static bool (*commit)(uint64_t group);
static pthread_key_t ends;
static _Atomic uint64_t losses;

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

void outbox_commit_by(bool (*commit_group)(uint64_t group))
{
	commit = commit_group;
}

void outbox_turn(int events)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (!own && events > 1) {
		pthread_once(&once, make_key);
		own = arena_checked(malloc(sizeof(*own)));
		own->count = 0;
		own->used = 0;
		own->pending = 0;
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

bool outbox_takes(int fd, size_t n)
{
	return own && own->is_open && n <= OUTBOX_ANSWER && !is_owed(fd);
}

#define KEPT_MOST 512 /* bytes of the header lines below */

/* Whether the error has the header line too: without it a page of another origin would not see the error. */
static bool is_kept(struct str line)
{
	return str_starts_with(line, STR("x-amzn-RequestId: ")) || str_starts_with(line, STR("Access-Control-"));
}

/* Adds such lines of a head, or of its beginning, that have room; each but the first has an end before it. */
static size_t keep_lines(char kept[KEPT_MOST], size_t n, struct str head)
{
	const char *at = head.p, *end = head.p + head.n, *stop;

	while (at < end && (stop = memmem(at, (size_t)(end - at), "\r\n", 2)) && stop > at) {
		struct str line = {at, (size_t)(stop - at)};
		size_t gap = n > 0 ? 2 : 0;

		if (is_kept(line) && n + gap + line.n <= KEPT_MOST) {
			memcpy(kept + n, "\r\n", gap);
			memcpy(kept + n + gap, line.p, line.n);
			n += gap + line.n;
		}
		at = stop + 2;
	}
	return n;
}

/* What takes the place of an answer whose writes were lost, as the disk was full: the client may try again, and gets the error that it has then. */
static struct str loss_of(struct str lines, char text[REFUSAL_MOST])
{
	atomic_fetch_add_explicit(&losses, 1, memory_order_relaxed);
	return refusal_write(text, "500 Internal Server Error", lines.n > 0 ? lines : STR("Server: Dynalith"), STR(LOSS_REFUSAL));
}

uint64_t outbox_losses(void)
{
	return atomic_load(&losses);
}

/* Behind what the socket did not take before. */
static void send_answer(int fd, struct str answer)
{
	size_t sent = is_owed(fd) ? 0 : send_some(fd, answer.p, answer.n);

	if (sent < answer.n)
		keep_rest(fd, answer.p + sent, answer.n - sent);
}

/* Of an answer that is not kept. */
static void send_loss(int fd, const struct iovec *parts, size_t count)
{
	char kept[KEPT_MOST], text[REFUSAL_MOST];
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		n = keep_lines(kept, n, (struct str){parts[i].iov_base, parts[i].iov_len});
	outbox_send();
	send_answer(fd, loss_of((struct str){kept, n}, text));
}

bool outbox_put(int fd, const struct iovec *parts, size_t count, uint64_t group)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		n += parts[i].iov_len;
	if (!outbox_takes(fd, n)) {
		if (group == 0 || !own || commit(group))
			return false;
		send_loss(fd, parts, count);
		return true;
	}
	if (own->count == OUTBOX_ANSWERS || n > sizeof(own->text) - own->used)
		outbox_send();
	if (is_owed(fd))
		return false;
	own->answers[own->count].group = group;
	own->pending += group > 0;
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
	char kept[KEPT_MOST], loss[REFUSAL_MOST];

	for (size_t i = 0; own && i < own->count; i++) {
		struct str answer = {p, own->answers[i].n};

		p += answer.n;
		if (own->answers[i].group > 0 && !commit(own->answers[i].group))
			answer = loss_of((struct str){kept, keep_lines(kept, 0, answer)}, loss);
		send_answer(own->answers[i].fd, answer);
	}
	if (own) {
		own->count = own->used = own->pending = 0;
		own->since_ns = 0;
	}
}

void outbox_works(uint64_t now_ns)
{
	if (!own || own->count == 0 || own->pending > 0)
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

bool outbox_clear(int fd, uint64_t group)
{
	outbox_send();
	if (group > 0 && !commit(group)) {
		platform_shutdown(fd, SHUT_RDWR);
		return false;
	}
	return !own || !is_owed(fd) || send_rest(find_rest(fd));
}

void outbox_forget(int fd)
{
	if (outbox_clear(fd, 0))
		return;
	struct rest **at = find_rest(fd), *rest = *at;
	*at = rest->next;
	free(rest);
}
