/*
 * copy_masked - `dynalith copy --mask FILE`: the tables of all namespaces of a store, or of a
 * server that runs, in a new data file, through a mask.
 *
 * The file has its name when all is there and no original of a masked value stands in it.
 */
#ifndef DYNALITH_SERVER_COPY_MASKED_H
#define DYNALITH_SERVER_COPY_MASKED_H

#include "server/command/reach.h"
#include "server/mask/mask_option.h"
#include "storage/store/store.h"

struct copy_masked_source {
	struct store *store; /* NULL: a server */
	const char *url;     /* each namespace as of a moment; all are held in memory meanwhile */
	const struct reach *reach;
};

/* ERR_VALIDATION: the mask is wrong, lacks rules or makes keys equal. ERR_INTERNAL: the file is
 * there already, or cannot be written. A line per namespace goes to standard output. */
enum code copy_masked_run(const struct mask_option *option, const struct copy_masked_source *from,
			  const char *file, struct err *err) WARN_UNUSED;

#endif
