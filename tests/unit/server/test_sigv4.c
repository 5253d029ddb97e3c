/*
 * AWS's published example requests ("Signature Version 4 test suite": access key AKIDEXAMPLE, 20150830T123600Z, us-east-1) are for the
 * service "service"; the mode verify wants "dynamodb". The expected values below for dynamodb were made with botocore 1.44.5.
 */
#include "server/sigv4.h"

#include "tests/unit/test.h"

#include "tests/unit/server/sigv4_vectors.h"

static struct arena *arena;

static struct str vector_header(const void *context, const char *name)
{
	const struct vector *vector = context;

	for (size_t i = 0; i < sizeof(vector->headers) / sizeof(vector->headers[0]) && vector->headers[i][0]; i++) {
		if (strcasecmp(vector->headers[i][0], name) == 0)
			return str_of(vector->headers[i][1]);
	}
	return STR_ABSENT;
}

static enum code check_vector(const struct vector *vector, enum auth_mode mode, int64_t now_s, const char *secret, struct ns *ns, struct err *err)
{
	struct credential credentials[] = {{STR("AKIDEXAMPLE"), str_of(secret), STR_ABSENT}};
	struct sigv4 *sigv4 = sigv4_new(mode, credentials, 1);
	struct sigv4_request request = {str_of(vector->method), str_of(vector->path), str_of(vector->query), str_of(vector->body), vector_header, vector};

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
		enum code code = check_vector(&vectors[i], AUTH_VERIFY, VECTOR_TIME, VECTOR_SECRET, &ns, &err);

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
	CHECK_INT(check_vector(&changed, AUTH_VERIFY, VECTOR_TIME, VECTOR_SECRET, &ns, &err), ERR_INVALID_SIGNATURE);
	CHECK(str_starts_with(err.message, STR("The request signature we calculated does not match")));
	CHECK_INT(check_vector(&vectors[0], AUTH_VERIFY, VECTOR_TIME, "another secret", &ns, &err), ERR_INVALID_SIGNATURE);
	CHECK_INT(check_vector(&vectors[0], AUTH_VERIFY, VECTOR_TIME + SIGV4_SKEW_S + 1, VECTOR_SECRET, &ns, &err), ERR_INVALID_SIGNATURE);
	CHECK(str_starts_with(err.message, STR("Signature expired: ")));
	CHECK_INT(check_vector(&vectors[0], AUTH_VERIFY, VECTOR_TIME - SIGV4_SKEW_S - 1, VECTOR_SECRET, &ns, &err), ERR_INVALID_SIGNATURE);
	CHECK(str_starts_with(err.message, STR("Signature not yet current: ")));
	CHECK_INT(check_vector(&vectors[0], AUTH_VERIFY, VECTOR_TIME + SIGV4_SKEW_S - 1, VECTOR_SECRET, &ns, &err), OK);
}

static struct str check_presigned(const char *query)
{
	struct vector presigned = {.method = "GET", .path = "/", .query = query, .body = "", .headers = {{"Host", "localhost:8000"}}};
	struct err err;
	struct ns ns;

	CHECK_INT(check_vector(&presigned, AUTH_VERIFY, VECTOR_TIME, VECTOR_SECRET, &ns, &err), ERR_INVALID_SIGNATURE);
	return err.message;
}

/* AWS: "Authenticating requests: using query parameters": X-Amz-Expires is 604800 at most. What is longer was good for ever. */
TEST(presigned_urls_are_good_for_a_week)
{
#define PRESIGNED(expires)                                                                                                       \
	"X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIDEXAMPLE%2F20150830%2Feu-central-1%2Fdynamodb%2Faws4_request"      \
	"&X-Amz-Date=20150830T123600Z&X-Amz-Expires=" expires "&X-Amz-SignedHeaders=host&X-Amz-Signature=0"
	CHECK_STR(check_presigned(PRESIGNED("604801")), "X-Amz-Expires must be less than a week (in seconds); that is, the given X-Amz-Expires "
							"must be less than 604800 seconds");
	CHECK(str_starts_with(check_presigned(PRESIGNED("99999999999999999999999")), STR("X-Amz-Expires must be less than a week")));
	CHECK_STR(check_presigned(PRESIGNED("-1")), "X-Amz-Expires must be non-negative");
	CHECK_STR(check_presigned(PRESIGNED("")), "X-Amz-Expires should be a number");
	CHECK_STR(check_presigned(PRESIGNED("60s")), "X-Amz-Expires should be a number");
	CHECK(str_starts_with(check_presigned(PRESIGNED("604800")), STR("The request signature we calculated does not match")));
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
	CHECK(str_starts_with(err.message, STR("Authorization header requires 'Credential' parameter. ")));
	bare.headers[0][1] = "AWS4-HMAC-SHA256 Credential=a/20150830/us-east-1/dynamodb/aws4_request";
	CHECK_INT(check_vector(&bare, AUTH_OPEN, 0, "", &ns, &err), ERR_INCOMPLETE_SIGNATURE);
	CHECK_STR(err.message, "Authorization header requires 'Signature' parameter. Authorization header requires 'SignedHeaders' parameter. "
			       "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. Authorization=AWS4-HMAC-SHA256 "
			       "Credential=a/20150830/us-east-1/dynamodb/aws4_request");
}

TEST(open_takes_any_key_and_names_the_account)
{
	struct vector any = {.method = "POST", .path = "/", .query = "", .body = "{}",
			     .headers = {{"Authorization", "AWS4-HMAC-SHA256 Credential=123456789012/20150830/ap-south-1/dynamodb/aws4_request, "
							   "SignedHeaders=host, Signature=x"},
					 {"X-Amz-Date", "20150830T123600Z"}}};
	struct err err;
	struct ns ns;

	CHECK_INT(check_vector(&any, AUTH_OPEN, 0, "", &ns, &err), OK);
	CHECK_STR(ns.account, "123456789012");
	CHECK_STR(ns.region, "ap-south-1");
	any.headers[0][1] = "AWS4-HMAC-SHA256 Credential=my-key_1/20150830/ap-south-1/dynamodb/aws4_request,SignedHeaders=host,Signature=x";
	CHECK_INT(check_vector(&any, AUTH_OPEN, 0, "", &ns, &err), OK);
	CHECK_STR(ns.account, "000000000000");
	CHECK_INT(check_vector(&any, AUTH_VERIFY, VECTOR_TIME, "", &ns, &err), ERR_UNRECOGNIZED_CLIENT);
}

/* "us-east-1\0x" would stand behind "us-east-1" in lists of its tables, and be cut in ARNs. Only the query of a URL can hold it. */
TEST(a_region_that_is_no_text_is_refused)
{
	struct vector url = {.method = "POST", .path = "/", .body = "{}"};
	struct err err;
	struct ns ns;

	for (int i = 0; i < 2; i++) {
		url.query = i ? "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=a%2F20150830%2Fus-east-1%FFx%2Fdynamodb%2Faws4_request"
				"&X-Amz-Date=20150830T123600Z&X-Amz-SignedHeaders=host&X-Amz-Signature=0"
			      : "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=a%2F20150830%2Fus-east-1%00x%2Fdynamodb%2Faws4_request"
				"&X-Amz-Date=20150830T123600Z&X-Amz-SignedHeaders=host&X-Amz-Signature=0";
		CHECK_INT(check_vector(&url, AUTH_OPEN, 0, "", &ns, &err), ERR_INCOMPLETE_SIGNATURE);
		CHECK(str_starts_with(err.message, STR("Credential must have exactly 5 slash-delimited elements")));
		CHECK_INT(check_vector(&url, AUTH_OFF, 0, "", &ns, &err), OK);
		CHECK_STR(ns.region, "us-east-1");
	}
}

int main(void)
{
	static const struct test_case cases[] = {
		TEST_CASE(signatures_of_botocore_hold), TEST_CASE(wrong_signatures_do_not), TEST_CASE(presigned_urls_are_good_for_a_week), TEST_CASE(what_is_missing_is_named),
		TEST_CASE(open_takes_any_key_and_names_the_account), TEST_CASE(a_region_that_is_no_text_is_refused),
	};

	arena = arena_new(1 << 20);
	int status = test_run(__FILE__, cases, sizeof(cases) / sizeof(cases[0]));
	arena_free(arena);
	return status;
}
