/*
 * escape - what writing an answer of many items costs, beside copying and escaping as many bytes:
 * make bench-escape.
 *
 *     escape [ROUNDS]
 *
 * The answers are those of a Scan's page of 1 MB and of a BatchGetItem of 100, made of the items of
 * tests/bench/load. Prints a table: microseconds of the thread's CPU, medians of the rounds, one
 * after the other in each round; the last column is how many times the copy with escapes they take.
 * Compressed answers stand beside zlib with a stream that is ready.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <zlib.h>

#include "core/arena.h"
#include "core/crc32.h"
#include "core/image.h"
#include "core/number.h"
#include "protocol/wire/json_out.h"
#include "server/gzip.h"

#define ROUNDS 60
#define KEEP (16u * 1024 * 1024) /* of the arena: its memory is warm */

struct work {
	struct arena *arena;
	struct str *images;
	size_t n, bytes;
	struct str answer;  /* of the images */
	struct str plain;   /* as many bytes, none of which needs an escape */
	char *to;           /* with room for all bytes escaped */
	z_stream *stream;
	struct str text;    /* the latest result */
};

#define TEXT(...) value_of_str(TYPE_S, str_printf(arena, __VA_ARGS__))

static struct value number_value(struct arena *arena, struct str text)
{
	char *to = arena_bytes(arena, NUMBER_MAX);
	struct err err = err_in(arena);
	size_t n = 0;

	if (number_parse(text, to, &n, &err) != OK)
		exit(2);
	return value_of_str(TYPE_N, (struct str){to, n});
}

/* The item of tests/bench/load. */
static struct str image_of(struct arena *arena, unsigned i)
{
	struct value tags[] = {TEXT("alpha"), TEXT("beta"), TEXT("gamma")};
	struct value lines[] = {number_value(arena, STR("1")), number_value(arena, STR("2")),
				TEXT("third")};
	struct member customer[] = {
		{STR("city"), TEXT("San Francisco")},
		{STR("email"), TEXT("customer%u@example.com", i)},
		{STR("name"), TEXT("Customer number %u", i)},
		{STR("zip"), TEXT("94110")},
	};
	struct member members[] = {
		{STR("GSI1PK"), TEXT("STATUS#%08u", i)},
		{STR("GSI1SK"), TEXT("2026-01-15T00:00:00Z#%010u", i)},
		{STR("PK"), TEXT("CUSTOMER#%08u", i)},
		{STR("SK"), TEXT("ORDER#%06u", i % 20)},
		{STR("customer"), {.type = TYPE_M, .n = 4, .members = customer}},
		{STR("description"), TEXT("Lorem ipsum dolor sit amet, consectetur adipiscing "
					  "elit, sed do eiusmod tempor incididunt ut labore "
					  "et dolore magna aliqua. Ut enim ad minim veniam, quis "
					  "nostrud exercitation ullamco laboris.")},
		{STR("id"), number_value(arena, str_printf(arena, "%u", i))},
		{STR("lines"), {.type = TYPE_L, .n = 3, .elements = lines}},
		{STR("note"),
		 TEXT("The quick brown fox jumps over the lazy dog, again and again and again.")},
		{STR("paid"), {.type = TYPE_BOOL, .boolean = true}},
		{STR("tags"), {.type = TYPE_SS, .n = 3, .elements = tags}},
		{STR("total"),
		 number_value(arena, str_printf(arena, "%u.%02u", 10 + i % 1000, i % 100))},
		{STR("type"), TEXT("order")},
		{STR("version"), number_value(arena, STR("1"))},
	};
	struct value item = {
		.type = TYPE_M, .n = sizeof(members) / sizeof(*members), .members = members};
	struct buf image = buf_in(arena);

	image_encode(&item, &image);
	return buf_str(&image);
}

static void copy(struct work *work)
{
	memcpy(work->to, work->plain.p, work->plain.n);
	work->text = (struct str){work->to, work->plain.n};
}

static void copy_bytewise(struct work *work)
{
	char *to = work->to;

	for (size_t i = 0; i < work->plain.n; i++) {
		unsigned char c = (unsigned char)work->plain.p[i];

		if (c < ' ' || c == '"' || c == '\\')
			*to++ = '\\';
		*to++ = (char)c;
	}
	work->text = (struct str){work->to, (size_t)(to - work->to)};
}

static void copy_escaped(struct work *work)
{
	struct json_out out = {.buf = {work->arena, work->to, 0, 6 * work->plain.n + 64}};

	json_out_string(&out, work->plain);
	work->text = json_out_str(&out);
}

static void write_items(struct work *work)
{
	struct json_out out = json_out_in(work->arena);

	json_out_expect(&out, work->n, work->bytes);
	for (size_t i = 0; i < work->n; i++)
		json_out_image(&out, work->images[i]);
	work->text = json_out_str(&out);
}

static void sum_up(struct work *work)
{
	if (crc32_of(work->answer.p, work->answer.n) == 0)
		exit(2);
}

static void compress_answer(struct work *work)
{
	work->text = gzip_encode(work->arena, GZIP_GZIP, work->answer);
}

static void compress_barely(struct work *work)
{
	deflateReset(work->stream);
	work->stream->next_in = (Bytef *)(uintptr_t)work->answer.p;
	work->stream->avail_in = (uInt)work->answer.n;
	work->stream->next_out = (Bytef *)work->to;
	work->stream->avail_out = (uInt)work->answer.n;
	if (deflate(work->stream, Z_FINISH) != Z_STREAM_END)
		exit(2);
}

static const struct {
	const char *name;
	void (*run)(struct work *work);
} steps[] = {
	{"copy with escapes, by vectors", copy_escaped},
	{"copy", copy},
	{"copy with escapes, byte by byte", copy_bytewise},
	{"answer from stored images", write_items},
	{"checksum of the answer", sum_up},
	{"compressed answer", compress_answer},
	{"zlib alone", compress_barely},
};

#define STEPS (sizeof(steps) / sizeof(*steps))

static double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void measure(const char *name, unsigned n, size_t rounds)
{
	struct arena *own = arena_new(0);
	struct work work = {.arena = arena_new(KEEP),
			    .images = arena_alloc(own, n * sizeof(struct str)),
			    .n = n};
	double *times = arena_alloc(own, STEPS * rounds * sizeof(*times)), base = 0;
	z_stream stream = {0};

	for (unsigned i = 0; i < n; i++) {
		work.images[i] = image_of(own, i);
		work.bytes += work.images[i].n;
	}
	write_items(&work);
	work.answer = str_copy(own, work.text);
	char *plain = arena_bytes(own, work.answer.n);
	for (size_t i = 0; i < work.answer.n; i++)
		plain[i] = work.answer.p[i] == '"' ? '\'' : work.answer.p[i];
	work.plain = (struct str){plain, work.answer.n};
	work.to = memset(arena_bytes(own, 6 * work.answer.n + 64), 0, 6 * work.answer.n + 64);
	work.stream = &stream;
	if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		exit(2);
	for (size_t round = 0; round < rounds; round++) {
		for (size_t i = 0; i < STEPS; i++) {
			double begin = now_us();

			steps[i].run(&work);
			times[i * rounds + round] = now_us() - begin;
			arena_rewind(work.arena);
		}
	}
	for (size_t i = 0; i < STEPS; i++) {
		qsort(times + i * rounds, rounds, sizeof(*times), by_size);
		double median = times[i * rounds + rounds / 2];

		base = i == 0 ? median : base;
		printf("| %s, %zu bytes | %s | %.1f | %.2f |\n", name, work.answer.n, steps[i].name,
		       median, median / base);
	}
	deflateEnd(&stream);
	arena_free(work.arena);
	arena_free(own);
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : ROUNDS;

	if (rounds < 1) {
		fprintf(stderr, "escape: how many rounds?\n");
		return 2;
	}
	printf("| answer | | CPU us | times the copy with escapes |\n| --- | --- | ---: | ---: "
	       "|\n");
	measure("Scan of 1 MB", 1750, (size_t)rounds);
	measure("BatchGetItem of 100", 100, (size_t)rounds);
	return 0;
}
