#include "protocol/throughput/admission.h"

#include "protocol/insight/access.h"
#include "protocol/tables/settings.h"
#include "protocol/throttle_messages.h"
#include "protocol/throughput/throughput_internal.h"
#include "storage/item_key.h"

#define DEMANDS_MAX (1 + GLOBAL_INDEXES_MAX)

/* What one member of a request has consumed of a table or an index. */
struct demand {
	const struct index *index; /* NULL: the table */
	double units;
	struct str row_key;        /* what its key range is found by; absent: not known */
};

struct share {
	const struct table *table;
	enum meter_side side;
	const struct value *item;  /* a write's, for its rows in indexes */
	size_t n;
	struct demand demands[DEMANDS_MAX];
};

struct refusal {
	const struct table *table;
	const struct index *index; /* NULL: the table */
	enum meter_side side;
	enum meter_limit limit;    /* METER_NONE: it was admitted */
};

bool throughput_refuses(enum code code)
{
	return code == ERR_THROUGHPUT_EXCEEDED || code == ERR_THROTTLING ||
	       code == ERR_REQUEST_LIMIT_EXCEEDED;
}

/* AWS: provisioned or on demand decides the error, and account limits have their own. */
static enum code error_of(const struct refusal *refusal)
{
	if (refusal->limit == METER_ACCOUNT)
		return ERR_REQUEST_LIMIT_EXCEEDED;
	return refusal->table->settings->billing == BILLING_PROVISIONED ? ERR_THROUGHPUT_EXCEEDED
									: ERR_THROTTLING;
}

static struct str refusal_text_of(const struct refusal *refusal)
{
	if (refusal->limit == METER_ACCOUNT)
		return STR(THROTTLE_TEXT_ACCOUNT);
	if (refusal->table->settings->billing == BILLING_PROVISIONED)
		return refusal->index ? STR(THROTTLE_TEXT_INDEX) : STR(THROTTLE_TEXT_TABLE);
	if (refusal->limit == METER_ON_DEMAND_MAX)
		return STR(THROTTLE_TEXT_ON_DEMAND);
	return refusal->index && refusal->side == METER_WRITE ? STR(THROTTLE_TEXT_CAPACITY_INDEX)
							      : STR(THROTTLE_TEXT_CAPACITY);
}

static enum code refuse_throughput(const struct refusal *refusal, struct err *err)
{
	struct str arn = table_arn(err->arena, refusal->table);
	enum code code = err_default(err, error_of(refusal));

	err->message = refusal_text_of(refusal);
	err->throttle.reason = str_of(throughput_reason(
		throughput_reason_at(refusal->index != NULL, refusal->side, refusal->limit)));
	err->throttle.resource = refusal->index
					 ? str_printf(err->arena, STR_FMT "/index/" STR_FMT,
						      STR_ARG(arn), STR_ARG(refusal->index->name))
					 : arn;
	return code;
}

static void take(struct call *call, const struct throughput_taken *taken)
{
	struct throughput_call *own = throughput_call_of(call);

	meter_take(taken->gauge, taken->range, taken->place, taken->tokens, call->now_ms);
	own->taken = arena_room(call->arena, own->taken, own->n, sizeof(*own->taken));
	own->taken[own->n++] = *taken;
}

/* Where the demand is met. An item's row in an index is looked for only where the index has several
 * ranges. */
static struct throughput_taken taken_of(struct call *call, const struct share *share,
					const struct demand *demand, struct meter_gauge *gauge)
{
	struct str row_key = demand->row_key;

	if (gauge->range_count > 1 && !str_is_set(row_key) && demand->index && share->item)
		row_key = item_key_in_index(call->arena, share->table, demand->index, share->item);
	uint32_t place = meter_place_of(row_key);
	return (struct throughput_taken){gauge, meter_range_of(gauge, place), place,
					 (int64_t)(demand->units * BUCKET_UNIT + 0.5)};
}

/* All that the share has consumed, or nothing; the lock is held. */
static struct refusal admit_locked(struct call *call, const struct share *share)
{
	struct throughput_space *space = throughput_call_of(call)->space;
	const struct throughput_scope *scope =
		throughput_settings_of(&space->settings, share->table->identity.name);
	struct refusal refusal = {.table = share->table, .side = share->side, .limit = METER_NONE};
	struct throughput_taken found[DEMANDS_MAX];

	if (scope->mode == THROUGHPUT_OFF)
		return refusal;
	struct meter *meter = throughput_meter(space, share->table);

	for (size_t i = 0; i < share->n && refusal.limit == METER_NONE; i++) {
		const struct demand *demand = &share->demands[i];
		struct meter_gauge *gauge = &throughput_part(space, meter, scope, share->table,
							     demand->index, call->now_ms)
						     ->sides[share->side];

		found[i] = taken_of(call, share, demand, gauge);
		refusal.index = demand->index;
		refusal.limit = meter_refuses(gauge, found[i].range);
		if (refusal.limit != METER_NONE)
			gauge->throttled[refusal.limit]++;
	}
	for (size_t i = 0; i < share->n && refusal.limit == METER_NONE; i++)
		take(call, &found[i]);
	return refusal;
}

/* For Contributor Insights: the row that was wanted. */
static void note_throttled(struct call *call, const struct share *share,
			   const struct refusal *refusal)
{
	struct access_throttled one = {refusal->table, refusal->index, STR_ABSENT};

	for (size_t i = 0; i < share->n; i++) {
		if (share->demands[i].index == refusal->index)
			one.row_key = share->demands[i].row_key;
	}
	if (refusal->index && !str_is_set(one.row_key) && share->item)
		one.row_key =
			item_key_in_index(call->arena, share->table, refusal->index, share->item);
	access_throttled(call, &one);
}

static enum code admit_share(struct call *call, const struct share *share, struct err *err)
{
	struct throughput_space *space = throughput_call_of(call)->space;

	pthread_mutex_lock(&space->lock);
	const struct refusal refusal = admit_locked(call, share);
	pthread_mutex_unlock(&space->lock);
	if (refusal.limit == METER_NONE)
		return OK;
	note_throttled(call, share, &refusal);
	atomic_fetch_add(&call->service->throughput->throttled[throughput_reason_at(
				 refusal.index != NULL, refusal.side, refusal.limit)],
			 1);
	return refuse_throughput(&refusal, err);
}

/* Gives back what the call took since. */
static void give_back_shares(struct call *call, size_t mark)
{
	struct throughput_call *own = throughput_call_of(call);

	pthread_mutex_lock(&own->space->lock);
	for (; own->n > mark; own->n--) {
		const struct throughput_taken *taken = &own->taken[own->n - 1];

		meter_give_back(taken->gauge, taken->range, taken->tokens);
	}
	pthread_mutex_unlock(&own->space->lock);
}

static double units_of(struct units units, enum meter_side side)
{
	return side == METER_READ ? units.read : units.write;
}

/* A local index consumes what its table has. AWS: Developer Guide, "Local secondary indexes",
 * "Provisioned throughput considerations". */
static struct share share_of_cost(const struct cost *cost, enum meter_side side, struct str row_key)
{
	const struct table *table = cost->table;
	struct share share = {.table = table, .side = side};
	double units = units_of(cost->base, side);

	for (size_t i = 0; i < table->indexes.n; i++)
		units += table->indexes.v[i].is_local ? units_of(cost->index[i], side) : 0;
	if (units > 0)
		share.demands[share.n++] = (struct demand){NULL, units, row_key};
	for (size_t i = 0; i < table->indexes.n; i++) {
		const struct index *index = &table->indexes.v[i];

		if (!index->is_local && units_of(cost->index[i], side) > 0)
			share.demands[share.n++] =
				(struct demand){index, units_of(cost->index[i], side),
						side == METER_READ ? row_key : STR_ABSENT};
	}
	return share;
}

static struct share share_of_write(const struct write *write)
{
	struct share share = share_of_cost(&write->cost, METER_WRITE, write->row_key);

	share.item = value_is_set(&write->new_item)   ? &write->new_item
		     : value_is_set(&write->old_item) ? &write->old_item
						      : NULL;
	return share;
}

struct asking {
	struct call *call;
	size_t mark; /* what the call took before */
	enum write_mode mode;
};

/* The reasons of a transaction: those that it had, and in their place those of members that are
 * throttled. */
static struct err *reasons_of(struct call *call, const struct err *err, enum code code, size_t n)
{
	struct err *reasons = ARENA_ARRAY(call->arena, struct err, n);

	for (size_t i = 0; i < n; i++)
		reasons[i] = code == ERR_TRANSACTION_CANCELED && i < err->reason_count
				     ? err->reasons[i]
				     : err_in(call->arena);
	return reasons;
}

static enum code ask_for_writes(void *context, const struct write *writes, size_t n, enum code code,
				struct err *err)
{
	const struct asking *asking = context;
	struct call *call = asking->call;
	struct err *reasons =
		asking->mode == WRITE_TRANSACTION ? reasons_of(call, err, code, n) : NULL;
	bool is_refused = false;

	give_back_shares(call, asking->mark); /* the transaction runs again */
	for (size_t i = 0; i < n; i++) {
		struct share share = share_of_write(&writes[i]);
		struct err own = err_in(call->arena);

		if (admit_share(call, &share, &own) == OK)
			continue;
		is_refused = true;
		if (reasons)
			reasons[i] = own;
		else
			*err = own;
	}
	if (!is_refused)
		return code;
	give_back_shares(call, asking->mark);
	return reasons ? write_canceled(reasons, n, err) : err->code;
}

const struct write_admission *throughput_admission(struct call *call, enum write_mode mode)
{
	struct asking *asking = ARENA_NEW(call->arena, struct asking);
	struct write_admission *admission = ARENA_NEW(call->arena, struct write_admission);

	*asking = (struct asking){call, throughput_call_of(call)->n, mode};
	*admission = (struct write_admission){ask_for_writes, asking};
	return admission;
}

enum code throughput_admit_read(struct call *call, const struct read_item *read, struct err *err)
{
	struct share share = share_of_cost(&read->cost, METER_READ, read->row_key);

	return admit_share(call, &share, err);
}

enum code throughput_admit_reads(struct call *call, const struct read_item *reads, size_t n,
				 struct err *err)
{
	struct err *reasons = ARENA_ARRAY(call->arena, struct err, n);
	size_t mark = throughput_call_of(call)->n;
	bool is_refused = false;

	for (size_t i = 0; i < n; i++) {
		reasons[i] = err_in(call->arena);
		is_refused =
			throughput_admit_read(call, &reads[i], &reasons[i]) != OK || is_refused;
	}
	if (!is_refused)
		return OK;
	give_back_shares(call, mark);
	return write_canceled(reasons, n, err);
}

/* The first row key of a page: of a Query its partition's, of a Scan where it begins. */
static struct str row_key_of(struct arena *arena, const struct read_page *page)
{
	struct buf begin = buf_in(arena);

	if (page->keys && str_is_set(page->keys->partition))
		return page->keys->partition;
	if (str_is_set(page->start_after) || page->segments == 0)
		return page->start_after;
	buf_add_be32(&begin,
		     (uint32_t)(((uint64_t)page->segment << (8 * KEY_HASH_SIZE)) / page->segments));
	return buf_str(&begin);
}

enum code throughput_admit_page(struct call *call, const struct read_page *page, struct err *err)
{
	struct share share =
		share_of_cost(&page->found.cost, METER_READ, row_key_of(call->arena, page));

	return admit_share(call, &share, err);
}
