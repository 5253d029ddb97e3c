#include "server/client/reply.h"

#include <stdlib.h>
#include <string.h>

#include "core/base64.h"
#include "core/crc32.h"
#include "core/sha256.h"

#define LINE_MAX_BYTES 16384
#define HEAD_MAX 65536
#define INTERIM_MAX 16         /* such as 100 Continue */
#define OVERHEAD_MAX                                                                               \
	65536 /* bytes of lines without one of a body between: extensions of chunks, trailers */
#define DIGITS_MAX 15          /* of a size in hexadecimal, and more than a body has in decimal */

struct reply reply_in(struct arena *arena, size_t most)
{
	return (struct reply){.arena = arena,
			      .most = most,
			      .line = buf_in(arena),
			      .head = buf_in(arena),
			      .body = buf_in(arena)};
}

static void break_it(struct reply *reply, const char *problem)
{
	reply->part = REPLY_BROKEN;
	reply->problem = problem;
}

struct str reply_header(const struct reply *reply, const char *name)
{
	struct str rest = buf_str(&reply->head);

	while (rest.n > 0) {
		struct str value = str_cut(&rest, '\n');

		if (str_eq_nocase(str_cut(&value, ':'), str_of(name)))
			return value;
	}
	return STR_ABSENT;
}

/* A number of digits of that base, and nothing else. */
static bool read_reply_number(struct str text, unsigned base, uint64_t *out)
{
	uint64_t number = 0;

	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];
		unsigned digit = c >= '0' && c <= '9' ? (unsigned)(c - '0')
				 : (c | 32) >= 'a' && (c | 32) <= 'f'
					 ? (unsigned)((c | 32) - 'a') + 10
					 : 16;

		if (digit >= base || i >= DIGITS_MAX)
			return false;
		number = number * base + digit;
	}
	*out = number;
	return text.n > 0;
}

/* HTTP/1.1 200 OK: the reason can be missing. */
static void take_status(struct reply *reply, struct str line)
{
	uint64_t status = 0;
	bool is_http = line.n >= 12 && str_starts_with(line, STR("HTTP/1.")) && line.p[7] >= '0' &&
		       line.p[7] <= '9' && line.p[8] == ' ' &&
		       (line.n == 12 || line.p[12] == ' ') &&
		       read_reply_number((struct str){line.p + 9, 3}, 10, &status);

	reply->head.n = 0;
	reply->has_length = reply->is_chunked = false;
	reply->left = 0;
	if (!is_http || status < 100 || status > 599) {
		break_it(reply, "the answer is not HTTP/1.1");
		return;
	}
	reply->is_old = line.p[7] == '0';
	reply->status = (int)status;
	reply->part = REPLY_HEAD;
}

/* RFC 9112, 6.3: a list of equal numbers is one; anything else is an error. */
static void take_length(struct reply *reply, struct str value)
{
	while (str_is_set(value) && reply->part == REPLY_HEAD) {
		bool is_last = !memchr(value.p, ',', value.n);
		uint64_t length;

		if (!read_reply_number(str_trim(str_cut(&value, ',')), 10, &length) ||
		    (reply->has_length && length != reply->left))
			break_it(reply, "the answer has no valid length");
		else
			reply->left = length;
		reply->has_length = true;
		if (is_last)
			break;
	}
}

static bool is_header_name(struct str name)
{
	for (size_t i = 0; i < name.n; i++) {
		char c = name.p[i];

		if (c <= ' ' || c >= 127 || strchr("\"(),/:;<=>?@[\\]{}", c))
			return false;
	}
	return name.n > 0;
}

static void take_header(struct reply *reply, struct str line)
{
	struct str value = line, name = str_cut(&value, ':');

	value = str_trim(value);
	if (name.n == line.n || !is_header_name(name) || memchr(line.p, '\r', line.n) ||
	    memchr(line.p, '\0', line.n))
		break_it(reply, "the answer's head is malformed");
	else if (reply->head.n + line.n > HEAD_MAX)
		break_it(reply, "the answer's head is too large");
	else if (str_eq_nocase(name, STR("Content-Length")))
		take_length(reply, value);
	else if (str_eq_nocase(name, STR("Transfer-Encoding")) &&
		 (reply->is_chunked || reply->is_old || !str_eq_nocase(value, STR("chunked"))))
		break_it(reply, "the answer has a transfer coding other than chunked");
	else if (str_eq_nocase(name, STR("Transfer-Encoding")))
		reply->is_chunked = true;
	buf_printf(&reply->head, STR_FMT ":" STR_FMT "\n", STR_ARG(name), STR_ARG(value));
}

/* What the answer says of its own bytes. A part of an object can come with the checksum of the
 * whole. */
static bool is_intact(const struct reply *reply)
{
	struct str body = buf_str(&reply->body), crc = reply_header(reply, "x-amz-crc32"), sum;
	uint64_t number;

	if (str_is_set(crc) &&
	    (!read_reply_number(crc, 10, &number) || number != crc32_of(body.p, body.n)))
		return false;
	crc = reply_header(reply, "x-amz-checksum-crc32");
	if (reply->status == 200 && str_is_set(crc) && base64_decode(reply->arena, crc, &sum) &&
	    sum.n == 4 && str_be(sum.p, 4) != crc32_of(body.p, body.n))
		return false;
	crc = reply_header(reply, "x-amz-checksum-sha256");
	if (reply->status == 200 && str_is_set(crc) && base64_decode(reply->arena, crc, &sum) &&
	    sum.n == SHA256_SIZE) {
		unsigned char own[SHA256_SIZE];

		sha256_of(body, own);
		return str_eq(sum, (struct str){(const char *)own, SHA256_SIZE});
	}
	return true; /* "SUM-3" is of an object in parts */
}

/* Text is followed by a NUL. */
static void finish(struct reply *reply)
{
	*buf_reserve(&reply->body, 1) = '\0';
	reply->part = REPLY_WHOLE;
	if (!is_intact(reply))
		break_it(reply, "the answer's checksum is wrong");
}

static void take_end_of_head(struct reply *reply)
{
	if (reply->status < 200) {
		reply->part = REPLY_STATUS;
		if (reply->status == 101 || ++reply->interim > INTERIM_MAX)
			break_it(reply, "the answer never begins");
	} else if (reply->status == 204 || reply->status == 304) {
		finish(reply);
	} else if (reply->has_length && reply->is_chunked) {
		break_it(reply, "the answer tells its length in two ways");
	} else if (reply->has_length && reply->left > reply->most) {
		break_it(reply, "the answer is too large");
	} else if (reply->has_length && reply->left == 0) {
		finish(reply);
	} else {
		reply->part = reply->is_chunked   ? REPLY_SIZE
			      : reply->has_length ? REPLY_LENGTH
						  : REPLY_CLOSE;
	}
}

static void take_size(struct reply *reply, struct str line)
{
	if (!read_reply_number(str_trim(str_cut(&line, ';')), 16, &reply->left))
		break_it(reply, "the answer has a malformed chunk");
	else if (reply->left > reply->most - reply->body.n)
		break_it(reply, "the answer is too large");
	else
		reply->part = reply->left > 0 ? REPLY_CHUNK : REPLY_TRAILER;
}

static void take_line(struct reply *reply, struct str line)
{
	switch (reply->part) {
	case REPLY_STATUS:
		take_status(reply, line);
		break;
	case REPLY_HEAD:
		if (line.n > 0)
			take_header(reply, line);
		else
			take_end_of_head(reply);
		break;
	case REPLY_SIZE:
		take_size(reply, line);
		break;
	case REPLY_CHUNK_END:
		reply->part = REPLY_SIZE;
		if (line.n > 0)
			break_it(reply, "the answer has a malformed chunk");
		break;
	default: /* of a trailer nothing is kept */
		if (line.n == 0)
			finish(reply);
	}
}

/* Up to the end of a line. Returns how many bytes that was. */
static size_t take_of_line(struct reply *reply, struct str bytes)
{
	const char *end = memchr(bytes.p, '\n', bytes.n);
	size_t n = end ? (size_t)(end - bytes.p) : bytes.n;

	reply->overhead += n + 1;
	if (reply->line.n + n > LINE_MAX_BYTES || reply->overhead > HEAD_MAX + OVERHEAD_MAX) {
		break_it(reply, "the answer's head is too large");
		return n;
	}
	buf_add(&reply->line, bytes.p, n);
	if (!end)
		return n;
	struct str line = buf_str(&reply->line);
	if (line.n > 0 && line.p[line.n - 1] == '\r')
		line.n--;
	reply->line.n = 0;
	take_line(reply, line);
	return n + 1;
}

static size_t take_of_body(struct reply *reply, struct str bytes)
{
	bool is_counted = reply->part != REPLY_CLOSE;
	size_t n = is_counted && reply->left < bytes.n ? (size_t)reply->left : bytes.n;

	if (reply->most - reply->body.n < n) {
		break_it(reply, "the answer is too large");
		return n;
	}
	buf_add(&reply->body, bytes.p, n);
	reply->overhead = 0;
	reply->left -= is_counted ? n : 0;
	if (is_counted && reply->left == 0 && reply->part == REPLY_CHUNK)
		reply->part = REPLY_CHUNK_END;
	else if (is_counted && reply->left == 0)
		finish(reply);
	return n;
}

void reply_take(struct reply *reply, struct str bytes)
{
	while (bytes.n > 0 && !reply_is_over(reply)) {
		bool is_body = reply->part == REPLY_LENGTH || reply->part == REPLY_CLOSE ||
			       reply->part == REPLY_CHUNK;
		size_t n = is_body ? take_of_body(reply, bytes) : take_of_line(reply, bytes);

		bytes = (struct str){bytes.p + n, bytes.n - n};
	}
}

void reply_end(struct reply *reply)
{
	if (reply->part == REPLY_CLOSE)
		finish(reply);
	else if (!reply_is_over(reply))
		break_it(reply, reply->part == REPLY_STATUS && reply->line.n == 0
					? "the connection ended without an answer"
					: "the answer was cut off");
}
