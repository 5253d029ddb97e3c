/*
 * embedded_file - a file that scripts/embed.c has compressed into the server; the build makes the
 * tables of them: the console's, and the documents for agents.
 */
#ifndef DYNALITH_SERVER_EMBEDDED_FILE_H
#define DYNALITH_SERVER_EMBEDDED_FILE_H

#include <stddef.h>

struct embedded_file {
	const char *name; /* below the folder of the table */
	const char *content_type;
	const char *tag;  /* of its content, as an ETag */
	const unsigned char *bytes; /* gzip */
	size_t n, plain;  /* bytes, and those it has decompressed */
};

/* console/, served below /_dynalith/console/. */
extern const struct embedded_file console_files[];
extern const size_t console_file_count;

/* Pages of docs/, which dynalith mcp has as resources. */
extern const struct embedded_file mcp_files[];
extern const size_t mcp_file_count;

#endif
