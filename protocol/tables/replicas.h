/*
 * replicas - the other replicas of a global table, as one of them sees them.
 *
 * Each is a table of the same account and name in its own region, so what DescribeTable shows of
 * them is what their own records have: an override of throughput is a setting that differs. AWS
 * shows it the same way from both sides.
 */
#ifndef DYNALITH_PROTOCOL_REPLICAS_H
#define DYNALITH_PROTOCOL_REPLICAS_H

#include "protocol/handler.h"
#include "protocol/tables/settings.h"

/* The other replicas that there are, in the order of the table's record; held until the call ends.
 * A region that was reset has none. */
enum code replicas_of(struct call *call, const struct table *table, struct table ***replicas,
		      size_t *n, struct err *err) WARN_UNUSED;

/* The same by the request's TableName; an error where the table is of one region. AWS: as if it did
 * not exist. */
enum code replicas_of_global(struct call *call, struct str name_or_arn, struct str *name,
			     struct table **table, struct table ***replicas, size_t *n,
			     struct err *err) WARN_UNUSED;

/* The table of that name in another region of the account, held until the call ends; NULL: there is
 * none. */
enum code replicas_find(struct call *call, struct str name, struct str region, struct table **table,
			struct err *err) WARN_UNUSED;

/* The time in the table's region. */
int64_t replicas_now_ms(const struct call *call, const struct table *table);

/*
 * Writes what a TableDescription has of a global table; nothing where the table is of one region.
 * `before` is a table that becomes global by the request: AWS answers with its replicas as they are
 * before, but with the rest as it will be.
 */
enum code replicas_write(struct call *call, const struct table *table, struct err *err) WARN_UNUSED;

/* ReplicaStatus of a table. */
struct str replicas_status(const struct table *table);

#endif
