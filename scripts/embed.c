/*
 * embed - compresses files and writes them as a table in C, at build time: embed OUT TABLE FOLDER/
 * FILE ...; names in TABLE_files lack FOLDER/.
 *
 * A program of its own, since to build and run the server takes a C compiler and the libraries, and
 * nothing else.
 */
#include <errno.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/crc32.h"
#include "server/gzip.h"

#define PIECE 65536

static const struct {
	const char *ending, *type;
} types[] = {
	{".html", "text/html; charset=utf-8"}, {".js", "text/javascript; charset=utf-8"},
	{".css", "text/css; charset=utf-8"},   {".svg", "image/svg+xml"},
	{".json", "application/json"},         {".md", "text/markdown; charset=utf-8"},
};

static const char *type_of(const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		size_t m = strlen(types[i].ending);

		if (n > m && memcmp(name + n - m, types[i].ending, m) == 0)
			return types[i].type;
	}
	return NULL;
}

static int fail(const char *name, const char *problem)
{
	fprintf(stderr, "embed: %s: %s\n", name, problem);
	return EXIT_FAILURE;
}

static int read_file(struct arena *arena, const char *name, struct str *out)
{
	struct buf buf = buf_in(arena);
	FILE *file = fopen(name, "rb");

	if (!file)
		return fail(name, strerror(errno));
	for (size_t n = 1; n > 0; buf.n += n)
		n = fread(buf_reserve(&buf, PIECE), 1, PIECE, file);
	int is_broken = ferror(file);
	fclose(file);
	*out = buf_str(&buf);
	return is_broken ? fail(name, "cannot be read") : EXIT_SUCCESS;
}

static int write_bytes(FILE *out, struct arena *arena, int i, const char *name, struct str *packed,
		       struct str *plain)
{
	if (!type_of(name))
		return fail(name, "scripts/embed.c knows no media type for it");
	if (read_file(arena, name, plain) != EXIT_SUCCESS)
		return EXIT_FAILURE;
	*packed = gzip_encode_small(arena, GZIP_GZIP, *plain);
	if (!str_is_set(*packed))
		return fail(name, "cannot be compressed");
	fprintf(out, "static const unsigned char bytes_%d[] = {", i);
	for (size_t at = 0; at < packed->n; at++)
		fprintf(out, "%s%u,", at % 24 == 0 ? "\n" : "",
			(unsigned)(unsigned char)packed->p[at]);
	fprintf(out, "\n};\n");
	return EXIT_SUCCESS;
}

int main(int n, char **names)
{
	struct arena *arena = arena_new(0);
	struct buf rows = buf_in(arena);
	size_t folder = n > 3 ? strlen(names[3]) : 0;
	FILE *out = n > 4 ? fopen(names[1], "w") : NULL;

	if (!out)
		return fail("embed OUT TABLE FOLDER/ FILE ...",
			    n > 4 ? strerror(errno) : "that is how it is called");
	fprintf(out, "#include \"server/embedded_file.h\"\n\n");
	for (int i = 4; i < n; i++) {
		struct str packed, plain;

		if (write_bytes(out, arena, i, names[i], &packed, &plain) != EXIT_SUCCESS)
			return EXIT_FAILURE;
		buf_printf(&rows,
			   "\t{\"%s\", \"%s\", \"W/\\\"%08x-%zx\\\"\", bytes_%d, %zu, %zu},\n",
			   names[i] + folder, type_of(names[i]), crc32_of(plain.p, plain.n),
			   plain.n, i, packed.n, plain.n);
	}
	fprintf(out,
		"\nconst struct embedded_file %s_files[] = {\n" STR_FMT
		"};\nconst size_t %s_file_count = %d;\n",
		names[2], STR_ARG(buf_str(&rows)), names[2], n - 4);
	arena_free(arena);
	return fclose(out) == 0 ? EXIT_SUCCESS : fail(names[1], strerror(errno));
}
