#include "storage/store/sqlite/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/be.h"
#include "storage/store/copy_target.h"
#include "storage/store/sqlite/file_schema.h"
#include "storage/store/sqlite/page_file.h"
#include "storage/store/store_messages.h"

#define LOG_AT 18 /* in the file's head: twice 2 where SQLite reads it with a write-ahead log */
#define CHANGES_AT 24
#define FORMAT_AT 60
#define APPLICATION_AT 68
/* the number of changes when SQLite of the version that follows wrote it */
#define VALID_FOR_AT 92

/* What SQLite makes of `sql`, with room for a checksum on each page; NULL: out of memory. */
static unsigned char *made_by(const char *sql, size_t *size)
{
	int reserved = PAGE_CHECK_BYTES;
	sqlite3_int64 n = 0;
	sqlite3 *db = NULL;
	unsigned char *bytes = NULL;

	if (sqlite3_open(":memory:", &db) == SQLITE_OK &&
	    sqlite3_file_control(db, NULL, SQLITE_FCNTL_RESERVE_BYTES, &reserved) == SQLITE_OK &&
	    sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK)
		bytes = sqlite3_serialize(db, "main", &n, 0);
	sqlite3_close(db);
	*size = (size_t)n;
	return bytes;
}

unsigned char *new_file_image(unsigned format, bool has_log)
{
	char sql[(SYSTEM_PART_COUNT + 2) * (FILE_SCHEMA_SQL_MAX + 1)];
	size_t size, at = 0;

	sqlite3_snprintf(
		sizeof(sql), sql,
		"PRAGMA page_size = %d; PRAGMA application_id = %d; PRAGMA user_version = %u;",
		STORE_PAGE, NEW_FILE_APPLICATION, format);
	for (uint32_t i = 0; i <= SYSTEM_PART_COUNT; i++) {
		char name[KEYSPACE_NAME_MAX];

		at = strlen(sql);
		keyspace_name(i < SYSTEM_PART_COUNT ? (struct keyspace){0, i} : PLACE_KEYSPACE,
			      name);
		file_schema_table_sql(FILE_SCHEMA_SYSTEM, name, sql + at);
		memcpy(sql + strlen(sql), ";", sizeof(";"));
	}
	unsigned char *image = made_by(sql, &size);
	if (!image || size != NEW_FILE_SIZE) {
		sqlite3_free(image);
		return NULL;
	}
	image[LOG_AT] = image[LOG_AT + 1] = has_log ? 2 : 1;
	put_be32(image + CHANGES_AT, 1);
	put_be32(image + VALID_FOR_AT, 1);
	for (uint32_t number = 1; number <= NEW_FILE_PAGES; number++)
		page_file_seal(image + (size_t)(number - 1) * STORE_PAGE, number);
	return image;
}

/* The first page last: until it is there, older versions and other programs see no SQLite file. */
static int write_pages(sqlite3_file *file, const unsigned char *image, size_t size)
{
	int result = SQLITE_OK;

	for (size_t at = size; at > 0 && result == SQLITE_OK;) {
		at -= STORE_PAGE;
		result = file->pMethods->xWrite(file, image + at, STORE_PAGE, (sqlite3_int64)at);
	}
	return result;
}

/* Takes the same locks as a transaction of SQLite. */
static enum code write_image(struct connection *connection, const unsigned char *image, size_t size,
			     struct err *err)
{
	sqlite3_file *file = NULL;
	int result = sqlite3_file_control(connection->db, NULL, SQLITE_FCNTL_FILE_POINTER, &file);

	if (result == SQLITE_OK)
		result = file->pMethods->xLock(file, SQLITE_LOCK_SHARED);
	if (result == SQLITE_OK)
		result = file->pMethods->xLock(file, SQLITE_LOCK_EXCLUSIVE);
	if (result == SQLITE_OK)
		result = write_pages(file, image, size);
	if (result == SQLITE_OK)
		file->pMethods->xFileControl(file, SQLITE_FCNTL_COMMIT_PHASETWO, NULL);
	if (file)
		file->pMethods->xUnlock(file, SQLITE_LOCK_NONE);
	if (result == SQLITE_OK)
		return OK;
	return result == SQLITE_FULL ? err_set(err, MSG_STORE_FULL)
				     : err_set(err, MSG_STORE_FAILED, sqlite3_errstr(result));
}

enum code new_file_write(struct connection *connection, unsigned format, bool has_log,
			 struct err *err)
{
	unsigned char *image = new_file_image(format, has_log);

	if (!image)
		return err_set(err, MSG_STORE_FAILED, sqlite3_errstr(SQLITE_NOMEM));
	enum code code = write_image(connection, image, NEW_FILE_SIZE, err);
	sqlite3_free(image);
	return code;
}

/*
 * A data file that no server has open, locked against those that come; where there are no locks, as
 * on WASI, a log beside it tells of a server. What a log has is not in the file.
 */
static enum code open_for_copy(const char *path, int *fd, size_t *size, struct err *err)
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
	*size = (size_t)status.st_size;
	return !S_ISREG(status.st_mode) || *size < NEW_FILE_SIZE || *size % STORE_PAGE != 0
		       ? err_set(err, MSG_STORE_FOREIGN, path)
		       : OK;
}

/* Nothing else checks the pages of a store in memory. Whatever a damaged head says, only format 1
 * has no checksums. */
static enum code read_pages(int fd, const char *path, unsigned char *image, size_t size,
			    struct err *err)
{
	bool is_checked = true;

	for (size_t at = 0; at < size; at += STORE_PAGE) {
		uint32_t number = (uint32_t)(at / STORE_PAGE + 1);

		errno = EIO; /* a short read sets none */
		if (pread(fd, image + at, STORE_PAGE, (off_t)at) != STORE_PAGE)
			return err_set(err, MSG_STORE_OPEN, path, strerror(errno));
		if (at == 0 && be32(image + APPLICATION_AT) != NEW_FILE_APPLICATION)
			return err_set(err, MSG_STORE_FOREIGN, path);
		if (at == 0)
			is_checked = page_file_has_checksums(image) || be32(image + FORMAT_AT) != 1;
		if (is_checked && !page_file_is_whole(image + at, number))
			return err_set(err, MSG_STORE_PAGE, path, (unsigned)number);
	}
	return OK;
}

/* All of a data file, to be freed. */
static enum code read_file(const char *path, unsigned char **image, size_t *size, struct err *err)
{
	int fd;
	enum code code = open_for_copy(path, &fd, size, err);

	*image = NULL;
	if (code == OK) {
		*image = malloc(*size);
		code = *image ? read_pages(fd, path, *image, *size, err)
			      : err_set(err, MSG_STORE_OPEN, path, "out of memory");
	}
	if (fd >= 0)
		close(fd);
	return code;
}

enum code new_file_copy(struct connection *connection, const char *path, struct err *err)
{
	unsigned char *image;
	size_t size;
	enum code code = read_file(path, &image, &size, err);

	if (code == OK) {
		image[LOG_AT] = image[LOG_AT + 1] = 1;
		if (page_file_has_checksums(image))
			page_file_seal(image, 1);
		code = write_image(connection, image, size, err);
	}
	free(image);
	return code;
}

/* Whether each byte that was read is the page's, or 0. */
static bool fits(const unsigned char *read, size_t n, const unsigned char *page)
{
	bool is_other = false;

	for (size_t i = 0; i < n; i++)
		is_other |= read[i] != page[i] && read[i] != 0;
	return !is_other;
}

bool new_file_is_piece(int fd, size_t size, unsigned format)
{
	unsigned char *image = size <= NEW_FILE_SIZE ? new_file_image(format, true) : NULL,
		      read[STORE_PAGE];
	bool is_all = size == NEW_FILE_SIZE, is_piece = image != NULL;

	for (size_t at = 0; at < size && is_piece; at += STORE_PAGE) {
		ssize_t n = pread(fd, read, STORE_PAGE, (off_t)at);

		is_piece = n > 0 && fits(read, (size_t)n, image + at);
		is_all = is_all && n == STORE_PAGE && memcmp(read, image + at, STORE_PAGE) == 0;
	}
	sqlite3_free(image);
	return is_piece && !is_all;
}
