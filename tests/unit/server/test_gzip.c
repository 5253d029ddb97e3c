/* Content codings. AWS: what is expected of DynamoDB is what ScyllaDB's Alternator tests found
 * there. */
#include "server/gzip.h"

#include "tests/unit/test.h"

#define LIMIT 100000

static struct arena *arena;

/* AWS: test_compressed_response, test_compressed_response_accept_encodings; what is marked ours
 * follows RFC 9110, 12.5.3. */
TEST(codings_that_are_accepted)
{
	static const struct {
		const char *header;
		enum gzip_coding coding;
	} cases[] = {
		{"gzip", GZIP_GZIP},
		{"deflate", GZIP_DEFLATE},
		{"identity", GZIP_IDENTITY},
		{"", GZIP_IDENTITY},
		{"br", GZIP_IDENTITY},
		{"zstd", GZIP_IDENTITY},
		{"compress", GZIP_IDENTITY},
		{"x-gzip", GZIP_IDENTITY},
		{"gzip, deflate", GZIP_GZIP},
		{"br, identity, deflate, gzip", GZIP_DEFLATE},
		{"GZIP, identity", GZIP_GZIP},
		{"dog, gzip ,, cat", GZIP_GZIP},
		{"gzip;q=0.8, deflate;q=0.5", GZIP_GZIP},
		{"br, gzip;q=0, deflate; q = 0.5 , identity;q=0", GZIP_DEFLATE},
		{"*", GZIP_GZIP},
		{"*, deflate;q=0.5", GZIP_GZIP},
		{"*, deflate", GZIP_DEFLATE},
		{"*, identity", GZIP_GZIP},
		{"*, gzip;q=0.5", GZIP_DEFLATE},
		{"gzip ;q=0", GZIP_IDENTITY},
		{"identity;q=0", GZIP_IDENTITY},
		{"*;q=0", GZIP_IDENTITY},
		{"*;q=0.5,identity", GZIP_GZIP},
		{"gzip;q=0.5,identity;q=0.8", GZIP_GZIP},
		{"br;q=0.8,identity;q=0.5,*;q=0", GZIP_IDENTITY},
		{"\"gzip\"", GZIP_IDENTITY},
		{"gzip br", GZIP_IDENTITY},
		{"gzip:q=1", GZIP_IDENTITY},
		{"deflate;q=0.5, gzip;q=31", GZIP_GZIP},
		{"gzip;q=31,deflate;q=51", GZIP_GZIP},
		{"deflate;q=0.5, gzip;q=0.2", GZIP_DEFLATE},
		{"deflate;q=0.5, gzip;q=1;q=0.2", GZIP_GZIP},
		{"deflate;q=0.5,gzip;q=0.", GZIP_DEFLATE},
		{"deflate;q=0.5,gzip;q=0.x", GZIP_GZIP},
		{"deflate;q=-0.5,gzip;q=0.2", GZIP_GZIP},
		{"gzip;nq=1;q=0 ", GZIP_IDENTITY},
		{"gzip;q=0, gzip;q=1, gzip;q=0", GZIP_GZIP},
		{"br,identity;q=0.5,gzip;q=0.0001", GZIP_GZIP},
		/* ours */
		{"gzip;Q=0", GZIP_IDENTITY},
		{"gzip;q =0", GZIP_GZIP},
		{"gzip; q=0", GZIP_IDENTITY},
		{"*;q=0.1, gzip;q=0, deflate;q=0", GZIP_IDENTITY},
		{"*, gzip;q=0", GZIP_DEFLATE},
		{";q=1", GZIP_IDENTITY},
		{",,,;;;===", GZIP_IDENTITY},
		{"gzip;q", GZIP_GZIP},
		{"gzip;q=", GZIP_GZIP},
		{"gzip;q=nan", GZIP_GZIP},
		{"\tgzip\t", GZIP_GZIP},
		{"gzip;q=0.00000000000000000000000000000", GZIP_IDENTITY},
		{"gzipx", GZIP_IDENTITY},
		{"gzi", GZIP_IDENTITY},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (gzip_accepted(str_of(cases[i].header)) != cases[i].coding)
			fprintf(stderr, "%s\n", cases[i].header);
		CHECK_INT(gzip_accepted(str_of(cases[i].header)), cases[i].coding);
	}
	CHECK_INT(gzip_accepted(STR_ABSENT), GZIP_IDENTITY);
}

/* Any text is taken, and each of its characters may be another. */
TEST(any_accept_encoding_is_read_to_its_end)
{
	static const char alphabet[] = "gzipdeflatq=;,.* 01-\t\"";
	unsigned dice = 1;

	for (int round = 0; round < 20000 / TEST_SLOWNESS; round++) {
		char text[24];
		size_t n = (dice >> 8) % sizeof(text);

		for (size_t i = 0; i < n; i++) {
			dice = dice * 1103515245 + 12345;
			text[i] = alphabet[(dice >> 16) % (sizeof(alphabet) - 1)];
		}
		dice = dice * 1103515245 + 12345;
		CHECK(gzip_accepted(str_copy(arena, (struct str){text, n})) < GZIP_UNKNOWN);
	}
}

TEST(codings_of_bodies)
{
	CHECK_INT(gzip_coding_of(STR_ABSENT), GZIP_IDENTITY);
	CHECK_INT(gzip_coding_of(STR("")), GZIP_IDENTITY);
	CHECK_INT(gzip_coding_of(STR("identity")), GZIP_IDENTITY);
	CHECK_INT(gzip_coding_of(STR(" GZip\t")), GZIP_GZIP);
	CHECK_INT(gzip_coding_of(STR("deflate")), GZIP_DEFLATE);
	CHECK_INT(gzip_coding_of(STR("garbage")), GZIP_UNKNOWN);
	CHECK_INT(gzip_coding_of(STR("gzip, gzip")), GZIP_UNKNOWN);
	CHECK_INT(gzip_coding_of(STR("*")), GZIP_UNKNOWN);
}

static struct str text_of(size_t n)
{
	char *p = arena_bytes(arena, n);

	for (size_t i = 0; i < n; i++)
		p[i] = (char)('a' + i * i % 23);
	return (struct str){p, n};
}


static struct str append(struct str a, struct str b)
{
	char *p = arena_bytes(arena, a.n + b.n);

	memcpy(p, a.p, a.n);
	memcpy(p + a.n, b.p, b.n);
	return (struct str){p, a.n + b.n};
}

TEST(what_is_compressed_comes_back)
{
	static const size_t sizes[] = {0, 1, 4096, 16384, 16385, LIMIT};

	for (enum gzip_coding coding = GZIP_GZIP; coding <= GZIP_DEFLATE; coding++) {
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			struct str text = text_of(sizes[i]), out,
				   coded = gzip_encode(arena, coding, text);

			CHECK_INT(gzip_decode(arena, coding, coded, LIMIT, &out), GZIP_FINE);
			CHECK(str_eq(out, text));
			CHECK_INT(gzip_decode(arena, GZIP_GZIP + GZIP_DEFLATE - coding, coded,
					      LIMIT, &out),
				  GZIP_BROKEN);
		}
		CHECK_INT(gzip_decode(arena, coding, gzip_encode(arena, coding, text_of(LIMIT + 1)),
				      LIMIT, &(struct str){0}),
			  GZIP_TOO_LARGE);
	}
}

/* AWS: test_gzip_request_two_gzips, ..._with_extra_junk; of deflate only the first stream is read.
 */
TEST(what_follows_the_first_stream)
{
	struct str a = text_of(20000), b = text_of(300), out;
	struct str gzips =
		append(gzip_encode(arena, GZIP_GZIP, a), gzip_encode(arena, GZIP_GZIP, b));
	struct str deflates =
		append(gzip_encode(arena, GZIP_DEFLATE, a), gzip_encode(arena, GZIP_DEFLATE, b));

	CHECK_INT(gzip_decode(arena, GZIP_GZIP, gzips, LIMIT, &out), GZIP_FINE);
	CHECK(str_eq(out, append(a, b)));
	CHECK_INT(gzip_decode(arena, GZIP_GZIP, gzips, a.n + b.n - 1, &out), GZIP_TOO_LARGE);
	CHECK_INT(gzip_decode(arena, GZIP_GZIP, append(gzips, STR("junk")), LIMIT, &out),
		  GZIP_FINE);
	CHECK(str_eq(out, append(a, b)));
	CHECK_INT(gzip_decode(arena, GZIP_GZIP, (struct str){gzips.p, gzips.n - 1}, LIMIT, &out),
		  GZIP_BROKEN);
	CHECK_INT(gzip_decode(arena, GZIP_DEFLATE, deflates, LIMIT, &out), GZIP_FINE);
	CHECK(str_eq(out, a));
}

TEST(what_is_cut_short_is_broken)
{
	for (enum gzip_coding coding = GZIP_GZIP; coding <= GZIP_DEFLATE; coding++) {
		struct str coded = gzip_encode(arena, coding, text_of(500)), out;

		for (size_t n = 0; n < coded.n; n++)
			CHECK_INT(gzip_decode(arena, coding, (struct str){coded.p, n}, LIMIT, &out),
				  GZIP_BROKEN);
		CHECK_INT(gzip_decode(arena, coding, STR("{}"), LIMIT, &out), GZIP_BROKEN);
	}
}

int main(void)
{
	static const struct test_case cases[] = {
		TEST_CASE(codings_that_are_accepted),
		TEST_CASE(any_accept_encoding_is_read_to_its_end),
		TEST_CASE(codings_of_bodies),
		TEST_CASE(what_is_compressed_comes_back),
		TEST_CASE(what_follows_the_first_stream),
		TEST_CASE(what_is_cut_short_is_broken),
	};

	arena = arena_new(1 << 20);
	int status = test_run(__FILE__, cases, sizeof(cases) / sizeof(cases[0]));
	arena_free(arena);
	return status;
}
