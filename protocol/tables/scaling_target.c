#include "protocol/tables/scaling_target.h"

#include <inttypes.h>
#include <stdlib.h>

#include "protocol/tables/replicas.h"
#include "protocol/tables/scaling_messages.h"

#define PAGE_MAX 50 /* AWS: API Reference, DescribeScalableTargets, MaxResults */
#define NAMES_MAX 100

/* AWS: API Reference, RegisterScalableTarget, ScalableDimension. */
static const struct dimension {
	int constant; /* of shapes.def */
	bool is_index, is_write;
	struct str name;
} dimensions[] = {
	{SCALABLE_DIMENSION_DYNAMODB_TABLE_READ_CAPACITY_UNITS, false, false,
	 STR_INIT("dynamodb:table:ReadCapacityUnits")},
	{SCALABLE_DIMENSION_DYNAMODB_TABLE_WRITE_CAPACITY_UNITS, false, true,
	 STR_INIT("dynamodb:table:WriteCapacityUnits")},
	{SCALABLE_DIMENSION_DYNAMODB_INDEX_READ_CAPACITY_UNITS, true, false,
	 STR_INIT("dynamodb:index:ReadCapacityUnits")},
	{SCALABLE_DIMENSION_DYNAMODB_INDEX_WRITE_CAPACITY_UNITS, true, true,
	 STR_INIT("dynamodb:index:WriteCapacityUnits")},
};

#define DIMENSIONS (sizeof(dimensions) / sizeof(dimensions[0]))

static const struct dimension *dimension_by(int constant)
{
	for (size_t i = 0; i < DIMENSIONS; i++) {
		if (dimensions[i].constant == constant)
			return &dimensions[i];
	}
	return NULL;
}

static const struct dimension *dimension_of(const struct scaling *scaling)
{
	return &dimensions[2 * str_is_set(scaling->index) + scaling->is_write];
}

static struct str resource_of(struct arena *arena, const struct table *table,
			      const struct scaling *scaling)
{
	struct str name = table->identity.name, index = scaling->index;

	return str_is_set(index) ? str_printf(arena, "table/" STR_FMT "/index/" STR_FMT,
					      STR_ARG(name), STR_ARG(index))
				 : str_printf(arena, "table/" STR_FMT, STR_ARG(name));
}

/* "table/NAME" and "table/NAME/index/INDEX". */
static bool split_resource(struct str resource, struct str *name, struct str *index)
{
	struct str rest = resource, word;

	*index = STR_ABSENT;
	if (!str_eq(str_cut(&rest, '/'), STR("table")))
		return false;
	*name = str_cut(&rest, '/');
	if (rest.n == 0)
		return name->n > 0;
	word = str_cut(&rest, '/');
	*index = rest;
	return name->n > 0 && rest.n > 0 && str_eq(word, STR("index"));
}

enum code scaling_target_find(struct call *call, int service, struct str resource, int dimension,
			      struct scaling_target *out, struct err *err)
{
	const struct dimension *found = dimension_by(dimension);
	struct scaling_target target = {.resource = resource};

	if (service != SERVICE_NAMESPACE_DYNAMODB || !found ||
	    !split_resource(resource, &target.name, &target.index) ||
	    str_is_set(target.index) != found->is_index)
		return err_set(err, MSG_TARGET_UNSUPPORTED);
	target.dimension = found->name;
	target.is_write = found->is_write;
	enum code code = replicas_find(call, target.name, call->ns.region, &target.table, err);
	if (code != OK)
		return code;
	if (target.table)
		target.scaling = scaling_find(target.table, target.index, target.is_write);
	*out = target;
	return OK;
}

enum code scaling_target_need(struct call *call, int service, struct str resource, int dimension,
			      enum scaling_absent absent, struct scaling_target *out,
			      struct err *err)
{
	enum code code = scaling_target_find(call, service, resource, dimension, out, err);

	if (code != OK || out->scaling)
		return code;
	if (absent == SCALING_UNREGISTERED)
		return err_set(err, MSG_TARGET_UNREGISTERED, STR_ARG(resource),
			       STR_ARG(out->dimension));
	return err_set(err, MSG_TARGET_ABSENT, STR_ARG(resource), STR_ARG(out->dimension));
}

static uint64_t hash_of(struct ns ns, struct str resource, struct str dimension, uint64_t seed)
{
	return str_hash(ns.account,
			str_hash(ns.region, str_hash(resource, str_hash(dimension, seed))));
}

struct str scaling_target_arn(struct arena *arena, struct ns ns, struct str resource,
			      struct str dimension)
{
	return str_printf(arena,
			  "arn:aws:application-autoscaling:" STR_FMT ":" STR_FMT
			  ":scalable-target/0ec5%014" PRIx64 "%016" PRIx64,
			  STR_ARG(ns.region), STR_ARG(ns.account),
			  hash_of(ns, resource, dimension, 1) >> 8,
			  hash_of(ns, resource, dimension, 2));
}

static struct ns ns_of(const struct table *table)
{
	return (struct ns){table->identity.account, table->identity.region};
}

static struct str arn_of_target(struct arena *arena, const struct table *table,
				const struct scaling *scaling)
{
	return scaling_target_arn(arena, ns_of(table), resource_of(arena, table, scaling),
				  dimension_of(scaling)->name);
}

/* AWS: "arn:aws:autoscaling:us-east-1:000000000000:scalingPolicy:UUID:resource/dynamodb/table/NAME:
 * policyName/POLICY". */
struct str scaling_target_policy_arn(struct arena *arena, const struct table *table,
				     const struct scaling *scaling)
{
	struct str resource = resource_of(arena, table, scaling);
	uint64_t high = hash_of(ns_of(table), resource, scaling->policy, 3),
		 low = hash_of(ns_of(table), resource, scaling->policy, 4);

	return str_printf(arena,
			  "arn:aws:autoscaling:" STR_FMT ":" STR_FMT ":scalingPolicy:%08" PRIx64
			  "-%04" PRIx64 "-4%03" PRIx64 "-8%03" PRIx64 "-%012" PRIx64
			  ":resource/dynamodb/" STR_FMT ":policyName/" STR_FMT,
			  STR_ARG(table->identity.region), STR_ARG(table->identity.account),
			  high >> 32, high >> 16 & 0xffff, high & 0xfff, low >> 52,
			  low & 0xffffffffffff, STR_ARG(resource), STR_ARG(scaling->policy));
}

static void write_place(struct json_out *out, const struct table *table,
			const struct scaling *scaling)
{
	json_out_field_string(out, "ServiceNamespace", STR("dynamodb"));
	json_out_field_string(out, "ResourceId", resource_of(out->buf.arena, table, scaling));
	json_out_field_string(out, "ScalableDimension", dimension_of(scaling)->name);
}

static void write_time(struct json_out *out, int64_t ms, const struct table *table)
{
	json_out_name(out, STR("CreationTime"));
	json_out_time_ms(out, ms ? ms : table->identity.created_ms);
}

void scaling_target_write(struct json_out *out, const struct table *table,
			  const struct scaling *scaling)
{
	json_out_open(out, '{');
	write_place(out, table, scaling);
	json_out_field_integer(out, "MinCapacity", scaling->least);
	json_out_field_integer(out, "MaxCapacity", scaling->most);
	json_out_field_string(out, "RoleARN", scaling->role);
	write_time(out, scaling->created_ms, table);
	json_out_name(out, STR("SuspendedState"));
	json_out_open(out, '{');
	json_out_field_boolean(out, "DynamicScalingInSuspended", scaling->is_in_suspended);
	json_out_field_boolean(out, "DynamicScalingOutSuspended", scaling->is_out_suspended);
	json_out_field_boolean(out, "ScheduledScalingSuspended", scaling->is_schedule_suspended);
	json_out_close(out, '}');
	json_out_field_string(out, "ScalableTargetARN",
			      arn_of_target(out->buf.arena, table, scaling));
	json_out_close(out, '}');
}

void scaling_target_policy_write(struct json_out *out, const struct table *table,
				 const struct scaling *scaling)
{
	json_out_open(out, '{');
	json_out_field_string(out, "PolicyARN",
			      scaling_target_policy_arn(out->buf.arena, table, scaling));
	json_out_field_string(out, "PolicyName", scaling->policy);
	write_place(out, table, scaling);
	json_out_field_string(out, "PolicyType", STR("TargetTrackingScaling"));
	json_out_name(out, STR("TargetTrackingScalingPolicyConfiguration"));
	json_out_open(out, '{');
	json_out_name(out, STR("PredefinedMetricSpecification"));
	json_out_open(out, '{');
	json_out_field_string(out, "PredefinedMetricType",
			      scaling->is_write ? STR("DynamoDBWriteCapacityUtilization")
						: STR("DynamoDBReadCapacityUtilization"));
	json_out_close(out, '}');
	scaling_tracking_write(out, scaling);
	json_out_close(out, '}');
	json_out_name(out, STR("Alarms")); /* of CloudWatch, which there is not */
	json_out_open(out, '[');
	json_out_close(out, ']');
	write_time(out, scaling->policy_ms, table);
	json_out_close(out, '}');
}

static bool is_among(const struct scaling_resource_ids *list, struct str text)
{
	for (size_t i = 0; i < list->n; i++) {
		if (str_eq(list->v[i], text))
			return true;
	}
	return list->n == 0;
}

static bool is_wanted(struct arena *arena, const struct scaling_filter *filter,
		      const struct table *table, const struct scaling *scaling)
{
	const struct dimension *dimension = dimension_of(scaling);

	return (!filter->dimension || filter->dimension == dimension->constant) &&
	       is_among(&filter->resources, resource_of(arena, table, scaling)) &&
	       (!filter->has_policy ||
		(str_is_set(scaling->target) && is_among(&filter->policies, scaling->policy))) &&
	       (!str_is_set(filter->arn) ||
		str_eq(filter->arn, arn_of_target(arena, table, scaling)));
}

/* Where a page begins: with the scaling of that number of the table. */
struct start {
	struct str name; /* absent: at the first table */
	size_t number;
};

/* NextToken: "NAME/2". */
static bool read_token(struct str token, struct start *start)
{
	struct str rest = token;

	*start = (struct start){STR_ABSENT, 0};
	if (!str_is_set(token))
		return true;
	start->name = str_cut(&rest, '/');
	for (size_t i = 0; i < rest.n && rest.n < 4; i++) {
		if (rest.p[i] < '0' || rest.p[i] > '9')
			return false;
		start->number = start->number * 10 + (size_t)(rest.p[i] - '0');
	}
	return call_is_name(start->name) && rest.n > 0 && rest.n < 4;
}

static void add_table(struct call *call, const struct scaling_filter *filter, struct table *table,
		      size_t from, size_t limit, struct scaling_page *page)
{
	const struct table_settings *settings = table->settings;

	for (size_t i = from; i < settings->scaling_count; i++) {
		if (!is_wanted(call->arena, filter, table, &settings->scalings[i]))
			continue;
		if (page->n == limit) {
			page->next = str_printf(call->arena, STR_FMT "/%zu",
						STR_ARG(table->identity.name), i);
			return;
		}
		page->v[page->n].table = table;
		page->v[page->n++].scaling = &settings->scalings[i];
	}
}

static enum code add_named(struct call *call, const struct scaling_filter *filter, struct str name,
			   size_t from, size_t limit, struct scaling_page *page, struct err *err)
{
	struct err own = err_in(call->arena);
	struct table *table;
	size_t n = page->n;
	enum code code =
		catalog_get(call->service->catalog, call->ns, name, call->now_ms, &table, &own);

	if (code == ERR_RESOURCE_NOT_FOUND)
		return OK;
	if (code != OK) {
		*err = own;
		return code;
	}
	add_table(call, filter, table, from, limit, page);
	if (page->n > n)
		call_hold(call, table);
	else
		table_unref(table);
	return OK;
}

static int by_text(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* The tables of the resources that a request names, each once, in the order of their names. */
static size_t tables_of_resources(struct call *call, const struct scaling_resource_ids *resources,
				  struct str **names)
{
	size_t n = 0, kept = 0;
	struct str index;

	*names = ARENA_ARRAY(call->arena, struct str, resources->n + 1);
	for (size_t i = 0; i < resources->n; i++)
		n += split_resource(resources->v[i], &(*names)[n], &index);
	qsort(*names, n, sizeof(struct str), by_text);
	for (size_t i = 0; i < n; i++) {
		if (kept == 0 || !str_eq((*names)[kept - 1], (*names)[i]))
			(*names)[kept++] = (*names)[i];
	}
	return kept;
}

static enum code add_names(struct call *call, const struct scaling_filter *filter,
			   const struct str *names, size_t n, const struct start *start,
			   size_t limit, struct scaling_page *page, struct err *err)
{
	for (size_t i = 0; i < n && !str_is_set(page->next); i++) {
		int order = str_is_set(start->name) ? str_cmp(names[i], start->name) : 1;

		if (order < 0)
			continue;
		enum code code = add_named(call, filter, names[i], order == 0 ? start->number : 0,
					   limit, page, err);
		if (code != OK)
			return code;
	}
	return OK;
}

static enum code add_all(struct call *call, const struct scaling_filter *filter,
			 const struct start *start, size_t limit, struct scaling_page *page,
			 struct err *err)
{
	struct name_page names = {.is_more = true};
	struct str after = start->name;
	enum code code = call_refresh(call, err);

	if (code != OK)
		return code;
	if (str_is_set(start->name))
		code = add_named(call, filter, start->name, start->number, limit, page, err);
	if (code != OK)
		return code;
	while (names.is_more && !str_is_set(page->next)) {
		code = catalog_list(call->service->catalog, call->ns, after, NAMES_MAX,
				    call->now_ms, call->arena, &names, err);
		if (code != OK)
			return code;
		code = add_names(call, filter, names.v, names.n, start, limit, page, err);
		if (code != OK)
			return code;
		if (names.n > 0)
			after = names.v[names.n - 1];
	}
	return OK;
}

enum code scaling_target_page(struct call *call, const struct scaling_filter *filter,
			      struct scaling_page *out, struct err *err)
{
	size_t limit = filter->limit.is_set ? (size_t)filter->limit.value : PAGE_MAX;
	struct scaling_page page = {.next = STR_ABSENT};
	struct start start;
	struct str *names;
	enum code code;

	if (filter->limit.is_set && (filter->limit.value < 1 || filter->limit.value > PAGE_MAX))
		return err_set(err, MSG_TARGET_PAGE);
	if (!read_token(filter->token, &start))
		return err_set(err, MSG_TARGET_TOKEN);
	page.v = arena_calloc(call->arena, limit, sizeof(*page.v));
	if (filter->service && filter->service != SERVICE_NAMESPACE_DYNAMODB) {
		*out = page;
		return OK;
	}
	size_t n = tables_of_resources(call, &filter->resources, &names);
	if (filter->resources.n > 0)
		code = add_names(call, filter, names, n, &start, limit, &page, err);
	else
		code = add_all(call, filter, &start, limit, &page, err);
	return RESULT(code, out, page);
}
