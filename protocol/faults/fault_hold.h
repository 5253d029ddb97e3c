/*
 * fault_hold - a request that a rule holds back before its work.
 *
 * It was given up with nothing done, and runs again from its start when its time is over, or when
 * the rules of its namespace are changed or cleared: so a test holds it as long as it wants and
 * lets it go. Meanwhile the items that it is about stay busy, where conflicts are real
 * (protocol/conflicts). No thread waits with it: the server asks now and then whether it is over.
 */
#ifndef DYNALITH_PROTOCOL_FAULT_HOLD_H
#define DYNALITH_PROTOCOL_FAULT_HOLD_H

#include "protocol/faults/reply.h"
#include "storage/schema/schema.h"

struct fault_call;
struct fault_hold;
struct faults;
struct conflict_ticket;

/* Of a call that a rule holds; takes the ticket over. NULL: it is not held. */
struct fault_hold *fault_hold_new(struct faults *faults, struct ns ns,
				  const struct fault_call *call, struct conflict_ticket *ticket);
bool fault_hold_is_over(const struct fault_hold *hold);

/* When the request runs again: what becomes of its answer, and its ticket. Frees the hold. */
struct conflict_ticket *fault_hold_end(struct fault_hold *hold, struct fault_reply *reply);

#endif
