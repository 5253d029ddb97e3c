/*
 * http_internal - what the parts of the front end share; not for others.
 *
 *   http.c           libmicrohttpd's threads and calls, start and stop
 *   http_exchange.c  a request and its reply: a pool of them, and their memory
 *   http_intake.c    the head, whether the body may come, the body
 *   http_reply.c     compression, headers, sending
 *   http_slow.c      answers that wait, bodies that come in pieces, bodies that grow
 */
#ifndef DYNALITH_SERVER_HTTP_INTERNAL_H
#define DYNALITH_SERVER_HTTP_INTERNAL_H

#include <pthread.h>

#include "server/aside.h"
#include "server/delay.h"
#include "server/http.h"
#include "server/request_id.h"
#include "server/sockets.h"
#include "server/workers.h"
#include "storage/store/idle.h"

#define HTTP_CONNECTION_MEMORY (18 * 1024) /* of libmicrohttpd, which clears it for each request: heads of request and answer must fit */

struct MHD_Connection;
struct MHD_Daemon;

/* Where a request is handled. */
enum stage {
	STAGE_WORKER,  /* by the thread of its connection */
	STAGE_ASIDE,   /* the connection is suspended */
	STAGE_REPLIED, /* the reply waits for the connection's thread */
};

struct head {
	const char *method;
	struct str uri;
	const char *uri_end;    /* in libmicrohttpd's buffer */
	bool is_usual;          /* read by the module sockets: its lines are in the exchange's `usual` */
	struct headers headers; /* in the arena */
	bool is_from_browser, is_explained;
};

/* The body as it comes. */
struct incoming {
	char *p;
	size_t n, cap;
	size_t claimed; /* its length by the head; 0: the head does not say */
};

struct outgoing {
	enum stage stage;
	struct http_response reply;
	const char *coding; /* or NULL */
	bool is_handled, is_answered;
	uint64_t group;    /* of writes, that it depends on (write_turn.h); 0: none */
	bool is_piece_due; /* of a body that is sent in pieces */
};

/* An answer that waits. */
struct waiting {
	struct delay_job job; /* first */
	struct exchange *exchange;
};

/* One request and its reply. */
struct exchange {
	struct aside_job job; /* first: a job is its exchange */
	struct exchange *next;
	struct http *http;
	struct arena *arena;
	struct connection *connection;
	struct MHD_Connection *mhd;
	struct head head;
	struct taken_head *usual; /* room for a usual head; kept with the exchange */
	bool is_started, is_early, is_over, is_long_write; /* over: beyond a limit of connections or requests */
	enum http_problem problem;
	enum http_haste haste;
	void *claim; /* see http_admit */
	void *hold;  /* the handler's, while it waits */
	struct incoming body;
	struct outgoing out;
	struct waiting wait;
	char id[REQUEST_ID_SIZE + 1];
};

struct http {
	struct http_options options;
	struct MHD_Daemon *workers[WORKERS_MAX]; /* for ordinary connections; each has one thread */
	struct MHD_Daemon *_Atomic vital; /* NULL for a moment behind the start */
	struct door *door;
	struct aside *aside;
	struct delay *delay;
	unsigned port;
	struct connections *connections;
	atomic_bool is_stopping;
	struct idle idle;      /* exchanges, one for each thread */
	pthread_mutex_t mutex; /* of the other idle ones */
	struct exchange *first_idle;
	unsigned idle_count;
};

/* A cleared one, counted as under way; and its end. */
struct exchange *http_exchange_new(struct http *http);
void http_exchange_done(struct exchange *exchange);
/* Frees the idle ones. */
void http_exchange_free_idle(struct http *http);

/* Gives the request up for its problem: its body and its target are freed; what still comes of the body is read and thrown away. */
void http_exchange_give_up(struct exchange *exchange, enum http_problem problem);
/* Frees what a handler made before it gave the request up; the request stays. */
void http_exchange_start_over(struct exchange *exchange);
/* Where the request holds much memory, frees all of it but the reply. */
void http_exchange_keep_reply(struct exchange *exchange);

/* The request as the handler sees it, without its body. */
struct http_request http_exchange_request(struct exchange *exchange);

/* Keeps a head that the module sockets has read. */
void http_intake_usual(struct exchange *exchange, const struct taken_head *taken);
/* Reads the header lines, after the arena was reset too. */
void http_intake_headers(struct exchange *exchange);
/*
 * Reads the head, once it is there; sets the problem, and whether the reply comes before the body. False where the head has no room: libmicrohttpd
 * ends the connection.
 */
bool http_intake_head(struct exchange *exchange, const char *url, const char *version);
/* Takes the next bytes of the body. */
void http_intake_body(struct exchange *exchange, const char *data, size_t n);
/* Sets the request's body, as sent and decompressed; or the problem. */
void http_intake_finish(struct exchange *exchange, struct http_request *request);

/* Whether the reply waits; then the connection is to be suspended, and http_slow_wait() called, which resumes it in time. */
bool http_slow_is(const struct exchange *exchange);
void http_slow_wait(struct exchange *exchange);
/* The reply's body in pieces, with pauses. */
struct MHD_Response;
struct MHD_Response *http_slow_response(struct exchange *exchange);

/* Does all that needs no thread of the connection: compression, memory. */
void http_reply_prepare(struct exchange *exchange);
/* Hands the reply to libmicrohttpd; false where it takes none. */
bool http_reply_send(struct exchange *exchange);

#endif
