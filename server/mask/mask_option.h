/*
 * mask_option - `--mask FILE` and `--unknown keep`, the same for every command that masks items.
 */
#ifndef DYNALITH_SERVER_MASK_OPTION_H
#define DYNALITH_SERVER_MASK_OPTION_H

#include "server/mask/mask.h"

/* The environment variable that all fakes follow from. */
#define MASK_SECRET "DYNALITH_MASK_SECRET"

struct mask_option {
	const char *file; /* NULL: nothing is masked */
	bool keeps_unknown;
};

/* Takes argv[*i] and its value, and leaves *i at the latter. False where it is none of these
 * options, or has no value of its kind. */
bool mask_option_take(struct mask_option *option, int argc, char **argv, int *i);

/* Whether the options go together: --unknown needs --mask. */
bool mask_option_is_whole(const struct mask_option *option);

/* The secret of the environment; else random bytes, so that nobody knows it. In the arena. */
struct str mask_option_secret(struct arena *arena);

/*
 * The mask of the file. `seen` and `context`: as in struct mask_options; `seen` may be NULL.
 * ERR_VALIDATION names the file, the line and the rule.
 */
enum code mask_option_open(const struct mask_option *option, const struct faker *faker,
			   void (*seen)(void *context, struct str before, struct str after),
			   void *context, struct mask **out, struct err *err) WARN_UNUSED;

/* Says on standard error which rules matched nothing. */
void mask_option_warn_unused(const struct mask *mask);

#endif
