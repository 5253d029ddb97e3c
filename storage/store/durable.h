/*
 * durable - waits until the bytes of a file are on the disk.
 *
 * On macOS fsync() leaves them in the drive's cache, from where a power cut takes them; F_FULLFSYNC
 * empties that. SQLite does the same where it is asked for SQLITE_SYNC_FULL, which means nothing
 * more on other systems.
 */
#ifndef DYNALITH_STORAGE_STORE_DURABLE_H
#define DYNALITH_STORAGE_STORE_DURABLE_H

#include <fcntl.h>
#include <unistd.h>

/* As fsync(), also for a folder: 0, or -1 with errno set. */
static inline int durable_sync(int fd)
{
#ifdef F_FULLFSYNC
	if (fcntl(fd, F_FULLFSYNC) == 0)
		return 0; /* else a file system that does not have it, such as one of a network */
#endif
	return fsync(fd);
}

#endif
