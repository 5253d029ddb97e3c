/* Which heads are usual, what they hold, and that a cut or changed one is left alone or says the same. */
#include "server/head.h"

#include <stdio.h>

#include "core/str.h"
#include "tests/unit/test.h"

#define BEGIN "POST / HTTP/1.1\r\n"
#define HOST "Host: localhost:8000\r\n"
#define LENGTH "Content-Length: 12\r\n"

static const char sdk[] = BEGIN HOST "Accept-Encoding: identity\r\nX-Amz-Target: DynamoDB_20120810.GetItem\r\ncontent-type:application/x-amz-json-1.0\r\n"
	"User-Agent: Boto3/1.40 md/Botocore#1.40 ua/2.1 os/linux\r\nX-Amz-Date:   20260101T000000Z\r\nConnection: Keep-Alive\r\n"
	"x-empty:\r\nAuthorization: AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=00\r\n" LENGTH
	"\r\n{\"a\":\"body\"}";

static bool is_usual(const char *text)
{
	struct usual_head head;

	return head_read(text, strlen(text), &head);
}

static struct str name_of(const struct usual_head *head, const char *text, unsigned i)
{
	return (struct str){text + head->lines[i].name, head->lines[i].name_n};
}

static struct str value_of(const struct usual_head *head, const char *text, unsigned i)
{
	return (struct str){text + head->lines[i].value, head->lines[i].value_n};
}

TEST(a_head_of_an_sdk_is_usual)
{
	struct usual_head head;

	CHECK(head_read(sdk, sizeof(sdk) - 1, &head));
	CHECK_INT(head.n, sizeof(sdk) - 1 - 12);
	CHECK_INT(head.body_n, 12);
	CHECK_INT(head.line_count, 10);
	CHECK_STR(name_of(&head, sdk, 0), "Host");
	CHECK_STR(value_of(&head, sdk, 0), "localhost:8000");
	CHECK_STR(value_of(&head, sdk, 3), "application/x-amz-json-1.0");
	CHECK_STR(value_of(&head, sdk, 5), "20260101T000000Z");
	CHECK_STR(name_of(&head, sdk, 7), "x-empty");
	CHECK_STR(value_of(&head, sdk, 7), "");
	CHECK_STR(value_of(&head, sdk, 9), "12");
}

TEST(a_head_that_is_cut_is_left_alone)
{
	struct usual_head head;

	for (size_t n = 0; n < sizeof(sdk) - 1; n++)
		CHECK_INT(head_read(sdk, n, &head), n >= sizeof(sdk) - 1 - 12);
}

TEST(heads_that_ask_for_more_are_left_alone)
{
	static const char *const others[] = {
		"GET / HTTP/1.1\r\n" HOST LENGTH "\r\n", "POST /a HTTP/1.1\r\n" HOST LENGTH "\r\n", "POST / HTTP/1.0\r\n" HOST LENGTH "\r\n",
		"POST  / HTTP/1.1\r\n" HOST LENGTH "\r\n", "\r\n" BEGIN HOST LENGTH "\r\n", "POST / HTTP/1.1\n" HOST LENGTH "\r\n",
		BEGIN HOST "\r\n", BEGIN LENGTH "\r\n", BEGIN HOST HOST LENGTH "\r\n", BEGIN HOST LENGTH LENGTH "\r\n",
		BEGIN HOST "Content-Length:\r\n\r\n", BEGIN HOST "Content-Length: 1 \r\n\r\n", BEGIN HOST "Content-Length: +1\r\n\r\n",
		BEGIN HOST "Content-Length: 1,1\r\n\r\n", BEGIN HOST "Content-Length: 1234567890\r\n\r\n", BEGIN HOST LENGTH "Content-Length-A: 1\r\n\r\n",
		BEGIN HOST LENGTH "Transfer-Encoding: chunked\r\n\r\n", BEGIN HOST LENGTH "transfer-encodings: a\r\n\r\n", BEGIN HOST LENGTH "TE: trailers\r\n\r\n",
		BEGIN HOST LENGTH "Trailer: a\r\n\r\n", BEGIN HOST LENGTH "Expect: 100-continue\r\n\r\n", BEGIN HOST LENGTH "Upgrade: h2c\r\n\r\n",
		BEGIN HOST LENGTH "Connection: close\r\n\r\n", BEGIN HOST LENGTH "Connection: keep-alive, upgrade\r\n\r\n", BEGIN HOST LENGTH "Cookie: a=b\r\n\r\n",
		BEGIN HOST LENGTH "Origin: http://a\r\n\r\n", BEGIN HOST LENGTH "Sec-Fetch-Mode: cors\r\n\r\n", BEGIN HOST LENGTH "Proxy-Connection: a\r\n\r\n",
		BEGIN HOST LENGTH "X-Dynalith-Explain: 1\r\n\r\n", BEGIN HOST LENGTH "a : b\r\n\r\n", BEGIN HOST LENGTH ": b\r\n\r\n", BEGIN HOST LENGTH "a\r\n\r\n",
		BEGIN HOST LENGTH "a: b\n\r\n", BEGIN HOST LENGTH "a: b\r\n c\r\n\r\n", BEGIN HOST LENGTH "a: b\rc\r\n\r\n", BEGIN HOST LENGTH "a: \tb\tc\r\n\r\n",
		BEGIN HOST LENGTH "a: b\x7f\r\n\r\n", BEGIN HOST LENGTH "a: \xc3\xa9\r\n\r\n", BEGIN HOST LENGTH "a\xe9: b\r\n\r\n", BEGIN HOST LENGTH "\rA: b\r\n\r\n",
		BEGIN "Host: a b\r\n" LENGTH "\r\n", BEGIN HOST LENGTH "\n", BEGIN HOST LENGTH "\r\r",
	};

	CHECK(is_usual(BEGIN HOST LENGTH "\r\n"));
	CHECK(is_usual(BEGIN "HOST:[::1]:1\r\ncontent-length:0\r\nconnection: KEEP-ALIVE\r\ntea: x\r\nExpected: y\r\nhosts: z\r\n\r\n"));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		CHECK(!is_usual(others[i]));
		if (is_usual(others[i]))
			printf("usual: %s\n", others[i]);
	}
}

TEST(a_nul_is_never_usual)
{
	static const char head_text[] = BEGIN HOST LENGTH "a: b\0c\r\n\r\n", in_name[] = BEGIN HOST LENGTH "a\0: b\r\n\r\n";
	struct usual_head head;

	CHECK(!head_read(head_text, sizeof(head_text) - 1, &head));
	CHECK(!head_read(in_name, sizeof(in_name) - 1, &head));
}

TEST(many_and_long_lines_have_a_limit)
{
	char text[2 * HEAD_TEXT];
	struct usual_head head;

	for (int lines = 28; lines < 36; lines++) {
		int n = snprintf(text, sizeof(text), BEGIN HOST LENGTH);

		for (int i = 2; i < lines; i++)
			n += snprintf(text + n, sizeof(text) - (size_t)n, "a%d: b\r\n", i);
		n += snprintf(text + n, sizeof(text) - (size_t)n, "\r\n");
		CHECK_INT(head_read(text, (size_t)n, &head), lines <= HEAD_LINES);
	}
	for (int spaces = HEAD_TEXT - 200; spaces < HEAD_TEXT; spaces++) {
		int n = snprintf(text, sizeof(text), BEGIN HOST LENGTH "a:%*sb\r\n\r\n", spaces, "");

		CHECK_INT(head_read(text, (size_t)n, &head), n <= HEAD_TEXT);
	}
}

TEST(a_short_head_is_usual_and_fits)
{
	struct usual_head head = {.body_n = 999999999}, again;
	char text[HEAD_SHORT];
	size_t n = head_shorten(&head, text);

	CHECK(n <= sizeof(text));
	CHECK(head_read(text, n, &again));
	CHECK_INT(again.body_n, head.body_n);
	CHECK_INT(again.n, n);
	head.body_n = 0;
	n = head_shorten(&head, text);
	CHECK(head_read(text, n, &again));
	CHECK_INT(again.body_n, 0);
	CHECK_STR(value_of(&again, text, 0), HEAD_HOST);
}

int main(void)
{
	static const struct test_case cases[] = {
		TEST_CASE(a_head_of_an_sdk_is_usual), TEST_CASE(a_head_that_is_cut_is_left_alone), TEST_CASE(heads_that_ask_for_more_are_left_alone),
		TEST_CASE(a_nul_is_never_usual), TEST_CASE(many_and_long_lines_have_a_limit), TEST_CASE(a_short_head_is_usual_and_fits),
	};

	return test_run(__FILE__, cases, sizeof(cases) / sizeof(cases[0]));
}
