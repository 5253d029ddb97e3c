/*
 * log - lines for the operator on stderr, in logfmt or JSON: time, level, msg, and fields.
 *
 *     time=2026-01-31T12:00:00.000Z level=info msg="..." operation=PutItem
 *     {"time":"2026-01-31T12:00:00.000Z","level":"info","msg":"...","operation":"PutItem"}
 *
 * A line never holds a secret, a signature, or any part of an item.
 */
#ifndef DYNALITH_SERVER_LOG_H
#define DYNALITH_SERVER_LOG_H

#include <pthread.h>
#include <stdbool.h>

#include "core/str.h"

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

/* A name, which needs no quotes, and a value; `is_number`: the text is a JSON number. */
struct log_field {
	const char *name;
	struct str value; /* absent: the field is left out */
	bool is_number;
};

/* The level of a name of options.def. */
enum log_level log_level_of(const char *name);

/* Where the lines of a thread go in place of stderr. write() is called with a whole line, and may
 * be by several threads at once. */
struct log_sink {
	enum log_level level;
	bool is_json;
	void (*write)(void *context, enum log_level level, const char *line, size_t n);
	void *context;
};

/* From now on the lines of this thread go there; NULL: to stderr. The sink must stay. Returns the
 * one before. */
const struct log_sink *log_use(const struct log_sink *sink);

/* pthread_create() of a thread whose lines go where those of this one go. */
int log_thread(pthread_t *thread, void *(*run)(void *), void *context);

/* Of stderr, before the first thread. Until then: info, in logfmt. */
void log_configure(enum log_level level, bool is_json);

/* Whether lines of the level are written: saves callers the work for a line that is not. */
bool log_is_on(enum log_level level);

/* One line, written with one call; beyond 2 KB it is cut short, still well-formed. */
void log_line(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A line with fields behind its message, in their order. */
void log_event(enum log_level level, const char *message, const struct log_field *fields, size_t n);

#endif
