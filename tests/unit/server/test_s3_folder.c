/* Buckets that are folders: nothing that is read, written or listed lies outside of them, whatever
 * links there are. */
#include "server/transfer/s3.h"

#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/test.h"

#define SWAPS 400

static struct arena *arena;
static struct s3 *s3;
static char folder[] = "/tmp/dynalith-s3-XXXXXX"; /* place/bucket/..., outside/secret */

static const char *in_folder(const char *name)
{
	return str_printf(arena, "%s/%s", folder, name).p;
}

static void write_file(const char *name, const char *text)
{
	FILE *file = fopen(in_folder(name), "w");

	CHECK(file && fputs(text, file) >= 0);
	if (file)
		fclose(file);
}

static struct str file_text(const char *name)
{
	char text[64] = "";
	FILE *file = fopen(in_folder(name), "r");

	if (!file)
		return STR_ABSENT;
	(void)!fgets(text, sizeof(text), file);
	fclose(file);
	return str_copy(arena, str_of(text));
}

static bool put(const char *bucket, const char *key, struct s3_problem *problem)
{
	return s3_write(s3, arena, (struct s3_bucket){str_of(bucket), STR_ABSENT}, str_of(key),
			STR("new"), &(struct s3_sse){.algorithm = STR_ABSENT}, problem);
}

static bool get(const char *bucket, const char *key, struct s3_problem *problem)
{
	struct str bytes = STR("");
	const struct s3_object object = {.key = str_of(key), .size = 6};
	bool is_read = s3_read(s3, arena, (struct s3_bucket){str_of(bucket), STR_ABSENT}, &object,
			       0, 6, &bytes, problem);

	return is_read || str_contains(bytes, STR("secret"));
}

TEST(links_lead_nowhere)
{
	/* a link in the bucket, below /place: its name and where it leads */
	static const char *const links[][2] = {
		{"file", "../../outside/secret"},
		{"folder", "../../outside"},
		{"up", ".."},
		{"inside", "real"},
		{"dangling", "../../outside/none"},
		{"absolute", NULL},
	};
	static const struct {
		const char *bucket, *key;
		bool is_written; /* the link itself may be replaced */
	} rows[] = {
		{"bucket", "file", true},        {"bucket", "folder/secret", false},
		{"bucket", "folder/new", false}, {"bucket", "folder/made/new", false},
		{"bucket", "up/other/x", false}, {"bucket", "inside/x", false},
		{"bucket", "dangling", true},    {"bucket", "absolute", true},
		{"linked", "secret", false},     {"linked", "new", false},
	};
	struct s3_problem problem;

	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		CHECK_INT(symlink(links[i][1] ? links[i][1] : in_folder("outside/secret"),
				  in_folder(str_printf(arena, "place/bucket/%s", links[i][0]).p)),
			  0);
	CHECK_INT(symlink("../outside", in_folder("place/linked")), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CHECK(!get(rows[i].bucket, rows[i].key, &problem));
		CHECK_STR(problem.code, "AccessDenied");
		CHECK(!problem.is_passing);
		CHECK_INT(put(rows[i].bucket, rows[i].key, &problem), rows[i].is_written);
		CHECK_STR(file_text("outside/secret"), "secret");
	}
	CHECK(access(in_folder("outside/new"), F_OK) != 0 &&
	      access(in_folder("outside/made"), F_OK) != 0 &&
	      access(in_folder("outside/none"), F_OK) != 0);
	CHECK_STR(file_text("place/bucket/file"), "new");
}

TEST(lists_do_not_pass_over_links)
{
	struct s3_objects objects;
	struct s3_problem problem;

	CHECK(put("bucket", "real/x", &problem));
	CHECK(s3_list(s3, arena, (struct s3_bucket){STR("bucket"), STR_ABSENT}, STR("real/"),
		      &objects, &problem) &&
	      objects.n == 1);
	CHECK(!s3_list(s3, arena, (struct s3_bucket){STR("bucket"), STR_ABSENT}, STR("folder/"),
		       &objects, &problem));
	CHECK_STR(problem.code, "AccessDenied");
	CHECK(!s3_list(s3, arena, (struct s3_bucket){STR("bucket"), STR_ABSENT}, STR(""), &objects,
		       &problem));
	CHECK(str_contains(problem.message, STR("is a symbolic link")));
	CHECK(!s3_list(s3, arena, (struct s3_bucket){STR("linked"), STR_ABSENT}, STR(""), &objects,
		       &problem));
}

/* What a server left undone, or somebody put there: nothing is written through it. */
TEST(an_undone_file_is_not_written_through)
{
	struct s3_problem problem;

	CHECK_INT(symlink("../../outside/secret", in_folder("place/bucket/.dynalith-a")), 0);
	CHECK_INT(link(in_folder("outside/secret"), in_folder("place/bucket/.dynalith-b")), 0);
	CHECK(put("bucket", "a", &problem) && put("bucket", "b", &problem));
	CHECK_STR(file_text("outside/secret"), "secret");
	CHECK_STR(file_text("place/bucket/b"), "new");
}

/* One that is read as a file would wait for ever. */
TEST(what_is_no_file_is_no_object)
{
	struct s3_problem problem;

	CHECK_INT(mkfifo(in_folder("place/bucket/pipe"), 0600), 0);
	CHECK(!get("bucket", "pipe", &problem) && !get("bucket", "real", &problem));
	CHECK_STR(problem.code, "NoSuchKey");
}

static atomic_bool is_over;

struct turns {
	const char *name, *real, *leads_out;
};

/* A folder and a link out of the bucket take turns at one name. */
static void *swap(void *context)
{
	const struct turns *turns = context;
	const char *name = turns->name, *real = turns->real, *leads_out = turns->leads_out;

	while (!atomic_load(&is_over)) {
		(void)!rename(leads_out, name);
		(void)!rename(name, leads_out);
		(void)!rename(real, name);
		(void)!rename(name, real);
	}
	return NULL;
}

TEST(a_link_that_comes_in_between)
{
	struct turns turns = {in_folder("place/bucket/turn"), in_folder("place/bucket/turn-folder"),
			      in_folder("place/bucket/turn-link")};
	struct s3_problem problem;
	pthread_t thread;
	unsigned leaks = 0;

	CHECK_INT(mkdir(in_folder("place/bucket/turn-folder"), 0700), 0);
	CHECK_INT(symlink("../../outside", in_folder("place/bucket/turn-link")), 0);
	CHECK_INT(pthread_create(&thread, NULL, swap, &turns), 0);
	for (unsigned i = 0; i < SWAPS; i++) {
		leaks += get("bucket", "turn/secret", &problem);
		(void)!put("bucket", i % 2 ? "turn/new" : "turn/made/new", &problem);
	}
	atomic_store(&is_over, true);
	pthread_join(thread, NULL);
	CHECK_INT(leaks, 0);
	CHECK(access(in_folder("outside/new"), F_OK) != 0 &&
	      access(in_folder("outside/made"), F_OK) != 0);
}

static int drop(const char *path, const struct stat *about, int kind, struct FTW *ftw)
{
	(void)about, (void)kind, (void)ftw;
	return remove(path);
}

int main(void)
{
	static const struct test_case cases[] = {
		TEST_CASE(links_lead_nowhere),
		TEST_CASE(lists_do_not_pass_over_links),
		TEST_CASE(an_undone_file_is_not_written_through),
		TEST_CASE(what_is_no_file_is_no_object),
		TEST_CASE(a_link_that_comes_in_between),
	};

	arena = arena_new(1 << 20);
	if (!mkdtemp(folder) || mkdir(in_folder("place"), 0700) != 0 ||
	    mkdir(in_folder("place/bucket"), 0700) != 0 || mkdir(in_folder("outside"), 0700) != 0)
		return 1;
	write_file("outside/secret", "secret");
	const struct s3_options options = {
		.where = in_folder("place"), .credentials = "none", .region = "us-east-1"};
	s3 = s3_new(&options);
	int status = test_run(__FILE__, cases, sizeof(cases) / sizeof(cases[0]));
	s3_free(s3);
	arena_free(arena);
	nftw(folder, drop, 16, FTW_DEPTH | FTW_PHYS);
	return status;
}
