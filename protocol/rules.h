/*
 * rules - checks across the fields of a request that shapes cannot express.
 *
 * Rules of the request alone come before its table is looked up, rules against the table after. All
 * give ERR_VALIDATION.
 */
#ifndef DYNALITH_PROTOCOL_RULES_H
#define DYNALITH_PROTOCOL_RULES_H

#include "protocol/expressions.h"
#include "storage/read.h"
#include "storage/schema/schema.h"

/* PutItem and DeleteItem know NONE and ALL_OLD only. */
enum code rules_return_values(int return_values, struct err *err) WARN_UNUSED;

/* An item given to be written is within ITEM_SIZE_MAX. */
enum code rules_item_size(const struct value *item, struct err *err) WARN_UNUSED;

/* An update changes no key attribute of the table. `update` may be NULL. */
enum code rules_update_keys(const struct table *table, const struct update *update,
			    struct err *err) WARN_UNUSED;

/*
 * No path of the request's expressions leads into a key attribute of the table or of one of its
 * indexes: these are scalars. The paths that an update changes are left to rules_update_keys()
 * where they start with a table's key.
 */
enum code rules_key_paths(const struct table *table, const struct expressions *expressions,
			  struct err *err) WARN_UNUSED;

/* Segment and TotalSegments of a Scan come together, in range. `is_older`: in the words of AWS's
 * older layer. */
enum code rules_segments(struct opt_int segment, struct opt_int total, bool is_older,
			 struct err *err) WARN_UNUSED;

/* The index of that name, or NULL where no name is given; global ones are not read consistently. */
enum code rules_index(const struct table *table, struct str name, struct opt_bool consistent,
		      const struct index **out, struct err *err) WARN_UNUSED;

/* Whether the name is a vector index's, which Query and Scan refuse, consistent reads first. */
enum code rules_not_vector(const struct table *table, struct str name, struct opt_bool consistent,
			   bool is_scan, struct err *err) WARN_UNUSED;

/* A Query's filter names no key attribute of what is queried. `parameter`: "Filter Expression" or
 * "QueryFilter". */
enum code rules_query_filter(const struct key_schema *keys, const struct node *filter,
			     const char *parameter, struct err *err) WARN_UNUSED;

/* A filter on an index names projected attributes only. Either may be NULL. */
enum code rules_filter_projected(struct arena *arena, const struct index *index,
				 const struct node *filter, struct err *err) WARN_UNUSED;

/*
 * What a Query or Scan returns: `select` as given (0: not), `projection` as parsed or NULL;
 * `is_legacy` when it was AttributesToGet. The first checks the request alone, the second against
 * the index.
 */
enum code rules_select(int select, bool has_index, const struct projection *projection,
		       bool is_legacy, enum read_select *out, struct err *err) WARN_UNUSED;
enum code rules_select_index(struct arena *arena, const struct index *index,
			     enum read_select select, const struct projection *projection,
			     struct err *err) WARN_UNUSED;

/* Bytes that name an item among those of all tables. */
struct str rules_item_name(struct arena *arena, const struct table *table, struct str row_key);

#endif
