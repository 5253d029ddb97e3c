/*
 * put_records - one PutRecords request to a Kinesis-compatible endpoint, and which of its records
 * were taken.
 *
 * The shelf server/kinesis/ sends tables' changes to their Kinesis destinations.
 *
 * AWS: Kinesis Data Streams API Reference, PutRecords.
 */
#ifndef DYNALITH_SERVER_PUT_RECORDS_H
#define DYNALITH_SERVER_PUT_RECORDS_H

#include "server/client/client.h"
#include "server/sigv4.h"

#define PUT_RECORDS_MAX 500

struct put_endpoint {
	const char *where;       /* URL */
	const char *credentials; /* ACCESS_KEY:SECRET */
	const char *authorities; /* or NULL: as struct client_target */
	struct sigv4 *sigv4;
	const atomic_bool *stopping;
};

struct put_record {
	uint64_t number;    /* of the change */
	struct str data;    /* JSON */
	struct str key;     /* the Kinesis partition key: the same for all changes of an item */
	bool is_done;
};

enum put_result {
	PUT_SENT,    /* all of them */
	PUT_PARTLY,  /* those that are done; the others may be sent again */
	PUT_REFUSED, /* the endpoint finds something wrong with the request itself: a smaller one
			may do */
	PUT_FAILED,  /* none is known to be taken */
};

/* Who waits for an answer. */
struct put_tick {
	void (*tick)(void *context); /* as struct client_request */
	void *context;
};

struct put_batch {
	struct str stream_arn;
	size_t n;
	struct put_record **v; /* at most PUT_RECORDS_MAX, each of another key */
	struct put_tick tick;
};

/*
 * Whether the stream is there, by DescribeStreamSummary: PUT_SENT; PUT_REFUSED where it is not, or
 * may not be used; PUT_FAILED where nobody answers. An endpoint that does not know the operation
 * may know the stream.
 */
enum put_result put_records_probe(const struct put_endpoint *endpoint, struct arena *arena,
				  struct str stream_arn, struct put_tick tick,
				  struct str *problem);

/* Sends the records and marks those that were taken. Beside PUT_SENT *problem says why the first
 * one was not, for the log. */
enum put_result put_records_send(const struct put_endpoint *endpoint, struct arena *arena,
				 const struct put_batch *request, struct str *problem);

#endif
