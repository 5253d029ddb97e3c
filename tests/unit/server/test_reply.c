/* Replies of HTTP, whole and broken, in pieces of any size. */
#include "server/client/reply.h"

#include <stdlib.h>

#include "tests/unit/test.h"

#define MOST 100
#define OK_HEAD "HTTP/1.1 200 OK\r\n"
#define CHUNKED OK_HEAD "Transfer-Encoding: chunked\r\n\r\n"

static const struct row {
	const char *bytes, *body; /* body NULL: it is broken */
	const char *problem;
	bool needs_end;           /* the end of the connection decides */
} rows[] = {
	{OK_HEAD "Content-Length: 5\r\n\r\nhello", "hello", NULL, false},
	{"HTTP/1.1 200\r\ncontent-length:5 \r\n\r\nhello and more", "hello", NULL, false},
	{"HTTP/1.0 200 OK\nContent-Length: 5\n\nhello", "hello", NULL, false},
	{OK_HEAD "Content-Length: 5, 5\r\nContent-Length: 5\r\n\r\nhello", "hello", NULL, false},
	{OK_HEAD "Content-Length: 0\r\n\r\n", "", NULL, false},
	{"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", "", NULL, false},
	{OK_HEAD "\r\nhello", "hello", NULL, true},
	{OK_HEAD "\r\n", "", NULL, true},
	{CHUNKED "2\r\nhe\r\n003;name=\"value\"\r\nllo\r\n0\r\n\r\n", "hello", NULL, false},
	{CHUNKED "5\r\nhello\r\n0\r\nX-Trailer: 1\r\n\r\n", "hello", NULL, false},
	{"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" OK_HEAD
	 "Content-Length: 5\r\n\r\nhello",
	 "hello", NULL, false},
	{OK_HEAD "Content-Length: 5\r\nx-amz-crc32: 907060870\r\n\r\nhello", "hello", NULL, false},
	{OK_HEAD "Content-Length: 5\r\nx-amz-checksum-crc32: NhCmhg==\r\n\r\nhello", "hello", NULL,
	 false},
	{"HTTP/1.1 206 Part\r\nContent-Length: 5\r\nx-amz-checksum-crc32: AAAAAA==\r\n\r\nhello",
	 "hello", NULL, false},
	{OK_HEAD "Content-Length: 5\r\nx-amz-checksum-sha256: "
		 "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=\r\n\r\nhello",
	 "hello", NULL, false},
	/* what is not whole */
	{"", NULL, "the connection ended without an answer", true},
	{"HTTP/1.1 2", NULL, "the answer was cut off", true},
	{OK_HEAD "Content-Length: 5\r\n", NULL, "the answer was cut off", true},
	{OK_HEAD "Content-Length: 5\r\n\r\nhell", NULL, "the answer was cut off", true},
	{CHUNKED "5\r\nhello\r\n", NULL, "the answer was cut off", true},
	{CHUNKED "5\r\nhello\r\n0\r\n", NULL, "the answer was cut off", true},
	{CHUNKED "5\r\nhello", NULL, "the answer was cut off", true},
	{"HTTP/1.1 100 Continue\r\n\r\n", NULL, "the connection ended without an answer", true},
	/* what is told in two ways, or in none */
	{OK_HEAD "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello", NULL,
	 "the answer has no valid length", false},
	{OK_HEAD "Content-Length: 5, 6\r\n\r\nhello", NULL, "the answer has no valid length",
	 false},
	{OK_HEAD "Content-Length: 5,\r\n\r\nhello", NULL, "the answer has no valid length", false},
	{OK_HEAD "Content-Length: \r\n\r\nhello", NULL, "the answer has no valid length", false},
	{OK_HEAD "Content-Length: +5\r\n\r\nhello", NULL, "the answer has no valid length", false},
	{OK_HEAD "Content-Length: 5x\r\n\r\nhello", NULL, "the answer has no valid length", false},
	{OK_HEAD "Content-Length: 18446744073709551621\r\n\r\nhello", NULL,
	 "the answer has no valid length", false},
	{OK_HEAD "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
	 NULL, "the answer tells its length in two ways", false},
	{OK_HEAD "Transfer-Encoding: gzip, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", NULL,
	 "the answer has a transfer coding other than chunked", false},
	{OK_HEAD "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", NULL,
	 "the answer has a transfer coding other than chunked", false},
	{"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", NULL,
	 "the answer has a transfer coding other than chunked", false},
	{CHUNKED "\r\nhello\r\n0\r\n\r\n", NULL, "the answer has a malformed chunk", false},
	{CHUNKED "x\r\nhello\r\n0\r\n\r\n", NULL, "the answer has a malformed chunk", false},
	{CHUNKED "-5\r\nhello\r\n0\r\n\r\n", NULL, "the answer has a malformed chunk", false},
	{CHUNKED "4\r\nhello\r\n0\r\n\r\n", NULL, "the answer has a malformed chunk", false},
	{CHUNKED "10000000000000000\r\n", NULL, "the answer has a malformed chunk", false},
	/* what is too large */
	{OK_HEAD "Content-Length: 101\r\n\r\n", NULL, "the answer is too large", false},
	{CHUNKED "65\r\n", NULL, "the answer is too large", false},
	{CHUNKED "32\r\n01234567890123456789012345678901234567890123456789\r\n33\r\n", NULL,
	 "the answer is too large", false},
	{OK_HEAD "\r\n01234567890123456789012345678901234567890123456789012345678901234567890123456"
		 "789012345678901234567890",
	 NULL, "the answer is too large", false},
	/* what is no HTTP */
	{"HELO\r\n", NULL, "the answer is not HTTP/1.1", false},
	{"HTTP/2.0 200 OK\r\n", NULL, "the answer is not HTTP/1.1", false},
	{"HTTP/1.1 2000 OK\r\n", NULL, "the answer is not HTTP/1.1", false},
	{"HTTP/1.1 099 OK\r\n", NULL, "the answer is not HTTP/1.1", false},
	{"HTTP/1.1 101 Switching Protocols\r\n\r\n", NULL, "the answer never begins", false},
	{OK_HEAD "Content-Length : 5\r\n\r\nhello", NULL, "the answer's head is malformed", false},
	{OK_HEAD "A: b\r\n Content-Length: 5\r\n\r\nhello", NULL, "the answer's head is malformed",
	 false},
	{OK_HEAD "no colon\r\n\r\nhello", NULL, "the answer's head is malformed", false},
	{OK_HEAD "A: b\rContent-Length: 5\r\n\r\nhello", NULL, "the answer's head is malformed",
	 false},
	/* what was changed on the way */
	{OK_HEAD "Content-Length: 5\r\nx-amz-crc32: 907060871\r\n\r\nhello", NULL,
	 "the answer's checksum is wrong", false},
	{OK_HEAD "Content-Length: 5\r\nx-amz-crc32: none\r\n\r\nhello", NULL,
	 "the answer's checksum is wrong", false},
	{OK_HEAD "Content-Length: 5\r\nx-amz-checksum-crc32: AAAAAA==\r\n\r\nhello", NULL,
	 "the answer's checksum is wrong", false},
	{OK_HEAD "Content-Length: 5\r\nx-amz-checksum-sha256: "
		 "AAJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=\r\n\r\nhello",
	 NULL, "the answer's checksum is wrong", false},
};

static struct arena *arena;

static void give(struct reply *reply, struct str bytes, size_t piece)
{
	for (size_t at = 0; at < bytes.n; at += piece) {
		size_t n = bytes.n - at < piece ? bytes.n - at : piece;
		char *own =
			arena_checked(malloc(n)); /* so that ASan sees a step beyond the piece */

		memcpy(own, bytes.p + at, n);
		reply_take(reply, (struct str){own, n});
		free(own);
	}
}

static void judge(const struct row *row, size_t piece)
{
	struct reply reply = reply_in(arena, MOST);

	give(&reply, str_of(row->bytes), piece);
	CHECK_INT(reply_is_over(&reply), !row->needs_end);
	reply_end(&reply);
	CHECK_INT(reply.part, row->body ? REPLY_WHOLE : REPLY_BROKEN);
	if (row->body)
		CHECK_STR(buf_str(&reply.body), row->body);
	else if (reply.part == REPLY_BROKEN)
		CHECK_STR(str_of(reply.problem), row->problem);
}

TEST(whole_or_broken)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int before = test_failures;

		for (size_t piece = 1; piece < 12; piece++)
			judge(&rows[i], piece);
		judge(&rows[i], 1 << 20);
		if (test_failures > before)
			fprintf(stderr, "row %zu: %s\n", i, rows[i].bytes);
		arena_reset(arena);
	}
}

/* Each of these goes on for ever, and none grows. */
TEST(what_has_no_end_is_broken)
{
	static const char *const endless[][2] = {
		{"", "HTTP/1.1 100 Continue\r\n\r\n"},
		{"", "HTTP/1.1 200 "},
		{OK_HEAD, "A: b\r\n"},
		{OK_HEAD, "A"},
		{CHUNKED, "0"},
		{CHUNKED "0\r\n", "A: b\r\n"},
		{CHUNKED "1;", "extension"},
		{CHUNKED, "1\r\nx\r\n"},
		{OK_HEAD "\r\n", "x"},
	};

	for (size_t i = 0; i < sizeof(endless) / sizeof(endless[0]); i++) {
		struct reply reply = reply_in(arena, MOST);
		size_t n = 0;

		reply_take(&reply, str_of(endless[i][0]));
		while (!reply_is_over(&reply) && ++n < 1000000)
			reply_take(&reply, str_of(endless[i][1]));
		CHECK_INT(reply.part, REPLY_BROKEN);
		CHECK(reply.line.cap + reply.head.cap + reply.body.cap < 500000);
		arena_reset(arena);
	}
}

TEST(headers_are_found)
{
	struct reply reply = reply_in(arena, MOST);

	reply_take(&reply, STR("HTTP/1.1 100 Continue\r\nx-one: before\r\n\r\n" OK_HEAD
			       "X-One:  a b \r\nX-Two:\r\n\r\n"));
	CHECK_STR(reply_header(&reply, "x-one"), "a b");
	CHECK_STR(reply_header(&reply, "X-TWO"), "");
	CHECK(!str_is_set(reply_header(&reply, "x")));
	arena_reset(arena);
}

int main(void)
{
	static const struct test_case cases[] = {TEST_CASE(whole_or_broken),
						 TEST_CASE(what_has_no_end_is_broken),
						 TEST_CASE(headers_are_found)};

	arena = arena_new(0);
	int status = test_run(__FILE__, cases, sizeof(cases) / sizeof(cases[0]));
	arena_free(arena);
	return status;
}
