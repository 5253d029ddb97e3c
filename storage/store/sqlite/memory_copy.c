#include "storage/store/sqlite/memory_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "storage/store/copy_target.h"
#include "storage/store/sqlite/data_file.h"
#include "storage/store/sqlite/page_file.h"
#include "storage/store/store_messages.h"

#define LOG_AT 18 /* in the file's head: twice 2 where SQLite reads it with a write-ahead log */

/*
 * A data file that no server has open, locked against those that come; where there are no locks, as
 * on WASI, a log beside it tells of a server. What a log has is not in the file.
 */
static enum code open_for_copy(const char *path, unsigned format, int *fd, size_t *size,
			       struct err *err)
{
	struct stat status;

	*size = 0;
	*fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* without waiting for a pipe's end */
	if (*fd < 0)
		return err_set(err, MSG_STORE_OPEN, path, strerror(errno));
	bool is_locked = flock(*fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
	if (is_locked || copy_target_no_log(path, err) != OK)
		return err_set(
			err, MSG_STORE_OPEN, path,
			"a server has it open or was not stopped; copy it by dynalith backup");
	if (fstat(*fd, &status) != 0)
		return err_set(err, MSG_STORE_OPEN, path, strerror(errno));
	if (S_ISDIR(status.st_mode))
		return err_set(err, MSG_STORE_OPEN, path, strerror(EISDIR));
	if (!S_ISREG(status.st_mode) || status.st_size % STORE_PAGE != 0)
		return err_set(err, MSG_STORE_FOREIGN, path);
	*size = (size_t)status.st_size;
	return data_file_check_header(*fd, path, format, err);
}

/* Nothing else checks the pages of a store in memory. */
static enum code read_pages(int fd, const char *path, unsigned char *image, size_t size,
			    struct err *err)
{
	for (size_t at = 0; at < size; at += STORE_PAGE) {
		uint32_t number = (uint32_t)(at / STORE_PAGE + 1);

		errno = EIO; /* a short read sets none */
		if (pread(fd, image + at, STORE_PAGE, (off_t)at) != STORE_PAGE)
			return err_set(err, MSG_STORE_OPEN, path, strerror(errno));
		if (page_file_has_checksums(image) && !page_file_is_whole(image + at, number))
			return err_set(err, MSG_STORE_PAGE, path, (unsigned)number);
	}
	image[LOG_AT] = image[LOG_AT + 1] = 1;
	return OK;
}

/* By SQLite's backup, from a database that has these bytes. */
static enum code write_image(struct connection *connection, const char *path, unsigned char *image,
			     size_t size, struct err *err)
{
	const sqlite3_int64 n = (sqlite3_int64)size;
	sqlite3 *from = NULL;
	sqlite3_backup *backup = NULL;

	if (sqlite3_open(":memory:", &from) == SQLITE_OK &&
	    sqlite3_deserialize(from, "main", image, n, n, SQLITE_DESERIALIZE_READONLY) ==
		    SQLITE_OK)
		backup = sqlite3_backup_init(connection->db, "main", from, "main");
	if (backup)
		(void)sqlite3_backup_step(backup, -1);
	bool is_whole = backup && sqlite3_backup_finish(backup) == SQLITE_OK;
	enum code code = is_whole ? OK
				  : err_set(err, MSG_STORE_OPEN, path,
					    sqlite3_errmsg(backup ? connection->db : from));
	sqlite3_close(from);
	return code;
}

enum code memory_copy(struct connection *connection, const char *path, unsigned format,
		      struct err *err)
{
	size_t size;
	int fd;
	enum code code = open_for_copy(path, format, &fd, &size, err);

	if (code == OK) {
		unsigned char *image = malloc(size);

		code = image ? read_pages(fd, path, image, size, err)
			     : err_set(err, MSG_STORE_OPEN, path, "out of memory");
		code = code == OK ? write_image(connection, path, image, size, err) : code;
		free(image);
	}
	if (fd >= 0)
		close(fd);
	return code;
}
