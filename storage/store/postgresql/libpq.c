#include "storage/store/postgresql/libpq.h"

#include <dlfcn.h>

#include "storage/store/store_messages.h"

#ifdef __APPLE__
#define LIBRARY "libpq.5.dylib"
#else
#define LIBRARY "libpq.so.5"
#endif

enum code libpq_load(struct libpq *pq, struct err *err)
{
	const struct {
		const char *name;
		void **to;
	} calls[] = {
#define CALL(name) {#name, (void **)&pq->name},
#include "storage/store/postgresql/libpq.def"
#undef CALL
	};

	pq->library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!pq->library)
		return err_set(err, MSG_STORE_NO_LIBPQ, LIBRARY);
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		*calls[i].to = dlsym(pq->library, calls[i].name);
		if (!*calls[i].to) {
			libpq_unload(pq);
			return err_set(err, MSG_STORE_OLD_LIBPQ, LIBRARY, calls[i].name);
		}
	}
	return OK;
}

void libpq_unload(struct libpq *pq)
{
	if (pq->library)
		dlclose(pq->library);
	pq->library = NULL;
}
