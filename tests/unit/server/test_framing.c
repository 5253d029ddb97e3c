#include "server/http/framing.h"

#include "tests/unit/test.h"

static struct framing judge(const char *target, const char *version, const char *const (*lines)[2])
{
	struct arena *arena = arena_new(0);
	struct headers headers = {0};

	for (size_t i = 0; lines[i][0]; i++)
		headers_add(&headers, arena, str_of(lines[i][0]), str_of(lines[i][1]));
	struct framing framing = framing_of(str_of(target), version, &headers);
	arena_free(arena);
	return framing;
}

#define HOST {"Host", "x"}
#define MOST 4

TEST(a_head_that_can_be_read_in_one_way_is_good)
{
	static const struct {
		const char *version, *lines[MOST][2];
		uint64_t length;
		bool has_body;
	} cases[] = {
		{"HTTP/1.1", {HOST}, 0, false},
		{"HTTP/1.1", {HOST, {"Content-Length", "0"}}, 0, false},
		{"HTTP/1.1", {HOST, {"content-length", "0012"}}, 12, true},
		{"HTTP/1.1", {HOST, {"Content-Length", "18446744073709551616"}}, UINT64_MAX, true},
		{"HTTP/1.1", {HOST, {"TRANSFER-ENCODING", "Chunked"}}, 0, true},
		{"HTTP/1.1",
		 {HOST, {"Content", "Content-Length"}, {"Transfer", "-Encoding"}},
		 0,
		 false},
		{"HTTP/1.0", {{"Content-Length", "2"}}, 2, true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct framing framing = judge("/", cases[i].version, cases[i].lines);

		CHECK(framing.is_good && framing.has_body == cases[i].has_body);
		CHECK_INT(framing.length, cases[i].length);
		CHECK(!framing.is_from_browser && !framing.is_explained);
	}
}

TEST(what_other_servers_may_read_in_another_way_is_bad)
{
	static const struct {
		const char *target, *version, *lines[MOST][2];
	} cases[] = {
		{"/",
		 "HTTP/1.1",
		 {HOST, {"Content-Length", "4"}, {"Transfer-Encoding", "chunked"}}},
		{"/", "HTTP/1.1", {HOST, {"Content-Length", "2"}, {"content-length", "2"}}},
		{"/",
		 "HTTP/1.1",
		 {HOST, {"Transfer-Encoding", "chunked"}, {"Transfer-Encoding", "chunked"}}},
		{"/", "HTTP/1.1", {HOST, {"Transfer-Encoding", "gzip, chunked"}}},
		{"/", "HTTP/1.1", {HOST, {"Transfer-Encoding", "\vchunked"}}},
		{"/",
		 "HTTP/1.1",
		 {HOST,
		  {"Transfer-Encoding chunked",
		   "x"}}}, /* as libmicrohttpd hands out a folded line */
		{"/", "HTTP/1.1", {HOST, {"Content-Length2", "2"}}},
		{"/", "HTTP/1.1", {HOST, {"Content-Length ", "2"}}},
		{"/", "HTTP/1.1", {HOST, {"Content-Length\t", "2"}}},
		{"/", "HTTP/1.1", {HOST, {"a b", "c"}}},
		{"/", "HTTP/1.1", {HOST, {"", "c"}}},
		{"/", "HTTP/1.1", {HOST, {"X", "a\rTransfer-Encoding: chunked"}}},
		{"/", "HTTP/1.1", {HOST, {"X\rY", "a"}}},
		{"/", "HTTP/1.1", {HOST, {"Content-Length", ""}}},
		{"/", "HTTP/1.1", {HOST, {"Content-Length", "+2"}}},
		{"/", "HTTP/1.1", {HOST, {"Content-Length", "2 "}}},
		{"/", "HTTP/1.1", {{"X", "a"}}},
		{"/", "HTTP/1.1", {HOST, {"host", "y"}}},
		{"/", "HTTP/1.1", {{"Host", "a b"}}},
		{"/", "HTTP/1.0", {HOST, HOST}},
		{"/", "HTTP/1.0", {HOST, {"Transfer-Encoding", "chunked"}}},
		{"/a b", "HTTP/1.1", {HOST}},
		{"", "HTTP/1.1", {HOST}},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CHECK(!judge(cases[i].target, cases[i].version, cases[i].lines).is_good);
}

TEST(a_head_says_who_sent_it)
{
	static const char *const origin[][2] = {HOST, {"origin", "http://x"}, {NULL, NULL}};
	static const char *const site[][2] = {HOST, {"SEC-FETCH-Site", "none"}, {NULL, NULL}};
	static const char *const explain[][2] = {HOST, {"X-Dynalith-Explain", "1"}, {NULL, NULL}};
	static const char *const none[][2] = {
		HOST, {"X-Dynalith-Explain", "0"}, {"Sec", "Fetch"}, {NULL, NULL}};

	CHECK(judge("/", "HTTP/1.1", origin).is_from_browser &&
	      judge("/", "HTTP/1.1", site).is_from_browser);
	CHECK(judge("/", "HTTP/1.1", explain).is_explained &&
	      !judge("/", "HTTP/1.1", explain).is_from_browser);
	CHECK(!judge("/", "HTTP/1.1", none).is_explained &&
	      !judge("/", "HTTP/1.1", none).is_from_browser);
}

TEST_MAIN(TEST_CASE(a_head_that_can_be_read_in_one_way_is_good),
	  TEST_CASE(what_other_servers_may_read_in_another_way_is_bad),
	  TEST_CASE(a_head_says_who_sent_it))
