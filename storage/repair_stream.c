#include "storage/repair_internal.h"

#include <stdlib.h>

#include "storage/check.h"
#include "storage/check_messages.h"
#include "storage/stream/stream_record.h"

#define GAPS_TOLD 20

/* What is found of a stream's rows. */
struct found {
	struct repair *repair;
	size_t shard_count, lost_count;
	struct stream_shard *shards;
	uint64_t *lost; /* numbers of records that were not taken over */
	uint64_t lost_rows;
};

static void lose(struct found *found, const struct salvage_row *row)
{
	struct arena *arena = found->repair->arena;
	uint64_t sequence = str_is_set(row->key) && stream_shard_is_record(row->key)
				    ? stream_shard_sequence(row->key)
				    : 0;

	found->lost_rows++;
	if (sequence == 0)
		return;
	found->lost = arena_room(arena, found->lost, found->lost_count, sizeof(*found->lost));
	found->lost[found->lost_count++] = sequence;
}

static void take_stream_row(void *context, const struct salvage_row *row)
{
	struct found *found = context;
	struct repair *repair = found->repair;
	struct stream_shard shard;

	arena_reset(repair->row);
	if (row->state != SALVAGE_DAMAGED && stream_shard_decode(row->key, row->value, &shard)) {
		found->shards = arena_room(repair->arena, found->shards, found->shard_count,
					   sizeof(*found->shards));
		found->shards[found->shard_count++] = shard;
	} else if (row->state == SALVAGE_SOUND &&
		   check_record(repair->row, repair->table, row->key, row->value)) {
		repair_put(repair, row->keyspace, row->key, row->value);
		repair->report->records++;
	} else {
		lose(found, row);
		repair_set_aside(repair, row, CHECK_RECORD_BYTES);
	}
}

/* By lanes, and within one by their stamps. */
static int by_lane(const void *a, const void *b)
{
	const struct stream_shard *left = a, *right = b;
	unsigned lane = stream_lane_of(left->start), other = stream_lane_of(right->start);

	if (lane != other)
		return (lane > other) - (lane < other);
	return (left->stamp > right->stamp) - (left->stamp < right->stamp);
}

static int by_number(const void *a, const void *b)
{
	const uint64_t *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

static void put_shard(struct repair *repair, const struct stream_shard *shard)
{
	arena_reset(repair->row);
	if (repair->code == OK)
		repair->code = stream_shard_put(repair->txn, repair->row, repair->table, shard,
						repair->err);
}

static struct stream_peek peek(struct repair *repair, uint64_t from, uint64_t to, bool is_last)
{
	struct stream_peek found = {.is_found = false};

	if (repair->code == OK)
		repair->code = stream_record_peek(repair->txn, repair->table, from, to, is_last,
						  &found, repair->err);
	return found;
}

/*
 * A shard for the records from where `before` (stamp 0: none) ends to where `after` begins. The
 * name of the one that was there stands in its child; its start is where the one before it ended.
 */
static struct stream_shard between(const struct stream_shard *before,
				   const struct stream_shard *after,
				   const struct stream_peek *first)
{
	bool is_named = after->parent > before->stamp && after->parent < after->stamp;
	uint64_t stamp = is_named ? after->parent : after->stamp - 1;

	return (struct stream_shard){
		.stamp = stamp,
		.parent = before->stream == after->stream ? before->stamp : 0,
		.stream = after->stream,
		.start = before->stamp ? before->end : first->sequence - 1,
		.end = after->start,
		.created_ms = (int64_t)stamp,
		.closed_ms = after->created_ms,
	};
}

/* Whether changes are appended to the lane. */
static bool is_lane_open(const struct table *table, unsigned lane)
{
	return lane ? lane <= stream_lanes_open(table) : stream_lane_is_log_open(table);
}

/* The shard after the last one of the lane that was found: open while changes are appended there.
 */
static struct stream_shard shard_behind(const struct repair *repair, unsigned lane,
					const struct stream_shard *before,
					const struct stream_peek *first,
					const struct stream_peek *last)
{
	const struct table *table = repair->table;
	uint64_t number = table->streams.n ? table->streams.v[table->streams.n - 1].number : 0;
	bool is_open = is_lane_open(table, lane),
	     is_hidden =
		     lane == 0 && (table->streams.view == STREAM_OFF || stream_lanes_open(table));
	uint64_t stamp = first->is_found ? (uint64_t)first->created_ms : (uint64_t)repair->now_ms;
	uint64_t start = before->stamp     ? before->end
			 : first->is_found ? first->sequence - 1
					   : stream_lane_base(lane) + 1;

	return (struct stream_shard){
		.stamp = stamp > before->stamp ? stamp : before->stamp + 1,
		.parent = is_hidden                  ? STREAM_SHARD_HIDDEN
			  : before->stream == number ? before->stamp
						     : 0,
		.stream = number,
		.start = start,
		.end = is_open ? 0 : last->sequence + 1,
		.created_ms = (int64_t)stamp,
		.closed_ms = is_open ? 0 : last->created_ms,
	};
}

/* Where there are several lanes: makes the stamp of a shard that was not found one that no other
 * has, going up or down by `step`; and notes it. */
static void make_stamp(const struct repair *repair, struct found *found, struct stream_shard *shard,
		       int step)
{
	bool is_taken = stream_lanes_last(repair->table) > 0;

	if (!is_taken)
		return;
	while (is_taken) {
		is_taken = false;
		for (size_t i = 0; i < found->shard_count && !is_taken; i++)
			is_taken = found->shards[i].stamp == shard->stamp;
		shard->stamp += is_taken ? (uint64_t)step : 0;
	}
	found->shards = arena_room(repair->arena, found->shards, found->shard_count,
				   sizeof(*found->shards));
	found->shards[found->shard_count++] = *shard;
}

/*
 * Puts the shards of a lane that were found, `n` from the one at `at` on, and those that must have
 * been between and behind them; the number of the latter.
 */
static unsigned put_shards(struct repair *repair, struct found *found, unsigned lane, size_t at,
			   size_t n)
{
	struct stream_shard before = {.end = stream_lane_base(lane)};
	unsigned made = 0;

	for (size_t i = 0; i < n; i++) {
		struct stream_shard shard = found->shards[at + i];
		bool is_last = i + 1 == n, is_open = is_lane_open(repair->table, lane);
		struct stream_peek first = peek(repair, before.end, shard.start, false);

		if (first.is_found && (before.stamp == 0 || before.stamp + 1 < shard.stamp)) {
			before = between(&before, &shard, &first);
			make_stamp(repair, found, &before, -1);
			put_shard(repair, &before);
			made++;
		}
		if (shard.end == 0 && !(is_last && is_open)) {
			shard.end = is_last ? peek(repair, shard.start, 0, true).sequence + 1
					    : found->shards[at + i + 1].start;
			shard.end = shard.end > shard.start ? shard.end : shard.start + 1;
			shard.closed_ms =
				is_last ? repair->now_ms : found->shards[at + i + 1].created_ms;
			made++;
		}
		put_shard(repair, &shard);
		before = shard;
	}
	if (before.stamp && before.end == 0)
		return made;
	struct stream_peek first = peek(repair, before.end, 0, false),
			   last = peek(repair, before.end, 0, true);
	if (first.is_found || is_lane_open(repair->table, lane)) {
		struct stream_shard shard = shard_behind(repair, lane, &before, &first, &last);

		make_stamp(repair, found, &shard, 1);
		put_shard(repair, &shard);
		made++;
	}
	return made;
}

/* The same of all lanes. */
static unsigned put_lanes(struct repair *repair, struct found *found)
{
	size_t count = found->shard_count;
	unsigned made = 0, lanes = stream_lanes_last(repair->table);

	if (count && stream_lane_of(found->shards[count - 1].start) > lanes)
		lanes = stream_lane_of(found->shards[count - 1].start);
	for (unsigned lane = 0; lane <= lanes; lane++) {
		size_t at = 0, n = 0;

		while (at < count && stream_lane_of(found->shards[at].start) < lane)
			at++;
		while (at + n < count && stream_lane_of(found->shards[at + n].start) == lane)
			n++;
		made += put_shards(repair, found, lane, at, n);
	}
	return made;
}

/* The numbers of lost records as ranges, the first of them. */
static struct str ranges_of(struct repair *repair, struct found *found)
{
	struct buf out = buf_in(repair->row);
	unsigned told = 0;

	if (found->lost_count)
		qsort(found->lost, found->lost_count, sizeof(*found->lost), by_number);
	for (size_t i = 0, next; i < found->lost_count && told < GAPS_TOLD; i = next, told++) {
		for (next = i + 1;
		     next < found->lost_count && found->lost[next] <= found->lost[next - 1] + 1;)
			next++;
		buf_printf(&out, "%s%llu", told ? ", " : "", (unsigned long long)found->lost[i]);
		if (found->lost[next - 1] > found->lost[i])
			buf_printf(&out, "-%llu", (unsigned long long)found->lost[next - 1]);
		if (told + 1 == GAPS_TOLD && next < found->lost_count)
			buf_printf(&out, ", ...");
	}
	return buf_str(&out);
}

void repair_stream(struct repair *repair)
{
	struct found found = {.repair = repair};

	repair->from->ops->rows(repair->from, stream_keyspace(repair->table), take_stream_row,
				&found);
	if (found.shard_count)
		qsort(found.shards, found.shard_count, sizeof(*found.shards), by_lane);
	unsigned made = put_lanes(repair, &found);
	arena_reset(repair->row);
	if (found.lost_rows > 0) {
		struct str ranges = ranges_of(repair, &found);

		repair_tell(repair,
			    str_printf(repair->row, REPAIR_RECORDS_LOST,
				       (unsigned long long)found.lost_rows, STR_ARG(ranges)));
	}
	if (made > 0)
		repair_tell(repair, str_printf(repair->row, REPAIR_SHARDS_MADE, made));
}
