/*
 * messages - what is wrong with a file of tables or items. Each begins with where: FILE, or
 * FILE:LINE.
 */
#ifndef DYNALITH_SERVER_SEED_MESSAGES_H
#define DYNALITH_SERVER_SEED_MESSAGES_H

#include "core/err.h"

#define MSG_SEED_AT ERR_VALIDATION, "%s: " STR_FMT
#define MSG_SEED_AT_LINE ERR_VALIDATION, "%s:%zu: " STR_FMT
#define MSG_SEED_PLACE ERR_VALIDATION, STR_FMT "%s" STR_FMT
#define MSG_SEED_BOTH ERR_VALIDATION, STR_FMT "\n" STR_FMT
#define MSG_SEED_ITEM ERR_VALIDATION, STR_FMT
#define MSG_SEED_UNREADABLE ERR_VALIDATION, "%s: %s"
#define MSG_SEED_UNKNOWN                                                                           \
	ERR_VALIDATION, "%s: neither tables nor items: CreateTable or DescribeTable JSON, a "      \
			"CloudFormation, SAM or serverless.yml template, "                         \
			"Terraform's plan as JSON, a NoSQL Workbench model, an export, JSON "      \
			"lines or CSV were expected"
#define MSG_SEED_NO_TABLE                                                                          \
	ERR_VALIDATION, "no table \"" STR_FMT "\" for its items; --table names another"
#define MSG_SEED_TWICE ERR_VALIDATION, "table " STR_FMT " is made twice by the file"
#define MSG_SEED_SLOW_TABLE ERR_VALIDATION, "table \"" STR_FMT "\" does not become ACTIVE"
#define MSG_SEED_UNPROCESSED ERR_VALIDATION, "%s", "the server keeps leaving items unprocessed"
#define MSG_SEED_REFUSED ERR_VALIDATION, "%s " STR_FMT ": " STR_FMT
#define MSG_SEED_IMPORT                                                                            \
	ERR_VALIDATION,                                                                            \
		"ImportTable " STR_FMT ": %lld of %lld records are no items of the table: GET "    \
		"/_dynalith/imports/" STR_FMT " has the reasons"
#define MSG_SEED_IMPORT_MASK                                                                       \
	ERR_VALIDATION,                                                                            \
		"ImportTable " STR_FMT ": the server reads these items itself, and --mask cannot " \
		"change them: export them, mask the files with apply"
#define MSG_SEED_IMPORT_FAILED                                                                     \
	ERR_VALIDATION, "ImportTable " STR_FMT ": " STR_FMT ": " STR_FMT                           \
			"; the server needs the bucket by --s3"
#define MSG_SEED_REMOTE ERR_VALIDATION, STR_FMT ": %s"
#define MSG_SEED_NOT_ITEM ERR_VALIDATION, "%s", "no item: a JSON object was expected"
#define MSG_SEED_ATTRIBUTE_TWICE ERR_VALIDATION, "\"" STR_FMT "\" stands twice in its map"
#define MSG_SEED_ENVELOPE ERR_VALIDATION, "no item: \"" STR_FMT "\" stands beside its Item"
#define MSG_SEED_NOT_PUT ERR_VALIDATION, "%s", "no item: a PutRequest and nothing else was expected"
#define MSG_SEED_PARAMETERS                                                                        \
	ERR_VALIDATION, "%s",                                                                      \
		"no parameters: [{\"ParameterKey\": K, \"ParameterValue\": V}], "                  \
		"[\"K=V\"] or {K: V} were expected"
#define MSG_SEED_NOT_ION_ITEM                                                                      \
	ERR_VALIDATION, "%s",                                                                      \
		"no item: a struct was expected, or a struct with Item and nothing else"
#define MSG_SEED_ION_CUT ERR_VALIDATION, "%s", "the file ends within a value"
#define MSG_SEED_REQUEST                                                                           \
	ERR_VALIDATION, "%s",                                                                      \
		"a request of an operation that puts no items here: CreateTable, PutItem and "     \
		"BatchWriteItem are carried out"
#define MSG_SEED_SCHEMA                                                                            \
	ERR_VALIDATION, "%s", "a schema of OneTable without indexes.primary.hash makes no table"
#define MSG_SEED_SEEDS                                                                             \
	ERR_VALIDATION, "%s",                                                                      \
		"a seed names a table, and files of JSON in sources or rawsources, or items in "   \
		"data"
#define MSG_SEED_NOT_JSON ERR_VALIDATION, "%s", "no JSON"
#define MSG_SEED_CSV_HEAD ERR_VALIDATION, "%s", "the first line must name the attributes, each once"
#define MSG_SEED_CSV_FIELDS ERR_VALIDATION, "%zu fields, but the first line names %zu"
#define MSG_SEED_CSV_QUOTE ERR_VALIDATION, "%s", "a quoted field does not end"
#define MSG_SEED_GZIP ERR_VALIDATION, "%s", "no whole gzip file"
#define MSG_SEED_YAML ERR_VALIDATION, "%s"
#define MSG_SEED_TEMPLATE                                                                          \
	ERR_VALIDATION,                                                                            \
		STR_FMT ": cannot resolve " STR_FMT                                                \
			"; --parameter NAME=VALUE gives the value of a parameter or variable"
#define MSG_SEED_NO_KEYS ERR_VALIDATION, "table " STR_FMT " has no key attributes"

#endif
