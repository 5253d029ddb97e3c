#include "server/log.h"

#include <unistd.h>

#include <pthread.h>

#include "tests/unit/test.h"

static char text[8192];

/* What is written to stderr meanwhile, as a string. */
static int begin(int pipes[2])
{
	int saved = dup(STDERR_FILENO);

	if (saved < 0 || pipe(pipes) != 0 || dup2(pipes[1], STDERR_FILENO) < 0)
		abort();
	return saved;
}

static const char *end(int pipes[2], int saved)
{
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(pipes[1]);
	ssize_t n = read(pipes[0], text, sizeof(text) - 1);
	close(pipes[0]);
	text[n > 0 ? n : 0] = '\0';
	return text;
}

static const char *event(enum log_level level, const char *message, const struct log_field *fields,
			 size_t n)
{
	int pipes[2], saved = begin(pipes);

	log_event(level, message, fields, n);
	return end(pipes, saved);
}

static const struct log_field fields[] = {
	{"operation", STR_INIT("PutItem"), false},
	{"status", STR_INIT("200"), true},
	{"absent", {NULL, 0}, false},
	{"text", STR_INIT("a \"b\"\\\n\x01"), false},
};

TEST(logfmt)
{
	log_configure(LOG_INFO, false);
	const char *line = event(LOG_INFO, "it \"works\"", fields, 4);
	CHECK(strncmp(line, "time=20", 7) == 0);
	CHECK(strstr(line, "Z level=info msg=\"it \\\"works\\\"\" operation=PutItem status=200 "
			   "text=\"a \\\"b\\\"\\\\\\n\\u0001\"\n") != NULL);
	CHECK_STR(str_of(event(LOG_DEBUG, "no", NULL, 0)), "");
}

TEST(json)
{
	log_configure(LOG_DEBUG, true);
	const char *line = event(LOG_DEBUG, "x", fields, 4);
	CHECK(strncmp(line, "{\"time\":\"20", 11) == 0);
	CHECK(strstr(line, "Z\",\"level\":\"debug\",\"msg\":\"x\",\"operation\":\"PutItem\","
			   "\"status\":200,\"text\":\"a \\\"b\\\"\\\\\\n\\u0001\"}\n") != NULL);
	CHECK(strstr(event(LOG_INFO, "\xff \xc3\xa4", NULL, 0), "\"msg\":\"? ??\"}") != NULL);
	CHECK(strstr(event(LOG_INFO, "\xc3\xa4", NULL, 0), "\"msg\":\"\xc3\xa4\"}") != NULL);
}

/* Cut between characters; quotes and fields still there. */
TEST(a_long_line_stays_well_formed)
{
	char message[4096];

	for (size_t i = 0; i + 1 < sizeof(message); i += 2)
		memcpy(message + i, "\xc3\xa4", 2);
	message[sizeof(message) - 2] = '\0';
	log_configure(LOG_INFO, true);
	const char *line = event(LOG_INFO, message, fields, 1);
	size_t n = strlen(line);
	CHECK(n > 1000 && n <= 2048);
	CHECK(strcmp(line + n - 26, "\xa4\",\"operation\":\"PutItem\"}\n") == 0);
	memset(message, 1, sizeof(message) - 1);
	const struct log_field long_field = {"problem", {message, sizeof(message) - 1}, false};
	line = event(LOG_INFO, "short", &long_field, 1);
	n = strlen(line);
	CHECK(n <= 2048 && strcmp(line + n - 9, "\\u0001\"}\n") == 0);
}

/* A test that hangs is one that failed. */
TEST(a_full_pipe_takes_no_line_and_no_time)
{
	int pipes[2], saved = begin(pipes);

	log_configure(LOG_INFO, false);
	alarm(60);
	for (int i = 0; i < 5000; i++)
		log_event(LOG_INFO, "nobody reads this", fields, 2);
	while (read(pipes[0], text, sizeof(text)) == (ssize_t)sizeof(text))
		;
	log_event(LOG_INFO, "now somebody does", NULL, 0);
	CHECK(strstr(end(pipes, saved), "now somebody does") != NULL);
	alarm(0);
}

static void keep(void *context, enum log_level level, const char *line, size_t n)
{
	snprintf(context, 256, "%d %.*s", (int)level, (int)n, line);
}

static void *speak(void *context)
{
	log_line(LOG_WARN, "%s", (const char *)context);
	return NULL;
}

TEST(lines_of_a_thread_and_those_it_starts_go_where_it_says)
{
	char kept[256] = "", words[] = "from a thread";
	const struct log_sink sink = {
		.level = LOG_WARN, .is_json = true, .write = keep, .context = kept};
	pthread_t thread;
	int pipes[2], saved = begin(pipes);

	log_configure(LOG_INFO, false);
	CHECK(log_use(&sink) == NULL && !log_is_on(LOG_INFO));
	CHECK(log_thread(&thread, speak, words) == 0);
	pthread_join(thread, NULL);
	log_line(LOG_INFO, "below the level of the sink");
	CHECK(log_use(NULL) == &sink);
	log_line(LOG_INFO, "for stderr");
	const char *printed = end(pipes, saved);
	CHECK(strncmp(kept, "1 {\"time\":", 10) == 0 &&
	      strstr(kept, "\"msg\":\"from a thread\"}\n"));
	CHECK(strstr(printed, "for stderr") && !strstr(printed, "thread") &&
	      !strstr(printed, "below"));
}

TEST_MAIN(TEST_CASE(lines_of_a_thread_and_those_it_starts_go_where_it_says),
	  TEST_CASE(a_full_pipe_takes_no_line_and_no_time), TEST_CASE(logfmt), TEST_CASE(json),
	  TEST_CASE(a_long_line_stays_well_formed))
