/*
 * export_rules - what ExportTableToPointInTime takes, in the order of AWS's errors; and the filter
 * of an export.
 */
#ifndef DYNALITH_PROTOCOL_EXPORT_RULES_H
#define DYNALITH_PROTOCOL_EXPORT_RULES_H

#include "protocol/expressions.h"
#include "protocol/transfer/transfer.h"

/* The request alone. */
enum code export_rules_check(struct call *call,
			     const struct export_table_to_point_in_time_input *input,
			     struct err *err) WARN_UNUSED;

/* The moment or window, checked against the table's recovery; sets the body's. */
enum code export_rules_times(struct call *call,
			     const struct export_table_to_point_in_time_input *input,
			     const struct table *table, struct transfer_body *body,
			     struct err *err) WARN_UNUSED;

/* The filter's expressions. ERR_VALIDATION. */
enum code export_rules_filter(struct arena *arena, const struct filter_specification *filter,
			      struct expressions *expressions, struct err *err) WARN_UNUSED;

/* How many partitions AWS would have made the table of: 4 on demand, else by its throughput. */
int64_t export_rules_partitions(const struct table *table);

#endif
