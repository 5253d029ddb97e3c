/*
 * kinesis - the thread that sends tables' changes to their Kinesis destinations, by PutRecords.
 *
 * It finds tables by their marks (LOG_SENDING) and reads their logs of changes. How far a
 * destination has come is a row in the store (storage/stream/stream_position.h), which moves behind
 * what the endpoint took: a server that starts again goes on there, so each change is sent at least
 * once. Of several servers on one database one sends to a destination, by a lease.
 *
 * Changes of an item are sent in their order: a request holds one change of an item at most, and a
 * change is sent when those before it are taken, also where an endpoint takes a part of a request.
 * What fails is sent again after a pause that doubles. Changes of different items may overtake each
 * other, as at AWS. A change that the endpoint refuses, alone in a request, is left behind and
 * logged. AWS: changes wait for a day at most.
 */
#ifndef DYNALITH_SERVER_KINESIS_H
#define DYNALITH_SERVER_KINESIS_H

#include "protocol/service.h"
#include "storage/upkeep/lease.h"

struct kinesis_options {
	struct service *service;
	struct leases *leases;   /* NULL: no other process sends */
	const char *where;       /* http:// or https:// of an endpoint */
	const char *credentials; /* ACCESS_KEY:SECRET */
	const char *authorities; /* PEM file for https://; NULL: any certificate will do */
};

struct kinesis;

/* NULL where no thread can be had. */
struct kinesis *kinesis_start(const struct kinesis_options *options);

/* Ends the thread; a request under way is given up. NULL is allowed. */
void kinesis_stop(struct kinesis *kinesis);

/* For struct service. */
bool kinesis_sends(void);
bool kinesis_sends_nowhere(void); /* warns once */

#endif
