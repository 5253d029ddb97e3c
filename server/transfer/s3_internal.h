/*
 * s3_internal - the two kinds of place behind s3.h; not for others.
 */
#ifndef DYNALITH_SERVER_S3_INTERNAL_H
#define DYNALITH_SERVER_S3_INTERNAL_H

#include "server/transfer/s3.h"

struct s3 {
	struct s3_options options;
	const struct s3_place *place; /* NULL: none */
	struct sigv4 *sigv4;          /* of an endpoint */
};

struct s3_place {
	bool (*list)(struct s3 *s3, struct arena *arena, struct s3_bucket bucket, struct str prefix,
		     struct s3_objects *objects, struct s3_problem *problem);
	bool (*read)(struct s3 *s3, struct arena *arena, struct s3_bucket bucket,
		     const struct s3_object *object, uint64_t offset, size_t n, struct str *bytes,
		     struct s3_problem *problem);
	bool (*write)(struct s3 *s3, struct arena *arena, struct s3_bucket bucket, struct str key,
		      struct str bytes, const struct s3_sse *sse, struct s3_problem *problem);
};

extern const struct s3_place s3_folder, s3_endpoint;

/* S3's own codes and texts, where the place has none. */
bool s3_place_no_bucket(struct s3_problem *problem);
bool s3_place_no_key(struct s3_problem *problem);
bool s3_place_denied(struct s3_problem *problem);
bool s3_place_link(struct arena *arena, struct str name, struct s3_problem *problem);
bool s3_place_failed(struct s3_problem *problem, struct str message);
bool s3_place_changed(struct arena *arena, struct str key, struct s3_problem *problem);

/* False where there are too many. */
bool s3_add_object(struct arena *arena, struct s3_objects *objects, const struct s3_object *object,
		   struct s3_problem *problem);

#endif
