/* Files of templates and items are for hosts with files and YAML. */
#include "server/messages.h"
#include "server/seed/apply.h"

#define MSG_NO_FILES ERR_INTERNAL, "dynalith.wasm reads no files of tables and items: %s"

enum code apply_init(struct service *service, const char *path, struct err *err)
{
	(void)service;
	return err_set(err, MSG_NO_FILES, path);
}

enum code apply_to(struct seed_target target, const char *path, struct err *err)
{
	(void)target;
	return err_set(err, MSG_NO_FILES, path);
}
