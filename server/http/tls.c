#include "server/http/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/arena.h"
#include "server/messages.h"
#include "server/platform/platform.h"
#include "server/platform/poller.h"
#include "server/http/linger.h"
#include "server/http/tls_context.h"
#include "storage/monotonic.h"

#define PIECE (16 * 1024)  /* bytes; the text of one record of TLS */
#define PIECES_AT_ONCE 8   /* of one connection, before others have their turn */
#define HANDSHAKE_S 10
#define LOOK_MS 1000   /* between two looks at the time */
#define END_LOOK_MS 20 /* the same at the server's end */
#define NEVER INT64_MAX

enum bridge_phase {
	BRIDGE_OPEN,   /* its handshake may be under way */
	BRIDGE_ENDING, /* our side has closed; bytes for the client are left */
	BRIDGE_DEAD,   /* all is closed; events of this round may point to it */
};

/* One direction. */
struct flow {
	BIO *from, *to;
	char *bytes;     /* PIECE */
	size_t at, n;    /* those that `to` has not taken */
	bool is_over;    /* `from` gives no more */
	bool is_refused; /* `to` takes no more */
};

/* A socket of a bridge, and what the poller waits for. */
struct end {
	struct bridge *bridge;
	int fd;
	unsigned watched; /* 0: it is not in the set */
};

struct bridge {
	struct tls *tls;
	struct bridge *next; /* the newest first */
	struct end net, plain;
	SSL *ssl;
	BIO *outside, *inside; /* they own the sockets, and `outside` the SSL */
	struct flow in, out;   /* from the client, to the client */
	int64_t until_ms;
	enum bridge_phase phase;
	char bytes[2][PIECE];
};

struct tls {
	struct tls_context *certificate;
	struct lingers *lingers;
	unsigned limit, request_s;
	int poller;
	struct bridge *first;
	unsigned count; /* of those that are not dead */
	int64_t next_look_ms;
};

static int64_t after_s(unsigned seconds)
{
	return monotonic_ms() + 1000LL * seconds;
}

static void watch(struct end *end, unsigned wanted)
{
	poller_watch(end->bridge->tls->poller, end->fd, end->watched, wanted, end);
	end->watched = wanted;
}

/* Its memory stays until the next look around: events may point to it. The socket may linger, and
 * must leave the poller. */
static void end_bridge(struct bridge *bridge)
{
	watch(&bridge->net, 0);
	BIO_free_all(bridge->outside);
	BIO_free_all(bridge->inside);
	bridge->phase = BRIDGE_DEAD;
	bridge->tls->count--;
}

/* --- bytes on their way --- */

/* Whether `from` gave bytes. */
static bool flow_take(struct flow *flow)
{
	if (flow->is_over)
		return false;
	ERR_clear_error();
	int n = BIO_read(flow->from, flow->bytes, PIECE);
	flow->is_over = n <= 0 && !BIO_should_retry(flow->from);
	flow->at = 0;
	flow->n = n > 0 ? (size_t)n : 0;
	return n > 0;
}

/* Whether `to` took all bytes. */
static bool flow_give(struct flow *flow)
{
	ERR_clear_error();
	int n = BIO_write(flow->to, flow->bytes + flow->at, (int)flow->n);
	flow->is_refused = n <= 0 && !BIO_should_retry(flow->to);
	flow->at += n > 0 ? (size_t)n : 0;
	flow->n -= n > 0 ? (size_t)n : 0;
	return flow->n == 0;
}

static void carry(struct flow *flow)
{
	for (int i = 0; i < PIECES_AT_ONCE; i++) {
		if (flow->n == 0 && !flow_take(flow))
			return;
		bool is_all = flow->at + flow->n < PIECE;
		if (!flow_give(flow) || is_all)
			return;
	}
}

/* --- a bridge's life --- */

/* The first byte of TLS is that of a handshake's record. */
static bool is_other_speech(const struct bridge *bridge)
{
	unsigned char first;

	return SSL_in_before(bridge->ssl) &&
	       recv(bridge->net.fd, &first, 1, MSG_PEEK | MSG_DONTWAIT) == 1 && first != 0x16;
}

/* Sends TLS's close, behind the last byte. False where the client must take bytes first. */
static bool say_bye(const struct bridge *bridge)
{
	ERR_clear_error();
	int result = SSL_shutdown(bridge->ssl);

	if (result < 0 && SSL_get_error(bridge->ssl, result) == SSL_ERROR_WANT_WRITE)
		return false;
	shutdown(bridge->net.fd, SHUT_WR);
	return true;
}

/* Passes ends on, and waits for the next events. A socket without any leaves the poller: its end
 * would wake us again and again. */
static void settle(struct bridge *bridge)
{
	struct flow *in = &bridge->in, *out = &bridge->out;

	if (bridge->phase == BRIDGE_OPEN && SSL_is_init_finished(bridge->ssl))
		bridge->until_ms = NEVER;
	if (in->is_over && in->n == 0)
		shutdown(bridge->plain.fd, SHUT_WR);
	if (bridge->phase == BRIDGE_OPEN && out->is_over) {
		bridge->phase = BRIDGE_ENDING;
		bridge->until_ms = after_s(bridge->tls->request_s);
	}
	if (bridge->phase == BRIDGE_ENDING && out->n == 0 && say_bye(bridge)) {
		linger_keep(bridge->tls->lingers, bridge->net.fd);
		end_bridge(bridge);
		return;
	}
	watch(&bridge->net,
	      (in->n == 0 && !in->is_over ? POLLER_READ : 0u) |
		      (out->n > 0 || SSL_want_write(bridge->ssl) ? POLLER_WRITE : 0u));
	watch(&bridge->plain, (out->n == 0 && !out->is_over ? POLLER_READ : 0u) |
				      (in->n > 0 ? POLLER_WRITE : 0u));
}

static void on_event(const struct end *end)
{
	struct bridge *bridge = end->bridge;
	bool is_net = end == &bridge->net;

	if (bridge->phase == BRIDGE_DEAD)
		return;
	if (is_net && is_other_speech(bridge)) { /* most often plain HTTP */
		linger_refuse(bridge->tls->lingers, bridge->net.fd, "400 Bad Request",
			      STR(TLS_REFUSAL));
		end_bridge(bridge);
		return;
	}
	if (is_net || bridge->in.n > 0)
		carry(&bridge->in);
	if (!is_net || bridge->out.n > 0)
		carry(&bridge->out);
	if (bridge->in.is_refused) /* a server that is gone takes all */
		bridge->in.n = 0;
	if (bridge->out.is_refused)
		end_bridge(bridge);
	else
		settle(bridge);
}

/* `fd` and `plain` become the bridge's. */
static void begin_bridge(struct tls *tls, SSL *ssl, int fd, int plain)
{
	struct bridge *bridge = arena_checked(malloc(sizeof(*bridge)));
	BIO *socket = arena_checked(BIO_new_socket(fd, BIO_CLOSE));
	unsigned handshake_s = tls->request_s < HANDSHAKE_S ? tls->request_s : HANDSHAKE_S;

	/* a page of `bytes` costs memory from when it is used */
	memset(bridge, 0, offsetof(struct bridge, bytes));
	bridge->tls = tls;
	bridge->net = (struct end){bridge, fd, 0};
	bridge->plain = (struct end){bridge, plain, 0};
	bridge->ssl = ssl;
	SSL_set_bio(ssl, socket, socket);
	bridge->outside = arena_checked(BIO_new(BIO_f_ssl()));
	BIO_set_ssl(bridge->outside, ssl, BIO_CLOSE);
	bridge->inside = arena_checked(BIO_new_socket(plain, BIO_CLOSE));
	bridge->in = (struct flow){bridge->outside, bridge->inside, .bytes = bridge->bytes[0]};
	bridge->out = (struct flow){bridge->inside, bridge->outside, .bytes = bridge->bytes[1]};
	bridge->until_ms = after_s(handshake_s);
	bridge->next = tls->first;
	tls->first = bridge;
	tls->count++;
	settle(bridge);
}

/* Ends the bridges whose time is over. */
static void look_around(struct tls *tls)
{
	int64_t now = monotonic_ms();
	struct bridge **at = &tls->first, *bridge;

	while ((bridge = *at)) {
		if (bridge->phase != BRIDGE_DEAD && bridge->until_ms <= now)
			end_bridge(bridge);
		if (bridge->phase == BRIDGE_DEAD) {
			*at = bridge->next;
			free(bridge);
		} else {
			at = &bridge->next;
		}
	}
	tls->next_look_ms = now + LOOK_MS;
}

static void handle_events(struct tls *tls, int wait_ms)
{
	struct poller_event events[POLLER_EVENTS];
	int n = poller_wait(tls->poller, events, wait_ms);

	for (int i = 0; i < n; i++)
		on_event(events[i].context);
}

/* --- the outside --- */

struct tls *tls_new(struct tls_context *certificate, struct lingers *lingers, unsigned limit,
		    unsigned request_s)
{
	struct tls *tls = arena_checked(calloc(1, sizeof(*tls)));

	*tls = (struct tls){.certificate = certificate,
			    .lingers = lingers,
			    .limit = limit,
			    .request_s = request_s,
			    .poller = poller_open()};
	if (tls->poller >= 0)
		return tls;
	free(tls);
	return NULL;
}

int tls_poller(const struct tls *tls)
{
	return tls->poller;
}

int tls_take(struct tls *tls, int fd)
{
	SSL *ssl = tls->count < tls->limit ? tls_context_accept(tls->certificate) : NULL;
	int pair[2];

	if (ssl && platform_socketpair(pair)) {
		begin_bridge(tls, ssl, fd, pair[0]);
		return pair[1];
	}
	SSL_free(ssl);
	close(fd);
	return -1;
}

void tls_work(struct tls *tls)
{
	handle_events(tls, 0);
	if (monotonic_ms() >= tls->next_look_ms)
		look_around(tls);
}

void tls_end(struct tls *tls, unsigned wait_ms)
{
	int64_t end_ms = monotonic_ms() + wait_ms;

	while (tls->first && monotonic_ms() < end_ms) {
		handle_events(tls, END_LOOK_MS);
		look_around(tls);
	}
	for (struct bridge *at = tls->first; at; at = at->next)
		at->until_ms = 0;
	look_around(tls);
	close(tls->poller);
	free(tls);
}
