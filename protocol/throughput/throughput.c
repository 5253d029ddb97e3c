#include <stdlib.h>

#include "protocol/ops.h"
#include "protocol/tables/settings.h"
#include "protocol/throttle_messages.h"
#include "protocol/throughput/messages.h"
#include "protocol/throughput/throughput_internal.h"

static const struct {
	enum op_id operation;
	int64_t times, seconds;
} rates[THROUGHPUT_RATES] = {
#define RATE(service, operation, times, seconds) \
	[RATE_##service##_##operation] = {OP_##operation, times, seconds},
#include "protocol/throughput/rates.def"
#undef RATE
};

/* AWS: API Reference, ThrottlingReason: what, how, and by which limit. In the order of
 * throughput_reason_at(). */
static const char *const reasons[THROUGHPUT_REASONS] = {
	"TableReadProvisionedThroughputExceeded",  "TableReadKeyRangeThroughputExceeded",
	"TableReadMaxOnDemandThroughputExceeded",  "TableReadAccountLimitExceeded",
	"TableWriteProvisionedThroughputExceeded", "TableWriteKeyRangeThroughputExceeded",
	"TableWriteMaxOnDemandThroughputExceeded", "TableWriteAccountLimitExceeded",
	"IndexReadProvisionedThroughputExceeded",  "IndexReadKeyRangeThroughputExceeded",
	"IndexReadMaxOnDemandThroughputExceeded",  "IndexReadAccountLimitExceeded",
	"IndexWriteProvisionedThroughputExceeded", "IndexWriteKeyRangeThroughputExceeded",
	"IndexWriteMaxOnDemandThroughputExceeded", "IndexWriteAccountLimitExceeded",
};

size_t throughput_reason_at(bool is_index, enum meter_side side, enum meter_limit limit)
{
	return ((size_t)is_index * METER_SIDES + side) * METER_LIMITS + limit;
}

const char *throughput_reason(size_t i)
{
	return reasons[i];
}

static struct throughput_space *space_new(struct throughput_settings settings)
{
	struct throughput_space *space = arena_checked(calloc(1, sizeof(*space)));

	atomic_init(&space->refs, 1);
	space->settings = settings;
	pthread_mutex_init(&space->lock, NULL);
	return space;
}

static void *ref(void *value)
{
	struct throughput_space *space = value;

	atomic_fetch_add(&space->refs, 1);
	return space;
}

static void unref_space(void *value)
{
	struct throughput_space *space = value;

	if (!space || atomic_fetch_sub(&space->refs, 1) > 1)
		return;
	for (size_t i = 0; i < space->n; i++)
		meter_free(space->meters[i]);
	free(space->meters);
	pthread_mutex_destroy(&space->lock);
	throughput_settings_free(&space->settings);
	free(space);
}

struct throughput_limits *throughput_new(bool is_shared)
{
	struct throughput_limits *throughput = arena_checked(calloc(1, sizeof(*throughput)));

	ns_map_init(&throughput->spaces, is_shared, ref, unref_space);
	pthread_mutex_init(&throughput->adding, NULL);
	return throughput;
}

void throughput_free(struct throughput_limits *throughput)
{
	if (!throughput)
		return;
	ns_map_free(&throughput->spaces);
	pthread_mutex_destroy(&throughput->adding);
	free(throughput);
}

void throughput_enforce(struct throughput_limits *throughput)
{
	atomic_store(&throughput->is_enforced, true);
}

bool throughput_is_on(const struct throughput_limits *throughput)
{
	return throughput && (ns_map_count(&throughput->spaces) > 0 ||
			      atomic_load_explicit(&throughput->is_enforced, memory_order_relaxed));
}

static enum throughput_mode mode_of(const struct throughput_limits *throughput)
{
	return atomic_load(&throughput->is_enforced) ? THROUGHPUT_ENFORCE : THROUGHPUT_OFF;
}

enum code throughput_set(struct throughput_limits *throughput, struct ns ns, struct str body,
			 struct err *err)
{
	struct throughput_settings settings;

	if (!ns_map_takes(&throughput->spaces, ns))
		return err_set(err, MSG_THROUGHPUT_NAMESPACE, STR_ARG(ns.account),
			       STR_ARG(ns.region));
	enum code code = throughput_settings_read(body, mode_of(throughput), &settings, err);
	if (code != OK)
		return code;
	struct throughput_space *space = space_new(settings);
	if (ns_map_put(&throughput->spaces, ns, space, THROUGHPUT_NAMESPACES_MAX))
		return OK;
	unref_space(space);
	return err_set(err, MSG_THROUGHPUT_NAMESPACES, THROUGHPUT_NAMESPACES_MAX);
}

void throughput_clear(struct throughput_limits *throughput, const struct ns *ns)
{
	ns_map_clear(&throughput->spaces, ns);
}

bool throughput_throttled(const struct throughput_limits *throughput, size_t i, const char **reason,
			  uint64_t *n)
{
	if (i > THROUGHPUT_REASONS)
		return false;
	*reason = i < THROUGHPUT_REASONS ? reasons[i] : "RequestRate";
	*n = atomic_load(i < THROUGHPUT_REASONS ? &throughput->throttled[i]
						: &throughput->rates_throttled);
	return true;
}

/* With a reference, or NULL: a namespace that nobody has set gets its buckets with its first
 * request, where the option says so. */
static struct throughput_space *find_or_add_space(struct throughput_limits *throughput,
						  struct ns ns)
{
	struct throughput_space *space = ns_map_find(&throughput->spaces, ns);

	if (space || !atomic_load(&throughput->is_enforced) ||
	    !ns_map_takes(&throughput->spaces, ns))
		return space;
	pthread_mutex_lock(&throughput->adding);
	space = ns_map_find(&throughput->spaces, ns);
	if (!space) {
		space = space_new(throughput_settings_default(THROUGHPUT_ENFORCE));
		if (ns_map_put(&throughput->spaces, ns, space, THROUGHPUT_NAMESPACES_MAX)) {
			ref(space);
		} else {
			unref_space(space);
			space = NULL;
		}
	}
	pthread_mutex_unlock(&throughput->adding);
	return space;
}

/* Whether the operation may be called once more. */
static bool is_in_rate(struct throughput_space *space, enum op_id operation, int64_t now_ms)
{
	size_t i = 0;

	while (i < THROUGHPUT_RATES && rates[i].operation != operation)
		i++;
	if (i == THROUGHPUT_RATES || space->settings.all.mode == THROUGHPUT_OFF)
		return true;
	struct bucket *bucket = &space->rates[i];
	int64_t cost = rates[i].seconds * BUCKET_UNIT *
		       space->settings.all.rules
			       .servers; /* at a rate of `times`: so many in so many seconds */

	pthread_mutex_lock(&space->lock);
	if (bucket->capacity == 0)
		*bucket = bucket_full(rates[i].times, rates[i].seconds, now_ms);
	bucket_pass(bucket, now_ms);
	bool is_in = bucket->left >= cost || bucket->left == bucket->capacity;
	if (is_in)
		bucket_take(bucket, cost);
	pthread_mutex_unlock(&space->lock);
	return is_in;
}

enum code throughput_begin(struct throughput_limits *throughput, struct call *call,
			   enum op_id operation, struct err *err)
{
	struct throughput_space *space = find_or_add_space(throughput, call->ns);

	if (!space)
		return OK;
	if (!is_in_rate(space, operation, call->now_ms)) {
		unref_space(space);
		atomic_fetch_add(&throughput->rates_throttled, 1);
		return err_set(err, MSG_THROTTLE_RATE);
	}
	pthread_mutex_lock(&space->lock);
	space->calls++;
	pthread_mutex_unlock(&space->lock);
	struct throughput_call *own = ARENA_NEW(call->arena, struct throughput_call);
	own->space = space;
	call->hooks[HOOK_THROUGHPUT] = own;
	return OK;
}

void throughput_again(struct call *call)
{
	struct throughput_call *own = throughput_call_of(call);

	if (!own)
		return;
	pthread_mutex_lock(&own->space->lock);
	while (own->n > 0) {
		own->n--;
		meter_give_back(own->taken[own->n].gauge, own->taken[own->n].range,
				own->taken[own->n].tokens);
	}
	pthread_mutex_unlock(&own->space->lock);
}

void throughput_end(struct call *call, enum code code)
{
	struct throughput_space *space = throughput_call_of(call)->space;
	bool is_billed = code == OK || code == ERR_CONDITIONAL_CHECK_FAILED ||
			 code == ERR_DUPLICATE_ITEM || code == ERR_TRANSACTION_CANCELED;

	if (!is_billed)
		throughput_again(call);
	pthread_mutex_lock(&space->lock);
	space->calls--;
	pthread_mutex_unlock(&space->lock);
	unref_space(space);
	call->hooks[HOOK_THROUGHPUT] = NULL;
}

/* Where the meter of that table is or would be. */
static size_t position_in_table(const struct throughput_space *space, uint64_t table)
{
	size_t low = 0, high = space->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (space->meters[middle]->table < table)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void remove_at(struct throughput_space *space, size_t at)
{
	meter_free(space->meters[at]);
	space->n--;
	memmove(space->meters + at, space->meters + at + 1,
		(space->n - at) * sizeof(struct meter *));
}

/* Makes room where there are too many: of tables that are gone, mostly. Not while another call
 * points into one. */
static void remove_oldest(struct throughput_space *space)
{
	size_t oldest = 0;

	if (space->n < THROUGHPUT_TABLES_MAX || space->calls > 1)
		return;
	for (size_t i = 1; i < space->n; i++)
		oldest = space->meters[i]->used < space->meters[oldest]->used ? i : oldest;
	remove_at(space, oldest);
}

struct meter *throughput_meter(struct throughput_space *space, const struct table *table)
{
	size_t at = position_in_table(space, table->identity.number);

	if (at == space->n || space->meters[at]->table != table->identity.number) {
		remove_oldest(space);
		at = position_in_table(space, table->identity.number);
		space->meters = arena_checked(
			realloc(space->meters, (space->n + 1) * sizeof(struct meter *)));
		memmove(space->meters + at + 1, space->meters + at,
			(space->n - at) * sizeof(struct meter *));
		space->meters[at] = meter_new(table);
		space->n++;
	}
	space->meters[at]->used = ++space->uses;
	return space->meters[at];
}

struct meter_part *throughput_part(struct throughput_space *space, struct meter *meter,
				   const struct throughput_scope *scope, const struct table *table,
				   const struct index *index, int64_t now_ms)
{
	struct meter_rules rules = scope->rules;
	bool is_new;

	rules.servers = space->settings.all.rules.servers;
	struct meter_part *part = meter_part(meter, table, index, &rules, now_ms, &is_new);
	const struct throughput_left *left =
		is_new ? throughput_settings_left(scope, index ? index->name : STR_ABSENT) : NULL;
	for (enum meter_side side = 0; left && side < METER_SIDES; side++) {
		if (left->units[side] >= 0)
			meter_leave(&part->sides[side], left->units[side]);
	}
	return part;
}

static void write_gauge(struct json_out *out, const char *name, const struct meter_gauge *gauge)
{
	static const char *const limits[METER_LIMITS] = {
		[METER_PROVISIONED] = "ProvisionedThroughputExceeded",
		[METER_KEY_RANGE] = "KeyRangeThroughputExceeded",
		[METER_ON_DEMAND_MAX] = "MaxOnDemandThroughputExceeded",
		[METER_ACCOUNT] = "AccountLimitExceeded",
	};
	const struct bucket *bucket = gauge->has_most && gauge->most.left < gauge->whole.left
					      ? &gauge->most
					      : &gauge->whole;
	double unit = (double)BUCKET_UNIT * (double)gauge->cost_factor;

	json_out_name(out, str_of(name));
	json_out_open(out, '{');
	json_out_field_integer(out, "rate", bucket->rate);
	json_out_name(out, STR("left"));
	json_out_units(out, (double)bucket->left / unit);
	json_out_name(out, STR("capacity"));
	json_out_units(out, (double)bucket->capacity / unit);
	json_out_name(out, STR("consumed"));
	json_out_units(out, (double)gauge->consumed / BUCKET_UNIT);
	json_out_field_integer(out, "ranges", (int64_t)gauge->range_count);
	json_out_name(out, STR("throttled"));
	json_out_open(out, '{');
	for (enum meter_limit limit = 0; limit < METER_LIMITS; limit++) {
		if (gauge->throttled[limit] == 0)
			continue;
		json_out_name(out, str_of(limits[limit]));
		json_out_integer(out, (int64_t)gauge->throttled[limit]);
	}
	json_out_close(out, '}');
	json_out_close(out, '}');
}

static void write_part(struct json_out *out, const struct meter_part *part)
{
	write_gauge(out, "read", &part->sides[METER_READ]);
	write_gauge(out, "write", &part->sides[METER_WRITE]);
}

/* Of one table; the lock is held. */
static void write_table(struct throughput_space *space, const struct table *table, int64_t now_ms,
			struct json_out *out)
{
	const struct throughput_scope *scope =
		throughput_settings_of(&space->settings, table->identity.name);
	struct meter *meter = throughput_meter(space, table);

	json_out_name(out, table->identity.name);
	json_out_open(out, '{');
	throughput_settings_write(scope, out);
	json_out_field_string(out, "billing",
			      table->settings->billing == BILLING_PROVISIONED
				      ? STR("PROVISIONED")
				      : STR("PAY_PER_REQUEST"));
	write_part(out, throughput_part(space, meter, scope, table, NULL, now_ms));
	json_out_name(out, STR("indexes"));
	json_out_open(out, '{');
	for (size_t i = 0; i < table->indexes.n; i++) {
		const struct index *index = &table->indexes.v[i];

		if (index->is_local || !index_is_kept(index))
			continue;
		json_out_name(out, index->name);
		json_out_open(out, '{');
		write_part(out, throughput_part(space, meter, scope, table, index, now_ms));
		json_out_close(out, '}');
	}
	json_out_close(out, '}');
	json_out_close(out, '}');
}

/* The names of tables to show: those that the settings name, and those that were used. */
static struct str *shown_gauge(struct throughput_space *space, struct arena *arena, size_t *n)
{
	pthread_mutex_lock(&space->lock);
	struct str *names = ARENA_ARRAY(arena, struct str, space->n + space->settings.n);

	*n = 0;
	for (size_t i = 0; i < space->settings.n; i++)
		names[(*n)++] = str_copy(arena, space->settings.tables[i].table);
	for (size_t i = 0; i < space->n; i++) {
		if (throughput_settings_of(&space->settings, space->meters[i]->name) ==
		    &space->settings.all)
			names[(*n)++] = str_copy(arena, space->meters[i]->name);
	}
	pthread_mutex_unlock(&space->lock);
	qsort(names, *n, sizeof(*names), str_order);
	return names;
}

static enum code write_tables(const struct service *service, struct arena *arena, struct ns ns,
			      struct throughput_space *space, struct json_out *out, struct err *err)
{
	int64_t now_ms = service->now_ms(service->clock_context, ns);
	size_t n;
	const struct str *names = shown_gauge(space, arena, &n);

	for (size_t i = 0; i < n; i++) {
		struct table *table;

		if (i > 0 &&
		    str_eq(names[i], names[i - 1])) /* a table that is gone has had the name */
			continue;
		enum code code = catalog_get(service->catalog, ns, names[i], now_ms, &table, err);
		if (code == ERR_RESOURCE_NOT_FOUND)
			continue;
		if (code != OK)
			return code;
		pthread_mutex_lock(&space->lock);
		space->calls++;
		write_table(space, table, now_ms, out);
		space->calls--;
		pthread_mutex_unlock(&space->lock);
		table_unref(table);
	}
	return OK;
}

enum code throughput_describe(const struct service *service, struct arena *arena, struct ns ns,
			      struct str *text, struct err *err)
{
	struct throughput_limits *throughput = service->throughput;
	struct throughput_space *space = ns_map_find(&throughput->spaces, ns);
	const struct throughput_settings settings =
		throughput_settings_default(mode_of(throughput));
	struct json_out out = json_out_in(arena);
	enum code code = OK;

	json_out_open(&out, '{');
	throughput_settings_write(space ? &space->settings.all : &settings.all, &out);
	json_out_name(&out, STR("tables"));
	json_out_open(&out, '{');
	if (space)
		code = write_tables(service, arena, ns, space, &out, err);
	json_out_close(&out, '}');
	json_out_close(&out, '}');
	unref_space(space);
	return RESULT(code, text, json_out_str(&out));
}
