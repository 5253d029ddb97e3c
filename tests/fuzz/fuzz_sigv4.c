/*
 * A request to the signature check. Input: a byte (mode, and a step of the clock), then lines:
 * method, path, query, headers "Name: value" up to an empty line; the rest is the body. Only the
 * right signature passes in mode "verify": where the answer tells what should have been signed, the
 * target signs that with the secret, sees it pass, and sees it fail for another body or method.
 */
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "server/sigv4.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/server/sigv4_vectors.h"

#define HEADERS_MAX 32
#define INPUT_MAX 16384
#define HASH_SIZE 32
#define HEX_SIZE 64

/* As a server takes them from the wire: a copy that ends at a NUL. */
static struct str text(struct arena *arena, struct str s)
{
	return str_of(str_copy(arena, s).p);
}

static void read_headers(struct arena *arena, struct str *input, struct headers *headers)
{
	while (headers->n < HEADERS_MAX) {
		struct str line = fuzz_until(input, '\n');

		if (line.n == 0)
			break;
		struct str name = text(arena, fuzz_until(&line, ':'));
		while (line.n && *line.p == ' ')
			(void)fuzz_byte(&line);
		headers_add(headers, arena, name, text(arena, line));
	}
}

static void hmac(const void *key, size_t n, struct str bytes, unsigned char *out)
{
	MUST(HMAC(EVP_sha256(), key, (int)n, (const unsigned char *)bytes.p, bytes.n, out, NULL));
}

/* The signature of what the refusal says should be signed, in hex; absent where it says nothing. */
static struct str sign(struct arena *arena, struct str refusal)
{
	static const char mark[] = "'AWS4-HMAC-SHA256\n";
	const char *start = NULL;
	unsigned char key[HASH_SIZE];
	struct buf hex = buf_in(arena);

	for (size_t i = 0; i + sizeof(mark) - 1 <= refusal.n;
	     i++) /* the last: the request can contain the words too */
		start = memcmp(refusal.p + i, mark, sizeof(mark) - 1) == 0 ? refusal.p + i + 1
									   : start;
	if (!start)
		return STR_ABSENT;
	struct str to_sign = {start, (size_t)(refusal.p + refusal.n - start)};
	while (to_sign.n && to_sign.p[to_sign.n - 1] != '\'')
		to_sign.n--;
	to_sign.n -= to_sign.n > 0;
	struct str rest = to_sign;
	(void)fuzz_until(&rest, '\n');
	(void)fuzz_until(&rest, '\n');
	struct str scope = fuzz_until(&rest, '\n'), secret = STR("AWS4" VECTOR_SECRET);
	hmac(secret.p, secret.n, fuzz_until(&scope, '/'), key);
	while (scope.n)
		hmac(key, HASH_SIZE, fuzz_until(&scope, '/'), key);
	hmac(key, HASH_SIZE, to_sign, key);
	for (int i = 0; i < HASH_SIZE; i++)
		buf_printf(&hex, "%02x", key[i]);
	return buf_str(&hex);
}

/* `s` with what stands behind the first `name` up to an end character replaced. */
static struct str replace(struct arena *arena, struct str s, struct str name, const char *ends,
			  struct str with)
{
	struct buf out = buf_in(arena);

	for (size_t i = 0; i + name.n <= s.n; i++) {
		if (memcmp(s.p + i, name.p, name.n) != 0)
			continue;
		size_t end = i + name.n;
		while (end < s.n && !strchr(ends, s.p[end]))
			end++;
		buf_add(&out, s.p, i + name.n);
		buf_add_str(&out, with);
		buf_add(&out, s.p + end, s.n - end);
		return str_copy(arena, buf_str(&out));
	}
	return s;
}

static enum code check(struct sigv4 *sigv4, struct arena *arena,
		       const struct sigv4_request *request, int64_t now_s, struct err *err)
{
	struct ns ns;

	*err = err_in(arena);
	enum code code = sigv4_check(sigv4, arena, request, now_s, &ns, err);
	MUST(ns.account.n == 12 && ns.region.n > 0);
	return code;
}

/* Signs the request as asked and sends it again. */
static void check_signed(struct sigv4 *sigv4, struct arena *arena, struct sigv4_request *request,
			 struct headers *headers, int64_t now_s, struct str refusal)
{
	struct str signature = sign(arena, refusal);
	struct str first = headers_first(headers, STR("Authorization"));
	struct err err;

	if (!str_is_set(signature))
		return;
	request->query = replace(arena, request->query, STR("X-Amz-Signature="), "&", signature);
	for (size_t i = 0; i < headers->n; i++) {
		if (headers->v[i].value.p == first.p)
			headers->v[i].value =
				replace(arena, first, STR("Signature="), ", \t", signature);
	}
	if (check(sigv4, arena, request, now_s, &err) != OK)
		return; /* twice in it, or a part of what is signed */
	bool is_body_signed = !str_eq(headers_first(headers, STR("X-Amz-Content-Sha256")),
				      STR("UNSIGNED-PAYLOAD"));
	struct sigv4_request changed = *request;
	changed.method = str_printf(arena, STR_FMT "X", STR_ARG(request->method));
	MUST(check(sigv4, arena, &changed, now_s, &err) != OK);
	changed = *request;
	changed.body = str_printf(arena, "%zu" STR_FMT, request->body.n, STR_ARG(request->body));
	MUST(!is_body_signed || check(sigv4, arena, &changed, now_s, &err) != OK);
	MUST(check(sigv4, arena, request, now_s + 2 * SIGV4_EXPIRES_MAX_S, &err) != OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct credential credentials[] = {
		{.access_key = STR_INIT("AKIDEXAMPLE"), .secret = STR_INIT(VECTOR_SECRET)},
		{.access_key = STR_INIT("WITHTOKEN"),
		 .secret = STR_INIT(VECTOR_SECRET),
		 .token = STR_INIT("token")}};
	static struct sigv4 *sigv4[3];
	struct str input = {(const char *)data, size < INPUT_MAX ? size : INPUT_MAX};
	struct arena *arena = fuzz_arena();
	struct headers headers = {0};
	unsigned head = fuzz_byte(&input);
	struct sigv4_request request = {.headers = &headers};
	struct err err;

	for (int mode = AUTH_OPEN; mode <= AUTH_OFF && !sigv4[mode]; mode++)
		sigv4[mode] = sigv4_new((enum auth_mode)mode, credentials, 2);
	request.method = text(arena, fuzz_until(&input, '\n'));
	request.path = text(arena, fuzz_until(&input, '\n'));
	request.query = text(arena, fuzz_until(&input, '\n'));
	read_headers(arena, &input, &headers);
	request.body = input;
	int64_t now_s = VECTOR_TIME + (int64_t)(head >> 2) * 60;
	enum code code = check(sigv4[head % 3], arena, &request, now_s, &err);
	if (head % 3 == AUTH_VERIFY && code == ERR_INVALID_SIGNATURE)
		check_signed(sigv4[AUTH_VERIFY], arena, &request, &headers, now_s, err.message);
	return 0;
}
