/*
 * stream_record - the stored form of one change.
 *
 *   version(1) event(1) flags(1) 00 created-ms(8) keys-length(4) old-length(4) new-length(4) keys
 *     old new
 *
 * The images are those that the stream's view type asks for. The keys stand by themselves only
 * where no image holds them.
 */
#ifndef DYNALITH_STORAGE_STREAM_RECORD_H
#define DYNALITH_STORAGE_STREAM_RECORD_H

#include "core/value.h"
#include "storage/stream/stream_shard.h"

enum stream_event { STREAM_INSERT = 1, STREAM_MODIFY = 2, STREAM_REMOVE = 3 };

/* What the write path did to one item. */
struct stream_change {
	struct str old_image;   /* absent: there was no item */
	struct str new_image;   /* absent: there is none now */
	bool is_service_delete; /* by the service (time to live), not by a caller: the record says
				   so in userIdentity */
	uint32_t partition;     /* stream_partition() of the item's row key */
};

struct stream_record {
	uint64_t sequence;
	enum stream_event event;
	bool is_service_delete;
	int64_t created_ms;
	struct str keys_image;  /* absent: the keys are in one of the others */
	struct str old_image;   /* absent: there was no item, or the view has none */
	struct str new_image;
};

/* What the table keeps of a change, for the view of its stream or for its log; the images must
 * differ. */
struct stream_record stream_record_of(struct arena *arena, const struct table *table,
				      const struct stream_change *change, int64_t now_ms);

/* Takes away the images that a stream of this view does not show: the table's log keeps both. */
void stream_record_view(struct stream_record *record, enum stream_view view);

/* A record without its images, found by stream_record_peek. */
struct stream_peek {
	bool is_found;
	uint64_t sequence;
	int64_t created_ms;
};

/* The first record of a table with a number in [from, to), or the last one; `to` as
 * stream_shard_range() has it. ERR_INTERNAL for a malformed row. */
enum code stream_record_peek(struct store_txn *txn, const struct table *table, uint64_t from,
			     uint64_t to, bool is_last, struct stream_peek *peek,
			     struct err *err) WARN_UNUSED;

#define STREAM_RECORD_STAMP_AT 4 /* where its time is in a record */
struct str stream_record_encode(struct arena *arena, const struct stream_record *record);

/* The images point into `row`; the sequence number comes from the key. False for malformed bytes.
 */
bool stream_record_decode(struct str key, struct str row, struct stream_record *record) WARN_UNUSED;

/* The key attributes of the changed item; false for malformed images. */
bool stream_record_keys(struct arena *arena, const struct table *table,
			const struct stream_record *record, struct value *keys) WARN_UNUSED;

/* SizeBytes: the sizes of the keys and of the images by DynamoDB's rules. AWS: the example in the
 * Developer Guide, "Change data capture". */
size_t stream_record_size(const struct stream_record *record, const struct value *keys);

#endif
