#include "core/image.h"
#include "storage/messages.h"
#include "storage/schema/currency.h"
#include "storage/store/journal.h"
#include "storage/store/row.h"
#include "storage/stream/stream_head.h"
#include "storage/write/write_internal.h"

/*
 * Writes to global tables: each change gets a stamp, and is repeated at the other replicas in the
 * same transaction, or put into their queues where they are to have it later
 * (storage/catalog/links.h). So without a lag a client that reads from another region sees what it
 * has written. The change with the latest stamp wins wherever two meet: AWS, Developer Guide, "How
 * DynamoDB global tables work", "last writer wins".
 */

static struct ns ns_of(const struct table *table)
{
	return (struct ns){table->identity.account, table->identity.region};
}

/* The other replica, with a reference; NULL: it has left the group, as by a reset of its region, or
 * is being deleted. */
static enum code get_member(struct run *run, const struct table *table, struct str region,
			    struct table **out, struct err *err)
{
	struct err own = err_in(run->arena);
	struct ns ns = {table->identity.account, region};
	struct table *other = NULL;
	enum code code =
		catalog_get(run->catalog, ns, table->identity.name, run->now_ms, &other, &own);

	if (code != OK && code != ERR_RESOURCE_NOT_FOUND) {
		*err = own;
		return code;
	}
	if (code != OK)
		other = NULL;
	if (other &&
	    (other->state.status == STATUS_DELETING || !str_eq(other->group.id, table->group.id) ||
	     !table_member(other, table->identity.region))) {
		table_unref(other);
		other = NULL;
	}
	*out = other;
	return OK;
}

static struct write_region *region_of(struct run *run, struct ns ns)
{
	struct write_group *group = run->group;

	for (size_t i = 0; i < group->region_count; i++) {
		if (str_eq(group->regions[i].ns.region, ns.region))
			return &group->regions[i];
	}
	struct write_region *region = &group->regions[group->region_count++];
	*region = (struct write_region){
		.ns = {run->writes[0].table->identity.account, str_copy(run->arena, ns.region)}};
	return region;
}

/* How many writes there are at most, and regions. */
static size_t count_most(const struct run *run, size_t *regions)
{
	size_t most = run->n;

	*regions = 0;
	for (size_t i = 0; i < run->n; i++) {
		most += run->writes[i].kind == WRITE_CHECK ? 0 : run->writes[i].table->group.n;
		*regions += run->writes[i].table->group.n;
	}
	return most;
}

/* Behind the client's writes those of one table in one region. */
static void add_repeats(struct run *run, const struct table *of, struct table *member)
{
	struct write_region *region = region_of(run, ns_of(member));

	for (size_t i = 0; i < run->n; i++) {
		if (run->writes[i].table != of || run->writes[i].kind == WRITE_CHECK)
			continue;
		run->writes[run->total] = (struct write){.table = table_ref(member),
							 .kind = WRITE_PUT,
							 .row_key = run->writes[i].row_key};
		run->group->repeats[run->total - run->n] =
			(struct write_repeat){.origin = &run->writes[i], .region = region};
		run->total++;
	}
}

static bool is_first_of_table(const struct run *run, size_t i)
{
	for (size_t k = 0; k < i; k++) {
		if (run->writes[k].table == run->writes[i].table)
			return false;
	}
	return true;
}

enum code write_group_plan(struct run *run, struct err *err)
{
	size_t region_count, most = count_most(run, &region_count);
	struct write *writes = ARENA_ARRAY(run->arena, struct write, most);

	memcpy(writes, run->writes, run->n * sizeof(*writes));
	run->writes = writes;
	run->group = ARENA_NEW(run->arena, struct write_group);
	run->group->regions = ARENA_ARRAY(run->arena, struct write_region, region_count);
	run->group->repeats = ARENA_ARRAY(run->arena, struct write_repeat, most - run->n);
	run->group->stamps = ARENA_ARRAY(run->arena, struct stamp, run->n);
	for (size_t i = 0; i < run->n; i++) {
		const struct table *table = writes[i].table;

		for (size_t k = 0; k < table->group.n && is_first_of_table(run, i); k++) {
			struct table *member;
			enum code code =
				get_member(run, table, table->group.v[k].region, &member, err);

			if (code != OK)
				return code;
			if (member)
				add_repeats(run, table, member);
			table_unref(member);
		}
	}
	return OK;
}

/* Everything is a repeat: there is no client. */
void write_group_take(struct run *run, struct table *table, const struct write_change *changes)
{
	run->group = ARENA_NEW(run->arena, struct write_group);
	run->group->regions = ARENA_NEW(run->arena, struct write_region);
	run->group->repeats = ARENA_ARRAY(run->arena, struct write_repeat, run->total);
	run->writes = ARENA_ARRAY(run->arena, struct write, run->total);
	for (size_t i = 0; i < run->total; i++) {
		run->writes[i] = (struct write){
			.table = table, .kind = WRITE_PUT, .row_key = changes[i].row_key};
		run->group->repeats[i] = (struct write_repeat){
			.change = &changes[i], .region = region_of(run, ns_of(table))};
	}
}

void write_group_release(struct run *run)
{
	for (size_t i = run->n; i < run->total; i++)
		table_unref(run->writes[i].table);
}

static struct store_key stamp_key(struct run *run, const struct write *write)
{
	return (struct store_key){table_replication(write->table),
				  replication_item_key(run->arena, write->row_key)};
}

enum code write_group_foresee(struct run *run, struct err *err)
{
	struct store_key *keys = ARENA_ARRAY(run->arena, struct store_key, run->total + 1);
	size_t n = 0;

	keys[n++] = links_key(run->arena, run->writes[0].table->identity.account);
	for (size_t i = 0; i < run->total; i++) {
		if (table_is_global(run->writes[i].table))
			keys[n++] = stamp_key(run, &run->writes[i]);
	}
	return store_foresee(run->txn, keys, n, err);
}

static enum code read_stamps(struct run *run, struct err *err)
{
	struct store_key *keys = ARENA_ARRAY(run->arena, struct store_key, run->total);
	struct str *values = ARENA_ARRAY(run->arena, struct str, run->total);
	size_t n = 0;

	for (size_t i = 0; i < run->total; i++) {
		if (table_is_global(run->writes[i].table))
			keys[n++] = stamp_key(run, &run->writes[i]);
	}
	enum code code = store_get_many(run->txn, keys, n, run->arena, values, err);
	if (code != OK)
		return code;
	for (size_t i = 0, k = 0; i < run->total; i++) {
		struct stamp *stamp = i < run->n ? &run->group->stamps[i]
						 : &run->group->repeats[i - run->n].known;

		if (table_is_global(run->writes[i].table) &&
		    !replication_stamp_decode(values[k++], stamp))
			return row_malformed(err, keys[k - 1].keyspace, keys[k - 1].key);
	}
	return OK;
}

/* The regions go by clocks of their own. */
static enum code tell_times(struct run *run, struct err *err)
{
	struct clocks *clocks = catalog_options(run->catalog)->clocks;
	enum code code = OK;

	for (size_t i = 0; i < run->group->region_count; i++) {
		struct write_region *region = &run->group->regions[i];
		bool is_own;

		region->now_ms = run->now_ms;
		if (clocks && run->n > 0) {
			region->now_ms = clocks_now_of(clocks_get(clocks, &region->ns, &is_own),
						       clocks_real_ms());
			code = clocks_stamp(clocks, run->txn, region->ns, &region->now_ms, err);
		}
		region->stream = (struct stream_appends){.rotation = run->stream.rotation,
							 .now_ms = region->now_ms};
		if (code != OK)
			return code;
	}
	return OK;
}

/* The regions of a strong group: its replicas and its witness. */
static struct str *regions_of(struct arena *arena, const struct table *table, size_t *n)
{
	struct str *regions = ARENA_ARRAY(arena, struct str, table->group.n + 2);

	*n = 0;
	regions[(*n)++] = table->identity.region;
	for (size_t i = 0; i < table->group.n; i++)
		regions[(*n)++] = table->group.v[i].region;
	if (str_is_set(table->group.witness))
		regions[(*n)++] = table->group.witness;
	return regions;
}

/*
 * AWS: API Reference, ReplicatedWriteConflictException: the item is being modified by a request in
 * another Region. Here that request is done; it counts as under way for as long as replication
 * takes.
 */
static enum code check_strong_write(struct run *run, size_t i, struct err *err)
{
	const struct table *table = run->writes[i].table;
	const struct stamp *known = &run->group->stamps[i];
	size_t n;
	struct str *regions = regions_of(run->arena, table, &n);

	if (run->mode == WRITE_TRANSACTION)
		return err_set(err, MSG_GROUP_TRANSACTION);
	if (!links_majority(&run->group->links, table->identity.region, regions, n))
		return err_set(err, MSG_GROUP_UNREACHABLE);
	if (!str_is_set(known->region) || str_eq(known->region, table->identity.region))
		return OK;
	bool is_under_way =
		known->ms <= run->now_ms && run->now_ms - known->ms < run->group->links.lag_ms;
	return is_under_way ? err_set(err, MSG_GROUP_CONFLICT) : OK;
}

/* The journals of checkpoints are of namespaces: the transaction goes on in that of the table. */
static enum code enter(struct run *run, const struct table *table, struct err *err)
{
	journal_disarm(run->txn);
	return currency_check(run->txn, table, NULL, err);
}

enum code write_group_read(struct run *run, struct err *err)
{
	const struct table *first = run->writes[0].table;
	enum code code = links_read(run->txn, run->arena, first->identity.account,
				    catalog_options(run->catalog)->replication_lag_ms,
				    &run->group->links, err);

	if (code != OK)
		return code;
	code = read_stamps(run, err);
	if (code != OK)
		return code;
	code = tell_times(run, err);
	if (code != OK)
		return code;
	for (size_t i = 0; i < run->n; i++) {
		if (run->writes[i].table->group.is_strong)
			code = check_strong_write(run, i, err);
		if (code != OK)
			return code;
	}
	return enter(run, first, err);
}

/* Whether replicas have something to repeat: a write that leaves the item as it is, too, for it is
 * the last one. */
static bool has_effect(const struct write *write)
{
	if (str_is_set(write->expiry_row) || !str_is_set(write->new_image))
		return str_is_set(write->old_image) && !str_is_set(write->new_image);
	return write->kind == WRITE_PUT || write->kind == WRITE_UPDATE;
}

static enum code put_stamp(struct run *run, const struct write *write, const struct stamp *stamp,
			   const struct stamp *known, struct err *err)
{
	struct keyspace keyspace = table_replication(write->table);
	enum code code = OK;

	if (!str_is_set(stamp->region)) /* a copy of an item without one */
		return OK;
	if (known->is_deleted)
		code = store_del(run->txn, keyspace,
				 replication_deleted_key(run->arena, known->ms, write->row_key),
				 err);
	if (code != OK)
		return code;
	if (stamp->is_deleted)
		code = store_put(run->txn, keyspace,
				 replication_deleted_key(run->arena, stamp->ms, write->row_key),
				 STR("-"), err);
	if (code != OK)
		return code;
	return store_put(run->txn, keyspace, replication_item_key(run->arena, write->row_key),
			 replication_stamp_encode(run->arena, stamp), err);
}

/* The stamp of a client's write. */
static enum code stamp_write(struct run *run, size_t i, struct stamp *stamp, struct err *err)
{
	const struct write *write = &run->writes[i];
	const struct stamp *known = &run->group->stamps[i];
	int64_t ms =
		str_is_set(known->region) && known->ms >= run->now_ms ? known->ms + 1 : run->now_ms;

	*stamp = (struct stamp){ms, write->table->identity.region, !str_is_set(write->new_image)};
	return put_stamp(run, write, stamp, known, err);
}

static bool is_now(struct run *run, const struct write *origin, const struct write *write)
{
	const struct links *links = &run->group->links;
	struct str from = origin->table->identity.region, to = write->table->identity.region;
	size_t n;

	if (!origin->table->group.is_strong)
		return links->lag_ms == 0 && links_reach(links, from, to);
	struct str *regions = regions_of(run->arena, origin->table, &n);
	return links_connect(links, from, to, regions, n);
}

static enum code put_queued(struct run *run, const struct write *write,
			    const struct write_repeat *repeat, struct err *err)
{
	struct str key =
		replication_queue_key(run->arena, run->now_ms, &repeat->stamp, write->row_key);
	struct str row =
		replication_queue_encode(run->arena, &repeat->stamp, repeat->origin->new_image);

	return store_put(run->txn, table_replication(write->table), key, row, err);
}

/* Makes the write what it repeats. */
static enum code fill_write(struct run *run, struct write *write, const struct write_repeat *repeat,
			    struct err *err)
{
	struct value *item;

	write->kind = repeat->stamp.is_deleted ? WRITE_DELETE : WRITE_PUT;
	if (repeat->stamp.is_deleted)
		return OK;
	if (repeat->origin) {
		write->item = &repeat->origin->new_item;
		write->item_image = repeat->origin->new_image;
		return OK;
	}
	item = ARENA_NEW(run->arena, struct value);
	write->item = item;
	write->item_image = repeat->change->image;
	return image_decode(run->arena, repeat->change->image, item)
		       ? OK
		       : row_malformed(err, table_items(write->table), write->row_key);
}

/* Nothing changes: its part in the tables' numbers is nothing. */
static void leave_out(struct write *write)
{
	write->new_image = write->old_image;
	write->cost = (struct cost){.table = write->table};
}

static enum code repeat_one(struct run *run, size_t i, struct err *err)
{
	struct write *write = &run->writes[i];
	struct write_repeat *repeat = &run->group->repeats[i - run->n];
	struct write_step step = {
		run->txn,
		run->arena,
		write,
		false,
		run->sizes[i],
		&repeat->region->stream,
		repeat->region->now_ms,
		UINT64_MAX,
		&run->scopes[i],
		run->catalog,
		run->vectors,
		write_history_of(run, i, repeat->region->now_ms),
	};

	if (!stamp_is_later(&repeat->stamp, &repeat->known)) {
		leave_out(write);
		return OK;
	}
	enum code code = fill_write(run, write, repeat, err);
	if (code != OK)
		return code;
	code = write_one(&step, err);
	return code == OK ? put_stamp(run, write, &repeat->stamp, &repeat->known, err) : code;
}

/* A change from the queue; one whose row another process has taken is done. */
static enum code repeat_change(struct run *run, size_t i, struct err *err)
{
	struct write_repeat *repeat = &run->group->repeats[i - run->n];
	const struct write_change *change = repeat->change;
	struct keyspace keyspace = table_replication(run->writes[i].table);
	struct str row = STR("");
	enum code code = OK;

	repeat->stamp = change->stamp;
	if (str_is_set(change->queued))
		code = store_get(run->txn, keyspace, change->queued, run->arena, &row, err);
	if (code == OK && !str_is_set(row))
		leave_out(&run->writes[i]);
	if (code != OK || !str_is_set(row))
		return code;
	code = repeat_one(run, i, err);
	return code == OK && str_is_set(change->queued)
		       ? store_del(run->txn, keyspace, change->queued, err)
		       : code;
}

static enum code repeat_origin(struct run *run, size_t i, struct err *err)
{
	struct write *write = &run->writes[i];
	struct write_repeat *repeat = &run->group->repeats[i - run->n];

	if (has_effect(repeat->origin) && is_now(run, repeat->origin, write))
		return repeat_one(run, i, err);
	leave_out(write);
	return has_effect(repeat->origin) ? put_queued(run, write, repeat, err) : OK;
}

static enum code stamp_all(struct run *run, struct err *err)
{
	enum code code = OK;

	for (size_t i = 0; i < run->n; i++) {
		struct stamp stamp = {.region = STR_ABSENT};

		if (table_is_global(run->writes[i].table) && has_effect(&run->writes[i]))
			code = stamp_write(run, i, &stamp, err);
		for (size_t k = run->n; k < run->total; k++) {
			if (run->group->repeats[k - run->n].origin == &run->writes[i])
				run->group->repeats[k - run->n].stamp = stamp;
		}
		if (code != OK)
			return code;
	}
	return OK;
}

enum code write_group_repeat(struct run *run, struct err *err)
{
	enum code code = stamp_all(run, err);

	if (code != OK)
		return code;
	for (size_t i = run->n; i < run->total; i++) {
		if (i == run->n || run->writes[i].table != run->writes[i - 1].table)
			code = enter(run, run->writes[i].table, err);
		if (code != OK)
			return code;
		code = run->n ? repeat_origin(run, i, err) : repeat_change(run, i, err);
		if (code != OK)
			return code;
		code = err_if_over(run->arena, err);
		if (code != OK)
			return code;
	}
	return enter(run, run->writes[0].table, err);
}

void write_group_end(const struct run *run, enum code code)
{
	for (size_t i = 0; i < run->group->region_count; i++)
		stream_end(&run->group->regions[i].stream, code);
}
