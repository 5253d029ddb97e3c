/*
 * http - the HTTP front end: connections, bodies, replies. The only door to libmicrohttpd, with its
 * parts (http_internal.h).
 *
 * Threads of libmicrohttpd share the connections (http_lanes.c). Long requests go to threads of
 * their own (crew.h), so that no connection waits longer than a slice of time for another one's
 * request. Every request gets an exchange with an arena that is kept warm between requests. The
 * handler runs when the whole body is there; what it returns is sent with x-amzn-RequestId and
 * x-amz-crc32 (of the bytes as sent), compressed where the client asked for it.
 *
 * Over a limit no request waits: the handler gets the problem, and the request's memory is freed.
 *
 * Requests share a budget of memory: the first 16 KB of each are free, all else counts from when it
 * is taken to when it is freed. The memory of a large request is freed before its answer is sent,
 * so that a client with the answer finds room for its next request.
 */
#ifndef DYNALITH_SERVER_HTTP_HTTP_H
#define DYNALITH_SERVER_HTTP_HTTP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/arena.h"
#include "core/str.h"
#include "protocol/faults/reply.h"
#include "server/http/connections.h"
#include "server/http/headers.h"

#define HTTP_HEADERS_MAX 8

enum http_problem {
	HTTP_FINE,
	HTTP_TOO_LARGE, /* the body is larger than the limit; it was not read, or not to its end */
	HTTP_BAD_ENCODING, /* the body is not in its Content-Encoding, or that is none we know */
	HTTP_BAD_FRAMING,  /* the head does not say in one way where the request ends, or which host
			      it is for (RFC 9112, 3.2 and 6.3) */
	HTTP_HEAD_TOO_LARGE, /* the head has more than 16 KB, or more lines than there is room for
			      */
	HTTP_OVERLOADED, /* more connections than the limit, or no memory left for the body; it was
			    thrown away */
};

/* How long the handler may take where it is called. */
enum http_haste {
	HTTP_BRIEFLY,   /* it must end within its slice: other connections wait */
	HTTP_FOR_VITAL, /* health and metrics alone */
	HTTP_LONG,      /* any time: the thread serves long requests */
	HTTP_BEHIND, /* it may wait: it was held, or given up only because it might wait for a long
			one. Then it must still end within its slice */
};

struct http_request {
	enum http_haste haste;
	uint64_t slice_ns;     /* of CPU time; 0: any */
	bool is_long_write;    /* as the response said when it was not done before */
	void *hold;            /* the same; the handler takes it over */
	struct arena *arena;   /* within the budget of all requests */
	struct str method;
	struct str path;       /* raw */
	struct str query;      /* raw, without '?' */
	struct str body;
	struct str wire_body;  /* as it was sent: what a signature covers */
	enum http_problem problem;
	struct str id;         /* as the client will read it; ends with a NUL that does not count */
	bool is_from_browser;  /* there is an Origin or Sec-Fetch-*; see origin.h */
	bool is_explained;     /* it asks to be explained: protocol/insight/explain.h */
	const struct headers *headers;
	void *claim;           /* what http_admit made, in the arena; or NULL */
};

struct http_response_header {
	const char *name;
	struct str value;
};

/*
 * A body that grows while the connection is open. read() puts what there is into `to`, up to `room`
 * bytes, and is called again a moment later where there was nothing; end() is called once, when the
 * client has gone or the server stops.
 */
struct http_stream {
	size_t (*read)(struct http_stream *stream, char *to, size_t room);
	void (*end)(struct http_stream *stream);
};

struct http_response {
	int status;
	struct str content_type; /* absent: none */
	struct str body;
	const char *coding;      /* what the body is compressed by already, or NULL */
	struct http_stream *stream; /* in place of the body; NULL: none */
	uint64_t took_ns; /* to handle, by the clock; 0: not measured */
	bool is_long_write; /* where it was not done: it will hold up other writes */
	bool is_behind;     /* where it was not done: it might wait for a long write */
	void *hold; /* where it was not done: it waits until http_options.is_held() says no more;
		       NULL: it does not */
	struct fault_reply fault; /* what a fault rule does to it on its way */
	size_t header_count;
	struct http_response_header headers[HTTP_HEADERS_MAX];
};

/* False where the request does not fit its haste: nothing is done, and it runs again where it may
 * take long. */
typedef bool http_handler(void *context, const struct http_request *request,
			  struct http_response *response);

/*
 * Called with the head of a request that has a body, before the body is read. True: the body may
 * come, and counts in the budget of unproven requests until the handler moves its arena to
 * http_stats.memory. False: the request is handled without its body, and its connection ends.
 */
typedef bool http_admit(void *context, struct http_request *request);

/* Gauges and counters; written here, read by any thread. */
struct http_stats {
	struct connections_stats connections;
	atomic_uint requests;           /* under way */
	atomic_uint lanes;              /* threads that serve connections */
	atomic_ullong aside; /* since the start, that were handed to the threads for long ones */
	struct arena_budget memory; /* of these: bodies, all that is made of them, answers until
				       they are sent */
	struct arena_budget
		unproven; /* the same of those that are not trusted yet; not in `memory` */
};

struct http_options {
	const char *host;
	unsigned short port;       /* 0: any free one */
	struct tls_context *certificate; /* by which clients speak TLS; NULL: they do not */
	unsigned threads;          /* that share the connections */
	struct connections_options connections;
	size_t body_limit; /* bytes, also after decompression. AWS: Quotas, "Request size": 16 MB */
	size_t memory_limit;       /* bytes held by requests under way; a body that goes beyond is
				      HTTP_OVERLOADED; handlers check for themselves */
	struct http_stats *stats;  /* zeroed */
	uint64_t slice_ns; /* CPU time that connections of a thread share; a request that takes more
			      than its part is a long one; 0: none is */
	uint64_t wait_ns;  /* of time that passes: the next requests of a connection that had such a
			      one go to those threads at once; 0: any */
	http_admit *admit;         /* NULL: all may come, and all are trusted */
	http_handler *handler;
	bool (*is_held)(
		const void *hold); /* of a response that was not done; asked until it says no */
	unsigned held_look_ms; /* between two of these questions; 0: 5 ms */
	void *context;
};

struct http;

/* Listens and serves. On failure returns NULL, having set *problem to one line (a static or errno's
 * text). */
struct http *http_start(const struct http_options *options, const char **problem);

/* The port that it listens on. */
unsigned http_port(const struct http *http);

/* Lets requests under way finish, closing each connection behind its answer, for up to `wait_ms`;
   then stops listening and closes all connections. */
void http_stop(struct http *http, unsigned wait_ms);

#endif
