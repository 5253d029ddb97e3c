/*
 * remask - the blocks of a dump through a mask: `dynalith dump` and `dynalith load` with --mask.
 *
 * The blocks become tables in memory, whose items go through the mask into other tables in memory,
 * and these become blocks again. No original is written to a file.
 */
#ifndef DYNALITH_SERVER_REMASK_H
#define DYNALITH_SERVER_REMASK_H

#include "core/err.h"
#include "server/mask/mask_option.h"

struct remask;

/* ERR_VALIDATION: the mask's file is wrong. */
enum code remask_new(const struct mask_option *option, struct remask **out,
		     struct err *err) WARN_UNUSED;
void remask_free(struct remask *remask); /* NULL is allowed */

/* The next block as it was. *is_done: it was the last. ERR_VALIDATION: it is none, or comes out of
 * its order. */
enum code remask_take(struct remask *remask, struct str block, bool *is_done,
		      struct err *err) WARN_UNUSED;

/* When the last block was taken. ERR_VALIDATION: the mask lacks rules or makes keys equal. */
enum code remask_run(struct remask *remask, struct err *err) WARN_UNUSED;

/* The next masked block, in the arena of `err`; absent behind the last. */
enum code remask_next(struct remask *remask, struct str *block, struct err *err) WARN_UNUSED;

/* When all was written to that file: proof_file() for it, and warnings of rules without effect. */
enum code remask_prove(struct remask *remask, const char *path, struct err *err) WARN_UNUSED;

#endif
