/*
 * copy_masked - `dynalith copy --mask FILE`: the tables of all namespaces of a store in a new data
 * file, through a mask.
 *
 * The file has its name when all is there and no original of a masked value stands in it.
 */
#ifndef DYNALITH_SERVER_COPY_MASKED_H
#define DYNALITH_SERVER_COPY_MASKED_H

#include "server/mask/mask_option.h"
#include "storage/store/store.h"

/* ERR_VALIDATION: the mask is wrong, lacks rules or makes keys equal. ERR_INTERNAL: the file is
 * there already, or cannot be written. A line per namespace goes to standard output. */
enum code copy_masked_run(const struct mask_option *option, struct store *from, const char *file,
			  struct err *err) WARN_UNUSED;

#endif
