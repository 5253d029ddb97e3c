#include "server/command/reach.h"

#include <stdlib.h>
#include <string.h>

#define USUAL_MS 10000
#define SECONDS_MAX 86400

struct reach reach_usual(void)
{
	return (struct reach){.wait_ms = USUAL_MS};
}

static bool read_seconds(const char *text, int *ms)
{
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || *end != '\0' || !(seconds >= 0.001 && seconds <= SECONDS_MAX))
		return false;
	*ms = (int)(seconds * 1000);
	return true;
}

bool reach_take(struct reach *reach, int argc, char **argv, int *i)
{
	if (*i + 1 >= argc)
		return false;
	const char *value = argv[*i + 1];
	bool is_taken = strcmp(argv[*i], "--timeout") == 0 && read_seconds(value, &reach->wait_ms);

	if (strcmp(argv[*i], "--tls-ca") == 0) {
		reach->authorities = value;
		is_taken = true;
	}
	*i += is_taken;
	reach->is_given = reach->is_given || is_taken;
	return is_taken;
}
