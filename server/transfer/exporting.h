/*
 * exporting - carries out exports: the files of AWS's export format, written one a step.
 *
 * AWS: Developer Guide, "DynamoDB table export output format". Below PREFIX/AWSDynamoDB/ID/:
 * _started, data/NAME.json.gz or .ion.gz, manifest-files.json, manifest-summary.json, and an .md5
 * of each manifest. A file has items of one partition, and each partition has a file, if an empty
 * one. Names of files follow from the export's id, so a step that is done again writes the same
 * files.
 *
 * A full export reads a copy of the items, which was made in the transaction that started it, and
 * is dropped at the end.
 */
#ifndef DYNALITH_SERVER_EXPORTING_H
#define DYNALITH_SERVER_EXPORTING_H

#include "server/transfer/s3.h"
#include "storage/job/job_run.h"

/* `s3` outlives the jobs. */
void exporting_register(struct job_run *jobs, struct s3 *s3);

#endif
