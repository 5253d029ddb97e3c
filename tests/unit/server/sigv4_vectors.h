/* Requests signed by botocore for the time below. */
#ifndef DYNALITH_TEST_SIGV4_VECTORS_H
#define DYNALITH_TEST_SIGV4_VECTORS_H

#define VECTOR_TIME 1440938160 /* 20150830T123600Z */
#define VECTOR_SECRET "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"

struct vector {
	const char *name, *method, *path, *query, *body;
	const char *headers[8][2];
};

static const struct vector vectors[] = {
	{"header",
	 "POST",
	 "/",
	 "",
	 "{\"TableName\":\"t\"}",
	 {{"Host", "localhost:8000"},
	  {"X-Amz-Target", "DynamoDB_20120810.GetItem"},
	  {"Content-Type", "application/x-amz-json-1.0"},
	  {"X-Amz-Date", "20150830T123600Z"},
	  {"Authorization",
	   "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/eu-central-1/dynamodb/aws4_request, "
	   "SignedHeaders=content-type;host;x-amz-date;x-amz-target, "
	   "Signature=29459355d593b47f9cd2531645b6280df129220f49d172c1210d38e89399b736"}}},
	{"spaces",
	 "POST",
	 "/",
	 "",
	 "{}",
	 {{"Host", "localhost:8000"},
	  {"X-Amz-Target", "DynamoDB_20120810.GetItem"},
	  {"Content-Type", "application/x-amz-json-1.0"},
	  {"X-Amz-Meta", "  a   b  c "},
	  {"X-Amz-Date", "20150830T123600Z"},
	  {"Authorization",
	   "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/eu-central-1/dynamodb/aws4_request, "
	   "SignedHeaders=content-type;host;x-amz-date;x-amz-meta;x-amz-target, "
	   "Signature=ef597e447be077a4f252772a80d8823394dfce6ba78489487749a21c52e9187b"}}},
	{"query parameters",
	 "POST",
	 "/",
	 "b=2&a=1&c=%20x%2Fy",
	 "{}",
	 {{"Host", "localhost:8000"},
	  {"X-Amz-Target", "DynamoDB_20120810.GetItem"},
	  {"Content-Type", "application/x-amz-json-1.0"},
	  {"X-Amz-Date", "20150830T123600Z"},
	  {"Authorization",
	   "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/eu-central-1/dynamodb/aws4_request, "
	   "SignedHeaders=content-type;host;x-amz-date;x-amz-target, "
	   "Signature=4854d70782d777eb788793e6628c6f64aed8aeabbcea7a10e0d8d5da53a73581"}}},
	{"unicode",
	 "POST",
	 "/",
	 "",
	 "{\"TableName\":\"\xc3\xa9\"}",
	 {{"Host", "localhost:8000"},
	  {"X-Amz-Target", "DynamoDB_20120810.GetItem"},
	  {"Content-Type", "application/x-amz-json-1.0"},
	  {"X-Amz-Date", "20150830T123600Z"},
	  {"Authorization",
	   "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/eu-central-1/dynamodb/aws4_request, "
	   "SignedHeaders=content-type;host;x-amz-date;x-amz-target, "
	   "Signature=a6160301f6714eb70abcda8cfff24b5d7f20fa85d71b14101d224dc224eff2e9"}}},
	{"presigned",
	 "GET",
	 "/",
	 "x=1&X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIDEXAMPLE%2F20150830%2Feu-"
	 "central-1%2Fdynamodb%2Faws4_request&X-Amz-Date=20150830T123600Z&X-Amz-Expires=600&X-Amz-"
	 "SignedHeaders=host&X-Amz-Signature="
	 "290fa738db9c3ad045bd53581dfa63eed162367b0dd2fd66ec818095dd719541",
	 "",
	 {{"Host", "localhost:8000"}}},
};

#define VECTORS (sizeof(vectors) / sizeof(vectors[0]))

#endif
