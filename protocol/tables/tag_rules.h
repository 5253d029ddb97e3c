/*
 * tag_rules - which tags a table or a stream can have. AWS has its own texts for them, not those of
 * constraints.
 */
#ifndef DYNALITH_PROTOCOL_TAG_RULES_H
#define DYNALITH_PROTOCOL_TAG_RULES_H

#include "protocol/handler.h"
#include "protocol/tables/settings.h"

#define TAGS_MAX 50 /* of a resource. AWS: Developer Guide, "Tagging restrictions in DynamoDB" */

/* Keys and values, each key once, no more than a resource can have. */
enum code tag_rules_check(const struct tag_list *tags, struct err *err) WARN_UNUSED;

/* The same of keys alone. */
enum code tag_rules_check_keys(const struct tag_key_list *keys, struct err *err) WARN_UNUSED;

/* What a ResourceArn names: a table or one of its streams, each with tags of its own. */
struct tagged {
	struct table *table;
	bool is_stream;
	size_t stream; /* its place in the table's streams */
};

/* The reference to the table is held until the call ends. `is_change`: for a change of the tags. */
enum code tag_rules_find(struct call *call, struct str arn, bool is_change, struct tagged *out,
			 struct err *err) WARN_UNUSED;

/* Where `tagged` has its tags in the table, or in a clone of it. */
struct tag_set *tag_rules_of(const struct tagged *tagged, struct table *table);

/* The tags that a change leaves are no more than a resource can have. */
enum code tag_rules_check_set(const struct tag_set *tags, struct err *err) WARN_UNUSED;

#endif
