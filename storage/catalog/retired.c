#include "storage/catalog/retired.h"

#include "core/buf.h"
#include "storage/stream/stream.h"

#define PREFIX STR("\0\0")

bool retired_is_key(struct str key)
{
	return str_starts_with(key, PREFIX);
}

struct str retired_key(struct arena *arena, uint64_t number)
{
	struct buf buf = buf_in(arena);

	buf_add_str(&buf, PREFIX);
	buf_add_be64(&buf, number);
	return buf_str(&buf);
}

struct table *retired_of(const struct table *table, int64_t now_ms)
{
	const struct stream *latest =
		table->streams.n ? &table->streams.v[table->streams.n - 1] : NULL;

	if (!latest || stream_is_gone(latest, now_ms))
		return NULL;
	struct table *kept = table_clone(table);
	if (!latest->disabled_ms)
		kept->streams.v[kept->streams.n - 1].disabled_ms = now_ms;
	kept->streams.view = STREAM_OFF;
	kept->log.reasons = 0;
	kept->log.changed_ms = now_ms;
	kept->state.status = STATUS_DELETING;
	return kept;
}
