/*
 * fault_vfs - a disk for tests: it can lose power, and its calls can fail.
 *
 * A file system of SQLite's over its own one, as the default. It keeps beside every file what a
 * disk would have of it: the bytes that were synced, and in order the writes, truncations,
 * creations and deletions that were not. When the power goes, every call fails from then on; once
 * all files are closed, power_on() makes the files what a disk may have kept: all that was synced,
 * and of the rest nothing, a beginning, or any sectors of 512 bytes. A sync that fails does the
 * same to its file at once. Files have no memory mapping, so every access is a call.
 *
 * One test at a time; the calls of SQLite may come from any thread.
 */
#ifndef DYNALITH_TEST_FAULT_VFS_H
#define DYNALITH_TEST_FAULT_VFS_H

#include <stdbool.h>
#include <stdint.h>

/* Kinds of calls, as a mask. */
enum fault_kind {
	FAULT_OPEN = 1,
	FAULT_READ = 2,
	FAULT_WRITE = 4,
	FAULT_TRUNCATE = 8,
	FAULT_SYNC = 16,
	FAULT_DELETE = 32,
	FAULT_SHM = 64,
	FAULT_LOCK = 128,
	FAULT_SIZE = 256,
};

/* Calls that change the disk: those that a power cut counts. */
#define FAULT_CHANGES (FAULT_WRITE | FAULT_TRUNCATE | FAULT_SYNC | FAULT_DELETE)

/* Registers it, before SQLite is used; once per process. */
void fault_vfs_install(void);

/* Forgets all files and faults; the files' bytes on the real disk stay and count as synced. `seed`
 * decides what a power cut leaves. */
void fault_vfs_reset(uint64_t seed);

/* The n-th call from now of these kinds (1 is the next; 0: none) fails with this result of
 * SQLite's, and if sticky all after it. */
void fault_vfs_fail(unsigned kinds, uint64_t n, int result, bool is_sticky);

/* Whether that call came. */
bool fault_vfs_has_failed(void);

/* The power goes off at the n-th call from now that changes the disk, which is cut short; 0: it
 * stays on. */
void fault_vfs_cut(uint64_t n);
bool fault_vfs_is_off(void);

/* Calls since the reset that change the disk; syncs of them. */
uint64_t fault_vfs_changes(void);
uint64_t fault_vfs_syncs(void);

/* Before the power is back: all that was written is kept, synced or not, as when only the process
 * ended. */
void fault_vfs_keep_all(void);

/* The power is back. Every file must be closed; each becomes what the disk kept of it. */
void fault_vfs_power_on(void);

#endif
