#include "protocol/tables/insights.h"
#include "protocol/timing/timing.h"

#define PAGE_MAX 100
#define TABLES_MAX 1000 /* that one call looks at; a page may be shorter than its limit */

/* Where a page ended: TABLE or TABLE/INDEX; that is also the token. */
struct listing {
	struct call *call;
	struct str after;
	size_t left;
	bool has_more;
	struct str last;
};

/* Whether the entry comes behind the token; a table before its indexes, those in the table's order.
 */
static void list_entry(struct listing *listing, const struct table *table,
		       const struct index *index, const struct insights *insights)
{
	struct call *call = listing->call;
	struct str name = index ? str_printf(call->arena, STR_FMT "/" STR_FMT,
					     STR_ARG(table->identity.name), STR_ARG(index->name))
				: table->identity.name;

	if (str_is_set(listing->after)) { /* not there yet */
		if (str_eq(name, listing->after))
			listing->after = STR_ABSENT;
		return;
	}
	if (!insights_is_listed(insights, call->now_ms) || listing->has_more)
		return;
	if (listing->left == 0) {
		listing->has_more = true;
		return;
	}
	listing->left--;
	listing->last = str_copy(call->arena, name);
	json_out_open(&call->out, '{');
	insights_write(call, table, index ? index->name : STR_ABSENT, insights);
	json_out_close(&call->out, '}');
}

static void list_table(struct listing *listing, const struct table *table)
{
	list_entry(listing, table, NULL, &table->settings->insights);
	for (size_t i = 0; i < table->indexes.n; i++) {
		if (!table->indexes.v[i].is_local)
			list_entry(listing, table, &table->indexes.v[i],
				   &table->indexes.v[i].settings->insights);
	}
	/* the index that the token names may be gone */
	if (str_is_set(listing->after) &&
	    str_starts_with(listing->after, str_printf(listing->call->arena, STR_FMT "/",
						       STR_ARG(table->identity.name))))
		listing->after = STR_ABSENT;
}

static enum code list_names(struct listing *listing, const struct name_page *names, struct err *err)
{
	struct call *call = listing->call;

	for (size_t i = 0; i < names->n && !listing->has_more; i++) {
		struct table *table;
		enum code code = catalog_get_current(call->service->catalog, call->ns, names->v[i],
						     call->now_ms, &table, err);

		if (code == ERR_RESOURCE_NOT_FOUND) /* gone meanwhile */
			continue;
		if (code != OK)
			return code;
		list_table(listing, table);
		table_unref(table);
	}
	return OK;
}

/* From the token's table on. */
static enum code list_all(struct listing *listing, struct err *err)
{
	struct call *call = listing->call;
	const char *slash =
		listing->after.n ? memchr(listing->after.p, '/', listing->after.n) : NULL;
	struct str first = {listing->after.p,
			    slash ? (size_t)(slash - listing->after.p) : listing->after.n};
	struct name_page names = {.n = 1, .v = &first, .is_more = true};
	enum code code = call_refresh(call, err);

	if (code != OK)
		return code;
	if (str_is_set(first)) /* the token's table itself: its indexes may be left */
		code = list_names(listing, &names, err);
	listing->after = STR_ABSENT;
	if (code != OK)
		return code;
	for (size_t seen = 0; names.is_more && !listing->has_more; seen += names.n) {
		if (seen >= TABLES_MAX) {
			listing->has_more = true;
			listing->last = first;
			break;
		}
		code = catalog_list(call->service->catalog, call->ns, first, PAGE_MAX, call->now_ms,
				    call->arena, &names, err);
		if (code != OK)
			return code;
		code = list_names(listing, &names, err);
		if (code != OK)
			return code;
		if (names.n > 0)
			first = names.v[names.n - 1];
	}
	return code;
}

/* AWS: does not list disabled ones. */
enum code op_list_contributor_insights(struct call *call,
				       const struct list_contributor_insights_input *input,
				       struct err *err)
{
	struct listing listing = {.call = call,
				  .after = input->next_token.n ? input->next_token : STR_ABSENT,
				  .left = PAGE_MAX};
	struct table *table;
	enum code code = OK;

	if (input->max_results.is_set && input->max_results.value > 0)
		listing.left = (size_t)input->max_results.value;
	json_out_open(&call->out, '{');
	json_out_name(&call->out, STR("ContributorInsightsSummaries"));
	json_out_open(&call->out, '[');
	if (str_is_set(input->table_name)) {
		code = timing_table(call, input->table_name, TIMING_BY_INSIGHTS, &table, err);
		if (code == OK)
			list_table(&listing, table);
	} else {
		code = list_all(&listing, err);
	}
	json_out_close(&call->out, ']');
	if (listing.has_more)
		json_out_field_string(&call->out, "NextToken", listing.last);
	json_out_close(&call->out, '}');
	return code;
}
