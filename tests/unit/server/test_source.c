/* Objects of S3 as records: folders as buckets, streams of gzip and zstd, all in pieces. */
#include "server/transfer/source.h"

#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/buf.h"
#include "server/gzip.h"
#include "server/transfer/zstd.h"
#include "tests/unit/test.h"

#define LINES 40000 /* some pieces of a source */

#define BUCKET_OF(name) ((struct s3_bucket){STR(name), STR_ABSENT})
#define BUCKET BUCKET_OF("bucket")

static struct arena *arena;
static struct s3 *s3;
static char folder[] = "/tmp/dynalith-source-XXXXXX";

static void put(const char *key, struct str bytes)
{
	struct s3_problem problem;

	CHECK(s3_write(s3, arena, BUCKET, str_of(key), bytes,
		       &(struct s3_sse){.algorithm = STR_ABSENT}, &problem));
}

/* What a stream of gzip gives when it comes in pieces; absent where it is broken or cut short. */
static struct str unpack(struct str packed, size_t piece, size_t room)
{
	struct gzip_reader *reader = gzip_reader_new();
	struct buf out = buf_in(arena);
	bool is_fine = true;

	while (is_fine && packed.n > 0) {
		struct str in = {packed.p, packed.n < piece ? packed.n : piece}, rest = in;
		size_t n = 0;

		do {
			size_t before = rest.n;

			is_fine =
				gzip_reader_read(reader, &rest, buf_reserve(&out, room), room, &n);
			out.n += n;
			if (n == 0 && rest.n == before)
				break;
		} while (is_fine);
		if (rest.n == in.n)
			break;
		packed = (struct str){packed.p + in.n - rest.n, packed.n - (in.n - rest.n)};
	}
	is_fine = is_fine && gzip_reader_is_whole(reader);
	gzip_reader_free(reader);
	return is_fine ? buf_str(&out) : STR_ABSENT;
}

static struct str lines(size_t n)
{
	struct buf out = buf_in(arena);

	for (size_t i = 0; i < n; i++)
		buf_printf(&out,
			   "{\"Item\":{\"pk\":{\"S\":\"key %zu\"},\"text\":{\"S\":\"some text of "
			   "an item\"}}}\n",
			   i);
	return buf_str(&out);
}

TEST(gzip_in_pieces)
{
	struct str text = lines(500), one = gzip_encode(arena, GZIP_GZIP, text),
		   two = str_copy(arena, one);
	struct buf both = buf_in(arena);

	buf_add_str(&both, one);
	buf_add_str(&both, two);
	for (size_t piece = 1; piece < 4000; piece = piece * 3 + 1) {
		for (size_t room = 16; room < 100000; room *= 50) {
			struct str out = unpack(buf_str(&both), piece, room);

			CHECK_INT(out.n, 2 * text.n);
			CHECK(out.n == 2 * text.n && memcmp(out.p, text.p, text.n) == 0 &&
			      memcmp(out.p + text.n, text.p, text.n) == 0);
		}
		CHECK(!str_is_set(unpack((struct str){one.p, one.n - 1}, piece, 4096)));
	}
	CHECK(!str_is_set(unpack(text, 100, 4096)));
	CHECK_INT(unpack(gzip_encode(arena, GZIP_GZIP, STR("")), 3, 64).n, 0);
}

/* A frame of zstd that holds a text as it is: blocks that are not compressed. RFC 8878. */
static struct str zstd_of(struct str text)
{
	struct buf out = buf_in(arena);

	buf_add(&out, "\x28\xb5\x2f\xfd\xa0", 5);
	for (int i = 0; i < 4; i++)
		buf_add_byte(&out, (int)(text.n >> (8 * i) & 255));
	do {
		size_t n = text.n < 100000 ? text.n : 100000;
		uint32_t head = (uint32_t)n << 3 | (n == text.n);

		for (int i = 0; i < 3; i++)
			buf_add_byte(&out, (int)(head >> (8 * i) & 255));
		buf_add(&out, text.p, n);
		text = (struct str){text.p + n, text.n - n};
	} while (text.n > 0);
	return buf_str(&out);
}

/* How many items an object has, and how its last record came; the size may be given wrong. */
static size_t count(const char *key, size_t size, enum source_coding coding, enum record_kind *last,
		    bool *is_read)
{
	static const struct records_form form = {.form = RECORD_JSON};
	const struct source_options options = {.s3 = s3,
					       .bucket = BUCKET,
					       .object = {.key = str_of(key), .size = size},
					       .coding = coding,
					       .form = &form};
	struct source *source = source_open(&options);
	struct arena *record = arena_new(0);
	struct s3_problem problem;
	struct record_put item;
	size_t n = 0;

	do {
		struct err err = err_in(record);

		*is_read = source_next(source, record, last, &item, &err, &problem);
		n += *is_read && *last == RECORD_ITEM;
		arena_reset(record);
	} while (*is_read && *last != RECORD_END && *last != RECORD_BROKEN);
	arena_free(record);
	source_close(source);
	return n;
}

TEST(an_object_in_each_coding)
{
	struct str text = lines(LINES), packed = gzip_encode(arena, GZIP_GZIP, text),
		   frame = zstd_of(text), problem;
	struct zstd_reader *zstd = zstd_reader_new(arena, &problem);
	enum record_kind last;
	bool is_read;

	put("plain", text);
	put("gz", packed);
	put("zst", frame);
	CHECK_INT(count("plain", text.n, SOURCE_PLAIN, &last, &is_read), LINES);
	CHECK_INT(last, RECORD_END);
	CHECK_INT(count("gz", packed.n, SOURCE_GZIP, &last, &is_read), LINES);
	CHECK_INT(last, RECORD_END);
	if (zstd) {
		CHECK_INT(count("zst", frame.n, SOURCE_ZSTD, &last, &is_read), LINES);
		CHECK_INT(last, RECORD_END);
		(void)count("gz", packed.n, SOURCE_ZSTD, &last, &is_read);
		CHECK_INT(last, RECORD_BROKEN);
	}
	zstd_reader_free(zstd);
	CHECK_INT(count("plain", text.n, SOURCE_GZIP, &last, &is_read), 0);
	CHECK_INT(last, RECORD_BROKEN);
	CHECK_INT(count("gz", packed.n, SOURCE_PLAIN, &last, &is_read), 0);
	CHECK_INT(last, RECORD_BROKEN);
	put("cut", (struct str){packed.p, packed.n / 2});
	CHECK(count("cut", packed.n / 2, SOURCE_GZIP, &last, &is_read) < LINES);
	CHECK_INT(last, RECORD_BROKEN);
	put("empty", STR(""));
	CHECK_INT(count("empty", 0, SOURCE_GZIP, &last, &is_read), 0);
	CHECK_INT(last, RECORD_END);
	(void)count("cut", packed.n, SOURCE_GZIP, &last, &is_read);
	CHECK(!is_read); /* it has fewer bytes than it had when it was listed */
}

TEST(folders_are_buckets)
{
	struct s3_objects objects = {0};
	struct s3_problem problem;
	struct str bytes;

	put("list/b/1", STR("one"));
	put("list/a", STR("two"));
	put("list.bak", STR("three"));
	put("list/b-2", STR("four"));
	CHECK(s3_list(s3, arena, BUCKET, STR("list"), &objects, &problem));
	CHECK_INT(objects.n, 4);
	CHECK_STR(objects.v[0].key, "list.bak"); /* in the order of bytes, not of folders */
	CHECK_STR(objects.v[1].key, "list/a");
	CHECK_STR(objects.v[2].key, "list/b-2");
	CHECK_STR(objects.v[3].key, "list/b/1");
	CHECK_INT(objects.v[0].size, 5);
	CHECK(s3_read(s3, arena, BUCKET, &objects.v[0], 1, 3, &bytes, &problem));
	CHECK_STR(bytes, "hre");
	for (uint64_t size = 4; size <= 6; size += 2) { /* it is another file by now */
		CHECK(!s3_read(s3, arena, BUCKET,
			       &(struct s3_object){.key = STR("list.bak"), .size = size}, 1, 3,
			       &bytes, &problem));
		CHECK_STR(problem.code, "PreconditionFailed");
	}
	CHECK(s3_list(s3, arena, BUCKET, STR("list/b/"), &objects, &problem) && objects.n == 1);
	CHECK(s3_list(s3, arena, BUCKET, STR("none"), &objects, &problem) && objects.n == 0);
	CHECK(!s3_read(s3, arena, BUCKET, &(struct s3_object){.key = STR("none"), .size = 1}, 0, 1,
		       &bytes, &problem));
	CHECK_STR(problem.code, "NoSuchKey");
	CHECK(!s3_list(s3, arena, BUCKET_OF("missing"), STR(""), &objects, &problem));
	CHECK_STR(problem.code, "NoSuchBucket");
}

TEST(no_key_leaves_its_bucket)
{
	static const char *const keys[] = {"../x", "a/../../x", "/x",          "a//b", ".",
					   "a/.",  "a/",        ".dynalith-x", ""};
	struct s3_objects objects;
	struct s3_problem problem;
	struct str bytes;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		CHECK(!s3_write(s3, arena, BUCKET, str_of(keys[i]), STR("x"),
				&(struct s3_sse){.algorithm = STR_ABSENT}, &problem));
		CHECK(!s3_read(s3, arena, BUCKET,
			       &(struct s3_object){.key = str_of(keys[i]), .size = 1}, 0, 1, &bytes,
			       &problem));
	}
	CHECK(!s3_list(s3, arena, BUCKET_OF(".."), STR(""), &objects, &problem));
	CHECK(!s3_list(s3, arena, BUCKET_OF("bucket/list"), STR(""), &objects, &problem));
	CHECK(access(str_printf(arena, "%s/x", folder).p, F_OK) != 0);
	const struct s3_options none = {
		.where = "none", .credentials = "none", .region = "us-east-1"};
	struct s3 *nowhere = s3_new(&none);
	CHECK(!s3_has_place(nowhere) &&
	      !s3_list(nowhere, arena, BUCKET, STR(""), &objects, &problem));
	CHECK_STR(problem.code, "NoSuchBucket");
	s3_free(nowhere);
}

static int drop(const char *path, const struct stat *about, int kind, struct FTW *ftw)
{
	(void)about;
	(void)kind;
	(void)ftw;
	return remove(path);
}

int main(void)
{
	static const struct test_case cases[] = {
		TEST_CASE(gzip_in_pieces),
		TEST_CASE(an_object_in_each_coding),
		TEST_CASE(folders_are_buckets),
		TEST_CASE(no_key_leaves_its_bucket),
	};

	arena = arena_new(1 << 20);
	if (!mkdtemp(folder) || mkdir(str_printf(arena, "%s/bucket", folder).p, 0700) != 0)
		return 1;
	const struct s3_options options = {
		.where = folder, .credentials = "none", .region = "us-east-1"};
	s3 = s3_new(&options);
	int status = test_run(__FILE__, cases, sizeof(cases) / sizeof(cases[0]));
	s3_free(s3);
	arena_free(arena);
	nftw(folder, drop, 16, FTW_DEPTH | FTW_PHYS);
	return status;
}
