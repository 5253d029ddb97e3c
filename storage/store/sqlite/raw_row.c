#include "storage/store/sqlite/raw_row.h"

#include "storage/store/sqlite/btree_page.h"

bool raw_row_read(struct str payload, struct str beginning, struct raw_row *row)
{
	struct btree_column columns[3];
	int64_t number;

	*row = (struct raw_row){.key = btree_page_first(beginning, &number), .value = STR_ABSENT};
	row->number = (uint64_t)number;
	if (!str_is_set(payload))
		return false;
	size_t first = btree_page_record(payload, columns, 2) ? 0 : 1;
	if ((first == 1 && !btree_page_record(payload, columns, 3)) || !str_is_set(columns[first].bytes))
		return false;
	row->number = first == 1 ? (uint64_t)columns[0].integer : 0;
	row->key = columns[first].bytes;
	row->value = columns[first + 1].bytes;
	return str_is_set(row->value);
}

bool raw_row_entry(struct str payload, bool is_shared, struct raw_entry *entry)
{
	struct btree_column columns[3];
	size_t first = is_shared ? 1 : 0;

	if (!str_is_set(payload) || !btree_page_record(payload, columns, first + 2) || !str_is_set(columns[first].bytes))
		return false;
	*entry = (struct raw_entry){is_shared ? (uint64_t)columns[0].integer : 0, (uint64_t)columns[first + 1].integer, columns[first].bytes};
	return true;
}

uint64_t raw_row_hash(uint64_t rowid, struct str key)
{
	uint64_t hash = 0xCBF29CE484222325u ^ rowid * 0x9E3779B97F4A7C15u;

	for (size_t i = 0; i < key.n; i++)
		hash = (hash ^ (unsigned char)key.p[i]) * 0x100000001B3u;
	return hash ^ hash >> 32;
}
