/*
 * repair_file - "dynalith check FILE --repair": makes a new file of the readable rows of a damaged
 * one, and sets untrusted rows aside.
 */
#ifndef DYNALITH_SERVER_REPAIR_FILE_H
#define DYNALITH_SERVER_REPAIR_FILE_H

#include "core/arena.h"

enum repair_outcome {
	REPAIR_WHOLE,   /* nothing was lost */
	REPAIR_PARTLY,  /* something was lost or set aside, and reported */
	REPAIR_FAILED,  /* the file is as it was; the reason is on stderr */
};

/*
 * Repairs the file, which no server may have open, and prints what it does. Rows that are set aside
 * go to `damaged` (NULL: the file's name with ".damaged"), a JSON object a line.
 */
enum repair_outcome repair_file_run(struct arena *arena, const char *path, const char *damaged);

#endif
