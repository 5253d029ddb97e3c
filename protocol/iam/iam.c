#include "protocol/iam/iam.h"

#include <pthread.h>
#include <stdlib.h>

#include "protocol/iam/ask.h"
#include "protocol/iam/report.h"
#include "protocol/iam/sizes.h"
#include "protocol/wire/json_out.h"
#include "storage/state/policies.h"

#define KEEP (16 * 1024)
#define CACHE_MAX 1024 /* policies of resources; further ones are read for each request */
#define CACHE_PLACES 2048
/* In place of a resource's policy that cannot be read: it can still be seen, replaced and deleted.
 */
#define UNREADABLE                                                                                 \
	STR("{\"Statement\":{\"Effect\":\"Deny\",\"Principal\":\"*\",\"Resource\":\"*\","          \
	    "\"NotAction\":[\"dynamodb:GetResourcePolicy\","                                       \
	    "\"dynamodb:PutResourcePolicy\",\"dynamodb:DeleteResourcePolicy\"]}}")
#define NONE STR("{\"principals\":[]}")

struct cached {
	struct str text;
	struct iam_policy policy;
};

struct iam {
	bool is_enforced;
	pthread_mutex_t lock;
	struct iam_principals *current; /* of `version`, or, where that has no document, `own` */
	struct iam_principals *own;
	uint64_t version;
	struct arena *arena; /* of the cache */
	struct iam_policy unreadable;
	size_t cached_count;
	struct cached *cached[CACHE_PLACES]; /* by their text */
	struct iam_uses *uses;
};

static bool read_document(struct arena *arena, struct str text, struct iam_policy *policy)
{
	const struct json *document;
	struct err err = err_in(arena);
	unsigned number = 0;

	return json_parse(arena, text, &document, &err) == OK &&
	       iam_policy_read(arena, document, IAM_OF_RESOURCE, &number, policy, &err) == OK;
}

struct iam *iam_new(bool is_enforced)
{
	struct iam *iam = arena_checked(calloc(1, sizeof(*iam)));
	struct err err;

	pthread_mutex_init(&iam->lock, NULL);
	iam->is_enforced = is_enforced;
	iam->arena = arena_new(KEEP);
	iam->uses = iam_uses_new();
	err = err_in(iam->arena);
	if (iam_principals_read(NONE, &iam->own, &err) != OK ||
	    !read_document(iam->arena, UNREADABLE, &iam->unreadable))
		abort();
	iam->current = iam_principals_ref(iam->own);
	return iam;
}

void iam_free(struct iam *iam)
{
	if (!iam)
		return;
	iam_principals_unref(iam->own);
	iam_principals_unref(iam->current);
	iam_uses_free(iam->uses);
	arena_free(iam->arena);
	pthread_mutex_destroy(&iam->lock);
	free(iam);
}

static void take_current(struct iam *iam, struct iam_principals *principals, uint64_t version)
{
	iam_principals_unref(iam->current);
	iam->current = principals;
	iam->version = version;
}

enum code iam_use(struct iam *iam, struct str document, struct err *err)
{
	struct iam_principals *principals;
	enum code code = iam_principals_read(document, &principals, err);

	if (code != OK)
		return code;
	pthread_mutex_lock(&iam->lock);
	iam_principals_unref(iam->own);
	iam->own = principals;
	take_current(iam, iam_principals_ref(principals), 0); /* the store is asked again */
	pthread_mutex_unlock(&iam->lock);
	return OK;
}

enum code iam_put(struct catalog *catalog, struct str document, struct err *err)
{
	struct iam_principals *principals;
	enum code code = OK;

	if (str_is_set(document)) {
		code = iam_principals_read(document, &principals, err);
		if (code != OK)
			return code;
		iam_principals_unref(principals);
	}
	return policies_put(catalog, document, err);
}

enum code iam_show(struct iam *iam, struct catalog *catalog, struct arena *arena,
		   struct str *document, struct err *err)
{
	uint64_t version;
	enum code code = policies_get(catalog, arena, document, &version, err);

	if (code != OK || str_is_set(*document))
		return code;
	pthread_mutex_lock(&iam->lock);
	*document = str_copy(arena, iam->own->document);
	pthread_mutex_unlock(&iam->lock);
	return OK;
}

/* The policies as the store has them now, with a reference. */
static enum code current_of(struct iam *iam, struct catalog *catalog, struct arena *arena,
			    struct iam_principals **out, struct err *err)
{
	struct str document = STR_ABSENT;
	struct iam_principals *principals = NULL;
	uint64_t version;
	enum code code = policies_version(catalog, arena, &version, err);

	if (code != OK)
		return code;
	pthread_mutex_lock(&iam->lock);
	bool is_current = iam->version == version;
	*out = iam_principals_ref(iam->current);
	pthread_mutex_unlock(&iam->lock);
	if (is_current)
		return OK;
	iam_principals_unref(*out);
	code = policies_get(catalog, arena, &document, &version, err);
	if (code != OK)
		return code;
	if (str_is_set(document))
		code = iam_principals_read(document, &principals, err);
	if (code != OK)
		return code;
	pthread_mutex_lock(&iam->lock);
	take_current(iam, principals ? principals : iam_principals_ref(iam->own), version);
	*out = iam_principals_ref(iam->current);
	pthread_mutex_unlock(&iam->lock);
	return OK;
}

/*
 * PutResourcePolicy of older versions took documents that cannot be read, such as those with
 * unknown operators. Nobody knows whom they deny, so they deny everybody.
 */
static struct cached *read_policy(const struct iam *iam, struct arena *arena, struct str text)
{
	struct cached *cached = ARENA_NEW(arena, struct cached);

	cached->text = str_copy(arena, text);
	if (!read_document(arena, cached->text, &cached->policy))
		cached->policy = iam->unreadable;
	return cached;
}

static const struct iam_policy *policy_of(void *context, struct arena *arena, struct str text)
{
	struct iam *iam = context;
	size_t at = str_hash(text, 1) % CACHE_PLACES;
	struct cached *cached;

	pthread_mutex_lock(&iam->lock);
	while (iam->cached[at] && !str_eq(iam->cached[at]->text, text))
		at = (at + 1) % CACHE_PLACES;
	cached = iam->cached[at];
	if (!cached && iam->cached_count < CACHE_MAX) {
		cached = iam->cached[at] = read_policy(iam, iam->arena, text);
		iam->cached_count++;
	}
	pthread_mutex_unlock(&iam->lock);
	return cached ? &cached->policy : &read_policy(iam, arena, text)->policy;
}

struct trial {
	struct iam *iam;
	const struct iam_principals *principals;
	const struct iam_who *who;
	bool is_read;    /* all of the request could be read, and reports see it; else nothing is
			    noted of it */
	bool is_binding; /* what is denied is refused */
	struct json_out *told; /* gets what decided, and nothing is noted; or NULL */
};

/* The statement's number counts those of all policies of the document; of a resource's policy, its
 * own. */
static void tell_decision(const struct iam_who *who, const struct iam_question *question,
			  const struct iam_decision *decision, struct json_out *out)
{
	static const char *const sources[IAM_SOURCES] = {
		[IAM_IDENTITY] = "identity",
		[IAM_RESOURCE] = "resource",
		[IAM_BOUNDARY] = "boundary",
		[IAM_SESSION] = "session",
	};
	const struct iam_statement *statement = decision->statement;

	json_out_open(out, '{');
	json_out_field_string(out, "principal", who->arn);
	json_out_field_string(out, "action", question->action);
	json_out_field_string(out, "resource", question->resource);
	json_out_field_boolean(out, "is_allowed", decision->is_allowed);
	json_out_field_string(out, "policy", str_of(sources[decision->source]));
	if (!statement && decision->is_allowed)
		json_out_field_string(out, "why", STR("the account's root may do everything"));
	if (!statement && !decision->is_allowed)
		json_out_field_string(out, "why", STR("no statement of such a policy allows it"));
	if (statement) {
		json_out_field_string(out, "effect",
				      statement->is_deny ? STR("Deny") : STR("Allow"));
		if (str_is_set(statement->sid))
			json_out_field_string(out, "sid", statement->sid);
		json_out_field_integer(out, "statement", statement->number);
	}
	json_out_close(out, '}');
}

/* What one question comes to. */
static enum code judge(const struct trial *trial, const struct iam_question *question,
		       struct err *err)
{
	struct iam_decision decision =
		iam_decide(trial->who, question, err->arena,
			   trial->is_read && !trial->told ? trial->principals->uses : NULL);
	enum code code = err_if_over(err->arena, err);

	if (code != OK)
		return code;
	code = decision.is_allowed ? OK : iam_refuse(trial->who, question, &decision, err);
	if (trial->told)
		tell_decision(trial->who, question, &decision, trial->told);
	else if (trial->is_read)
		iam_uses_note(trial->iam->uses, trial->who, question, decision.is_allowed,
			      decision.is_allowed || !trial->is_binding,
			      code == OK ? STR_ABSENT : err->message);
	return trial->is_binding ? code : OK;
}

/* The error of one statement, in its place. */
static enum code put_refusal(struct call *call, const struct iam_asked *asked, size_t statement,
			     struct err *err)
{
	if (!call->request.refused)
		call->request.refused =
			ARENA_ARRAY(call->arena, struct err, asked->statement_count);
	call->request.refused[statement - 1] = *err;
	*err = err_in(err->arena);
	return OK;
}

/*
 * An expression or a statement that cannot be parsed is answered with its own error, whatever the
 * policies say: dynamodb:Attributes, LeadingKeys and the action of a statement are known only from
 * the parsed text. Nobody uses a half-parsed request. Where the rest of it is allowed, the
 * operation parses the text again and reports the error; where it is denied, the error is returned
 * here, so that nothing runs unjudged. No capture shows which of the two errors AWS returns first.
 */
enum code iam_admit(struct iam *iam, struct call *call, const struct iam_request_of *of,
		    struct err *err)
{
	struct iam_principals *principals;
	enum code code = iam_sizes_check(of->operation, of->input, err);

	if (code != OK)
		return code;
	code = current_of(iam, call->service->catalog, call->arena, &principals, err);
	if (code != OK)
		return code;
	const struct iam_request request = {
		.call = call,
		.operation = of->operation,
		.shape = of->shape,
		.input = of->input,
		.policy_of = policy_of,
		.context = iam,
		.principal =
			iam_principals_find(principals, call->arena, of->access_key, of->account),
	};
	struct iam_asked asked = iam_ask(&request);
	struct json_out told = json_out_in(call->arena);
	const struct trial trial = {
		iam, principals, &request.principal->who,
		asked.unread.code == OK && !call->is_unseen,
		/* without --iam no account reaches another one */
		iam->is_enforced || !str_eq(of->account, call->ns.account),
		of->told ? &told : NULL,
	};

	json_out_open(&told, '[');
	for (size_t i = 0; i < asked.n && code == OK; i++) {
		code = judge(&trial, &asked.v[i], err);
		if (code == ERR_ACCESS_DENIED && asked.unread.code != OK) {
			*err = asked.unread;
			code = err->code;
		}
		if (code == ERR_ACCESS_DENIED && asked.v[i].statement > 0)
			code = put_refusal(call, &asked, asked.v[i].statement, err);
	}
	json_out_close(&told, ']');
	if (of->told)
		*of->told = json_out_str(&told);
	iam_asked_release(&asked);
	iam_principals_unref(principals);
	return code;
}

enum code iam_admit_deed(struct iam *iam, struct catalog *catalog, struct arena *arena,
			 const struct iam_deed *deed, struct err *err)
{
	struct iam_principals *principals;
	enum code code = current_of(iam, catalog, arena, &principals, err);

	if (code != OK)
		return code;
	const struct iam_principal *principal =
		iam_principals_find(principals, arena, deed->access_key, deed->ns.account);
	const struct iam_question question = {
		.action = deed->action,
		.resource = deed->resource,
		.account = principal->who.account,
		.context = iam_asking_context(arena, principal, deed->ns, deed->now_ms),
	};
	const struct trial trial = {iam, principals, &principal->who, !deed->is_unseen,
				    iam->is_enforced, NULL};
	code = judge(&trial, &question, err);
	iam_principals_unref(principals);
	return code;
}

enum code iam_describe(struct iam *iam, struct catalog *catalog, struct arena *arena,
		       struct str *answer, struct err *err)
{
	struct iam_principals *principals;
	enum code code = current_of(iam, catalog, arena, &principals, err);

	if (code != OK)
		return code;
	*answer = iam_report(arena, iam->uses, principals, iam->is_enforced);
	iam_principals_unref(principals);
	return OK;
}
