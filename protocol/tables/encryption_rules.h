/*
 * encryption_rules - SSESpecification: which ones are allowed, and the key that each means. AWS: recorded answers, October 2026.
 */
#ifndef DYNALITH_PROTOCOL_ENCRYPTION_RULES_H
#define DYNALITH_PROTOCOL_ENCRYPTION_RULES_H

#include "protocol/tables/settings.h"
#include "protocol/wire/shapes.h"

/* Which members go together. Without Enabled, SSEType=KMS is as good as Enabled=true. */
enum code encryption_rules_check(const struct sse_specification *input, struct err *err) WARN_UNUSED;

/* ERR_VALIDATION where the ARN is that of the table's key, or where it turns off encryption that is off. */
enum code encryption_rules_news(const struct table *table, const struct sse_specification *input, struct err *err) WARN_UNUSED;

/*
 * Gives the table, whose account and region are known, its key. ERR_VALIDATION for a key of another region and, of a table that exists, for
 * the key that it has.
 */
enum code encryption_rules_apply(struct table *table, const struct sse_specification *input, bool is_new, struct err *err) WARN_UNUSED;

#endif
