/*
 * connections - the open connections, and the time limit of each one's phase.
 *
 * A client that sends or takes a byte now and then must not keep its connection, and the memory
 * behind it, for ever. So each phase of a connection has an end: connections_sweep() shuts down
 * each socket whose time is over; libmicrohttpd then closes it. Where a phase ends while bytes wait
 * that nobody has read, or an answer waits that nobody has sent, the thread is late, and the phase
 * starts again.
 *
 * A connection beyond the limit is "over". The server accepts it for a short time, to answer it
 * with an error that SDKs retry, and for requests for health.
 */
#ifndef DYNALITH_SERVER_HTTP_CONNECTIONS_H
#define DYNALITH_SERVER_HTTP_CONNECTIONS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#define CONNECTIONS_OVER 128 /* accepted beyond the limit at most */
#define CONNECTIONS_OVER_MIN 4
#define CONNECTIONS_OVER_S 2   /* seconds that these have */

/* Written here, read by any thread. */
struct connections_stats {
	atomic_uint open;
	atomic_ullong over; /* since the start, that came beyond a limit */
	atomic_ullong address_over; /* of these, that came beyond the limit of their address */
	atomic_ullong address_requests_over; /* requests beyond that of their address */
};

/* What one client address may have at once; 0: any number. An IPv6 network of 64 bits counts as one
 * address. */
struct connections_share {
	unsigned connections;
	unsigned requests; /* under way */
};

struct connections_room {
	unsigned within; /* connections that are served at once */
	unsigned beyond; /* up to CONNECTIONS_OVER: half of them wait, a quarter of each kind is
			    answered */
	uint64_t files;  /* that the process may open in all */
};

struct connections_options {
	struct connections_room room;
	unsigned idle_s;    /* between two requests */
	unsigned request_s; /* from a request's first line to its end, and from its answer to the
			       answer's end */
	struct connections_share remote, loopback;
};

enum connection_phase {
	CONNECTION_WAITING,   /* for a request's first line */
	CONNECTION_RECEIVING,
	CONNECTION_WORKING,   /* ours: no end */
	CONNECTION_SENDING,
};

/* By the first request. */
enum connection_kind {
	CONNECTION_SILENT, /* its first bytes have not come */
	CONNECTION_ORDINARY,
	CONNECTION_VITAL, /* for health and metrics */
	CONNECTION_KINDS,
};

struct connections;

struct connection {
	/* for others to read */
	int fd;
	struct sockaddr_storage peer;
	bool is_over; /* it came beyond the limit */
	enum connection_kind kind;
	uint64_t cost_ns; /* of its latest request where that was long, else 0; the request's
			     thread writes it */
	/* for connections.c */
	struct connections *all;
	struct connection *previous, *next;
	struct address *address; /* NULL where it has no limits */
	atomic_int phase;
	_Atomic int64_t until_ms;   /* when the phase ends */
	_Atomic int64_t touched_ms; /* when its thread last read of a body */
};

struct connections *connections_new(const struct connections_options *options,
				    struct connections_stats *stats);

/* Shuts down late connections, and those whose client left and whose end libmicrohttpd missed. Call
 * it each second. */
void connections_sweep(struct connections *connections);

/* Closes those that are SILENT; no others may be open. */
void connections_free(struct connections *connections);

/* Enters a socket, in the phase WAITING. The socket must stay open until it is removed. `peer`, its
 * client's address: of another family than IPv4 or IPv6 it counts as 0.0.0.0. */
struct connection *connections_add(struct connections *connections, int fd,
				   const struct sockaddr_storage *peer);
void connections_remove(struct connection *connection);

/* The newest one of that socket. */
struct connection *connections_find(struct connections *connections, int fd);

/* The oldest connection beyond the limit that has sent nothing, where these are too many; or NULL.
 */
struct connection *connections_crowded_out(struct connections *connections);

/* Its first bytes are there. Returns whether it may be served, beyond the limit as `room` says. */
bool connection_admit(struct connection *connection, enum connection_kind kind);

/* A request begins, or is over. False where it is one more than its address may have under way; it
 * counts nevertheless. */
bool connection_begin_request(struct connection *connection);
void connection_end_request(struct connection *connection);

/* Begins a phase; cheap, by the connection's own thread. */
void connection_enter(struct connection *connection, enum connection_phase phase);

/* A piece of a request was read; as cheap, by the same thread. */
void connection_touch(struct connection *connection);

/*
 * Raises the process's limit of open files to what so many connections need, beside the rest of the
 * server. Gives the connections that there is room for, each with `files_each` open files:
 * `wanted`, or less where the hard limit is lower. Where it is low, half of the files are for the
 * rest of the server.
 */
struct connections_room connections_make_room(unsigned wanted, unsigned files_each);

#endif
