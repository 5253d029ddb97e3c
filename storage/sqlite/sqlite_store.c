#include "storage/sqlite/sqlite_store.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "storage/sqlite/connection.h"
#include "storage/store_messages.h"

#define APPLICATION_ID 0x44594E4C /* "DYNL", in the file's header */
#define MEMORY_MAX 2147418112LL   /* memdb's largest database: it is one block below 2 GiB */
#define HEADER_SIZE 100           /* of a SQLite file */

struct sqlite_store {
	struct store base;
	bool is_memory;
	int lock_fd;                  /* holds the flock that keeps other processes out; -1 in memory */
	pthread_mutex_t writer_mutex; /* in memory: of the one connection, readers too */
	struct connection writer;
	pthread_mutex_t pool_mutex;
	pthread_cond_t pool_cond;
	struct connection *free_readers;
	unsigned reader_count;
	struct connection *readers;
};

static void sqlite_configure(void)
{
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	sqlite3_config(SQLITE_CONFIG_MEMDB_MAXSIZE, (sqlite3_int64)MEMORY_MAX);
}

static struct connection *acquire(struct sqlite_store *store, enum store_mode mode)
{
	struct connection *connection = &store->writer;

	if (store->is_memory || mode == STORE_WRITE) {
		pthread_mutex_lock(&store->writer_mutex);
		return connection;
	}
	pthread_mutex_lock(&store->pool_mutex);
	while (!store->free_readers)
		pthread_cond_wait(&store->pool_cond, &store->pool_mutex);
	connection = store->free_readers;
	store->free_readers = connection->next_free;
	pthread_mutex_unlock(&store->pool_mutex);
	return connection;
}

static void release(struct connection *connection)
{
	struct sqlite_store *store = connection->store;

	if (connection == &store->writer) {
		pthread_mutex_unlock(&store->writer_mutex);
		return;
	}
	pthread_mutex_lock(&store->pool_mutex);
	connection->next_free = store->free_readers;
	store->free_readers = connection;
	pthread_cond_signal(&store->pool_cond);
	pthread_mutex_unlock(&store->pool_mutex);
}

/* In memory the mutex alone gives a reader its snapshot. */
static enum code sqlite_begin(struct store *base, enum store_mode mode, struct store_txn **txn, struct err *err)
{
	struct sqlite_store *store = (struct sqlite_store *)base;
	struct connection *connection = acquire(store, mode);
	enum code code = OK;

	connection->txn = (struct store_txn){base->ops, mode};
	connection->is_in_transaction = mode == STORE_WRITE || !store->is_memory;
	if (connection->is_in_transaction)
		code = connection_control(connection, mode == STORE_WRITE ? CONTROL_BEGIN_WRITE : CONTROL_BEGIN_READ, err);
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
	struct err ignored = {.arena = NULL};

	if (connection->is_in_transaction && !sqlite3_get_autocommit(connection->db)) {
		struct arena *arena = arena_new(0);

		ignored.arena = arena;
		/* a rollback that fails leaves the connection in its transaction: the next begin reports it */
		enum code code = connection_control(connection, CONTROL_ROLLBACK, &ignored);
		(void)code;
		arena_free(arena);
	}
	release(connection);
}

static enum code sqlite_commit(struct store_txn *txn, struct err *err)
{
	struct connection *connection = (struct connection *)txn;
	enum code code = connection->is_in_transaction ? connection_control(connection, CONTROL_COMMIT, err) : OK;

	if (code != OK) {
		sqlite_abort(txn);
		return code;
	}
	release(connection);
	return OK;
}

static enum code sqlite_create(struct store_txn *txn, struct keyspace keyspace, struct err *err)
{
	char name[KEYSPACE_NAME_MAX], sql[256];

	keyspace_name(keyspace, name);
	sqlite3_snprintf(sizeof(sql), sql, "CREATE TABLE \"%s\" (k BLOB NOT NULL UNIQUE, v BLOB NOT NULL)", name);
	return connection_run((struct connection *)txn, sql, err);
}

static enum code sqlite_drop(struct store_txn *txn, struct keyspace keyspace, struct err *err)
{
	struct connection *connection = (struct connection *)txn;
	char name[KEYSPACE_NAME_MAX], sql[256];

	connection_forget(connection, keyspace);
	keyspace_name(keyspace, name);
	sqlite3_snprintf(sizeof(sql), sql, "DROP TABLE \"%s\"", name);
	return connection_run(connection, sql, err);
}

static enum code sqlite_stat(struct store_txn *txn, struct keyspace keyspace, struct store_stat *stat, struct err *err)
{
	struct connection *connection = (struct connection *)txn;
	char name[KEYSPACE_NAME_MAX], sql[256];
	sqlite3_stmt *statement;

	keyspace_name(keyspace, name);
	sqlite3_snprintf(sizeof(sql), sql, "SELECT count(*), total(length(k) + length(v)) FROM \"%s\"", name);
	if (sqlite3_prepare_v2(connection->db, sql, -1, &statement, NULL) != SQLITE_OK)
		return connection_error(connection, err);
	enum code code = sqlite3_step(statement) == SQLITE_ROW ? OK : connection_error(connection, err);
	if (code == OK) {
		stat->rows = (uint64_t)sqlite3_column_int64(statement, 0);
		stat->bytes = (uint64_t)sqlite3_column_double(statement, 1);
	}
	sqlite3_finalize(statement);
	return code;
}

static void bind(sqlite3_stmt *statement, int position, struct str bytes)
{
	sqlite3_bind_blob64(statement, position, bytes.p ? bytes.p : "", bytes.n, SQLITE_STATIC);
}

static struct str column(sqlite3_stmt *statement, int position)
{
	const char *p = sqlite3_column_blob(statement, position);

	return (struct str){p ? p : "", (size_t)sqlite3_column_bytes(statement, position)};
}

static enum code sqlite_get(struct store_txn *txn, struct keyspace keyspace, struct str key, struct arena *arena, struct str *value,
			    struct err *err)
{
	struct connection *connection = (struct connection *)txn;
	struct slot *slot;
	sqlite3_stmt *statement;
	enum code code = connection_statement(connection, keyspace, STATEMENT_GET, &slot, &statement, err);

	if (code != OK)
		return code;
	bind(statement, 1, key);
	*value = STR_ABSENT;
	int result = sqlite3_step(statement);
	if (result == SQLITE_ROW)
		*value = str_copy(arena, column(statement, 0));
	else if (result != SQLITE_DONE)
		code = connection_error(connection, err);
	sqlite3_reset(statement);
	return code;
}

/* Runs put or del to its end. */
static enum code change(struct store_txn *txn, struct keyspace keyspace, enum statement kind, struct str key, struct str value,
			struct err *err)
{
	struct connection *connection = (struct connection *)txn;
	struct slot *slot;
	sqlite3_stmt *statement;
	enum code code = connection_statement(connection, keyspace, kind, &slot, &statement, err);

	if (code != OK)
		return code;
	bind(statement, 1, key);
	if (kind == STATEMENT_PUT)
		bind(statement, 2, value);
	if (sqlite3_step(statement) != SQLITE_DONE)
		code = connection_error(connection, err);
	sqlite3_reset(statement);
	return code;
}

static enum code sqlite_put(struct store_txn *txn, struct keyspace keyspace, struct str key, struct str value, struct err *err)
{
	return change(txn, keyspace, STATEMENT_PUT, key, value, err);
}

static enum code sqlite_del(struct store_txn *txn, struct keyspace keyspace, struct str key, struct err *err)
{
	return change(txn, keyspace, STATEMENT_DEL, key, STR_ABSENT, err);
}

static enum code sqlite_scan(struct store_txn *txn, struct keyspace keyspace, const struct store_range *range, store_visit *visit,
			     void *context, struct err *err)
{
	struct connection *connection = (struct connection *)txn;
	bool is_open = !str_is_set(range->high);
	enum statement kind = range->is_reverse ? (is_open ? STATEMENT_REVERSE_OPEN : STATEMENT_REVERSE)
						: (is_open ? STATEMENT_FORWARD_OPEN : STATEMENT_FORWARD);
	struct slot *slot;
	sqlite3_stmt *statement;
	int result;
	enum code code = connection_statement(connection, keyspace, kind, &slot, &statement, err);

	if (code != OK)
		return code;
	bind(statement, 1, range->low);
	if (!is_open)
		bind(statement, 2, range->high);
	slot->busy++;
	while ((result = sqlite3_step(statement)) == SQLITE_ROW) {
		if (!visit(context, column(statement, 0), column(statement, 1)))
			break;
	}
	if (result != SQLITE_ROW && result != SQLITE_DONE)
		code = connection_error(connection, err);
	sqlite3_reset(statement);
	slot->busy--;
	return code;
}

static void sqlite_close(struct store *base)
{
	struct sqlite_store *store = (struct sqlite_store *)base;

	for (unsigned i = 0; i < store->reader_count; i++)
		connection_close(&store->readers[i]);
	free(store->readers);
	if (store->writer.db && !store->is_memory)
		sqlite3_wal_checkpoint_v2(store->writer.db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
	connection_close(&store->writer);
	pthread_mutex_destroy(&store->writer_mutex);
	pthread_mutex_destroy(&store->pool_mutex);
	pthread_cond_destroy(&store->pool_cond);
	if (store->lock_fd >= 0)
		close(store->lock_fd);
	free(store);
}

static const struct store_ops sqlite_ops = {
	.close = sqlite_close, .begin = sqlite_begin, .commit = sqlite_commit, .abort = sqlite_abort, .create = sqlite_create,
	.drop = sqlite_drop, .stat = sqlite_stat, .get = sqlite_get, .put = sqlite_put, .del = sqlite_del, .scan = sqlite_scan,
};

static uint32_t be32(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/*
 * Locks the file against other processes and reads its format from the header, before SQLite sees it: a file that is not ours
 * or newer stays as it is. *is_new: the file was not there or is empty.
 */
static enum code check_file(struct sqlite_store *store, const char *path, bool *is_new, struct err *err)
{
	unsigned char header[HEADER_SIZE];
	struct stat status;

	store->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (store->lock_fd < 0)
		return err_set(err, MSG_STORE_OPEN, path, strerror(errno));
	if (fstat(store->lock_fd, &status) != 0 || !S_ISREG(status.st_mode))
		return err_set(err, MSG_STORE_FOREIGN, path);
	if (flock(store->lock_fd, LOCK_EX | LOCK_NB) != 0)
		return err_set(err, MSG_STORE_LOCKED, path);
	*is_new = status.st_size == 0;
	if (*is_new)
		return OK;
	if (pread(store->lock_fd, header, sizeof(header), 0) != HEADER_SIZE || memcmp(header, "SQLite format 3", 16) != 0 ||
	    be32(header + 68) != APPLICATION_ID)
		return err_set(err, MSG_STORE_FOREIGN, path);
	if (be32(header + 60) > SQLITE_STORE_FORMAT)
		return err_set(err, MSG_STORE_NEWER, path, be32(header + 60), (unsigned)SQLITE_STORE_FORMAT);
	return OK;
}

static enum code create_system(struct sqlite_store *store, struct err *err)
{
	enum code code = connection_run(&store->writer, "BEGIN IMMEDIATE", err);

	for (uint32_t part = 0; part < SYSTEM_PART_COUNT && code == OK; part++)
		code = sqlite_create(&store->writer.txn, (struct keyspace){0, part}, err);
	return code == OK ? connection_run(&store->writer, "COMMIT", err) : code;
}

static enum code open_memory(struct sqlite_store *store, const struct sqlite_store_options *options, struct err *err)
{
	char uri[64], setup[128];

	/* the store's address makes the name unique in this process */
	snprintf(uri, sizeof(uri), "file:/dynalith-%p?vfs=memdb", (void *)store);
	snprintf(setup, sizeof(setup), "PRAGMA cache_size=-%zu; PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF",
		 options->cache_bytes / 1024);
	enum code code = connection_open(&store->writer, uri, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, setup, err);
	return code != OK ? code : create_system(store, err);
}

static enum code open_readers(struct sqlite_store *store, const struct sqlite_store_options *options, const char *setup, struct err *err)
{
	unsigned n = options->readers ? options->readers : 1;

	store->readers = calloc(n, sizeof(*store->readers));
	for (unsigned i = 0; i < n && store->readers; i++) {
		struct connection *reader = &store->readers[store->reader_count++];
		enum code code = connection_open(reader, options->path, SQLITE_OPEN_READWRITE, setup, err);

		if (code != OK)
			return code;
		reader->store = store;
		reader->next_free = store->free_readers;
		store->free_readers = reader;
	}
	return OK;
}

static enum code open_disk(struct sqlite_store *store, const struct sqlite_store_options *options, struct err *err)
{
	static const char *const synchronous[] = {
		[DURABILITY_OFF] = "OFF", [DURABILITY_NORMAL] = "NORMAL", [DURABILITY_FULL] = "FULL",
	};
	char mark[128], setup[320], level[64];
	bool is_new;
	enum code code = check_file(store, options->path, &is_new, err);

	if (code != OK)
		return code;
	/* the mark goes to the file itself before the write-ahead log is there, so that check_file can read it */
	snprintf(mark, sizeof(mark), "PRAGMA synchronous=OFF; PRAGMA application_id=%d; PRAGMA user_version=%d; ", APPLICATION_ID,
		 SQLITE_STORE_FORMAT);
	snprintf(level, sizeof(level), "PRAGMA synchronous=%s", synchronous[options->durability]);
	/* an empty store has nothing to lose: it is made without waiting for the disk */
	snprintf(setup, sizeof(setup), "%sPRAGMA journal_mode=WAL; PRAGMA cache_size=-%zu; PRAGMA mmap_size=268435456", is_new ? mark : "",
		 options->cache_bytes / 1024);
	code = connection_open(&store->writer, options->path, SQLITE_OPEN_READWRITE, setup, err);
	if (code == OK && is_new)
		code = create_system(store, err);
	if (code == OK)
		code = connection_run(&store->writer, level, err);
	if (code != OK)
		return code;
	snprintf(setup, sizeof(setup), "PRAGMA cache_size=-%zu; PRAGMA mmap_size=268435456", options->cache_bytes / 1024);
	return open_readers(store, options, setup, err);
}

enum code sqlite_store_open(const struct sqlite_store_options *options, struct store **out, struct err *err)
{
	static pthread_once_t configured = PTHREAD_ONCE_INIT;
	struct sqlite_store *store = calloc(1, sizeof(*store));

	if (!store)
		return err_set(err, MSG_STORE_FAILED, "out of memory");
	pthread_once(&configured, sqlite_configure);
	store->base.ops = &sqlite_ops;
	store->is_memory = options->path == NULL;
	store->lock_fd = -1;
	store->writer.store = store;
	pthread_mutex_init(&store->writer_mutex, NULL);
	pthread_mutex_init(&store->pool_mutex, NULL);
	pthread_cond_init(&store->pool_cond, NULL);
	enum code code = store->is_memory ? open_memory(store, options, err) : open_disk(store, options, err);
	if (code != OK) {
		sqlite_close(&store->base);
		return code;
	}
	*out = &store->base;
	return OK;
}
