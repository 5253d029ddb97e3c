#include "server/report/document.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/buf.h"
#include "server/command/interrupt.h"
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
		return err_set(err, MSG_REPORT_FILE, path,
			       has_failed ? "it cannot be read" : "it is larger than 64 MB");
	*text = buf_str(&buf);
	return OK;
}

/* Writes and closes; 0 or errno. */
static int write_all(FILE *file, struct str text)
{
	bool is_stdout = file == stdout;
	bool is_whole = fwrite(text.p ? text.p : "", 1, text.n, file) == text.n;

	is_whole = (is_stdout ? fflush(file) : fclose(file)) == 0 && is_whole;
	return is_whole ? 0 : errno;
}

/* Under another name until it is whole. False where the folder allows no such file, or the name is
 * no plain file's: nothing was written. */
static bool write_apart(const char *path, struct str text, struct err *err, enum code *code)
{
	struct str part = str_printf(err->arena, "%s.part-%ld", path, (long)getpid());
	struct interrupt_undo undo;
	struct stat about;
	bool is_there = lstat(path, &about) == 0;

	if (is_there && !S_ISREG(about.st_mode))
		return false;
	interrupt_undo_file(&undo, part.p);
	FILE *file = fopen(part.p, "wbe");
	int problem = file ? write_all(file, text) : 0;
	bool is_done = file && problem == 0 &&
		       (!is_there || chmod(part.p, about.st_mode & 07777) == 0) &&
		       rename(part.p, path) == 0;
	if (file && !is_done)
		unlink(part.p);
	interrupt_forget(&undo);
	*code = problem == 0 ? OK : err_set(err, MSG_REPORT_FILE, path, strerror(problem));
	return is_done || problem != 0;
}

enum code document_write(const char *path, struct str text, struct err *err)
{
	bool is_stdout = strcmp(path, "-") == 0;
	enum code code;

	if (!is_stdout && write_apart(path, text, err, &code))
		return code;
	FILE *file = is_stdout ? stdout : fopen(path, "wbe");
	int problem = file ? write_all(file, text) : errno;
	return problem == 0 ? OK : err_set(err, MSG_REPORT_FILE, path, strerror(problem));
}
