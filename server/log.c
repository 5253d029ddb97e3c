#include "server/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define LINE_MAX_SIZE 2048

static const char *const names[] = {[LOG_ERROR] = "error", [LOG_WARN] = "warn", [LOG_INFO] = "info", [LOG_DEBUG] = "debug"};
static enum log_level threshold = LOG_INFO;

enum log_level log_level_of(const char *name)
{
	enum log_level level = LOG_ERROR;

	while (level < LOG_DEBUG && strcmp(names[level], name) != 0)
		level++;
	return level;
}

void log_set_level(enum log_level level)
{
	threshold = level;
}

/* Quotes and control characters would break the line's form. */
static void flatten(char *text)
{
	for (; *text; text++) {
		if (*text == '"')
			*text = '\'';
		else if ((unsigned char)*text < ' ')
			*text = ' ';
	}
}

void log_line(enum log_level level, const char *format, ...)
{
	char text[LINE_MAX_SIZE - 128], line[LINE_MAX_SIZE], stamp[32];
	struct timespec now;
	struct tm tm;
	va_list ap;

	if (level > threshold)
		return;
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	flatten(text);
	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &tm);
	strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%S", &tm);
	int n = snprintf(line, sizeof(line), "time=%s.%03ldZ level=%s msg=\"%s\"\n", stamp, now.tv_nsec / 1000000, names[level], text);
	ssize_t written = write(STDERR_FILENO, line, (size_t)n);
	(void)written;
}
