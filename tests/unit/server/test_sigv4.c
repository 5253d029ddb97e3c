/*
 * AWS's published example requests ("Signature Version 4 test suite": access key AKIDEXAMPLE,
 * 20150830T123600Z, us-east-1) are for the service "service"; the mode verify wants "dynamodb". The
 * expected values below for dynamodb were made with botocore 1.44.5.
 */
#include "server/sigv4.h"

#include "tests/unit/test.h"

#include "tests/unit/server/sigv4_vectors.h"

static struct arena *arena;

/* The arena is of all tests. */
static const struct headers *headers_of(const struct vector *vector)
{
	struct headers *headers = ARENA_NEW(arena, struct headers);

	for (size_t i = 0;
	     i < sizeof(vector->headers) / sizeof(vector->headers[0]) && vector->headers[i][0]; i++)
		headers_add(headers, arena, str_of(vector->headers[i][0]),
			    str_of(vector->headers[i][1]));
	return headers;
}

static enum code check_vector(const struct vector *vector, enum auth_mode mode, int64_t now_s,
			      const char *secret, struct ns *ns, struct err *err)
{
	struct credential credentials[] = {
		{.access_key = STR("AKIDEXAMPLE"), .secret = str_of(secret)}};
	struct sigv4 *sigv4 = sigv4_new(mode, credentials, 1);
	struct sigv4_request request = {str_of(vector->method), str_of(vector->path),
					str_of(vector->query),  str_of(vector->body),
					headers_of(vector),     false};

	*err = err_in(arena);
	enum code code = sigv4_check(sigv4, arena, &request, now_s, ns, err);
	if (code == OK) /* the derived key comes from the cache the second time */
		CHECK_INT(sigv4_check(sigv4, arena, &request, now_s, ns, err), OK);
	sigv4_free(sigv4);
	return code;
}

TEST(signatures_of_botocore_hold)
{
	struct err err;
	struct ns ns;

	for (size_t i = 0; i < VECTORS; i++) {
		enum code code = check_vector(&vectors[i], AUTH_VERIFY, VECTOR_TIME, VECTOR_SECRET,
					      &ns, &err);

		CHECK_INT(code, OK);
		if (code != OK)
			fprintf(stderr, "%s: " STR_FMT "\n", vectors[i].name, STR_ARG(err.message));
		CHECK_STR(ns.region, "eu-central-1");
		CHECK_STR(ns.account, "000000000000");
	}
}

TEST(wrong_signatures_do_not)
{
	struct vector changed = vectors[0];
	struct err err;
	struct ns ns;

	changed.body = "{\"TableName\":\"other\"}";
	CHECK_INT(check_vector(&changed, AUTH_VERIFY, VECTOR_TIME, VECTOR_SECRET, &ns, &err),
		  ERR_INVALID_SIGNATURE);
	CHECK(str_starts_with(err.message,
			      STR("The request signature we calculated does not match")));
	CHECK_INT(check_vector(&vectors[0], AUTH_VERIFY, VECTOR_TIME, "another secret", &ns, &err),
		  ERR_INVALID_SIGNATURE);
	CHECK_INT(check_vector(&vectors[0], AUTH_VERIFY, VECTOR_TIME + SIGV4_SKEW_S + 1,
			       VECTOR_SECRET, &ns, &err),
		  ERR_INVALID_SIGNATURE);
	CHECK(str_starts_with(err.message, STR("Signature expired: ")));
	CHECK_INT(check_vector(&vectors[0], AUTH_VERIFY, VECTOR_TIME - SIGV4_SKEW_S - 1,
			       VECTOR_SECRET, &ns, &err),
		  ERR_INVALID_SIGNATURE);
	CHECK(str_starts_with(err.message, STR("Signature not yet current: ")));
	CHECK_INT(check_vector(&vectors[0], AUTH_VERIFY, VECTOR_TIME + SIGV4_SKEW_S - 1,
			       VECTOR_SECRET, &ns, &err),
		  OK);
}

static struct str check_presigned(const char *query)
{
	struct vector presigned = {.method = "GET",
				   .path = "/",
				   .query = query,
				   .body = "",
				   .headers = {{"Host", "localhost:8000"}}};
	struct err err;
	struct ns ns;

	CHECK_INT(check_vector(&presigned, AUTH_VERIFY, VECTOR_TIME, VECTOR_SECRET, &ns, &err),
		  ERR_INVALID_SIGNATURE);
	return err.message;
}

/* AWS: "Authenticating requests: using query parameters": X-Amz-Expires is 604800 at most. What is
 * longer was good for ever. */
TEST(presigned_urls_are_good_for_a_week)
{
#define PRESIGNED(expires)                                                                         \
	"X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIDEXAMPLE%2F20150830%2Feu-central-1%" \
	"2Fdynamodb%2Faws4_request"                                                                \
	"&X-Amz-Date=20150830T123600Z&X-Amz-Expires=" expires                                      \
	"&X-Amz-SignedHeaders=host&X-Amz-Signature=0"
	CHECK_STR(check_presigned(PRESIGNED("604801")),
		  "X-Amz-Expires must be less than a week (in seconds); that is, the given "
		  "X-Amz-Expires "
		  "must be less than 604800 seconds");
	CHECK(str_starts_with(check_presigned(PRESIGNED("99999999999999999999999")),
			      STR("X-Amz-Expires must be less than a week")));
	CHECK_STR(check_presigned(PRESIGNED("-1")), "X-Amz-Expires must be non-negative");
	CHECK_STR(check_presigned(PRESIGNED("")), "X-Amz-Expires should be a number");
	CHECK_STR(check_presigned(PRESIGNED("60s")), "X-Amz-Expires should be a number");
	CHECK(str_starts_with(check_presigned(PRESIGNED("604800")),
			      STR("The request signature we calculated does not match")));
}

TEST(what_is_missing_is_named)
{
	struct vector bare = {.method = "POST", .path = "/", .query = "", .body = "{}"};
	struct err err;
	struct ns ns;

	CHECK_INT(check_vector(&bare, AUTH_OPEN, 0, "", &ns, &err), ERR_MISSING_AUTH_TOKEN);
	CHECK_INT(check_vector(&bare, AUTH_OFF, 0, "", &ns, &err), OK);
	CHECK_STR(ns.account, "000000000000");
	CHECK_STR(ns.region, "us-east-1");
	bare.headers[0][0] = "authorization";
	bare.headers[0][1] = "AWS4-HMAC-SHA256 SignedHeaders=host";
	CHECK_INT(check_vector(&bare, AUTH_VERIFY, 0, "", &ns, &err), ERR_INCOMPLETE_SIGNATURE);
	CHECK(str_starts_with(err.message,
			      STR("Authorization header requires 'Credential' parameter. ")));
	bare.headers[0][1] =
		"AWS4-HMAC-SHA256 Credential=a/20150830/us-east-1/dynamodb/aws4_request";
	CHECK_INT(check_vector(&bare, AUTH_OPEN, 0, "", &ns, &err), ERR_INCOMPLETE_SIGNATURE);
	CHECK_STR(err.message, "Authorization header requires 'Signature' parameter. Authorization "
			       "header requires 'SignedHeaders' parameter. "
			       "Authorization header requires existence of either a 'X-Amz-Date' "
			       "or a 'Date' header. Authorization=AWS4-HMAC-SHA256 "
			       "Credential=a/20150830/us-east-1/dynamodb/aws4_request");
}

TEST(open_takes_any_key_and_names_the_account)
{
	struct vector any = {
		.method = "POST",
		.path = "/",
		.query = "",
		.body = "{}",
		.headers = {{"Authorization",
			     "AWS4-HMAC-SHA256 "
			     "Credential=123456789012/20150830/ap-south-1/dynamodb/aws4_request, "
			     "SignedHeaders=host, Signature=x"},
			    {"X-Amz-Date", "20150830T123600Z"}}};
	struct err err;
	struct ns ns;

	CHECK_INT(check_vector(&any, AUTH_OPEN, 0, "", &ns, &err), OK);
	CHECK_STR(ns.account, "123456789012");
	CHECK_STR(ns.region, "ap-south-1");
	any.headers[0][1] = "AWS4-HMAC-SHA256 "
			    "Credential=my-key_1/20150830/ap-south-1/dynamodb/"
			    "aws4_request,SignedHeaders=host,Signature=x";
	CHECK_INT(check_vector(&any, AUTH_OPEN, 0, "", &ns, &err), OK);
	CHECK_STR(ns.account, "000000000000");
	CHECK_INT(check_vector(&any, AUTH_VERIFY, VECTOR_TIME, "", &ns, &err),
		  ERR_UNRECOGNIZED_CLIENT);
}

/* "us-east-1\0x" would stand behind "us-east-1" in lists of its tables, and be cut in ARNs. Only
 * the query of a URL can hold it. */
TEST(a_region_that_is_no_text_is_refused)
{
	struct vector url = {.method = "POST", .path = "/", .body = "{}"};
	struct err err;
	struct ns ns;

	for (int i = 0; i < 2; i++) {
		url.query = i ? "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=a%2F20150830%"
				"2Fus-east-1%FFx%2Fdynamodb%2Faws4_request"
				"&X-Amz-Date=20150830T123600Z&X-Amz-SignedHeaders=host&X-Amz-"
				"Signature=0"
			      : "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=a%2F20150830%"
				"2Fus-east-1%00x%2Fdynamodb%2Faws4_request"
				"&X-Amz-Date=20150830T123600Z&X-Amz-SignedHeaders=host&X-Amz-"
				"Signature=0";
		CHECK_INT(check_vector(&url, AUTH_OPEN, 0, "", &ns, &err),
			  ERR_INCOMPLETE_SIGNATURE);
		CHECK(str_starts_with(
			err.message,
			STR("Credential must have exactly 5 slash-delimited elements")));
		CHECK_INT(check_vector(&url, AUTH_OFF, 0, "", &ns, &err), OK);
		CHECK_STR(ns.region, "us-east-1");
	}
}

#define SCOPE "AKIDEXAMPLE/20150830/eu-central-1/dynamodb/aws4_request"
#define SIGNED_WITH_META(signature)                                                                \
	"AWS4-HMAC-SHA256 Credential=" SCOPE                                                       \
	", SignedHeaders=host;x-amz-date;x-amz-meta;x-amz-target, Signature=" signature

static struct vector with_meta(const char *authorization, const char *meta, const char *meta_again)
{
	struct vector vector = {.method = "POST",
				.path = "/",
				.query = "",
				.body = "{}",
				.headers = {{"Host", "localhost:8000"},
					    {"X-Amz-Target", "DynamoDB_20120810.GetItem"},
					    {"X-Amz-Date", "20150830T123600Z"},
					    {"Authorization", authorization},
					    {"X-Amz-Meta", meta}}};

	if (meta_again) {
		vector.headers[5][0] = "x-amz-meta";
		vector.headers[5][1] = meta_again;
	}
	return vector;
}

/* Signature Version 4: the values of a header that is there several times are joined by commas.
 * Signed by botocore 1.44.5 as "a,b c". */
TEST(repeated_lines_are_joined)
{
	struct vector twice = with_meta(
		SIGNED_WITH_META(
			"d944cd9b1f05a4be8a33ae4b563285a470a6842bae2e1228910a169cffdd2da0"),
		"a", "b   c");
	struct err err;
	struct ns ns;

	CHECK_INT(check_vector(&twice, AUTH_VERIFY, VECTOR_TIME, VECTOR_SECRET, &ns, &err), OK);
	twice.headers[5][1] = "d";
	CHECK_INT(check_vector(&twice, AUTH_VERIFY, VECTOR_TIME, VECTOR_SECRET, &ns, &err),
		  ERR_INVALID_SIGNATURE);
}

/* A URL that was signed for one operation: its X-Amz-Target is not among the signed headers, so it
 * is good for none. */
TEST(each_amz_header_must_be_signed)
{
	struct vector url = {.method = "GET", .path = "/", .body = ""}, posted = vectors[0];
	struct err err;
	struct ns ns;

	for (size_t i = 0; i < VECTORS; i++) {
		if (strcmp(vectors[i].name, "presigned") == 0)
			url = vectors[i];
	}
	CHECK_INT(check_vector(&url, AUTH_VERIFY, VECTOR_TIME, VECTOR_SECRET, &ns, &err), OK);
	url.headers[1][0] = "X-Amzn-Trace-Id";
	url.headers[1][1] = "Root=1";
	CHECK_INT(check_vector(&url, AUTH_VERIFY, VECTOR_TIME, VECTOR_SECRET, &ns, &err), OK);
	url.headers[1][0] = "X-Amz-Target";
	url.headers[1][1] = "DynamoDB_20120810.DeleteItem";
	CHECK_INT(check_vector(&url, AUTH_VERIFY, VECTOR_TIME, VECTOR_SECRET, &ns, &err),
		  ERR_INVALID_SIGNATURE);
	CHECK_STR(err.message, "'x-amz-target' must be a 'SignedHeader' in the AWS Authorization.");
	posted.headers[5][0] = "x-AMZ-Meta";
	posted.headers[5][1] = "m";
	CHECK_INT(check_vector(&posted, AUTH_VERIFY, VECTOR_TIME, VECTOR_SECRET, &ns, &err),
		  ERR_INVALID_SIGNATURE);
	CHECK_STR(err.message, "'x-amz-meta' must be a 'SignedHeader' in the AWS Authorization.");
}

/* What a key may below /_dynalith/, beside another one. */
TEST(keys_may_be_bound_and_limited)
{
#define OTHER STR_INIT("111122223333")
	static const struct {
		struct credential key, other;
		const char *account;
		bool may_control, may_change;
	} rows[] = {
		{{.may_control = false},
		 {.may_control = false},
		 "000000000000",
		 true,
		 true}, /* they share all that there is */
		{{.may_control = false}, {.account = OTHER}, "000000000000", false, true},
		{{.account = OTHER}, {.may_control = false}, "111122223333", false, true},
		{{.may_control = false},
		 {.has_control = true, .may_control = true},
		 "000000000000",
		 false,
		 true},
		{{.has_control = true, .may_control = true},
		 {.account = OTHER},
		 "000000000000",
		 true,
		 true},
		{{.account = OTHER, .has_control = true, .may_control = true},
		 {.may_control = false},
		 "111122223333",
		 true,
		 true},
		{{.has_control = true}, {.may_control = false}, "000000000000", false, false},
	};
	struct err err = err_in(arena);
	struct ns ns;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct credential credentials[] = {rows[i].key, rows[i].other};
		struct sigv4_request request = {str_of(vectors[0].method), str_of(vectors[0].path),
						str_of(vectors[0].query),  str_of(vectors[0].body),
						headers_of(&vectors[0]),   false};

		credentials[0].access_key = STR("AKIDEXAMPLE");
		credentials[0].secret = STR(VECTOR_SECRET);
		credentials[1].access_key = STR("other");
		struct sigv4 *sigv4 = sigv4_new(AUTH_VERIFY, credentials, 2);
		CHECK_INT(sigv4_check(sigv4, arena, &request, VECTOR_TIME, &ns, &err), OK);
		CHECK_STR(ns.account, rows[i].account);
		const struct sigv4_rights rights = sigv4_rights(sigv4, arena, STR("AKIDEXAMPLE")),
					  none = sigv4_rights(sigv4, arena, STR("unknown"));
		CHECK_INT(rights.may_control, rows[i].may_control);
		CHECK_INT(rights.may_change, rows[i].may_change);
		CHECK(!none.may_control && !none.may_change);
		sigv4_free(sigv4);
	}
#undef OTHER
}

TEST(a_signature_is_that_of_its_path)
{
	struct vector vector = with_meta(
		SIGNED_WITH_META(
			"cbb014a9e67b9de520bf1ef0d7ee22852ac5d88b453f866230b35c8659072758"),
		"m", NULL);
	struct err err;
	struct ns ns;

	CHECK_INT(check_vector(&vector, AUTH_VERIFY, VECTOR_TIME, VECTOR_SECRET, &ns, &err), OK);
	vector.path = "/some/where";
	CHECK_INT(check_vector(&vector, AUTH_VERIFY, VECTOR_TIME, VECTOR_SECRET, &ns, &err),
		  ERR_INVALID_SIGNATURE);
	CHECK(str_contains(err.message, STR("should have been\n'POST\n/some/where\n\n")));
}

/* What each authorization is answered under open and under verify; NULL: it is let in. */
TEST(authorizations_and_their_answers)
{
#define ALL_MISSING                                                                                \
	"Authorization header requires 'Credential' parameter. Authorization header requires "     \
	"'Signature' parameter. "                                                                  \
	"Authorization header requires 'SignedHeaders' parameter. "
#define AUTH(algorithm, scope, names)                                                              \
	algorithm " Credential=" scope ",SignedHeaders=" names ",Signature=0"
	/* AWS: dynalite's source and tests (connections) note these of DynamoDB, the two of time
	 * ScyllaDB's Alternator tests (test_authorization). */
	static const struct {
		const char *authorization, *date, *open, *verify;
	} cases[] = {
		{"AWS4-", "d", ALL_MISSING "Authorization=AWS4-",
		 ALL_MISSING "Authorization=AWS4-"},
		{"AWS4- Signature=b Credential=a", "d",
		 "Authorization header requires 'SignedHeaders' parameter. Authorization=AWS4- "
		 "Signature=b Credential=a",
		 "Authorization header requires 'SignedHeaders' parameter. Authorization=AWS4- "
		 "Signature=b Credential=a"},
		{"AWS4- Signature=b,Credential=a", "d",
		 "Authorization header requires 'SignedHeaders' parameter. Authorization=AWS4- "
		 "Signature=b,Credential=a",
		 "Authorization header requires 'SignedHeaders' parameter. Authorization=AWS4- "
		 "Signature=b,Credential=a"},
		{"AWS4-HMAC-SHA256 Signature=b,    Credential,    SignedHeaders", "d",
		 "'Credential' not a valid key=value pair (missing equal-sign) in Authorization "
		 "header: 'AWS4-HMAC-SHA256 Signature=b,    Credential,    "
		 "SignedHeaders'.",
		 "'Credential' not a valid key=value pair (missing equal-sign) in Authorization "
		 "header: 'AWS4-HMAC-SHA256 Signature=b,    Credential,    "
		 "SignedHeaders'."},
		{AUTH("AWS4-HMAC-SHA256", SCOPE, "host"), "201", NULL,
		 "Date must be in ISO-8601 'basic format'. Got '201'. See "
		 "http://en.wikipedia.org/wiki/ISO_8601"},
		{"AWS4-HMAC-SHA256 Credential=alternator/2/3/4/aws4_request "
		 "SignedHeaders=x-amz-date;host Signature=123",
		 "20130301T000000Z", NULL,
		 "Signature expired: 20130301T000000Z is now earlier than 20150830T122100Z "
		 "(20150830T123600Z - 15 min.)"},
		{"AWS4-HMAC-SHA256 Credential=alternator/2/3/4/aws4_request "
		 "SignedHeaders=x-amz-date;host Signature=123",
		 "30200101T010101Z", NULL,
		 "Signature not yet current: 30200101T010101Z is still later than 20150830T125100Z "
		 "(20150830T123600Z + 15 min.)"},
		{AUTH("AWS4-HMAC-SHA25", "a/b/c/d/e", "x-amz-date"), "20150830T123600Z", NULL,
		 "'Host' or ':authority' must be a 'SignedHeader' in the AWS Authorization."},
		{AUTH("AWS4-HMAC-SHA256", "a/b/c/d/e", ""), "20150830T123600Z", NULL,
		 "'Host' or ':authority' must be a 'SignedHeader' in the AWS Authorization."},
		{AUTH("AWS4-HMAC-SHA25", "a/b/c/d/e", "Host"), "20150830T123600Z", NULL,
		 "Unsupported AWS 'algorithm': 'AWS4-HMAC-SHA25' (only AWS4-HMAC-SHA256 for "
		 "now). "},
		{AUTH("AWS4-HMAC-SHA256", "a/b/c/d", "host"), "20150830T123600Z",
		 "Credential must have exactly 5 slash-delimited elements, e.g. "
		 "keyid/date/region/service/term, got 'a/b/c/d'",
		 "Credential must have exactly 5 slash-delimited elements, e.g. "
		 "keyid/date/region/service/term, got 'a/b/c/d'"},
		{AUTH("AWS4-HMAC-SHA256", "a/b/c/d/e/", "host"), "20150830T123600Z", NULL,
		 "Credential should be scoped to correct service: 'dynamodb'. Credential should be "
		 "scoped with a valid terminator: 'aws4_request', not 'e'. "
		 "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date "
		 "from HTTP: 'b' != '20150830', from '20150830T123600Z'."},
		{AUTH("AWS4-HMAC-SHA256", "a/20150830/c/dynamodb/aws4_request", "host"),
		 "20150830T123600Z", NULL,
		 "The security token included in the request is invalid."},
	};
	struct err err;
	struct ns ns;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (enum auth_mode mode = AUTH_OPEN; mode <= AUTH_VERIFY; mode++) {
			const char *wanted = mode == AUTH_OPEN ? cases[i].open : cases[i].verify;
			struct vector vector = {
				.method = "POST",
				.path = "/",
				.query = "",
				.body = "{}",
				.headers = {{"Authorization", cases[i].authorization},
					    {"X-Amz-Date", cases[i].date}}};
			enum code code =
				check_vector(&vector, mode, VECTOR_TIME, VECTOR_SECRET, &ns, &err);

			CHECK_INT(code == OK, wanted == NULL);
			if (wanted && code != OK)
				CHECK_STR(err.message, wanted);
		}
	}
}

TEST(parts_of_a_query_that_are_missing)
{
#define QUERY_LACKS(name) "AWS query-string parameters must include '" name "'. "
	static const struct {
		const char *query, *authorization;
		enum code code;
		const char *message;
	} cases[] = {
		{"X-Amz-Algorith", "X", ERR_MISSING_AUTH_TOKEN,
		 "Request is missing Authentication Token"},
		{"X-Amz-Credential=a&X-Amz-Signature=b&X-Amz-SignedHeaders=c&X-Amz-Date=d", NULL,
		 ERR_MISSING_AUTH_TOKEN, "Request is missing Authentication Token"},
		{"X-Amz-Algorithm", "X", ERR_INVALID_SIGNATURE,
		 "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP "
		 "header."},
		{"X-Amz-Algorithm", NULL, ERR_INCOMPLETE_SIGNATURE,
		 QUERY_LACKS("X-Amz-Algorithm") QUERY_LACKS("X-Amz-Credential") QUERY_LACKS(
			 "X-Amz-Signature") QUERY_LACKS("X-Amz-SignedHeaders")
			 QUERY_LACKS("X-Amz-Date") "Re-examine the query-string parameters."},
		{"X-Amz-Algorithm=a&X-Amz-Credential=b&X-Amz-Signature=c&X-Amz-Date=d", NULL,
		 ERR_INCOMPLETE_SIGNATURE,
		 QUERY_LACKS("X-Amz-SignedHeaders") "Re-examine the query-string parameters."},
	};
	struct err err;
	struct ns ns;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vector vector = {
			.method = "POST", .path = "/", .query = cases[i].query, .body = "{}"};

		if (cases[i].authorization) {
			vector.headers[0][0] = "Authorization";
			vector.headers[0][1] = cases[i].authorization;
		}
		for (enum auth_mode mode = AUTH_OPEN; mode <= AUTH_VERIFY; mode++) {
			CHECK_INT(
				check_vector(&vector, mode, VECTOR_TIME, VECTOR_SECRET, &ns, &err),
				cases[i].code);
			CHECK_STR(err.message, cases[i].message);
		}
	}
}

int main(void)
{
	static const struct test_case cases[] = {
		TEST_CASE(signatures_of_botocore_hold),
		TEST_CASE(wrong_signatures_do_not),
		TEST_CASE(presigned_urls_are_good_for_a_week),
		TEST_CASE(what_is_missing_is_named),
		TEST_CASE(open_takes_any_key_and_names_the_account),
		TEST_CASE(a_region_that_is_no_text_is_refused),
		TEST_CASE(repeated_lines_are_joined),
		TEST_CASE(each_amz_header_must_be_signed),
		TEST_CASE(keys_may_be_bound_and_limited),
		TEST_CASE(a_signature_is_that_of_its_path),
		TEST_CASE(authorizations_and_their_answers),
		TEST_CASE(parts_of_a_query_that_are_missing),
	};

	arena = arena_new(1 << 20);
	int status = test_run(__FILE__, cases, sizeof(cases) / sizeof(cases[0]));
	arena_free(arena);
	return status;
}
