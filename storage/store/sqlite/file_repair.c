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
#include "storage/store/sqlite/file_salvage.h"
#include "storage/store/store_messages.h"

static enum code problem(const char *path, struct err *err)
{
	return err_set(err, MSG_STORE_OPEN, path, strerror(errno));
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat left, right;

	return stat(a, &left) == 0 && stat(b, &right) == 0 && left.st_dev == right.st_dev &&
	       left.st_ino == right.st_ino;
}

/* Where a kill came between the two steps of publishing, the file has both names already. */
static enum code check_kept(const struct file_repair *repair, struct err *err)
{
	if (access(repair->kept, F_OK) != 0)
		return OK;
	if (!is_same_file(repair->path, repair->kept))
		return err_set(err, MSG_STORE_KEPT, repair->kept);
	return unlink(repair->kept) == 0 ? OK : problem(repair->kept, err);
}

void file_repair_discard(struct file_repair *repair)
{
	copy_target_discard(repair->arena, repair->successor);
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
	enum code code = check_kept(repair, err);
	if (code != OK)
		return code;
	code = raw_file_open(repair->fd, repair->path, repair->arena, repair->file, err);
	if (code != OK)
		return code;
	file_repair_discard(repair);
	return file_salvage_open(repair->file, &repair->salvage, err);
}

enum code file_repair_begin(const char *path, struct file_repair **out, struct err *err)
{
	struct arena *arena = arena_new(0);
	struct file_repair *repair = ARENA_NEW(arena, struct file_repair);

	*repair = (struct file_repair){
		.arena = arena, .fd = -1, .file = ARENA_NEW(arena, struct raw_file)};
	*repair->file = (struct raw_file){.log_fd = -1};
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
	raw_file_close(repair->file);
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
	/* a log beside the successor would be taken for its own */
	enum code code = raw_file_move_log(repair->file, err);
	if (code != OK)
		return code;
	if (link(repair->path, repair->kept) != 0 ||
	    !copy_target_sync_folder(repair->arena, repair->path))
		return problem(repair->kept, err);
	unlink(str_printf(repair->arena, "%s-wal", repair->path).p);
	unlink(str_printf(repair->arena, "%s-shm", repair->path).p);
	if (rename(repair->successor, repair->path) != 0 ||
	    !copy_target_sync_folder(repair->arena, repair->path))
		return problem(repair->path, err);
	return OK;
}
