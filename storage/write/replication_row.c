#include "storage/write/replication_row.h"

#include "core/buf.h"
#include "core/key.h"

enum { KIND_ITEM = 'i', KIND_DELETED = 't', KIND_QUEUED = 'q' };

#define STAMP_HEAD 9 /* the time, and whether the item was deleted; the region follows */
#define TIME_BYTES 8
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
	if (key.n < 1 + TIME_BYTES || key.p[0] != KIND_DELETED)
		return false;
	*stamp_ms = (int64_t)str_be(key.p + 1, TIME_BYTES);
	*row_key = (struct str){key.p + 1 + TIME_BYTES, key.n - 1 - TIME_BYTES};
	return true;
}

struct store_range replication_deleted_range(struct arena *arena, int64_t before_ms)
{
	return (struct store_range){str_copy(arena, STR("t")), replication_deleted_key(arena, before_ms, STR("")), false};
}

struct str replication_stamp_encode(struct arena *arena, const struct stamp *stamp)
{
	struct buf buf = buf_in(arena);

	buf_add_be64(&buf, (uint64_t)stamp->ms);
	buf_add_byte(&buf, stamp->is_deleted);
	buf_add_str(&buf, stamp->region);
	return buf_str(&buf);
}

bool replication_stamp_decode(struct str row, struct stamp *stamp)
{
	*stamp = (struct stamp){.region = STR_ABSENT};
	if (!str_is_set(row))
		return true;
	if (row.n <= STAMP_HEAD)
		return false;
	*stamp = (struct stamp){(int64_t)str_be(row.p, TIME_BYTES), {row.p + STAMP_HEAD, row.n - STAMP_HEAD}, row.p[TIME_BYTES] != 0};
	return true;
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

struct str replication_queue_key(struct arena *arena, int64_t written_ms, const struct stamp *stamp, struct str row_key)
{
	struct buf buf = begin_queued(arena, stamp->region);

	buf_add_be64(&buf, (uint64_t)written_ms);
	buf_add_be64(&buf, (uint64_t)stamp->ms);
	buf_add_str(&buf, row_key);
	return buf_str(&buf);
}

struct str replication_queue_encode(struct arena *arena, const struct stamp *stamp, struct str image)
{
	struct buf buf = buf_in(arena);

	buf_reserve(&buf, 1 + image.n);
	buf_add_byte(&buf, stamp->is_deleted ? 0 : IMAGE_IS_THERE);
	buf_add_str(&buf, image);
	return buf_str(&buf);
}

bool replication_queue_decode(struct str key, struct str row, struct replication_queued *queued)
{
	const char *end = key.n > 1 && key.p[0] == KIND_QUEUED ? memchr(key.p, 0, key.n) : NULL;
	size_t at = end ? (size_t)(end - key.p) + 1 : 0;

	if (!end || key.n < at + 2 * TIME_BYTES || row.n < 1)
		return false;
	bool is_there = row.p[0] == IMAGE_IS_THERE;
	*queued = (struct replication_queued){
		.written_ms = (int64_t)str_be(key.p + at, TIME_BYTES),
		.row_key = {key.p + at + 2 * TIME_BYTES, key.n - at - 2 * TIME_BYTES},
		.stamp = {(int64_t)str_be(key.p + at + TIME_BYTES, TIME_BYTES), {key.p + 1, at - 2}, !is_there},
		.image = is_there ? (struct str){row.p + 1, row.n - 1} : STR_ABSENT,
	};
	return true;
}
