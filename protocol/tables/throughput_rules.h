/*
 * throughput_rules - provisioned, on-demand and warm throughput of a table or of a global index:
 * which values are allowed, and what the table keeps.
 *
 * Where a function takes an index, NULL stands for the table itself. AWS: recorded answers, October
 * 2026; Developer Guide, "Warm throughput".
 */
#ifndef DYNALITH_PROTOCOL_THROUGHPUT_RULES_H
#define DYNALITH_PROTOCOL_THROUGHPUT_RULES_H

#include "protocol/tables/settings.h"
#include "protocol/wire/shapes.h"

#define TABLE_UNITS_MAX                                                                            \
	40000 /* AWS: Quotas, "Default read and write capacity"; of a table and of each index */

/* CreateTable and an index's creation have other rules and texts than a later change. */
enum throughput_step { THROUGHPUT_CREATE, THROUGHPUT_UPDATE };

/* A structure without a member: AWS drops it beside other parameters. */
bool throughput_rules_has_on_demand(const struct on_demand_throughput *input);
bool throughput_rules_has_warm(const struct warm_throughput *input);

/* The units of a new table or index. Never fails: whether they may be given was checked. */
void throughput_rules_begin(struct throughput *throughput,
			    const struct provisioned_throughput *input);

/* New units of a table or index. ERR_VALIDATION where they are the old ones. */
enum code throughput_rules_units(struct table *table, struct index *index,
				 const struct provisioned_throughput *input, int64_t now_ms,
				 struct err *err) WARN_UNUSED;

/* The same without rules: new units, and when they rose or fell. */
void throughput_rules_set(struct throughput *throughput, int64_t read, int64_t write,
			  int64_t now_ms);

/* The units of a table that becomes PAY_PER_REQUEST, and of its indexes. */
void throughput_rules_drop_units(struct table *table, int64_t now_ms);

/* NumberOfDecreasesToday. AWS: it starts again at 0 at 00:00 UTC. */
int64_t throughput_rules_decreases(const struct throughput *throughput, int64_t now_ms);

/* Limits of on-demand throughput, added to those that the table has. THROUGHPUT_UPDATE: -1 takes
 * one away. */
enum code throughput_rules_on_demand(struct table *table, struct index *index,
				     const struct on_demand_throughput *input,
				     enum throughput_step step, struct err *err) WARN_UNUSED;

/* AWS: the answer to a change shows the limits that stand and, as given, those of the request: -1
 * too. */
struct throughput_pair throughput_rules_echo(const struct throughput_pair *before,
					     const struct on_demand_throughput *input);

/* The warm throughput of the table or index: the highest units that it ever had, but not less than
 * its billing mode's default. */
struct throughput_pair throughput_rules_warm_now(const struct table *table,
						 const struct index *index);

/* Keeps the warm throughput of the table and its indexes from falling. Call it before a change and
 * after it. */
void throughput_rules_keep_warm(struct table *table);

/*
 * Raises the warm throughput. ERR_VALIDATION where the request has less. For a new table or index
 * call it when its billing mode and units are known.
 */
enum code throughput_rules_warm(struct table *table, struct index *index,
				const struct warm_throughput *input, enum throughput_step step,
				struct err *err) WARN_UNUSED;

/* ERR_LIMIT_EXCEEDED where a table or index has more units than an account may have. `before` is
 * NULL of a new table. */
enum code throughput_rules_limits(const struct table *before, const struct table *after,
				  struct err *err) WARN_UNUSED;

#endif
