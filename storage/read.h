/*
 * read - the only path by which items are found.
 *
 * read_items: by full key (GetItem, BatchGetItem, TransactGetItems). read_page: a range (Query) or
 * a keyspace or segment of it (Scan): range -> page (1 MB, Limit) -> filter -> projection ->
 * LastEvaluatedKey. Each call sees one snapshot.
 */
#ifndef DYNALITH_STORAGE_READ_H
#define DYNALITH_STORAGE_READ_H

#include "core/capacity.h"
#include "core/err.h"
#include "core/expr.h"
#include "storage/catalog/catalog.h"
#include "storage/cost.h"
#include "storage/key_condition.h"

#define PAGE_SIZE_MAX                                                                              \
	(1024 * 1024) /* bytes by DynamoDB's rules, before the filter. AWS: Developer Guide,       \
			 "Paginating table query results" */

/* One item by its key. */
struct read_item {
	struct table *table;
	const struct value *key;
	enum read_mode mode;
	bool charges_numbers;  /* a vector is charged by its numbers, as before the rollout of
				  October 2026 */
	struct str row_key;    /* set by read_prepare, which checks the key */
	struct str image;      /* out: absent where there is no item */
	struct cost cost;      /* out */
};

enum code read_prepare(struct arena *arena, struct read_item *item, struct err *err) WARN_UNUSED;

/* Reads prepared items in one snapshot; those that are not READ_TRANSACTIONAL in several where the
 * store's transactions take no more. */
enum code read_items(struct catalog *catalog, struct arena *arena, struct read_item *items,
		     size_t n, struct err *err) WARN_UNUSED;

/* What Select asks for, with its default in place. */
enum read_select {
	READ_ALL_ATTRIBUTES,
	READ_PROJECTED_ATTRIBUTES,
	READ_SPECIFIC_ATTRIBUTES,
	READ_COUNT
};

/* An item of the page that passed the filter: its image, or where there is a projection the
 * projected item. */
struct read_row {
	struct str image;
	struct value projected;
};

struct read_found {
	uint64_t count, scanned;
	struct read_row *rows; /* `count` of them, in the arena; not with READ_COUNT */
	size_t bytes;                         /* of the rows examined */
	struct value last_key;                /* LastEvaluatedKey, or TYPE_NONE */
	struct cost cost;
};

struct read_page {
	/* what to find */
	struct table *table;
	const struct index *index;            /* NULL: the table */
	const struct key_condition *keys;     /* NULL: Scan */
	const struct node *filter;            /* or NULL */
	const struct projection *projection;  /* or NULL; with READ_SPECIFIC_ATTRIBUTES */
	enum read_select select;
	bool is_consistent;
	bool is_reverse;
	bool is_newer; /* Scan: errors of the start key are as short as Query's, as in AWS's newer
			  layer */
	bool charges_numbers;                 /* as of read_item */
	uint64_t limit;                       /* items examined; 0: none */
	uint32_t segment, segments;           /* Scan; segments 0: not parallel */
	struct str start_after; /* row key of ExclusiveStartKey, or absent; see read_start_key */
	size_t bytes_before;                  /* of other ranges that count towards the same page */
	bool wants_image; /* the caller projects by itself: it is given images */
	bool filters_row; /* the filter sees what the index holds, of a local one too */

	struct read_found found;              /* out */
};

enum code read_page(struct catalog *catalog, struct arena *arena, struct read_page *page,
		    struct err *err) WARN_UNUSED;

/* A Query of a table without sort key: it has one item at most, so there is nothing to go on with;
 * any start key is refused. */
bool read_is_single(const struct read_page *page);

/* What AWS looks at in a Scan's start key before it does at Select: the number of its attributes
 * and the keys of the index. */
enum code read_check_index_keys(const struct read_page *page, const struct value *start_key,
				struct err *err) WARN_UNUSED;

/*
 * The row key of an ExclusiveStartKey: exactly the key attributes of the table and of the index, of
 * the right types, within the partition asked for and the segment. ERR_VALIDATION with AWS's texts.
 */
enum code read_start_key(struct arena *arena, const struct read_page *page,
			 const struct value *start_key, struct str *row_key,
			 struct err *err) WARN_UNUSED;

#endif
