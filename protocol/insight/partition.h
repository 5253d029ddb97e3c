/*
 * partition - the partitions of a table and its indexes that get the most, in little memory
 * (Space-Saving: a new one takes the place of the least, and its figures may then be too high by
 * what that one had). Once all places are taken, one of eight requests for others takes one.
 */
#ifndef DYNALITH_PROTOCOL_PARTITION_H
#define DYNALITH_PROTOCOL_PARTITION_H

#include <stdint.h>

#include "protocol/insight/access.h"
#include "protocol/insight/series.h"

#define PARTITIONS_MAX 32
#define PARTITION_LABEL 48
#define PARTITION_LISTS 64

struct partition {
	uint64_t id;                  /* of index and hash of the partition key */
	char prefix[PARTITION_LABEL]; /* of the key: mask.h */
	bool is_whole;                /* it is the key: a word in capitals */
	bool is_shown;                /* prefixes.h */
	const struct index *index;    /* its name lies in a snapshot of the table that is kept */
	uint64_t requests,
		doubtful; /* doubtful: by how much the figures may be too high, in requests */
	double read, write;           /* units */
	int64_t items;                /* put and not deleted since this began */
	int64_t second;               /* the figures of that second, by a clock that nobody turns */
	double second_read, second_write, peak_read, peak_write;
	struct series series;         /* since it has its place */
};

struct partitions {
	size_t n;
	struct partition v[PARTITIONS_MAX];
	unsigned char heads[PARTITION_LISTS],
		next[PARTITIONS_MAX]; /* lists by their ids: places from 1 */
	uint64_t missed;              /* requests for partitions that were not here */
	uint64_t requests;            /* of all partitions */
	double units;
	struct series series; /* of all partitions */
};

/* What an access costs, and when it was. */
struct partition_cost {
	struct units units;
	int64_t second;
	unsigned bucket; /* of its series */
};

/* The prefix of the key, if it may be shown, and four digits that distinguish keys; never the key.
 */
struct str partition_label(struct arena *arena, const struct partition *partition);

void partition_note(struct partitions *partitions, const struct access *access,
		    const struct partition_cost *cost, struct arena *arena);

#define BUSY_MS 60000 /* shorter runs are busy as a whole */

/*
 * When a table was busy: the minutes in which it got at least half of what its busiest minute got,
 * and as many of the next ones as `least` units take. A bucket that is wider than a minute stands
 * for one.
 */
struct partition_busy {
	bool is_in[SERIES_BUCKETS];
	double units;      /* of all partitions then */
	int64_t ms, of_ms; /* how long that was, of how long in all */
};

void partition_find_busy(const struct partitions *partitions, const struct timeline *timeline,
			 double least, struct partition_busy *busy);
double partition_busy_units(const struct partition *partition, const struct partition_busy *busy);

#endif
