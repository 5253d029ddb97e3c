#include "storage/stream/stream_read.h"

#include "storage/messages.h"
#include "storage/store/row.h"
#include "storage/stream/stream.h"

#define PROBES 7 /* records looked at together to find a time */

static int64_t horizon_ms(int64_t now_ms)
{
	return now_ms - STREAM_RETENTION_MS;
}

static bool is_readable(const struct stream_shard *shard, const struct stream *stream,
			int64_t now_ms)
{
	return shard->stamp && shard->stream == stream->number &&
	       shard->parent != STREAM_SHARD_HIDDEN &&
	       (shard->closed_ms == 0 || shard->closed_ms >= horizon_ms(now_ms));
}

/* Moves *from on to the stream's first shard from there on, by halving: the numbers of streams rise
 * with stamps. */
static enum code find_first_shard(struct store_txn *txn, struct arena *arena,
				  const struct table *table, const struct stream *stream,
				  uint64_t *from, struct err *err)
{
	struct stream_shard *shard, last;
	size_t n;
	enum code code = stream_shard_list(txn, arena, table, *from, 1, &shard, &n, err);

	if (code != OK || n == 0 || shard->stream >= stream->number)
		return code;
	code = stream_shard_last(txn, table, &last, err);
	if (code != OK)
		return code;
	/* shards below *from are of older streams, those from high on are not */
	*from = shard->stamp + 1;
	for (uint64_t high = last.stamp + 1; *from < high;) {
		uint64_t middle = *from + (high - *from) / 2;

		code = stream_shard_list(txn, arena, table, middle, 1, &shard, &n, err);
		if (code != OK)
			return code;
		if (n > 0 && shard->stream < stream->number)
			*from = shard->stamp + 1;
		else
			high = middle;
	}
	return OK;
}

static enum code read_shard_page(struct store_txn *txn, struct arena *arena,
				 const struct table *table, const struct stream *stream,
				 int64_t now_ms, struct stream_shard_page *page, struct err *err)
{
	uint64_t from = page->from;
	enum code code = find_first_shard(txn, arena, table, stream, &from, err);

	page->shards = ARENA_ARRAY(arena, struct stream_shard, page->limit + 1);
	page->n = 0;
	for (bool is_more = true; is_more && code == OK;) {
		struct stream_shard *shards;
		size_t n;

		code = stream_shard_list(txn, arena, table, from, page->limit + 1, &shards, &n,
					 err);
		if (code != OK)
			return code;
		is_more = n > page->limit && shards[n - 1].stream == stream->number;
		for (size_t i = 0; i < n && page->n <= page->limit; i++) {
			if (is_readable(&shards[i], stream, now_ms))
				page->shards[page->n++] = shards[i];
			from = shards[i].stamp + 1;
		}
		is_more = is_more && page->n <= page->limit;
	}
	page->is_cut = page->n > page->limit;
	page->n -= page->is_cut;
	return code;
}

enum code stream_read_shards(struct store *store, struct arena *arena, const struct table *table,
			     const struct stream *stream, int64_t now_ms,
			     struct stream_shard_page *page, struct err *err)
{
	struct store_txn *txn;
	enum code code = store_begin(store, STORE_READ, &txn, err);

	if (code != OK)
		return code;
	code = read_shard_page(txn, arena, table, stream, now_ms, page, err);
	store_abort(txn);
	return code;
}

enum code stream_read_child(struct store *store, struct arena *arena, const struct table *table,
			    const struct stream *stream, int64_t now_ms, uint64_t parent,
			    struct stream_shard_page *page, struct err *err)
{
	struct store_txn *txn;
	enum code code = store_begin(store, STORE_READ, &txn, err);
	size_t limit = stream_lane_count(stream) ? STREAM_LANES
						 : 1; /* of one lane, it is the next shard */
	bool is_more = true;

	if (code != OK)
		return code;
	*page = (struct stream_shard_page){.from = parent + 1, .limit = limit};
	while (code == OK && is_more) {
		code = read_shard_page(txn, arena, table, stream, now_ms, page, err);
		if (code != OK)
			break;
		size_t i = 0;
		while (i < page->n && page->shards[i].parent != parent)
			i++;
		is_more = i == page->n && page->is_cut && limit > 1;
		if (is_more) {
			page->from = page->shards[page->n - 1].stamp + 1;
		} else {
			page->shards += i;
			page->n = i < page->n;
		}
	}
	page->is_cut = false;
	store_abort(txn);
	return code;
}

/* Finds the shard that the cursor names. */
static enum code find_shard(struct store_txn *txn, struct arena *arena,
			    const struct stream_cursor *cursor, struct stream_shard *shard,
			    struct err *err)
{
	enum code code = stream_shard_get(txn, arena, cursor->table, cursor->shard, shard, err);

	if (code != OK)
		return code;
	if (!is_readable(shard, cursor->stream, cursor->now_ms))
		return err_set(err, MSG_SHARD_ABSENT);
	return OK;
}

/* The position behind the newest record that the shard has or had. */
static enum code find_latest(struct store_txn *txn, const struct table *table,
			     const struct stream_shard *shard, uint64_t *position, struct err *err)
{
	struct stream_peek last;
	enum code code = stream_record_peek(txn, table, shard->start, shard->end, true, &last, err);

	*position = shard->trimmed > shard->start ? shard->trimmed : shard->start + 1;
	if (code == OK && last.is_found)
		*position = last.sequence + 1;
	return code;
}

/*
 * Narrows low..high by looking at some records between the two at once: numbers follow each other
 * but for gaps, so most of them are there. What is not found leaves it as it is.
 */
static enum code probe_records(struct store_txn *txn, const struct table *table, int64_t from_ms,
			       uint64_t *low, uint64_t *high, struct err *err)
{
	struct arena *scratch = arena_new(0);
	uint64_t step = (*high - *low) / (PROBES + 1), first = *low;
	struct store_key keys[PROBES];
	struct str rows[PROBES];

	for (uint64_t i = 0; i < PROBES; i++)
		keys[i] = (struct store_key){
			stream_keyspace(table),
			stream_shard_record_key(scratch, first + (i + 1) * step)};
	enum code code = store_get_many(txn, keys, PROBES, scratch, rows, err);
	for (size_t i = 0; i < PROBES && code == OK; i++) {
		struct stream_record record;

		if (!str_is_set(rows[i]))
			continue;
		if (!stream_record_decode(keys[i].key, rows[i], &record)) {
			code = row_malformed(err, keys[i].keyspace, keys[i].key);
		} else if (record.created_ms >= from_ms) {
			*high = record.sequence;
			break;
		} else {
			*low = record.sequence + 1;
		}
	}
	arena_free(scratch);
	return code;
}

/* The first record not older than `from_ms`: times rise with sequence numbers. Behind the last
 * where all are older. */
static enum code find_time(struct store_txn *txn, const struct table *table,
			   const struct stream_shard *shard, int64_t from_ms, uint64_t *position,
			   struct err *err)
{
	uint64_t low = shard->trimmed > shard->start ? shard->trimmed : shard->start, high;
	enum code code = find_latest(txn, table, shard, &high, err);
	struct stream_peek peek;

	/* records below low are older, those from high on are not */
	while (code == OK && low < high) {
		uint64_t before = high - low;

		if (before > PROBES)
			code = probe_records(txn, table, from_ms, &low, &high, err);
		if (code != OK || high - low < before)
			continue;
		uint64_t middle = low + (high - low) / 2;
		code = stream_record_peek(txn, table, middle, shard->end, false, &peek, err);
		if (code != OK)
			return code;
		if (peek.is_found && peek.created_ms < from_ms)
			low = peek.sequence + 1;
		else
			high = middle;
	}
	*position = low;
	return code;
}

/* Refuses a position whose next record is older than the retention. */
static enum code check_trimmed(struct store_txn *txn, const struct stream_cursor *cursor,
			       const struct stream_shard *shard, uint64_t position, struct err *err)
{
	struct stream_peek peek;

	if (position < shard->trimmed)
		return err_default(err, ERR_TRIMMED_DATA);
	enum code code =
		stream_record_peek(txn, cursor->table, position, shard->end, false, &peek, err);
	if (code != OK)
		return code;
	if (peek.is_found && peek.created_ms < horizon_ms(cursor->now_ms))
		return err_default(err, ERR_TRIMMED_DATA);
	return OK;
}

static enum code find_sequence(struct store_txn *txn, struct stream_cursor *cursor,
			       const struct stream_shard *shard, uint64_t sequence, bool is_after,
			       struct err *err)
{
	uint64_t latest;
	enum code code = find_latest(txn, cursor->table, shard, &latest, err);

	if (code != OK)
		return code;
	if (sequence < shard->start || sequence + is_after > latest)
		return err_set(err, MSG_SEQUENCE_OUTSIDE);
	cursor->position = sequence + is_after;
	return check_trimmed(txn, cursor, shard, cursor->position, err);
}

static enum code find_start(struct store_txn *txn, struct arena *arena,
			    struct stream_cursor *cursor, enum stream_start start,
			    uint64_t sequence, int64_t time_ms, struct err *err)
{
	int64_t from_ms = horizon_ms(cursor->now_ms);
	struct stream_shard shard;
	enum code code = find_shard(txn, arena, cursor, &shard, err);

	if (code != OK)
		return code;
	switch (start) {
	case STREAM_START_LATEST:
		return find_latest(txn, cursor->table, &shard, &cursor->position, err);
	case STREAM_START_AT_SEQUENCE:
	case STREAM_START_AFTER_SEQUENCE:
		return find_sequence(txn, cursor, &shard, sequence,
				     start == STREAM_START_AFTER_SEQUENCE, err);
	case STREAM_START_AT_TIME:
		from_ms = time_ms > from_ms ? time_ms : from_ms;
		break;
	case STREAM_START_TRIM_HORIZON:
		break;
	}
	return find_time(txn, cursor->table, &shard, from_ms, &cursor->position, err);
}

enum code stream_read_start(struct store *store, struct arena *arena, struct stream_cursor *cursor,
			    enum stream_start start, uint64_t sequence, int64_t time_ms,
			    struct err *err)
{
	struct store_txn *txn;
	enum code code = store_begin(store, STORE_READ, &txn, err);

	if (code != OK)
		return code;
	code = find_start(txn, arena, cursor, start, sequence, time_ms, err);
	store_abort(txn);
	return code;
}

/* A page under way. */
struct reading {
	struct arena *arena;
	struct stream_cursor *cursor;
	size_t limit, bytes;
	bool is_cut;
	struct stream_page *page;
};

static enum code add_stream_record(struct reading *reading, const struct store_row *row,
				   struct err *err)
{
	struct stream_page *page = reading->page;
	struct stream_entry entry;

	if (!stream_record_decode(row->key, row->value, &entry.record) ||
	    !stream_record_keys(reading->arena, reading->cursor->table, &entry.record, &entry.keys))
		return row_malformed(err, stream_keyspace(reading->cursor->table), row->key);
	stream_record_view(&entry.record, reading->cursor->stream->view);
	entry.size = stream_record_size(&entry.record, &entry.keys);
	if (page->n == 0 && entry.record.created_ms < horizon_ms(reading->cursor->now_ms))
		return err_default(err, ERR_TRIMMED_DATA);
	reading->is_cut = page->n == reading->limit ||
			  (page->n > 0 && reading->bytes + entry.size > STREAM_PAGE_SIZE_MAX);
	if (reading->is_cut)
		return OK;
	page->v = arena_room(reading->arena, page->v, page->n, sizeof(*page->v));
	page->v[page->n++] = entry;
	reading->bytes += entry.size;
	reading->cursor->position = entry.record.sequence + 1;
	return OK;
}

/* In a closed shard one record more than is wanted is asked for, to know whether there is one. */
static enum code read_records(struct store_txn *txn, struct reading *reading,
			      const struct stream_shard *shard, struct err *err)
{
	const struct table *table = reading->cursor->table;
	const struct stream_page *page = reading->page;
	struct store_page rows = {.is_more = true};

	while (rows.is_more && !reading->is_cut) {
		struct store_range range =
			stream_shard_range(reading->arena, reading->cursor->position, shard->end);
		struct store_bounds bounds = {reading->limit - page->n + (shard->end > 0),
					      STREAM_PAGE_SIZE_MAX + 1 - reading->bytes};
		enum code code = store_page(txn, stream_keyspace(table), &range, bounds,
					    reading->arena, &rows, err);

		if (code != OK)
			return code;
		for (size_t i = 0; i < rows.n && !reading->is_cut; i++) {
			code = add_stream_record(reading, &rows.v[i], err);
			if (code != OK)
				return code;
		}
		reading->is_cut = reading->is_cut ||
				  (rows.is_more && page->n == reading->limit && shard->end == 0);
	}
	return OK;
}

static enum code read_record_page(struct store_txn *txn, struct reading *reading, struct err *err)
{
	struct stream_cursor *cursor = reading->cursor;
	struct stream_shard shard;
	enum code code = find_shard(txn, reading->arena, cursor, &shard, err);

	if (code != OK)
		return code;
	if (cursor->position < shard.trimmed)
		return err_default(err, ERR_TRIMMED_DATA);
	code = read_records(txn, reading, &shard, err);
	cursor->is_at_end = shard.end > 0 && !reading->is_cut;
	return code;
}

enum code stream_read_page(struct store *store, struct arena *arena, struct stream_cursor *cursor,
			   size_t limit, struct stream_page *page, struct err *err)
{
	struct reading reading = {.arena = arena, .cursor = cursor, .limit = limit, .page = page};
	struct store_txn *txn;
	enum code code = store_begin(store, STORE_READ, &txn, err);

	*page = (struct stream_page){0};
	if (code != OK)
		return code;
	code = read_record_page(txn, &reading, err);
	store_abort(txn);
	return code;
}
