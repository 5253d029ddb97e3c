/*
 * encryption_rules - SSESpecification: which ones are allowed, and the key that each means. AWS:
 * recorded answers, October 2026.
 */
#ifndef DYNALITH_PROTOCOL_ENCRYPTION_RULES_H
#define DYNALITH_PROTOCOL_ENCRYPTION_RULES_H

#include "protocol/tables/settings.h"
#include "protocol/wire/shapes.h"

/* Which members go together. Without Enabled, SSEType=KMS is as good as Enabled=true. */
enum code encryption_rules_check(const struct sse_specification *input,
				 struct err *err) WARN_UNUSED;

/* ERR_VALIDATION where the ARN is that of the table's key, or where it turns off encryption that is
 * off. */
enum code encryption_rules_news(const struct table *table, const struct sse_specification *input,
				struct err *err) WARN_UNUSED;

/*
 * Gives the table, whose account and region are known, its key. ERR_VALIDATION for a key of another
 * region and, of a table that exists, for the key that it has.
 */
enum code encryption_rules_apply(struct table *table, const struct sse_specification *input,
				 bool is_new, struct err *err) WARN_UNUSED;

/* Whether the table's key is the one that AWS manages; whether a KMSMasterKeyId names that one. */
bool encryption_rules_is_managed(const struct table *table);
bool encryption_rules_is_managed_name(struct str key);

/* ERR_VALIDATION where the key, of a replica of the table, is one of another region than the
 * replica's. */
enum code encryption_rules_region(const struct table *table, struct str key, struct str region,
				  struct err *err) WARN_UNUSED;

/* Gives a new replica its key: of the same kind as the table has of which it is a copy, in its own
 * region. `key` may be absent. */
void encryption_rules_replica(struct table *replica, struct str key);

#endif
