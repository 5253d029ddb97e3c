#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/buf.h"
#include "server/client/client.h"
#include "server/sigv4.h"
#include "server/transfer/messages.h"
#include "server/transfer/s3_internal.h"

#define WAIT_MS 10000                   /* without progress */
#define LISTING_MAX                                                                                \
	((size_t)16 << 20) /* bytes of a page: 1,000 keys of 1,024 bytes, each byte of six         \
			      characters, with what goes with them */
#define PAGES_MAX 5000                  /* of a listing: a hundred times as many as there need be */
#define OBJECT_MAX                                                                                 \
	((size_t)80 << 20) /* of an endpoint that sends more than the piece that is asked for */
#define REFUSAL_MAX ((size_t)64 << 10)
#define KEY_MAX 1024                    /* bytes. AWS: of an object's key */
#define ETAG_MAX 256
#define TOKEN_MAX 8192
#define PARTIAL 206
#define SERVER_ERRORS 500

/* What is asked for, beside the bucket and the key. */
struct asked {
	const char *method;
	struct str query;   /* as it is sent, parameters in the order of their names */
	struct str body;
	struct str range;   /* lines of the head, or empty */
	size_t most;        /* bytes of the answer */
	const struct s3_sse *sse;
};

static void add_url_escaped(struct buf *out, struct str text, bool keeps_slash)
{
	for (size_t i = 0; i < text.n; i++) {
		unsigned char c = (unsigned char)text.p[i];
		bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
				(c >= '0' && c <= '9') || (c && strchr("-._~", c)) ||
				(c == '/' && keeps_slash);

		if (is_plain)
			buf_add_byte(out, c);
		else
			buf_printf(out, "%%%02X", c);
	}
}

/* The text between <name> and </name>, behind *at, which is moved; absent where there is none. */
static struct str xml_element(struct str *at, const char *name)
{
	char open[64], close[64];
	int n = snprintf(open, sizeof(open), "<%s>", name),
	    m = snprintf(close, sizeof(close), "</%s>", name);
	const char *from = memmem(at->p, at->n, open, (size_t)n);

	if (!from)
		return STR_ABSENT;
	from += n;
	const char *to = memmem(from, (size_t)(at->p + at->n - from), close, (size_t)m);
	if (!to)
		return STR_ABSENT;
	*at = (struct str){to + m, (size_t)(at->p + at->n - to - m)};
	return (struct str){from, (size_t)(to - from)};
}

static struct str element_of(struct str xml, const char *name)
{
	return xml_element(&xml, name);
}

/* Text of XML with its entities resolved; those of characters beyond ASCII do not occur in keys,
 * which are sent as they are. */
static struct str plain_of(struct arena *arena, struct str text)
{
	static const struct { struct str name; char c;
	} entities[] = {
		{STR_INIT("&amp;"), '&'},  {STR_INIT("&lt;"), '<'},    {STR_INIT("&gt;"), '>'},
		{STR_INIT("&quot;"), '"'}, {STR_INIT("&apos;"), '\''},
	};
	struct buf out = buf_in(arena);

	while (text.n > 0) {
		size_t taken = 1;
		char c = text.p[0];

		for (size_t i = 0;
		     c == '&' && taken == 1 && i < sizeof(entities) / sizeof(entities[0]); i++) {
			if (str_starts_with(text, entities[i].name)) {
				taken = entities[i].name.n;
				c = entities[i].c;
			}
		}
		const char *end = memchr(text.p, ';', text.n);
		if (taken == 1 && end && str_starts_with(text, STR("&#"))) {
			bool is_hex = text.n > 2 && text.p[2] == 'x';

			c = (char)strtol(text.p + (is_hex ? 3 : 2), NULL, is_hex ? 16 : 10);
			taken = (size_t)(end - text.p) + 1;
		}
		buf_add_byte(&out, c);
		text = (struct str){text.p + taken, text.n - taken};
	}
	return buf_str(&out);
}

/* The same without a signature. */
static struct str unsigned_headers(struct arena *arena, const struct sigv4_own *own)
{
	const struct {
		const char *name;
		struct str value;
	} headers[] = {
		{"x-amz-expected-bucket-owner", own->bucket_owner},
		{"x-amz-server-side-encryption", own->sse},
		{"x-amz-server-side-encryption-aws-kms-key-id", own->sse_key},
	};
	struct buf lines = buf_in(arena);

	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
		if (str_is_set(headers[i].value))
			buf_printf(&lines, "%s: " STR_FMT "\r\n", headers[i].name,
				   STR_ARG(headers[i].value));
	}
	return buf_str(&lines);
}

/* "Authorization: ..." and what goes with it. */
static struct str signature(struct s3 *s3, struct arena *arena, const struct client_target *target,
			    struct str path, struct str bucket_owner, const struct asked *asked)
{
	struct str secret = str_of(s3->options.credentials), key = str_cut(&secret, ':');
	bool is_kms = asked->sse && str_eq(asked->sse->algorithm, STR("KMS"));
	struct sigv4_own own = {
		.method = str_of(asked->method),
		.path = path,
		.query = asked->query,
		.body = asked->body,
		.host = str_printf(arena, STR_FMT ":" STR_FMT, STR_ARG(target->host),
				   STR_ARG(target->port)),
		.access_key = key,
		.secret = secret,
		.region = str_of(s3->options.region),
		.token = s3->options.token ? str_of(s3->options.token) : STR_ABSENT,
		.service = STR("s3"),
		.sse = !asked->sse || !str_is_set(asked->sse->algorithm) ? STR_ABSENT
		       : is_kms                                          ? STR("aws:kms")
									 : STR("AES256"),
		.sse_key = is_kms ? asked->sse->key : STR_ABSENT,
		.bucket_owner = bucket_owner,
	};

	return strcmp(s3->options.credentials, "none") == 0
		       ? unsigned_headers(arena, &own)
		       : sigv4_sign(s3->sigv4, arena, &own, (int64_t)time(NULL));
}

/* The problem in an answer. */
static bool s3_refused(struct arena *arena, const struct client_reply *reply,
		       struct s3_problem *problem)
{
	struct str code = element_of(reply->body, "Code"),
		   message = element_of(reply->body, "Message");

	if (!str_is_set(code) && reply->status == 404)
		return s3_place_no_key(problem);
	if (!str_is_set(code) && reply->status == 403)
		return s3_place_denied(problem);
	s3_place_failed(problem, str_printf(arena, MSG_S3_ANSWER, reply->status));
	problem->status = reply->status;
	problem->is_passing = reply->status >= SERVER_ERRORS || reply->status == 429;
	if (str_is_set(code))
		problem->code = plain_of(arena, code);
	if (str_is_set(message))
		problem->message = plain_of(arena, message);
	return false;
}

static bool ask_s3(struct s3 *s3, struct arena *arena, struct s3_bucket bucket, struct str key,
		   const struct asked *asked, struct client_reply *reply,
		   struct s3_problem *problem)
{
	struct client_target target;
	struct buf path = buf_in(arena), line = buf_in(arena);
	const char *reason = "no such address";
	bool is_asked = client_read_any_target(str_of(s3->options.where), &target);

	if (target.path.n > 1) /* a path that all begin with */
		buf_add(&path, target.path.p,
			target.path.n - (target.path.p[target.path.n - 1] == '/'));
	buf_printf(&path, "/" STR_FMT, STR_ARG(bucket.name));
	if (key.n > 0)
		buf_printf(&path, "/" STR_FMT, STR_ARG(key));
	add_url_escaped(&line, buf_str(&path), true);
	if (asked->query.n > 0)
		buf_printf(&line, "?" STR_FMT, STR_ARG(asked->query));
	const struct client_request request = {
		.method = asked->method,
		.body = asked->body,
		.wait_ms = WAIT_MS,
		.stopping = s3->options.stopping,
		.reply_max = asked->most,
		.head = str_printf(arena, STR_FMT STR_FMT, STR_ARG(asked->range),
				   STR_ARG(signature(s3, arena, &target, buf_str(&path),
						     bucket.owner, asked))),
	};
	target.authorities = s3->options.authorities;
	target.path = buf_str(&line);
	if (!is_asked || !client_ask(arena, &target, &request, reply, &reason))
		return s3_place_failed(problem, str_printf(arena, MSG_S3_UNREACHABLE, reason));
	return reply->status == 200 || reply->status == PARTIAL ? true
								: s3_refused(arena, reply, problem);
}

static struct str list_query_of(struct arena *arena, struct str prefix, struct str token)
{
	struct buf out = buf_in(arena);

	if (str_is_set(token)) {
		buf_add_lit(&out, "continuation-token=");
		add_url_escaped(&out, token, false);
		buf_add_byte(&out, '&');
	}
	buf_add_lit(&out, "list-type=2&prefix=");
	add_url_escaped(&out, prefix, false);
	return buf_str(&out);
}

/* It goes back in a line of a head. */
static bool is_etag(struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		if ((unsigned char)text.p[i] < ' ')
			return false;
	}
	return text.n > 0 && text.n <= ETAG_MAX;
}

/* What is between <Contents> and </Contents>, some of it in page->arena. */
static bool read_object_of(struct arena *page, struct str contents, struct s3_object *object)
{
	struct str size = element_of(contents, "Size"), etag = element_of(contents, "ETag");
	char *end = NULL;

	object->key = plain_of(page, element_of(contents, "Key"));
	object->etag = str_is_set(etag) ? plain_of(page, etag) : STR_ABSENT;
	if (!is_etag(object->etag))
		object->etag = STR_ABSENT;
	object->size =
		size.n > 0 && size.p[0] >= '0' && size.p[0] <= '9' ? strtoull(size.p, &end, 10) : 0;
	return object->key.n > 0 && object->key.n <= KEY_MAX && end && end == size.p + size.n &&
	       object->size <= INT64_MAX;
}

/* An answer that came whole: the same would come again. */
static bool no_listing(struct arena *arena, const char *why, struct s3_problem *problem)
{
	s3_place_failed(problem, str_printf(arena, MSG_S3_LISTING, why));
	return problem->is_passing = false;
}

/* The objects of one page. False: *problem. */
static bool take_page(struct arena *arena, struct arena *page, struct str rest,
		      struct s3_objects *objects, struct s3_problem *problem)
{
	struct str contents;

	while (str_is_set(contents = xml_element(&rest, "Contents"))) {
		struct s3_object object;

		if (!read_object_of(page, contents, &object))
			return no_listing(page, "an object has no key or no size", problem);
		object.key = str_copy(arena, object.key);
		object.etag = str_copy(arena, object.etag);
		if (!s3_add_object(arena, objects, &object, problem))
			return false;
	}
	return true;
}

/* What a page says of the one behind it: absent where there is none. False: *problem. */
static bool take_token(struct arena *arena, struct str page, struct str *token,
		       struct s3_problem *problem)
{
	static const struct str end = STR_INIT("</ListBucketResult>");
	struct str next = element_of(page, "NextContinuationToken");
	bool is_more = str_eq(element_of(page, "IsTruncated"), STR("true"));

	if (!memmem(page.p, page.n, end.p, end.n))
		return no_listing(arena, "a page has no end", problem);
	if (is_more && (!str_is_set(next) || next.n > TOKEN_MAX))
		return no_listing(arena, "a page does not say what comes behind it", problem);
	*token = is_more ? plain_of(arena, next) : STR_ABSENT;
	return true;
}

/* One page in memory at a time. Tokens that come again are found by one of those before, which is
 * moved on at each power of two: Brent's way. */
static bool endpoint_list(struct s3 *s3, struct arena *arena, struct s3_bucket bucket,
			  struct str prefix, struct s3_objects *objects, struct s3_problem *problem)
{
	struct arena *page = arena_new(0);
	struct str next = STR_ABSENT, before = STR_ABSENT;
	bool is_fine = true, is_over = false;

	for (size_t n = 1; is_fine && !is_over; n++) {
		const struct asked asked = {.method = "GET",
					    .query = list_query_of(page, prefix, next),
					    .body = STR(""),
					    .range = STR(""),
					    .most = LISTING_MAX};
		struct client_reply reply;

		is_fine = ask_s3(s3, page, bucket, STR(""), &asked, &reply, problem) &&
			  take_page(arena, page, reply.body, objects, problem) &&
			  take_token(arena, reply.body, &next, problem);
		is_over = is_fine && !str_is_set(next);
		if (is_fine && !is_over &&
		    (n == PAGES_MAX || (str_is_set(before) && str_eq(next, before))))
			is_fine = no_listing(arena, "it has no end", problem);
		if ((n & (n - 1)) == 0)
			before = next;
		if (!is_fine) {
			problem->message = str_copy(arena, problem->message);
			problem->code = str_copy(arena, problem->code);
		}
		arena_reset(page);
	}
	arena_free(page);
	if (is_fine && objects->n > 0)
		qsort(objects->v, objects->n, sizeof(*objects->v), str_order);
	return is_fine;
}

/* Whether the answer has just these bytes of the object. An endpoint without ranges sends it all.
 */
static bool take_object_piece(struct arena *arena, const struct client_reply *reply,
			      const struct s3_object *object, uint64_t offset, size_t n,
			      struct str *bytes)
{
	unsigned long long first, last, size;

	*bytes = reply->body;
	if (reply->status != PARTIAL) {
		*bytes = (struct str){reply->body.p + (offset < reply->body.n ? offset : 0), n};
		return reply->body.n == object->size;
	}
	return reply->body.n == n && str_is_set(reply->range) &&
	       sscanf(str_copy(arena, reply->range).p, "bytes %llu-%llu/%llu", &first, &last,
		      &size) == 3 &&
	       first == offset && last == offset + n - 1 && size == object->size;
}

static bool endpoint_read(struct s3 *s3, struct arena *arena, struct s3_bucket bucket,
			  const struct s3_object *object, uint64_t offset, size_t n,
			  struct str *bytes, struct s3_problem *problem)
{
	struct str same = str_is_set(object->etag) ? str_printf(arena, "If-Match: " STR_FMT "\r\n",
								STR_ARG(object->etag))
						   : STR("");
	const struct asked asked = {
		.method = "GET",
		.query = STR(""),
		.body = STR(""),
		.most = OBJECT_MAX,
		.range = str_printf(arena, "Range: bytes=%llu-%llu\r\n" STR_FMT,
				    (unsigned long long)offset,
				    (unsigned long long)(offset + n - 1), STR_ARG(same)),
	};
	struct client_reply reply;

	return ask_s3(s3, arena, bucket, object->key, &asked, &reply, problem) &&
	       (take_object_piece(arena, &reply, object, offset, n, bytes) ||
		s3_place_changed(arena, object->key, problem));
}

static bool endpoint_write(struct s3 *s3, struct arena *arena, struct s3_bucket bucket,
			   struct str key, struct str bytes, const struct s3_sse *sse,
			   struct s3_problem *problem)
{
	const struct asked asked = {.method = "PUT",
				    .query = STR(""),
				    .body = bytes,
				    .range = STR(""),
				    .sse = sse,
				    .most = REFUSAL_MAX};
	struct client_reply reply;

	return ask_s3(s3, arena, bucket, key, &asked, &reply, problem);
}

const struct s3_place s3_endpoint = {endpoint_list, endpoint_read, endpoint_write};
