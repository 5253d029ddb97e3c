/*
 * repair_file - "dynalith check FILE --repair": a new file made of what can be read of a damaged one, and the rows that cannot be trusted beside it.
 */
#ifndef DYNALITH_SERVER_REPAIR_FILE_H
#define DYNALITH_SERVER_REPAIR_FILE_H

#include "core/arena.h"

enum repair_outcome {
	REPAIR_WHOLE,   /* nothing was lost */
	REPAIR_PARTLY,  /* something was lost or set aside: it was told */
	REPAIR_FAILED,  /* the file is as it was; why went to stderr */
};

/*
 * Repairs the file, which no server may have open, and prints what it does. Rows that are set aside go to `damaged` (NULL: the file's name with ".damaged"),
 * a JSON object a line.
 */
enum repair_outcome repair_file_run(struct arena *arena, const char *path, const char *damaged);

#endif
