#include "server/report/document.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/buf.h"
#include "server/messages.h"

#define DOCUMENT_MAX ((size_t)64 << 20)

enum code document_read(struct arena *arena, const char *path, struct str *text, struct err *err)
{
	FILE *file = fopen(path, "rbe");
	struct buf buf = buf_in(arena);
	char piece[65536];
	size_t n;

	if (!file)
		return err_set(err, MSG_REPORT_FILE, path, strerror(errno));
	while (buf_str(&buf).n <= DOCUMENT_MAX && (n = fread(piece, 1, sizeof(piece), file)) > 0)
		buf_add(&buf, piece, n);
	bool has_failed = ferror(file) != 0;
	fclose(file);
	if (has_failed || buf_str(&buf).n > DOCUMENT_MAX)
		return err_set(err, MSG_REPORT_FILE, path, has_failed ? "it cannot be read" : "it is larger than 64 MB");
	*text = buf_str(&buf);
	return OK;
}

enum code document_write(const char *path, struct str text, struct err *err)
{
	bool is_stdout = strcmp(path, "-") == 0;
	FILE *file = is_stdout ? stdout : fopen(path, "wbe");

	if (!file)
		return err_set(err, MSG_REPORT_FILE, path, strerror(errno));
	bool is_whole = fwrite(text.p ? text.p : "", 1, text.n, file) == text.n;
	is_whole = (is_stdout ? fflush(file) : fclose(file)) == 0 && is_whole;
	return is_whole ? OK : err_set(err, MSG_REPORT_FILE, path, strerror(errno));
}
