/*
 * explain - what one request reads and writes, what that costs, why it is a scan, and what would
 * serve it better.
 *
 * A request is explained beside its answer, or on trial: then it runs as ever, but its writes end
 * where they would be committed, with nothing written. It says only what the request itself says,
 * and figures: no values of items that were read.
 */
#ifndef DYNALITH_PROTOCOL_EXPLAIN_H
#define DYNALITH_PROTOCOL_EXPLAIN_H

#include "protocol/handler.h"
#include "protocol/ops.h"

/* Bytes of an explanation in a header. Clients refuse long heads: Apache's and Node's take 8 and 16
 * KB in all. */
#define EXPLAIN_LINE_MAX 4096

/* From now on the call writes nothing, and its accesses are noted. */
void explain_try(struct call *call);

/* Of such a call: ends its writes where they would be committed. */
const struct write_admission *explain_admission(const struct call *call);

/* The request, when its handler is done. */
struct explain_request {
	enum op_id number; /* the operation */
	enum code code;      /* ERR_TRIAL too */
	const struct err *err;
};

/* A JSON object; docs/insight.md has its members. While the call's tables are held. */
struct str explain_describe(struct call *call, const struct explain_request *request);

/* The same in ASCII, of EXPLAIN_LINE_MAX bytes at most, for a header: where it is longer, only its
 * figures and the names of its findings. */
struct str explain_line(struct call *call, const struct explain_request *request);

#endif
