#include "server/origin.h"

#include "tests/unit/test.h"

TEST(origins_of_a_list)
{
	static const struct {
		const char *list, *origin;
		bool is_listed, is_listed_for_own;
	} rows[] = {
		{"*", "http://example.com", true, false},
		{"*", "null", true, false},
		{"*", "http://localhost:3000", true, true},
		{"loopback", "http://localhost", true, true},
		{"loopback", "https://localhost:8443", true, true},
		{"loopback", "http://app.localhost:3000", true, true},
		{"loopback", "http://127.0.0.1:5173", true, true},
		{"loopback", "http://127.8.9.1", true, true},
		{"loopback", "http://[::1]:3000", true, true},
		{"loopback", "http://[::ffff:7f00:1]:3000", true, true},
		{"loopback", "http://[::2]:3000", false, false},
		{"loopback", "http://[::1", false, false},
		{"loopback", "http://[::1]x", false, false},
		{"loopback", "http://127.0.0.1.example.com", false, false},
		{"loopback", "http://localhost.example.com", false, false},
		{"loopback", "http://evillocalhost", false, false},
		{"loopback", "http://localhost:80@example.com", false, false},
		{"loopback", "http://localhost/", false, false},
		{"loopback", "http://127.0.0.256", false, false},
		{"loopback", "http://128.0.0.1", false, false},
		{"loopback", "http://", false, false},
		{"loopback", "loopback", true, true}, /* no browser has it */
		{"loopback", "null", false, false},
		{"loopback", "", false, false},
		{"loopback", "ftp://localhost", false, false},
		{"http://a, http://b", "http://b", true, true},
		{"http://a,,http://b", "", false, false},
		{"http://a,http://b", "http://b:80", false, false},
		{"http://a", "http://localhost", false, false},
		{"http://a,loopback", "http://localhost", true, true},
		{"http://a,*", "http://b", true, false},
		{"none", "http://localhost", false, false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CHECK(origin_is_listed(rows[i].list, false, str_of(rows[i].origin)) ==
		      rows[i].is_listed);
		CHECK(origin_is_listed(rows[i].list, true, str_of(rows[i].origin)) ==
		      rows[i].is_listed_for_own);
	}
	CHECK(!origin_is_listed("*", false, STR_ABSENT));
}

/* Requests by what they say of themselves: origin, Sec-Fetch-Site, its other three in one, host,
 * Accept-Language. */
struct row {
	const char *origin, *site, *mode, *host, *language;
	bool is_get, may;
};

static void check_rows(const char *list, bool is_own_page, const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct row *r = &rows[i];
		struct origin_signs signs = {.origin = str_of(r->origin),
					     .site = str_of(r->site),
					     .mode = str_of(r->mode),
					     .host = str_of(r->host),
					     .language = str_of(r->language),
					     .is_get = r->is_get};

		if (origin_may_call(list, is_own_page, &signs) != r->may)
			printf("row %zu\n", i);
		CHECK(origin_may_call(list, is_own_page, &signs) == r->may);
	}
}

#define CHECK_ROWS(list, is_own_page, rows)                                                        \
	check_rows(list, is_own_page, rows, sizeof(rows) / sizeof((rows)[0]))

TEST(who_may_call_by_default)
{
	static const struct row rows[] = {
		/* no browsers: any host */
		{NULL, NULL, NULL, "dynamo.example.com:8000", NULL, false, true},
		{NULL, NULL, NULL, "dynamo.example.com:8000", NULL, true, true},
		{NULL, NULL, NULL, NULL, NULL, true, true},
		{NULL, NULL, "cors", "dynalith:8000", "*", false, true}, /* Node.js' fetch */
		{NULL, NULL, "cors", "db.svc.cluster.local:8000", "*", true, true},
		{NULL, NULL, NULL, "dynalith:8000", "en", true, true}, /* no name of the world's */
		/* pages of other sites */
		{"http://evil.example", "cross-site", "no-cors", "localhost:8000", "en", false,
		 false},
		{"http://evil.example", NULL, NULL, "localhost:8000", NULL, false, false},
		{"null", "cross-site", "cors", "localhost:8000", "en", false, false},
		{"", NULL, NULL, "localhost:8000", NULL, false, false},
		{NULL, "cross-site", "no-cors", "localhost:8000", "en", true, false},
		{NULL, "cross-site", "navigate", "localhost:8000", "en", true, false},
		{NULL, "same-site", "no-cors", "db.example.com", "en", true, false},
		{NULL, NULL, "no-cors", "evil.example:8000", NULL, true, false},
		{NULL, "", NULL, "localhost:8000", NULL, true, false},
		/* rebound */
		{"http://evil.example:8000", "same-origin", "cors", "evil.example:8000", "en",
		 false, false},
		{"http://evil.example:8000", NULL, NULL, "evil.example:8000", "en", false, false},
		{NULL, "same-origin", "cors", "evil.example:8000", "en", true, false},
		{NULL, NULL, NULL, "evil.example:8000", "en", true, false},
		{NULL, NULL, NULL, "evil.example:8000", "*", true, false},
		{NULL, "none", "navigate", "evil.example:8000", "en", false, false},
		/* pages of this machine, and the user */
		{"http://localhost:3000", "same-site", "cors", "localhost:8000", "en", false, true},
		{"http://localhost:3000", "cross-site", "cors", "127.0.0.1:8000", "en", false,
		 true},
		{"http://[::1]:3000", "cross-site", "cors", "127.0.0.1:8000", "en", false, true},
		{"http://localhost:8000", "same-origin", "cors", "localhost:8000", "en", false,
		 true},
		{NULL, "same-origin", "cors", "localhost:8000", "en", true, true},
		{NULL, "same-site", "no-cors", "localhost:8000", "en", true, true},
		{NULL, "none", "navigate", "localhost:8000", "en", true, true},
		/* a page of an address was the server's own */
		{"http://10.1.2.3:8000", "same-origin", "cors", "10.1.2.3:8000", "en", false, true},
		{"http://10.1.2.3:9000", "same-site", "cors", "10.1.2.3:8000", "en", false, false},
		{NULL, "same-origin", "cors", "10.1.2.3:8000", "en", true, true},
		{NULL, NULL, NULL, "10.1.2.3:8000", "en", true, true},
	};

	CHECK_ROWS("loopback", false, rows);
	CHECK_ROWS("loopback", true, rows);
	CHECK_ROWS("*", true, rows);
}

TEST(who_may_call_where_origins_are_named)
{
	static const struct row rows[] = {
		{"http://app.example", "cross-site", "cors", "localhost:8000", "en", false, true},
		{"http://localhost:3000", "same-site", "cors", "localhost:8000", "en", false,
		 false},
		{"http://localhost:8000", "same-origin", "cors", "localhost:8000", "en", false,
		 true},
		{NULL, "same-site", "no-cors", "localhost:8000", "en", true, false},
		{"https://db.example", "same-origin", "cors", "db.example", "en", false, true},
		{NULL, "same-origin", "cors", "db.example", "en", true, true},
		{NULL, NULL, NULL, "db.example", "en", true, true},
		{NULL, NULL, NULL, "evil.example", "en", true, false},
	};

	CHECK_ROWS("http://app.example,https://db.example", false, rows);
	CHECK_ROWS("http://app.example,https://db.example", true, rows);
}

TEST(all_may_call_the_api_where_all_are_allowed)
{
	static const struct row rows[] = {
		{"http://evil.example", "cross-site", "cors", "localhost:8000", "en", false, true},
		{NULL, "same-origin", "cors", "evil.example:8000", "en", true, true},
		{NULL, NULL, NULL, "evil.example:8000", "en", true, true},
	};

	CHECK_ROWS("*", false, rows);
}

TEST(own_pages_are_of_the_same_origin)
{
	static const struct {
		const char *origin, *site, *host;
		bool is_own;
	} rows[] = {
		{NULL, "same-origin", "localhost:8000", true},
		{"http://localhost:8000", "same-site", "localhost:8000", false},
		{NULL, "none", "localhost:8000", false},
		{"http://db:8000", NULL, "DB:8000", true}, /* no Sec-Fetch-Site by plain HTTP */
		{"http://db:8001", NULL, "db:8000", false},
		{"null", NULL, "db:8000", false},
		{NULL, NULL, "db:8000", false},
		{NULL, NULL, NULL, false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct origin_signs signs = {.origin = str_of(rows[i].origin),
					     .site = str_of(rows[i].site),
					     .host = str_of(rows[i].host)};

		CHECK(origin_is_own_page(&signs) == rows[i].is_own);
	}
}

TEST_MAIN(TEST_CASE(origins_of_a_list), TEST_CASE(who_may_call_by_default),
	  TEST_CASE(who_may_call_where_origins_are_named),
	  TEST_CASE(all_may_call_the_api_where_all_are_allowed),
	  TEST_CASE(own_pages_are_of_the_same_origin))
