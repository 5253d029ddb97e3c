#include "storage/store/sqlite/sqlite_store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "storage/store/sqlite/connection.h"
#include "storage/store/sqlite/data_file.h"
#include "storage/store/sqlite/file_schema.h"
#include "storage/store/sqlite/live_copy.h"
#include "storage/store/sqlite/log_mark.h"
#include "storage/store/sqlite/memory_copy.h"
#include "storage/store/sqlite/memory_file.h"
#include "storage/store/sqlite/page_file.h"
#include "storage/store/sqlite/places.h"
#include "storage/store/sqlite/rows.h"
#include "storage/store/sqlite/sqlite_floor.h"
#include "storage/store/sqlite/sqlite_state.h"
#include "storage/store/sqlite/verify.h"
#include "storage/store/store_messages.h"

/* So many times its usual size the log may have while readers need it; not under a limit. */
#define READERS_GROWTH 4

/* Whether SQLite writes zeros over what is deleted. dynalith.wasm has it ON: the playground's links
 * are copies of the pages, and must not hold deleted items. */
#ifndef STORE_ERASES
#define STORE_ERASES "OFF"
#endif
enum synchronous { OFF = 0, FULL = 2 }; /* of the pragma */
/*
 * Of each connection that writes. Some builds of SQLite write zeros over what is deleted, which
 * puts each page of a dropped table into the log. Syncs are as durable_sync()'s.
 */
#define SETUP_WRITER                                                                               \
	"PRAGMA cache_size=-%zu; PRAGMA synchronous=%d; PRAGMA secure_delete=" STORE_ERASES "; "
#define SETUP_LOG "PRAGMA cell_size_check=ON; PRAGMA journal_size_limit=%zu; PRAGMA fullfsync=ON; "

/* Lookaside of few pieces, since opening a connection touches all, and statements are kept; no page
 * cache at once, since a reader has few pages. */
static void sqlite_configure(void)
{
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 512, 16);
	sqlite3_config(SQLITE_CONFIG_PAGECACHE, NULL, 0, 0);
}

static struct connection *acquire_writer(struct sqlite_store *store)
{
	pthread_mutex_lock(&store->writer_mutex);
	return &store->writer;
}

/* Only the thread that holds the connection writes it. */
static void next_turn(struct connection *connection)
{
	atomic_store_explicit(&connection->turn,
			      atomic_load_explicit(&connection->turn, memory_order_relaxed) + 1,
			      memory_order_relaxed);
}

static struct connection *acquire_reader(struct sqlite_store *store)
{
	struct connection *connection = readers_take(&store->readers);

	next_turn(connection);
	return connection;
}

static void release(struct connection *connection)
{
	struct sqlite_store *store = connection->store;

	if (connection == &store->writer) {
		pthread_mutex_unlock(&store->writer_mutex);
		return;
	}
	next_turn(connection);
	readers_give(&store->readers, connection);
}

static enum code begin_write(struct connection *writer, struct err *err)
{
	struct sqlite_store *store = writer->store;
	/* others may use the writer's connection while this one waits to be admitted */
	enum code code = wal_admit(&store->wal, err);

	if (code != OK)
		return code;
	quota_begin(&store->quota);
	return connection_control(writer, CONTROL_BEGIN_WRITE, err);
}

/* Places are forgotten where keyspaces have come or gone since they were looked up. */
static enum code begin_read(struct connection *reader, struct err *err)
{
	const _Atomic uint64_t *moves = &reader->store->moves;
	uint64_t before = atomic_load(moves);
	enum code code = connection_begin_read(reader, err);

	if (code != OK)
		return code;
	/* odd: some come or go at this moment, and the snapshot may have that or not */
	if (before != reader->moves_seen || before % 2 != 0 || atomic_load(moves) != before)
		reader->forgotten++;
	reader->moves_seen = before;
	return OK;
}

static enum code sqlite_begin(struct store *base, enum store_mode mode, struct store_txn **txn,
			      struct err *err)
{
	struct sqlite_store *store = (struct sqlite_store *)base;
	struct connection *connection =
		mode == STORE_WRITE ? acquire_writer(store) : acquire_reader(store);
	enum code code =
		mode == STORE_WRITE ? begin_write(connection, err) : begin_read(connection, err);

	connection->txn = (struct store_txn){.ops = base->ops, .mode = mode};
	if (code != OK) {
		release(connection);
		return code;
	}
	*txn = &connection->txn;
	return OK;
}

static void sqlite_abort(struct store_txn *txn)
{
	struct connection *connection = (struct connection *)txn;

	if (txn->mode == STORE_WRITE)
		connection_rollback(connection);
	else
		connection_end_read(connection);
	if (connection->has_moved)
		connection->forgotten++;
	connection->has_moved = false;
	if (txn->mode == STORE_WRITE && connection->quota->is_refused &&
	    !connection->store->is_memory)
		wal_shorten(&connection->store->wal);
	release(connection);
}

/* Commits what SQLite has of the transaction. Readers look up the places of keyspaces again that
 * the transaction may have changed. */
static enum code commit_places(struct connection *connection, struct err *err)
{
	struct sqlite_store *store = connection->store;

	if (!connection->has_moved)
		return connection_control(connection, CONTROL_COMMIT, err);
	atomic_fetch_add(&store->moves, 1);
	enum code code = connection_control(connection, CONTROL_COMMIT, err);
	if (code == OK)
		connection->has_moved = false;
	atomic_fetch_add(&store->moves, 1);
	return code;
}

static enum code sqlite_commit(struct store_txn *txn, struct err *err)
{
	struct connection *connection = (struct connection *)txn;
	struct sqlite_store *store = connection->store;
	enum code code = OK;

	if (txn->mode == STORE_WRITE)
		code = commit_places(connection, err);
	else
		connection_end_read(connection);
	if (code == ERR_STORE_FULL && !store->is_memory && !store->quota.is_growing &&
	    wal_make_room(&store->wal))
		code = err_set(err, MSG_STORE_MAKES_ROOM);
	if (code != OK) {
		sqlite_abort(txn);
		return code;
	}
	if (txn->mode == STORE_WRITE)
		quota_commit(&store->quota);
	uint64_t commit = txn->mode == STORE_WRITE ? atomic_load(&store->wal.commits) : 0;
	release(connection);
	return wal_sync(&store->wal, commit, err);
}

/* One piece, in a transaction of its own. */
static enum code tidy_piece(struct store *base, bool *is_more, struct err *err)
{
	struct store_txn *txn;
	enum code code = sqlite_begin(base, STORE_WRITE, &txn, err);

	if (code != OK)
		return code;
	code = places_tidy((struct connection *)txn, is_more, err);
	if (code == OK)
		return sqlite_commit(txn, err);
	sqlite_abort(txn);
	return code;
}

static enum code sqlite_tidy(struct store *base, bool *is_more, struct err *err)
{
	struct sqlite_store *store = (struct sqlite_store *)base;

	/* a transaction that drops a keyspace sets it again before it commits */
	*is_more = atomic_exchange(&store->has_dropped, false);
	if (!*is_more)
		return OK;
	enum code code = tidy_piece(base, is_more, err);
	*is_more = code != OK || *is_more;
	if (*is_more)
		atomic_store(&store->has_dropped, true);
	return code;
}

static void sqlite_close(struct store *base)
{
	struct sqlite_store *store = (struct sqlite_store *)base;

	wal_stop(&store->wal); /* first: its thread interrupts readers */
	readers_close(&store->readers);
	if (store->is_open && !store->is_memory)
		wal_end(&store->wal, &store->writer);
	connection_close(&store->writer);
	memory_file_remove(store->memory);
	if (store->is_open && !store->is_memory)
		log_mark_remove(store->path);
	quota_close(&store->quota);
	pthread_mutex_destroy(&store->writer_mutex);
	if (store->lock_fd >= 0)
		close(store->lock_fd);
	free(store->path);
	free(store);
}

/* Where no writer has the lock: it fills the reserve itself when it needs that, and fails where the
 * log is cut. */
static void look_after_log(struct sqlite_store *store)
{
	if (pthread_mutex_trylock(&store->writer_mutex) != 0)
		return;
	wal_find_cut(&store->wal);
	quota_fill(&store->quota);
	pthread_mutex_unlock(&store->writer_mutex);
}

static enum code sqlite_check(struct store *base, struct err *err)
{
	struct sqlite_store *store = (struct sqlite_store *)base;

	if (store->is_memory)
		return OK;
	if (atomic_load(&store->wal.file) == WAL_FILE_WHOLE &&
	    data_file_is_moved_away(store->lock_fd, store->path))
		wal_move_away(&store->wal, &store->writer);
	if (atomic_load(&store->wal.file) == WAL_FILE_WHOLE &&
	    data_file_is_cut(store->lock_fd, &store->file_bytes))
		wal_cut(&store->wal);
	look_after_log(store);
	return wal_check(&store->wal, err);
}

/* What the database takes; false where that cannot be read. */
static bool read_usage(struct connection *reader, struct store_usage *usage)
{
	struct arena *arena = arena_new(0);
	struct err err = err_in(arena);
	int64_t pages = 0, unused = 0;
	/* in this order, since a commit between them makes the file only longer */
	bool is_read = connection_number(reader, "PRAGMA freelist_count", &unused, &err) == OK &&
		       connection_number(reader, "PRAGMA page_count", &pages, &err) == OK;

	usage->used = (uint64_t)(pages - unused) * STORE_PAGE;
	usage->free = (uint64_t)unused * STORE_PAGE;
	arena_free(arena);
	return is_read;
}

static void sqlite_usage(struct store *base, struct store_usage *usage)
{
	struct sqlite_store *store = (struct sqlite_store *)base;
	struct connection *reader = readers_try(&store->readers);
	struct store_usage read = {0};
	bool is_read = false;

	if (reader) {
		next_turn(reader);
		is_read = read_usage(reader, &read);
		release(reader);
	}
	pthread_mutex_lock(&store->readers.mutex);
	if (is_read)
		store->usage = read;
	*usage = store->usage;
	pthread_mutex_unlock(&store->readers.mutex);
	usage->log = store->is_memory ? 0 : wal_file_bytes(&store->wal);
	usage->limit = store->quota.limit;
	if (!store->is_memory && wal_is_stopped(&store->wal))
		usage->reason = STORE_REASON_DATA_FILE;
	else
		usage->reason =
			atomic_load(&store->quota.is_short) ? STORE_REASON_FULL : STORE_REASON_NONE;
}

static const struct store_ops sqlite_ops = {
	.close = sqlite_close,
	.check = sqlite_check,
	.usage = sqlite_usage,
	.begin = sqlite_begin,
	.commit = sqlite_commit,
	.abort = sqlite_abort,
	.create = places_create,
	.drop = places_drop,
	.get = rows_get,
	.put = rows_put,
	.del = rows_del,
	.tidy = sqlite_tidy,
	.get_many = rows_get_many,
	.page = rows_page,
	.copy = places_copy,
	.keyspaces = places_list,
	.create_small = places_create_small,
	.page_of = rows_page_of,
	.refer = rows_refer,
};

static enum code sqlite_verify(struct store *base, store_tell *tell, void *context,
			       uint64_t *findings, struct err *err)
{
	struct sqlite_store *store = (struct sqlite_store *)base;
	struct verify verify = {.fd = store->lock_fd,
				.path = store->path,
				.tell = tell,
				.context = context,
				.findings = findings};
	uint32_t next;

	if (!wal_move_all(&store->wal, &store->writer))
		return err_set(err, MSG_STORE_UNMOVED, store->path);
	enum code code = verify_pages(&verify, 1, UINT32_MAX, &next, err);
	if (code == OK)
		verify_structure(&verify, &store->writer, err);
	return code;
}

static enum code sqlite_copy_file(struct store *base, const char *target, struct err *err)
{
	struct sqlite_store *store = (struct sqlite_store *)base;

	if (!wal_move_all(&store->wal, &store->writer))
		return err_set(err, MSG_STORE_UNMOVED, store->path);
	return verify_copy(store->lock_fd, store->path, target, err);
}

static enum code sqlite_copy_begin(struct store *base, struct live_copy **out, struct err *err)
{
	return live_copy_begin((struct sqlite_store *)base, out, err);
}

static enum code sqlite_verify_some(struct store *base, uint32_t from, uint32_t n, uint32_t *next,
				    store_tell *tell, void *context, uint64_t *findings,
				    struct err *err)
{
	struct sqlite_store *store = (struct sqlite_store *)base;
	struct verify verify = {.fd = store->lock_fd,
				.path = store->path,
				.tell = tell,
				.context = context,
				.findings = findings,
				.is_in_use = true};

	*next = 0;
	return store->is_memory ? OK : verify_pages(&verify, from ? from : 1, n, next, err);
}

static const struct store_maintenance maintenance = {
	sqlite_verify,  sqlite_verify_some, sqlite_copy_file, sqlite_copy_begin,
	live_copy_step, live_copy_read,     live_copy_end,
};

/* What the file has is of this server, and of no later version. */
static enum code accept_file(struct sqlite_store *store, const char *path, struct err *err)
{
	int64_t format, pages;
	enum code code = connection_number(&store->writer, "PRAGMA user_version", &format, err);

	if (code != OK)
		return err_set(err, MSG_STORE_OPEN, path, err->message.p);
	if (format > SQLITE_STORE_FORMAT)
		return err_set(err, MSG_STORE_NEWER, path, (unsigned)format,
			       (unsigned)SQLITE_STORE_FORMAT);
	if (format < SQLITE_STORE_FORMAT_REFERENCES)
		store->base.can = 0;
	code = connection_number(&store->writer, "PRAGMA page_count", &pages, err);
	if (code != OK)
		return err_set(err, MSG_STORE_OPEN, path, err->message.p);
	store->quota.data = (uint64_t)pages * STORE_PAGE;
	return file_schema_check(store->writer.db, path, err);
}

static enum code open_readers(struct sqlite_store *store, const char *name, int flags,
			      const char *setup, unsigned most, struct err *err)
{
	const struct readers_options readers = {.name = name,
						.flags = flags,
						.setup = setup,
						.most = most,
						.lock_fd = store->lock_fd,
						.store = store};

	return readers_open(&store->readers, &readers, err);
}

/* The file system undoes what is rolled back (memory_file.h). Readers see the pages where they lie;
 * the writer has copies until it commits. */
static enum code open_memory(struct sqlite_store *store, const struct sqlite_store_options *options,
			     struct err *err)
{
	const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI;
	char uri[96], setup[320];

	store->memory = memory_file_install(&store->quota);
	if (!store->memory)
		return err_set(err, MSG_STORE_FAILED, "no file system in memory");
	snprintf(uri, sizeof(uri), "file:/memory?vfs=%s", memory_file_system(store->memory));
	snprintf(setup, sizeof(setup),
		 SETUP_WRITER "PRAGMA temp_store=MEMORY; PRAGMA journal_mode=OFF",
		 options->cache_bytes / 1024, OFF);
	store->writer.has_no_journal = true;
	enum code code = connection_open(&store->writer, uri, flags, setup, err);
	if (code != OK)
		return code;
	code = options->copied
		       ? memory_copy(&store->writer, options->copied, SQLITE_STORE_FORMAT, err)
		       : file_schema_make(&store->writer, SQLITE_STORE_FORMAT, err);
	if (code != OK)
		return code;
	code = accept_file(store, options->copied ? options->copied : "memory", err);
	if (code != OK)
		return code;
	code = places_complete(&store->writer, err);
	if (code != OK)
		return code;
	snprintf(setup, sizeof(setup),
		 "PRAGMA cache_size=-%zu; PRAGMA mmap_size=%d; PRAGMA temp_store=MEMORY",
		 options->cache_bytes / 1024, INT_MAX);
	return open_readers(store, uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, setup,
			    options->readers, err);
}

/* Opens the file, or makes a new one, by SQLite's usual journal: its tables are in the file itself
 * before the write-ahead log is there, so that data_file can read its head. */
static enum code open_file(struct connection *writer, const struct wal_options *log,
			   struct err *err)
{
	int64_t pages;
	enum code code = connection_open(writer, log->path, SQLITE_OPEN_READWRITE, log->setup, err);

	if (code != OK)
		return code;
	/* SQLite deletes the log beside a file without pages */
	code = connection_number(writer, "PRAGMA page_count", &pages, err);
	return code == OK && pages == 0 ? file_schema_make(writer, SQLITE_STORE_FORMAT, err) : code;
}

static enum code open_writer(struct sqlite_store *store, const struct wal_options *log,
			     struct err *err)
{
	struct connection *writer = &store->writer;
	enum code code = open_file(writer, log, err);

	if (code != OK)
		return err_set(err, MSG_STORE_OPEN, log->path, err->message.p);
	code = accept_file(store, log->path, err);
	if (code != OK)
		return code;
	/* the first read opens the log */
	code = connection_run(writer, "PRAGMA journal_mode=WAL; PRAGMA schema_version", err);
	if (code != OK)
		return err_set(err, MSG_STORE_OPEN, log->path, err->message.p);
	code = places_complete(writer, err);
	if (code != OK)
		return err_set(err, MSG_STORE_OPEN, log->path, err->message.p);
	if (log->durability != DURABILITY_OFF) /* wal_sync() waits for the disk */
		code = connection_run(writer, "PRAGMA synchronous=NORMAL", err);
	return code != OK ? code : wal_start(&store->wal, writer, &store->writer_mutex, log, err);
}

static enum code open_disk(struct sqlite_store *store, const struct sqlite_store_options *options,
			   struct err *err)
{
	char path[PATH_MAX], setup[320];
	struct wal_options log = {
		.setup = setup,
		.durability = options->durability,
		.log_bytes = options->log_bytes ? options->log_bytes
						: (size_t)quota_log_short(&store->quota),
		.quota = &store->quota,
		.reader_ms = options->reader_ms ? options->reader_ms : SQLITE_STORE_READER_MS,
		.readers = &store->readers,
	};
	enum code code =
		data_file_lock(options->path, SQLITE_STORE_FORMAT, path, &store->lock_fd, err);

	if (code != OK)
		return code;
	log.log_bytes_most = store->quota.limit ? log.log_bytes : log.log_bytes * READERS_GROWTH;
	/* FULL until it has its log; later only for the checkpoints, to which NORMAL is the same */
	snprintf(setup, sizeof(setup), SETUP_WRITER SETUP_LOG, options->cache_bytes / 1024,
		 options->durability == DURABILITY_OFF ? OFF : FULL, log.log_bytes);
	log.path = store->path = strdup(path);
	if (!store->path)
		return err_set(err, MSG_STORE_FAILED, "out of memory");
	code = log_mark_check(path, err);
	if (code != OK)
		return code;
	quota_open(&store->quota, store->path);
	code = open_writer(store, &log, err);
	if (code != OK)
		return code;
	(void)data_file_is_cut(store->lock_fd, &store->file_bytes);
	if (log_mark_is_needed())
		log_mark_leave(path, options->durability != DURABILITY_OFF, err->arena);
	return open_readers(store, path, SQLITE_OPEN_READWRITE, setup, options->readers, err);
}

enum code sqlite_store_is_there(const char *path, struct err *err)
{
	struct stat status;
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return err_set(err, MSG_STORE_OPEN, path, strerror(errno));
	bool is_file = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0;
	bool is_free = flock(fd, LOCK_EX | LOCK_NB) == 0;
	close(fd);
	if (!is_file)
		return err_set(err, MSG_STORE_FOREIGN, path);
	return is_free ? OK : err_set(err, MSG_STORE_LOCKED, path);
}

enum code sqlite_store_open(const struct sqlite_store_options *options, struct store **out,
			    struct err *err)
{
	static pthread_once_t configured = PTHREAD_ONCE_INIT;
	struct sqlite_store *store = calloc(1, sizeof(*store));

	if (!store)
		return err_set(err, MSG_STORE_FAILED, "out of memory");
	pthread_once(&configured, sqlite_configure);
	store->base = (struct store){
		&sqlite_ops, STORE_CAN_REFER,
		&maintenance}; /* it refers, unless the file is of an earlier format */
	store->is_memory = options->path == NULL;
	store->lock_fd = -1;
	store->writer.store = store;
	quota_init(&store->quota, options->limit_bytes);
	store->writer.quota = &store->quota;
	atomic_store(&store->has_dropped, true); /* an earlier process may have left some */
	pthread_mutex_init(&store->writer_mutex, NULL);
	readers_init(&store->readers);
	enum code code = store->is_memory ? open_memory(store, options, err)
					  : open_disk(store, options, err);
	if (code != OK) {
		/* a log that a refused file has is not for us to move into it */
		if (store->writer.db)
			sqlite3_db_config(store->writer.db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1,
					  NULL);
		sqlite_close(&store->base);
		return code;
	}
	store->is_open = true;
	*out = &store->base;
	return OK;
}

const char *sqlite_store_library_version(void)
{
	return sqlite3_libversion();
}

const char *sqlite_store_library_note(void)
{
	return log_mark_is_needed()
		       ? "is older than " SQLITE_FLOOR_VERSION
			 ": a data file whose write-ahead log comes from elsewhere is refused"
		       : NULL;
}
