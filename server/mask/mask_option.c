#include "server/mask/mask_option.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/platform/crypto.h"
#include "server/seed/document.h"

#define SECRET_BYTES 32

bool mask_option_take(struct mask_option *option, int argc, char **argv, int *i)
{
	const char *value = *i + 1 < argc ? argv[*i + 1] : NULL;

	if (!value)
		return false;
	if (strcmp(argv[*i], "--mask") == 0)
		option->file = value;
	else if (strcmp(argv[*i], "--unknown") == 0 && strcmp(value, "keep") == 0)
		option->keeps_unknown = true;
	else
		return false;
	++*i;
	return true;
}

bool mask_option_is_whole(const struct mask_option *option)
{
	return option->file || !option->keeps_unknown;
}

struct str mask_option_secret(struct arena *arena)
{
	const char *given = getenv(MASK_SECRET);
	char *bytes;

	if (given && *given)
		return str_of(given);
	bytes = arena_bytes(arena, SECRET_BYTES);
	crypto_random(bytes, SECRET_BYTES);
	return (struct str){bytes, SECRET_BYTES};
}

enum code mask_option_open(const struct mask_option *option, const struct faker *faker,
			   void (*seen)(void *context, struct str before, struct str after),
			   void *context, struct mask **out, struct err *err)
{
	struct source *source = source_new(err->arena);
	const struct mask_options options = {.faker = faker,
					     .is_lenient = option->keeps_unknown,
					     .source = source,
					     .seen = seen,
					     .context = context};
	const struct json *root;
	enum code code = document_load(err->arena, source, option->file, &root, err);

	if (code != OK)
		return code;
	return mask_new(root, &options, out, err);
}

void mask_option_warn_unused(const struct mask *mask)
{
	struct str path;
	size_t at = 0;

	while (mask_unused(mask, &at, &path))
		fprintf(stderr, "dynalith: warning: the rule for \"" STR_FMT "\" matched nothing\n",
			STR_ARG(path));
}
