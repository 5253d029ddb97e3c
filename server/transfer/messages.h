/*
 * messages - texts of exports, imports and bulk operations that are carried out: S3's own, and
 * those in FailureMessage and in the log.
 */
#ifndef DYNALITH_SERVER_TRANSFER_MESSAGES_H
#define DYNALITH_SERVER_TRANSFER_MESSAGES_H

#include "core/err.h"

/* AWS: as S3 words them. */
#define MSG_S3_NO_BUCKET "The specified bucket does not exist"
#define MSG_S3_NO_KEY "The specified key does not exist."
#define MSG_S3_DENIED "Access Denied"
#define MSG_S3_LINK STR_FMT " is a symbolic link. Links in the folder of --s3 are not followed"
#define MSG_S3_FAILURE                                                                             \
	STR_FMT " (Service: Amazon S3; Status Code: %d; Error Code: " STR_FMT                      \
		"; Request ID: " STR_FMT "; S3 Extended Request ID: " STR_FMT "; Proxy: null)"

#define MSG_S3_FILE STR_FMT ": %s"
#define MSG_S3_FILE_CHANGED STR_FMT " is not what it was when it was listed"
#define MSG_S3_TOO_MANY "there are more than %d objects, which is the most for one import"
#define MSG_S3_LISTING "the endpoint's list of objects is not whole: %s"
#define MSG_S3_UNREACHABLE "the endpoint cannot be asked: %s"
#define MSG_S3_ANSWER "the endpoint answered with status %d"

#define MSG_NO_S3                                                                                  \
	"%.*s: there are no buckets: start the server with --s3 DIR, whose folders are buckets, "  \
	"or --s3 URL of an S3-compatible endpoint"
#define MSG_IMPORT_LOG                                                                             \
	"import " STR_FMT " of table " STR_FMT                                                     \
	": %lld of %lld records were not imported; GET /_dynalith/imports/" STR_FMT " lists why"

/* AWS: recorded, DDB-IMPORT-013. */
#define MSG_IMPORT_ITEMS                                                                           \
	"Some of the items failed validation checks and were not imported. Please check "          \
	"CloudWatch error logs for more details."
#define MSG_IMPORT_TABLE_EXISTS "Table already exists: " STR_FMT
#define MSG_IMPORT_TABLE_GONE "The table of the import is gone: " STR_FMT
#define MSG_BULK_TABLE_GONE "The table of the bulk operation is gone: " STR_FMT
#define MSG_BULK_CANCELED "The bulk operation was cancelled by CancelBulkOperation"
#define MSG_BULK_CONDITION "The conditional request failed"

#define MSG_EXPORT_TABLE_GONE ERR_TABLE_NOT_FOUND, "Table not found: " STR_FMT

#define MSG_ZSTD_NONE                                                                              \
	"zstd cannot be read: %s is not installed, or this program was built without its header "  \
	"(libzstd-dev)"
#define MSG_SOURCE_CODING                                                                          \
	ERR_VALIDATION, "The object is not compressed with %s, or is cut short; the rest of it "   \
			"was not read"

#endif
