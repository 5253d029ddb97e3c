#include "server/gzip.h"

#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

#include "core/buf.h"

#define ZLIB_WINDOW 15               /* zlib: the largest window, its own frame */
#define GZIP_WINDOW (ZLIB_WINDOW + 16) /* the same in gzip's */
#define PIECE 16384                  /* bytes decompressed at a time */
#define WEIGHT_MAX 1.0

static const struct str names[] = {
	[GZIP_IDENTITY] = STR_INIT("identity"),
	[GZIP_GZIP] = STR_INIT("gzip"),
	[GZIP_DEFLATE] = STR_INIT("deflate"),
};

enum gzip_coding gzip_coding_of(struct str content_encoding)
{
	struct str name = str_trim(content_encoding);

	if (name.n == 0)
		return GZIP_IDENTITY;
	for (int i = GZIP_IDENTITY; i < GZIP_UNKNOWN; i++) {
		if (str_eq_nocase(name, names[i]))
			return (enum gzip_coding)i;
	}
	return GZIP_UNKNOWN;
}

/* AWS: the first "q" counts, and "q =" is none; a value over 1 counts as 1, and so does a text that
 * is no number. */
static double encoding_weight_of(struct str parameters)
{
	while (parameters.n) {
		struct str value = str_cut(&parameters, ';'), name = str_cut(&value, '=');
		char text[16] = "", *end;

		while (name.n && (*name.p == ' ' || *name.p == '\t'))
			name = (struct str){name.p + 1, name.n - 1};
		if (!str_eq_nocase(name, STR("q")))
			continue;
		value = str_trim(value);
		memcpy(text, value.p, value.n < sizeof(text) - 1 ? value.n : sizeof(text) - 1);
		double weight = strtod(text, &end);
		return *end || value.n == 0 || !(weight <= WEIGHT_MAX) ? WEIGHT_MAX : weight;
	}
	return WEIGHT_MAX;
}

enum gzip_coding gzip_accepted(struct str accept_encoding)
{
	bool is_named[GZIP_UNKNOWN] = {false};
	enum gzip_coding best = GZIP_IDENTITY;
	double best_weight = 0, any_weight = 0;

	while (accept_encoding.n) {
		struct str parameters = str_cut(&accept_encoding, ','),
			   name = str_trim(str_cut(&parameters, ';'));
		double weight = encoding_weight_of(parameters);
		enum gzip_coding coding = gzip_coding_of(name);

		if (str_eq(name, STR("*")) && weight > any_weight)
			any_weight = weight;
		if (coding != GZIP_GZIP && coding != GZIP_DEFLATE)
			continue;
		is_named[coding] = true;
		if (weight > best_weight) {
			best = coding;
			best_weight = weight;
		}
	}
	if (any_weight > best_weight && !is_named[GZIP_GZIP])
		return GZIP_GZIP;
	return any_weight > best_weight && !is_named[GZIP_DEFLATE] ? GZIP_DEFLATE : best;
}

/* AWS: ignores bytes behind a member that do not begin another one. */
static bool is_member(struct str s)
{
	return s.n > 3 && memcmp(s.p, "\x1f\x8b\x08", 3) == 0;
}

enum gzip_result gzip_decode(struct arena *arena, enum gzip_coding coding, struct str body,
			     size_t limit, struct str *out)
{
	struct buf buf = buf_in(arena);
	z_stream stream = {0};
	int result;

	if (inflateInit2(&stream, coding == GZIP_GZIP ? GZIP_WINDOW : ZLIB_WINDOW) != Z_OK)
		return GZIP_BROKEN;
	stream.next_in = (Bytef *)(uintptr_t)body.p;
	stream.avail_in = (uInt)body.n;
	do {
		stream.next_out = (Bytef *)buf_reserve(&buf, PIECE);
		stream.avail_out = PIECE;
		result = inflate(&stream, Z_NO_FLUSH);
		buf.n += PIECE - stream.avail_out;
		if (result == Z_STREAM_END && coding == GZIP_GZIP &&
		    is_member((struct str){(const char *)stream.next_in, stream.avail_in}))
			result = inflateReset(&stream);
	} while (result == Z_OK && buf.n <= limit && !arena_is_over(arena));
	inflateEnd(&stream);
	*out = buf_str(&buf);
	if (buf.n > limit)
		return GZIP_TOO_LARGE;
	return result == Z_STREAM_END ? GZIP_FINE : GZIP_BROKEN;
}

struct gzip_reader {
	z_stream stream;
	bool is_whole;
};

struct gzip_reader *gzip_reader_new(void)
{
	struct gzip_reader *reader = arena_checked(calloc(1, sizeof(*reader)));

	if (inflateInit2(&reader->stream, GZIP_WINDOW) != Z_OK) {
		free(reader);
		return NULL;
	}
	return reader;
}

void gzip_reader_free(struct gzip_reader *reader)
{
	if (!reader)
		return;
	inflateEnd(&reader->stream);
	free(reader);
}

bool gzip_reader_read(struct gzip_reader *reader, struct str *in, char *to, size_t room, size_t *n)
{
	z_stream *stream = &reader->stream;
	int result = Z_OK;

	stream->next_in = (Bytef *)(uintptr_t)in->p;
	stream->avail_in = (uInt)in->n;
	stream->next_out = (Bytef *)to;
	stream->avail_out = (uInt)room;
	while (result == Z_OK && stream->avail_in > 0 && stream->avail_out > 0) {
		if (reader->is_whole)
			result = inflateReset(stream);
		reader->is_whole = false;
		if (result == Z_OK)
			result = inflate(stream, Z_NO_FLUSH);
		if (result == Z_STREAM_END) {
			reader->is_whole = true;
			result = Z_OK;
		}
	}
	/* what the window still holds comes without more input */
	if (result == Z_OK && !reader->is_whole && stream->avail_in == 0 && stream->avail_out > 0) {
		result = inflate(stream, Z_NO_FLUSH);
		reader->is_whole = result == Z_STREAM_END;
		result = result == Z_STREAM_END || result == Z_BUF_ERROR ? Z_OK : result;
	}
	*in = (struct str){(const char *)stream->next_in, stream->avail_in};
	*n = room - stream->avail_out;
	return result == Z_OK || result == Z_BUF_ERROR;
}

bool gzip_reader_is_whole(const struct gzip_reader *reader)
{
	return reader->is_whole;
}

/* zlib's memory is the arena's, which is warm: malloc gives 260 KB back to the system behind each
 * answer. */
static void *take(void *arena, unsigned n, unsigned size)
{
	return arena_alloc(arena, (size_t)n * size);
}

static void leave(void *arena, void *p)
{
	(void)arena, (void)p;
}

static struct str encode_piece(struct arena *arena, enum gzip_coding coding, struct str body,
			       int level)
{
	int window = coding == GZIP_GZIP ? GZIP_WINDOW : ZLIB_WINDOW;
	z_stream stream = {.zalloc = take, .zfree = leave, .opaque = arena};

	if (deflateInit2(&stream, level, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return STR_ABSENT;
	size_t bound = deflateBound(&stream, body.n);
	char *out = arena_bytes(arena, bound);
	stream.next_in = (Bytef *)(uintptr_t)body.p;
	stream.avail_in = (uInt)body.n;
	stream.next_out = (Bytef *)out;
	stream.avail_out = (uInt)bound;
	int result = deflate(&stream, Z_FINISH);
	deflateEnd(&stream);
	return result == Z_STREAM_END ? (struct str){out, stream.total_out} : STR_ABSENT;
}

struct str gzip_encode(struct arena *arena, enum gzip_coding coding, struct str body)
{
	return encode_piece(arena, coding, body, Z_BEST_SPEED);
}

struct str gzip_encode_small(struct arena *arena, enum gzip_coding coding, struct str body)
{
	return encode_piece(arena, coding, body, Z_BEST_COMPRESSION);
}
