/*
 * manifest - the names and manifests of an export, as AWS writes them.
 */
#ifndef DYNALITH_SERVER_MANIFEST_H
#define DYNALITH_SERVER_MANIFEST_H

#include "core/md5.h"
#include "protocol/transfer/transfer.h"

#define MANIFEST_FILE_BYTES (8 + MD5_SIZE) /* of a file in transfer_progress.files */

/* An export whose files are written. */
struct manifest {
	struct arena *arena;
	const struct job *job;
	const struct export_table_to_point_in_time_input *input;
	const struct transfer_body *body;
	const struct transfer_progress *progress;
};

/* "PREFIX/AWSDynamoDB/ID/NAME" */
struct str manifest_key(const struct manifest *manifest, struct str name);
/* The key of the n-th data file. */
struct str manifest_data_key(const struct manifest *manifest, size_t n);

void manifest_add_file(struct buf *files, int64_t items, const unsigned char md5[MD5_SIZE]);

/* manifest-files.json: a line for each file; manifest-summary.json, of an export that ends at
 * `end_ms`. */
struct str manifest_files(const struct manifest *manifest);
struct str manifest_summary(const struct manifest *manifest, int64_t end_ms);

/* The MD5 of a text in base64: a manifest's .md5. */
struct str manifest_md5(struct arena *arena, struct str text);

#endif
