#include "server/push/feed.h"

#include <time.h>

#include "protocol/streams.h"
#include "server/log.h"
#include "storage/catalog/mark_walk.h"
#include "storage/catalog/retired.h"
#include "storage/stream/stream_read.h"

#define REFRESH_MS 3600000 /* how often a row that does not move is saved again: it is somebody's */

static const struct stream_position nowhere = {0};

static int64_t real_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static struct store *store_of(const struct feed *feed)
{
	return catalog_store(feed->service->catalog);
}

/* Whether it went well; the first of several failures is logged. */
static bool is_fine(struct feed *feed, enum code code, const struct err *err)
{
	if (code != OK && !feed->is_failing)
		log_line(LOG_ERROR, "trigger " STR_FMT ": " STR_FMT "; trying again",
			 STR_ARG(feed->name), STR_ARG(err->message));
	feed->is_failing = code != OK;
	return code == OK;
}

static void drop_table(struct feed *feed)
{
	table_unref(feed->table);
	feed->table = NULL;
	feed->stream = NULL;
}

void feed_close(struct feed *feed)
{
	drop_table(feed);
}

/* How many lanes the stream has for a reader. */
static unsigned lane_total(const struct stream *stream)
{
	return stream_lane_count(stream) ? stream_lane_count(stream) : 1;
}

/* The one whose turn it is. */
static unsigned own_lane(const struct feed *feed, const struct stream *stream)
{
	return stream_lane_count(stream) ? feed->turn + 1 : 0;
}

static void give_turn(struct feed *feed, unsigned turn)
{
	feed->lanes[feed->turn] = (struct feed_lane){feed->at, feed->saved, feed->is_at_end, true};
	const struct feed_lane *lane = &feed->lanes[turn];

	feed->turn = turn;
	feed->at = lane->at;
	feed->saved = lane->saved;
	feed->is_at_end = lane->is_at_end;
}

/* What is remembered of rows is not looked at again. */
static void forget_lanes(struct feed *feed)
{
	for (unsigned i = 0; i < STREAM_LANES; i++)
		feed->lanes[i] = (struct feed_lane){.is_known = false};
}

/* Under which the row is. */
static struct str reader_of(const struct feed *feed, struct arena *arena)
{
	return feed->turn == 0
		       ? feed->reader
		       : str_printf(arena, STR_FMT " %u", STR_ARG(feed->reader), feed->turn);
}

/* Puts the row where the reader is; the row may be gone before. */
static bool save_position(struct feed *feed, struct arena *arena, const struct stream_position *to)
{
	struct stream_position next = *to;
	struct err err = err_in(arena);
	bool is_moved = true;

	next.saved_ms = real_ms();
	enum code code =
		stream_position_move(store_of(feed), arena, feed->number, reader_of(feed, arena),
				     &feed->saved, &next, &is_moved, &err);

	if (!is_fine(feed, code, &err))
		return true; /* what is done is done: the next move saves it, or a restart reads it
				again */
	feed->is_lost = !is_moved;
	if (is_moved)
		feed->saved = next;
	return is_moved;
}

/* Makes the row the position. Where it cannot be read, the next look begins with the rows again. */
static bool load_position(struct feed *feed, struct arena *arena)
{
	struct err err = err_in(arena);
	enum code code = stream_position_get(store_of(feed), arena, feed->number,
					     reader_of(feed, arena), &feed->saved, &err);

	feed->at = feed->saved;
	feed->is_lost = code != OK;
	return is_fine(feed, code, &err);
}

static struct stream_cursor cursor_at(const struct feed *feed, const struct stream *stream,
				      uint64_t shard)
{
	return (struct stream_cursor){
		.table = feed->table, .stream = stream, .shard = shard, .now_ms = feed->now_ms};
}

/* Makes the shard the position, from its oldest record or behind its newest. */
static bool go_to_shard(struct feed *feed, struct arena *arena, const struct stream *stream,
			uint64_t shard, enum stream_start start)
{
	struct stream_cursor cursor = cursor_at(feed, stream, shard);
	struct err err = err_in(arena);
	enum code code = stream_read_start(store_of(feed), arena, &cursor, start, 0, 0, &err);

	if (code == ERR_RESOURCE_NOT_FOUND || !is_fine(feed, code, &err))
		return false;
	feed->stream = stream;
	feed->at = (struct stream_position){
		.stream = stream->number, .shard = shard, .next = cursor.position};
	feed->is_at_end = false;
	return save_position(feed, arena, &feed->at);
}

/* The stream's first shard from the stamp on, in the lane whose turn it is, that can be read; 0:
 * there is none. */
static uint64_t shard_from(struct feed *feed, struct arena *arena, const struct stream *stream,
			   uint64_t from)
{
	struct stream_shard_page page = {.from = from, .limit = lane_total(stream), .is_cut = true};
	struct err err = err_in(arena);

	while (page.is_cut) {
		enum code code = stream_read_shards(store_of(feed), arena, feed->table, stream,
						    feed->now_ms, &page, &err);

		if (!is_fine(feed, code, &err))
			return 0;
		for (size_t i = 0; i < page.n; i++) {
			if (stream_lane_of(page.shards[i].start) == own_lane(feed, stream))
				return page.shards[i].stamp;
			page.from = page.shards[i].stamp + 1;
		}
	}
	return 0;
}

static enum code read_last_shard(struct feed *feed, const struct stream *stream,
				 struct stream_shard *shard, struct err *err)
{
	struct store_txn *txn;
	enum code code = store_begin(store_of(feed), STORE_READ, &txn, err);

	if (code != OK)
		return code;
	code = stream_shard_last_in(txn, feed->table, own_lane(feed, stream), shard, err);
	store_abort(txn);
	return code;
}

static uint64_t last_shard(struct feed *feed, struct arena *arena, const struct stream *stream)
{
	struct stream_shard shard = {0};
	struct err err = err_in(arena);
	enum code code = read_last_shard(feed, stream, &shard, &err);

	return is_fine(feed, code, &err) ? shard.stamp : 0;
}

/* Puts the further lanes behind their newest records. The first one comes last: its row says that
 * the reader has begun. */
static bool begin_lanes(struct feed *feed, struct arena *arena, const struct stream *latest)
{
	bool is_done = true;

	for (unsigned turn = lane_total(latest) - 1; turn > 0 && is_done; turn--) {
		give_turn(feed, turn);
		uint64_t shard = load_position(feed, arena) ? last_shard(feed, arena, latest) : 0;

		is_done = shard && go_to_shard(feed, arena, latest, shard, STREAM_START_LATEST);
	}
	give_turn(feed, 0);
	return is_done;
}

/* Where a reader without a row begins: in the newest stream. */
static bool begin_position(struct feed *feed, struct arena *arena)
{
	const struct stream *latest = &feed->table->streams.v[feed->table->streams.n - 1];
	bool is_from_latest = feed->is_from_latest;

	if (is_from_latest && !begin_lanes(feed, arena, latest))
		return false;
	uint64_t shard = is_from_latest ? last_shard(feed, arena, latest)
					: shard_from(feed, arena, latest, 0);

	feed->saved = nowhere;
	if (shard == 0 ||
	    !go_to_shard(feed, arena, latest, shard,
			 is_from_latest ? STREAM_START_LATEST : STREAM_START_TRIM_HORIZON) ||
	    !feed->saved.stream)
		return false;
	feed->is_from_latest = false;
	return true;
}

static const struct stream *stream_numbered(const struct feed *feed, uint64_t number, bool or_later)
{
	const struct table *table = feed->table;

	for (size_t i = 0; i < table->streams.n; i++) {
		const struct stream *stream = &table->streams.v[i];

		if ((stream->number == number || (or_later && stream->number > number)) &&
		    !stream_is_gone(stream, feed->now_ms))
			return stream;
	}
	return NULL;
}

/* Whether a reader can begin in the table. */
static bool is_live(const struct table *table, int64_t now_ms)
{
	return table->state.status != STATUS_DELETING && table->streams.n > 0 &&
	       !stream_is_gone(&table->streams.v[table->streams.n - 1], now_ms);
}

/* *found: the table of a mark if it is the one of that number, or 0: a live one; with a reference,
 * or NULL. False: the store does not say. */
static bool take_marked_table(struct feed *feed, struct arena *arena, const struct mark *mark,
			      uint64_t number, struct table **found)
{
	struct err err = err_in(arena);
	struct table *table = NULL;
	enum code code = catalog_marked(feed->service->catalog, mark, &table, &err);

	*found = NULL;
	if (!is_fine(feed, code, &err) || !table)
		return code == OK;
	int64_t now_ms =
		feed->service->now_ms(feed->service->clock_context,
				      (struct ns){table->identity.account, table->identity.region});
	if (!number && !is_live(table, now_ms)) {
		table_unref(table);
		return true;
	}
	feed->now_ms = now_ms;
	*found = table;
	return true;
}

/* *found: the table of that number, or 0: a live one but `except`; with a reference, or NULL.
 * False: the store does not say, so it may be there. */
static bool pick_marked_table(struct feed *feed, struct arena *arena, uint64_t number,
			      uint64_t except, struct table **found)
{
	const struct mark deleted = {.number = number, .record = retired_key(arena, number)};
	struct marks named = {
		.kind = MARK_NAME, .within = table_rows_named(arena, feed->name), .is_more = true};
	struct err err = err_in(arena);

	*found = NULL;
	while (named.is_more && !*found) {
		if (!is_fine(feed, mark_walk_page(feed->service->catalog, arena, &named, &err),
			     &err))
			return false;
		for (size_t i = 0; i < named.n && !*found; i++) {
			const struct mark *mark = &named.v[i];
			bool is_meant = mark->has_stream &&
					(number ? mark->number == number : mark->number != except);

			if (is_meant && !take_marked_table(feed, arena, mark, number, found))
				return false;
		}
	}
	return *found || !number || take_marked_table(feed, arena, &deleted, number, found);
}

/* The reader leaves the table: its rows go too. */
static void leave_feed_table(struct feed *feed, struct arena *arena)
{
	for (unsigned turn = STREAM_LANES; turn-- > 0;) {
		give_turn(feed, turn);
		if (feed->number && feed->saved.stream)
			save_position(feed, arena, &nowhere);
	}
	feed->number = 0;
	forget_lanes(feed);
	feed->at = feed->saved = nowhere;
	feed->is_at_end = feed->is_lost = false;
}

/* Begins in the table, or goes on by the row that the reader has for it: then it is not new, and
 * reads all that comes later. */
static bool enter(struct feed *feed, struct arena *arena)
{
	feed->number = feed->table->identity.number;
	if (!load_position(feed, arena))
		return false;
	feed->is_from_latest = feed->is_from_latest && !feed->at.stream;
	return feed->at.stream || begin_position(feed, arena);
}

/* The stream that the position is in; a later one where that is gone. */
static bool find_feed_stream(struct feed *feed, struct arena *arena)
{
	feed->stream = stream_numbered(feed, feed->at.stream, false);
	if (feed->stream)
		return true;
	const struct stream *later = stream_numbered(feed, feed->at.stream, true);
	uint64_t shard = later ? shard_from(feed, arena, later, 0) : 0;

	return shard && go_to_shard(feed, arena, later, shard, STREAM_START_TRIM_HORIZON);
}

/* Gives a lane its turn, where its row says; where it has none in the stream that the first one is
 * in, at its begin. */
static bool enter_lane(struct feed *feed, struct arena *arena, unsigned turn)
{
	bool is_known = turn == feed->turn || turn == 0 || feed->lanes[turn].is_known;

	give_turn(feed, turn);
	if (!is_known && !load_position(feed, arena))
		return false;
	if (feed->at.stream != feed->stream->number) {
		uint64_t shard = shard_from(feed, arena, feed->stream, 0);

		return shard &&
		       go_to_shard(feed, arena, feed->stream, shard, STREAM_START_TRIM_HORIZON);
	}
	if (real_ms() - feed->saved.saved_ms > REFRESH_MS)
		save_position(feed, arena, &feed->at);
	return true;
}

static bool find_feed_table(struct feed *feed, struct arena *arena)
{
	struct err err = err_in(arena);

	drop_table(feed);
	if (!is_fine(feed, clocks_refresh(catalog_options(feed->service->catalog)->clocks, &err),
		     &err))
		return false;
	/* another process may have moved on, or left the table */
	if (feed->number &&
	    (feed->is_lost || feed->is_stale || !lease_is_held(feed->leases, feed->lease))) {
		forget_lanes(feed);
		if (!load_position(feed, arena))
			return false;
		feed->is_stale = false;
	}
	if (feed->number && !feed->saved.stream && !feed->at.stream)
		feed->number = 0;
	if (feed->number && !pick_marked_table(feed, arena, feed->number, 0, &feed->table))
		return false;
	if (feed->number && !feed->table) {
		if (!feed->is_at_end)
			log_line(LOG_WARN,
				 "trigger " STR_FMT
				 ": its stream is gone before it was read to its end",
				 STR_ARG(feed->name));
		leave_feed_table(feed, arena);
	}
	if (feed->number)
		return find_feed_stream(feed, arena);
	if (!pick_marked_table(feed, arena, 0, 0, &feed->table))
		return false;
	feed->is_from_latest =
		feed->is_from_latest && feed->table; /* nothing there yet: what comes is all new */
	if (!feed->table || !enter(feed, arena)) {
		feed->number = 0;
		return false;
	}
	return find_feed_stream(feed, arena);
}

bool feed_find(struct feed *feed, struct arena *arena)
{
	unsigned turn = feed->turn + 1;

	give_turn(feed, 0);
	return find_feed_table(feed, arena) &&
	       enter_lane(feed, arena, turn % lane_total(feed->stream));
}

static void add_feed_record(const struct feed *feed, struct arena *arena, struct feed_batch *batch,
			    const struct stream_entry *entry)
{
	const struct stream_record *record = &entry->record;
	const struct streams_change change = {feed->table, feed->stream, record, &entry->keys,
					      entry->size};
	struct json_out out = json_out_in(arena);

	streams_write_record(&out, arena, &change, STREAMS_EVENT);
	batch->seen++;
	if (batch->filter && !batch->filter(batch->filter_context, json_out_str(&out)))
		return;
	batch->v[batch->n++] = (struct feed_record){
		json_out_str(&out),
		streams_sequence(arena, record->sequence),
		record->sequence,
		record->created_ms / 1000,
	};
}

static bool read_lane(struct feed *feed, struct arena *arena, struct feed_batch *batch)
{
	struct stream_cursor cursor = cursor_at(feed, feed->stream, feed->at.shard);
	struct stream_page page;
	struct err err = err_in(arena);

	cursor.position = batch->seen > 0 ? batch->next : feed->at.next;
	enum code code = stream_read_page(store_of(feed), arena, &cursor, batch->limit - batch->n,
					  &page, &err);

	for (size_t i = 0; i < page.n; i++) /* also those before an error */
		add_feed_record(feed, arena, batch, &page.v[i]);
	if (code == ERR_TRIMMED_DATA) { /* on with what there still is */
		if (batch->seen == 0)
			go_to_shard(feed, arena, feed->stream, feed->at.shard,
				    STREAM_START_TRIM_HORIZON);
		return false;
	}
	feed->is_at_end = code == ERR_RESOURCE_NOT_FOUND || (code == OK && cursor.is_at_end);
	if (code == ERR_RESOURCE_NOT_FOUND)
		return true;
	batch->next = cursor.position;
	return is_fine(feed, code, &err);
}

/* A batch is of one lane. Where none has records: one that has a shard to go on to, or else one
 * that is not at its end, if there is any. */
bool feed_read(struct feed *feed, struct arena *arena, struct feed_batch *batch)
{
	unsigned n = lane_total(feed->stream), first = feed->turn, waiting = n;

	if (n == 1 || batch->seen > 0)
		return read_lane(feed, arena, batch);
	for (unsigned i = 0; i < n; i++) {
		if (!enter_lane(feed, arena, (first + i) % n) || !read_lane(feed, arena, batch))
			return false;
		if (batch->seen > 0 ||
		    (feed->is_at_end && shard_from(feed, arena, feed->stream, feed->at.shard + 1)))
			return true;
		if (feed->is_failing)
			return false;
		if (!feed->is_at_end)
			waiting = feed->turn;
	}
	if (waiting < n)
		give_turn(feed, waiting);
	return true;
}

bool feed_take(struct feed *feed, struct arena *arena)
{
	struct stream_position before = feed->at;
	struct err err = err_in(arena);
	bool is_held, is_new;

	if (!is_fine(feed, lease_take(feed->leases, feed->lease, &is_held, &is_new, &err), &err) ||
	    !is_held)
		return false;
	if (!is_new)
		return true;
	feed->is_stale = true;
	return load_position(feed, arena) && feed->at.shard == before.shard &&
	       feed->at.next == before.next;
}

bool feed_move(struct feed *feed, struct arena *arena, uint64_t next)
{
	feed->at.next = next;
	return save_position(feed, arena, &feed->at);
}

bool feed_go_on(struct feed *feed, struct arena *arena)
{
	const struct stream *later = stream_numbered(feed, feed->at.stream + 1, true);
	struct table *other;
	uint64_t shard = shard_from(feed, arena, feed->stream, feed->at.shard + 1);

	if (shard)
		return feed_take(feed, arena) &&
		       go_to_shard(feed, arena, feed->stream, shard, STREAM_START_TRIM_HORIZON);
	if (feed->is_failing) /* there may be one */
		return false;
	give_turn(feed, 0);
	shard = later ? shard_from(feed, arena, later, 0) : 0;
	if (shard)
		return feed_take(feed, arena) &&
		       go_to_shard(feed, arena, later, shard, STREAM_START_TRIM_HORIZON);
	if (feed->is_failing || !pick_marked_table(feed, arena, 0, feed->number, &other))
		return false;
	if (other && feed_take(feed, arena)) {
		leave_feed_table(feed, arena);
		drop_table(feed);
	}
	table_unref(other);
	return !feed->table;
}

void feed_hold(void *context)
{
	struct feed *feed = context;
	struct arena *arena = arena_new(0);
	struct err err = err_in(arena);
	bool is_held;

	/* lost or not, what is under way cannot be called back: the next move finds out */
	if (lease_take(feed->leases, feed->lease, &is_held, NULL, &err) != OK)
		err = err_in(arena);
	arena_free(arena);
}
