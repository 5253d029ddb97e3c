/* What a data file has, as the beginning of a store in memory. Damaged files: test_page_file. */
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/storage/store_fixture.h"

static void check_copied(struct fixture *fixture, const char *why)
{
	struct sqlite_store_options options = fixture->options;
	struct store *store = NULL;
	enum code code;

	options.path = NULL;
	options.copied = fixture->path;
	code = sqlite_store_open(&options, &store, &fixture->err);
	CHECK_INT(code, why ? ERR_INTERNAL : OK);
	if (code == OK)
		store_close(store);
	else
		CHECK(str_contains(fixture->err.message, str_of(why)));
}

TEST(a_file_in_use_is_not_copied_to_memory)
{
	struct fixture fixture = fixture_new(false);
	char log[96];
	struct store *store = fixture_open(&fixture);

	check_copied(&fixture, "dynalith backup");
	store_close(store);
	check_copied(&fixture, NULL);
	snprintf(log, sizeof(log), "%s-wal", fixture.path);
	fixture_write(log, STR("")); /* of a server that has written nothing yet */
	check_copied(&fixture, "dynalith backup");
	CHECK_INT(unlink(log), 0);
	snprintf(log, sizeof(log), "%s-journal", fixture.path);
	fixture_write(log, STR("x"));
	check_copied(&fixture, "dynalith backup");
	CHECK_INT(unlink(log), 0);
	int fd = open(fixture.path, O_RDWR | O_CLOEXEC);
	CHECK_INT(flock(fd, LOCK_SH), 0); /* another copy is made */
	check_copied(&fixture, NULL);
	CHECK_INT(flock(fd, LOCK_EX), 0);
	check_copied(&fixture, "dynalith backup");
	close(fd);
	check_copied(&fixture, NULL);
	fixture_free(&fixture);
}

TEST(only_files_are_copied_to_memory)
{
	struct fixture fixture = fixture_new(false);

	check_copied(&fixture, "No such file");
	CHECK_INT(mkfifo(fixture.path, 0600), 0);
	check_copied(&fixture, "is not a data file");
	CHECK_INT(unlink(fixture.path), 0);
	CHECK_INT(mkdir(fixture.path, 0700), 0);
	check_copied(&fixture, "Is a directory");
	CHECK_INT(rmdir(fixture.path), 0);
	fixture_write(fixture.path, STR(""));
	check_copied(&fixture, "is not a data file");
	fixture_free(&fixture);
}

TEST_MAIN(TEST_CASE(a_file_in_use_is_not_copied_to_memory),
	  TEST_CASE(only_files_are_copied_to_memory))
