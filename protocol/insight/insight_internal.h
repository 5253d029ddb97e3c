/* insight_internal - what insight.c keeps, for what describes and judges it. The lock is held. */
#ifndef DYNALITH_PROTOCOL_INSIGHT_INTERNAL_H
#define DYNALITH_PROTOCOL_INSIGHT_INTERNAL_H

#include <pthread.h>

#include "protocol/insight/insight.h"
#include "protocol/insight/outline.h"
#include "protocol/insight/partition.h"
#include "protocol/insight/prefixes.h"
#include "protocol/insight/series.h"
#include "protocol/insight/sketch.h"

#define ERRORS_MAX 8
#define CALLERS_MAX 256
#define RUNS 64
#define RECENT 4096
#define TABLES_MAX 1024
#define ENTITIES_MAX 4096
#define USED_MAX 32
#define SHAPES 256

struct caller {
	struct str name;     /* malloced */
	uint64_t hash;
};

struct callers {
	size_t n;
	struct caller v[CALLERS_MAX];
	const struct caller *last;   /* of the request before; or NULL */
};

struct seen_at {
	const struct caller *caller;
	int64_t ms;
};

/* What is the same for all requests of a pattern. */
enum pattern_trait {
	PATTERN_SCAN = 1,
	PATTERN_QUERY = 2,
	PATTERN_GET = 4,
	PATTERN_WRITE = 8,
	PATTERN_FILTER = 16,
	PATTERN_CONSISTENT = 32,
	PATTERN_ONE = 64, /* a transaction of writes with a single member */
	PATTERN_UPDATE = 128,
	PATTERN_SINGLE = 256,   /* of one access */
	PATTERN_EQUALITY = 512, /* its filter asks for equality */
	PATTERN_BLIND = 1024, /* it has overwritten items without a condition, and that is noted */
};

struct pattern_flow {
	uint64_t calls, members, continued, more, scanned, returned, bytes;
	uint64_t burst;          /* calls one after the other by one caller, at most */
	uint64_t in_bursts;
	uint64_t consistent,
		needed;          /* consistent reads; those of what was written shortly before */
	double read, write;      /* units */
};

struct pattern {
	uint64_t hash;
	struct pattern *next;        /* that is older */
	struct pattern *settled;     /* what it was in the last settle() */
	const char *operation;
	unsigned traits;
	unsigned columns;            /* attributes that are asked for; 0: all */
	unsigned changes;            /* actions of the update */
	struct str parts[OUTLINE_PARTS]; /* in `texts` */
	char *texts;
	struct pattern_flow flow;
	struct series series;
	struct sketch units, latency, sizes; /* half units, microseconds, bytes of items */
	struct {
		enum code code;
		uint64_t n;
	} errors[ERRORS_MAX];
	struct seen_at first, last;
	char *example;               /* the body of a request, or NULL */
	uint64_t folded;             /* patterns that were rare and became part of this one */
};

struct seen_index {
	uint64_t reads, whole_reads; /* patterns' calls; those that want all attributes */
	double written;              /* units */
	size_t used_count;
	struct str used[USED_MAX];   /* attributes that some pattern names; malloced */
	bool is_used_more;           /* there are others */
};

struct seen_table {
	struct table *table;         /* the newest snapshot that was met */
	double base;                 /* units written to the table itself */
	uint64_t ttl_wrong, ttl_milliseconds; /* items whose attribute of time to live is no number;
						 is far too large */
	struct seen_index *indexes;  /* INDEXES_MAX of them, by place */
	struct partitions partitions;
	struct prefixes *prefixes;   /* of `known`; NULL: there are too many tables */
};

/* What was learnt of a table's keys. insight_clear() forgets requests, not this. */
struct known_table {
	uint64_t number;
	struct prefixes prefixes;
};

/* Items of a kind: a table and the shape of a key. */
struct entity {
	uint64_t hash;
	const struct pattern *blind, *guarded; /* puts over an item without a condition; changes
						  with one that looks at the item */
};

/* The hash of the pattern of requests whose accesses have that key: see outline_key(). */
struct shape_seen {
	uint64_t key, hash;
};

#define RUN_ROWS 16

/* Calls one after the other. A row that is read again is no further item. */
struct run_of {
	uint64_t caller, pattern, n;
	uint64_t rows[RUN_ROWS]; /* the last ones, by access_row() */
};

struct insight {
	pthread_mutex_t lock;
	size_t patterns_max;
	bool has_examples;
	size_t n, slot_count;
	struct pattern **slots;      /* by hash, open addressing */
	struct pattern *newest;      /* of all in slots */
	struct pattern *rest;        /* of the rare ones */
	struct shape_seen shapes[SHAPES]; /* lately, by their keys */
	struct callers callers;
	size_t table_count;
	struct seen_table **tables;
	size_t known_count;
	struct known_table **known;  /* TABLES_MAX at most */
	size_t entity_count;
	struct entity *entities;
	struct run_of runs[RUNS];
	uint64_t recent[RECENT];     /* what was written lately */
	struct timeline timeline;    /* of all series */
	uint64_t left[RECENT];       /* members of batches that were left undone and not repeated */
	struct pattern_flow all;
};

/* The members of a description that have a pattern's parts. */
extern const char *const insight_part_names[OUTLINE_PARTS];

/* Adds the figures; the patterns' texts are alike, or do not matter any more. */
void insight_merge(struct pattern *into, const struct pattern *from);

/* Calls `visit` for each pattern, the rest last. */
void insight_each(struct insight *insight, void (*visit)(void *context, struct pattern *pattern),
		  void *context);

#endif
