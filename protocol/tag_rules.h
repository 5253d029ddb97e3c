/*
 * tag_rules - what tags a table can have. AWS checks them with words of their own, not as constraints of shapes.
 */
#ifndef DYNALITH_PROTOCOL_TAG_RULES_H
#define DYNALITH_PROTOCOL_TAG_RULES_H

#include "protocol/handler.h"

#define TAGS_MAX 50 /* of a table. AWS: Developer Guide, "Tagging restrictions in DynamoDB" */

/* Keys and values, each key once, no more than a table can have. */
enum code tag_rules_check(const struct tag_list *tags, struct err *err) WARN_UNUSED;

/* The same of keys alone. */
enum code tag_rules_check_keys(const struct tag_key_list *keys, struct err *err) WARN_UNUSED;

/*
 * The table of a ResourceArn, which must be the ARN of a table and nothing else; the reference is held until the call ends. `is_change`
 * refuses a table that is being created or deleted.
 */
enum code tag_rules_table(struct call *call, struct str arn, bool is_change, struct table **out, struct err *err) WARN_UNUSED;

#endif
