/* Files of templates and items are for hosts with files and YAML. */
#include "server/seed/apply.h"
#include "server/wasi/messages.h"

enum code apply_init(struct service *service, const char *path, struct err *err)
{
	(void)service;
	return err_set(err, MSG_WASI_FILES, path);
}

enum code apply_to(struct seed_target target, const char *path, struct err *err)
{
	(void)target;
	return err_set(err, MSG_WASI_FILES, path);
}
