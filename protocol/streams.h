/*
 * streams - what the operations of DynamoDB Streams and triggers share: the wire forms of streams,
 * shards, sequence numbers, iterators and records.
 */
#ifndef DYNALITH_PROTOCOL_STREAMS_H
#define DYNALITH_PROTOCOL_STREAMS_H

#include "protocol/handler.h"
#include "storage/stream/stream_record.h"

/* "NEW_IMAGE" and the like. */
struct str streams_view_name(enum stream_view view);

/* The table's ARN, "/stream/" and the label. */
struct str streams_arn(struct arena *arena, const struct table *table, const struct stream *stream);

/* The same of a row about a stream. */
struct str streams_mark_arn(struct arena *arena, const struct mark *mark);
/* The names in a stream's ARN; false where it is none. */
bool streams_read_arn(struct str arn, struct str *name, struct str *label);

/*
 * The stream of that ARN in the caller's namespace, enabled or disabled for less than 24 hours, and
 * its table, which may have been deleted; held until the call ends. Behind call_refresh.
 * ERR_RESOURCE_NOT_FOUND; ERR_VALIDATION where it is no stream's ARN.
 */
enum code streams_find(struct call *call, struct str arn, struct table **table,
		       const struct stream **stream, struct err *err) WARN_UNUSED;

/* Whether it can be a stream's ARN at all. */
enum code streams_check_arn(struct str arn, struct err *err) WARN_UNUSED;

/* "shardId-00000001700000000123-89abcdef": the stamp in 20 digits, then a hash of the table. */
struct str streams_shard_id(struct arena *arena, const struct table *table, uint64_t stamp);
/* Its stamp; 0 where it is no shard's name. The hash of the table is not checked: compare names by
 * their stamps. */
uint64_t streams_shard_stamp(struct str id);
/* The lowest stamp of a shard whose name comes behind the text, which need not be a shard's name;
 * INT64_MAX where there is none. */
uint64_t streams_shard_after(struct arena *arena, const struct table *table, struct str text);

/* 21 digits, the first of them a 1, so that texts and numbers have one order. */
struct str streams_sequence(struct arena *arena, uint64_t sequence);
bool streams_read_sequence(struct str text, uint64_t *sequence) WARN_UNUSED;

/* A shard iterator: "ARN|1|..." with the shard, the position and the time of issue, guarded by a
 * checksum. */
struct streams_iterator {
	struct str arn;
	uint64_t shard;
	uint64_t position;
	int64_t issued_ms;
};

struct str streams_iterator_text(struct arena *arena, const struct streams_iterator *iterator);
bool streams_read_iterator(struct arena *arena, struct str text,
			   struct streams_iterator *iterator) WARN_UNUSED;

/* A record as stream_read hands it to a sink, with what it is a record of. */
struct streams_change {
	const struct table *table;
	const struct stream *stream;
	const struct stream_record *record;
	const struct value *keys;
	size_t size;
};

enum streams_form {
	STREAMS_RECORD, /* in GetRecords' answer */
	STREAMS_EVENT,  /* in a function's event: with the stream's ARN, and two names spelt in
			   another way */
};

void streams_write_record(struct json_out *out, struct arena *arena,
			  const struct streams_change *change, enum streams_form form);

/* The record of a Kinesis data stream, without `stream`. AWS: Developer Guide, "Using Kinesis Data
 * Streams to capture changes to DynamoDB". */
void streams_write_kinesis(struct json_out *out, struct arena *arena,
			   const struct streams_change *change, bool in_microseconds);

#endif
