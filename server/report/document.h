/*
 * document - whole files of text.
 */
#ifndef DYNALITH_SERVER_REPORT_DOCUMENT_H
#define DYNALITH_SERVER_REPORT_DOCUMENT_H

#include "core/err.h"

/* 64 MB at most. ERR_VALIDATION with one line: the file's name and what is wrong. */
enum code document_read(struct arena *arena, const char *path, struct str *text,
			struct err *err) WARN_UNUSED;

/* In the place of a file of that name; "-": to stdout. Errors as above. */
enum code document_write(const char *path, struct str text, struct err *err) WARN_UNUSED;

#endif
