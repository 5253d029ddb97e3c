#include "server/transfer/zstd.h"

#include <stdlib.h>

#include "server/transfer/messages.h"

#ifdef __APPLE__
#define LIBRARY "libzstd.1.dylib"
#else
#define LIBRARY "libzstd.so.1"
#endif

#ifdef WITH_ZSTD
#include <dlfcn.h>
#include <zstd.h>

/* The functions that are used, by their names. */
struct zstd_reader {
	void *library;
	__typeof__(ZSTD_createDStream) *create;
	__typeof__(ZSTD_freeDStream) *free;
	__typeof__(ZSTD_decompressStream) *decompress;
	__typeof__(ZSTD_isError) *is_error;
	ZSTD_DStream *stream;
	bool is_whole;
};

struct zstd_reader *zstd_reader_new(struct arena *arena, struct str *problem)
{
	struct zstd_reader *reader = arena_checked(calloc(1, sizeof(*reader)));
	const struct {
		const char *name;
		void **to;
	} calls[] = {
		{"ZSTD_createDStream", (void **)&reader->create},
		{"ZSTD_freeDStream", (void **)&reader->free},
		{"ZSTD_decompressStream", (void **)&reader->decompress},
		{"ZSTD_isError", (void **)&reader->is_error},
	};
	bool is_there = true;

	reader->library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	for (size_t i = 0; reader->library && i < sizeof(calls) / sizeof(calls[0]); i++)
		is_there = (*calls[i].to = dlsym(reader->library, calls[i].name)) && is_there;
	if (reader->library && is_there)
		reader->stream = reader->create();
	if (reader->stream)
		return reader;
	*problem = str_printf(arena, MSG_ZSTD_NONE, LIBRARY);
	zstd_reader_free(reader);
	return NULL;
}

void zstd_reader_free(struct zstd_reader *reader)
{
	if (!reader)
		return;
	if (reader->stream)
		reader->free(reader->stream);
	if (reader->library)
		dlclose(reader->library);
	free(reader);
}

bool zstd_reader_read(struct zstd_reader *reader, struct str *in, char *to, size_t room, size_t *n)
{
	ZSTD_inBuffer from = {in->p, in->n, 0};
	ZSTD_outBuffer out = {to, room, 0};
	size_t left = 0, before;

	do {
		before = from.pos + out.pos;
		left = reader->decompress(reader->stream, &out, &from);
		if (reader->is_error(left))
			return false;
		if (from.pos + out.pos > before)
			reader->is_whole = left == 0;
	} while (out.pos < out.size && from.pos + out.pos > before);
	*in = (struct str){in->p + from.pos, in->n - from.pos};
	*n = out.pos;
	return true;
}

bool zstd_reader_is_whole(const struct zstd_reader *reader)
{
	return reader->is_whole;
}

#else

struct zstd_reader *zstd_reader_new(struct arena *arena, struct str *problem)
{
	*problem = str_printf(arena, MSG_ZSTD_NONE, LIBRARY);
	return NULL;
}

void zstd_reader_free(struct zstd_reader *reader)
{
	(void)reader;
}

bool zstd_reader_read(struct zstd_reader *reader, struct str *in, char *to, size_t room, size_t *n)
{
	(void)reader, (void)in, (void)to, (void)room;
	*n = 0;
	return false;
}

bool zstd_reader_is_whole(const struct zstd_reader *reader)
{
	(void)reader;
	return false;
}

#endif
