/*
 * reply - what a fault does to an answer on its way to the client: the server sees to it, since
 * protocol knows no sockets.
 */
#ifndef DYNALITH_PROTOCOL_FAULTS_REPLY_H
#define DYNALITH_PROTOCOL_FAULTS_REPLY_H

#include <stdbool.h>
#include <stdint.h>

struct fault_reply {
	uint32_t rule;          /* that acted on the request last, from 1; 0: none did */
	uint64_t delay_ms;      /* the answer waits for so long when it is ready */
	bool is_dropped;        /* the connection is closed in place of an answer */
	bool is_crc_wrong;      /* x-amz-crc32 is not that of the body */
	uint32_t piece_bytes;   /* the body is sent in pieces of this size; 0: at once */
	uint32_t piece_ms;      /* and there is this time between two of them */
};

#endif
