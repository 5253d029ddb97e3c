#include "storage/store/sqlite/quota.h"

#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define LOG_MAX ((uint64_t)64 << 20)
#define KEPT_SHARE 8 /* of the limit, kept for the log and for what makes room */
#define KEPT_MAX (4 * LOG_MAX)
/* Of what is kept, or of all that is left: the log is started over at one share, and as much is for
 * what makes room. */
#define LOG_SHARE 4
#define SLACK (64 << 10)               /* more than the inner pages that a value needs */
#define RESERVE_BYTES ((uint64_t)4 << 20)
#define PIECE (64 << 10) /* bytes written at once */

void quota_init(struct quota *quota, uint64_t limit)
{
	uint64_t kept = limit / KEPT_SHARE < KEPT_MAX ? limit / KEPT_SHARE : KEPT_MAX;

	*quota = (struct quota){
		.limit = limit,
		.data_max = limit - kept,
		.data_most = limit - kept + kept / LOG_SHARE,
		.log_least = kept - kept / LOG_SHARE,
		.fd = -1,
	};
}

static int open_reserve(const struct quota *quota, int flags)
{
	char name[PATH_MAX + 16];

	snprintf(name, sizeof(name), "%s-reserve", quota->path);
	return open(name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
}

void quota_open(struct quota *quota, const char *path)
{
	struct stat status;

	quota->path = path;
	quota->fd = open_reserve(quota, 0);
	bool is_filled = quota->fd >= 0 && fstat(quota->fd, &status) == 0 &&
			 (uint64_t)status.st_size == RESERVE_BYTES;
	atomic_store(&quota->reserve, is_filled ? RESERVE_KEPT : RESERVE_EMPTY);
}

void quota_close(struct quota *quota)
{
	if (quota->fd >= 0)
		close(quota->fd);
}

uint64_t quota_log_short(const struct quota *quota)
{
	return quota->limit ? (quota->limit - quota->data_max) / LOG_SHARE : LOG_MAX;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

uint64_t quota_log_usual(const struct quota *quota, uint64_t bytes)
{
	if (!quota->limit)
		return quota_is_full(quota) ? least(bytes, RESERVE_BYTES / 2) : bytes;
	uint64_t left = quota->limit > quota->data_next ? quota->limit - quota->data_next : 0,
		 shortest = quota_log_short(quota);

	return left / LOG_SHARE < shortest ? shortest : least(left / LOG_SHARE, LOG_MAX);
}

void quota_begin(struct quota *quota)
{
	quota->is_growing = quota->is_refused = false;
	quota->data_next = quota->data;
}

void quota_commit(struct quota *quota)
{
	quota->data = quota->data_next;
}

/* While the reserve is used, what makes data grow may take no further room of the disk. */
static bool takes_reserve(struct quota *quota, uint64_t data, bool is_longer)
{
	if (!quota->is_growing || !quota_is_full(quota))
		return false;
	quota_fill(quota);
	return quota_is_full(quota) && (is_longer || data > quota->data);
}

bool quota_admits(struct quota *quota, uint64_t log, uint64_t data, bool is_longer)
{
	uint64_t most = quota->is_growing ? quota->data_max : quota->data_most;

	if (takes_reserve(quota, data, is_longer))
		return false;
	if (quota->limit && data > quota->data && data > most)
		quota->is_refused = true;
	else if (data)
		quota->data_next = data;
	if (quota->limit && log > quota->log_least && log + quota->data_next > quota->limit)
		quota->is_refused = true;
	return !quota->is_refused;
}

bool quota_is_near(const struct quota *quota, uint64_t bytes)
{
	return quota->limit && quota->data + bytes + SLACK > quota->data_max;
}

/* With bytes that no file system compresses or leaves out. */
static bool write_reserve(int fd)
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

void quota_fill(struct quota *quota)
{
	enum quota_reserve reserve = atomic_load(&quota->reserve);
	struct statvfs disk;

	if (reserve != RESERVE_EMPTY && reserve != RESERVE_USED)
		return;
	if (quota->fd < 0)
		quota->fd = open_reserve(quota, O_CREAT);
	bool has_room = quota->fd >= 0 && fstatvfs(quota->fd, &disk) == 0 &&
			(uint64_t)disk.f_bavail * disk.f_frsize >= 2 * RESERVE_BYTES &&
			write_reserve(quota->fd);
	if (has_room)
		atomic_store(&quota->reserve, RESERVE_KEPT);
	atomic_store(&quota->is_short, !has_room);
}

bool quota_use_reserve(struct quota *quota)
{
	enum quota_reserve kept = RESERVE_KEPT;

	if (quota->is_growing ||
	    !atomic_compare_exchange_strong(&quota->reserve, &kept, RESERVE_USED))
		return false;
	atomic_store(&quota->is_short, true);
	return ftruncate(quota->fd, 0) == 0;
}

bool quota_is_full(const struct quota *quota)
{
	return atomic_load(&quota->reserve) == RESERVE_USED;
}
