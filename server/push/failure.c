#include "server/push/failure.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "protocol/wire/json_out.h"
#include "storage/catalog/catalog.h"
#include "storage/uuid.h"

/* 2019-11-14T00:13:49 */
static struct str iso_seconds(struct arena *arena, int64_t seconds, const char *rest)
{
	time_t t = (time_t)seconds;
	char text[32];
	struct tm tm;

	gmtime_r(&t, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	return str_printf(arena, "%s%s", text, rest);
}

static void write_request(struct json_out *out, struct arena *arena, const struct failure *failure)
{
	json_out_name(out, STR("requestContext"));
	json_out_open(out, '{');
	json_out_field_string(out, "requestId", uuid_new(arena));
	json_out_field_string(out, "functionArn",
			      str_printf(arena,
					 "arn:aws:lambda:" STR_FMT ":" STR_FMT ":function:" STR_FMT,
					 STR_ARG(failure->region), STR_ARG(failure->account),
					 STR_ARG(failure->function)));
	json_out_field_string(out, "condition", STR("RetryAttemptsExhausted"));
	json_out_field_integer(out, "approximateInvokeCount", failure->invocations);
	json_out_close(out, '}');
}

static void write_response(struct json_out *out, const struct failure *failure)
{
	json_out_name(out, STR("responseContext"));
	json_out_open(out, '{');
	json_out_field_integer(out, "statusCode", failure->status);
	json_out_field_string(out, "executedVersion", STR("$LATEST"));
	json_out_name(out, STR("functionError"));
	if (failure->is_function_error)
		json_out_string(out, STR("Unhandled"));
	else
		json_out_null(out);
	json_out_close(out, '}');
}

static void write_batch(struct json_out *out, struct arena *arena, const struct failure *failure)
{
	json_out_name(out, STR("DDBStreamBatchInfo"));
	json_out_open(out, '{');
	json_out_field_string(out, "shardId", failure->shard);
	json_out_field_string(out, "startSequenceNumber", failure->first);
	json_out_field_string(out, "endSequenceNumber", failure->last);
	json_out_field_string(out, "approximateArrivalOfFirstRecord",
			      iso_seconds(arena, failure->first_s, "Z"));
	json_out_field_string(out, "approximateArrivalOfLastRecord",
			      iso_seconds(arena, failure->last_s, "Z"));
	json_out_field_integer(out, "batchSize", (int64_t)failure->records);
	json_out_field_string(out, "streamArn", failure->stream);
	json_out_close(out, '}');
}

struct str failure_text(struct arena *arena, const struct failure *failure)
{
	struct json_out out = json_out_in(arena);

	json_out_open(&out, '{');
	write_request(&out, arena, failure);
	if (failure->status > 0)
		write_response(&out, failure);
	json_out_field_string(&out, "version", STR("1.0"));
	json_out_field_string(
		&out, "timestamp",
		iso_seconds(arena, failure->now_ms / 1000,
			    str_printf(arena, ".%03dZ", (int)(failure->now_ms % 1000)).p));
	write_batch(&out, arena, failure);
	json_out_field_string(&out, "payload", failure->payload);
	json_out_close(&out, '}');
	return json_out_str(&out);
}

const char *failure_append(struct arena *arena, const char *path, struct str text)
{
	struct str line = str_printf(arena, STR_FMT "\n", STR_ARG(text));
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);

	if (fd < 0)
		return strerror(errno);
	ssize_t n = write(fd, line.p, line.n);
	const char *problem = n < 0                ? strerror(errno)
			      : (size_t)n < line.n ? "only a part of the line was written"
						   : NULL;
	if (close(fd) != 0 && !problem)
		problem = strerror(errno);
	return problem;
}

struct str failure_function(struct str path)
{
	struct str rest = path;

	(void)str_cut(&rest, '/');
	if (!str_eq(str_cut(&rest, '/'), STR("2015-03-31")) ||
	    !str_eq(str_cut(&rest, '/'), STR("functions")))
		return STR("function");
	struct str name = str_cut(&rest, '/');

	return name.n > 0 ? name : STR("function");
}
