/*
 * store_messages - texts for the operator: what went wrong with the data file. Not of the API: the
 * wire says InternalServerError.
 */
#ifndef DYNALITH_STORAGE_STORE_MESSAGES_H
#define DYNALITH_STORAGE_STORE_MESSAGES_H

#include "core/err.h"

#define MSG_STORE_FULL ERR_STORE_FULL, "the store is full"
#define MSG_STORE_MAKES_ROOM ERR_CONFLICT, "the store is full; its log is started over"
#define MSG_STORE_READ_ENDED                                                                       \
	ERR_SERVICE_UNAVAILABLE, "the read took too long while writers waited for it; try again"
#define MSG_STORE_LIMIT                                                                            \
	ERR_DATA_LIMIT, "The data has reached the limit of %llu MB: delete items, or give the "    \
			"server a higher limit"
#define MSG_STORE_FAILED ERR_INTERNAL, "the store failed: %s"
#define MSG_STORE_DAMAGED ERR_INTERNAL, "the data file is damaged: page %u fails its checksum"
#define MSG_STORE_PAGE                                                                             \
	ERR_INTERNAL, "cannot open %s: the data file is damaged: page %u fails its checksum"
#define MSG_STORE_CUT_AT ERR_INTERNAL, "the data file is damaged: it ends before page %u"
#define MSG_STORE_CUT                                                                              \
	ERR_INTERNAL, "the data file was cut short by somebody else, or its log; nothing is "      \
		      "written until a restart: %s"
#define MSG_STORE_NO_PLACE                                                                         \
	ERR_INTERNAL, "the data file is damaged: the row that says where a table's rows lie is "   \
		      "malformed"
#define MSG_STORE_UNSYNCED                                                                         \
	ERR_INTERNAL, "the store failed: a sync of the write-ahead log did; nothing is written "   \
		      "until a restart"
#define MSG_STORE_MOVED                                                                            \
	ERR_INTERNAL, "the data file was removed, or another was put in its place; nothing is "    \
		      "written until a restart: %s"
#define MSG_STORE_NO_WRITE ERR_INTERNAL, "the store failed: no write transaction is open"
#define MSG_STORE_NO_WAL                                                                           \
	ERR_INTERNAL, "cannot open %s: its file system has no shared memory for the write-ahead "  \
		      "log"
#define MSG_STORE_OPEN ERR_INTERNAL, "cannot open %s: %s"
#define MSG_STORE_FOREIGN ERR_INTERNAL, "%s is not a data file of this server; it was left alone"
#define MSG_STORE_NEWER                                                                            \
	ERR_INTERNAL, "%s has data format %u, newer than the %u that this version reads; it was "  \
		      "left alone"
#define MSG_STORE_UNMOVED ERR_INTERNAL, "the write-ahead log of %s cannot be moved into it"
#define MSG_STORE_LOG_LEFT                                                                         \
	ERR_INTERNAL, "cannot open %s: a log of an earlier file, %s, lies beside it"
#define MSG_STORE_SCHEMA                                                                           \
	ERR_INTERNAL, "cannot open %s: its %s \"%s\" is not of this server; it was left alone"
#define MSG_STORE_LOG_ELSEWHERE                                                                    \
	ERR_INTERNAL, "cannot open %s: this server did not leave the write-ahead log beside it, "  \
		      "and SQLite %s is too old to read such a log safely; "                       \
		      "a build with a newer SQLite opens it"
#define MSG_STORE_NO_SCHEMA                                                                        \
	ERR_INTERNAL, "%s cannot be repaired: the pages that say where each table is are lost; "   \
		      "take a backup"
#define MSG_STORE_KEPT                                                                             \
	ERR_INTERNAL, "%s is there from an earlier repair: give it another name first"
#define MSG_STORE_COPY_ROOM ERR_STORE_FULL, "there is not enough room for a copy"
#define MSG_STORE_NO_LIBPQ                                                                         \
	ERR_INTERNAL, "a store in PostgreSQL needs its client library, %s, which is not installed"
#define MSG_STORE_OLD_LIBPQ                                                                        \
	ERR_INTERNAL, "a store in PostgreSQL needs the client library of version 14 or newer; %s " \
		      "here has no %s"
#define MSG_STORE_PROFILE                                                                          \
	ERR_INTERNAL, "the store's URL names a profile that there is not: " STR_FMT
#define MSG_STORE_LOST ERR_STORE_UNAVAILABLE, "the database cannot be used: " STR_FMT
#define MSG_STORE_ROW ERR_INTERNAL, "the store is damaged: a row is malformed: " STR_FMT
#define SALVAGE_PAGE_MENDED "a byte of its page was wrong; here it is as the page's checksum says"
#define SALVAGE_PAGE_DAMAGED "its page fails its checksum"
#define SALVAGE_PAGE_STRAY "it cannot be known whether the row had been deleted"
#define SALVAGE_ROW_MALFORMED "the row is malformed"
#define STORE_PAGE_DAMAGED "page %u fails its checksum"
#define STORE_PAGE_CUT "page %u is cut short"
#define MSG_STORE_LOCKED ERR_INTERNAL, "%s is in use by another process"

#define MSG_TRANSFER_SOURCE                                                                        \
	ERR_RESOURCE_IN_USE, "%s", "the source is itself a copy that was not finished"
#define MSG_TRANSFER_DISTURBED ERR_INTERNAL, "%s", "somebody else writes to the target"

#define MSG_FOREIGN_SCHEMA                                                                         \
	ERR_INTERNAL, "%s: no data file of DynamoDB Local: its schema has \"%.64s\", which "       \
		      "computes what is read"
#define MSG_FOREIGN_FILE ERR_INTERNAL, "%s: no data file of DynamoDB Local: %s"

#endif
