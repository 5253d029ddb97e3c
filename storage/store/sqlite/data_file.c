#include "storage/store/sqlite/data_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/be.h"
#include "storage/store/sqlite/file_schema.h"
#include "storage/store/sqlite/page_file.h"
#include "storage/store/store_messages.h"

#define HEADER_SIZE 100 /* of a SQLite file */
#define PAGES_AT 28     /* in its header: how many pages it has */

/* Whether the journal is of a database that had no page before. SQLite: File Format, "The Rollback
 * Journal". */
static bool is_of_creation(const char *journal)
{
	static const unsigned char magic[] = {0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7};
	unsigned char head[20] = {0};
	int fd = open(journal, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	bool is_read = fd >= 0 && read(fd, head, sizeof(head)) == sizeof(head);

	if (fd >= 0)
		close(fd);
	return is_read && memcmp(head, magic, sizeof(magic)) == 0 && be32(head + 16) == 0;
}

static bool has_log(const char *absolute)
{
	char name[PATH_MAX + 16];
	struct stat status;

	snprintf(name, sizeof(name), "%s-wal", absolute);
	return stat(name, &status) == 0 && status.st_size > 0;
}

enum code data_file_check_header(int fd, const char *path, unsigned format, struct err *err)
{
	unsigned char header[HEADER_SIZE];

	if (pread(fd, header, sizeof(header), 0) != HEADER_SIZE ||
	    memcmp(header, "SQLite format 3", 16) != 0 ||
	    be32(header + 68) != FILE_SCHEMA_APPLICATION)
		return err_set(err, MSG_STORE_FOREIGN, path);
	if (be32(header + 60) > format)
		return err_set(err, MSG_STORE_NEWER, path, be32(header + 60), format);
	if (be32(header + 60) >= PAGE_CHECK_FORMAT && !page_file_has_checksums(header))
		return err_set(err, MSG_STORE_OPEN, path, "its first page is damaged");
	return OK;
}

/* Empties the file of a creation that was cut, as SQLite would by the journal. A file that was put
 * in its place since is refused. */
static enum code undo_creation(int fd, const char *absolute, off_t *size, struct err *err)
{
	char journal[PATH_MAX + 16];

	snprintf(journal, sizeof(journal), "%s-journal", absolute);
	if (*size == 0 || !is_of_creation(journal))
		return OK;
	if (*size > FILE_SCHEMA_PAGES * STORE_PAGE || has_log(absolute))
		return err_set(err, MSG_STORE_LOG_LEFT, absolute, journal);
	if (ftruncate(fd, 0) != 0)
		return err_set(err, MSG_STORE_OPEN, absolute, strerror(errno));
	*size = 0;
	return OK;
}

enum code data_file_lock(const char *path, unsigned format, char *absolute, int *fd,
			 struct err *err)
{
	struct stat status;

	*fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC,
		   0600); /* SQLite gives the log the mode of the file */
	if (*fd < 0 || !realpath(path, absolute))
		return err_set(err, MSG_STORE_OPEN, path, strerror(errno));
	if (flock(*fd, LOCK_EX | LOCK_NB) != 0)
		return errno == EWOULDBLOCK ? err_set(err, MSG_STORE_LOCKED, path)
					    : err_set(err, MSG_STORE_OPEN, path, strerror(errno));
	if (fstat(*fd, &status) != 0 || !S_ISREG(status.st_mode))
		return err_set(err, MSG_STORE_FOREIGN, path);
	enum code code = undo_creation(*fd, absolute, &status.st_size, err);
	if (code != OK || status.st_size == 0)
		return code;
	return data_file_check_header(*fd, path, format, err);
}

bool data_file_is_empty(int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 && status.st_size < STORE_PAGE;
}

bool data_file_is_cut(int fd, _Atomic uint64_t *seen)
{
	unsigned char header[HEADER_SIZE];
	struct stat status;

	if (fstat(fd, &status) != 0)
		return false;
	uint64_t size = (uint64_t)status.st_size;
	if (size >= atomic_load(seen)) {
		atomic_store(seen, size);
		return false;
	}
	return pread(fd, header, sizeof(header), 0) != HEADER_SIZE ||
	       size < (uint64_t)be32(header + PAGES_AT) * STORE_PAGE;
}

bool data_file_is_moved_away(int fd, const char *path)
{
	struct stat own, found;

	if (fstat(fd, &own) != 0)
		return false;
	if (stat(path, &found) != 0)
		return errno == ENOENT || errno == ENOTDIR;
	return own.st_dev != found.st_dev || own.st_ino != found.st_ino;
}
