/*
 * insight - endpoints that show and forget the access patterns which this server has seen:
 * ERR_VALIDATION where --insight is off; and the keys that Contributor Insights counts.
 */
#include "server/control/endpoints.h"

#include "protocol/insight/contributors.h"
#include "protocol/insight/insight.h"
#include "server/messages.h"

enum code insight_show(const struct control_call *call, struct str *answer, struct err *err)
{
	struct insight *insight = call->control->service->insight;

	if (!insight)
		return err_set(err, MSG_INSIGHT_OFF);
	*answer = insight_describe(insight, call->arena);
	return OK;
}

enum code insight_forget(const struct control_call *call, struct str *answer, struct err *err)
{
	struct insight *insight = call->control->service->insight;

	if (!insight)
		return err_set(err, MSG_INSIGHT_OFF);
	insight_clear(insight);
	*answer = STR("{}");
	return OK;
}

enum code insight_show_contributors(const struct control_call *call, struct str *answer,
				    struct err *err)
{
	return contributors_describe(call->control->service, call->ns, call->arena, answer, err);
}
