#include "server/tools/part_file.h"

#include <stdlib.h>

#include "core/arena.h"
#include "storage/store/copy_target.h"

enum code part_file_begin(struct part_file *part, const char *target, struct err *err)
{
	enum code code = copy_target_begin(err->arena, target, &part->path, err);

	if (code != OK)
		return code;
	interrupt_undo_file(&part->undo, part->path);
	return OK;
}

enum code part_file_begin_temporary(struct part_file *part, const char *name, struct err *err)
{
	const char *folder = getenv("TMPDIR");
	struct str path =
		str_printf(err->arena, "%s/%s", folder && *folder ? folder : "/tmp", name);

	return part_file_begin(part, path.p, err);
}

void part_file_end(struct part_file *part, struct arena *arena)
{
	copy_target_discard(arena, part->path);
	interrupt_forget(&part->undo);
}
