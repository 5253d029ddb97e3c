/*
 * export_manifest - what an export says of itself: manifest-summary.json and manifest-files.json,
 * whose checksums are verified.
 *
 * AWS: Developer Guide, "DynamoDB table export output format". A full export is the table at a
 * moment. An incremental one has the items that changed from a moment on and before another one,
 * each once; its data files lie beside its folder, with those of others.
 */
#ifndef DYNALITH_SERVER_EXPORT_MANIFEST_H
#define DYNALITH_SERVER_EXPORT_MANIFEST_H

#include <stdint.h>

#include "core/md5.h"
#include "server/export/export_place.h"

struct export_manifest_file {
	struct str name; /* for export_place_read() */
	uint64_t items;
	unsigned char md5[MD5_SIZE];
};

struct export_manifest {
	const char *where;
	struct export_place *place;         /* open */
	struct str folder;                  /* AWSDynamoDB/ID, as the keys of its files have it */
	struct str table, table_id, region; /* region: of the table's ARN */
	bool is_incremental, is_ion, has_old_images;
	int64_t from_ms, until_ms; /* a full one is of the moment until_ms */
	struct export_manifest_file *files;
	size_t file_count;
};

/* Takes the place over where it succeeds; the strings lie in the arena of `err`. ERR_INTERNAL: a
 * manifest is missing or broken, or not the one that its checksum is of. */
enum code export_manifest_read(struct export_place *place, const char *where,
			       struct export_manifest *manifest, struct err *err) WARN_UNUSED;

/* The bytes of a data file, as export_place_read(). ERR_INTERNAL also where its checksum is another
 * one. */
enum code export_manifest_data(const struct export_manifest *manifest,
			       const struct export_manifest_file *file, struct str *bytes,
			       struct err *err) WARN_UNUSED;

/*
 * Whether these can be applied one after the other, to one table: the first may be a full one, the
 * others go on where the one before ends, or before that. ERR_VALIDATION: what is wrong.
 */
enum code export_manifest_chain(const struct export_manifest *manifests, size_t n, struct str table,
				struct err *err) WARN_UNUSED;

/* "2030-03-17T18:46:40.000Z" */
struct str export_manifest_time(struct arena *arena, int64_t ms);

#endif
