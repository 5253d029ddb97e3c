/*
 * schema - what a table is: its keys, its indexes, its state. Its settings are protocol's.
 *
 * A struct table is an immutable, reference-counted snapshot. A change makes a
 * new snapshot (table_clone, change, catalog_replace); requests that hold the
 * old one finish with it. Everything in it lives in its own arena.
 *
 * The shelf storage/schema/ holds what describes one table: its struct, the row that the struct is
 * stored as, and what its snapshots share in memory.
 */
#ifndef DYNALITH_STORAGE_SCHEMA_H
#define DYNALITH_STORAGE_SCHEMA_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/err.h"
#include "core/key.h"
#include "core/str.h"
#include "core/value.h"
#include "core/vector.h"
#include "storage/schema/tally.h"
#include "storage/store/store.h"

#define KEY_HASH_ATTRIBUTES_MAX                                                                    \
	4 /* of a GSI; a table and an LSI have one. AWS: "multi-attribute keys" */
#define KEY_RANGE_ATTRIBUTES_MAX 4
#define KEY_ATTRIBUTES_MAX 8
#define PARTITION_KEY_SIZE_MAX 2048 /* bytes. AWS: Quotas */
#define SORT_KEY_SIZE_MAX 1024      /* bytes. AWS: Quotas */
#define INDEX_NUMBER_MAX                                                                           \
	((1 << 20) -                                                                               \
	 17) /* of an index in its table: a million changes; with PART_INDEX it has 20 bits */
#define LOCAL_INDEXES_MAX 5
#define GLOBAL_INDEXES_MAX 20
#define INDEXES_MAX (LOCAL_INDEXES_MAX + GLOBAL_INDEXES_MAX)
#define VECTOR_INDEXES_MAX 5 /* AWS: Quotas, "Vector indexes"; the next too */
#define VECTOR_FILTERS_MAX 18
#define INCLUDED_PER_INDEX_MAX 20
#define INCLUDED_TOTAL_MAX 100

struct record;

/* Where table names live. With --shared-db there is one namespace for all. */
struct ns {
	struct str account; /* 12 digits */
	struct str region;
};

struct key_attribute {
	struct str name;
	enum type type; /* TYPE_S, TYPE_N, TYPE_B */
};

/* Partition key attributes first, then sort key attributes. */
struct key_schema {
	unsigned hash_count;
	unsigned range_count;
	struct key_attribute attributes[KEY_ATTRIBUTES_MAX];
};

static inline unsigned key_schema_count(const struct key_schema *keys)
{
	return keys->hash_count + keys->range_count;
}

enum projection_type { PROJECT_ALL, PROJECT_KEYS_ONLY, PROJECT_INCLUDE };
enum table_status { STATUS_ACTIVE, STATUS_CREATING, STATUS_UPDATING, STATUS_DELETING };
enum stream_view {
	STREAM_OFF,
	STREAM_KEYS_ONLY,
	STREAM_NEW_IMAGE,
	STREAM_OLD_IMAGE,
	STREAM_NEW_AND_OLD_IMAGES
};

/* One period in which a table's stream is or was enabled. */
struct stream {
	struct str label;    /* the time of creation; ends its ARN */
	uint64_t number;     /* within the table, rising */
	enum stream_view view;
	int64_t created_ms;
	int64_t disabled_ms; /* 0: enabled */
	uint32_t shards; /* open at a time while it is enabled, up to STREAM_LANES; 0 and 1: one.
			    See storage/stream/stream_lane.h */
	struct stream_settings *settings;
};

/* An element of a vector index's SearchSchema. */
struct search_element {
	struct key_attribute attribute;
	bool is_hash;               /* HASH, else INLINE_FILTER */
};

/* What makes an index a vector index. */
struct vector_spec {
	struct str attribute;       /* the list of numbers */
	uint32_t dimensions;
	enum vector_distance distance;
	size_t schema_count;
	struct search_element *schema; /* as given */
};

/*
 * The settings of a table, its indexes and its streams are protocol's. Storage keeps them by these
 * descriptions, beside its own fields in the table's record, and knows none. NULL: no settings are
 * kept.
 */
struct settings_records {
	const struct record *table, *index, *stream;
};

struct index {
	struct str name;
	bool is_local;
	uint32_t number; /* its keyspace is PART_INDEX + number; never used twice in a table */
	struct key_schema keys;
	enum projection_type projection;
	bool is_by_reference; /* its rows stand for the items, and have no copies of them:
				 storage/index_row.h */
	size_t included_count;
	struct str *included;       /* PROJECT_INCLUDE: NonKeyAttributes as given */
	size_t projected_count;     /* not PROJECT_ALL: every projected attribute, keys of table and
				       index among them, sorted */
	struct str *projected;
	enum table_status status;
	bool is_backfilling; /* being filled from the items of a live table; then status is
				CREATING. See storage/upkeep/backfill.h */
	int64_t settles_ms;  /* CREATING and DELETING of a live table's index: not before this time;
				0: as soon as its work is done */
	struct vector_spec *
		vector; /* NULL: a local or global one. Else keys is the HASH element, or nothing */
	struct index_settings *settings;
};

/* Whether a snapshot still is the table: currency.h. */
struct currency {
	uint64_t version; /* rises with every change of the table */
	uint64_t layout;  /* the version at which what readers and writers do changed last */
	uint64_t epoch;   /* the version by which the table was rolled back last: what is remembered
			     of it from before is void */
};

/* Never changes. */
struct table_identity {
	struct str account, region, name;
	uint64_t number;            /* names its keyspaces; never used twice */
	struct str id;              /* TableId: a UUID */
	int64_t created_ms;         /* Unix time */
};

struct table_indexes {
	uint32_t next;              /* number of the next index to be created */
	size_t n;
	struct index *v;            /* local first, each kind in the order of creation */
	size_t vector_n;
	struct index
		*vectors; /* vector indexes, in the order of creation: not for Query and Scan */
};

struct table_state {
	enum table_status status;
	int64_t settles_ms;         /* when a transient status ends; 0: it has ended */
	struct str job; /* the id of the job by which it ends, whatever the time; absent: none */
};

struct table_streams {
	enum stream_view view;
	struct str label;           /* LatestStreamLabel; absent: never had one */
	size_t n; /* streams that may still be readable, oldest first; the last one is kept for ever
		   */
	struct stream *v;
	struct stream_state *state;
};

/* Why all changes of a table are kept with both images: storage/stream/change_log.h. */
enum log_reason {
	LOG_RECOVERY = 1,    /* point-in-time recovery is on */
	LOG_COPY = 2,        /* a copy of the table as of a moment is being made */
	LOG_REPLICATION = 4, /* the table has replicas */
	LOG_SENDING = 8,     /* changes are sent elsewhere, or some wait for it */
};

struct table_log {
	unsigned reasons; /* a sum of enum log_reason; 0: the stream alone says what is kept */
	bool is_there;    /* there is a keyspace for it, also where the table never had a stream */
	int64_t keep_ms;            /* LOG_RECOVERY: how long a change is kept */
	int64_t since_ms;           /* LOG_RECOVERY: since when the log is whole */
	int64_t hold_ms; /* LOG_COPY, LOG_REPLICATION: changes after this moment are kept whatever
			    their age; 0: none is */
	int64_t changed_ms;         /* when the reasons changed last */
};

struct table_ttl {
	bool is_enabled;            /* there is an expiry keyspace */
	bool is_filling; /* it lacks rows of items that were there when TTL was enabled. See
			    storage/upkeep/backfill.h */
	struct str attribute;       /* also while TTL is being disabled; absent: never had it */
	int64_t changed_ms;         /* when TTL was last enabled or disabled */
	int64_t settles_ms;         /* until then it is shown as ENABLING or DISABLING */
};

/* Another replica of a global table: a table of the same account and name in another region. */
struct group_member {
	struct str region;
	struct str source; /* the region at which the replica was asked for; absent: the table that
			      was there first */
	int64_t added_ms;           /* by the clock of that region */
};

/*
 * What makes the table a replica of a global table. Each replica's record has all of it, from its
 * own point of view, and a change of the group changes all records in one transaction. A member
 * counts only where its own record has the same id: so a region that was reset has left the group.
 */
struct table_group {
	struct str id; /* absent: the table is of one region; its keyspace PART_REPLICATION does not
			  exist */
	bool is_strong;             /* MultiRegionConsistency STRONG */
	struct str witness;         /* the region of a witness, or absent */
	struct str source;          /* as of a member, of this table itself */
	int64_t added_ms;
	struct str filling; /* items that the replica in this region has are still to be copied;
			       absent: all are here */
	int64_t ready_ms;   /* a replica that is filled is ACTIVE no earlier; 0: as tables are */
	bool is_leaving;    /* it leaves the group once no change is queued to it or from it */
	size_t n;                   /* other replicas, in the order in which this one got them */
	struct group_member *v;
};

struct table {
	atomic_uint refs;
	struct arena *arena;

	struct table_identity identity;
	struct currency currency;
	struct key_schema keys;
	enum key_hash hash;         /* of the rows of the table and of all its indexes */
	struct table_indexes indexes;
	struct table_state state;
	struct table_streams streams;
	struct table_log log;
	struct table_ttl ttl;
	struct table_group group;
	struct tally *tally;

	const struct settings_records *records; /* what the settings are */
	struct table_settings *settings;
};

/* A new snapshot with one reference and an empty arena of its own. Its settings are zero. `records`
 * outlives it; or NULL. */
struct table *table_new(const struct settings_records *records);
/* Settings of an index or a stream that is added: zero, in the table's arena. */
struct index_settings *table_index_settings(const struct table *table);
struct stream_settings *table_stream_settings(const struct table *table);
/* A deep copy in an arena of its own, one reference. */
struct table *table_clone(const struct table *table);
/* A deep copy that is another table: what this process remembers of the one does not concern it,
 * and it has no streams. */
struct table *table_clone_apart(const struct table *table);
/*
 * For a snapshot that was read from the store and that nobody has yet: it shares with one of the
 * same table what this process remembers of the table (sizes, stream), as a copy would. Nothing
 * where the table was rolled back since.
 */
void table_adopt(struct table *next, const struct table *known);
struct table *table_ref(struct table *table);
void table_unref(struct table *table);

/* Whether writes through either snapshot do the same: not so where an index came or went, or time
 * to live or the stream changed. */
bool table_is_alike(const struct table *a, const struct table *b);

/* The index of that name, or NULL; a vector index is found by the second only. */
const struct index *table_index(const struct table *table, struct str name);
const struct index *table_vector(const struct table *table, struct str name);
/* The index of that number, of any kind, or NULL. */
const struct index *table_index_numbered(const struct table *table, uint32_t number);

/* Indexes of all kinds: the vector ones are counted after the others. */
static inline size_t table_index_total(const struct table *table)
{
	return table->indexes.n + table->indexes.vector_n;
}

static inline struct index *table_index_at(const struct table *table, size_t i)
{
	return i < table->indexes.n ? &table->indexes.v[i]
				    : &table->indexes.vectors[i - table->indexes.n];
}

/* Whether writes keep the index and readers may name it: what is being deleted is as good as gone.
 */
static inline bool index_is_kept(const struct index *index)
{
	return index->status != STATUS_DELETING;
}

/* Fills index->projected from projection, included, both key schemas and a SearchSchema; of a
 * vector index, its keys too. */
void table_index_derive(struct table *table, struct index *index);

static inline struct keyspace table_items(const struct table *table)
{
	return (struct keyspace){table->identity.number, PART_ITEMS};
}

static inline struct keyspace table_expiry(const struct table *table)
{
	return (struct keyspace){table->identity.number, PART_EXPIRY};
}

static inline struct keyspace index_keyspace(const struct table *table, const struct index *index)
{
	return (struct keyspace){table->identity.number, PART_INDEX + index->number};
}

/* Whether writes append records to the table's log: for its stream, or for the log's own reasons.
 */
static inline bool table_logs(const struct table *table)
{
	return table->streams.view != STREAM_OFF || table->log.reasons != 0;
}

/* Whether the table has a keyspace of records. */
static inline bool table_has_log(const struct table *table)
{
	return table->streams.n > 0 || table->log.is_there;
}

static inline bool table_is_global(const struct table *table)
{
	return table->group.id.p != NULL;
}

/* What replication keeps of the items: storage/write/replication_row.h. */
static inline struct keyspace table_replication(const struct table *table)
{
	return (struct keyspace){table->identity.number, PART_REPLICATION};
}

/* The member of that region, or NULL. */
const struct group_member *table_member(const struct table *table, struct str region);

/* Takes the member out; without any the table is of one region. AWS: its stream stays. */
void table_remove_member(struct table *table, struct str region);

/* "arn:aws:dynamodb:us-east-1:000000000000:table/NAME"; indexes "/index/NAME" and streams
 * "/stream/LABEL" after it. */
struct str table_arn(struct arena *arena, const struct table *table);

/* The stored record: an item image, so that fields can be added. Decoding an unknown or malformed
 * record is ERR_INTERNAL. */
struct str table_encode(struct arena *arena, const struct table *table);
enum code table_decode(struct str record, const struct settings_records *records,
		       struct table **out, struct err *err) WARN_UNUSED;
/* The same for a table that is yet to be created: its numbers say nothing. */
enum code table_decode_new(struct str record, const struct settings_records *records,
			   struct table **out, struct err *err) WARN_UNUSED;
/* The number and version in a record, without the rest; false where it has none, as those of 0.1.0.
 */
bool table_record_version(struct str record, uint64_t *number, uint64_t *version);

/* What is known of a table without its snapshot. */
struct table_brief {
	uint64_t number, version, layout;
	int64_t work_ms; /* when work on its indexes or its expiry queue begins, or what is left of
			    a deleted table is to go; INT64_MAX: there is none */
	int64_t gone_ms;      /* of a deleted table: until when it is listed; else INT64_MAX */
	bool has_ttl, has_stream, is_global;
};

struct table_brief table_brief_of(const struct table *table);
/* The same of a record; false where it does not say so much, as those of older versions. */
bool table_record_brief(struct str record, struct table_brief *brief);

/* Whether the table has local indexes, and so item collections with a size. Local indexes come
 * first. */
static inline bool table_has_collections(const struct table *table)
{
	return table->indexes.n > 0 && table->indexes.v[0].is_local;
}

/* Whether the index's rows hold the attribute. */
bool index_projects(const struct index *index, struct str attribute);

#endif
