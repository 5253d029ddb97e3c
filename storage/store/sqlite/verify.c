#include "storage/store/sqlite/verify.h"

#include <errno.h>
#include <unistd.h>

#include "storage/monotonic.h"
#include "storage/store/copy_target.h"
#include "storage/store/durable.h"
#include "storage/store/sqlite/page_file.h"
#include "storage/store/store_messages.h"

#define READ_AGAIN 20 /* times, a ms apart */

static void tell(struct verify *verify, struct str line)
{
	(*verify->findings)++;
	verify->tell(verify->context, line);
}

static off_t page_offset(uint32_t number)
{
	return (off_t)(number - 1) * STORE_PAGE;
}

/* Whether it is whole, at last. */
static bool is_whole_now(const struct verify *verify, uint32_t number, unsigned char *page)
{
	for (unsigned i = 0; i < READ_AGAIN && verify->is_in_use; i++) {
		if (page_file_is_whole(page, number))
			return true;
		monotonic_sleep_ms(1);
		if (pread(verify->fd, page, STORE_PAGE, page_offset(number)) != STORE_PAGE)
			return true; /* the file became shorter */
	}
	return page_file_is_whole(page, number);
}

enum code verify_pages(struct verify *verify, uint32_t from, uint32_t n, uint32_t *next,
		       struct err *err)
{
	unsigned char page[STORE_PAGE];
	bool has_checksums = pread(verify->fd, page, sizeof(page), 0) != STORE_PAGE ||
			     page_file_has_checksums(page);

	*next = 0;
	if (!has_checksums && verify->is_in_use)
		return OK;
	for (uint32_t number = from; number - from < n; number++) {
		ssize_t got = pread(verify->fd, page, sizeof(page), page_offset(number));

		if (got <= 0 || (got < STORE_PAGE && verify->is_in_use))
			return got < 0 ? err_set(err, MSG_STORE_OPEN, verify->path, strerror(errno))
				       : OK;
		if (got < STORE_PAGE)
			tell(verify, str_printf(err->arena, STORE_PAGE_CUT, (unsigned)number));
		else if (has_checksums && !is_whole_now(verify, number, page))
			tell(verify, str_printf(err->arena, STORE_PAGE_DAMAGED, (unsigned)number));
	}
	*next = from + n;
	return OK;
}

void verify_structure(struct verify *verify, struct connection *connection, struct err *err)
{
	sqlite3_stmt *statement = NULL;
	int result = sqlite3_prepare_v2(connection->db, "PRAGMA integrity_check(1000)", -1,
					&statement, NULL);

	while (result == SQLITE_OK || result == SQLITE_ROW) {
		result = sqlite3_step(statement);
		if (result != SQLITE_ROW)
			break;
		struct str line = str_of((const char *)sqlite3_column_text(statement, 0));
		if (!str_eq(line, STR("ok")))
			tell(verify, line);
	}
	if (result != SQLITE_DONE && connection_error(connection, err) != OK)
		tell(verify, err->message);
	sqlite3_finalize(statement);
}

static enum code copy_pages(int fd, const char *path, int to, const char *target, struct err *err)
{
	unsigned char page[STORE_PAGE];
	bool has_checksums = true;
	ssize_t n;

	for (uint32_t number = 1; (n = pread(fd, page, sizeof(page), page_offset(number))) > 0;
	     number++) {
		if (number == 1)
			has_checksums = page_file_has_checksums(page);
		if (n < STORE_PAGE || (has_checksums && !page_file_is_whole(page, number)))
			return err_set(err, MSG_STORE_DAMAGED, (unsigned)number);
		errno = ENOSPC; /* a short write sets none */
		if (pwrite(to, page, sizeof(page), page_offset(number)) != STORE_PAGE)
			return err_set(err, MSG_STORE_OPEN, target, strerror(errno));
	}
	if (n < 0)
		return err_set(err, MSG_STORE_OPEN, path, strerror(errno));
	return durable_sync(to) == 0 ? OK : err_set(err, MSG_STORE_OPEN, target, strerror(errno));
}

enum code verify_copy(int fd, const char *path, const char *target, struct err *err)
{
	int to;
	enum code code = copy_target_open(target, &to, err);

	if (code != OK)
		return code;
	code = copy_pages(fd, path, to, target, err);
	close(to);
	return code;
}
