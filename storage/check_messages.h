/*
 * check_messages - what a check of a data file finds; each is the end of a line that names the table, the part and the row.
 */
#ifndef DYNALITH_STORAGE_CHECK_MESSAGES_H
#define DYNALITH_STORAGE_CHECK_MESSAGES_H

#define CHECK_UNREADABLE "cannot be read: " STR_FMT
#define CHECK_RECORD_MALFORMED "a table record cannot be read: " STR_FMT
#define CHECK_ITEM_MALFORMED "the item is malformed"
#define CHECK_ITEM_KEY "the item belongs to another key"
#define CHECK_INDEX_MISSING "the item has no row in the index"
#define CHECK_INDEX_DIFFERENT "the row of the index differs from the item"
#define CHECK_INDEX_MALFORMED "the row of the index is malformed"
#define CHECK_INDEX_EXTRA "no item implies the row of the index"
#define CHECK_EXPIRY_MISSING "the item has no row in the queue of time to live"
#define CHECK_EXPIRY_EXTRA "no item implies the row in the queue of time to live"
#define CHECK_SHARD_ORDER "the shard does not follow the one before it"
#define CHECK_SHARD_CLOSED "the stream is enabled and has no open shard"
#define CHECK_SHARD_OPEN "the shard is open, and it is not the last one of an enabled stream"
#define CHECK_RECORD_BYTES "the record is malformed"
#define CHECK_RECORD_PLACE "the record belongs to no shard"

#endif
