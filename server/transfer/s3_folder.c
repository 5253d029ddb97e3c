#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/buf.h"
#include "server/transfer/messages.h"
#include "server/transfer/s3_internal.h"

#define DEPTH_MAX 32
#define UNDONE ".dynalith-" /* what files begin with that are not written yet */

/* No file above the bucket, and one file for each key: no empty segments, no "." and "..". */
static bool is_path(struct str key)
{
	if (key.n == 0 || str_has_zero(key))
		return false;
	for (struct str rest = key; str_is_set(rest);) {
		bool is_last = rest.n == 0 || !memchr(rest.p, '/', rest.n);
		struct str segment = str_cut(&rest, '/');

		if (segment.n == 0 || str_eq(segment, STR(".")) || str_eq(segment, STR("..")) ||
		    str_starts_with(segment, STR(UNDONE)))
			return false;
		if (is_last)
			break;
	}
	return true;
}

/*
 * A name in an open folder, without following a link, which may lead out of it; errno ELOOP: it is
 * one. All that is opened below the place is opened by this.
 */
static int open_in(int folder, const char *name, int flags)
{
	int fd = openat(folder, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666),
	    reason = errno;
	struct stat about;

	if (fd < 0 && fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISLNK(about.st_mode))
		reason = ELOOP;
	errno = reason;
	return fd;
}

static bool fail_folder(struct arena *arena, struct str name, struct s3_problem *problem)
{
	if (errno == ELOOP)
		return s3_place_link(arena, name, problem);
	if (errno == EACCES || errno == EPERM || errno == EROFS)
		return s3_place_denied(problem);
	return s3_place_failed(problem,
			       str_printf(arena, MSG_S3_FILE, STR_ARG(name), strerror(errno)));
}

/* The bucket's folder; -1 and *problem where there is none. */
static int open_bucket(struct s3 *s3, struct arena *arena, struct s3_bucket bucket,
		       struct s3_problem *problem)
{
	if (!is_path(bucket.name) || memchr(bucket.name.p, '/', bucket.name.n)) {
		s3_place_no_bucket(problem);
		return -1;
	}
	int place = open(s3->options.where,
			 O_RDONLY | O_DIRECTORY |
				 O_CLOEXEC); /* the operator's own word: it may be a link */
	int fd = place >= 0 ? open_in(place, str_copy(arena, bucket.name).p, O_RDONLY | O_DIRECTORY)
			    : -1,
	    reason = errno;
	if (place >= 0)
		close(place);
	errno = reason;
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		s3_place_no_bucket(problem);
	else if (fd < 0)
		fail_folder(
			arena,
			str_printf(arena, "%s/" STR_FMT, s3->options.where, STR_ARG(bucket.name)),
			problem);
	return fd;
}

/* Whether keys in the folder can begin with the prefix. */
static bool is_towards(struct str folder, struct str prefix)
{
	return folder.n <= prefix.n ? str_starts_with(prefix, folder)
				    : str_starts_with(folder, prefix);
}

static bool list_folder(struct arena *arena, int fd, struct str folder, struct str prefix,
			int depth, struct s3_objects *objects, struct s3_problem *problem)
{
	DIR *dir = fdopendir(fd);
	struct dirent *entry;
	bool is_fine = true;

	if (!dir) {
		close(fd);
		return true;
	}
	while (is_fine && (entry = readdir(dir))) {
		struct str name = str_of(entry->d_name),
			   key = str_printf(arena, STR_FMT STR_FMT, STR_ARG(folder), STR_ARG(name));
		struct stat about;

		if (str_eq(name, STR(".")) || str_eq(name, STR("..")) ||
		    str_starts_with(name, STR(UNDONE)))
			continue;
		if (fstatat(dirfd(dir), entry->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		if (S_ISREG(about.st_mode) && str_starts_with(key, prefix))
			is_fine = s3_add_object(
				arena, objects,
				&(struct s3_object){.key = key, .size = (uint64_t)about.st_size},
				problem);
		struct str inner = str_printf(arena, STR_FMT "/", STR_ARG(key));
		if (S_ISLNK(about.st_mode) &&
		    (str_starts_with(key, prefix) || is_towards(inner, prefix)))
			is_fine = s3_place_link(
				arena, key,
				problem); /* passed over, it would be missing in silence */
		if (!S_ISDIR(about.st_mode) || depth == DEPTH_MAX || !is_towards(inner, prefix))
			continue;
		int below = open_in(dirfd(dir), entry->d_name, O_RDONLY | O_DIRECTORY);
		if (below >= 0)
			is_fine = list_folder(arena, below, inner, prefix, depth + 1, objects,
					      problem);
	}
	closedir(dir);
	return is_fine;
}

static bool folder_list(struct s3 *s3, struct arena *arena, struct s3_bucket bucket,
			struct str prefix, struct s3_objects *objects, struct s3_problem *problem)
{
	int fd = open_bucket(s3, arena, bucket, problem);

	if (fd < 0)
		return false;
	if (!list_folder(arena, fd, STR(""), prefix, 0, objects, problem))
		return false;
	if (objects->n > 0)
		qsort(objects->v, objects->n, sizeof(*objects->v),
		      str_order); /* a key is the first member */
	return true;
}

static bool read_file_piece(int fd, char *to, size_t n, uint64_t offset, size_t *got)
{
	for (*got = 0; *got < n;) {
		ssize_t step = pread(fd, to + *got, n - *got, (off_t)(offset + *got));

		if (step < 0 && errno == EINTR)
			continue;
		if (step <= 0)
			return step == 0;
		*got += (size_t)step;
	}
	return true;
}

/* The folder of the key below the bucket's, made where it is missing and `is_made`; -1 and errno.
 * *name is the last segment. Takes over `fd`. */
static int open_folder(struct arena *arena, int fd, struct str key, bool is_made, struct str *name)
{
	struct str rest = key;

	while (fd >= 0 && memchr(rest.p, '/', rest.n)) {
		struct str segment = str_copy(arena, str_cut(&rest, '/'));
		bool is_there = !is_made || mkdirat(fd, segment.p, 0777) == 0 || errno == EEXIST;
		int below = is_there ? open_in(fd, segment.p, O_RDONLY | O_DIRECTORY) : -1,
		    reason = errno;

		close(fd);
		errno = reason;
		fd = below;
	}
	*name = str_copy(arena, rest);
	return fd;
}

/* The file of the key, and nothing else that has its name; -1 and *problem. */
static int open_folder_object(struct s3 *s3, struct arena *arena, struct s3_bucket bucket,
			      struct str key, struct stat *about, struct s3_problem *problem)
{
	struct str name;
	int folder = open_bucket(s3, arena, bucket, problem);

	if (folder < 0)
		return -1;
	if (!is_path(key)) {
		close(folder);
		s3_place_no_key(problem);
		return -1;
	}
	folder = open_folder(arena, folder, key, false, &name);
	int fd = folder >= 0 ? open_in(folder, name.p, O_RDONLY) : -1, reason = errno;
	if (folder >= 0)
		close(folder);
	if (fd >= 0 && fstat(fd, about) == 0 && S_ISREG(about->st_mode))
		return fd;
	if (fd >= 0)
		close(fd);
	errno = reason;
	if (fd < 0 && (errno == EACCES || errno == ELOOP))
		fail_folder(arena, key, problem);
	else
		s3_place_no_key(problem);
	return -1;
}

static bool folder_read(struct s3 *s3, struct arena *arena, struct s3_bucket bucket,
			const struct s3_object *object, uint64_t offset, size_t n,
			struct str *bytes, struct s3_problem *problem)
{
	struct str key = object->key;
	struct stat about;
	int fd = open_folder_object(s3, arena, bucket, key, &about, problem);

	if (fd < 0)
		return false;
	char *to = arena_bytes(arena, n + 1);
	size_t got;
	bool is_read = read_file_piece(fd, to, n, offset, &got);
	if (!is_read)
		fail_folder(arena, key, problem);
	else if (got < n || fstat(fd, &about) != 0 || (uint64_t)about.st_size != object->size)
		is_read = s3_place_changed(arena, key, problem);
	close(fd);
	*bytes = (struct str){to, got};
	return is_read;
}

static bool write_file_bytes(int fd, struct str bytes)
{
	while (bytes.n > 0) {
		ssize_t n = write(fd, bytes.p, bytes.n);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		bytes = (struct str){bytes.p + n, bytes.n - (size_t)n};
	}
	return true;
}

static bool write_in(struct arena *arena, int folder, struct str name, struct str bytes)
{
	struct str undone = str_printf(arena, UNDONE STR_FMT, STR_ARG(name));
	unlinkat(folder, undone.p, 0); /* what a server left that ended, or somebody else's link: it
					  is not written to */
	int fd = open_in(folder, undone.p, O_WRONLY | O_CREAT | O_EXCL);

	if (fd < 0)
		return false;
	bool is_written = write_file_bytes(fd, bytes);
	is_written = close(fd) == 0 && is_written;
	if (is_written && renameat(folder, undone.p, folder, name.p) == 0)
		return true;
	int reason = errno;
	unlinkat(folder, undone.p, 0);
	errno = reason;
	return false;
}

static bool folder_write(struct s3 *s3, struct arena *arena, struct s3_bucket bucket,
			 struct str key, struct str bytes, const struct s3_sse *sse,
			 struct s3_problem *problem)
{
	struct str name;
	int fd = open_bucket(s3, arena, bucket, problem);

	(void)sse;
	if (fd < 0)
		return false;
	if (!is_path(key)) {
		close(fd);
		return s3_place_denied(problem);
	}
	fd = open_folder(arena, fd, key, true, &name);
	bool is_written = fd >= 0 && write_in(arena, fd, name, bytes);
	if (!is_written)
		fail_folder(arena, key, problem);
	if (fd >= 0)
		close(fd);
	return is_written;
}

const struct s3_place s3_folder = {folder_list, folder_read, folder_write};
