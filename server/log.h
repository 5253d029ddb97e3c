/*
 * log - lines for the operator on stderr, in logfmt: time=... level=... msg="..."
 */
#ifndef DYNALITH_SERVER_LOG_H
#define DYNALITH_SERVER_LOG_H

#include "core/str.h"

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

/* The level of a name of options.def. */
enum log_level log_level_of(const char *name);
void log_set_level(enum log_level level);

/* One line, written with one call. Never give it secrets. */
void log_line(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
