#include "server/transfer/source.h"

#include <stdlib.h>
#include <string.h>

#include "server/gzip.h"
#include "server/transfer/messages.h"
#include "server/transfer/zstd.h"

#define PIECE ((size_t)1 << 20) /* bytes read, and decompressed, at a time */

struct source {
	struct source_options options;
	struct arena *arena;      /* of the source's whole life */
	struct records *records;
	uint64_t offset;          /* of what is read next */
	struct arena *raw_arena;  /* holds `raw` */
	struct str raw;           /* read, not decompressed yet */
	struct arena *window[2];  /* the bytes that records are read from, by turns */
	unsigned turn;
	struct gzip_reader *gzip;
	struct zstd_reader *zstd;
	bool is_last;             /* all bytes were given to the records */
};

struct source *source_open(const struct source_options *options)
{
	struct arena *arena = arena_new(PIECE);
	struct source *source = arena_checked(calloc(1, sizeof(*source)));

	source->arena = arena;
	source->options = *options;
	source->options.bucket = s3_bucket_copy(arena, options->bucket);
	source->options.object.key = str_copy(arena, options->object.key);
	source->options.object.etag = str_copy(arena, options->object.etag);
	source->records = records_new(arena, options->form);
	source->raw_arena = arena_new(2 * PIECE);
	source->window[0] = arena_new(2 * PIECE);
	source->window[1] = arena_new(2 * PIECE);
	records_give(source->records, STR(""), false);
	return source;
}

void source_close(struct source *source)
{
	if (!source)
		return;
	gzip_reader_free(source->gzip);
	zstd_reader_free(source->zstd);
	arena_free(source->raw_arena);
	arena_free(source->window[0]);
	arena_free(source->window[1]);
	arena_free(source->arena);
	free(source);
}

uint64_t source_read(const struct source *source)
{
	return source->offset - source->raw.n;
}

/* The next bytes of the object, as they lie in S3. */
static bool read_raw(struct source *source, struct s3_problem *problem)
{
	const struct source_options *o = &source->options;
	uint64_t left = o->object.size - source->offset;
	size_t n = left < PIECE ? (size_t)left : PIECE;

	if (source->raw.n > 0 || n == 0)
		return true;
	arena_reset(source->raw_arena);
	if (!s3_read(o->s3, source->raw_arena, o->bucket, &o->object, source->offset, n,
		     &source->raw, problem))
		return false;
	source->offset += n;
	return true;
}

static bool decompress(struct source *source, char *to, size_t room, size_t *n)
{
	if (source->options.coding == SOURCE_GZIP) {
		if (!source->gzip)
			source->gzip = gzip_reader_new();
		return source->gzip && gzip_reader_read(source->gzip, &source->raw, to, room, n);
	}
	return zstd_reader_read(source->zstd, &source->raw, to, room, n);
}

static bool is_whole(const struct source *source)
{
	if (source->options.coding == SOURCE_GZIP)
		return source->gzip && gzip_reader_is_whole(source->gzip);
	return zstd_reader_is_whole(source->zstd);
}

enum filled { FILLED, NO_S3, NO_CODING };

/* Up to PIECE bytes at `to`, and whether they are the last ones. */
static enum filled fill_from_source(struct source *source, char *to, size_t *n,
				    struct s3_problem *problem)
{
	const struct source_options *o = &source->options;
	bool moves = true;

	*n = 0;
	while (*n < PIECE && moves) {
		size_t got = 0, before;

		if (!read_raw(source, problem))
			return NO_S3;
		before = source->raw.n;
		if (o->coding == SOURCE_PLAIN) {
			got = before < PIECE - *n ? before : PIECE - *n;
			memcpy(to + *n, source->raw.p ? source->raw.p : "", got);
			source->raw = (struct str){source->raw.p + got, before - got};
		} else if (o->object.size > 0 && !decompress(source, to + *n, PIECE - *n, &got)) {
			return NO_CODING;
		}
		*n += got;
		moves = got > 0 || source->raw.n < before;
	}
	source->is_last = source->offset == o->object.size && source->raw.n == 0 && *n < PIECE;
	return source->is_last && o->coding != SOURCE_PLAIN && o->object.size > 0 &&
			       !is_whole(source)
		       ? NO_CODING
		       : FILLED;
}

/* Gives the records what they left and the next piece. */
static enum filled give_more(struct source *source, struct s3_problem *problem)
{
	struct str rest = records_rest(source->records);
	struct arena *arena = source->window[source->turn ^= 1];
	size_t n;

	arena_reset(arena);
	char *bytes = arena_bytes(arena, rest.n + PIECE + 1);
	memcpy(bytes, rest.p, rest.n);
	enum filled filled = fill_from_source(source, bytes + rest.n, &n, problem);
	if (source->is_last)
		bytes[rest.n + n++] = '\n';
	records_give(source->records, (struct str){bytes, rest.n + n}, source->is_last);
	return filled;
}

static enum record_kind broken_coding(const struct source *source, struct err *err)
{
	(void)(err_set(err, MSG_SOURCE_CODING,
		       source->options.coding == SOURCE_GZIP ? "GZIP" : "ZSTD") == OK);
	return RECORD_BROKEN;
}

bool source_next(struct source *source, struct arena *arena, enum record_kind *kind,
		 struct record_put *record, struct err *err, struct s3_problem *problem)
{
	struct str reason;

	if (source->options.coding == SOURCE_ZSTD && !source->zstd &&
	    !(source->zstd = zstd_reader_new(source->arena, &reason))) {
		*problem = (struct s3_problem){STR("InternalError"), reason, 500, false};
		return false;
	}
	for (;;) {
		*kind = records_next(source->records, arena, record, err);
		if (*kind != RECORD_MORE)
			return true;
		enum filled filled = give_more(source, problem);
		if (filled == NO_S3)
			return false;
		if (filled == NO_CODING) {
			*kind = broken_coding(source, err);
			return true;
		}
	}
}
