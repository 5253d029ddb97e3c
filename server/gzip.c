#include "server/gzip.h"

#include <zlib.h>

#include "core/buf.h"

#define GZIP_WINDOW (15 + 16) /* zlib: the largest window, gzip's frame */

bool gzip_decode(struct arena *arena, struct str body, size_t limit, struct str *out)
{
	struct buf buf = buf_in(arena);
	z_stream stream = {0};
	int result;

	if (inflateInit2(&stream, GZIP_WINDOW) != Z_OK)
		return false;
	stream.next_in = (Bytef *)(uintptr_t)body.p;
	stream.avail_in = (uInt)body.n;
	do {
		char *to = buf_reserve(&buf, 16384);

		stream.next_out = (Bytef *)to;
		stream.avail_out = 16384;
		result = inflate(&stream, Z_NO_FLUSH);
		buf.n += 16384 - stream.avail_out;
	} while (result == Z_OK && buf.n <= limit && !arena_is_over(arena));
	inflateEnd(&stream);
	*out = buf_str(&buf);
	return result == Z_STREAM_END && stream.avail_in == 0 && buf.n <= limit;
}

struct str gzip_encode(struct arena *arena, struct str body)
{
	z_stream stream = {0};

	if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) != Z_OK)
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
