#include "storage/check_rows.h"

#include "core/image.h"
#include "storage/catalog/clocks.h"
#include "storage/catalog/links.h"
#include "storage/catalog/size_rows.h"
#include "storage/catalog/table_rows.h"
#include "storage/expiry.h"
#include "storage/job/job.h"
#include "storage/lag/history.h"
#include "storage/schema/currency.h"
#include "storage/state/checkpoint.h"
#include "storage/state/snapshot.h"
#include "storage/store/journal.h"
#include "storage/store/row.h"
#include "storage/stream/stream_position.h"
#include "storage/stream/stream_record.h"
#include "storage/upkeep/lease.h"
#include "storage/write/replication_row.h"
#include "storage/write/write.h"

typedef bool is_sound(struct arena *arena, const struct store_row *row);

static bool is_any(struct arena *arena, const struct store_row *row)
{
	(void)arena, (void)row;
	return true;
}

static bool is_number(struct arena *arena, const struct store_row *row)
{
	uint64_t number;

	(void)arena;
	return row_is_number(row->value, &number);
}

static bool is_decimal(struct arena *arena, const struct store_row *row)
{
	uint64_t number;

	(void)arena;
	return row_is_decimal(row->value, &number);
}

/* Rows of the system by how their keys begin, the first that fits; an empty one: all others. */
static const struct kind {
	enum system_part part;
	const char *prefix;
	is_sound *check;
} kinds[] = {
	{SYSTEM_COUNTERS, "size/", size_rows_is_sound},
	{SYSTEM_COUNTERS, "count/", size_rows_is_sound},
	{SYSTEM_COUNTERS, "unflushed/", size_rows_is_sound},
	{SYSTEM_COUNTERS, "life/", is_number},
	{SYSTEM_COUNTERS, "tables/", is_number},
	{SYSTEM_COUNTERS, "mark/", table_rows_is_sound},
	{SYSTEM_COUNTERS, "jobopen/", job_is_sound},
	{SYSTEM_COUNTERS, "jobtoken/", is_any},
	{SYSTEM_COUNTERS, "job/", job_is_sound},
	{SYSTEM_COUNTERS, "clock/", clocks_is_sound},
	{SYSTEM_COUNTERS, "lease/", lease_is_sound},
	{SYSTEM_COUNTERS, "position/", stream_position_is_sound},
	{SYSTEM_COUNTERS, "snapshot/", is_number},
	{SYSTEM_COUNTERS, "loading/", is_number},
	{SYSTEM_COUNTERS, "backfill/", is_any},
	{SYSTEM_COUNTERS, "table", is_decimal},
	{SYSTEM_COUNTERS, "transfer/", is_any},
	{SYSTEM_VERSIONS, "policies/version", is_number},
	{SYSTEM_VERSIONS, "policies/document", is_any},
	{SYSTEM_VERSIONS, "links/", links_is_sound},
	{SYSTEM_VERSIONS, "lag", lag_is_sound},
	{SYSTEM_VERSIONS, "clocks", is_number},
	{SYSTEM_VERSIONS, "table rows", is_any},
	{SYSTEM_VERSIONS, "", currency_is_sound},
	{SYSTEM_TOKENS, "", write_token_is_sound},
	{SYSTEM_TOKEN_EXPIRY, "", write_token_expiry_is_sound},
};

static bool is_system_sound(struct arena *arena, const struct settings_records *records,
			    enum system_part part, const struct store_row *row)
{
	if (part == SYSTEM_TABLES) { /* check reads all of them by its own */
		struct err err = err_in(arena);
		struct table *table;
		enum code code = table_decode(row->value, records, &table, &err);

		if (code == OK)
			table_unref(table);
		return code == OK;
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (kinds[i].part == part && str_starts_with(row->key, str_of(kinds[i].prefix)))
			return kinds[i].check(arena, row);
	}
	return false;
}

static bool is_stream_sound(const struct store_row *row)
{
	struct stream_record record;

	return stream_shard_is_record(row->key)
		       ? stream_record_decode(row->key, row->value, &record)
		       : stream_shard_is_sound(row);
}

/* A row that is kept as it was is read as one that is there. */
static bool is_kept_sound(struct arena *arena, const struct settings_records *records, bool is_read,
			  struct keyspace keyspace, const struct store_row *noted)
{
	bool is_kept =
		keyspace.part == PART_JOURNAL ||
		(keyspace.table == 0 && keyspace.part == SYSTEM_HISTORY); /* never in one another */

	return is_read && !is_kept &&
	       (!str_is_set(noted->value) || check_rows_is_sound(arena, records, keyspace, noted));
}

bool check_rows_is_sound(struct arena *arena, const struct settings_records *records,
			 struct keyspace keyspace, const struct store_row *row)
{
	struct keyspace of;
	struct store_row noted;
	struct value item;
	int64_t seconds;
	struct str own;

	if (keyspace.table == 0 && keyspace.part == SYSTEM_HISTORY)
		return is_kept_sound(arena, records, history_read(row, &of, &noted), of, &noted);
	if (keyspace.table == 0)
		return is_system_sound(arena, records, (enum system_part)keyspace.part, row);
	if (keyspace.part >= PART_INDEX)
		return true;
	switch ((enum part)keyspace.part) {
	case PART_ITEMS:
		return image_decode(arena, row->value, &item);
	case PART_STREAM:
		return is_stream_sound(row);
	case PART_EXPIRY:
		return expiry_read(row->key, &seconds, &own);
	case PART_JOURNAL:
		return is_kept_sound(arena, records, journal_read(row, &of, &noted), of, &noted);
	case PART_STACK:
		return checkpoint_is_sound(row);
	case PART_SNAPSHOT:
		return snapshot_is_sound(arena, records, row);
	case PART_REPLICATION:
		return replication_is_sound(row);
	case PART_INDEX:
		break;
	}
	return false;
}
