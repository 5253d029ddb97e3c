/*
 * insights - Contributor Insights of tables and global indexes, as three operations show them.
 * protocol/insight/contributors counts.
 */
#ifndef DYNALITH_PROTOCOL_INSIGHTS_H
#define DYNALITH_PROTOCOL_INSIGHTS_H

#include "protocol/handler.h"
#include "protocol/tables/settings.h"

/* Those of the table or, where a name is given, of its global index, whose number goes to *index
 * (-1: the table's). */
enum code insights_find(const struct call *call, const struct table *table, struct str index_name,
			const struct insights **out, ptrdiff_t *index, struct err *err) WARN_UNUSED;

/* TableName, IndexName, ContributorInsightsStatus, ContributorInsightsMode: members of an object
 * that is open. */
void insights_write(struct call *call, const struct table *table, struct str index_name,
		    const struct insights *insights);

/* Whether they are enabled for the table or one of its indexes. */
bool insights_are_counted(const struct table *table);

/* Whether they are shown as something else than DISABLED. */
bool insights_is_listed(const struct insights *insights, int64_t now_ms);

#endif
