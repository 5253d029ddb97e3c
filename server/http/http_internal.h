/*
 * http_internal - what the parts of the front end share; not for others.
 *
 *   http_door.c      accepts connections
 *   connections.c    their limits and deadlines
 *   http_lanes.c     threads of libmicrohttpd
 *   http_serve.c     its callbacks: a request from its first line to its answer
 *   http_exchange.c  a request and its memory: the head, whether the body may come, the body
 *   framing.c        whether a head can be read in one way only
 *   http_reply.c     compression, headers, sending, bodies in pieces, bodies that grow
 *   linger.c         what comes behind the last answer
 *   http.c           start and stop
 */
#ifndef DYNALITH_SERVER_HTTP_HTTP_INTERNAL_H
#define DYNALITH_SERVER_HTTP_HTTP_INTERNAL_H

#include "server/http/crew.h"
#include "server/http/framing.h"
#include "server/http/http.h"
#include "server/http/linger.h"
#include "server/request_id.h"

/*
 * Bytes that libmicrohttpd has for a connection, and clears for each request: half of them to read,
 * the rest for records of header lines and for the head of the answer. A request whose head and
 * records take more than HTTP_HEAD_SHARE is refused, so that the answer's head finds room.
 */
#define HTTP_CONNECTION_MEMORY (32 * 1024)
#define HTTP_HEAD_SHARE (24 * 1024)

struct MHD_Connection;
struct MHD_Daemon;
struct lane;
struct lanes;

/* What a request waits for. */
enum stage {
	STAGE_HEAD,
	STAGE_BODY,     /* or its end */
	STAGE_ASIDE,    /* the handler, or other threads; the connection is suspended */
	STAGE_REPLIED,  /* the reply is there: the connection's thread */
	STAGE_ANSWERED, /* the answer is sent */
};

struct head {
	const char *method;
	struct str uri;         /* as it was sent */
	struct headers headers; /* in the arena */
	struct framing framing;
};

/* The body as it comes. */
struct incoming {
	char *p;
	size_t n, cap;
};

struct outgoing {
	struct http_response reply;
	const char *coding; /* or NULL */
	uint32_t crc; /* of the body, as it is sent */
	bool is_handled;
};

/* One request and its reply. */
struct exchange {
	struct crew_job job; /* first: a job is its exchange */
	struct http *http;
	struct arena *arena;
	struct connection *connection;
	struct MHD_Connection *mhd;
	enum stage stage;
	struct head head;
	bool is_early; /* it is answered before its body is there */
	bool is_over;  /* beyond a limit of connections or requests */
	bool is_long_write;
	bool is_resumed; /* by http_exchange_resume_in(), when its time had come */
	enum http_problem problem;
	enum http_haste haste;
	struct lane *lane;
	void *claim; /* see http_admit */
	void *hold;  /* the handler's, while it waits */
	struct incoming body;
	struct outgoing out;
	char id[REQUEST_ID_SIZE + 1];
};

struct http {
	struct http_options options;
	struct lanes *lanes;
	struct door *door;
	struct tls *tls;                /* or NULL */
	struct lingers lingers;
	struct crew *aside;             /* for long requests */
	struct crew *delays;            /* for what waits */
	struct crew_job sweep;          /* of connections, each second */
	unsigned port;
	struct connections *connections;
	atomic_bool is_stopping,
		is_drained;    /* is_drained: requests under way have had their time */
};

/* A thread of libmicrohttpd with its connections. */
struct lane {
	struct http *http;
	struct MHD_Daemon *daemon; /* NULL: it has not started */
	atomic_uint count;         /* of connections */
	struct exchange *idle;     /* of its thread: for its next request, or NULL */
};

/* A listening socket, or -1 with *problem set to one line. `port` 0: any free one. "::" stands for
 * every address, of IPv4 too. And its port. */
int http_door_listen(const char *host, unsigned short port, const char **problem);
unsigned http_door_port(int listen_fd);
/* NULL where there are no threads or files left. The listening socket is the door's, also then. */
struct door *http_door_open(struct http *http, int listen_fd);
/* Stops listening. Connections that wait here stay for connections_free(). */
void http_door_close(struct door *door);

/* NULL where no thread can be had. It starts the lane for VITAL connections. */
struct lanes *http_lanes_new(struct http *http);
/* Hands the connection to a lane, which closes it in the end. One call at a time. */
void http_lanes_enter(struct lanes *lanes, struct connection *connection,
		      enum connection_kind kind);
/* Closes all connections and ends the threads. No connection may be suspended. */
void http_lanes_free(struct lanes *lanes);

/* The CPU time in nanoseconds that a request on this lane may take there. 0: any. */
uint64_t http_lane_slice(const struct lane *lane);

/* libmicrohttpd's callbacks: a request line has come; the head, the next *data_size bytes of the
 * body, or its end; the request is over. */
struct exchange *http_serve_begin(struct lane *lane, struct connection *connection,
				  const char *uri);
bool http_serve_request(struct exchange *exchange, struct MHD_Connection *mhd, const char *method,
			const char *version, const char *data, size_t *data_size);
void http_serve_end(struct exchange *exchange);

/* A cleared one, counted as under way; and its end. By the lane's thread. */
struct exchange *http_exchange_new(struct lane *lane);
void http_exchange_done(struct exchange *exchange);
/* Frees an idle one; NULL is nothing. */
void http_exchange_free(struct exchange *exchange);

/* Gives the request up for its problem: its body and its target are freed; what still comes of the
 * body is read and thrown away. */
void http_exchange_give_up(struct exchange *exchange, enum http_problem problem);
/* Frees what a handler made before it gave the request up; the request stays. */
void http_exchange_start_over(struct exchange *exchange);
/* Where the request holds much memory, frees all of it but the reply. */
void http_exchange_keep_reply(struct exchange *exchange);

/* Resumes the suspended connection in so many milliseconds, by another thread. The other function
 * suspends it first. */
void http_exchange_resume_in(struct exchange *exchange, uint64_t ms);
void http_exchange_pause(struct exchange *exchange, uint64_t ms);

/* The request as the handler sees it, without its body. */
struct http_request http_exchange_request(struct exchange *exchange);

/* Reads the head, once it is there; sets the problem, and is_early. */
void http_exchange_head(struct exchange *exchange, const char *version);
/* Takes the next bytes of the body. */
void http_exchange_body(struct exchange *exchange, const char *data, size_t n);
/* Sets the request's body, as sent and decompressed; or the problem. */
void http_exchange_finish(struct exchange *exchange, struct http_request *request);

/* Does all that needs no thread of the connection: compression, memory. */
void http_reply_prepare(struct exchange *exchange);
/* Hands the reply to libmicrohttpd; false where it takes none. */
bool http_reply_send(struct exchange *exchange);

#endif
