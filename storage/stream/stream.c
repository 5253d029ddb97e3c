#include "storage/stream/stream.h"

#include "storage/messages.h"
#include "storage/schema/currency.h"
#include "storage/store/row.h"
#include "storage/store/retry.h"
#include "storage/stream/stream_head.h"
#include "storage/store/walk.h"

#define TRIM_SLACK_MS (5 * 60 * 1000LL) /* writers trim now and then, not with every write */
#define TRIM_PER_WRITE 256           /* records that one write deletes at most: more than it adds */
#define TRIM_BYTES (4 * 1024 * 1024) /* of records that one transaction deletes, but for the last  \
				      */

/* The end of a lane of one table's stream within a transaction. */
struct stream_ending {
	struct stream_ending *next;
	const struct table *table;
	unsigned lane;
	bool is_plain; /* records are appended at the commit: the tail is not known */
	struct stream_tail tail;
};

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static enum code load_tail(struct store_txn *txn, const struct table *table, unsigned lane,
			   struct stream_tail *tail, struct err *err)
{
	struct stream_peek first = {.is_found = false}, last = {.is_found = false};
	uint64_t base = stream_lane_base(lane), used = 0;
	enum code code = stream_shard_last_in(txn, table, lane, &tail->last, err);

	if (code != OK)
		return code;
	code = stream_record_peek(txn, table, base, 0, false, &first, err);
	if (code != OK)
		return code;
	code = stream_record_peek(txn, table, base, 0, true, &last, err);
	if (code != OK)
		return code;
	code = stream_shard_used(txn, err->arena, table, lane, &used, err);
	if (code != OK)
		return code;
	tail->next = larger(larger(larger(larger(tail->last.start, base) + 1, tail->last.end),
				   tail->last.trimmed),
			    used);
	tail->latest_ms = later(tail->last.created_ms, tail->last.closed_ms);
	if (last.is_found) {
		tail->next = larger(tail->next, last.sequence + 1);
		tail->latest_ms = later(tail->latest_ms, last.created_ms);
	}
	tail->is_empty = !first.is_found;
	tail->oldest_ms = first.created_ms;
	return OK;
}

/*
 * Whether what the process remembers is the end still. An append goes on from the end, so the
 * number remembered is the next one as long as it is no record's, its shard is open, and trimming
 * has not come so far.
 */
static enum code verify_tail(struct store_txn *txn, struct arena *arena, const struct table *table,
			     const struct stream_open *open, const struct stream_tail *tail,
			     bool *is_right, struct err *err)
{
	struct str record;

	*is_right = false;
	if (tail->last.stamp == 0 || open->stamp != tail->last.stamp || open->trimmed > tail->next)
		return OK;
	enum code code = store_get(txn, stream_keyspace(table),
				   stream_shard_record_key(arena, tail->next), arena, &record, err);
	*is_right = code == OK && !str_is_set(record);
	return code;
}

/* The end as the process remembers it, or else as the store has it. */
static enum code find_tail(struct store_txn *txn, struct arena *arena, const struct table *table,
			   unsigned lane, struct stream_tail *tail, struct err *err)
{
	struct stream_open open;
	bool is_right = false;
	enum code code = OK;

	if (store_foresees(txn)) {
		code = stream_head_get(txn, arena, table, lane, tail, &is_right, err);
		return code != OK || is_right ? code : load_tail(txn, table, lane, tail, err);
	}
	code = stream_shard_open(txn, table, lane, &open, err);
	if (code != OK)
		return code;
	*tail = stream_state_tail(table->streams.state, lane);
	code = verify_tail(txn, arena, table, &open, tail, &is_right, err);
	if (code != OK || is_right)
		return code;
	code = load_tail(txn, table, lane, tail, err);
	if (code != OK)
		return code;
	/* not so in a file to which 0.1.0 wrote */
	if (tail->last.end == 0 &&
	    (open.stamp != tail->last.stamp || open.trimmed != tail->last.trimmed))
		code = stream_shard_put_open(txn, table, &tail->last, err);
	return code;
}

enum code stream_next(struct store_txn *txn, const struct table *table, uint64_t *next,
		      struct err *err)
{
	struct stream_tail tail;
	enum code code = load_tail(txn, table, 0, &tail, err);

	*next = code == OK ? tail.next : 0;
	return code;
}

enum code stream_nexts(struct store_txn *txn, struct arena *arena, const struct table *table,
		       struct stream_nexts *nexts, struct err *err)
{
	*nexts = (struct stream_nexts){.n = stream_lanes_last(table) + 1};
	nexts->v = ARENA_ARRAY(arena, uint64_t, nexts->n);
	for (unsigned lane = 0; lane < nexts->n; lane++) {
		struct stream_tail tail;
		enum code code = load_tail(txn, table, lane, &tail, err);

		if (code != OK)
			return code;
		nexts->v[lane] = tail.next;
	}
	return OK;
}

enum code stream_skip(struct store_txn *txn, struct arena *arena, const struct table *table,
		      const struct stream_nexts *nexts, struct err *err)
{
	struct stream_nexts known;
	enum code code = stream_nexts(txn, arena, table, &known, err);

	if (code != OK)
		return code;
	for (size_t lane = 0; lane < nexts->n; lane++) {
		uint64_t next =
			lane < known.n ? known.v[lane] : stream_lane_base((unsigned)lane) + 1;

		if (nexts->v[lane] > next)
			code = stream_shard_put_used(txn, arena, table, nexts->v[lane], err);
		if (code != OK)
			return code;
	}
	return OK;
}

/*
 * Where there are several lanes: raises the stamp to a larger one than all shards of the table
 * have. That there is none of it yet is read, so of two transactions that open shards at the same
 * moment one runs again.
 */
static enum code find_stamp(struct store_txn *txn, struct arena *arena, const struct table *table,
			    uint64_t *stamp, struct err *err)
{
	struct stream_shard last = {.stamp = 0}, other;

	if (stream_lanes_last(table) == 0)
		return OK;
	enum code code = stream_shard_last(txn, table, &last, err);
	*stamp = larger(*stamp, last.stamp + 1);
	return code == OK ? stream_shard_get(txn, arena, table, *stamp, &other, err) : code;
}

/* Opens a shard behind the last and makes it that. */
static enum code open_shard(struct store_txn *txn, struct arena *arena, const struct table *table,
			    struct stream_tail *tail, uint64_t stream, uint64_t parent,
			    int64_t now_ms, struct err *err)
{
	tail->latest_ms = later(tail->latest_ms, now_ms);
	uint64_t stamp = larger((uint64_t)later(tail->latest_ms, 1), tail->last.stamp + 1);
	enum code code = find_stamp(txn, arena, table, &stamp, err);

	if (code != OK)
		return code;
	tail->last = (struct stream_shard){
		.stamp = stamp,
		.parent = parent,
		.stream = stream,
		.start = tail->next++,
		.created_ms = tail->latest_ms,
	};
	return stream_shard_put(txn, arena, table, &tail->last, err);
}

static bool is_hidden(const struct stream_shard *shard)
{
	return shard->parent == STREAM_SHARD_HIDDEN;
}

static enum code close_shard(struct store_txn *txn, struct arena *arena, const struct table *table,
			     struct stream_tail *tail, int64_t now_ms, struct err *err)
{
	tail->latest_ms = later(tail->latest_ms, now_ms);
	tail->last.end = tail->next;
	tail->last.closed_ms = tail->latest_ms;
	return stream_shard_put(txn, arena, table, &tail->last, err);
}

static enum code rotate(struct store_txn *txn, struct arena *arena, const struct table *table,
			struct stream_tail *tail, int64_t now_ms, struct err *err)
{
	struct stream_shard closed;
	enum code code = close_shard(txn, arena, table, tail, now_ms, err);

	closed = tail->last;
	return code != OK ? code
			  : open_shard(txn, arena, table, tail, closed.stream, closed.stamp, now_ms,
				       err);
}

static bool is_closed(const struct stream_tail *tail)
{
	return tail->last.stamp == 0 || tail->last.end != 0;
}

static bool is_due(const struct stream_tail *tail, const struct stream_rotation *rotation,
		   int64_t now_ms)
{
	/* the shard's own start is a number too */
	return !is_hidden(&tail->last) &&
	       ((rotation->records > 0 && tail->next - tail->last.start > rotation->records) ||
		(rotation->ms > 0 && now_ms - tail->last.created_ms >= rotation->ms));
}

/* Records of the lane from before this moment may go: only lane 0 is kept for the log. */
static int64_t keeps_from(const struct table *table, unsigned lane, int64_t now_ms)
{
	return lane ? now_ms - STREAM_RETENTION_MS : stream_keeps_from(table, now_ms);
}

/*
 * Whether there is nothing to do at the end of the lane but to append, by what this process
 * remembers of it: then the record gets its number at the commit, where the store can
 * (store_appends()), and the end is not read.
 */
static bool is_plain(const struct table *table, unsigned lane, const struct stream_appends *appends)
{
	struct stream_tail tail = stream_state_tail(table->streams.state, lane);

	/* with rotation by their number, the number must be known */
	return appends->rotation->records == 0 && tail.last.stamp > 0 && tail.last.end == 0 &&
	       !tail.is_empty &&
	       tail.oldest_ms >= keeps_from(table, lane, appends->now_ms) - TRIM_SLACK_MS &&
	       !is_due(&tail, appends->rotation, appends->now_ms);
}

/* The lanes to which a change is appended, one or two; their number. */
static size_t lanes_for(const struct table *table, uint32_t partition_hash, unsigned lanes[2])
{
	unsigned own = stream_lane_for(table, partition_hash);
	size_t n = 0;

	if (own)
		lanes[n++] = own;
	if (stream_lane_is_log_open(table))
		lanes[n++] = 0;
	return n;
}

static bool has_key(const struct store_key *keys, size_t n, const struct store_key *key)
{
	for (size_t i = n; i-- > 0;) {
		if (keys[i].keyspace.table == key->keyspace.table && str_eq(keys[i].key, key->key))
			return true;
	}
	return false;
}

size_t stream_foresee(struct store_txn *txn, struct arena *arena, const struct table *table,
		      struct str row_key, const struct stream_appends *appends,
		      struct store_key *keys, size_t n)
{
	unsigned lanes[2];
	size_t lane_count = lanes_for(table, stream_partition(row_key), lanes);

	for (size_t i = 0; i < lane_count; i++) {
		if (store_appends(txn) && is_plain(table, lanes[i], appends))
			continue;
		keys[n] = stream_head_key(arena, table, lanes[i]);
		n += !has_key(keys, n, &keys[n]);
	}
	return n;
}

static bool is_change(const struct stream_change *change)
{
	bool had = str_is_set(change->old_image), has = str_is_set(change->new_image);

	return had != has || (had && !str_eq(change->old_image, change->new_image));
}

/* The end of the lane as the transaction sees it; remembered by the process or looked for at its
 * first append. */
static enum code find_ending(struct store_txn *txn, struct arena *arena, const struct table *table,
			     unsigned lane, struct stream_appends *appends,
			     struct stream_ending **out, struct err *err)
{
	struct stream_ending *ending = appends->endings;

	while (ending &&
	       (ending->table->identity.number != table->identity.number || ending->lane != lane))
		ending = ending->next;
	*out = ending;
	if (ending)
		return OK;
	ending = ARENA_NEW(arena, struct stream_ending);
	*ending = (struct stream_ending){.next = appends->endings, .table = table, .lane = lane};
	appends->endings = *out = ending;
	ending->is_plain = store_appends(txn) && is_plain(table, lane, appends);
	return ending->is_plain ? OK : find_tail(txn, arena, table, lane, &ending->tail, err);
}

static enum code trim_lane_piece(struct store_txn *txn, struct arena *arena,
				 const struct table *table, const unsigned *lane, size_t budget,
				 int64_t now_ms, bool *is_done, struct err *err);

/* What is to be done now and then before a record is appended. */
static enum code tend(struct store_txn *txn, struct arena *arena, const struct table *table,
		      unsigned lane, const struct stream_appends *appends, struct stream_tail *tail,
		      struct err *err)
{
	enum code code = OK;
	bool is_done;

	if (!tail->is_empty &&
	    tail->oldest_ms < keeps_from(table, lane, appends->now_ms) - TRIM_SLACK_MS) {
		code = trim_lane_piece(txn, arena, table, &lane, TRIM_PER_WRITE, appends->now_ms,
				       &is_done, err);
		if (code != OK)
			return code;
		code = load_tail(txn, table, lane, tail, err);
	}
	if (code != OK)
		return code;
	if (is_closed(tail)) /* with locks, shards may be read as they are while another transaction
				follows one by a child: once more */
		return store_foresees(txn) ? err_default(err, ERR_CONFLICT)
					   : err_set(err, MSG_STREAM_NO_SHARD);
	if (is_due(tail, appends->rotation, appends->now_ms))
		code = rotate(txn, arena, table, tail, appends->now_ms, err);
	return code;
}

static enum code append_plain(struct store_txn *txn, struct arena *arena, const struct table *table,
			      unsigned lane, const struct stream_change *change, int64_t now_ms,
			      struct err *err)
{
	struct stream_record record = stream_record_of(arena, table, change, now_ms);
	struct store_key head = stream_head_key(arena, table, lane);
	const struct store_append append = {
		head.keyspace,
		head.key,
		stream_shard_record_prefix(),
		stream_record_encode(arena, &record),
		STREAM_RECORD_STAMP_AT,
	};

	return store_append(txn, &append, err);
}

static enum code append_to(struct store_txn *txn, struct arena *arena, const struct table *table,
			   unsigned lane, const struct stream_change *change,
			   struct stream_appends *appends, struct err *err)
{
	struct stream_ending *ending;
	enum code code = find_ending(txn, arena, table, lane, appends, &ending, err);

	if (code != OK)
		return code;
	if (ending->is_plain)
		return append_plain(txn, arena, table, lane, change, appends->now_ms, err);
	code = tend(txn, arena, table, lane, appends, &ending->tail, err);
	if (code != OK)
		return code;
	struct stream_tail *tail = &ending->tail;
	tail->latest_ms = later(tail->latest_ms, appends->now_ms);
	if (tail->is_empty) {
		tail->is_empty = false;
		tail->oldest_ms = tail->latest_ms;
	}
	struct stream_record record = stream_record_of(arena, table, change, tail->latest_ms);
	code = store_put(txn, stream_keyspace(table), stream_shard_record_key(arena, tail->next++),
			 stream_record_encode(arena, &record), err);
	return code == OK && store_foresees(txn) ? stream_head_put(txn, arena, table, tail, err)
						 : code;
}

enum code stream_append(struct store_txn *txn, struct arena *arena, const struct table *table,
			const struct stream_change *change, struct stream_appends *appends,
			struct err *err)
{
	unsigned lanes[2];

	if (!table_logs(table) || !is_change(change))
		return OK;
	size_t n = lanes_for(table, change->partition, lanes);
	for (size_t i = 0; i < n; i++) {
		enum code code = append_to(txn, arena, table, lanes[i], change, appends, err);
		if (code != OK)
			return code;
	}
	return OK;
}

void stream_end(const struct stream_appends *appends, enum code code)
{
	for (const struct stream_ending *ending = appends->endings; ending; ending = ending->next) {
		if (code == OK && !ending->is_plain)
			stream_state_keep(ending->table->streams.state, ending->lane,
					  &ending->tail);
		else if (code == ERR_CONFLICT && ending->is_plain)
			stream_state_forget(ending->table->streams.state, ending->lane);
	}
}

int64_t stream_keeps_from(const struct table *table, int64_t now_ms)
{
	bool is_kept =
		(table->log.reasons & LOG_RECOVERY) && table->log.keep_ms > STREAM_RETENTION_MS;
	int64_t from_ms = now_ms - (is_kept ? table->log.keep_ms : STREAM_RETENTION_MS);

	return table->log.reasons && table->log.hold_ms > 0 && table->log.hold_ms < from_ms
		       ? table->log.hold_ms
		       : from_ms;
}

/* Whom records in lane 0 are for. */
enum use { USE_NONE, USE_LOG, USE_STREAM };

static enum use use_of(const struct table *table)
{
	if (!table || !stream_lane_is_log_open(table))
		return USE_NONE;
	return table->streams.view != STREAM_OFF && !stream_lanes_open(table) ? USE_STREAM
									      : USE_LOG;
}

/* A change of shards. */
struct shards_change {
	const struct table *table;
	uint64_t stream;     /* struct stream's number of what is opened */
	int64_t now_ms;
};

/* Closes the open shard of the lane, opens one, or both. */
static enum code change_lane(struct store_txn *txn, struct arena *arena,
			     const struct shards_change *change, unsigned lane, enum use was,
			     enum use is, struct err *err)
{
	struct stream_tail tail;
	enum code code = load_tail(txn, change->table, lane, &tail, err);

	if (code != OK)
		return code;
	if (was != USE_NONE)
		code = close_shard(txn, arena, change->table, &tail, change->now_ms, err);
	if (code != OK)
		return code;
	if (is == USE_NONE)
		return stream_shard_del_open(txn, change->table, lane, err);
	struct stream_shard last;
	code = stream_shard_last(txn, change->table, &last, err);
	if (code != OK)
		return code;
	tail.last.stamp = larger(tail.last.stamp, last.stamp);
	return open_shard(txn, arena, change->table, &tail, change->stream,
			  is == USE_STREAM ? 0 : STREAM_SHARD_HIDDEN, change->now_ms, err);
}

enum code stream_change_table(struct store_txn *txn, struct arena *arena,
			      const struct table *current, const struct table *next,
			      struct err *err)
{
	const struct stream *latest =
		next->streams.n ? &next->streams.v[next->streams.n - 1] : NULL;
	enum use was = use_of(current), is = use_of(next);
	unsigned had = current ? stream_lanes_open(current) : 0, has = stream_lanes_open(next);
	bool was_stream = current && current->streams.view != STREAM_OFF,
	     is_stream = next->streams.view != STREAM_OFF;
	struct shards_change change = {.table = next, .stream = latest ? latest->number : 0};
	enum code code = OK;

	if (was == is && had == has)
		return OK;
	change.now_ms = was_stream == is_stream ? next->log.changed_ms
			: is_stream             ? latest->created_ms
						: latest->disabled_ms;
	if (!current || !table_has_log(current))
		code = store_create(txn, stream_keyspace(next), err);
	if (code != OK)
		return code;
	if (was != is)
		code = change_lane(txn, arena, &change, 0, was, is, err);
	if (code != OK)
		return code;
	for (unsigned lane = 1; lane <= (had > has ? had : has) && had != has; lane++) {
		code = change_lane(txn, arena, &change, lane, lane <= had ? USE_STREAM : USE_NONE,
				   lane <= has ? USE_STREAM : USE_NONE, err);
		if (code != OK)
			return code;
	}
	return OK;
}

static enum code rotate_lane(struct store_txn *txn, const struct table *table, unsigned lane,
			     int64_t now_ms, struct err *err)
{
	struct stream_tail tail;
	enum code code = load_tail(txn, table, lane, &tail, err);

	if (code != OK)
		return code;
	/* the stream of a table being deleted is kept, closed; else the shards were read while
	 * another transaction was following one by a child */
	if (is_closed(&tail))
		return err_default(err, table->state.status == STATUS_DELETING
						? ERR_RESOURCE_NOT_FOUND
						: ERR_CONFLICT);
	return rotate(txn, err->arena, table, &tail, now_ms, err);
}

static enum code rotate_all_lanes(struct store_txn *txn, struct table *table, int64_t now_ms,
				  struct err *err)
{
	unsigned lanes = stream_lanes_open(table);
	enum code code = currency_check(txn, table, NULL, err);

	if (code != OK)
		return code;
	if (table->streams.view == STREAM_OFF)
		return err_default(err, ERR_RESOURCE_NOT_FOUND);
	for (unsigned lane = lanes > 0; lane <= lanes; lane++) {
		code = rotate_lane(txn, table, lane, now_ms, err);
		if (code != OK)
			return code;
	}
	return OK;
}

static enum code rotate_once(struct store *store, struct table *table, int64_t now_ms,
			     struct err *err)
{
	struct store_txn *txn;
	enum code code = store_begin(store, STORE_WRITE, &txn, err);

	if (code != OK)
		return code;
	code = rotate_all_lanes(txn, table, now_ms, err);
	return store_end(txn, code, err);
}

enum code stream_rotate(struct store *store, struct table *table, int64_t now_ms, struct err *err)
{
	struct retry retry = {0};
	enum code code;

	do {
		code = rotate_once(store, table, now_ms, err);
	} while (retry_again(&retry, code));
	return retry_code(code, err);
}

struct old {
	struct arena *arena;
	int64_t before_ms;
	size_t n, budget, bytes;
	bool is_cut;
	uint64_t first_kept; /* sequence number of the first record that stays; UINT64_MAX: all of
				the range go */
	struct str *keys;
};

/* The keys of the oldest records of the range. */
static enum code find_old(struct store_txn *txn, const struct table *table,
			  const struct store_range *range, struct old *old, struct err *err)
{
	struct walk walk = walk_begin(txn, stream_keyspace(table), range, err);
	struct stream_record record;
	struct store_row row;
	enum code code = OK;

	while (walk_next(&walk, &row)) {
		if (!stream_record_decode(row.key, row.value, &record)) {
			code = row_malformed(err, stream_keyspace(table), row.key);
			break;
		}
		old->is_cut = old->n == old->budget || old->bytes >= TRIM_BYTES;
		if (old->is_cut || record.created_ms >= old->before_ms) {
			old->first_kept = record.sequence;
			break;
		}
		old->bytes += row.value.n;
		old->keys[old->n++] = str_copy(old->arena, row.key);
	}
	enum code read = walk_end(&walk);
	return code != OK ? code : read;
}

/* Deletes the oldest records of the range. */
static enum code trim_records(struct store_txn *txn, const struct table *table,
			      const struct store_range *range, struct old *old, struct err *err)
{
	enum code code = find_old(txn, table, range, old, err);

	if (code != OK)
		return code;
	for (size_t i = 0; i < old->n; i++) {
		code = store_del(txn, stream_keyspace(table), old->keys[i], err);
		if (code != OK)
			return code;
	}
	return OK;
}

/*
 * Notes in the shards what was deleted, and deletes those that are over. The table's latest one, of
 * the stamp `latest`, stays: it knows the numbers that were used. Else a row knows them, once a
 * lane's last one goes, which the last of these is where nothing follows. Shards of a lane and
 * records are in one order, so the first shard whose records all stay is the end.
 */
static enum code trim_shards(struct store_txn *txn, const struct table *table,
			     struct stream_shard *shards, size_t n, uint64_t latest,
			     bool is_followed, const struct old *old, size_t *changes,
			     struct err *err)
{
	uint64_t trimmed = old->n ? stream_shard_sequence(old->keys[old->n - 1]) + 1 : 0;
	enum code code = OK;

	for (size_t i = 0; i < n; i++) {
		struct stream_shard *shard = &shards[i];
		uint64_t own = shard->end && trimmed > shard->end ? shard->end : trimmed;
		bool is_over = shard->closed_ms > 0 && shard->closed_ms < old->before_ms &&
			       shard->end <= old->first_kept;

		if (is_over && shard->stamp != latest) {
			code = stream_shard_del(txn, old->arena, table, shard, err);
			if (code != OK)
				return code;
			if (i + 1 == n && !is_followed)
				code = stream_shard_put_used(txn, old->arena, table, shard->end,
							     err);
			++*changes;
		} else if (own > shard->start && own > shard->trimmed) {
			shard->trimmed = own;
			code = stream_shard_put(txn, old->arena, table, shard, err);
			++*changes;
		} else if (shard->start >= trimmed) {
			break;
		}
		if (code != OK)
			return code;
	}
	return OK;
}

/* Some of the table's shards, the oldest first. */
struct oldest {
	struct stream_shard *v;
	size_t n;
	bool is_page;    /* there are more, and the next one is behind these in `v` */
	size_t changes;  /* made to them */
};

/* The same of one lane of it; *is_cut: some of what is old is left. */
static enum code trim_lane(struct store_txn *txn, struct arena *arena, const struct table *table,
			   unsigned lane, struct oldest *oldest, size_t *budget, int64_t now_ms,
			   bool *is_cut, struct err *err)
{
	struct old old = {
		.arena = arena,
		.before_ms = keeps_from(table, lane, now_ms),
		.budget = *budget,
		.first_kept = UINT64_MAX,
		.keys = ARENA_ARRAY(arena, struct str, *budget),
	};
	struct stream_shard *own = ARENA_ARRAY(arena, struct stream_shard, oldest->n);
	uint64_t latest = oldest->is_page || oldest->n == 0 ? 0 : oldest->v[oldest->n - 1].stamp;
	bool is_followed = oldest->is_page && stream_lane_of(oldest->v[oldest->n].start) == lane;
	size_t n = 0;

	for (size_t i = 0; i < oldest->n; i++) {
		if (stream_lane_of(oldest->v[i].start) == lane)
			own[n++] = oldest->v[i];
	}
	if (n == 0 && (lane > 0 || oldest->is_page))
		return OK;
	/* records of later shards are left for the next call, which then finds those shards */
	struct store_range range = stream_shard_range(arena, stream_lane_base(lane),
						      oldest->is_page ? own[n - 1].end : 0);
	enum code code = trim_records(txn, table, &range, &old, err);
	if (code != OK)
		return code;
	code = trim_shards(txn, table, own, n, latest, is_followed, &old, &oldest->changes, err);
	if (code != OK)
		return code;
	*is_cut = *is_cut || old.is_cut;
	*budget -= old.n;
	return OK;
}

/* Trims a lane; NULL: all of them. */
static enum code trim_lane_piece(struct store_txn *txn, struct arena *arena,
				 const struct table *table, const unsigned *lane, size_t budget,
				 int64_t now_ms, bool *is_done, struct err *err)
{
	struct oldest oldest = {.n = 0};
	uint64_t lanes = 1; /* a bit each */
	bool is_cut = false;
	enum code code =
		stream_shard_list(txn, arena, table, 0, budget + 1, &oldest.v, &oldest.n, err);

	if (code != OK)
		return code;
	oldest.is_page = oldest.n > budget;
	oldest.n -= oldest.is_page;
	for (size_t i = 0; i < oldest.n; i++)
		lanes |= 1ULL << stream_lane_of(oldest.v[i].start);
	for (unsigned i = 0; i <= STREAM_LANES && code == OK; i++) {
		if ((lanes >> i & 1) && (!lane || *lane == i))
			code = trim_lane(txn, arena, table, i, &oldest, &budget, now_ms, &is_cut,
					 err);
	}
	*is_done = code == OK && !is_cut && !(oldest.is_page && oldest.changes > 0);
	return code;
}

enum code stream_trim(struct store_txn *txn, struct arena *arena, const struct table *table,
		      size_t budget, int64_t now_ms, bool *is_done, struct err *err)
{
	return trim_lane_piece(txn, arena, table, NULL, budget, now_ms, is_done, err);
}
