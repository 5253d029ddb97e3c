#include "storage/write/replication_row.h"

#include "core/buf.h"
#include "core/key.h"
#include "storage/store/row.h"

enum { KIND_ITEM = 'i', KIND_DELETED = 't', KIND_QUEUED = 'q' };

#define IMAGE_IS_THERE 1

bool stamp_is_later(const struct stamp *change, const struct stamp *known)
{
	if (!str_is_set(known->region) || change->ms != known->ms)
		return !str_is_set(known->region) || change->ms > known->ms;
	return str_cmp(change->region, known->region) > 0;
}

static struct buf begin(struct arena *arena, int kind)
{
	struct buf buf = buf_in(arena);

	buf_add_byte(&buf, kind);
	return buf;
}

struct str replication_item_key(struct arena *arena, struct str row_key)
{
	struct buf buf = begin(arena, KIND_ITEM);

	buf_add_str(&buf, row_key);
	return buf_str(&buf);
}

struct str replication_deleted_key(struct arena *arena, int64_t stamp_ms, struct str row_key)
{
	struct buf buf = begin(arena, KIND_DELETED);

	buf_add_be64(&buf, (uint64_t)stamp_ms);
	buf_add_str(&buf, row_key);
	return buf_str(&buf);
}

bool replication_deleted_read(struct str key, int64_t *stamp_ms, struct str *row_key)
{
	struct row_reader row = row_read(key);
	bool is_kind = row_byte(&row) == KIND_DELETED;

	*stamp_ms = row_ms(&row);
	*row_key = row_rest(&row);
	return is_kind && row_is_whole(&row);
}

struct store_range replication_deleted_range(struct arena *arena, int64_t before_ms)
{
	return (struct store_range){str_copy(arena, STR("t")),
				    replication_deleted_key(arena, before_ms, STR("")), false};
}

struct str replication_stamp_encode(struct arena *arena, const struct stamp *stamp)
{
	struct buf buf = buf_in(arena);

	buf_add_be64(&buf, (uint64_t)stamp->ms);
	buf_add_byte(&buf, stamp->is_deleted);
	buf_add_str(&buf, stamp->region);
	return buf_str(&buf);
}

/* The time, whether the item was deleted, the region. */
bool replication_stamp_decode(struct str bytes, struct stamp *stamp)
{
	struct row_reader row = row_read(bytes);

	*stamp = (struct stamp){.region = STR_ABSENT};
	if (!str_is_set(bytes))
		return true;
	stamp->ms = row_ms(&row);
	stamp->is_deleted = row_byte(&row) != 0;
	stamp->region = row_rest(&row);
	return row_is_whole(&row) && stamp->region.n > 0;
}

static struct store_range range_of(struct arena *arena, struct buf *prefix)
{
	struct str low = buf_str(prefix);

	return (struct store_range){low, key_after_prefix(arena, low), false};
}

static struct buf begin_queued(struct arena *arena, struct str region)
{
	struct buf buf = begin(arena, KIND_QUEUED);

	buf_add_str(&buf, region);
	buf_add_byte(&buf, 0);
	return buf;
}

struct store_range replication_queue_range(struct arena *arena, struct str region)
{
	struct buf prefix = begin_queued(arena, region);

	return range_of(arena, &prefix);
}

struct store_range replication_queue_all(struct arena *arena)
{
	struct buf prefix = begin(arena, KIND_QUEUED);

	return range_of(arena, &prefix);
}

struct str replication_queue_key(struct arena *arena, int64_t written_ms, const struct stamp *stamp,
				 struct str row_key)
{
	struct buf buf = begin_queued(arena, stamp->region);

	buf_add_be64(&buf, (uint64_t)written_ms);
	buf_add_be64(&buf, (uint64_t)stamp->ms);
	buf_add_str(&buf, row_key);
	return buf_str(&buf);
}

struct str replication_queue_encode(struct arena *arena, const struct stamp *stamp,
				    struct str image)
{
	struct buf buf = buf_in(arena);

	buf_reserve(&buf, 1 + image.n);
	buf_add_byte(&buf, stamp->is_deleted ? 0 : IMAGE_IS_THERE);
	buf_add_str(&buf, image);
	return buf_str(&buf);
}

bool replication_queue_decode(struct str key, struct str value, struct replication_queued *queued)
{
	struct row_reader at = row_read(key), row = row_read(value);
	bool is_kind = row_byte(&at) == KIND_QUEUED, is_there = row_byte(&row) == IMAGE_IS_THERE;

	*queued = (struct replication_queued){
		.stamp = {.region = row_until(&at, '\0'), .is_deleted = !is_there}};
	queued->written_ms = row_ms(&at);
	queued->stamp.ms = row_ms(&at);
	queued->row_key = row_rest(&at);
	queued->image = row_rest(&row);
	if (!is_there)
		queued->image = STR_ABSENT;
	return is_kind && row_is_whole(&at) && row_is_whole(&row);
}

bool replication_is_sound(const struct store_row *row)
{
	struct replication_queued queued;
	struct stamp stamp;
	struct str row_key;
	int64_t stamp_ms;

	switch (row_at(row->key, 0)) {
	case KIND_ITEM:
		return replication_stamp_decode(row->value, &stamp);
	case KIND_DELETED:
		return replication_deleted_read(row->key, &stamp_ms, &row_key);
	case KIND_QUEUED:
		return replication_queue_decode(row->key, row->value, &queued);
	default:
		return str_eq(row->key, STR("f")); /* how far the filling came: a key */
	}
}
