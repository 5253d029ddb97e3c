/*
 * stream_lane - the parts into which a table's records are divided, so that writers of different
 * partitions need not wait for each other.
 *
 * A lane is a range of sequence numbers with an end of its own: its number is the highest byte of
 * each. Lane 0 is the table's change log (change_log.h), in which all changes are in one order, and
 * the stream too where that has one open shard. A stream with several open shards has each in a
 * lane of its own, from 1 on, and a change goes to the one that the hash of its partition key says:
 * so what happens to one partition stays in one order, over all shards that follow each other in
 * the lane. Lane 0 then has records only while the log has reasons of its own.
 *
 * How many open shards a stream has is a part of its table's record, fixed when it is enabled: all
 * processes find the same lane.
 */
#ifndef DYNALITH_STORAGE_STREAM_LANE_H
#define DYNALITH_STORAGE_STREAM_LANE_H

#include "storage/schema/schema.h"
#include "storage/schema/stream_state.h"

#define STREAM_LANE_SHIFT 56

static inline unsigned stream_lane_of(uint64_t sequence)
{
	return (unsigned)(sequence >> STREAM_LANE_SHIFT);
}

/* Whether a record or a shard may have the number: of a lane that there is, and with room behind it
 * for the next one. */
static inline bool stream_lane_holds(uint64_t sequence)
{
	uint64_t behind = UINT64_MAX >> (64 - STREAM_LANE_SHIFT);

	return stream_lane_of(sequence) <= STREAM_LANES && (sequence & behind) != behind;
}

/* No record has this number; those of the lane are larger. */
static inline uint64_t stream_lane_base(unsigned lane)
{
	return (uint64_t)lane << STREAM_LANE_SHIFT;
}

/* How many lanes from 1 on the stream has; 0: its records are in lane 0. */
static inline unsigned stream_lane_count(const struct stream *stream)
{
	return stream->shards > 1 ? stream->shards : 0;
}

/* The same of the stream that the table has now. */
static inline unsigned stream_lanes_open(const struct table *table)
{
	return table->streams.view != STREAM_OFF && table->streams.n
		       ? stream_lane_count(&table->streams.v[table->streams.n - 1])
		       : 0;
}

/* Whether changes are appended to lane 0. */
static inline bool stream_lane_is_log_open(const struct table *table)
{
	return table->log.reasons != 0 ||
	       (table->streams.view != STREAM_OFF && stream_lanes_open(table) == 0);
}

/* The highest lane that one of the table's streams uses or used. */
static inline unsigned stream_lanes_last(const struct table *table)
{
	unsigned last = 0;

	for (size_t i = 0; i < table->streams.n; i++) {
		unsigned lanes = stream_lane_count(&table->streams.v[i]);

		last = lanes > last ? lanes : last;
	}
	return last;
}

/* The lane of the open stream to which a change belongs, by the hash with which its item's row key
 * begins. */
static inline unsigned stream_lane_for(const struct table *table, uint32_t partition_hash)
{
	unsigned lanes = stream_lanes_open(table);

	return lanes ? 1 + partition_hash % lanes : 0;
}

#endif
