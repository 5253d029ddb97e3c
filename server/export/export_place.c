#include "server/export/export_place.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "server/messages.h"
#include "server/seed/document.h"
#include "server/transfer/s3.h"

#define SCHEME "s3://"
#define PIECE ((size_t)8 << 20) /* bytes of an object that are asked for at a time */

struct export_place {
	const char *where;
	struct s3 *s3; /* NULL: a folder */
	struct s3_bucket bucket;
	struct str prefix;
	struct arena *arena;
	char *bytes; /* of the last file; mapped where it is one of a folder */
	size_t size;
};

bool export_place_is_s3(const char *where)
{
	return strncmp(where, SCHEME, strlen(SCHEME)) == 0;
}

static struct s3 *place_s3(struct arena *arena, const struct export_place_s3 *s3)
{
	bool is_signed = str_is_set(s3->access_key);
	const struct s3_options options = {
		.where = s3->where,
		.credentials = is_signed ? str_printf(arena, STR_FMT ":" STR_FMT,
						      STR_ARG(s3->access_key), STR_ARG(s3->secret))
						   .p
					 : "none",
		.token = str_is_set(s3->token) ? str_copy(arena, s3->token).p : NULL,
		.region = s3->region,
		.authorities = s3->authorities};

	return s3_new(&options);
}

static struct str without_slashes(struct str text)
{
	while (text.n > 0 && text.p[text.n - 1] == '/')
		text.n--;
	return text;
}

enum code export_place_open(const char *where, const struct export_place_s3 *s3,
			    struct export_place **out, struct err *err)
{
	struct str rest = str_of(where);
	struct export_place *place;

	if (!export_place_is_s3(where)) {
		place = arena_checked(calloc(1, sizeof(*place)));
		place->arena = arena_new(0);
		place->where = str_copy(place->arena, without_slashes(rest)).p;
		return RESULT(OK, out, place);
	}
	rest = without_slashes((struct str){rest.p + strlen(SCHEME), rest.n - strlen(SCHEME)});
	struct str bucket = str_cut(&rest, '/');
	if (bucket.n == 0 || rest.n == 0)
		return err_set(err, MSG_PULL_PLACE, where);
	place = arena_checked(calloc(1, sizeof(*place)));
	place->arena = arena_new(0);
	place->where = where;
	place->s3 = place_s3(place->arena, s3);
	place->bucket = (struct s3_bucket){bucket, STR_ABSENT};
	place->prefix = rest;
	return RESULT(OK, out, place);
}

static void forget_bytes(struct export_place *place)
{
	if (place->s3)
		free(place->bytes);
	else if (place->size > 0)
		munmap(place->bytes, place->size);
	place->bytes = NULL;
	place->size = 0;
}

void export_place_close(struct export_place *place)
{
	if (!place)
		return;
	forget_bytes(place);
	s3_free(place->s3);
	arena_free(place->arena);
	free(place);
}

/* The name below the folder, or beside it. */
static struct str place_path(struct arena *arena, struct str folder, struct str name)
{
	while (str_starts_with(name, STR("../"))) {
		name = (struct str){name.p + 3, name.n - 3};
		while (folder.n > 0 && folder.p[folder.n - 1] != '/')
			folder.n--;
		folder = without_slashes(folder);
	}
	return folder.n == 0
		       ? name
		       : str_printf(arena, STR_FMT "/" STR_FMT, STR_ARG(folder), STR_ARG(name));
}

struct str export_place_shown(const struct export_place *place, struct arena *arena,
			      struct str name)
{
	if (!place->s3)
		return str_printf(arena, "%s/" STR_FMT, place->where, STR_ARG(name));
	return str_printf(arena, SCHEME STR_FMT "/" STR_FMT, STR_ARG(place->bucket.name),
			  STR_ARG(place_path(arena, place->prefix, name)));
}

static enum code place_failed(const struct export_place *place, struct str name, struct str why,
			      struct err *err)
{
	return err_set(err, MSG_PULL_EXPORT, STR_ARG(export_place_shown(place, err->arena, name)),
		       STR_ARG(why));
}

/* The object of that key, as a list says it is. */
static bool find_object(struct export_place *place, struct arena *arena, struct str key,
			struct s3_object *object, struct s3_problem *problem)
{
	struct s3_objects objects;

	if (!s3_list(place->s3, arena, place->bucket, key, &objects, problem))
		return false;
	for (size_t i = 0; i < objects.n; i++) {
		*object = objects.v[i];
		if (str_eq(object->key, key))
			return true;
	}
	*problem = (struct s3_problem){.code = STR("NoSuchKey"), .message = STR("it is missing")};
	return false;
}

static bool read_object(struct export_place *place, struct arena *arena,
			const struct s3_object *object, struct s3_problem *problem)
{
	struct arena *piece = arena_new(2 * PIECE);
	bool is_read = true;

	while (is_read && place->size < object->size) {
		size_t left = object->size - place->size, n = left < PIECE ? left : PIECE;
		struct str bytes;

		arena_reset(piece);
		is_read = s3_read(place->s3, piece, place->bucket, object, place->size, n, &bytes,
				  problem);
		if (!is_read)
			break;
		memcpy(place->bytes + place->size, bytes.p, n);
		place->size += n;
	}
	if (!is_read) {
		problem->code = str_copy(arena, problem->code);
		problem->message = str_copy(arena, problem->message);
	}
	arena_free(piece);
	return is_read;
}

static enum code read_from_s3(struct export_place *place, struct str name, struct err *err)
{
	struct s3_object object;
	struct s3_problem problem;

	if (!find_object(place, err->arena, place_path(err->arena, place->prefix, name), &object,
			 &problem))
		return place_failed(place, name,
				    str_printf(err->arena, STR_FMT ": " STR_FMT,
					       STR_ARG(problem.code), STR_ARG(problem.message)),
				    err);
	if (object.size > EXPORT_PLACE_FILE_MAX)
		return place_failed(place, name,
				    STR("it has more than 2 GB: copy the export to a folder"), err);
	place->bytes = arena_checked(malloc(object.size + 1));
	if (read_object(place, err->arena, &object, &problem))
		return OK;
	return place_failed(place, name,
			    str_printf(err->arena, STR_FMT ": " STR_FMT, STR_ARG(problem.code),
				       STR_ARG(problem.message)),
			    err);
}

static enum code read_from_folder(struct export_place *place, struct str name, struct err *err)
{
	struct err own = err_in(err->arena);
	const char *path = str_printf(err->arena, "%s/" STR_FMT, place->where, STR_ARG(name)).p;
	void *bytes;
	size_t size;

	if (document_map(path, &bytes, &size, &own) != OK)
		return place_failed(place, name, STR("it is missing, or cannot be read"), err);
	place->bytes = bytes;
	place->size = size;
	return OK;
}

enum code export_place_read(struct export_place *place, struct str name, struct str *bytes,
			    struct err *err)
{
	forget_bytes(place);
	enum code code =
		place->s3 ? read_from_s3(place, name, err) : read_from_folder(place, name, err);

	return RESULT(code, bytes, ((struct str){place->bytes ? place->bytes : "", place->size}));
}
