#include "server/tools/dump.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/base64.h"
#include "core/be.h"
#include "core/crc32.h"
#include "server/command/interrupt.h"
#include "server/messages.h"
#include "storage/state/snapshot_file.h"
#include "storage/store/durable.h"

#define HEAD "dynalith snapshot 1\n"
#define HEAD_WORDS "dynalith snapshot "
#define LOADED                                                                                     \
	"dynalith-load" /* the name of what comes in: what an earlier load did not end goes with   \
			   the next one */
#define BLOCK_MAX ((uint32_t)8 * 1024 * 1024)
#define SIZES_BYTES 8
#define LAST_WORD_MS 500 /* to a server, by a dump that is interrupted */

struct dumping {
	struct remote *remote;
	struct str query;
	struct arena *arena; /* of one block */
	const char *path; /* of the file in errors */
	int fd;
	struct remask *remask; /* blocks go there in place of the file; or NULL */
	struct catalog *catalog; /* or into this one; or NULL */
	struct ns ns;
};

static enum code fail(struct err *err, const char *what, const char *why)
{
	return err_set(err, MSG_REMOTE, STR_ARG(str_of(what)), STR_ARG(str_of(why)));
}

static struct str dump_query_of(struct arena *arena, const struct dump_options *options)
{
	struct buf query = buf_in(arena);

	if (options->account)
		buf_printf(&query, "account=%s", options->account);
	if (options->region)
		buf_printf(&query, "%sregion=%s", options->account ? "&" : "", options->region);
	return buf_str(&query);
}

/* The answer lies in the remote's arena until the next call. */
static enum code call(struct dumping *dumping, const char *method, struct str name,
		      const char *rest, struct str body, const struct json **root, struct err *err)
{
	struct str path = str_printf(dumping->arena, "/_dynalith/snapshots/" STR_FMT "%s",
				     STR_ARG(name), rest);

	return remote_call(dumping->remote, method, path, dumping->query, body, root, err);
}

static enum code write_dump_bytes(const struct dumping *dumping, struct str bytes, struct err *err)
{
	while (bytes.n > 0) {
		ssize_t n = write(dumping->fd, bytes.p, bytes.n);

		if (n <= 0)
			return fail(err, dumping->path,
				    n < 0 ? strerror(errno) : "nothing more can be written");
		bytes = (struct str){bytes.p + n, bytes.n - (size_t)n};
	}
	return OK;
}

static enum code write_block(struct dumping *dumping, struct str block, struct err *err)
{
	char sizes[SIZES_BYTES];

	put_be32(sizes, (uint32_t)block.n);
	put_be32(sizes + 4, crc32_of(block.p, block.n));
	enum code code = write_dump_bytes(dumping, (struct str){sizes, sizeof(sizes)}, err);
	if (code != OK)
		return code;
	return write_dump_bytes(dumping, block, err);
}

static struct str string_member(struct arena *arena, const struct json *root, const char *name)
{
	const struct json *member = json_member(root, name);

	return member && json_type(member) == JSON_STRING ? json_string(arena, member) : STR_ABSENT;
}

/* Where a block of the server's goes. */
static enum code keep_block(struct dumping *dumping, struct str block, struct err *err)
{
	bool is_done;

	if (dumping->catalog)
		return snapshot_file_write(dumping->catalog, dumping->ns, STR(LOADED), block,
					   &is_done, err);
	return dumping->remask ? remask_take(dumping->remask, block, &is_done, err)
			       : write_block(dumping, block, err);
}

/* Keeps the snapshot's next block, and gives the cursor behind it, of `cursors`; empty: that was
 * the last. */
static enum code write_next_block(struct dumping *dumping, struct str name, struct str body,
				  struct arena *cursors, struct str *cursor, struct err *err)
{
	const struct json *root = NULL;
	struct str block;

	arena_reset(dumping->arena);
	enum code code = call(dumping, "POST", name, "/dump", body, &root, err);
	if (code != OK)
		return code;
	if (!base64_decode(dumping->arena, string_member(dumping->arena, root, "block"), &block))
		return fail(err, "the server", "no answer of this kind of server");
	code = keep_block(dumping, block, err);
	if (code != OK)
		return code;
	arena_reset(cursors);
	*cursor = string_member(cursors, root, "cursor");
	return OK;
}

static enum code sync_dump(const struct dumping *dumping, struct err *err)
{
	if (durable_sync(dumping->fd) != 0)
		return fail(err, dumping->path, strerror(errno));
	return OK;
}

/* All that was taken, masked, as a dump. */
static enum code write_masked(struct dumping *dumping, struct remask *remask, struct err *err)
{
	struct str block;
	enum code code = remask_run(remask, err);

	if (code != OK)
		return code;
	code = write_dump_bytes(dumping, STR(HEAD), err);
	while (code == OK) {
		struct err own = err_in(dumping->arena);

		arena_reset(dumping->arena);
		code = remask_next(remask, &block, &own);
		if (code != OK)
			err_copy(err, code, own.message);
		if (code != OK || !str_is_set(block))
			break;
		code = write_block(dumping, block, err);
	}
	return code == OK ? sync_dump(dumping, err) : code;
}

/* When the last block is kept. */
static enum code end_blocks(struct dumping *dumping, struct err *err)
{
	struct str extra;

	if (!dumping->catalog)
		return dumping->remask ? write_masked(dumping, dumping->remask, err)
				       : sync_dump(dumping, err);
	enum code code = snapshot_restore(dumping->catalog, dumping->ns, STR(LOADED), &extra, err);
	if (code != OK)
		return code;
	return snapshot_remove(dumping->catalog, dumping->ns, STR(LOADED), err);
}

static enum code write_blocks(struct dumping *dumping, struct str name, struct err *err)
{
	struct arena *cursors = arena_new(4096);
	struct str body = STR("{}"), cursor = STR("");
	bool is_written = !dumping->remask && !dumping->catalog;
	enum code code = is_written ? write_dump_bytes(dumping, STR(HEAD), err) : OK;

	while (code == OK && str_is_set(cursor)) {
		code = write_next_block(dumping, name, body, cursors, &cursor, err);
		if (code == OK && str_is_set(cursor))
			body = str_printf(cursors, "{\"cursor\":\"" STR_FMT "\"}", STR_ARG(cursor));
	}
	arena_free(cursors);
	if (code != OK)
		return code;
	return end_blocks(dumping, err);
}

/* What a dump has made on the server. */
struct made {
	const struct remote *remote;
	struct str name, query;
};

/* An interrupt_undo. */
static void remove_snapshot(void *context)
{
	const struct made *made = context;
	struct dumping dumping = {.remote = remote_again(made->remote, LAST_WORD_MS),
				  .query = made->query,
				  .arena = arena_new(0)};
	struct err ignored = err_in(dumping.arena);
	const struct json *root;

	(void)(call(&dumping, "DELETE", made->name, "", STR(""), &root, &ignored) == OK);
}

static enum code dump_snapshot(struct dumping *dumping, struct str name, struct err *err)
{
	struct err ignored = err_in(err->arena);
	const struct json *root;
	enum code code = call(dumping, "PUT", name, "", STR(""), &root, err);

	if (code != OK)
		return code;
	code = write_blocks(dumping, name, err);
	enum code removed =
		call(dumping, "DELETE", name, "", STR(""), &root, code == OK ? err : &ignored);
	return code == OK ? removed : code;
}

/* Of the remote, by a snapshot that is made for it. */
static enum code dump_remote(struct dumping *dumping, struct err *err)
{
	struct str name = str_printf(err->arena, "dynalith-dump-%lld-%ld", (long long)time(NULL),
				     (long)getpid());
	struct made made = {dumping->remote, name, dumping->query};
	struct interrupt_undo undo = {.run = remove_snapshot, .context = &made};

	interrupt_undo(&undo);
	dumping->arena = arena_new(4 * 1024 * 1024);
	enum code code = dump_snapshot(dumping, name, err);
	interrupt_forget(&undo);
	arena_free(dumping->arena);
	return code;
}

enum code dump_write(struct remote *remote, const struct dump_options *options, const char *path,
		     int fd, struct err *err)
{
	struct dumping dumping = {.remote = remote,
				  .query = dump_query_of(err->arena, options),
				  .path = path,
				  .fd = fd,
				  .remask = options->remask};

	return dump_remote(&dumping, err);
}

enum code dump_take(struct remote *remote, struct ns ns, struct catalog *catalog, struct err *err)
{
	const struct dump_options options = {.account = str_copy(err->arena, ns.account).p,
					     .region = str_copy(err->arena, ns.region).p};
	struct dumping dumping = {.remote = remote,
				  .query = dump_query_of(err->arena, &options),
				  .catalog = catalog,
				  .ns = ns};

	return dump_remote(&dumping, err);
}

/* *n is less than `size` at the end of the file. */
static enum code read_dump_bytes(const struct dumping *dumping, char *bytes, size_t size, size_t *n,
				 struct err *err)
{
	for (*n = 0; *n < size;) {
		ssize_t got = read(dumping->fd, bytes + *n, size - *n);

		if (got < 0)
			return fail(err, dumping->path, strerror(errno));
		if (got == 0)
			break;
		*n += (size_t)got;
	}
	return OK;
}

static enum code check_head(const struct dumping *dumping, struct err *err)
{
	char head[sizeof(HEAD) - 1];
	size_t n;
	enum code code = read_dump_bytes(dumping, head, sizeof(head), &n, err);

	if (code != OK || str_eq((struct str){head, n}, STR(HEAD)))
		return code;
	return fail(err, dumping->path,
		    str_starts_with((struct str){head, n}, STR(HEAD_WORDS))
			    ? "it is of a newer version of dynalith"
			    : "it is no dump of dynalith's");
}

/* *block is absent at the end of the file. */
static enum code read_dump_block(struct dumping *dumping, struct str *block, struct err *err)
{
	char sizes[SIZES_BYTES];
	size_t n;
	enum code code = read_dump_bytes(dumping, sizes, sizeof(sizes), &n, err);

	*block = STR_ABSENT;
	if (code != OK || n == 0)
		return code;
	uint32_t size = n == sizeof(sizes) ? (uint32_t)str_be(sizes, 4) : UINT32_MAX;
	if (size > BLOCK_MAX)
		return fail(err, dumping->path, "it is damaged or cut off");
	char *bytes = arena_bytes(dumping->arena, size + 1);
	code = read_dump_bytes(dumping, bytes, size, &n, err);
	if (code != OK)
		return code;
	if (n < size || crc32_of(bytes, size) != (uint32_t)str_be(sizes + 4, 4))
		return fail(err, dumping->path, "it is damaged or cut off");
	*block = (struct str){bytes, size};
	return OK;
}

static enum code load_blocks(struct dumping *dumping, struct err *err)
{
	bool is_done = false;
	enum code code = check_head(dumping, err);

	while (code == OK) {
		const struct json *root = NULL, *done;
		struct buf body;
		struct str block;

		arena_reset(dumping->arena);
		code = read_dump_block(dumping, &block, err);
		if (code != OK || !str_is_set(block))
			break;
		body = buf_in(dumping->arena);
		buf_add_str(&body, STR("{\"block\":\""));
		base64_encode(block, &body);
		buf_add_str(&body, STR("\"}"));
		code = call(dumping, "POST", STR(LOADED), "/load", buf_str(&body), &root, err);
		done = code == OK ? json_member(root, "done") : NULL;
		is_done = done && json_type(done) == JSON_BOOLEAN && json_boolean(done);
	}
	return code == OK && !is_done ? fail(err, dumping->path, "it is damaged or cut off") : code;
}

static enum code load_and_restore(struct dumping *dumping, struct err *err)
{
	const struct json *root;
	enum code code = load_blocks(dumping, err);

	if (code != OK)
		return code;
	code = call(dumping, "POST", STR(LOADED), "/restore", STR(""), &root, err);
	if (code != OK)
		return code;
	return call(dumping, "DELETE", STR(LOADED), "", STR(""), &root, err);
}

enum code dump_load(struct remote *remote, const struct dump_options *options, const char *path,
		    struct err *err)
{
	struct dumping dumping = {.remote = remote,
				  .query = dump_query_of(err->arena, options),
				  .path = path,
				  .fd = open(path, O_RDONLY | O_CLOEXEC)};
	struct err ignored = err_in(err->arena);
	const struct json *root;

	if (dumping.fd < 0)
		return fail(err, path, strerror(errno));
	dumping.arena = arena_new(4 * 1024 * 1024);
	enum code code = call(&dumping, "DELETE", STR(LOADED), "", STR(""), &root,
			      &ignored); /* of a load that was not restored */
	code = load_and_restore(&dumping, err);
	arena_free(dumping.arena);
	close(dumping.fd);
	return code;
}

static enum code take_blocks(struct dumping *dumping, struct remask *remask, struct err *err)
{
	bool is_done = false;
	enum code code = check_head(dumping, err);

	while (code == OK) {
		struct err own = err_in(dumping->arena);
		struct str block;

		arena_reset(dumping->arena);
		code = read_dump_block(dumping, &block, err);
		if (code != OK || !str_is_set(block))
			break;
		code = remask_take(remask, block, &is_done, &own);
		if (code != OK)
			err_copy(err, code, own.message);
	}
	return code == OK && !is_done ? fail(err, dumping->path, "it is damaged or cut off") : code;
}

static enum code take_and_write(struct dumping *reading, struct dumping *writing,
				struct remask *remask, struct err *err)
{
	enum code code = take_blocks(reading, remask, err);

	if (code != OK)
		return code;
	return write_masked(writing, remask, err);
}

enum code dump_remask(struct remask *remask, const char *path, const char *part, int fd,
		      struct err *err)
{
	struct dumping reading = {.path = path, .fd = open(path, O_RDONLY | O_CLOEXEC)};
	struct dumping writing = {.path = part, .fd = fd};

	if (reading.fd < 0)
		return fail(err, path, strerror(errno));
	reading.arena = writing.arena = arena_new(4 * 1024 * 1024);
	enum code code = take_and_write(&reading, &writing, remask, err);
	arena_free(reading.arena);
	close(reading.fd);
	return code;
}
