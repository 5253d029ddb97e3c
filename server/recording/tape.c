#include "server/recording/tape.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/messages.h"
#include "server/seed/json_text.h"

struct tape {
	const char *path;
	FILE *file;
	char *line; /* of getline */
	size_t cap, number;
	int64_t offset; /* of the next line */
	bool is_masked, is_cut;
};

/* The next line without its end; absent at the end. */
static struct str read_tape_line(struct tape *tape)
{
	ssize_t n = getline(&tape->line, &tape->cap, tape->file);

	if (n <= 0 || tape->line[n - 1] != '\n') { /* the server was killed while it wrote */
		tape->is_cut = n > 0;
		return STR_ABSENT;
	}
	tape->number++;
	tape->offset += n;
	return (struct str){tape->line, (size_t)n - 1};
}

/* A file with the rest of another one in its place, without a name. False: errno. */
static bool spool(FILE **file)
{
	FILE *copy = tmpfile();
	char piece[65536];
	size_t n;
	bool is_written = copy != NULL;

	while (is_written && (n = fread(piece, 1, sizeof(piece), *file)) > 0)
		is_written = fwrite(piece, 1, n, copy) == n;
	is_written = is_written && !ferror(*file) && fseeko(copy, 0, SEEK_SET) == 0;
	if (copy) {
		fclose(*file);
		*file = copy;
	}
	return is_written;
}

bool tape_is_at(const char *path)
{
	static const char head[] = "{\"dynalith_recording\"";
	char bytes[sizeof(head) - 1];
	FILE *file = fopen(path, "re");
	bool is_tape = file && fread(bytes, 1, sizeof(bytes), file) == sizeof(bytes) &&
		       memcmp(bytes, head, sizeof(bytes)) == 0;

	if (file)
		fclose(file);
	return is_tape;
}

enum code tape_open(const char *path, bool is_reread, struct tape **out, struct err *err)
{
	struct tape *tape = arena_checked(calloc(1, sizeof(*tape)));
	struct err own = err_in(err->arena);
	const struct json *root, *mark, *values;
	int64_t version = 0;

	tape->path = path;
	tape->file = fopen(path, "re");
	if (!tape->file ||
	    (is_reread && fseeko(tape->file, 0, SEEK_CUR) != 0 && !spool(&tape->file))) {
		enum code code = err_set(err, MSG_RECORDING_FILE, path, strerror(errno));

		tape_close(tape);
		return code;
	}
	struct str head = read_tape_line(tape);
	bool is_object = str_is_set(head) &&
			 json_parse(err->arena, str_copy(err->arena, head), &root, &own) == OK &&
			 json_type(root) == JSON_OBJECT;
	mark = is_object ? json_member(root, "dynalith_recording") : NULL;
	if (!mark || json_type(mark) != JSON_NUMBER || !json_integer(mark, &version) ||
	    version != 1) {
		tape_close(tape);
		return err_set(err, MSG_RECORDING_HEAD, path);
	}
	values = json_member(root, "values");
	tape->is_masked = values && json_type(values) == JSON_STRING &&
			  str_eq(json_string(err->arena, values), STR("masked"));
	*out = tape;
	return OK;
}

void tape_close(struct tape *tape)
{
	if (!tape)
		return;
	if (tape->file)
		fclose(tape->file);
	free(tape->line);
	free(tape);
}

bool tape_is_masked(const struct tape *tape)
{
	return tape->is_masked;
}

bool tape_is_cut(const struct tape *tape)
{
	return tape->is_cut;
}

static bool take_number(const struct json *root, const char *name, int64_t *out)
{
	const struct json *member = json_text_get(root, name, JSON_NUMBER);

	return member && json_integer(member, out) && *out >= 0;
}

enum code tape_next(struct tape *tape, struct arena *arena, struct tape_line *line, bool *is_there,
		    struct err *err)
{
	int64_t offset = tape->offset;
	struct str text = read_tape_line(tape);
	struct err own = err_in(arena);
	const struct json *root, *request;
	int64_t start, end;

	*is_there = str_is_set(text);
	if (!*is_there)
		return ferror(tape->file)
			       ? err_set(err, MSG_RECORDING_FILE, tape->path, strerror(errno))
			       : OK;
	text = str_copy(arena, text);
	if (json_parse(arena, text, &root, &own) != OK || json_type(root) != JSON_OBJECT)
		return err_set(err, MSG_RECORDING_LINE, tape->path, tape->number, "no JSON object");
	*line = (struct tape_line){.number = tape->number,
				   .offset = offset,
				   .response = json_member(root, "response")};
	line->operation = json_text_string(arena, root, "operation");
	request = json_member(root, "request");
	if (!str_is_set(line->operation) || !request || !take_number(root, "status", &line->status))
		return err_set(err, MSG_RECORDING_LINE, tape->path, tape->number,
			       "it lacks \"operation\", \"request\" or \"status\"");
	if (!take_number(root, "start_us", &start) || !take_number(root, "end_us", &end))
		return err_set(err, MSG_RECORDING_LINE, tape->path, tape->number,
			       "it lacks \"start_us\" or \"end_us\"");
	if (!take_number(root, "time_ms", &line->time_ms))
		line->time_ms = 0;
	line->start_us = (uint64_t)start;
	line->end_us = (uint64_t)end;
	line->request = json_type(request) == JSON_STRING ? json_string(arena, request)
							  : json_text_find(text, STR("request"));
	return OK;
}

enum code tape_go(struct tape *tape, size_t number, int64_t offset, struct err *err)
{
	if (offset != tape->offset && fseeko(tape->file, offset, SEEK_SET) != 0)
		return err_set(err, MSG_RECORDING_FILE, tape->path, strerror(errno));
	tape->offset = offset;
	tape->number = number - 1;
	return OK;
}
