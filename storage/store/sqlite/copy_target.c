#include "storage/store/sqlite/copy_target.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "storage/store/sqlite/verify.h"
#include "storage/store/store_messages.h"

static enum code problem(const char *path, struct err *err)
{
	return err_set(err, MSG_STORE_OPEN, path, strerror(errno));
}

enum code copy_target_begin(struct arena *arena, const char *target, const char **part, struct err *err)
{
	enum code code = verify_no_log(target, err);

	if (code != OK)
		return code;
	errno = EEXIST;
	if (access(target, F_OK) == 0)
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

enum code copy_target_publish(struct arena *arena, const char *part, const char *target, struct err *err)
{
	if (link(part, target) != 0)
		return problem(target, err);
	copy_target_discard(arena, part);
	return verify_sync_folder(arena, target) ? OK : problem(target, err);
}

void copy_target_discard(struct arena *arena, const char *part)
{
	static const char *const suffixes[] = {"", "-wal", "-shm", "-journal", "-mark"};

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		unlink(str_printf(arena, "%s%s", part, suffixes[i]).p);
}
