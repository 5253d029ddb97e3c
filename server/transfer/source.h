/*
 * source - one object of S3 as records: read in pieces, decompressed, taken apart.
 */
#ifndef DYNALITH_SERVER_SOURCE_H
#define DYNALITH_SERVER_SOURCE_H

#include "protocol/transfer/records.h"
#include "server/transfer/s3.h"

enum source_coding { SOURCE_PLAIN, SOURCE_GZIP, SOURCE_ZSTD };

struct source;

struct source_options {
	struct s3 *s3;
	struct s3_bucket bucket;
	struct s3_object object;
	enum source_coding coding;
	const struct records_form *form; /* outlives it */
};

/* The strings are copied. */
struct source *source_open(const struct source_options *options);
void source_close(struct source *source);

/*
 * The next record, never RECORD_MORE. The record lies in `arena`. False where S3 or the library
 * that decompresses answered with a problem.
 */
bool source_next(struct source *source, struct arena *arena, enum record_kind *kind,
		 struct record_put *record, struct err *err, struct s3_problem *problem);

/* Bytes of the object that were read so far. */
uint64_t source_read(const struct source *source);

#endif
