#include "storage/store/sqlite/log_mark.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "storage/store/copy_target.h"
#include "storage/store/durable.h"
#include "storage/store/sqlite/page_file.h"
#include "storage/store/sqlite/sqlite_floor.h"
#include "storage/store/store_messages.h"

#define TEXT_MAX 64

struct log_mark {
	char name[PATH_MAX + 8], text[TEXT_MAX];
	bool has_log;
	bool is_read; /* SQLite would read pages of the log */
};

/* By the library that is linked, which may be another than its header. */
bool log_mark_is_needed(void)
{
	return sqlite3_libversion_number() < SQLITE_FLOOR_NUMBER;
}

/* What the mark of the file and its log says; nothing where one is missing. Device numbers may
 * change with a restart of the machine, so they are not in it. SQLite deletes a log beside an empty
 * file unread; a cut during the creation leaves such a one, and one without pages. */
static struct log_mark mark_of(const char *path)
{
	struct log_mark mark = {.has_log = false};
	struct stat data, log;

	snprintf(mark.name, sizeof(mark.name), "%s-wal", path);
	bool is_there = stat(mark.name, &log) == 0;
	mark.has_log = is_there && log.st_size > 0;
	if (is_there && stat(path, &data) == 0) {
		mark.is_read = data.st_size > 0 && log.st_size > LOG_HEAD;
		snprintf(mark.text, sizeof(mark.text), "%ju %ju\n", (uintmax_t)data.st_ino,
			 (uintmax_t)log.st_ino);
	}
	snprintf(mark.name, sizeof(mark.name), "%s-mark", path);
	return mark;
}

static bool is_left(const struct log_mark *mark)
{
	char found[TEXT_MAX];
	size_t n = strlen(mark->text);
	int fd = open(mark->name, O_RDONLY | O_CLOEXEC);
	bool is_same = fd >= 0 && read(fd, found, sizeof(found)) == (ssize_t)n && n > 0 &&
		       memcmp(found, mark->text, n) == 0;

	if (fd >= 0)
		close(fd);
	return is_same;
}

bool log_mark_is_own(const char *path)
{
	const struct log_mark mark = mark_of(path);

	return !mark.is_read || is_left(&mark);
}

enum code log_mark_check(const char *path, struct err *err)
{
	return log_mark_is_needed() && !log_mark_is_own(path)
		       ? err_set(err, MSG_STORE_LOG_ELSEWHERE, path, sqlite3_libversion())
		       : OK;
}

void log_mark_leave(const char *path, bool is_synced, struct arena *arena)
{
	const struct log_mark mark = mark_of(path);
	const size_t n = strlen(mark.text);

	if (n == 0 || is_left(&mark))
		return;
	unlink(mark.name); /* not into a file that others gave the name */
	int fd = open(mark.name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	bool is_written = write(fd, mark.text, n) == (ssize_t)n;
	is_written = is_written && is_synced && durable_sync(fd) == 0;
	close(fd);
	if (is_written)
		(void)!copy_target_sync_folder(arena, mark.name);
}

void log_mark_remove(const char *path)
{
	const struct log_mark mark = mark_of(path);

	if (!mark.has_log)
		unlink(mark.name);
}
