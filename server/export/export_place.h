/*
 * export_place - where an export lies: a folder that is a copy of AWSDynamoDB/ID, or
 * s3://BUCKET/PREFIX/AWSDynamoDB/ID.
 */
#ifndef DYNALITH_SERVER_EXPORT_PLACE_H
#define DYNALITH_SERVER_EXPORT_PLACE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/err.h"

#define EXPORT_PLACE_FILE_MAX ((size_t)2 << 30) /* bytes of a file in S3: it is held in memory */

struct export_place;

/* How S3 is reached. Outlives the place, as its strings do. */
struct export_place_s3 {
	const char *where;       /* as --s3 of the server: a URL, or a folder of buckets */
	const char *region;      /* of the signatures */
	const char *authorities; /* as s3.h has them */
	struct str access_key, secret, token; /* absent: requests are not signed */
};

bool export_place_is_s3(const char *where);

/* `where` outlives it. ERR_VALIDATION: it is no s3://BUCKET/PREFIX. */
enum code export_place_open(const char *where, const struct export_place_s3 *s3,
			    struct export_place **out, struct err *err) WARN_UNUSED;
void export_place_close(struct export_place *place); /* NULL is allowed */

/*
 * The bytes of a file, by its name from the export's folder on; "../data/x" lies beside it. They
 * stay until the next call, or the end. ERR_INTERNAL: it is not there, or cannot be read.
 */
enum code export_place_read(struct export_place *place, struct str name, struct str *bytes,
			    struct err *err) WARN_UNUSED;

/* What errors call a file. */
struct str export_place_shown(const struct export_place *place, struct arena *arena,
			      struct str name);

#endif
