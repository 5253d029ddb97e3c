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

struct call;
struct fault_hold;
struct conflict_ticket;

/* Of a call that a rule concerns; takes the ticket over. NULL: no rule holds it. */
struct fault_hold *fault_hold_new(const struct call *call, struct conflict_ticket *ticket);
bool fault_hold_is_over(const struct fault_hold *hold);

/* When the request runs again: what becomes of its answer, and its ticket. Frees the hold. */
struct conflict_ticket *fault_hold_end(struct fault_hold *hold, struct fault_reply *reply);

#endif
