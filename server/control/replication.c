/*
 * replication - /_dynalith/replication: how the replicas of an account's global tables follow each
 * other. docs/global-tables.md.
 */
#include "server/control/endpoints.h"

#include "protocol/tables/replica_rules.h"
#include "protocol/wire/json_out.h"
#include "server/messages.h"
#include "storage/upkeep/replica.h"

#define REPLICATION_LAG_MAX_MS 86400000

static struct catalog *catalog_of(const struct control_call *call)
{
	return call->control->service->catalog;
}

static enum code read_state(const struct control_call *call, struct links *links,
			    struct replica_queue **queues, size_t *n, struct err *err)
{
	enum code code = clocks_refresh(catalog_options(catalog_of(call))->clocks, err);

	if (code != OK)
		return code;
	return replica_queues(catalog_of(call), call->arena, call->ns.account, links, queues, n,
			      err);
}

static void write_cuts(struct json_out *out, const struct links *links)
{
	json_out_name(out, STR("partitions"));
	json_out_open(out, '[');
	for (size_t i = 0; i < links->n; i++) {
		json_out_open(out, '[');
		json_out_string(out, links->cuts[i].a);
		json_out_string(out, links->cuts[i].b);
		json_out_close(out, ']');
	}
	json_out_close(out, ']');
}

enum code replication_show(const struct control_call *call, struct str *answer, struct err *err)
{
	struct json_out out = json_out_in(call->arena);
	struct links links;
	struct replica_queue *queues;
	size_t n;
	enum code code = read_state(call, &links, &queues, &n, err);

	if (code != OK)
		return code;
	json_out_open(&out, '{');
	json_out_field_integer(&out, "lag_ms", links.lag_ms);
	write_cuts(&out, &links);
	json_out_name(&out, STR("queues"));
	json_out_open(&out, '[');
	for (size_t i = 0; i < n; i++) {
		json_out_open(&out, '{');
		json_out_field_string(&out, "from", queues[i].from);
		json_out_field_string(&out, "to", queues[i].to);
		json_out_field_integer(&out, "changes", (int64_t)queues[i].rows);
		json_out_field_integer(&out, "bytes", (int64_t)queues[i].bytes);
		json_out_close(&out, '}');
	}
	json_out_close(&out, ']');
	json_out_close(&out, '}');
	*answer = json_out_str(&out);
	return OK;
}

static enum code read_cuts(const struct control_call *call, const struct json *array,
			   struct links *links, struct err *err)
{
	size_t count = json_count(array);
	enum code code = OK;

	if (count > LINKS_CUTS_MAX)
		return err_set(err, MSG_REPLICATION_CUTS, LINKS_CUTS_MAX);
	links->n = 0;
	links->cuts = ARENA_ARRAY(call->arena, struct links_cut, count);
	for (const struct json *element = json_first(array); element;
	     element = json_next(element)) {
		struct str *regions = NULL;
		size_t n = 0;

		if (json_type(element) != JSON_ARRAY)
			return err_set(err, MSG_REPLICATION_PAIR);
		code = control_strings(call, "partitions", element, &regions, &n, err);
		if (code != OK)
			return code;
		if (n != 2 || str_eq(regions[0], regions[1]) ||
		    !replica_rules_is_region(regions[0]) || !replica_rules_is_region(regions[1]))
			return err_set(err, MSG_REPLICATION_PAIR);
		links->cuts[links->n++] = (struct links_cut){regions[0], regions[1]};
	}
	return OK;
}

/* Sets the links, and repeats what comes through now before it answers. */
static enum code set_links(const struct control_call *call, const struct links *links,
			   struct str *answer, struct err *err)
{
	uint64_t repeated;
	enum code code = replica_set_links(catalog_of(call), call->ns.account, links, err);

	if (code != OK)
		return code;
	code = upkeep_replicate(call->control->upkeep, &call->ns, &repeated, err);
	if (code != OK)
		return code;
	return replication_show(call, answer, err);
}

enum code replication_put(const struct control_call *call, struct str *answer, struct err *err)
{
	const struct json *lag, *cuts;
	const struct control_member members[] = {{"lag_ms", JSON_NUMBER, &lag},
						 {"partitions", JSON_ARRAY, &cuts}};
	struct links links;
	struct replica_queue *queues;
	size_t n;
	enum code code = control_read(call, members, sizeof(members) / sizeof(members[0]), err);

	if (code != OK)
		return code;
	code = read_state(call, &links, &queues, &n, err);
	if (code != OK)
		return code;
	if (lag) {
		links.has_lag = true;
		if (!json_integer(lag, &links.lag_ms) || links.lag_ms < 0 ||
		    links.lag_ms > REPLICATION_LAG_MAX_MS)
			return err_set(err, MSG_REPLICATION_LAG, REPLICATION_LAG_MAX_MS);
	}
	if (cuts)
		code = read_cuts(call, cuts, &links, err);
	if (code != OK)
		return code;
	return set_links(call, &links, answer, err);
}

enum code replication_delete(const struct control_call *call, struct str *answer, struct err *err)
{
	const struct links none = {.has_lag = true, .lag_ms = 0};
	uint64_t repeated;
	enum code code = control_read(call, NULL, 0, err);

	if (code != OK)
		return code;
	code = replica_set_links(catalog_of(call), call->ns.account, &none, err);
	if (code != OK)
		return code;
	code = upkeep_replicate(call->control->upkeep, &call->ns, &repeated, err);
	const struct links usual = {.has_lag = false};
	if (code != OK)
		return code;
	return set_links(call, &usual, answer, err);
}
