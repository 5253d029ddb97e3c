#include "storage/store/copy_target.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "storage/store/durable.h"
#include "storage/store/store_messages.h"

static enum code problem(const char *path, struct err *err)
{
	return err_set(err, MSG_STORE_OPEN, path, strerror(errno));
}

static const char *folder_of(struct arena *arena, const char *target)
{
	return dirname((char *)(uintptr_t)str_copy(arena, str_of(target)).p);
}

enum code copy_target_no_log(const char *target, struct err *err)
{
	static const char *const suffixes[] = {"-wal", "-journal"};

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		const char *name = str_printf(err->arena, "%s%s", target, suffixes[i]).p;

		if (access(name, F_OK) == 0)
			return err_set(err, MSG_STORE_LOG_LEFT, target, name);
	}
	return OK;
}

bool copy_target_sync_folder(struct arena *arena, const char *target)
{
	int fd = open(folder_of(arena, target), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool is_safe = fd >= 0 && durable_sync(fd) == 0;

	if (fd >= 0)
		close(fd);
	return is_safe;
}

enum code copy_target_begin(struct arena *arena, const char *target, const char **part,
			    struct err *err)
{
	enum code code = copy_target_no_log(target, err);

	if (code != OK)
		return code;
	errno = EEXIST;
	if (access(target, F_OK) == 0)
		return problem(target, err);
	if (access(folder_of(arena, target), W_OK | X_OK) != 0)
		return problem(target, err);
	/* by its process, so that two backups to one name do not write over each other */
	*part = str_printf(arena, "%s.part-%ld", target, (long)getpid()).p;
	copy_target_discard(arena, *part);
	return OK;
}

enum code copy_target_open(const char *part, int *fd, struct err *err)
{
	*fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	return *fd < 0 ? problem(part, err) : OK;
}

enum code copy_target_publish(struct arena *arena, const char *part, const char *target,
			      struct err *err)
{
	if (link(part, target) != 0)
		return problem(target, err);
	copy_target_discard(arena, part);
	return copy_target_sync_folder(arena, target) ? OK : problem(target, err);
}

enum code copy_target_replace(struct arena *arena, const char *part, const char *target,
			      struct err *err)
{
	enum code code = copy_target_no_log(target, err);

	if (code != OK)
		return code;
	if (rename(part, target) != 0)
		return problem(target, err);
	return copy_target_sync_folder(arena, target) ? OK : problem(target, err);
}

void copy_target_discard(struct arena *arena, const char *part)
{
	static const char *const suffixes[] = {"", "-wal", "-shm", "-journal", "-mark"};

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		unlink(str_printf(arena, "%s%s", part, suffixes[i]).p);
}
