#include "storage/store/sqlite/reserve.h"

#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define PIECE (64 << 10) /* bytes written at once */

static int open_file(const char *path, int flags)
{
	char name[PATH_MAX + 16];

	snprintf(name, sizeof(name), "%s-reserve", path);
	return open(name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
}

void reserve_open(struct reserve *reserve, const char *path)
{
	struct stat status;

	reserve->path = path;
	reserve->fd = open_file(path, 0);
	bool is_full = reserve->fd >= 0 && fstat(reserve->fd, &status) == 0 &&
		       (uint64_t)status.st_size == RESERVE_BYTES;
	atomic_store(&reserve->state, is_full ? RESERVE_KEPT : RESERVE_EMPTY);
}

void reserve_close(struct reserve *reserve)
{
	if (reserve->fd >= 0)
		close(reserve->fd);
	reserve->fd = -1;
}

/* With bytes that no file system compresses or leaves out. */
static bool write_all(int fd)
{
	unsigned char piece[PIECE];
	bool is_written = true;

	sqlite3_randomness(sizeof(piece), piece);
	for (uint64_t at = 0; at < RESERVE_BYTES && is_written; at += sizeof(piece))
		is_written = pwrite(fd, piece, sizeof(piece), (off_t)at) == (ssize_t)sizeof(piece);
	if (!is_written && ftruncate(fd, 0) != 0)
		return false;
	return is_written;
}

void reserve_fill(struct reserve *reserve)
{
	enum reserve_state state = atomic_load(&reserve->state);
	struct statvfs disk;

	if (state != RESERVE_EMPTY && state != RESERVE_USED)
		return;
	if (reserve->fd < 0)
		reserve->fd = open_file(reserve->path, O_CREAT);
	bool has_room = reserve->fd >= 0 && fstatvfs(reserve->fd, &disk) == 0 &&
			(uint64_t)disk.f_bavail * disk.f_frsize >= 2 * RESERVE_BYTES;
	has_room = has_room && write_all(reserve->fd);
	if (has_room)
		atomic_store(&reserve->state, RESERVE_KEPT);
	atomic_store(&reserve->is_short, !has_room);
}

bool reserve_use(struct reserve *reserve)
{
	enum reserve_state kept = RESERVE_KEPT;

	if (!atomic_compare_exchange_strong(&reserve->state, &kept, RESERVE_USED))
		return false;
	atomic_store(&reserve->is_short, true);
	return ftruncate(reserve->fd, 0) == 0;
}

bool reserve_is_used(const struct reserve *reserve)
{
	return atomic_load(&reserve->state) == RESERVE_USED;
}
