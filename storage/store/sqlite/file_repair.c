#include "storage/store/sqlite/file_repair.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "storage/store/copy_target.h"
#include "storage/store/durable.h"
#include "storage/store/sqlite/data_file.h"
#include "storage/store/sqlite/file_salvage.h"
#include "storage/store/sqlite/log_mark.h"
#include "storage/store/store_messages.h"

static enum code problem(const char *path, struct err *err)
{
	return err_set(err, MSG_STORE_OPEN, path, strerror(errno));
}

/* Where a kill came between the two steps of publishing, the file has both names already. */
static enum code check_kept(const struct file_repair *repair, struct err *err)
{
	if (access(repair->kept, F_OK) != 0)
		return OK;
	if (data_file_is_moved_away(repair->fd, repair->kept))
		return err_set(err, MSG_STORE_KEPT, repair->kept);
	return unlink(repair->kept) == 0 ? OK : problem(repair->kept, err);
}

void file_repair_discard(struct file_repair *repair)
{
	copy_target_discard(repair->arena, repair->successor);
}

/*
 * SQLite moves a log where the first page is readable, or its head at least. So one that cannot be
 * mended gets what is the same in each file: SQLite's name, pages of 4096 bytes, a log, 4 bytes
 * reserved, three constants.
 */
static bool mend_first_page(const struct raw_file *file)
{
	static const char head[] = "SQLite format 3\0\x10\0\2\2\4@  ";
	unsigned char page[STORE_PAGE];
	enum raw_state state = raw_file_read(file, 1, page);

	if (state == RAW_SOUND)
		return true;
	if (state == RAW_MENDED)
		page_file_seal(page, 1);
	else
		memcpy(page, head, sizeof(head) - 1);
	return pwrite(file->fd, page, sizeof(page), 0) == STORE_PAGE;
}

/* SQLite moves the log into the file when it closes that, even where it can read nothing of it, and
 * removes it. */
static enum code move_log(struct file_repair *repair, struct err *err)
{
	const char *log = str_printf(repair->arena, "%s-wal", repair->path).p;
	struct stat status;
	sqlite3 *db = NULL;

	if (stat(log, &status) != 0 || status.st_size == 0)
		return OK;
	enum code code = log_mark_check(repair->path, err);
	if (code != OK)
		return code;
	if (mend_first_page(repair->file) &&
	    sqlite3_open_v2(repair->path, &db, SQLITE_OPEN_READWRITE, page_file_system()) ==
		    SQLITE_OK)
		(void)sqlite3_exec(db, "PRAGMA user_version", NULL, NULL, NULL);
	sqlite3_close(db);
	if (access(log, F_OK) == 0)
		return err_set(err, MSG_STORE_UNMOVED, repair->path);
	return raw_file_open(repair->fd, repair->path, repair->file, err);
}

static enum code begin(struct file_repair *repair, const char *path, struct err *err)
{
	char absolute[PATH_MAX];

	repair->fd = open(path, O_RDWR | O_CLOEXEC);
	if (repair->fd < 0 || !realpath(path, absolute))
		return problem(path, err);
	if (flock(repair->fd, LOCK_EX | LOCK_NB) != 0)
		return err_set(err, MSG_STORE_LOCKED, path);
	repair->path = str_copy(repair->arena, str_of(absolute)).p;
	repair->successor = str_printf(repair->arena, "%s.repairing", absolute).p;
	repair->kept = str_printf(repair->arena, "%s.before-repair", absolute).p;
	const char *journal = str_printf(repair->arena, "%s-journal", absolute).p;
	if (access(journal, F_OK) == 0) /* SQLite would write it into the successor */
		return err_set(err, MSG_STORE_LOG_LEFT, path, journal);
	enum code code = check_kept(repair, err);
	if (code != OK)
		return code;
	code = raw_file_open(repair->fd, repair->path, repair->file, err);
	if (code != OK)
		return code;
	code = move_log(repair, err);
	if (code != OK)
		return code;
	file_repair_discard(repair);
	return file_salvage_open(repair->file, repair->path, &repair->salvage, err);
}

enum code file_repair_begin(const char *path, struct file_repair **out, struct err *err)
{
	struct arena *arena = arena_new(0);
	struct file_repair *repair = ARENA_NEW(arena, struct file_repair);

	*repair = (struct file_repair){
		.arena = arena, .fd = -1, .file = ARENA_NEW(arena, struct raw_file)};
	enum code code = begin(repair, path, err);
	if (code != OK)
		file_repair_end(repair);
	else
		*out = repair;
	return code;
}

void file_repair_end(struct file_repair *repair)
{
	if (repair->salvage)
		repair->salvage->ops->close(repair->salvage);
	if (repair->fd >= 0)
		close(repair->fd);
	arena_free(repair->arena);
}

/* The successor gets the rights of the file, its owner where this process may give it away, and
 * waits for the disk. */
static bool finish_successor(const struct file_repair *repair)
{
	struct stat status;
	int fd = open(repair->successor, O_RDWR | O_CLOEXEC);
	bool is_safe = fd >= 0 && fstat(repair->fd, &status) == 0 &&
		       fchmod(fd, status.st_mode & 07777) == 0;

	if (is_safe && fchown(fd, status.st_uid, status.st_gid) != 0)
		is_safe = errno == EPERM;
	is_safe = is_safe && durable_sync(fd) == 0;
	if (fd >= 0)
		close(fd);
	return is_safe;
}

enum code file_repair_publish(struct file_repair *repair, struct err *err)
{
	if (!finish_successor(repair))
		return problem(repair->successor, err);
	if (link(repair->path, repair->kept) != 0 ||
	    !copy_target_sync_folder(repair->arena, repair->path))
		return problem(repair->kept, err);
	bool is_there = rename(repair->successor, repair->path) == 0 &&
			copy_target_sync_folder(repair->arena, repair->path);
	return is_there ? OK : problem(repair->path, err);
}
