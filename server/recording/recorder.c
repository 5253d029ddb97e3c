#include "server/recording/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/utf8.h"
#include "protocol/wire/json.h"
#include "server/console/masked.h"
#include "server/log.h"
#include "server/messages.h"
#include "storage/monotonic.h"

struct recorder {
	pthread_mutex_t mutex;
	FILE *file;
	bool is_masked, has_failed;
	uint64_t began_ns;
};

enum code recorder_start(const char *path, bool is_masked, struct recorder **out, struct err *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;

	if (!file) {
		enum code code = err_set(err, MSG_RECORDING_FILE, path, strerror(errno));

		if (fd >= 0)
			close(fd);
		return code;
	}
	struct recorder *recorder = arena_checked(calloc(1, sizeof(*recorder)));
	pthread_mutex_init(&recorder->mutex, NULL);
	recorder->file = file;
	recorder->is_masked = is_masked;
	recorder->began_ns = monotonic_ns();
	fprintf(file, "{\"dynalith_recording\":1,\"values\":\"%s\"}\n",
		is_masked ? "masked" : "open");
	fflush(file);
	*out = recorder;
	return OK;
}

/* JSON on one line: control characters are white space, and within a string, where json_parse()
 * takes them as they are, escapes. */
static void record_line(struct buf *out, struct str json)
{
	bool is_in_string = false;

	for (size_t i = 0; i < json.n; i++) {
		unsigned char c = (unsigned char)json.p[i];

		if (c < 0x20 && is_in_string)
			buf_printf(out, "\\u%04x", c);
		else
			buf_add_byte(out, c < 0x20 ? ' ' : c);
		if (c == '\\' && is_in_string && i + 1 < json.n)
			buf_add_byte(out, (unsigned char)json.p[++i]);
		else if (c == '"')
			is_in_string = !is_in_string;
	}
}

/* A body that is no JSON is a string, its bytes that are no text a '?'. */
static void record_body(struct json_out *out, struct arena *arena, struct str body)
{
	struct err err = err_in(arena);
	const struct json *root;
	bool is_json = json_parse(arena, body, &root, &err) == OK;

	if (is_json) {
		record_line(&out->buf, body);
		out->needs_comma = true;
	} else {
		json_out_string(out, utf8_printable(arena, body));
	}
}

void recorder_note(void *context, const struct event *event)
{
	struct recorder *recorder = context;
	struct arena *arena = arena_new(0);
	struct json_out out = json_out_in(arena);

	json_out_field_string(&out, "operation", event->operation);
	json_out_field_string(&out, "account", event->ns.account);
	json_out_field_string(&out, "region", event->ns.region);
	json_out_field_integer(&out, "status", event->status);
	if (event->error.n > 0)
		json_out_field_string(&out, "error", event->error);
	struct str request = str_is_set(event->request) ? event->request : STR("");
	json_out_name(&out, STR("request"));
	if (recorder->is_masked)
		masked_write(&out, arena, request);
	else
		record_body(&out, arena, request);
	json_out_name(&out, STR("response"));
	if (recorder->is_masked)
		masked_write_answer(&out, arena, request, event->response);
	else
		record_body(&out, arena, event->response);
	struct str rest = json_out_str(&out);

	pthread_mutex_lock(&recorder->mutex);
	uint64_t end_us = (monotonic_ns() - recorder->began_ns) / 1000,
		 took_us = event->took_ns / 1000; /* in the order of the lines */
	bool is_written =
		recorder->has_failed ||
		(fprintf(recorder->file, "{\"start_us\":%llu,\"end_us\":%llu,\"time_ms\":%lld,",
			 (unsigned long long)(end_us > took_us ? end_us - took_us : 0),
			 (unsigned long long)end_us, (long long)event->time_ms) > 0 &&
		 fwrite(rest.p, 1, rest.n, recorder->file) == rest.n &&
		 fputs("}\n", recorder->file) >= 0 && fflush(recorder->file) == 0);
	if (!is_written)
		log_line(LOG_ERROR, "--record: %s; nothing more is recorded", strerror(errno));
	recorder->has_failed = recorder->has_failed || !is_written;
	pthread_mutex_unlock(&recorder->mutex);
	arena_free(arena);
}

void recorder_stop(struct recorder *recorder)
{
	if (!recorder)
		return;
	if (fclose(recorder->file) != 0 && !recorder->has_failed)
		log_line(LOG_ERROR, "--record: %s", strerror(errno));
	pthread_mutex_destroy(&recorder->mutex);
	free(recorder);
}
