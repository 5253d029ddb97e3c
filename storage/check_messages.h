/*
 * check_messages - what a check of a data file finds; each is the end of a line that names the
 * table, the part and the row.
 */
#ifndef DYNALITH_STORAGE_CHECK_MESSAGES_H
#define DYNALITH_STORAGE_CHECK_MESSAGES_H

#define CHECK_UNREADABLE "cannot be read: " STR_FMT
#define CHECK_RECORD_MALFORMED "a table record cannot be read: " STR_FMT
#define CHECK_NO_TABLE "there are rows of table number %llu, and no record of it"
#define CHECK_NUMBER_BEHIND "table " STR_FMT ": its number is given again to another table"
#define CHECK_MARK_MISSING                                                                         \
	"table " STR_FMT ": a row by which it is listed, or work on it is found, is missing"
#define CHECK_ITEM_MALFORMED "the item is malformed"
#define CHECK_ITEM_KEY "the item belongs to another key"
#define CHECK_INDEX_MISSING "the item has no row in the index"
#define CHECK_INDEX_DIFFERENT "the row of the index differs from the item"
#define CHECK_INDEX_MALFORMED "the row of the index is malformed"
#define CHECK_INDEX_EXTRA "no item implies the row of the index"
#define CHECK_EXPIRY_MISSING "the item has no row in the queue of time to live"
#define CHECK_EXPIRY_EXTRA "no item implies the row in the queue of time to live"
#define CHECK_ROW_MALFORMED "a row is malformed: " STR_FMT
#define CHECK_SHARD_ORDER "the shard does not follow the one before it"
#define CHECK_SHARD_CLOSED "the stream is enabled and has no open shard"
#define CHECK_SHARD_OPEN "the shard is open, and it is not the last one of an enabled stream"
#define CHECK_RECORD_BYTES "the record is malformed"
#define CHECK_RECORD_PLACE "the record belongs to no shard"

/* What a repair says. */
#define REPAIR_STATES                                                                              \
	"checkpoints and snapshots are not taken over: tables stay as they are; rows that only "   \
	"those have are set aside"
#define REPAIR_TABLE_LOST                                                                          \
	"the record of a table is lost, and with it what its rows mean: they are set aside"
#define REPAIR_TABLE_MALFORMED "the record of the table is malformed"
#define REPAIR_TABLE_DOUBTFUL                                                                      \
	"its record lies on a damaged page and was taken as it is: compare it with DescribeTable"
#define REPAIR_ITEM_TWICE "there is another row of this key"
#define REPAIR_NO_TABLE "the record of its table is lost"
#define REPAIR_ITEMS_ASIDE "%llu items were set aside"
#define REPAIR_RECORDS_LOST                                                                        \
	"%llu rows of its stream were set aside; sequence numbers of records among them: " STR_FMT
#define REPAIR_SHARDS_MADE                                                                         \
	"%u shards of its stream were closed or made again, by their neighbours and records"

#endif
