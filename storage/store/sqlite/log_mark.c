#include "storage/store/sqlite/log_mark.h"

#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "storage/store/durable.h"

#define TEXT_MAX 64
#define LOG_HEADER 32 /* bytes of a log without pages */

/* What the mark of these two files says; 0 bytes where there is none. Device numbers may change
 * with a restart of the machine, so they are not in it. `is_read`: SQLite would read pages of the
 * log. It deletes one beside an empty file unread; a cut during the creation leaves such a one, and
 * one without pages. */
static int text_of(const char *path, char *text, bool *has_log, bool *is_read)
{
	char name[PATH_MAX + 8];
	struct stat data, log;

	snprintf(name, sizeof(name), "%s-wal", path);
	*is_read = false;
	*has_log = stat(name, &log) == 0 && log.st_size > 0;
	if (stat(path, &data) != 0 || stat(name, &log) != 0)
		return 0;
	*is_read = data.st_size > 0 && log.st_size > LOG_HEADER;
	return snprintf(text, TEXT_MAX, "%ju %ju\n", (uintmax_t)data.st_ino, (uintmax_t)log.st_ino);
}

static void name_of(const char *path, char *name, size_t size)
{
	snprintf(name, size, "%s-mark", path);
}

static bool has_mark(const char *path, const char *text, int n)
{
	char name[PATH_MAX + 8], found[TEXT_MAX];

	name_of(path, name, sizeof(name));
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	bool is_same = fd >= 0 && n > 0 && read(fd, found, sizeof(found)) == n &&
		       memcmp(found, text, (size_t)n) == 0;
	if (fd >= 0)
		close(fd);
	return is_same;
}

bool log_mark_is_own(const char *path)
{
	char text[TEXT_MAX];
	bool has_log, is_read;
	int n = text_of(path, text, &has_log, &is_read);

	return !is_read || has_mark(path, text, n);
}

static void sync_folder(char *name)
{
	int fd = open(dirname(name), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return;
	(void)!durable_sync(fd);
	close(fd);
}

void log_mark_leave(const char *path, bool is_synced)
{
	char text[TEXT_MAX], name[PATH_MAX + 8];
	bool has_log, is_read;
	int n = text_of(path, text, &has_log, &is_read);

	if (n == 0 || has_mark(path, text, n))
		return;
	name_of(path, name, sizeof(name));
	unlink(name); /* not into a file that others gave the name */
	int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	bool is_written = write(fd, text, (size_t)n) == n && (!is_synced || durable_sync(fd) == 0);
	close(fd);
	if (is_written && is_synced)
		sync_folder(name);
}

void log_mark_remove(const char *path)
{
	char text[TEXT_MAX], name[PATH_MAX + 8];
	bool has_log, is_read;

	(void)text_of(path, text, &has_log, &is_read);
	if (has_log)
		return;
	name_of(path, name, sizeof(name));
	unlink(name);
}
