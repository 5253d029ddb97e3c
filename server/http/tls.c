#include "server/http/tls.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "server/messages.h"
#include "server/platform/platform.h"
#include "server/platform/poller.h"
#include "server/http/refusal.h"
#include "server/http/tls_context.h"
#include "storage/monotonic.h"

#define LANES_MAX 4
#define PIECE (16 * 1024)  /* bytes; the text of one record of TLS */
#define PIECES_AT_ONCE 8   /* of one connection, before others have their turn */
#define ACCEPTED_AT_ONCE 64
#define HANDSHAKE_S 10
#define LINGER_S 2         /* for the client to close, when all is sent */
#define TICK_MS 1000       /* between two looks at the time */
#define RETRY_MS 100       /* until the next try to accept, where no file can be opened */
#define NEVER INT64_MAX

enum bridge_phase {
	BRIDGE_SHAKING,
	BRIDGE_OPEN,
	BRIDGE_REFUSED, /* no TLS: its bytes are thrown away */
	BRIDGE_DEAD,    /* to be freed */
};

/* A socket of a bridge, and what its lane's poller waits for. */
struct end {
	struct bridge *bridge;
	int fd;
	unsigned watched; /* 0: it is not in the set */
};

/* One direction: the bytes that one side gave and the other did not take yet. */
struct flow {
	char *kept; /* their memory, between two rounds */
	const char *at;
	size_t n;
	bool is_over; /* the side that gives has closed */
};

struct bridge {
	struct lane *lane;
	struct bridge *previous, *next; /* the newest first; of the dead, `next` alone */
	struct end net, plain;
	SSL *ssl;
	struct flow in, out; /* from the client, to the client */
	int64_t until_ms;
	enum bridge_phase phase;
	bool is_plain_gone; /* the server reads no more */
	bool reading_writes, is_out_blocked,
		is_bye_due; /* waiting until the client takes bytes: the reading, the bytes of
			       `out`, the close */
	struct sockaddr_storage peer;
};

/* A thread and its connections. */
struct lane {
	struct tls *tls;
	pthread_t thread;
	int poller, bell[2]; /* a pipe, the bell, rings for the end */
	bool is_listening;
	struct bridge *first, *dead;
	char piece[PIECE];
};

struct tls {
	struct tls_options options;
	struct tls_context *pair;
	atomic_uint count;
	atomic_bool is_quiet;
	pthread_mutex_t gate; /* of deliveries, which end with is_quiet */
	_Atomic int64_t end_ms;
	unsigned lane_count;
	struct lane *lanes;
};

static void watch(struct lane *lane, struct end *end, unsigned wanted)
{
	if (end->watched == wanted || end->fd < 0)
		return;
	poller_watch(lane->poller, end->fd, end->watched, wanted, end);
	end->watched = wanted;
}

static void close_end(struct end *end)
{
	if (end->fd >= 0)
		close(end->fd);
	end->fd = -1;
	end->watched = 0;
}

/* Its memory stays until the round is over: events of this round may point to it. */
static void end_bridge(struct bridge *bridge)
{
	struct lane *lane = bridge->lane;

	if (bridge->phase == BRIDGE_DEAD)
		return;
	bridge->phase = BRIDGE_DEAD;
	close_end(&bridge->net);
	close_end(&bridge->plain);
	if (bridge->previous)
		bridge->previous->next = bridge->next;
	else
		lane->first = bridge->next;
	if (bridge->next)
		bridge->next->previous = bridge->previous;
	bridge->next = lane->dead;
	lane->dead = bridge;
}

static void bury_dead(struct lane *lane)
{
	while (lane->dead) {
		struct bridge *bridge = lane->dead;

		lane->dead = bridge->next;
		SSL_free(bridge->ssl);
		free(bridge->in.kept);
		free(bridge->out.kept);
		free(bridge);
		atomic_fetch_sub(&lane->tls->count, 1);
	}
}

static int64_t after_s(unsigned seconds)
{
	return monotonic_ms() + 1000LL * seconds;
}

/* --- bytes on their way --- */

/* Handles OpenSSL's result of a call that failed. False where the connection must end. */
static bool is_ssl_fine(struct bridge *bridge, int result, bool is_reading)
{
	switch (SSL_get_error(bridge->ssl, result)) {
	case SSL_ERROR_WANT_READ:
		return true;
	case SSL_ERROR_WANT_WRITE:
		if (is_reading)
			bridge->reading_writes = true;
		else
			bridge->is_out_blocked = true;
		return true;
	case SSL_ERROR_ZERO_RETURN:
		bridge->in.is_over = true;
		return true;
	default:
		return false;
	}
}

static bool is_later(ssize_t n)
{
	return n < 0 && (errno == EAGAIN || errno == EINTR);
}

/* How many bytes the side gave; 0: none now, or never again. */
static size_t take_net(struct bridge *bridge, char *piece)
{
	ERR_clear_error();
	int n = SSL_read(bridge->ssl, piece, PIECE);
	if (n <= 0 && !is_ssl_fine(bridge, n, true))
		end_bridge(bridge);
	return n > 0 ? (size_t)n : 0;
}

static size_t take_plain(struct bridge *bridge, char *piece)
{
	ssize_t n = recv(bridge->plain.fd, piece, PIECE, MSG_DONTWAIT);

	if (n > 0 || is_later(n))
		return n > 0 ? (size_t)n : 0;
	bridge->out.is_over = bridge->is_bye_due = true;
	bridge->is_plain_gone = bridge->is_plain_gone || n < 0;
	if (bridge->until_ms == NEVER)
		bridge->until_ms = after_s(bridge->lane->tls->options.request_s);
	return 0;
}

/* How many of the bytes the side took; 0: none now, or never again. */
static size_t give_net(struct bridge *bridge, const char *bytes, size_t n)
{
	ERR_clear_error();
	int written = SSL_write(bridge->ssl, bytes, (int)n);

	if (written <= 0 && !is_ssl_fine(bridge, written, false))
		end_bridge(bridge);
	return written > 0 ? (size_t)written : 0;
}

/* A server that is gone takes all. */
static size_t give_plain(struct bridge *bridge, const char *bytes, size_t n)
{
	ssize_t sent = bridge->is_plain_gone ? -1 : platform_send(bridge->plain.fd, bytes, n);

	if (!bridge->is_plain_gone && is_later(sent))
		return 0;
	bridge->is_plain_gone = sent < 0;
	return sent < 0 ? n : (size_t)sent;
}

static const struct way {
	size_t (*take)(struct bridge *bridge, char *piece);
	size_t (*give)(struct bridge *bridge, const char *bytes, size_t n);
} inward = {take_net, give_plain}, outward = {take_plain, give_net};

/* Hands on the bytes that are there, and keeps those that are left. True where there is room for
 * more. */
static bool flush(struct bridge *bridge, struct flow *flow, const struct way *way)
{
	size_t taken = flow->n;

	while (flow->n > 0 && (taken = way->give(bridge, flow->at, flow->n)) > 0) {
		flow->at += taken;
		flow->n -= taken;
	}
	if (flow->n > 0 && !flow->kept) {
		flow->kept = arena_checked(malloc(flow->n));
		flow->at = memcpy(flow->kept, flow->at, flow->n);
	} else if (flow->n == 0) {
		free(flow->kept);
		flow->kept = NULL;
	}
	return flow->n == 0;
}

static void pump(struct bridge *bridge, struct flow *flow, const struct way *way)
{
	char *piece = bridge->lane->piece;

	for (int i = 0; i < PIECES_AT_ONCE && bridge->phase == BRIDGE_OPEN &&
			flush(bridge, flow, way) && !flow->is_over;
	     i++) {
		flow->at = piece;
		flow->n = way->take(bridge, piece);
		bool is_all = flow->n < PIECE;
		(void)flush(bridge, flow, way);
		if (is_all)
			break;
	}
}

static void carry_in(struct bridge *bridge)
{
	bridge->reading_writes = false;
	pump(bridge, &bridge->in, &inward);
	if (bridge->phase == BRIDGE_OPEN && bridge->in.is_over && bridge->in.n == 0 &&
	    !bridge->is_plain_gone)
		shutdown(bridge->plain.fd, SHUT_WR);
}

/* Sends TLS's close, behind the last byte. */
static void say_bye(struct bridge *bridge)
{
	ERR_clear_error();
	int result = SSL_shutdown(bridge->ssl);

	bridge->is_bye_due =
		result < 0 && SSL_get_error(bridge->ssl, result) == SSL_ERROR_WANT_WRITE;
	if (!bridge->is_bye_due)
		shutdown(bridge->net.fd, SHUT_WR);
}

static void carry_bytes_out(struct bridge *bridge)
{
	bridge->is_out_blocked = false;
	pump(bridge, &bridge->out, &outward);
	if (bridge->phase == BRIDGE_OPEN && bridge->is_bye_due && bridge->out.n == 0)
		say_bye(bridge);
}

/* --- a bridge's life --- */

/* A client that speaks something else, most often plain HTTP. */
static void refuse(struct bridge *bridge)
{
	char text[REFUSAL_MOST];
	struct str answer =
		refusal_write(text, "400 Bad Request", STR("Connection: close"), STR(TLS_REFUSAL));

	platform_send(bridge->net.fd, answer.p, answer.n);
	shutdown(bridge->net.fd, SHUT_WR);
	bridge->phase = BRIDGE_REFUSED;
	bridge->until_ms = after_s(LINGER_S);
}

static void throw_away(struct bridge *bridge)
{
	for (int i = 0; i < PIECES_AT_ONCE; i++) {
		ssize_t n = recv(bridge->net.fd, bridge->lane->piece, PIECE, MSG_DONTWAIT);

		if (is_later(n))
			return;
		if (n <= 0) {
			end_bridge(bridge);
			return;
		}
	}
}

/* The first byte of TLS is that of a handshake's record. */
static bool is_other_speech(const struct bridge *bridge)
{
	unsigned char first;

	return recv(bridge->net.fd, &first, 1, MSG_PEEK | MSG_DONTWAIT) == 1 && first != 0x16;
}

/* The handshake is done: hands the other end of the pair to the server. */
static void open_bridge(struct bridge *bridge)
{
	struct tls *tls = bridge->lane->tls;
	int pair[2];

	if (!platform_socketpair(pair)) {
		end_bridge(bridge);
		return;
	}
	bridge->plain.fd = pair[0];
	bridge->phase = BRIDGE_OPEN;
	bridge->until_ms = NEVER;
	pthread_mutex_lock(&tls->gate);
	if (atomic_load(&tls->is_quiet))
		close(pair[1]);
	else /* where it fails, our end of the pair is closed */
		tls->options.deliver(tls->options.context, pair[1],
				     (const struct sockaddr *)&bridge->peer);
	pthread_mutex_unlock(&tls->gate);
}

static void shake(struct bridge *bridge)
{
	if (SSL_in_before(bridge->ssl) && is_other_speech(bridge)) {
		refuse(bridge);
		return;
	}
	ERR_clear_error();
	bridge->reading_writes = false;
	int result = SSL_do_handshake(bridge->ssl);
	if (result == 1)
		open_bridge(bridge);
	else if (!is_ssl_fine(bridge, result, true) || bridge->in.is_over)
		end_bridge(bridge);
}

/* Sets the events to wait for. A socket without any leaves the poller: its end would wake us again
 * and again. */
static void watch_both(struct bridge *bridge)
{
	bool is_read = !bridge->in.is_over && bridge->in.n == 0 && !bridge->reading_writes;
	bool is_written = bridge->reading_writes || bridge->is_out_blocked ||
			  (bridge->is_bye_due && bridge->out.n == 0);
	unsigned net = (is_read ? POLLER_READ : 0u) | (is_written ? POLLER_WRITE : 0u);
	unsigned plain = (bridge->in.n > 0 ? POLLER_WRITE : 0u) |
			 (!bridge->out.is_over && bridge->out.n == 0 ? POLLER_READ : 0u);

	if (bridge->phase == BRIDGE_DEAD)
		return;
	if (plain == 0 && !bridge->is_plain_gone)
		plain = POLLER_GONE;
	watch(bridge->lane, &bridge->net, net);
	watch(bridge->lane, &bridge->plain, bridge->is_plain_gone ? plain & POLLER_READ : plain);
}

/* When both sides are done, or the server has closed and the client has all bytes. */
static void end_where_done(struct bridge *bridge)
{
	if (bridge->phase != BRIDGE_OPEN || !bridge->out.is_over || bridge->is_bye_due)
		return;
	if (bridge->in.is_over || atomic_load(&bridge->lane->tls->end_ms) != NEVER)
		end_bridge(bridge);
	else if (bridge->is_plain_gone && bridge->until_ms > after_s(LINGER_S))
		bridge->until_ms = after_s(LINGER_S);
}

static void on_event(struct end *end, unsigned ready)
{
	struct bridge *bridge = end->bridge;
	bool is_net = end == &bridge->net, is_gone = !is_net && (ready & POLLER_GONE);

	if (bridge->phase == BRIDGE_SHAKING) {
		shake(bridge);
	} else if (bridge->phase == BRIDGE_REFUSED) {
		throw_away(bridge);
	} else if (bridge->phase == BRIDGE_OPEN) {
		if (is_gone && !bridge->is_plain_gone) {
			bridge->is_plain_gone = true;
			bridge->until_ms = after_s(bridge->lane->tls->options.request_s);
		}
		if (is_net || is_gone || (ready & POLLER_WRITE))
			carry_in(bridge);
		if (!is_net || bridge->out.n > 0 || bridge->is_bye_due)
			carry_bytes_out(bridge);
	}
	end_where_done(bridge);
	watch_both(bridge);
}

/* --- a lane --- */

/* The oldest handshake gives way. False where there is none. */
static bool make_handshake_room(struct lane *lane)
{
	struct bridge *oldest = NULL;

	for (struct bridge *at = lane->first; at; at = at->next) {
		if (at->phase == BRIDGE_SHAKING || at->phase == BRIDGE_REFUSED)
			oldest = at;
	}
	if (oldest)
		end_bridge(oldest);
	return oldest != NULL;
}

static void welcome(struct lane *lane, int fd, const struct sockaddr_storage *peer)
{
	struct tls *tls = lane->tls;
	bool has_room =
		atomic_fetch_add(&tls->count, 1) < tls->options.limit || make_handshake_room(lane);
	SSL *ssl = has_room ? tls_context_accept(tls->pair) : NULL;
	struct bridge *bridge = ssl ? calloc(1, sizeof(*bridge)) : NULL;
	unsigned handshake_s =
		tls->options.request_s < HANDSHAKE_S ? tls->options.request_s : HANDSHAKE_S;
	int on = 1;

	if (!bridge || SSL_set_fd(ssl, fd) != 1) {
		SSL_free(ssl);
		free(bridge);
		close(fd);
		atomic_fetch_sub(&tls->count, 1);
		return;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	*bridge = (struct bridge){.lane = lane,
				  .next = lane->first,
				  .net = {bridge, fd, 0},
				  .plain = {bridge, -1, 0},
				  .ssl = ssl,
				  .until_ms = after_s(handshake_s),
				  .peer = *peer};
	if (lane->first)
		lane->first->previous = bridge;
	lane->first = bridge;
	watch(lane, &bridge->net, POLLER_READ);
}

static void listen_or_not(struct lane *lane, bool is_wanted)
{
	const unsigned watch = POLLER_READ | POLLER_SHARED;

	if (lane->is_listening != is_wanted)
		poller_watch(lane->poller, lane->tls->options.listener, is_wanted ? 0 : watch,
			     is_wanted ? watch : 0, lane->tls);
	lane->is_listening = is_wanted;
}

static void tls_accept_some(struct lane *lane)
{
	for (int i = 0; i < ACCEPTED_AT_ONCE; i++) {
		struct sockaddr_storage peer = {0};
		socklen_t n = sizeof(peer);
		int fd = platform_accept(lane->tls->options.listener, (struct sockaddr *)&peer, &n);

		if (fd >= 0)
			welcome(lane, fd, &peer);
		else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
			listen_or_not(lane, make_handshake_room(lane)); /* else in a moment */
		if (fd < 0)
			return;
	}
}

/* Ends the connections whose time is over; at the server's end also those with nothing left to
 * send. */
static void look_around(struct lane *lane)
{
	bool is_ending = atomic_load(&lane->tls->end_ms) != NEVER;
	int64_t now = monotonic_ms();

	for (struct bridge *at = lane->first, *next; at; at = next) {
		next = at->next;
		if (at->until_ms <= now || (is_ending && at->phase != BRIDGE_OPEN))
			end_bridge(at);
		end_where_done(at);
	}
}

static bool is_over(const struct lane *lane)
{
	int64_t end_ms = atomic_load(&lane->tls->end_ms);

	return end_ms != NEVER && (!lane->first || monotonic_ms() >= end_ms);
}

static void hear_bell(const struct lane *lane)
{
	char rings[16];

	(void)!read(lane->bell[0], rings, sizeof(rings));
}

static void *run_lane(void *context)
{
	struct lane *lane = context;
	struct poller_event events[POLLER_EVENTS];
	int64_t next_look = 0;

	while (!is_over(lane)) {
		bool is_quiet = atomic_load(&lane->tls->is_quiet);
		int wait_ms = !lane->is_listening ? RETRY_MS : lane->first ? TICK_MS : -1;
		int n = poller_wait(lane->poller, events, wait_ms);

		for (int i = 0; i < n; i++) {
			if (events[i].context == lane)
				hear_bell(lane);
			else if (events[i].context == lane->tls)
				tls_accept_some(lane);
			else
				on_event(events[i].context, events[i].ready);
		}
		if (n == 0 || is_quiet)
			listen_or_not(lane, !is_quiet);
		if (is_quiet || monotonic_ms() >= next_look) {
			look_around(lane);
			next_look = monotonic_ms() + TICK_MS;
		}
		bury_dead(lane);
	}
	while (lane->first)
		end_bridge(lane->first);
	bury_dead(lane);
	return NULL;
}

static void close_bell(const struct lane *lane)
{
	close(lane->bell[0]);
	close(lane->bell[1]);
}

static bool start_lane(struct lane *lane, struct tls *tls)
{
	bool has_bell = platform_pipe(lane->bell);

	lane->tls = tls;
	lane->poller = poller_open();
	if (has_bell && lane->poller >= 0 &&
	    poller_watch(lane->poller, lane->bell[0], 0, POLLER_READ, lane)) {
		listen_or_not(lane, true);
		if (pthread_create(&lane->thread, NULL, run_lane, lane) == 0)
			return true;
	}
	if (has_bell)
		close_bell(lane);
	close(lane->poller);
	return false;
}

static void ring(struct tls *tls)
{
	for (unsigned i = 0; i < tls->lane_count; i++)
		(void)!write(tls->lanes[i].bell[1], "", 1);
}

/* --- the outside --- */

struct tls *tls_new(struct arena *arena, const char *certificate, const char *key,
		    struct str *problem)
{
	struct tls *tls = arena_checked(calloc(1, sizeof(*tls)));

	atomic_init(&tls->end_ms, NEVER);
	pthread_mutex_init(&tls->gate, NULL);
	tls->pair = tls_context_new(arena, certificate, key, problem);
	if (tls->pair)
		return tls;
	pthread_mutex_destroy(&tls->gate);
	free(tls);
	return NULL;
}

bool tls_reload(struct tls *tls, struct arena *arena, struct str *problem)
{
	return tls_context_reload(tls->pair, arena, problem);
}

bool tls_start(struct tls *tls, const struct tls_options *options)
{
	unsigned wanted = options->threads < LANES_MAX ? options->threads : LANES_MAX;

	tls->options = *options;
	tls->lanes = arena_checked(calloc(wanted, sizeof(*tls->lanes)));
	while (tls->lane_count < wanted && start_lane(&tls->lanes[tls->lane_count], tls))
		tls->lane_count++;
	if (tls->lane_count == 0)
		close(options->listener);
	return tls->lane_count > 0;
}

void tls_quiesce(struct tls *tls)
{
	pthread_mutex_lock(&tls->gate);
	atomic_store(&tls->is_quiet, true);
	pthread_mutex_unlock(&tls->gate);
	ring(tls);
}

void tls_stop(struct tls *tls, unsigned wait_ms)
{
	tls_quiesce(tls);
	atomic_store(&tls->end_ms, monotonic_ms() + wait_ms);
	ring(tls);
	for (unsigned i = 0; i < tls->lane_count; i++) {
		pthread_join(tls->lanes[i].thread, NULL);
		close(tls->lanes[i].poller);
		close_bell(&tls->lanes[i]);
	}
	close(tls->options.listener);
	tls->lane_count = 0;
}

void tls_dispose(struct tls *tls)
{
	if (!tls)
		return;
	tls_context_free(tls->pair);
	pthread_mutex_destroy(&tls->gate);
	free(tls->lanes);
	free(tls);
}
