/*
 * raw_file - a data file and its log read without SQLite, page by page, for what SQLite cannot open
 * any more; internal to storage/store/sqlite.
 *
 * A page that a whole transaction of the log has is read there. Others are read in the file, by
 * their checksums (page_file.h): a checksum shows which byte it was, where only one is wrong.
 * SQLite: File Format, "The Write-Ahead Log".
 */
#ifndef DYNALITH_STORAGE_SQLITE_RAW_FILE_H
#define DYNALITH_STORAGE_SQLITE_RAW_FILE_H

#include "core/err.h"
#include "storage/store/sqlite/page_file.h"

enum raw_state {
	RAW_SOUND,
	RAW_MENDED,  /* one byte was wrong, and the bytes given have it right */
	RAW_DAMAGED, /* the bytes given are those of the file */
};

struct raw_file {
	const char *path;    /* outlives it */
	int fd;              /* of the file; the caller's */
	int log_fd;          /* -1: none */
	uint32_t page_count;
	bool has_checksums;
	uint32_t *frames; /* by page number: the frame of the log that has it, from 1; 0: none. NULL
			     without a log */
};

/* Reads the head and the log of the open file. *file is usable by raw_file_close in any case.
 * ERR_INTERNAL with one line for the operator. */
enum code raw_file_open(int fd, const char *path, struct arena *arena, struct raw_file *file,
			struct err *err) WARN_UNUSED;
void raw_file_close(struct raw_file *file);

/* A page by its number from 1; `page` has room for STORE_PAGE. Missing bytes are zeros. */
enum raw_state raw_file_read(const struct raw_file *file, uint32_t number, unsigned char *page);

/*
 * Moves the log into the file, as SQLite would when it opens it, and empties it; safe on the disk
 * when this returns, and repeatable when it was cut short. The file must be open for writing.
 */
enum code raw_file_move_log(const struct raw_file *file, struct err *err) WARN_UNUSED;

#endif
