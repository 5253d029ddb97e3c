#include "server/sigv4.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "core/buf.h"
#include "core/utf8.h"
#include "protocol/ops.h"
#include "server/messages.h"
#include "server/platform/crypto.h"

#define HASH_SIZE CRYPTO_HASH_SIZE
#define HEX_SIZE 64
#define DAY_SIZE 8 /* of a date: YYYYMMDD */
#define ACCOUNTS 1000000000000 /* numbers of 12 digits */
#define DERIVED_KEYS 16 /* cached; one per access key, day, region and service */
#define ALGORITHM "AWS4-HMAC-SHA256"
#define QUERY_ALGORITHM "X-Amz-Algorithm"

struct derived_key {
	char scope[256]; /* access key, date, region, service */
	unsigned char key[HASH_SIZE];
};

struct sigv4 {
	enum auth_mode mode;
	const struct credential *credentials;
	size_t credential_count;
	bool has_separate_keys;  /* each access key is an account */
	struct crypto *crypto;   /* of the mode "verify" */
	pthread_mutex_t mutex; /* of the cache */
	size_t next;
	struct derived_key cache[DERIVED_KEYS];
};

/* The parts of a signature, from the header or the query. */
struct sigv4_claim {
	struct str algorithm, credential, headers, signature, date, token;
	struct str access_key, day, region, service, terminator;
	struct str expires; /* presigned: X-Amz-Expires */
	int64_t expires_s;  /* the same as a number; -1 for the header form */
	bool is_query, is_split;
	const struct credential *of; /* whose access key it names; NULL until that is looked up */
};

struct sigv4 *sigv4_new(enum auth_mode mode, const struct credential *credentials, size_t n)
{
	struct sigv4 *sigv4 = arena_checked(calloc(1, sizeof(*sigv4)));

	sigv4->mode = mode;
	sigv4->credentials = credentials;
	sigv4->credential_count = n;
	pthread_mutex_init(&sigv4->mutex, NULL);
	sigv4->crypto = mode == AUTH_VERIFY ? crypto_new() : NULL;
	return sigv4;
}

void sigv4_free(struct sigv4 *sigv4)
{
	if (!sigv4)
		return;
	crypto_free(sigv4->crypto);
	pthread_mutex_destroy(&sigv4->mutex);
	crypto_cleanse(sigv4->cache, sizeof(sigv4->cache));
	free(sigv4);
}

static struct str key_text(const unsigned char key[HASH_SIZE])
{
	return (struct str){(const char *)key, HASH_SIZE};
}

static struct str hex(struct arena *arena, const unsigned char *bytes)
{
	struct buf out = buf_in(arena);

	buf_add_hex(&out, bytes, HASH_SIZE);
	return buf_str(&out);
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static struct str percent_decode(struct arena *arena, struct str s)
{
	char *out = arena_bytes(arena, s.n);
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++) {
		bool is_escape = s.p[i] == '%' && i + 2 < s.n && hex_digit(s.p[i + 1]) >= 0 &&
				 hex_digit(s.p[i + 2]) >= 0;

		out[n++] = is_escape ? (char)(hex_digit(s.p[i + 1]) * 16 + hex_digit(s.p[i + 2]))
			   : s.p[i] == '+' ? ' '
					   : s.p[i];
		i += is_escape ? 2 : 0;
	}
	return (struct str){out, n};
}

static struct str in_small_letters(struct arena *arena, struct str s)
{
	char *out = arena_bytes(arena, s.n);

	for (size_t i = 0; i < s.n; i++)
		out[i] = (char)(s.p[i] >= 'A' && s.p[i] <= 'Z' ? s.p[i] | 0x20 : s.p[i]);
	return (struct str){out, s.n};
}

/* RFC 3986: all but unreserved characters are escaped; '/' stays in paths. */
static void percent_encode(struct str s, bool keep_slash, struct buf *out)
{
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];
		bool is_plain = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
				(c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' ||
				c == '~' || (keep_slash && c == '/');

		if (is_plain)
			buf_add_byte(out, c);
		else
			buf_printf(out, "%%%02X", c);
	}
}

/* The decoded value of a query parameter; absent where there is none. */
static struct str query_parameter(struct arena *arena, struct str query, struct str name)
{
	while (query.n) {
		struct str value = str_cut(&query, '&');

		if (str_eq(percent_decode(arena, str_cut(&value, '=')), name))
			return percent_decode(arena, value);
	}
	return STR_ABSENT;
}

/* One KEY=VALUE of an Authorization header. */
static enum code read_header_pair(struct str pair, struct str header, struct sigv4_claim *s,
				  struct err *err)
{
	struct str value = pair, name = str_cut(&value, '=');

	if (name.n == pair.n)
		return err_set(err, MSG_AUTH_PAIR, STR_ARG(pair), STR_ARG(header));
	if (str_eq(name, STR("Credential")))
		s->credential = value;
	else if (str_eq(name, STR("SignedHeaders")))
		s->headers = value;
	else if (str_eq(name, STR("Signature")))
		s->signature = value;
	return OK;
}

/* AWS: commas and spaces separate the parts, in any number. */
static enum code read_header_form(const struct sigv4_request *request, struct str header,
				  struct sigv4_claim *s, struct err *err)
{
	struct str rest = str_trim(header);

	s->algorithm = str_cut(&rest, ' ');
	s->date = headers_first(request->headers, STR("X-Amz-Date"));
	if (!str_is_set(s->date))
		s->date = headers_first(request->headers, STR("Date"));
	s->token = headers_first(request->headers, STR("X-Amz-Security-Token"));
	s->expires_s = -1;
	while (rest.n) {
		struct str parts = str_trim(str_cut(&rest, ','));

		while (parts.n) {
			struct str pair = str_cut(&parts, ' ');
			enum code code = pair.n ? read_header_pair(pair, header, s, err) : OK;

			if (code != OK)
				return code;
		}
	}
	return OK;
}

static void read_query_form(struct arena *arena, const struct sigv4_request *request,
			    struct sigv4_claim *s)
{
	s->is_query = true;
	s->algorithm = query_parameter(arena, request->query, STR(QUERY_ALGORITHM));
	s->credential = query_parameter(arena, request->query, STR("X-Amz-Credential"));
	s->headers = query_parameter(arena, request->query, STR("X-Amz-SignedHeaders"));
	s->signature = query_parameter(arena, request->query, STR("X-Amz-Signature"));
	s->date = query_parameter(arena, request->query, STR("X-Amz-Date"));
	s->token = query_parameter(arena, request->query, STR("X-Amz-Security-Token"));
	s->expires = query_parameter(arena, request->query, STR("X-Amz-Expires"));
}

/* A sentence for each missing or empty part. In the header form SignedHeaders may be empty. */
static enum code check_parts(struct arena *arena, const struct sigv4_claim *s, struct str header,
			     struct err *err)
{
	const struct {
		bool is_missing;
		const char *sentence;
	} parts[] = {
		{s->is_query && !s->algorithm.n,
		 "AWS query-string parameters must include 'X-Amz-Algorithm'. "},
		{s->is_query && !s->credential.n,
		 "AWS query-string parameters must include 'X-Amz-Credential'. "},
		{s->is_query && !s->signature.n,
		 "AWS query-string parameters must include 'X-Amz-Signature'. "},
		{s->is_query && !s->headers.n,
		 "AWS query-string parameters must include 'X-Amz-SignedHeaders'. "},
		{s->is_query && !s->date.n,
		 "AWS query-string parameters must include 'X-Amz-Date'. "},
		{!s->is_query && !s->credential.n,
		 "Authorization header requires 'Credential' parameter. "},
		{!s->is_query && !s->signature.n,
		 "Authorization header requires 'Signature' parameter. "},
		{!s->is_query && !str_is_set(s->headers),
		 "Authorization header requires 'SignedHeaders' parameter. "},
		{!s->is_query && !s->date.n, "Authorization header requires existence of either a "
					     "'X-Amz-Date' or a 'Date' header. "},
	};
	struct buf missing = buf_in(arena);

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (parts[i].is_missing)
			buf_add_str(&missing, str_of(parts[i].sentence));
	}
	if (missing.n == 0)
		return OK;
	return s->is_query ? err_set(err, MSG_AUTH_INCOMPLETE_QUERY, STR_ARG(buf_str(&missing)))
			   : err_set(err, MSG_AUTH_INCOMPLETE, STR_ARG(buf_str(&missing)),
				     STR_ARG(header));
}

/* access key / date / region / service / aws4_request. AWS: slashes behind them are passed over. */
static bool split_credential(struct sigv4_claim *s)
{
	struct str rest = s->credential;

	while (rest.n && rest.p[rest.n - 1] == '/')
		rest.n--;
	s->access_key = str_cut(&rest, '/');
	s->day = str_cut(&rest, '/');
	s->region = str_cut(&rest, '/');
	s->service = str_cut(&rest, '/');
	s->terminator = rest;
	/* names of the namespace stand in ARNs, and in the catalog with U+0000 between them: they
	 * must be text without it */
	if (!utf8_is_valid(s->credential) || str_has_zero(s->credential))
		return false;
	return s->access_key.n && s->day.n && s->region.n && s->service.n && s->terminator.n &&
	       !memchr(s->terminator.p, '/', s->terminator.n);
}

static const struct credential *find_credential(const struct sigv4 *sigv4, struct str access_key)
{
	for (size_t i = 0; i < sigv4->credential_count; i++) {
		if (str_eq(sigv4->credentials[i].access_key, access_key))
			return &sigv4->credentials[i];
	}
	return NULL;
}

struct str sigv4_account(const struct sigv4 *sigv4, struct arena *arena, struct str access_key)
{
	const struct credential *credential = find_credential(sigv4, access_key);
	bool is_account = access_key.n == 12;

	for (size_t i = 0; i < access_key.n && is_account; i++)
		is_account = access_key.p[i] >= '0' && access_key.p[i] <= '9';
	if (credential && str_is_set(credential->account))
		return credential->account;
	if (is_account)
		return str_copy(arena, access_key);
	if (sigv4->has_separate_keys)
		return str_printf(arena, "%012llu",
				  (unsigned long long)(str_hash(access_key, 0) % ACCOUNTS));
	return STR("000000000000");
}

struct sigv4_rights sigv4_rights(const struct sigv4 *sigv4, struct arena *arena,
				 struct str access_key)
{
	const struct credential *credential = find_credential(sigv4, access_key);
	bool are_all_alike = true;

	if (sigv4->mode != AUTH_VERIFY || !credential)
		return (struct sigv4_rights){sigv4->mode != AUTH_VERIFY,
					     sigv4->mode != AUTH_VERIFY};
	for (size_t i = 0; i < sigv4->credential_count; i++) {
		bool is_bound =
			!str_eq(sigv4_account(sigv4, arena, sigv4->credentials[i].access_key),
				STR("000000000000"));

		are_all_alike = are_all_alike && !is_bound && !sigv4->credentials[i].has_control;
	}
	return (struct sigv4_rights){credential->may_control || are_all_alike,
				     credential->may_control || !credential->has_control};
}

void sigv4_separate_keys(struct sigv4 *sigv4)
{
	sigv4->has_separate_keys = true;
}

static void set_namespace(const struct sigv4 *sigv4, struct arena *arena,
			  const struct sigv4_claim *s, struct ns *ns)
{
	ns->account = sigv4_account(sigv4, arena, s->access_key);
	ns->region = s->region.n ? str_copy(arena, s->region) : STR("us-east-1");
}

/* AWS: IAM User Guide, "Authenticating requests: using query parameters": from 0 to a week. */
static enum code check_expires(struct arena *arena, struct sigv4_claim *s, struct err *err)
{
	char *end;

	if (!s->is_query || !str_is_set(s->expires))
		return OK;
	s->expires_s = strtoll(str_copy(arena, s->expires).p, &end, 10); /* saturates */
	end += strspn(end, "0123456789"); /* where some C libraries stop once it has */
	if (s->expires.n == 0 || *end)
		return err_set(err, MSG_AUTH_EXPIRES_FORMAT);
	if (s->expires_s < 0)
		return err_set(err, MSG_AUTH_EXPIRES_NEGATIVE);
	return s->expires_s > SIGV4_EXPIRES_MAX_S ? err_set(err, MSG_AUTH_EXPIRES_LONG) : OK;
}

/* 20150830T123600Z */
static bool parse_date(struct str date, int64_t *seconds)
{
	static const char form[] = "dddddddd" "T" "dddddd" "Z";
	struct tm tm = {0};
	int v[6], from[] = {0, 4, 6, 9, 11, 13}, length[] = {4, 2, 2, 2, 2, 2};

	if (date.n != sizeof(form) - 1)
		return false;
	for (size_t i = 0; i < date.n; i++) {
		if (form[i] == 'd' ? (date.p[i] < '0' || date.p[i] > '9') : date.p[i] != form[i])
			return false;
	}
	for (int i = 0; i < 6; i++) {
		v[i] = 0;
		for (int k = 0; k < length[i]; k++)
			v[i] = v[i] * 10 + (date.p[from[i] + k] - '0');
	}
	tm = (struct tm){.tm_year = v[0] - 1900,
			 .tm_mon = v[1] - 1,
			 .tm_mday = v[2],
			 .tm_hour = v[3],
			 .tm_min = v[4],
			 .tm_sec = v[5]};
	*seconds = timegm(&tm);
	return true;
}

static struct str format_date(struct arena *arena, int64_t seconds)
{
	time_t t = (time_t)seconds;
	char text[32];
	struct tm tm;

	gmtime_r(&t, &tm);
	strftime(text, sizeof(text), "%Y%m%dT%H%M%SZ", &tm);
	return str_copy(arena, str_of(text));
}

static enum code check_time(struct arena *arena, const struct sigv4_claim *s, int64_t now_s,
			    struct err *err)
{
	int64_t signed_s, window_s = s->expires_s >= 0 ? s->expires_s : SIGV4_SKEW_S;
	struct str now = format_date(arena, now_s);

	if (!parse_date(s->date, &signed_s))
		return err_set(err, MSG_AUTH_DATE_FORMAT, STR_ARG(s->date));
	if (signed_s < now_s - window_s)
		return err_set(err, MSG_AUTH_EXPIRED, STR_ARG(s->date),
			       STR_ARG(format_date(arena, now_s - window_s)), STR_ARG(now),
			       s->expires_s >= 0
				       ? str_printf(arena, "%lld sec", (long long)window_s).p
				       : "15 min");
	if (signed_s > now_s + SIGV4_SKEW_S)
		return err_set(err, MSG_AUTH_EARLY, STR_ARG(s->date),
			       STR_ARG(format_date(arena, now_s + SIGV4_SKEW_S)), STR_ARG(now));
	return OK;
}

/* Resolves "." and ".." and empty segments, then escapes the path once more. AWS: so for all
 * services but S3. */
static void add_canonical_path(struct arena *arena, struct str path, struct buf *out)
{
	struct buf plain = buf_in(arena);
	bool ends_open = path.n > 0 && path.p[path.n - 1] == '/';

	while (path.n) {
		struct str segment = str_cut(&path, '/');

		if (segment.n == 0 || str_eq(segment, STR(".")))
			continue;
		if (str_eq(segment, STR(".."))) {
			while (plain.n && plain.p[--plain.n] != '/')
				;
			continue;
		}
		buf_add_byte(&plain, '/');
		buf_add_str(&plain, segment);
	}
	if (plain.n == 0 || ends_open)
		buf_add_byte(&plain, '/');
	percent_encode(buf_str(&plain), true, out);
}

/* Parameters escaped and sorted, the signature left out. */
static void add_canonical_query(struct arena *arena, struct str query, struct buf *out)
{
	struct str *parameters = ARENA_ARRAY(arena, struct str, query.n + 1);
	size_t n = 0;

	while (query.n) {
		struct buf parameter = buf_in(arena);
		struct str value = str_cut(&query, '&');
		struct str name = percent_decode(arena, str_cut(&value, '='));

		if (str_eq(name, STR("X-Amz-Signature")))
			continue;
		percent_encode(name, false, &parameter);
		buf_add_byte(&parameter, '=');
		percent_encode(percent_decode(arena, value), false, &parameter);
		parameters[n++] = buf_str(&parameter);
	}
	qsort(parameters, n, sizeof(*parameters), str_order);
	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			buf_add_byte(out, '&');
		buf_add_str(out, parameters[i]);
	}
}

/* "name:value\n" with runs of spaces folded. */
static void add_canonical_header(const struct sigv4_request *request, struct arena *arena,
				 struct str name, struct buf *out)
{
	struct str value = str_trim(headers_joined(request->headers, arena, name));

	buf_add_str(out, name);
	buf_add_byte(out, ':');
	for (size_t i = 0; i < value.n; i++) {
		if (value.p[i] != ' ' || i == 0 || value.p[i - 1] != ' ')
			buf_add_byte(out, value.p[i]);
	}
	buf_add_byte(out, '\n');
}

static struct str canonical_request(struct sigv4 *sigv4, struct arena *arena,
				    const struct sigv4_request *request, struct str path,
				    const struct sigv4_claim *s)
{
	struct str content_hash = headers_first(request->headers, STR("X-Amz-Content-Sha256"));
	struct str names = s->headers;
	struct buf out = buf_in(arena);
	unsigned char digest[HASH_SIZE];

	buf_add_str(&out, request->method);
	buf_add_byte(&out, '\n');
	if (request->is_plain_path)
		percent_encode(path, true, &out);
	else
		add_canonical_path(arena, path, &out);
	buf_add_byte(&out, '\n');
	add_canonical_query(arena, request->query, &out);
	buf_add_byte(&out, '\n');
	while (names.n)
		add_canonical_header(request, arena, str_cut(&names, ';'), &out);
	buf_add_byte(&out, '\n');
	buf_add_str(&out, s->headers);
	buf_add_byte(&out, '\n');
	if (str_eq(content_hash, STR("UNSIGNED-PAYLOAD"))) {
		buf_add_str(&out, content_hash);
	} else {
		crypto_hash(sigv4->crypto, request->body, digest);
		buf_add_str(&out, hex(arena, digest));
	}
	return buf_str(&out);
}

/* "20260131/us-east-1/dynamodb" */
static void add_scope(struct buf *buf, const struct sigv4_claim *s)
{
	buf_add_str(buf, s->day);
	buf_add_byte(buf, '/');
	buf_add_str(buf, s->region);
	buf_add_byte(buf, '/');
	buf_add_str(buf, s->service);
}

/* The signing key of a day, from the cache where it is there. */
static void derive_key(struct sigv4 *sigv4, struct arena *arena, const struct sigv4_claim *s,
		       struct str secret, unsigned char *key)
{
	struct buf text = buf_in(arena);

	buf_add_str(&text, s->access_key);
	buf_add_byte(&text, '/');
	add_scope(&text, s);
	buf_add_byte(&text, 0);
	struct str scope = {buf_str(&text).p, buf_str(&text).n - 1};
	bool fits = scope.n < sizeof(sigv4->cache[0].scope), found = false;

	pthread_mutex_lock(&sigv4->mutex);
	for (size_t i = 0; i < DERIVED_KEYS && fits && !found; i++) {
		found = str_eq(str_of(sigv4->cache[i].scope), scope);
		if (found)
			memcpy(key, sigv4->cache[i].key, HASH_SIZE);
	}
	pthread_mutex_unlock(&sigv4->mutex);
	if (found)
		return;
	struct str first = str_printf(arena, "AWS4" STR_FMT, STR_ARG(secret));
	const struct str steps[] = {s->region, s->service, STR("aws4_request")};

	crypto_hmac(sigv4->crypto, first, s->day, key);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		crypto_hmac(sigv4->crypto, key_text(key), steps[i], key);
	pthread_mutex_lock(&sigv4->mutex);
	if (fits) {
		struct derived_key *slot = &sigv4->cache[sigv4->next++ % DERIVED_KEYS];

		memcpy(slot->scope, scope.p, scope.n + 1);
		memcpy(slot->key, key, HASH_SIZE);
	}
	pthread_mutex_unlock(&sigv4->mutex);
}

/* The signature of a canonical request, in hexadecimal digits; *to_sign is what it is one of. */
static struct str sign_canonical(struct sigv4 *sigv4, struct arena *arena, struct str canonical,
				 const struct sigv4_claim *s, struct str secret,
				 struct buf *to_sign)
{
	unsigned char digest[HASH_SIZE], key[HASH_SIZE];

	crypto_hash(sigv4->crypto, canonical, digest);
	buf_add_lit(to_sign, ALGORITHM "\n");
	buf_add_str(to_sign, s->date);
	buf_add_byte(to_sign, '\n');
	add_scope(to_sign, s);
	buf_add_lit(to_sign, "/aws4_request\n");
	buf_add_str(to_sign, hex(arena, digest));
	derive_key(sigv4, arena, s, secret, key);
	crypto_hmac(sigv4->crypto, key_text(key), buf_str(to_sign), digest);
	crypto_cleanse(key, sizeof(key));
	return hex(arena, digest);
}

/* Whether the signature is that of the request at the path; else *err shows the text that should
 * have been signed. */
static enum code check_signature(struct sigv4 *sigv4, struct arena *arena,
				 const struct sigv4_request *request, struct str path,
				 const struct sigv4_claim *s, struct str secret, struct err *err)
{
	struct str canonical = canonical_request(sigv4, arena, request, path, s);
	struct buf to_sign = buf_in(arena);
	struct str own = sign_canonical(sigv4, arena, canonical, s, secret, &to_sign);

	if (s->signature.n == HEX_SIZE && crypto_is_same(own.p, s->signature.p, HEX_SIZE))
		return OK;
	return err_set(err, MSG_AUTH_MISMATCH, STR_ARG(canonical), STR_ARG(buf_str(&to_sign)));
}

/* The headers that are signed, in the order of their names. */
struct signed_headers {
	struct header v[8];
	size_t n;
	struct buf names;
};

static void add_signed(struct signed_headers *to, struct str name, struct str value)
{
	if (!str_is_set(value))
		return;
	if (to->n > 0)
		buf_add_byte(&to->names, ';');
	buf_add_str(&to->names, name);
	to->v[to->n++] = (struct header){name, value};
}

/* The service that a request is signed for, by its X-Amz-Target. */
static struct str service_of(struct str target)
{
	struct str name;
	enum op_service service = ops_of_target(target, &name);

	return ops_service_row(service == SERVICE_COUNT ? SERVICE_DYNAMODB : service)->name;
}

struct str sigv4_sign(struct sigv4 *sigv4, struct arena *arena, struct sigv4_own *own,
		      int64_t now_s)
{
	bool is_s3 = str_eq(own->service, STR("s3"));
	struct buf to_sign = buf_in(arena), lines = buf_in(arena);
	struct signed_headers signed_headers = {.names = buf_in(arena)};
	unsigned char digest[HASH_SIZE];

	own->date = format_date(arena, now_s);
	crypto_hash(sigv4->crypto, own->body, digest);
	add_signed(&signed_headers, STR("host"), own->host);
	add_signed(&signed_headers, STR("x-amz-content-sha256"),
		   is_s3 ? hex(arena, digest) : STR_ABSENT);
	add_signed(&signed_headers, STR("x-amz-date"), own->date);
	add_signed(&signed_headers, STR("x-amz-expected-bucket-owner"), own->bucket_owner);
	add_signed(&signed_headers, STR("x-amz-security-token"), own->token);
	add_signed(&signed_headers, STR("x-amz-server-side-encryption"), own->sse);
	add_signed(&signed_headers, STR("x-amz-server-side-encryption-aws-kms-key-id"),
		   own->sse_key);
	add_signed(&signed_headers, STR("x-amz-target"), own->target);
	const struct headers headers = {.n = signed_headers.n, .v = signed_headers.v};
	const struct sigv4_request request = {
		.method = own->method,
		.query = own->query,
		.body = own->body,
		.headers = &headers,
		.is_plain_path = is_s3,
	};
	struct str service = str_is_set(own->service) ? own->service : service_of(own->target);
	const struct sigv4_claim s = {
		.date = own->date,
		.day = {own->date.p, 8},
		.region = str_is_set(own->region) ? own->region : STR("us-east-1"),
		.service = service,
		.access_key = own->access_key,
		.headers = buf_str(&signed_headers.names),
	};
	struct str canonical = canonical_request(sigv4, arena, &request, own->path, &s);
	struct str signature = sign_canonical(sigv4, arena, canonical, &s, own->secret, &to_sign);
	for (size_t i = 1; i < signed_headers.n; i++) { /* the caller sends Host and X-Amz-Target */
		if (!str_eq(signed_headers.v[i].name, STR("x-amz-target")))
			buf_printf(&lines, STR_FMT ": " STR_FMT "\r\n",
				   STR_ARG(signed_headers.v[i].name),
				   STR_ARG(signed_headers.v[i].value));
	}
	buf_printf(&lines,
		   "Authorization: " ALGORITHM " Credential=" STR_FMT "/" STR_FMT "/" STR_FMT
		   "/" STR_FMT "/aws4_request, SignedHeaders=" STR_FMT ", Signature=" STR_FMT
		   "\r\n",
		   STR_ARG(s.access_key), STR_ARG(s.day), STR_ARG(s.region), STR_ARG(s.service),
		   STR_ARG(s.headers), STR_ARG(signature));
	return buf_str(&lines);
}

static enum code check_signed_host(const struct sigv4_claim *s, struct err *err)
{
	struct str headers = s->headers;

	while (headers.n) {
		struct str name = str_cut(&headers, ';');

		if (str_eq_nocase(name, STR("host")) || str_eq(name, STR(":authority")))
			return OK;
	}
	return err_set(err, MSG_AUTH_HEADERS);
}

static bool is_among(struct str names, struct str wanted)
{
	while (names.n) {
		if (str_eq_nocase(str_cut(&names, ';'), wanted))
			return true;
	}
	return false;
}

/*
 * AWS: IAM User Guide, "Create a signed API request": the signed headers must hold host and each
 * x-amz-* header of the request. Without it a URL that was signed for one operation would be good
 * for all.
 */
static enum code check_signed_headers(struct arena *arena, const struct sigv4_request *request,
				      const struct sigv4_claim *s, struct err *err)
{
	static const struct str prefix = STR_INIT("x-amz-");

	for (size_t i = 0; i < request->headers->n; i++) {
		struct str name = request->headers->v[i].name;

		if (name.n > prefix.n && str_eq_nocase((struct str){name.p, prefix.n}, prefix) &&
		    !is_among(s->headers, name))
			return err_set(err, MSG_AUTH_HEADER_UNSIGNED,
				       STR_ARG(in_small_letters(arena, name)));
	}
	return OK;
}

/* All mistakes in the scope. Any region is accepted. */
static enum code check_scope(struct arena *arena, const struct sigv4_request *request,
			     const struct sigv4_claim *s, struct err *err)
{
	struct str service = service_of(headers_first(request->headers, STR("X-Amz-Target")));
	struct buf wrong = buf_in(arena);
	struct str day = {s->date.p, DAY_SIZE};

	if (!str_eq(s->service, service))
		buf_printf(&wrong, AUTH_SCOPE_SERVICE, STR_ARG(service));
	if (!str_eq(s->terminator, STR("aws4_request")))
		buf_printf(&wrong, AUTH_SCOPE_TERMINATOR, STR_ARG(s->terminator));
	if (!str_eq(s->day, day))
		buf_printf(&wrong, AUTH_SCOPE_DATE, STR_ARG(s->day), STR_ARG(day),
			   STR_ARG(s->date));
	return wrong.n ? err_set(err, MSG_AUTH_SCOPE_WRONG, STR_ARG(buf_str(&wrong))) : OK;
}

/* The checks that do not need the key. */
static enum code check_claims(struct arena *arena, const struct sigv4_request *request,
			      struct sigv4_claim *s, bool is_split, int64_t now_s, struct err *err)
{
	enum code code = check_expires(arena, s, err);

	if (code != OK)
		return code;
	code = check_time(arena, s, now_s, err);
	if (code != OK)
		return code;
	code = check_signed_host(s, err);
	if (code != OK)
		return code;
	if (!str_eq(s->algorithm, STR(ALGORITHM)))
		return err_set(err, MSG_AUTH_ALGORITHM, STR_ARG(s->algorithm));
	if (!is_split)
		return err_set(err, MSG_AUTH_SCOPE, STR_ARG(s->credential));
	return check_scope(arena, request, s, err);
}

/* The checks that need the whole request. */
static enum code prove(struct sigv4 *sigv4, struct arena *arena,
		       const struct sigv4_request *request, const struct sigv4_claim *s,
		       struct err *err)
{
	const struct credential *credential = s->of;
	enum code code =
		check_signature(sigv4, arena, request, request->path, s, credential->secret, err);

	if (code != OK)
		return code;
	/* AWS: a token that is not the key's is refused, also where the key is a long-term one,
	 * which has none */
	bool is_token_right = s->token.n == credential->token.n &&
			      (s->token.n == 0 ||
			       crypto_is_same(s->token.p, credential->token.p, s->token.n));
	return is_token_right ? OK : err_default(err, ERR_UNRECOGNIZED_CLIENT);
}

/* Reads the claim where there is one, and checks its form as the mode requires. */
static enum code read_claim(struct sigv4 *sigv4, struct arena *arena,
			    const struct sigv4_request *request, struct sigv4_claim *s,
			    struct err *err)
{
	/* AWS: recorded in envoyproxy/envoy#23702: a second header is read as more of the first, of
	 * which it is no pair */
	struct str header = headers_joined(request->headers, arena, STR("Authorization"));
	bool is_query = request->query.n &&
			str_is_set(query_parameter(arena, request->query, STR(QUERY_ALGORITHM)));
	bool is_header = str_starts_with(str_trim(header), STR("AWS4-"));
	enum code code = OK;

	if (str_is_set(header) && is_query && sigv4->mode != AUTH_OFF)
		return err_set(err, MSG_AUTH_BOTH);
	if (is_header)
		code = read_header_form(request, header, s, err);
	else if (is_query)
		read_query_form(arena, request, s);
	else
		return sigv4->mode == AUTH_OFF ? OK : err_default(err, ERR_MISSING_AUTH_TOKEN);
	s->is_split = split_credential(s);
	if (sigv4->mode == AUTH_OFF)
		return OK;
	if (code != OK)
		return code;
	code = check_parts(arena, s, header, err);
	return code == OK && sigv4->mode == AUTH_OPEN && !s->is_split
		       ? err_set(err, MSG_AUTH_SCOPE, STR_ARG(s->credential))
		       : code;
}

/* With --auth verify: what can be checked of a claim before the body is here. */
static enum code check_claimed(struct sigv4 *sigv4, struct arena *arena,
			       const struct sigv4_request *request, int64_t now_s,
			       struct sigv4_claim *s, struct err *err)
{
	enum code code = check_claims(arena, request, s, s->is_split, now_s, err);

	if (code != OK)
		return code;
	s->of = find_credential(sigv4, s->access_key);
	return s->of ? check_signed_headers(arena, request, s, err)
		     : err_default(err, ERR_UNRECOGNIZED_CLIENT);
}

enum code sigv4_claim(struct sigv4 *sigv4, struct arena *arena, const struct sigv4_request *request,
		      int64_t now_s, struct sigv4_claim **out, struct err *err)
{
	struct sigv4_claim *s = ARENA_NEW(arena, struct sigv4_claim);
	enum code code = read_claim(sigv4, arena, request, s, err);

	if (code != OK || sigv4->mode != AUTH_VERIFY)
		return RESULT(code, out, s);
	code = check_claimed(sigv4, arena, request, now_s, s, err);
	return RESULT(code, out, s);
}

struct str sigv4_access_key(struct sigv4 *sigv4, struct arena *arena,
			    const struct sigv4_request *request)
{
	struct sigv4_claim claim = {0};
	struct err err = err_in(arena);

	(void)(read_claim(sigv4, arena, request, &claim, &err) == OK);
	return claim.is_split ? claim.access_key : STR("");
}

enum code sigv4_prove(struct sigv4 *sigv4, struct arena *arena, const struct sigv4_request *request,
		      const struct sigv4_claim *claim, struct ns *ns, struct err *err)
{
	*ns = (struct ns){STR("000000000000"), STR("us-east-1")};
	if (claim->is_split)
		set_namespace(sigv4, arena, claim, ns);
	return sigv4->mode == AUTH_VERIFY ? prove(sigv4, arena, request, claim, err) : OK;
}

enum code sigv4_check(struct sigv4 *sigv4, struct arena *arena, const struct sigv4_request *request,
		      int64_t now_s, struct ns *ns, struct err *err)
{
	struct sigv4_claim *claim;
	enum code code = sigv4_claim(sigv4, arena, request, now_s, &claim, err);

	*ns = (struct ns){STR("000000000000"), STR("us-east-1")};
	return code == OK ? sigv4_prove(sigv4, arena, request, claim, ns, err) : code;
}
