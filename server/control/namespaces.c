/*
 * namespaces - the accounts and regions that have tables.
 */
#include "server/control/endpoints.h"

#include "protocol/wire/json_out.h"
#include "storage/catalog/catalog.h"

#define NAMESPACES_MAX 1000 /* shown */
#define TABLES_MAX 1000     /* counted of each */

static enum code describe_namespace(const struct control_call *call, struct ns ns,
				    struct json_out *out, struct err *err)
{
	struct catalog *catalog = call->control->service->catalog;
	struct name_page names;
	enum code code =
		catalog_list(catalog, ns, STR_ABSENT, TABLES_MAX,
			     clock_now_ms(call->control->clock, ns), call->arena, &names, err);

	if (code != OK || names.n == 0) /* its tables are being deleted */
		return code;
	json_out_open(out, '{');
	json_out_field_string(out, "account", ns.account);
	json_out_field_string(out, "region", ns.region);
	json_out_field_integer(out, "tables", (int64_t)names.n);
	json_out_close(out, '}');
	return OK;
}

/* {"namespaces": [{"account": A, "region": R, "tables": N}, ...], "more": false}
 */
enum code namespaces_show(const struct control_call *call, struct str *answer, struct err *err)
{
	struct json_out out = json_out_in(call->arena);
	struct ns_page page;
	enum code code = catalog_namespaces(call->control->service->catalog, NAMESPACES_MAX,
					    call->arena, &page, err);

	json_out_open(&out, '{');
	json_out_name(&out, STR("namespaces"));
	json_out_open(&out, '[');
	for (size_t i = 0; i < page.n && code == OK; i++)
		code = describe_namespace(call, page.v[i], &out, err);
	json_out_close(&out, ']');
	json_out_field_boolean(&out, "more", page.is_more);
	json_out_close(&out, '}');
	*answer = json_out_str(&out);
	return code;
}
