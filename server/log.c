#include "server/log.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "core/utf8.h"

#define LINE_MAX_SIZE 2048
#define FIELDS_END                                                                                 \
	(LINE_MAX_SIZE - 8) /* behind it there is room for the end of a line that was cut */
#define MESSAGE_END (FIELDS_END - 512)   /* so that the fields of a long message fit */
#define QUOTES_ROOM 8
#define PATIENCE_MS 100 /* for a reader of stderr that is slow; once, until it reads again */

static const char *const names[] = {
	[LOG_ERROR] = "error", [LOG_WARN] = "warn", [LOG_INFO] = "info", [LOG_DEBUG] = "debug"};
static void put_log_line(void *context, enum log_level level, const char *line, size_t n);

static struct log_sink process = {.level = LOG_INFO, .write = put_log_line}; /* stderr */
static _Thread_local const struct log_sink *own;
static pthread_mutex_t turn =
	PTHREAD_MUTEX_INITIALIZER; /* so that there is still room when a line is written */
static bool is_stuck;                                   /* the last line found no room */

/* A line of which `n` bytes are there. Pieces go in whole or not at all. */
struct line {
	size_t n;
	char p[LINE_MAX_SIZE];
};

enum log_level log_level_of(const char *name)
{
	enum log_level level = LOG_ERROR;

	while (level < LOG_DEBUG && strcmp(names[level], name) != 0)
		level++;
	return level;
}

void log_configure(enum log_level level, bool wants_json)
{
	process.level = level;
	process.is_json = wants_json;
}

static const struct log_sink *used(void)
{
	return own ? own : &process;
}

const struct log_sink *log_use(const struct log_sink *sink)
{
	const struct log_sink *before = own;

	own = sink;
	return before;
}

struct start {
	const struct log_sink *sink;
	void *(*run)(void *);
	void *context;
};

static void *run_with_sink(void *context)
{
	struct start start = *(struct start *)context;

	free(context);
	own = start.sink;
	return start.run(start.context);
}

int log_thread(pthread_t *thread, void *(*run)(void *), void *context)
{
	struct start *start = malloc(sizeof(*start));

	if (!start)
		return ENOMEM;
	*start = (struct start){own, run, context};
	int status = pthread_create(thread, NULL, run_with_sink, start);
	if (status != 0)
		free(start);
	return status;
}

bool log_is_on(enum log_level level)
{
	return level <= used()->level;
}

static bool add(struct line *line, struct str piece, size_t max)
{
	if (line->n + piece.n > max)
		return false;
	memcpy(line->p + line->n, piece.p, piece.n);
	line->n += piece.n;
	return true;
}

/* The bytes of the character that begins with `lead`, in valid UTF-8. */
static size_t width(unsigned char lead)
{
	return lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
}

/* In quotes, with the escapes of JSON, which logfmt has too. The text is cut at `max`. */
static void add_log_quoted(struct line *line, struct str text, size_t max)
{
	bool is_text = utf8_is_valid(text), fits = add(line, STR("\""), max);

	for (size_t i = 0, n; i < text.n && fits; i += n) {
		unsigned char c = (unsigned char)text.p[i];
		char escape[8] = "?";

		n = is_text ? width(c) : 1;
		if (c == '"' || c == '\\')
			snprintf(escape, sizeof(escape), "\\%c", c);
		else if (c == '\n')
			snprintf(escape, sizeof(escape), "\\n");
		else if (c < ' ' || c == 0x7F)
			snprintf(escape, sizeof(escape), "\\u%04x", c);
		else if (is_text || c < 0x80)
			snprintf(escape, sizeof(escape), "%.*s", (int)n, text.p + i);
		fits = add(line, str_of(escape), max);
	}
	add(line, STR("\""), sizeof(line->p));
}

/* Whether logfmt takes it without quotes. */
static bool is_plain_logfmt(struct str value)
{
	for (size_t i = 0; i < value.n; i++) {
		unsigned char c = (unsigned char)value.p[i];

		if (c <= ' ' || c == '"' || c == '=' || c == '\\' || c >= 0x7F)
			return false;
	}
	return value.n > 0;
}

static void add_log_field(struct line *line, const struct log_field *field, bool is_json,
			  size_t max)
{
	struct str name = str_of(field->name), value = field->value;

	if (!str_is_set(value) || line->n + name.n + QUOTES_ROOM > max)
		return;
	if (line->n > (is_json ? 1 : 0)) /* behind another one */
		add(line, is_json ? STR(",") : STR(" "), max);
	if (is_json)
		add_log_quoted(line, name, max);
	else
		add(line, name, max);
	add(line, is_json ? STR(":") : STR("="), max);
	bool is_bare = is_json ? field->is_number : is_plain_logfmt(value);
	if (!is_bare || !add(line, value, max))
		add_log_quoted(line, value, max);
}

/* A line for a full pipe is lost: no request, and no end of the server, may wait for its reader. */
static void put_log_line(void *context, enum log_level level, const char *line, size_t n)
{
	(void)context;
	(void)level;
	struct pollfd room = {STDERR_FILENO, POLLOUT, 0};

	pthread_mutex_lock(&turn);
	is_stuck = poll(&room, 1, is_stuck ? 0 : PATIENCE_MS) == 0;
	ssize_t written = is_stuck ? 0 : write(STDERR_FILENO, line, n);
	(void)written;
	pthread_mutex_unlock(&turn);
}

void log_event(enum log_level level, const char *message, const struct log_field *fields, size_t n)
{
	char stamp[40];
	struct timespec now;
	const struct log_sink *sink = used();
	bool is_json = sink->is_json;
	struct line line;
	struct tm tm;

	if (level > sink->level)
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &tm);
	size_t at = strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(stamp + at, sizeof(stamp) - at, ".%03ldZ", now.tv_nsec / 1000000);
	const struct log_field head[] = {{"time", str_of(stamp), false},
					 {"level", str_of(names[level]), false},
					 {"msg", str_of(message), false}};
	line.n = 0;
	add(&line, is_json ? STR("{") : STR(""), sizeof(line.p));
	for (size_t i = 0; i < sizeof(head) / sizeof(head[0]); i++)
		add_log_field(&line, &head[i], is_json, MESSAGE_END);
	for (size_t i = 0; i < n; i++)
		add_log_field(&line, &fields[i], is_json, FIELDS_END);
	add(&line, is_json ? STR("}\n") : STR("\n"), sizeof(line.p));
	sink->write(sink->context, level, line.p, line.n);
}

void log_line(enum log_level level, const char *format, ...)
{
	char text[LINE_MAX_SIZE];
	va_list ap;

	if (level > used()->level)
		return;
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	log_event(level, text, NULL, 0);
}
