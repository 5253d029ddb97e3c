/*
 * console_file - the files of the console, as scripts/embed.c has compressed them. The build makes the table.
 */
#ifndef DYNALITH_SERVER_CONSOLE_FILE_H
#define DYNALITH_SERVER_CONSOLE_FILE_H

#include <stddef.h>

struct console_file {
	const char *name; /* below /_dynalith/console/ */
	const char *content_type;
	const char *tag;  /* of its content, as an ETag */
	const unsigned char *bytes; /* gzip */
	size_t n, plain;  /* bytes, and those it has decompressed */
};

extern const struct console_file console_files[];
extern const size_t console_file_count;

#endif
