/*
 * file - one file of tables or items: what form it has, and which reader takes it.
 *
 *   CreateTable's body or DescribeTable's answer    tables.h
 *   CloudFormation, SAM, serverless.yml             template.h
 *   Terraform's plan or state as JSON               plan.h
 *   NoSQL Workbench model                           model.h
 *   OneTable's schema                               onetable.h
 *   DynamoDB Local's data files                     dynamodb_local.h
 *   exports, scans, batches, JSON lines, Ion, CSV   rows.h
 *
 * The content decides, but for CSV and YAML, which the file's name shows. A name that ends with .gz
 * is decompressed first.
 *
 * The shelf server/importers/ reads the forms; server/seed/ keeps what they ask for, and does it.
 */
#ifndef DYNALITH_SERVER_IMPORTERS_FILE_H
#define DYNALITH_SERVER_IMPORTERS_FILE_H

#include "server/seed/seed.h"

/* Loads the file. ERR_VALIDATION with where and why. */
enum code file_load(struct seed *seed, const char *path, struct err *err) WARN_UNUSED;

/*
 * The files to load of a path in the arena: itself, or all files of a folder and of those below it,
 * in the order of their names; hidden ones, and the manifests of exports, are none. ERR_VALIDATION:
 * nothing is there.
 */
enum code file_list(struct arena *arena, const char *path, const char ***files, size_t *n,
		    struct err *err) WARN_UNUSED;

#endif
