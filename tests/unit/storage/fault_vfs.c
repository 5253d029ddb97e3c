#include "tests/unit/storage/fault_vfs.h"

#include <pthread.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES_MAX 16
#define SECTOR 512

struct pending {
	struct pending *next;
	sqlite3_int64 offset; /* of a write; the new size of a truncation */
	size_t n;
	bool is_truncation;
	char bytes[];
};

/* A file as the disk has it. */
struct disk_file {
	char path[256];
	bool exists;          /* as the process sees it */
	bool was_created;     /* since its folder was synced: a power cut may undo that */
	bool was_deleted;     /* the same */
	bool is_journal; /* its first sync syncs the folder, as SQLite's own file system does */
	char *synced;
	size_t n;
	struct pending *first, **last;
	unsigned failed_syncs;
};

struct fault_file {
	sqlite3_file base;
	struct disk_file *disk; /* NULL: a temporary file */
	unsigned failed_syncs;  /* of the disk's file, those this one was told of: as Linux does,
				   each open file is told once */
	sqlite3_file real[];
};

static struct {
	pthread_mutex_t mutex;
	sqlite3_vfs vfs, *real;
	struct disk_file files[FILES_MAX];
	size_t file_count;
	uint64_t seed, changes, syncs;
	unsigned fail_kinds;
	uint64_t fail_in;
	int fail_result;
	bool is_sticky, has_failed;
	uint64_t cut_in;
	bool is_off;
} disk = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static uint64_t draw(uint64_t n)
{
	disk.seed = disk.seed * 6364136223846793005u + 1442695040888963407u;
	return (disk.seed >> 33) % n;
}

static void *allocate(size_t n)
{
	void *p = calloc(1, n ? n : 1);

	if (!p)
		abort();
	return p;
}

/* What a call of this kind must answer before it does anything. *is_cut: the power went off in this
 * very call. Under the mutex. */
static int strike(enum fault_kind kind, int otherwise, bool *is_cut)
{
	*is_cut = false;
	disk.changes += (kind & FAULT_CHANGES) != 0;
	disk.syncs += kind == FAULT_SYNC;
	if (disk.is_off)
		return (kind & (FAULT_CHANGES | FAULT_OPEN)) ? otherwise : SQLITE_OK;
	if ((kind & FAULT_CHANGES) && disk.cut_in > 0 && --disk.cut_in == 0) {
		disk.is_off = *is_cut = true;
		return otherwise;
	}
	if (!(kind & disk.fail_kinds) || disk.fail_in == 0)
		return SQLITE_OK;
	if (disk.fail_in > 1) {
		disk.fail_in--;
		return SQLITE_OK;
	}
	disk.fail_in = disk.is_sticky ? 1 : 0;
	disk.has_failed = true;
	return disk.fail_result;
}

static int strike_alone(enum fault_kind kind, int otherwise)
{
	bool is_cut;

	pthread_mutex_lock(&disk.mutex);
	int result = strike(kind, otherwise, &is_cut);
	pthread_mutex_unlock(&disk.mutex);
	return result;
}

/* The contents of a file. */

static void resize(struct disk_file *file, size_t n)
{
	char *bytes = realloc(file->synced, n ? n : 1);

	if (!bytes)
		abort();
	if (n > file->n)
		memset(bytes + file->n, 0, n - file->n);
	file->synced = bytes;
	file->n = n;
}

static void apply(struct disk_file *file, const struct pending *change, size_t from, size_t to)
{
	size_t at = (size_t)change->offset;

	if (change->is_truncation) {
		resize(file, at);
		return;
	}
	if (file->n < at + to)
		resize(file, at + to);
	memcpy(file->synced + at + from, change->bytes + from, to - from);
}

static void add_pending(struct disk_file *file, sqlite3_int64 offset, const void *bytes, size_t n,
			bool is_truncation)
{
	struct pending *change = allocate(sizeof(*change) + n);

	change->offset = offset;
	change->n = n;
	change->is_truncation = is_truncation;
	if (n)
		memcpy(change->bytes, bytes, n);
	*file->last = change;
	file->last = &change->next;
}

static void drop_pending(struct disk_file *file)
{
	for (struct pending *change = file->first, *next; change; change = next) {
		next = change->next;
		free(change);
	}
	file->first = NULL;
	file->last = &file->first;
}

static void sync_file(struct disk_file *file)
{
	for (struct pending *change = file->first; change; change = change->next)
		apply(file, change, 0, change->n);
	drop_pending(file);
}

/* Any of a write's sectors, each kept with this chance of 8. A sector is one of the disk's,
 * wherever the write begins. */
static void keep_sectors(struct disk_file *file, const struct pending *change, uint64_t chance)
{
	for (size_t from = 0, to; from < change->n; from = to) {
		to = from + SECTOR - (size_t)(change->offset + (sqlite3_int64)from) % SECTOR;
		if (to > change->n)
			to = change->n;
		if (draw(8) < chance)
			apply(file, change, from, to);
	}
}

/* What is left of the changes that were not synced: nothing, all up to a point, or any sectors. */
static void keep_some(struct disk_file *file)
{
	uint64_t kind = draw(4), chance = 1 + draw(7), n = 0;

	for (struct pending *change = file->first; change; change = change->next)
		n++;
	uint64_t kept = kind == 0 ? 0 : draw(n + 1);
	for (struct pending *change = file->first; change; change = change->next) {
		if (kind >= 2 && !change->is_truncation)
			keep_sectors(file, change, chance);
		else if (kind >= 2 ? draw(8) < chance : kept > 0 && kept-- > 0)
			apply(file, change, 0, change->n);
	}
	drop_pending(file);
}

static void sync_folder(void)
{
	for (size_t i = 0; i < disk.file_count; i++)
		disk.files[i].was_created = disk.files[i].was_deleted = false;
}

static void load(struct disk_file *file)
{
	FILE *from = fopen(file->path, "rb");
	struct stat status;

	file->exists = from != NULL;
	if (!from)
		return;
	if (fstat(fileno(from), &status) != 0)
		abort();
	resize(file, (size_t)status.st_size);
	if (fread(file->synced, 1, file->n, from) != file->n)
		abort();
	fclose(from);
}

/* An empty file is one that was made a moment ago: the store does so before SQLite opens it. */
static struct disk_file *find(const char *path)
{
	for (size_t i = 0; i < disk.file_count; i++) {
		if (strcmp(disk.files[i].path, path) == 0)
			return &disk.files[i];
	}
	if (disk.file_count == FILES_MAX || strlen(path) >= sizeof(disk.files[0].path))
		abort();
	struct disk_file *file = &disk.files[disk.file_count++];
	*file = (struct disk_file){.exists = false};
	memcpy(file->path, path, strlen(path) + 1);
	file->last = &file->first;
	load(file);
	file->was_created = file->exists && file->n == 0;
	return file;
}

/* The methods of an open file. */

static struct fault_file *own(sqlite3_file *file)
{
	return (struct fault_file *)file;
}

static int file_close(sqlite3_file *base)
{
	sqlite3_file *real = own(base)->real;

	return real->pMethods ? real->pMethods->xClose(real) : SQLITE_OK;
}

static int file_read(sqlite3_file *base, void *bytes, int n, sqlite3_int64 offset)
{
	sqlite3_file *real = own(base)->real;
	int result = strike_alone(FAULT_READ, SQLITE_IOERR_READ);

	return result != SQLITE_OK ? result : real->pMethods->xRead(real, bytes, n, offset);
}

static int file_write(sqlite3_file *base, const void *bytes, int n, sqlite3_int64 offset)
{
	sqlite3_file *real = own(base)->real;
	struct disk_file *file = own(base)->disk;
	bool is_cut;

	pthread_mutex_lock(&disk.mutex);
	int result = strike(FAULT_WRITE, SQLITE_IOERR_WRITE, &is_cut);
	/* even a write that fails may have reached the disk in part */
	if (file && (result == SQLITE_OK || is_cut))
		add_pending(file, offset, bytes, is_cut ? draw((uint64_t)n + 1) : (size_t)n, false);
	pthread_mutex_unlock(&disk.mutex);
	return result != SQLITE_OK ? result : real->pMethods->xWrite(real, bytes, n, offset);
}

static int file_truncate(sqlite3_file *base, sqlite3_int64 size)
{
	sqlite3_file *real = own(base)->real;
	struct disk_file *file = own(base)->disk;
	bool is_cut;

	pthread_mutex_lock(&disk.mutex);
	int result = strike(FAULT_TRUNCATE, SQLITE_IOERR_TRUNCATE, &is_cut);
	if (file && (result == SQLITE_OK || is_cut))
		add_pending(file, size, NULL, 0, true);
	pthread_mutex_unlock(&disk.mutex);
	return result != SQLITE_OK ? result : real->pMethods->xTruncate(real, size);
}

/*
 * Nothing is really synced: the files of a test need not survive the machine. Now and then it takes
 * a while, as disks do; what is written meanwhile is not in it. A sync that is not full leaves the
 * bytes in the drive's cache, as on macOS.
 */
static int file_sync(sqlite3_file *base, int flags)
{
	struct disk_file *file = own(base)->disk;
	bool is_cut, is_full = (flags & 0x0F) == SQLITE_SYNC_FULL;

	pthread_mutex_lock(&disk.mutex);
	int result = strike(FAULT_SYNC, SQLITE_IOERR_FSYNC, &is_cut);
	if (file && result != SQLITE_OK && !disk.is_off) {
		keep_some(file); /* the system drops what it could not write, and the next sync
				    knows nothing of it */
		file->failed_syncs++;
	}
	if (file && result == SQLITE_OK && own(base)->failed_syncs != file->failed_syncs)
		result = SQLITE_IOERR_FSYNC;
	if (file)
		own(base)->failed_syncs = file->failed_syncs;
	if (file && result == SQLITE_OK && is_full) {
		sync_file(file);
		if (file->is_journal && file->was_created)
			sync_folder();
	}
	useconds_t pause = draw(4) == 0 ? (useconds_t)draw(500) : 0;
	pthread_mutex_unlock(&disk.mutex);
	if (pause)
		usleep(pause);
	return result;
}

static int file_size(sqlite3_file *base, sqlite3_int64 *size)
{
	sqlite3_file *real = own(base)->real;
	int result = strike_alone(FAULT_SIZE, SQLITE_IOERR_FSTAT);

	return result != SQLITE_OK ? result : real->pMethods->xFileSize(real, size);
}

static int file_lock(sqlite3_file *base, int level)
{
	sqlite3_file *real = own(base)->real;
	int result = strike_alone(FAULT_LOCK, SQLITE_IOERR_LOCK);

	return result != SQLITE_OK ? result : real->pMethods->xLock(real, level);
}

static int file_unlock(sqlite3_file *base, int level)
{
	sqlite3_file *real = own(base)->real;

	return real->pMethods->xUnlock(real, level);
}

static int file_check_lock(sqlite3_file *base, int *is_reserved)
{
	sqlite3_file *real = own(base)->real;

	return real->pMethods->xCheckReservedLock(real, is_reserved);
}

/* A hint of the size would make the real file grow without a write. */
static int file_control(sqlite3_file *base, int what, void *argument)
{
	sqlite3_file *real = own(base)->real;

	return what == SQLITE_FCNTL_SIZE_HINT ? SQLITE_OK
					      : real->pMethods->xFileControl(real, what, argument);
}

static int file_sector_size(sqlite3_file *base)
{
	(void)base;
	return SECTOR;
}

static int file_characteristics(sqlite3_file *base)
{
	(void)base;
	return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

static int shm_map(sqlite3_file *base, int page, int size, int is_extended, void volatile **memory)
{
	sqlite3_file *real = own(base)->real;
	int result = strike_alone(FAULT_SHM, SQLITE_IOERR_SHMMAP);

	return result != SQLITE_OK ? result
				   : real->pMethods->xShmMap(real, page, size, is_extended, memory);
}

static int shm_lock(sqlite3_file *base, int offset, int n, int flags)
{
	sqlite3_file *real = own(base)->real;

	return real->pMethods->xShmLock(real, offset, n, flags);
}

static void shm_barrier(sqlite3_file *base)
{
	sqlite3_file *real = own(base)->real;

	real->pMethods->xShmBarrier(real);
}

static int shm_unmap(sqlite3_file *base, int is_deleted)
{
	sqlite3_file *real = own(base)->real;

	return real->pMethods->xShmUnmap(real, is_deleted);
}

static const sqlite3_io_methods methods = {
	.iVersion = 2,
	.xClose = file_close,
	.xRead = file_read,
	.xWrite = file_write,
	.xTruncate = file_truncate,
	.xSync = file_sync,
	.xFileSize = file_size,
	.xLock = file_lock,
	.xUnlock = file_unlock,
	.xCheckReservedLock = file_check_lock,
	.xFileControl = file_control,
	.xSectorSize = file_sector_size,
	.xDeviceCharacteristics = file_characteristics,
	.xShmMap = shm_map,
	.xShmLock = shm_lock,
	.xShmBarrier = shm_barrier,
	.xShmUnmap = shm_unmap,
};

/* The file system. */

static int vfs_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *base, int flags,
		    int *flags_out)
{
	struct fault_file *file = own(base);
	int result = strike_alone(FAULT_OPEN, SQLITE_CANTOPEN);

	(void)vfs;
	file->base.pMethods = NULL;
	file->disk = NULL;
	if (result != SQLITE_OK)
		return result;
	pthread_mutex_lock(&disk.mutex);
	struct disk_file *on_disk = path ? find(path) : NULL;
	result = disk.real->xOpen(disk.real, path, file->real, flags, flags_out);
	if (result == SQLITE_OK) {
		file->base.pMethods = &methods;
		file->disk = on_disk;
		file->failed_syncs = on_disk ? on_disk->failed_syncs : 0;
		if (on_disk && !on_disk->exists) {
			on_disk->exists = on_disk->was_created = true;
			drop_pending(on_disk);
			resize(on_disk, 0);
		}
		if (on_disk)
			on_disk->is_journal = (flags & (SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL |
							SQLITE_OPEN_SUPER_JOURNAL)) != 0;
	}
	pthread_mutex_unlock(&disk.mutex);
	return result;
}

/* A deleted file keeps its bytes until the folder is synced: they may come back. */
static int vfs_delete(sqlite3_vfs *vfs, const char *path, int syncs_folder)
{
	bool is_cut;

	(void)vfs;
	pthread_mutex_lock(&disk.mutex);
	int result = strike(FAULT_DELETE, SQLITE_IOERR_DELETE, &is_cut);
	struct disk_file *file = find(path);
	if (file->exists && (result == SQLITE_OK || is_cut)) {
		file->exists = false;
		file->was_deleted = true;
		if (syncs_folder && !is_cut)
			sync_folder();
	}
	pthread_mutex_unlock(&disk.mutex);
	return result != SQLITE_OK ? result : disk.real->xDelete(disk.real, path, 0);
}

static int vfs_access(sqlite3_vfs *vfs, const char *path, int flags, int *out)
{
	(void)vfs;
	return disk.real->xAccess(disk.real, path, flags, out);
}

static int vfs_full_path(sqlite3_vfs *vfs, const char *path, int n, char *out)
{
	(void)vfs;
	return disk.real->xFullPathname(disk.real, path, n, out);
}

void fault_vfs_install(void)
{
	disk.real = sqlite3_vfs_find(NULL);
	if (!disk.real || disk.vfs.zName)
		abort();
	disk.vfs = *disk.real;
	disk.vfs.pNext = NULL;
	disk.vfs.zName = "fault";
	disk.vfs.szOsFile = (int)sizeof(struct fault_file) + disk.real->szOsFile;
	disk.vfs.xOpen = vfs_open;
	disk.vfs.xDelete = vfs_delete;
	disk.vfs.xAccess = vfs_access;
	disk.vfs.xFullPathname = vfs_full_path;
	if (sqlite3_vfs_register(&disk.vfs, 1) != SQLITE_OK)
		abort();
}

static void forget_files(void)
{
	for (size_t i = 0; i < disk.file_count; i++) {
		drop_pending(&disk.files[i]);
		free(disk.files[i].synced);
	}
	disk.file_count = 0;
}

void fault_vfs_reset(uint64_t seed)
{
	pthread_mutex_lock(&disk.mutex);
	forget_files();
	disk.seed = seed;
	disk.changes = disk.syncs = disk.fail_in = disk.cut_in = 0;
	disk.is_off = disk.has_failed = false;
	pthread_mutex_unlock(&disk.mutex);
}

void fault_vfs_fail(unsigned kinds, uint64_t n, int result, bool is_sticky)
{
	pthread_mutex_lock(&disk.mutex);
	disk.fail_kinds = kinds;
	disk.fail_in = n;
	disk.fail_result = result;
	disk.is_sticky = is_sticky;
	disk.has_failed = false;
	pthread_mutex_unlock(&disk.mutex);
}

bool fault_vfs_has_failed(void)
{
	pthread_mutex_lock(&disk.mutex);
	bool has_failed = disk.has_failed;
	pthread_mutex_unlock(&disk.mutex);
	return has_failed;
}

void fault_vfs_cut(uint64_t n)
{
	pthread_mutex_lock(&disk.mutex);
	disk.cut_in = n;
	pthread_mutex_unlock(&disk.mutex);
}

bool fault_vfs_is_off(void)
{
	pthread_mutex_lock(&disk.mutex);
	bool is_off = disk.is_off;
	pthread_mutex_unlock(&disk.mutex);
	return is_off;
}

uint64_t fault_vfs_changes(void)
{
	pthread_mutex_lock(&disk.mutex);
	uint64_t changes = disk.changes;
	pthread_mutex_unlock(&disk.mutex);
	return changes;
}

uint64_t fault_vfs_syncs(void)
{
	pthread_mutex_lock(&disk.mutex);
	uint64_t syncs = disk.syncs;
	pthread_mutex_unlock(&disk.mutex);
	return syncs;
}

static void store_bytes(const struct disk_file *file)
{
	FILE *to = fopen(file->path, "wb");

	if (!to || fwrite(file->synced, 1, file->n, to) != file->n || fclose(to) != 0)
		abort();
}

void fault_vfs_keep_all(void)
{
	pthread_mutex_lock(&disk.mutex);
	for (size_t i = 0; i < disk.file_count; i++)
		sync_file(&disk.files[i]);
	sync_folder();
	pthread_mutex_unlock(&disk.mutex);
}

void fault_vfs_power_on(void)
{
	pthread_mutex_lock(&disk.mutex);
	for (size_t i = 0; i < disk.file_count; i++) {
		struct disk_file *file = &disk.files[i];
		bool stays = file->exists;

		keep_some(file);
		if (file->was_deleted && draw(2))
			stays = true;
		else if (file->was_created && draw(2))
			stays = false;
		if (stays)
			store_bytes(file);
		else
			unlink(file->path);
	}
	forget_files();
	disk.is_off = false;
	disk.cut_in = disk.fail_in = 0;
	pthread_mutex_unlock(&disk.mutex);
}
