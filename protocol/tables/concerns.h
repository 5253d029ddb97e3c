/*
 * concerns - the changes that an UpdateTable makes, as a set. AWS: one logical change a call;
 * concerns.def says which go together.
 */
#ifndef DYNALITH_PROTOCOL_CONCERNS_H
#define DYNALITH_PROTOCOL_CONCERNS_H

#include "protocol/wire/shapes.h"

enum concern {
	CONCERN_REPLICAS = 1 << 0,
	CONCERN_ENCRYPTION = 1 << 1,
	CONCERN_CLASS = 1 << 2,
	CONCERN_PROTECTION = 1 << 3,
	CONCERN_ON_DEMAND = 1 << 4,
	CONCERN_WARM = 1 << 5,
	CONCERN_STREAM = 1 << 6,
	CONCERN_UNITS = 1 << 7, /* ProvisionedThroughput without BillingMode=PROVISIONED */
	CONCERN_TO_PROVISIONED =
		1 << 8, /* BillingMode=PROVISIONED, with its ProvisionedThroughput or without */
	CONCERN_TO_ON_DEMAND = 1 << 9,  /* BillingMode=PAY_PER_REQUEST */
	CONCERN_INDEX_CREATE = 1 << 10, /* of a global or a vector index */
	CONCERN_INDEX_DELETE = 1 << 11,
	CONCERN_INDEX_UPDATE = 1 << 12,
	CONCERN_DISASSOCIATION = 1 << 13, /* DisassociationProtectionEnabled */
	CONCERN_ALL = (1 << 14) - 1,
	CONCERN_OTHER = 1 << 14, /* a change beside which nothing is known to be refused, such as
				    GlobalTableSettingsReplicationMode */
};

/* The set of them. A structure of throughput without a member is none: AWS drops it. */
unsigned concerns_of(const struct update_table_input *input);

/* ERR_VALIDATION where two of the set do not go together. */
enum code concerns_check(unsigned concerns, struct err *err) WARN_UNUSED;

#endif
