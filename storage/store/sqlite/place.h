/*
 * place - where the rows of a keyspace lie: which SQL table, and which rows of it; internal to
 * storage/store/sqlite.
 *
 * Each connection reads SQLite's whole schema again after it changed. So the schema stays small and
 * seldom changes:
 * - Items, indexes and expiry queues have a generated SQL table each, up to PLACES_OWN_MAX
 *   (places.h) in a file. Such a table gets the name of its first keyspace, such as items_12 or
 *   index_12_3. When that keyspace is dropped, the SQL table is kept for the next one.
 * - Keyspaces of small rows have tables of another kind, one b-tree of keys and values, in files of
 *   format 3 and later. Their names begin with PLACE_KEYS. A row that stands for another has that
 *   one's number there (rows.c).
 * - Streams, which stay for a day after their tables, and every keyspace beyond that number share
 *   one SQL table. There a number that is never used twice picks the rows of a keyspace among those
 *   of others.
 *
 * The rows of PLACE_KEYSPACE say what does not follow from a name:
 *   'k' table part -> number name   the keyspace lies there; no value: it was dropped, and others
 *                                   may have the SQL table of its name
 *   'f' name                        the SQL table is empty and free
 *   'd' number name                 the rows of a dropped keyspace: to be deleted, in pieces
 *   'n' -> number                   the last one that a keyspace got
 * A keyspace without a row lies in the SQL table of its own name. So files of earlier versions need
 * no conversion.
 */
#ifndef DYNALITH_STORAGE_SQLITE_PLACE_H
#define DYNALITH_STORAGE_SQLITE_PLACE_H

#include "storage/store/store.h"

/* Room for the name of a SQL table. */
#define KEYSPACE_NAME_MAX 64

#define PLACE_SHARED "shared_rows"
#define PLACE_KEYS "keys_"
#define PLACE_SYSTEM_PART 15 /* of table 0, beside those of enum system_part */
#define PLACE_KEYSPACE ((struct keyspace){0, PLACE_SYSTEM_PART})

/* Of the rows of PLACE_KEYSPACE. */
enum place_kind {
	PLACE_OF_KEYSPACE = 'k',
	PLACE_FREE = 'f',
	PLACE_DROPPED = 'd',
	PLACE_NUMBER = 'n'
};

struct place {
	uint64_t number; /* of the keyspace's rows in a shared SQL table; 0: all its rows */
	char name[KEYSPACE_NAME_MAX]; /* of the SQL table; empty: the keyspace was dropped */
};

/* What the SQL table of a place is. */
enum place_table { PLACE_TABLE_OWN, PLACE_TABLE_SHARED, PLACE_TABLE_KEYS, PLACE_TABLE_COUNT };

/*
 * A value of PLACE_TABLE_KEYS is the number of the row that is meant, an integer, or where that is
 * not known bytes as in other tables. This is the value that the store gives.
 */
#define PLACE_REFERENCE "x'02'" /* STORE_REFERENCE in SQL */
#define PLACE_KEYS_VALUE "iif(typeof(v) = 'integer', " PLACE_REFERENCE ", v)"

enum place_table place_table(const struct place *place);
/* Whether a SQL table of that name is a PLACE_TABLE_KEYS. */
bool place_is_keys(const char *name);

#define PLACE_ROW_MAX (1 + 8 + KEYSPACE_NAME_MAX)

/* Keys and values of rows, in `bytes` with room for PLACE_ROW_MAX. */
struct str place_key(struct keyspace keyspace, char *bytes);
struct str place_value(const struct place *place, char *bytes);
struct str place_key_free(const char *name, char *bytes);
struct str place_key_dropped(const struct place *place, char *bytes);

/* What a key of PLACE_OF_KEYSPACE, its value, and the keys of PLACE_DROPPED and PLACE_FREE say;
 * false where they are none. */
bool place_read_key(struct str key, struct keyspace *keyspace);
bool place_read_value(struct str value, struct place *place);
bool place_read_unused(struct str key, struct place *place);

bool place_is_same(const struct place *a, const struct place *b);

/* The keyspace of that name; false where it is none of those that others may use. */
bool keyspace_name_read(const char *name, struct keyspace *keyspace);

/* The place that a keyspace of small rows gets. */
struct place place_of_keys(struct keyspace keyspace);

/* The place that follows from the keyspace's name, under which a SQL table is generated: items_12,
 * index_12_3, stream_12, expiry_12, system_tables. */
struct place place_of_name(struct keyspace keyspace);

#endif
