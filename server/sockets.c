#include "server/sockets.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/str.h"
#include "server/messages.h"
#include "server/outbox.h"
#include "server/platform/platform.h"
#include "server/refusal.h"

#define SOCKETS_MAX (1 << 17) /* above what connections_make_room() asks for; none beyond is entered */
#define STATUS_AT 9           /* in "HTTP/1.1 431" */
#define WASTE_MAX (64 * 1024 * 1024) /* bytes discarded behind an answer; a client that sends more does not listen */

enum socket_state {
	SOCKET_OTHER,   /* not ours, or in the midst of an answer */
	SOCKET_IDLE,    /* awaits a request, of which libmicrohttpd has no bytes */
	SOCKET_AWAITED, /* what libmicrohttpd sends is its own */
	SOCKET_HELD,    /* a request is handled: nothing is read */
	SOCKET_QUEUED,
	SOCKET_EARLY,   /* queued, and the last */
	SOCKET_CLOSING, /* all is sent: further bytes are thrown away */
	SOCKET_MOVED,   /* the connection goes on by another descriptor */
};

static bool (*move)(int fd);

static _Atomic unsigned char states[SOCKETS_MAX];
static _Atomic uint32_t wasted[SOCKETS_MAX]; /* bytes */

/* Header lines of a queued answer that libmicrohttpd does not know of. */
static struct {
	_Atomic(const char *) p;
	atomic_size_t left; /* bytes at p that are not sent */
} lines[SOCKETS_MAX];

/* Of a queued answer: the group of writes that it depends on, as write_turn_seen() gives it; 0: none. */
static _Atomic uint64_t groups[SOCKETS_MAX];

/*
 * Bytes of the request under way that are yet to come; 0 where the next ones begin a request. Below 0: so many have come of a request whose head
 * libmicrohttpd has not read yet. UNKNOWN: where requests begin is not known any more.
 */
static _Atomic int64_t left[SOCKETS_MAX];
#define UNKNOWN INT64_MIN

/* libmicrohttpd looks at what it received before it receives from another socket. */
static _Thread_local struct {
	int fd;
	bool is_there;
	struct taken_head taken;
} latest;

static bool is_within(int fd)
{
	return fd >= 0 && fd < SOCKETS_MAX;
}

static void set_lines(int fd, const char *p, size_t n)
{
	if (!is_within(fd))
		return;
	atomic_store_explicit(&lines[fd].p, p, memory_order_relaxed);
	atomic_store_explicit(&lines[fd].left, n, memory_order_relaxed);
}

static struct str get_lines(int fd)
{
	if (!is_within(fd))
		return STR_ABSENT;
	return (struct str){atomic_load_explicit(&lines[fd].p, memory_order_relaxed), atomic_load_explicit(&lines[fd].left, memory_order_relaxed)};
}

static void set_group(int fd, uint64_t group)
{
	if (is_within(fd))
		atomic_store_explicit(&groups[fd], group, memory_order_relaxed);
}

static uint64_t get_group(int fd)
{
	return is_within(fd) ? atomic_load_explicit(&groups[fd], memory_order_relaxed) : 0;
}

/* Sends the answers that wait, and commits what this one depends on: outbox_clear(). */
static bool make_way(int fd)
{
	uint64_t group = get_group(fd);

	set_group(fd, 0);
	return outbox_clear(fd, group);
}

static enum socket_state state_of(int fd)
{
	return is_within(fd) ? (enum socket_state)atomic_load_explicit(&states[fd], memory_order_relaxed) : SOCKET_OTHER;
}

static void enter(int fd, enum socket_state state)
{
	if (is_within(fd))
		atomic_store_explicit(&states[fd], (unsigned char)state, memory_order_relaxed);
}

static int64_t left_of(int fd)
{
	return is_within(fd) ? atomic_load_explicit(&left[fd], memory_order_relaxed) : UNKNOWN;
}

/* Whether nothing more is sent by the descriptor. */
static bool is_over(enum socket_state state)
{
	return state == SOCKET_CLOSING || state == SOCKET_MOVED;
}

void sockets_move_by(bool (*by)(int fd))
{
	move = by;
}

void sockets_begin(int fd)
{
	if (is_within(fd))
		atomic_store_explicit(&left[fd], 0, memory_order_relaxed);
	sockets_await(fd);
}

void sockets_await(int fd)
{
	set_lines(fd, NULL, 0);
	if (!is_over(state_of(fd)))
		enter(fd, left_of(fd) == 0 ? SOCKET_IDLE : SOCKET_AWAITED);
}

void sockets_hold(int fd)
{
	if (!is_over(state_of(fd)))
		enter(fd, SOCKET_HELD);
}

void sockets_answer(int fd, bool is_early, uint64_t group, struct str text)
{
	set_group(fd, group);
	set_lines(fd, text.p, text.n);
	enter(fd, is_early ? SOCKET_EARLY : SOCKET_QUEUED);
}

void sockets_forget(int fd)
{
	outbox_forget(fd);
	set_group(fd, 0);
	set_lines(fd, NULL, 0);
	enter(fd, SOCKET_OTHER);
}

/* Nothing more is sent. */
static void begin_closing(int fd)
{
	set_lines(fd, NULL, 0);
	enter(fd, SOCKET_CLOSING);
	if (is_within(fd))
		atomic_store_explicit(&wasted[fd], 0, memory_order_relaxed);
	shutdown(fd, SHUT_WR);
}

/* Our answer in place of a page of libmicrohttpd's own, by its status. */
static const struct refusal {
	struct str status; /* its */
	const char *line;  /* ours */
	struct str body;
} refusals[] = {
	{STR_INIT("414"), "400 Bad Request", STR_INIT(HEAD_REFUSAL)}, {STR_INIT("431"), "400 Bad Request", STR_INIT(HEAD_REFUSAL)},
	{STR_INIT("500"), "400 Bad Request", STR_INIT(HEAD_REFUSAL)}, {STR_INIT("400"), "400 Bad Request", STR_INIT(FRAMING_REFUSAL)},
	{STR_INIT("413"), "413 Content Too Large", STR_INIT(SIZE_REFUSAL)},
	{STR_INIT("505"), "505 HTTP Version Not Supported", STR_INIT(FRAMING_REFUSAL)},
};

/* The row of the page that these bytes begin; NULL where they begin none. */
static const struct refusal *find_refusal(struct str bytes)
{
	struct str status = {bytes.p + STATUS_AT, bytes.n - STATUS_AT};

	for (size_t i = 0; bytes.n > STATUS_AT && i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		if (str_starts_with(status, refusals[i].status))
			return &refusals[i];
	}
	return NULL;
}

/* Sends the answer whole, once, as the last one. A client that is gone, or takes no bytes, gets none. */
static void refuse(int fd, const struct refusal *refusal)
{
	enum socket_state state = state_of(fd);
	char text[REFUSAL_MOST];

	if (state == SOCKET_OTHER || is_over(state) || !outbox_clear(fd, 0))
		return;
	struct str answer = refusal_write(text, refusal->line, STR("Connection: close"), refusal->body);
	(void)!platform_send(fd, answer.p, answer.n);
	begin_closing(fd);
}

void sockets_refuse(int fd)
{
	refuse(fd, &refusals[0]);
}

/* Throws away the bytes that came. True where no more will come, or the client sent too many. */
static bool is_emptied(int fd)
{
	uint32_t all = atomic_load_explicit(&wasted[fd], memory_order_relaxed);
	char waste[16384];
	ssize_t n;

	do {
		n = recv(fd, waste, sizeof(waste), MSG_DONTWAIT);
		all += n > 0 ? (uint32_t)n : 0;
	} while (n > 0 && all < WASTE_MAX);
	atomic_store_explicit(&wasted[fd], all, memory_order_relaxed);
	return n >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

/* The result of a send where the socket has no room, and of a read where it has no bytes. */
static ssize_t take_none(void)
{
	errno = EAGAIN;
	return -1;
}

/* The result of a send where is_over(): behind the last answer the socket seems full while the client still sends, so that libmicrohttpd calls again later. */
static ssize_t empty(int fd, size_t all)
{
	if (state_of(fd) == SOCKET_MOVED || is_emptied(fd))
		return (ssize_t)all;
	platform_hold_back(fd);
	return take_none();
}

/* The state of the socket; called before bytes are sent. */
static enum socket_state about_to_send(int fd, struct str bytes)
{
	enum socket_state state = state_of(fd);
	bool is_awaited = state == SOCKET_IDLE || state == SOCKET_AWAITED;
	const struct refusal *refusal = is_awaited ? find_refusal(bytes) : NULL;

	if (refusal)
		refuse(fd, refusal);
	else if (state == SOCKET_QUEUED || (is_awaited && !str_starts_with(bytes, STR("HTTP/1.1 100"))))
		enter(fd, SOCKET_OTHER);
	return state_of(fd);
}

/*
 * Sends what is left of a head, whose last two bytes end it, and the body; our lines go before that end. The result counts the head's and the body's bytes
 * only, for the caller, who sends the rest when there is room. `may_wait`: the whole may go with other answers.
 */
static ssize_t send_with_lines(int fd, struct str text, struct str head, struct iovec body, int flags, bool may_wait)
{
	size_t before = head.n - 2;
	struct iovec parts[] = {
		{(void *)(uintptr_t)head.p, before}, {(void *)(uintptr_t)text.p, text.n}, {(void *)(uintptr_t)(head.p + before), 2}, body,
	};
	struct msghdr message = {.msg_iov = parts, .msg_iovlen = body.iov_len > 0 ? 4 : 3};

	if (may_wait && outbox_put(fd, parts, 4, get_group(fd))) {
		set_group(fd, 0);
		set_lines(fd, NULL, 0);
		return (ssize_t)(head.n + body.iov_len);
	}
	if (!make_way(fd))
		return take_none();
	ssize_t sent = platform_sendmsg(fd, &message, flags);
	if (sent <= (ssize_t)before)
		return sent;
	size_t taken = (size_t)sent - before < text.n ? (size_t)sent - before : text.n;
	set_lines(fd, text.p + taken, text.n - taken);
	return taken == text.n || before > 0 ? sent - (ssize_t)taken : take_none();
}

ssize_t send(int fd, const void *bytes, size_t n, int flags)
{
	struct str head = {bytes, n};

	if (is_over(about_to_send(fd, head)))
		return empty(fd, n);
	struct str text = get_lines(fd);
	if (text.n > 0 && n >= 2)
		return send_with_lines(fd, text, head, (struct iovec){NULL, 0}, flags, false);
	return make_way(fd) ? sendto(fd, bytes, n, flags, NULL, 0) : take_none();
}

/* libmicrohttpd sends by it the head and the body of an answer together. */
ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	struct str first = message->msg_iovlen > 0 ? (struct str){message->msg_iov[0].iov_base, message->msg_iov[0].iov_len} : STR("");
	enum socket_state state = about_to_send(fd, first);
	size_t all = 0;
	ssize_t sent;

	for (size_t i = 0; i < (size_t)message->msg_iovlen; i++)
		all += message->msg_iov[i].iov_len;
	if (is_over(state))
		return empty(fd, all);
	struct str text = get_lines(fd);
	if (text.n > 0 && first.n >= 2 && message->msg_iovlen <= 2)
		sent = send_with_lines(fd, text, first, message->msg_iovlen == 2 ? message->msg_iov[1] : (struct iovec){NULL, 0}, flags, state == SOCKET_OTHER);
	else
		sent = make_way(fd) ? platform_sendmsg(fd, message, flags) : take_none();
	if (state != SOCKET_EARLY)
		return sent;
	if (sent != (ssize_t)all || message->msg_iovlen < 2) { /* it goes on by itself */
		enter(fd, SOCKET_OTHER);
		return sent;
	}
	begin_closing(fd);
	return empty(fd, all);
}

/* libmicrohttpd ends a connection by it before it says so. */
int shutdown(int fd, int how)
{
	if (state_of(fd) == SOCKET_MOVED)
		return 0;
	outbox_send();
	return platform_shutdown(fd, how);
}

const struct taken_head *sockets_take_head(int fd)
{
	bool is_there = latest.is_there && latest.fd == fd;

	latest.is_there = false;
	return is_there ? &latest.taken : NULL;
}

void sockets_expect(int fd, uint64_t n)
{
	int64_t rest = left_of(fd);

	if (is_within(fd))
		atomic_store_explicit(&left[fd], rest == UNKNOWN || rest >= 0 || n > INT32_MAX ? UNKNOWN : rest + (int64_t)n, memory_order_relaxed);
}

/* Where the `n` bytes begin with a usual head, its lines are kept, and a short one takes its place: how many bytes there are then. Else `n`. */
static size_t shorten(int fd, char *bytes, size_t n)
{
	struct usual_head *head = &latest.taken.head;
	char text[HEAD_SHORT];

	if (!head_read(bytes, n, head))
		return n;
	size_t body = n - head->n, short_n = head_shorten(head, text);
	if (short_n >= head->n || body > head->body_n)
		return n;
	latest.fd = fd;
	latest.is_there = true;
	memcpy(latest.taken.text, bytes, head->n);
	memcpy(bytes, text, short_n);
	memmove(bytes + short_n, bytes + head->n, body);
	return short_n + body;
}

ssize_t recv(int fd, void *bytes, size_t n, int flags)
{
	enum socket_state state = state_of(fd);

	if (state == SOCKET_IDLE && !(flags & MSG_PEEK) && move && move(fd)) {
		enter(fd, SOCKET_MOVED);
		return 0;
	}
	if (state == SOCKET_HELD && !(flags & MSG_PEEK))
		return take_none();
	ssize_t came = recvfrom(fd, bytes, n, flags, NULL, NULL);

	if (came <= 0 || flags & MSG_PEEK || !is_within(fd))
		return came;
	int64_t rest = state == SOCKET_OTHER ? UNKNOWN : left_of(fd);
	size_t given = (size_t)came;
	latest.is_there = false;
	/*
	 * Shortens only where a request begins. And a full buffer stays full: where a socket gave less than libmicrohttpd asked for, it awaits no more bytes
	 * until others come.
	 */
	if (state == SOCKET_IDLE && given < n)
		given = shorten(fd, bytes, given);
	if (state == SOCKET_IDLE)
		enter(fd, SOCKET_AWAITED);
	if (latest.is_there)
		rest = (int64_t)(latest.taken.head.n + latest.taken.head.body_n);
	rest = rest == UNKNOWN ? UNKNOWN : rest - came;
	atomic_store_explicit(&left[fd], rest, memory_order_relaxed);
	return (ssize_t)given;
}
