#include "server/start/front.h"

#include "server/http/connections.h"
#include "server/http/tls.h"
#include "server/instance.h"
#include "server/log.h"

/* As many connections as there can be open files. */
static struct connections_room room_of_connections(unsigned wanted, bool has_tls)
{
	struct connections_room room = connections_make_room(wanted, has_tls ? TLS_FILES : 1);

	if (room.within < wanted)
		log_line(LOG_WARN,
			 "the limit of %llu open files leaves room for %u connections, not %u; the "
			 "server answers 503 to more",
			 (unsigned long long)room.files, room.within, wanted);
	return room;
}

/* The limits of an address. -1, the default: a share of all connections, and no limit for loopback
 * addresses. */
static struct connections_share connections_share_of(const struct config *config, bool is_loopback)
{
	unsigned all = (unsigned)config->connection_limit;
	long connections = config->address_connection_limit,
	     requests = config->address_request_limit;

	return (struct connections_share){
		.connections = connections >= 0 ? (unsigned)connections
			       : is_loopback    ? 0
						: all / 2 + 1,
		.requests = requests >= 0 ? (unsigned)requests
			    : is_loopback ? 0
					  : all / 4 + 1,
	};
}

void front_set(struct http_options *http, const struct config *config,
	       struct tls_context *certificate)
{
	http->host = config->host;
	http->port = (unsigned short)config->port;
	http->threads = instance_workers(config);
	http->connections = (struct connections_options){
		.room = room_of_connections((unsigned)config->connection_limit, certificate),
		.idle_s = (unsigned)config->idle_timeout,
		.request_s = (unsigned)config->request_timeout,
		.remote = connections_share_of(config, false),
		.loopback = connections_share_of(config, true),
	};
	http->certificate = certificate;
	http->slice_ns = (uint64_t)config->request_slice_ms * 1000000;
}
