#include "protocol/faults/fault_hold.h"

#include <stdlib.h>

#include "protocol/faults/faults_internal.h"
#include "storage/monotonic.h"

struct fault_hold {
	struct faults *faults;
	struct fault_set *set;
	struct ns ns;
	char *names; /* of the namespace */
	int64_t due_ms;
	struct fault_reply reply;
	struct conflict_ticket *ticket;
};

struct fault_hold *fault_hold_new(const struct call *call, struct conflict_ticket *ticket)
{
	const struct fault_call *own = fault_call_of(call);
	struct ns ns = call->ns;
	struct fault_hold *hold;

	if (own->hold_ms == 0)
		return NULL;
	hold = arena_checked(calloc(1, sizeof(*hold)));
	*hold = (struct fault_hold){
		.faults = call->service->faults,
		.set = fault_set_ref(own->set),
		.due_ms = monotonic_ms() + (int64_t)own->hold_ms,
		.reply = own->reply,
		.ticket = ticket,
		.names = arena_checked(malloc(ns.account.n + ns.region.n + 1)),
	};
	memcpy(hold->names, ns.account.p, ns.account.n);
	memcpy(hold->names + ns.account.n, ns.region.p, ns.region.n);
	hold->ns =
		(struct ns){{hold->names, ns.account.n}, {hold->names + ns.account.n, ns.region.n}};
	return hold;
}

bool fault_hold_is_over(const struct fault_hold *hold)
{
	return monotonic_ms() >= hold->due_ms || !faults_has_set(hold->faults, hold->ns, hold->set);
}

struct conflict_ticket *fault_hold_end(struct fault_hold *hold, struct fault_reply *reply)
{
	struct conflict_ticket *ticket = hold->ticket;

	*reply = hold->reply;
	fault_set_unref(hold->set);
	free(hold->names);
	free(hold);
	return ticket;
}
