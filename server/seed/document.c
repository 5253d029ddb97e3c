#include "server/seed/document.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/seen.h"
#include "server/seed/messages.h"
#include "server/seed/yaml.h"

#define NAMED_MAX ((size_t)16 << 20) /* bytes of a file that another names */

enum code document_map(const char *path, void **bytes, size_t *size, struct err *err)
{
	struct stat status;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	*bytes = NULL;
	*size = 0;
	if (fd < 0 || fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
		enum code code = err_set(err, MSG_SEED_UNREADABLE, path,
					 fd < 0 ? strerror(errno) : "no file");

		if (fd >= 0)
			close(fd);
		return code;
	}
	*size = (size_t)status.st_size;
	*bytes = *size > 0 ? mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
	close(fd);
	return *bytes == MAP_FAILED ? err_set(err, MSG_SEED_UNREADABLE, path, strerror(errno)) : OK;
}

struct str document_text(struct str text)
{
	bool is_marked = str_starts_with(text, STR("\xef\xbb\xbf"));

	return is_marked ? (struct str){text.p + 3, text.n - 3} : text;
}

size_t document_json_line(struct arena *arena, struct str text, size_t first_line)
{
	size_t at = json_stops_at(arena, text), line = first_line;

	for (size_t i = 0; i < at && i < text.n; i++)
		line += text.p[i] == '\n';
	return line;
}

enum code document_parse_yaml(struct arena *arena, struct source *source, const char *path,
			      struct str text, const struct json **root, struct err *err)
{
	struct yaml_lines lines;
	struct err own = err_in(arena);
	const struct json *parsed;
	struct str json;

	if (yaml_to_json(arena, text, &json, &lines, &own) != OK)
		return err_set(err, MSG_SEED_AT_LINE, path, lines.problem, STR_ARG(own.message));
	if (json_parse(arena, json, &parsed, &own) != OK)
		return err_set(err, MSG_SEED_AT, path, STR_ARG(own.message));
	struct origin *origins = ARENA_ARRAY(arena, struct origin, lines.n + 1);
	for (size_t i = 0; i < lines.n; i++)
		origins[i] = (struct origin){path, lines.v[i]};
	source_locate_by(source, parsed, origins, lines.n);
	document_note_names(arena, source, parsed);
	return RESULT(OK, root, parsed);
}

/* As deep as json_parse lets a text be. */
void document_note_names(struct arena *arena, struct source *source, const struct json *value)
{
	bool is_object = json_type(value) == JSON_OBJECT;
	struct seen seen = is_object ? seen_new(arena, json_count(value)) : (struct seen){0};

	if (!is_object && json_type(value) != JSON_ARRAY)
		return;
	for (const struct json *at = json_first(value); at; at = json_next(at)) {
		struct str name = is_object ? json_name(arena, at) : STR("");

		if (is_object && !seen_add(&seen, name))
			source_note_twice(source, at, name);
		document_note_names(arena, source, at);
	}
}

enum code document_load(struct arena *arena, struct source *source, const char *path,
			const struct json **root, struct err *err)
{
	struct err own = err_in(arena);
	void *bytes;
	size_t size;
	enum code code = document_map(path, &bytes, &size, err);

	if (code != OK)
		return code;
	bool is_large = size > NAMED_MAX;
	struct str text = document_text(
		str_copy(arena, (struct str){bytes ? bytes : "", is_large ? 0 : size}));
	if (size > 0)
		munmap(bytes, size);
	if (is_large)
		return err_set(err, MSG_SEED_UNREADABLE, path, "larger than 16 MB");
	struct str inside = text;
	while (inside.n > 0 && strchr(" \t\r\n", inside.p[0]))
		inside = (struct str){inside.p + 1, inside.n - 1};
	bool is_json = inside.n > 0 && (inside.p[0] == '{' || inside.p[0] == '[');
	if (!is_json || json_parse(arena, text, root, &own) != OK)
		return document_parse_yaml(arena, source, path, text, root, err);
	source_locate(source, *root, text, path, 1);
	document_note_names(arena, source, *root);
	return OK;
}

const char *document_beside(struct arena *arena, const char *path, struct str name)
{
	const char *slash = strrchr(path, '/');

	if (!slash || (name.n > 0 && name.p[0] == '/'))
		return str_copy(arena, name).p;
	return str_printf(arena, "%.*s" STR_FMT, (int)(slash - path) + 1, path, STR_ARG(name)).p;
}
