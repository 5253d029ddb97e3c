/* Global tables in the storage room: random writes, lags, cuts and clocks against a naive model;
 * filling; what a write asks the store for. */
#include "tests/unit/storage/data_fixture.h"

#include <stdio.h>
#include <stdlib.h>

#include "storage/schema/currency.h"
#include "storage/upkeep/backfill.h"
#include "storage/upkeep/replica.h"
#include "tests/unit/storage/optimistic_store.h"

#define REGIONS 3
#define ITEMS 5
#define STEPS 1500
#define KEPT_MS 5

static const struct str names[REGIONS] = {STR_INIT("ap-south-1"), STR_INIT("eu-west-1"),
					  STR_INIT("us-east-1")};

static unsigned long long seed = 42;

static unsigned below(unsigned n)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(seed >> 33) % n;
}

static struct ns ns_of(size_t region)
{
	return (struct ns){STR("000000000000"), names[region]};
}

/* A group of `n` regions with the table of data_table; its items, if it has any, are those of the
 * first. */
static void begin_group(struct data *data, size_t n, bool is_strong)
{
	struct table *table, *first = data_table("data");
	struct catalog_change changes[REGIONS];

	CHECK_INT(catalog_create(data->catalog, ns_of(0), first, 1000, &table, &data->err), OK);
	struct table *next = table_clone(table);
	next->group =
		(struct table_group){.id = STR("group"), .is_strong = is_strong, .added_ms = 1};
	for (size_t i = 0; i < n; i++) {
		struct table *own = i == 0 ? next : table_clone_apart(next);

		own->identity.region = names[i];
		own->group.n = 0;
		own->group.v = ARENA_ARRAY(own->arena, struct group_member, n);
		for (size_t k = 0; k < n; k++) {
			if (k != i)
				own->group.v[own->group.n++] = (struct group_member){
					.region = names[k], .source = STR_ABSENT};
		}
		changes[i] = (struct catalog_change){
			.current = i == 0 ? table : NULL, .next = own, .now_ms = 1000};
	}
	CHECK_INT(catalog_change_all(data->catalog, changes, n, &data->err), OK);
	table_unref(table);
}

static struct table *table_in(struct data *data, size_t region)
{
	struct table *table;

	CHECK_INT(catalog_get(data->catalog, ns_of(region), STR("data"), 1, &table, &data->err),
		  OK);
	return table;
}

/* Where it is what time, for replica_step. */
static bool tell(void *context, struct ns ns, int64_t *now_ms)
{
	for (size_t i = 0; i < REGIONS; i++) {
		if (str_eq(names[i], ns.region))
			*now_ms = ((int64_t *)context)[i];
	}
	return true;
}

struct copy {
	int value; /* 0: there is none */
	int64_t ms;
	int region; /* -1: no change is known */
};

struct change {
	size_t from, to, item;
	struct copy copy;
	int64_t written_ms;
	bool is_done;
};

struct model {
	int64_t now[REGIONS];
	struct copy copies[REGIONS][ITEMS];
	size_t n;
	struct change queue[STEPS * REGIONS];
	struct links links;
	struct links_cut cuts[REGIONS];
};

static bool is_later(const struct copy *a, const struct copy *b)
{
	return b->region < 0 || a->ms > b->ms || (a->ms == b->ms && a->region > b->region);
}

static bool reach(const struct model *model, size_t a, size_t b)
{
	for (size_t i = 0; i < model->links.n; i++) {
		if ((str_eq(model->cuts[i].a, names[a]) && str_eq(model->cuts[i].b, names[b])) ||
		    (str_eq(model->cuts[i].a, names[b]) && str_eq(model->cuts[i].b, names[a])))
			return false;
	}
	return true;
}

static const char *key_of(struct data *data, size_t item)
{
	return str_printf(data->arena, "Sk%zu", item).p;
}

static const struct value *item_of(struct data *data, size_t item, int value)
{
	const char *text = str_printf(data->arena, "N%d", value).p,
		   *g = str_printf(data->arena, "Sg%d", value % 3).p;

	return data_item(data, "pk", key_of(data, item), "sk", "N1", "l", text, "g", g, "h", "Sh",
			 "v", text, NULL);
}

/* A client's write, in the store and in the model. */
static void write_item(struct data *data, struct model *model, size_t region, size_t item,
		       int value)
{
	struct table *table = table_in(data, region);
	struct write write = {.table = table, .kind = value ? WRITE_PUT : WRITE_DELETE};
	const struct copy *known = &model->copies[region][item];
	struct copy copy = {value, model->now[region], (int)region};
	bool has_effect = value || known->value;

	if (value)
		write.item = item_of(data, item, value);
	else
		write.key = data_item(data, "pk", key_of(data, item), "sk", "N1", NULL);
	CHECK_INT(write_prepare(data->arena, &write, &data->err), OK);
	CHECK_INT(write_run(data->catalog, data->arena, &write, 1, WRITE_ALONE, NULL,
			    model->now[region], &data->err),
		  OK);
	table_unref(table);
	if (!has_effect)
		return;
	if (known->region >= 0 && known->ms >= copy.ms)
		copy.ms = known->ms + 1;
	model->copies[region][item] = copy;
	for (size_t to = 0; to < REGIONS; to++) {
		if (to == region)
			continue;
		if (model->links.lag_ms > 0 || !reach(model, region, to))
			model->queue[model->n++] =
				(struct change){region, to, item, copy, model->now[region], false};
		else if (is_later(&copy, &model->copies[to][item]))
			model->copies[to][item] = copy;
	}
}

static void deliver(struct data *data, struct model *model)
{
	const struct times times = {.tell = tell, .context = model->now};
	struct replica_work work = {.is_more = true};

	while (work.is_more)
		CHECK_INT(replica_step(data->catalog, &times, NULL, &work, &data->err), OK);
	for (size_t i = 0; i < model->n; i++) {
		struct change *change = &model->queue[i];

		if (change->is_done || !reach(model, change->from, change->to) ||
		    (model->links.lag_ms > 0 &&
		     change->written_ms + model->links.lag_ms > model->now[change->from]))
			continue;
		change->is_done = true;
		if (is_later(&change->copy, &model->copies[change->to][change->item]))
			model->copies[change->to][change->item] = change->copy;
	}
}

/* When the oldest change was made that waits in a queue. */
static int64_t oldest(const struct model *model)
{
	int64_t ms = INT64_MAX;

	for (size_t i = 0; i < model->n; i++) {
		if (!model->queue[i].is_done && model->queue[i].written_ms < ms)
			ms = model->queue[i].written_ms;
	}
	return ms;
}

/* Deleted everywhere by one change, or not known there. */
static bool is_forgettable(const struct model *model, size_t region, size_t item)
{
	const struct copy *own = &model->copies[region][item];

	if (own->value || own->region < 0 || own->ms >= oldest(model) ||
	    own->ms >= model->now[region] - KEPT_MS)
		return false;
	for (size_t r = 0; r < REGIONS; r++) {
		const struct copy *other = &model->copies[r][item];

		if (other->region >= 0 &&
		    (other->value || other->ms != own->ms || other->region != own->region))
			return false;
	}
	return true;
}

/* In the store and in the model; how many items. */
static size_t forget(struct data *data, struct model *model)
{
	const struct times times = {.tell = tell, .context = model->now};
	bool more = true;
	size_t n = 0;

	while (more)
		CHECK_INT(replica_forget(data->catalog, &times, KEPT_MS, &more, &data->err), OK);
	for (size_t region = 0; region < REGIONS; region++) {
		for (size_t item = 0; item < ITEMS; item++) {
			if (!is_forgettable(model, region, item))
				continue;
			for (size_t r = 0; r < REGIONS; r++)
				model->copies[r][item] = (struct copy){.region = -1};
			n++;
		}
	}
	return n;
}

/* The rows of stamps are those that the model has, and those of deleted items a second time. */
static void check_stamps(struct data *data, const struct model *model, size_t region)
{
	const struct store_range all = {STR("i"), STR("u"), false};
	struct table *table = table_in(data, region);
	struct store_range queued = replication_queue_all(data->arena);
	struct store_page page, queue;
	struct store_txn *txn;
	size_t n = 0;

	CHECK_INT(store_begin(data->store, STORE_READ, &txn, &data->err), OK);
	CHECK_INT(store_page(txn, table_replication(table), &all,
			     (struct store_bounds){10 * STEPS, 1 << 24}, data->arena, &page,
			     &data->err),
		  OK);
	CHECK_INT(store_page(txn, table_replication(table), &queued,
			     (struct store_bounds){10 * STEPS, 1 << 24}, data->arena, &queue,
			     &data->err),
		  OK);
	store_abort(txn);
	for (size_t item = 0; item < ITEMS; item++) {
		const struct copy *copy = &model->copies[region][item];

		n += copy->region >= 0 ? copy->value ? 1 : 2 : 0;
	}
	CHECK_INT(page.n - queue.n, n);
	table_unref(table);
}

static void set_links(struct data *data, struct model *model, int64_t lag_ms, unsigned cuts)
{
	model->links = (struct links){.has_lag = lag_ms > 0, .lag_ms = lag_ms, .cuts = model->cuts};
	for (size_t i = 0; i < REGIONS; i++) {
		if (cuts & 1u << i)
			model->cuts[model->links.n++] =
				(struct links_cut){names[i], names[(i + 1) % REGIONS]};
	}
	CHECK_INT(replica_set_links(data->catalog, STR("000000000000"), &model->links, &data->err),
		  OK);
}

static void check_region(struct data *data, const struct model *model, size_t region)
{
	struct data own = *data;
	size_t n = 0;

	own.table = table_in(data, region);
	for (size_t item = 0; item < ITEMS; item++) {
		int value = model->copies[region][item].value;
		struct str image =
			data_get(&own, data_item(&own, "pk", key_of(&own, item), "sk", "N1", NULL));

		CHECK(str_is_set(image) == (value != 0) &&
		      (!value || data_is(&own, image, item_of(&own, item, value))));
		n += value != 0;
	}
	for (size_t i = 0; i < own.table->indexes.n; i++)
		CHECK_INT(data_rows(&own, &own.table->indexes.v[i]).n, n);
	table_unref(own.table);
}

static size_t meet_and_forget(struct data *data, struct model *model, bool are_met)
{
	if (are_met) {
		set_links(data, model, 0, 0);
		deliver(data, model);
	}
	return forget(data, model);
}

TEST(random_schedules_converge)
{
	static struct model model;
	struct data data = data_open(NULL);
	struct replica_queue *queues;
	size_t n, forgotten = 0;

	begin_group(&data, REGIONS, false);
	memset(&model, 0, sizeof(model));
	for (size_t r = 0; r < REGIONS; r++) {
		model.now[r] = 100000;
		for (size_t i = 0; i < ITEMS; i++)
			model.copies[r][i].region = -1;
	}
	set_links(&data, &model, 0, 0);
	for (int step = 1; step <= STEPS; step++) {
		unsigned what = below(100);
		size_t region = below(REGIONS);

		model.now[region] +=
			below(20) -
			(below(10) == 0 ? below(300) : 0); /* some clocks are turned back */
		if (what < 60)
			write_item(&data, &model, region, below(ITEMS), step);
		else if (what < 85)
			write_item(&data, &model, region, below(ITEMS), 0);
		else if (what < 88)
			forgotten += meet_and_forget(&data, &model, below(2));
		else if (what < 92)
			set_links(&data, &model, below(2) ? 0 : below(200), below(8));
		else
			deliver(&data, &model);
		for (size_t r = 0; r < REGIONS && step % 10 == 0; r++) {
			check_region(&data, &model, r);
			check_stamps(&data, &model, r);
		}
		if (step % 50 == 0) {
			arena_reset(data.arena);
			data.err = err_in(data.arena);
		}
	}
	set_links(&data, &model, 0, 0);
	deliver(&data, &model);
	for (size_t r = 0; r < REGIONS; r++) {
		check_region(&data, &model, r);
		for (size_t i = 0; i < ITEMS; i++)
			CHECK_INT(model.copies[r][i].value, model.copies[0][i].value);
	}
	CHECK_INT(replica_queues(data.catalog, data.arena, STR("000000000000"), &model.links,
				 &queues, &n, &data.err),
		  OK);
	CHECK_INT(n, 0);
	CHECK(forgotten > 10);
	for (size_t r = 0; r < REGIONS; r++)
		model.now[r] += 1000;
	(void)forget(&data, &model);
	for (size_t r = 0; r < REGIONS; r++)
		check_stamps(&data, &model, r);
	data_free(&data);
}

/* A table of one region asks for no row of replication. */
TEST(a_table_of_one_region_pays_nothing)
{
	struct data data = data_new();
	struct keyspace keyspace = table_replication(data.table);

	CHECK_INT(data_put(&data, data_item(&data, "pk", "Sa", "sk", "N1", NULL)), OK);
	for (int call = 0; call < TRACE_CALL_COUNT; call++)
		CHECK_INT(trace_store_count_in(data.store, (enum trace_call)call, keyspace), 0);
	data_free(&data);
}

/* Items of before, changes meanwhile, a piece of the filling at a time. */
TEST(a_replica_is_filled_in_pieces)
{
	struct data data = data_open(&(struct catalog_options){.fill_max = 3});
	static struct model model;
	struct table *table, *replica;
	bool more = true;

	memset(&model, 0, sizeof(model));
	CHECK_INT(catalog_create(data.catalog, ns_of(0), data_table("data"), 1000, &data.table,
				 &data.err),
		  OK);
	for (size_t i = 0; i < 20; i++)
		CHECK_INT(data_put(&data, data_item(&data, "pk", key_of(&data, i), "sk", "N1", "g",
						    "Sg", "h", "Sh", NULL)),
			  OK);
	struct table *next = table_clone(data.table), *new = table_clone_apart(data.table);
	next->group = (struct table_group){
		.id = STR("group"),
		.n = 1,
		.v = &(struct group_member){.region = names[1], .source = names[0]}};
	new->group = (struct table_group){.id = STR("group"),
					  .filling = names[0],
					  .source = names[0],
					  .n = 1,
					  .v = &(struct group_member){.region = names[0]}};
	new->identity.region = names[1];
	new->state.settles_ms = INT64_MAX;
	struct catalog_change changes[] = {{.current = data.table, .next = next, .now_ms = 1000},
					   {.next = new, .now_ms = 1000}};
	CHECK_INT(catalog_change_all(data.catalog, changes, 2, &data.err), OK);
	for (int pieces = 0; more; pieces++) {
		table = table_in(&data, 0);
		if (pieces == 2) { /* one that was not copied yet is changed, one deleted; one that
				      was, too */
			for (size_t i = 0; i < 20; i += 5) {
				struct write write = {.table = table,
						      .kind = i % 10 ? WRITE_DELETE : WRITE_PUT};

				write.item = write.key =
					data_item(&data, "pk", key_of(&data, i), "sk", "N1", NULL);
				if (i % 10 == 0)
					write.item = data_item(&data, "pk", key_of(&data, i), "sk",
							       "N1", "new", "S1", NULL);
				CHECK_INT(write_prepare(data.arena, &write, &data.err), OK);
				CHECK_INT(write_run(data.catalog, data.arena, &write, 1,
						    WRITE_ALONE, NULL, 2000, &data.err),
					  OK);
			}
		}
		table_unref(table);
		replica = table_in(&data, 1);
		CHECK_INT(replica->state.status, STATUS_CREATING);
		CHECK_INT(replica_fill(data.catalog, replica, 3, 2000, &more, &data.err), OK);
		table_unref(replica);
		CHECK(pieces < 20);
	}
	replica = table_in(&data, 1);
	CHECK(replica->state.status == STATUS_ACTIVE && !str_is_set(replica->group.filling));
	struct data own = data;
	own.table = replica;
	CHECK_INT(data_rows(&own, NULL).n, 18);
	CHECK_INT(data_rows(&own, &replica->indexes.v[ALL]).n, 16);
	for (size_t i = 0; i < 20; i++) {
		struct str here =
			data_get(&own, data_item(&data, "pk", key_of(&data, i), "sk", "N1", NULL));

		CHECK(str_is_set(here) == (i % 10 != 5));
		CHECK(i % 10 || data_is(&data, here,
					data_item(&data, "pk", key_of(&data, i), "sk", "N1", "new",
						  "S1", NULL)));
	}
	table_unref(own.table);
	data_free(&data);
}

static enum code put_at(struct data *data, size_t region, int64_t now_ms)
{
	struct table *table = table_in(data, region);
	struct write write = {.table = table,
			      .kind = WRITE_PUT,
			      .item = data_item(data, "pk", "Sa", "sk", "N1", NULL)};

	CHECK_INT(write_prepare(data->arena, &write, &data->err), OK);
	enum code code = write_run(data->catalog, data->arena, &write, 1, WRITE_ALONE, NULL, now_ms,
				   &data->err);
	table_unref(table);
	return code;
}

/* Strong consistency: everywhere at once whatever the lag; two regions at a time conflict; a
 * minority writes nothing. */
TEST(strong_groups_need_a_majority)
{
	static struct model model;
	struct data data = data_open(NULL);

	begin_group(&data, REGIONS, true);
	set_links(&data, &model, 500, 0);
	CHECK_INT(put_at(&data, 0, 10000), OK);
	CHECK_INT(put_at(&data, 1, 10400), ERR_REPLICATED_WRITE_CONFLICT);
	CHECK_INT(put_at(&data, 0, 10400), OK);
	CHECK_INT(put_at(&data, 1, 10900), OK);
	set_links(&data, &model, 0, 1 | 4); /* the first region from both others */
	CHECK_INT(put_at(&data, 0, 20000), ERR_SERVICE_UNAVAILABLE);
	CHECK_INT(put_at(&data, 1, 20000), OK);
	set_links(&data, &model, 0, 1); /* it reaches the second by way of the third */
	CHECK_INT(put_at(&data, 0, 21000), OK);
	data_free(&data);
}

/* The group stays as it was where the store fails; the next step tries again. */
TEST(a_replica_that_cannot_leave_yet_waits)
{
	struct optimistic_db *db = optimistic_db_new();
	struct data data = {.arena = arena_new(1 << 20)};
	struct catalog_options options = {0};
	struct replica_work work;
	int64_t now[REGIONS] = {2000, 2000, 2000};
	const struct times times = {.tell = tell, .context = now};

	data.err = err_in(data.arena);
	data.store = trace_store_new(optimistic_open(db));
	CHECK_INT(catalog_open(data.store, &options, &data.catalog, &data.err), OK);
	begin_group(&data, 2, false);
	struct table *table = table_in(&data, 0), *next = table_clone(table);
	next->group.is_leaving = true;
	CHECK_INT(catalog_change_all(
			  data.catalog,
			  &(struct catalog_change){.current = table, .next = next, .now_ms = 1000},
			  1, &data.err),
		  OK);
	table_unref(table);

	optimistic_db_fail(db, &(struct optimistic_faults){.unavailable = 1000, .seed = 1});
	CHECK_INT(replica_step(data.catalog, &times, NULL, &work, &data.err),
		  ERR_STORE_UNAVAILABLE);
	CHECK(work.is_waiting);
	optimistic_db_fail(db, &(struct optimistic_faults){0});
	CHECK_INT(replica_step(data.catalog, &times, NULL, &work, &data.err), OK);
	CHECK(!work.is_waiting);
	table = table_in(&data, 0);
	CHECK(!str_is_set(table->group.id));
	table_unref(table);
	data_free(&data);
	optimistic_db_unref(db);
}

TEST_MAIN(TEST_CASE(random_schedules_converge), TEST_CASE(a_table_of_one_region_pays_nothing),
	  TEST_CASE(a_replica_is_filled_in_pieces), TEST_CASE(strong_groups_need_a_majority),
	  TEST_CASE(a_replica_that_cannot_leave_yet_waits))
