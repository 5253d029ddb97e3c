/*
 * judge - parts of a template that make no table here, but may have one, change one or fill one:
 * each is refused or gets a warning, by file, line and path.
 */
#ifndef DYNALITH_SERVER_IMPORTERS_JUDGE_H
#define DYNALITH_SERVER_IMPORTERS_JUDGE_H

#include "server/importers/intrinsics.h"
#include "server/seed/seed.h"

/* Macros of "Transform": they may change any part of a template. */
void judge_macros(struct seed *seed, struct intrinsics *in, const struct json *template);
/* Its sections: those that are not known and have tables, and those that are no maps. */
void judge_sections(struct seed *seed, struct intrinsics *in, const struct json *template);
/* The same of serverless.yml itself, with its plugins' constructs and its stack's tags. */
void judge_serverless(struct seed *seed, struct intrinsics *in, const struct json *root);
/* SAM: the sections of Globals. */
void judge_globals(struct seed *seed, struct intrinsics *in, const struct json *globals);
/* --parameter: values that are not allowed, and names that nothing uses. */
void judge_parameters(struct seed *seed, struct intrinsics *in);
/* A resource that is neither a table nor a stack. */
void judge_resource(struct seed *seed, struct intrinsics *in, const struct json *resource,
		    struct str type, struct str path);
/* Whether a value of a template is about tables: it refers to one, or has the service's name. */
bool judge_is_about_tables(struct intrinsics *in, const struct json *value);
/* A scalable target or a scaling policy of a table: what of it is not carried out. */
void judge_scaled(struct seed *seed, struct intrinsics *in, const struct json *resource,
		  struct str path);
/* Properties of a nested stack; `inner`: its template. */
void judge_stack(struct seed *seed, struct intrinsics *in, const struct json *properties,
		 struct intrinsics *inner, struct str path);

#endif
