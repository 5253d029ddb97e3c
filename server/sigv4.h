/*
 * sigv4 - authenticates requests by AWS Signature Version 4, in the Authorization header or in the
 * query of a presigned URL.
 *
 * AWS: IAM User Guide, "AWS Signature Version 4 for API requests". The only door to OpenSSL.
 */
#ifndef DYNALITH_SERVER_SIGV4_H
#define DYNALITH_SERVER_SIGV4_H

#include <stdint.h>

#include "core/arena.h"
#include "core/err.h"
#include "server/start/config.h"
#include "server/http/headers.h"
#include "storage/schema/schema.h"

enum auth_mode {
	AUTH_OPEN,   /* the parts of a signature must be there; it is not checked; any access key
			works */
	AUTH_VERIFY, /* the signature must be right and its access key one of the configured */
	AUTH_OFF,    /* nothing is needed; a credential that is there names the namespace */
};

#define SIGV4_SKEW_S (15 * 60) /* how far a signature's time may be off */
#define SIGV4_EXPIRES_MAX_S (7 * 24 * 60 * 60) /* how long a presigned URL can be good for */

/* The signed parts of the request, as they came over the wire. */
struct sigv4_request {
	struct str method;
	struct str path;    /* raw, without the query */
	struct str query;   /* raw, without '?'; may be empty */
	struct str body;    /* before decompression */
	const struct headers *headers;
	bool is_plain_path;  /* no segment of the path is folded: S3's keys may have empty ones */
};

struct sigv4;

struct sigv4 *sigv4_new(enum auth_mode mode, const struct credential *credentials, size_t n);
void sigv4_free(struct sigv4 *sigv4);

/*
 * From now on each access key is an account of its own, --namespaces key: one that is no account's
 * number has a number that follows from its text. To be called before there are requests.
 */
void sigv4_separate_keys(struct sigv4 *sigv4);

/* The account of that access key, in the arena. */
struct str sigv4_account(const struct sigv4 *sigv4, struct arena *arena, struct str access_key);

/* What a key may do below /_dynalith/. Where signatures are not verified, anybody may do all. */
struct sigv4_rights {
	bool may_control; /* see and change what is not its account's: "control": true, or no entry
			     has "control" and no key has an account of its own */
	bool may_change;  /* its own account's: not with "control": false */
};
struct sigv4_rights sigv4_rights(const struct sigv4 *sigv4, struct arena *arena,
				 struct str access_key);

/*
 * AWS: the order of the checks and their texts are DynamoDB's, as dynalite's source notes them:
 * parts, date and expiry, signed host, algorithm, credential, scope, key, signature, token. Other
 * signed headers are checked behind the key.
 *
 * Checks the request at Unix time `now_s` and sets the namespace: the account is that of the
 * credential, where it has one, else a 12-digit access key is the account and anything else is
 * 000000000000; the region comes from the credential scope, us-east-1 where there is none.
 * Thread-safe. Errors: ERR_MISSING_AUTH_TOKEN, ERR_INCOMPLETE_SIGNATURE, ERR_UNRECOGNIZED_CLIENT,
 * ERR_INVALID_SIGNATURE, ERR_ACCESS_DENIED.
 */
enum code sigv4_check(struct sigv4 *sigv4, struct arena *arena, const struct sigv4_request *request,
		      int64_t now_s, struct ns *ns, struct err *err) WARN_UNUSED;

/*
 * The same in two steps. The first checks the head, up to the key and the signed headers, before
 * there is a body; the second checks the rest. The claim lies in the arena.
 */
struct sigv4_claim;
enum code sigv4_claim(struct sigv4 *sigv4, struct arena *arena, const struct sigv4_request *request,
		      int64_t now_s, struct sigv4_claim **claim, struct err *err) WARN_UNUSED;
enum code sigv4_prove(struct sigv4 *sigv4, struct arena *arena, const struct sigv4_request *request,
		      const struct sigv4_claim *claim, struct ns *ns, struct err *err) WARN_UNUSED;

/* The access key by which the request is signed, whether rightly or not; empty where there is none.
 */
struct str sigv4_access_key(struct sigv4 *sigv4, struct arena *arena,
			    const struct sigv4_request *request);

/* A request of this program's own. */
struct sigv4_own {
	struct str method, path, query, host, body;
	struct str access_key, secret;
	struct str region;  /* absent: us-east-1 */
	struct str target;  /* X-Amz-Target, or absent; the caller sends it */
	struct str token;   /* of temporary credentials, or absent */
	struct str service; /* absent: dynamodb. "s3": the body's hash is a header too, and the path
			       is signed as it is */
	struct str sse, sse_key; /* of s3: how the object is to be encrypted, or absent */
	struct str bucket_owner; /* of s3: the account that must own the bucket, or absent */
	struct str date;    /* set by sigv4_sign */
};

/* The lines of its head that sign it at Unix time `now_s`; `sigv4` is one of AUTH_VERIFY, its
 * credentials count for nothing. */
struct str sigv4_sign(struct sigv4 *sigv4, struct arena *arena, struct sigv4_own *own,
		      int64_t now_s);

#endif
