#include "server/transfer/s3.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server/sigv4.h"
#include "server/transfer/messages.h"
#include "server/transfer/s3_internal.h"
#include "storage/catalog/catalog.h"
#include "storage/uuid.h"

#define TRIES 4      /* of what may pass, such as an endpoint that cannot be reached */
#define PAUSE_MS 100u /* behind the first; then four times as long */

static bool is_none(const char *where)
{
	return strcmp(where, "none") == 0;
}

static bool is_url(const char *where)
{
	return strncmp(where, "http://", 7) == 0 || strncmp(where, "https://", 8) == 0;
}

struct s3 *s3_new(const struct s3_options *options)
{
	struct s3 *s3 = arena_checked(calloc(1, sizeof(*s3)));

	s3->options = *options;
	if (!is_none(options->where))
		s3->place = is_url(options->where) ? &s3_endpoint : &s3_folder;
	if (s3->place == &s3_endpoint)
		s3->sigv4 = sigv4_new(AUTH_VERIFY, NULL, 0);
	return s3;
}

void s3_free(struct s3 *s3)
{
	if (s3 && s3->sigv4)
		sigv4_free(s3->sigv4);
	free(s3);
}

bool s3_has_place(const struct s3 *s3)
{
	return s3->place != NULL;
}

bool s3_place_no_bucket(struct s3_problem *problem)
{
	*problem = (struct s3_problem){STR("NoSuchBucket"), STR(MSG_S3_NO_BUCKET), 404, false};
	return false;
}

bool s3_place_no_key(struct s3_problem *problem)
{
	*problem = (struct s3_problem){STR("NoSuchKey"), STR(MSG_S3_NO_KEY), 404, false};
	return false;
}

bool s3_place_denied(struct s3_problem *problem)
{
	*problem = (struct s3_problem){STR("AccessDenied"), STR(MSG_S3_DENIED), 403, false};
	return false;
}

bool s3_place_link(struct arena *arena, struct str name, struct s3_problem *problem)
{
	*problem = (struct s3_problem){STR("AccessDenied"),
				       str_printf(arena, MSG_S3_LINK, STR_ARG(name)), 403, false};
	return false;
}

bool s3_place_failed(struct s3_problem *problem, struct str message)
{
	*problem = (struct s3_problem){STR("InternalError"), message, 500, true};
	return false;
}

bool s3_place_changed(struct arena *arena, struct str key, struct s3_problem *problem)
{
	*problem = (struct s3_problem){STR("PreconditionFailed"),
				       str_printf(arena, MSG_S3_FILE_CHANGED, STR_ARG(key)), 412,
				       false};
	return false;
}

bool s3_add_object(struct arena *arena, struct s3_objects *objects, const struct s3_object *object,
		   struct s3_problem *problem)
{
	if (objects->n == S3_OBJECTS_MAX) {
		s3_place_failed(problem, str_printf(arena, MSG_S3_TOO_MANY, S3_OBJECTS_MAX));
		return problem->is_passing = false;
	}
	objects->v = arena_room(arena, objects->v, objects->n, sizeof(*objects->v));
	objects->v[objects->n++] = *object;
	return true;
}

/* Whether to try again, after a pause that grows: the problem may be over then. */
static bool tries_again(const struct s3 *s3, const struct s3_problem *problem, unsigned *tries)
{
	if (!problem->is_passing || ++*tries == TRIES ||
	    (s3->options.stopping && atomic_load(s3->options.stopping)))
		return false;
	unsigned ms = PAUSE_MS << (2 * (*tries - 1));
	nanosleep(&(struct timespec){ms / 1000, (long)(ms % 1000) * 1000000}, NULL);
	return true;
}

struct s3_bucket s3_bucket_copy(struct arena *arena, struct s3_bucket bucket)
{
	return (struct s3_bucket){str_copy(arena, bucket.name), str_copy(arena, bucket.owner)};
}

bool s3_list(struct s3 *s3, struct arena *arena, struct s3_bucket bucket, struct str prefix,
	     struct s3_objects *objects, struct s3_problem *problem)
{
	unsigned tries = 0;

	if (!s3->place)
		return s3_place_no_bucket(problem);
	do {
		*objects = (struct s3_objects){0};
		if (s3->place->list(s3, arena, bucket, prefix, objects, problem))
			return true;
	} while (tries_again(s3, problem, &tries));
	return false;
}

bool s3_read(struct s3 *s3, struct arena *arena, struct s3_bucket bucket,
	     const struct s3_object *object, uint64_t offset, size_t n, struct str *bytes,
	     struct s3_problem *problem)
{
	unsigned tries = 0;

	if (!s3->place)
		return s3_place_no_bucket(problem);
	do {
		if (s3->place->read(s3, arena, bucket, object, offset, n, bytes, problem))
			return true;
	} while (tries_again(s3, problem, &tries));
	return false;
}

bool s3_write(struct s3 *s3, struct arena *arena, struct s3_bucket bucket, struct str key,
	      struct str bytes, const struct s3_sse *sse, struct s3_problem *problem)
{
	unsigned tries = 0;

	if (!s3->place)
		return s3_place_no_bucket(problem);
	do {
		if (s3->place->write(s3, arena, bucket, key, bytes, sse, problem))
			return true;
	} while (tries_again(s3, problem, &tries));
	return false;
}

/* AWS: as recorded, with the request's ids; ours are random. */
struct str s3_failure_message(struct arena *arena, const struct s3_problem *problem)
{
	struct str id = uuid_new(arena), extended = uuid_new(arena);

	return str_printf(arena, MSG_S3_FAILURE, STR_ARG(problem->message), problem->status,
			  STR_ARG(problem->code), STR_ARG(id), STR_ARG(extended));
}
