#include "server/export/export_reader.h"

#include <stdlib.h>
#include <string.h>

#include "server/gzip.h"
#include "server/messages.h"

#define PIECE ((size_t)1 << 20) /* bytes that are decompressed at a time */

struct export_reader {
	struct str raw;           /* not decompressed yet */
	struct gzip_reader *gzip; /* NULL: it is not compressed */
	struct arena *own;        /* of the reader's whole life */
	struct arena *window[2];  /* the bytes that records are read from, by turns */
	unsigned turn;
	struct records *records;
	uint64_t line;
};

struct export_reader *export_reader_open(struct str raw, const struct records_form *form)
{
	struct export_reader *reader = arena_checked(calloc(1, sizeof(*reader)));
	bool is_packed = raw.n >= 2 && memcmp(raw.p, "\x1f\x8b", 2) == 0;

	reader->raw = raw;
	reader->gzip = is_packed ? arena_checked(gzip_reader_new()) : NULL;
	reader->own = arena_new(0);
	reader->window[0] = arena_new(2 * PIECE);
	reader->window[1] = arena_new(2 * PIECE);
	reader->records = records_new(reader->own, form);
	reader->line = 1;
	records_give(reader->records, STR(""), false);
	return reader;
}

void export_reader_close(struct export_reader *reader)
{
	if (reader->gzip)
		gzip_reader_free(reader->gzip);
	arena_free(reader->window[0]);
	arena_free(reader->window[1]);
	arena_free(reader->own);
	free(reader);
}

uint64_t export_reader_line(const struct export_reader *reader)
{
	return reader->line;
}

/* Up to PIECE bytes. False: they are no gzip, or end within it. */
static bool fill_window(struct export_reader *reader, char *to, size_t *n, bool *is_last)
{
	bool moves = true;

	for (*n = 0; *n < PIECE && moves;) {
		size_t given = reader->raw.n < PIECE ? reader->raw.n : PIECE, room = PIECE - *n,
		       got = given < room ? given : room;
		struct str some = {reader->raw.p, given};

		if (!reader->gzip) {
			memcpy(to + *n, some.p, got);
			some = (struct str){some.p + got, given - got};
		} else if (!gzip_reader_read(reader->gzip, &some, to + *n, room, &got)) {
			return false;
		}
		reader->raw.p += given - some.n;
		reader->raw.n -= given - some.n;
		*n += got;
		moves = got > 0 || some.n < given;
	}
	*is_last = reader->raw.n == 0 && *n < PIECE;
	return !*is_last || !reader->gzip || gzip_reader_is_whole(reader->gzip);
}

/* Gives the records what they left and the next piece. */
static bool give_window(struct export_reader *reader)
{
	struct str rest = records_rest(reader->records);
	struct arena *arena = reader->window[reader->turn ^= 1];
	bool is_last;
	size_t n;

	arena_reset(arena);
	char *bytes = arena_bytes(arena, rest.n + PIECE + 1);
	if (rest.n > 0)
		memcpy(bytes, rest.p, rest.n);
	if (!fill_window(reader, bytes + rest.n, &n, &is_last))
		return false;
	if (is_last)
		bytes[rest.n + n++] = '\n';
	records_give(reader->records, (struct str){bytes, rest.n + n}, is_last);
	return true;
}

enum code export_reader_next(struct export_reader *reader, struct arena *arena,
			     struct record_put *record, bool *is_end, struct err *err)
{
	for (;;) {
		const char *at = records_rest(reader->records).p;
		enum record_kind kind = records_next(reader->records, arena, record, err);

		*is_end = kind == RECORD_END;
		if (kind == RECORD_END)
			return OK;
		for (const char *end = records_rest(reader->records).p; at < end; at++)
			reader->line += *at == '\n';
		if (kind == RECORD_ITEM)
			return OK;
		if (kind != RECORD_MORE)
			return err->code;
		if (!give_window(reader))
			return err_set(err, MSG_PULL_GZIP);
	}
}
