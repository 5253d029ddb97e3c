#include "storage/stream/stream_record.h"

#include "core/image.h"
#include "storage/item_key.h"
#include "storage/store/row.h"

#define VERSION 1
#define HEAD_SIZE 24
#define FLAG_SERVICE_DELETE 0x01
#define FLAG_KEYS                                                                                  \
	0x02 /* which parts are there: an absent one and one of no bytes are not the same */
#define FLAG_OLD 0x04
#define FLAG_NEW 0x08

struct stream_record stream_record_of(struct arena *arena, const struct table *table,
				      const struct stream_change *change, int64_t now_ms)
{
	bool had = str_is_set(change->old_image), has = str_is_set(change->new_image);
	bool is_logged = table->log.reasons != 0;
	bool wants_old = is_logged || table->streams.view == STREAM_OLD_IMAGE ||
			 table->streams.view == STREAM_NEW_AND_OLD_IMAGES;
	bool wants_new = is_logged || table->streams.view == STREAM_NEW_IMAGE ||
			 table->streams.view == STREAM_NEW_AND_OLD_IMAGES;
	struct stream_record record = {
		.event = !had ? STREAM_INSERT : has ? STREAM_MODIFY : STREAM_REMOVE,
		.is_service_delete = change->is_service_delete && had && !has,
		.created_ms = now_ms,
		.keys_image = STR_ABSENT,
		.old_image = wants_old ? change->old_image : STR_ABSENT,
		.new_image = wants_new ? change->new_image : STR_ABSENT,
	};

	if (!str_is_set(record.old_image) && !str_is_set(record.new_image)) {
		struct value keys = item_key_attributes(
			arena, table, NULL, has ? change->new_image : change->old_image);
		struct buf buf = buf_in(arena);

		image_encode(&keys, &buf);
		record.keys_image = buf_str(&buf);
	}
	return record;
}

void stream_record_view(struct stream_record *record, enum stream_view view)
{
	if (view != STREAM_OLD_IMAGE && view != STREAM_NEW_AND_OLD_IMAGES)
		record->old_image = STR_ABSENT;
	if (view != STREAM_NEW_IMAGE && view != STREAM_NEW_AND_OLD_IMAGES)
		record->new_image = STR_ABSENT;
}

struct str stream_record_encode(struct arena *arena, const struct stream_record *record)
{
	struct buf buf = buf_in(arena);
	int flags = (record->is_service_delete ? FLAG_SERVICE_DELETE : 0) |
		    (str_is_set(record->keys_image) ? FLAG_KEYS : 0) |
		    (str_is_set(record->old_image) ? FLAG_OLD : 0) |
		    (str_is_set(record->new_image) ? FLAG_NEW : 0);

	buf_reserve(&buf,
		    HEAD_SIZE + record->keys_image.n + record->old_image.n + record->new_image.n);
	buf_add_byte(&buf, VERSION);
	buf_add_byte(&buf, (int)record->event);
	buf_add_byte(&buf, flags);
	buf_add_byte(&buf, 0);
	buf_add_be64(&buf, (uint64_t)record->created_ms);
	buf_add_be32(&buf, (uint32_t)record->keys_image.n);
	buf_add_be32(&buf, (uint32_t)record->old_image.n);
	buf_add_be32(&buf, (uint32_t)record->new_image.n);
	buf_add_str(&buf, record->keys_image);
	buf_add_str(&buf, record->old_image);
	buf_add_str(&buf, record->new_image);
	return buf_str(&buf);
}

bool stream_record_decode(struct str key, struct str bytes, struct stream_record *record)
{
	struct row_reader row = row_read(bytes);
	unsigned version = row_byte(&row), event = row_byte(&row), flags = row_byte(&row);

	(void)row_byte(&row);
	*record = (struct stream_record){
		.sequence = stream_shard_sequence(key),
		.event = (enum stream_event)event,
		.is_service_delete = flags & FLAG_SERVICE_DELETE,
		.created_ms = row_ms(&row),
	};
	size_t keys = row_u32(&row), old = row_u32(&row), new = row_u32(&row);
	struct str keys_image = row_take(&row, keys), old_image = row_take(&row, old),
		   new_image = row_take(&row, new);
	record->keys_image = flags & FLAG_KEYS ? keys_image : STR_ABSENT;
	record->old_image = flags & FLAG_OLD ? old_image : STR_ABSENT;
	record->new_image = flags & FLAG_NEW ? new_image : STR_ABSENT;
	return row_is_whole(&row) && version == VERSION && event >= STREAM_INSERT &&
	       event <= STREAM_REMOVE && stream_shard_is_record(key) &&
	       stream_lane_holds(record->sequence);
}

bool stream_record_keys(struct arena *arena, const struct table *table,
			const struct stream_record *record, struct value *keys)
{
	if (str_is_set(record->keys_image))
		return image_decode(arena, record->keys_image, keys);
	*keys = item_key_attributes(arena, table, NULL,
				    str_is_set(record->new_image) ? record->new_image
								  : record->old_image);
	return keys->n == key_schema_count(&table->keys);
}

size_t stream_record_size(const struct stream_record *record, const struct value *keys)
{
	return item_size(keys) + image_item_size(record->old_image) +
	       image_item_size(record->new_image);
}

enum code stream_record_peek(struct store_txn *txn, const struct table *table, uint64_t from,
			     uint64_t to, bool is_last, struct stream_peek *peek, struct err *err)
{
	struct arena *scratch = arena_new(0); /* the record may be large */
	struct store_range range = stream_shard_range(scratch, from, to);
	struct stream_record record;
	struct store_page page;

	*peek = (struct stream_peek){.is_found = false};
	range.is_reverse = is_last;
	enum code code = store_page(txn, stream_keyspace(table), &range,
				    (struct store_bounds){.rows = 1}, scratch, &page, err);
	bool is_found = code == OK && page.n > 0;
	if (is_found && !stream_record_decode(page.v[0].key, page.v[0].value, &record))
		code = row_malformed(err, stream_keyspace(table), page.v[0].key);
	else if (is_found)
		*peek = (struct stream_peek){true, record.sequence, record.created_ms};
	arena_free(scratch);
	return code;
}
