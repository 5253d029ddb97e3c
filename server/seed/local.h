/*
 * local - operations carried out in this process: as a target of seed.h.
 */
#ifndef DYNALITH_SERVER_SEED_LOCAL_H
#define DYNALITH_SERVER_SEED_LOCAL_H

#include "protocol/service.h"
#include "server/seed/seed.h"

/* The service's tables of the namespace that unsigned requests have. The service must outlive it.
 */
struct seed_target local_target(struct service *service);

/* A service of its own, over an empty store in memory. */
struct rehearsal;
enum code local_rehearsal_new(struct rehearsal **out, struct err *err) WARN_UNUSED;
/* The same over a data file, which is made where it is missing; NULL: in memory. */
enum code local_rehearsal_in(const char *file, struct rehearsal **out, struct err *err) WARN_UNUSED;
/* The same over a store that is open, and the caller's to close later. */
enum code local_rehearsal_over(struct store *store, struct rehearsal **out,
			       struct err *err) WARN_UNUSED;
void local_rehearsal_free(struct rehearsal *rehearsal);
struct seed_target local_rehearsal_target(struct rehearsal *rehearsal);
struct service *local_rehearsal_service(struct rehearsal *rehearsal);

#endif
