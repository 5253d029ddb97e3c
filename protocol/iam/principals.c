#include "protocol/iam/principals.h"

#include <stdlib.h>

#include "protocol/iam/messages.h"

#define KEEP (16 * 1024)

struct reader {
	struct iam_principals *principals;
	struct arena *arena; /* of the principals */
	size_t number;       /* of the principal, from 1 */
	struct err *err;
};

static enum code wrong(const struct reader *reader, const char *wants)
{
	return err_set(reader->err, MSG_IAM_PRINCIPAL_MEMBER, reader->number, wants);
}

static void add_key(struct arena *arena, struct iam_context *context, struct iam_key key)
{
	struct iam_key *keys = arena_room(arena, (void *)context->keys, context->n, sizeof(*keys));

	keys[context->n++] = key;
	context->keys = keys;
}

static void add_text(struct arena *arena, struct iam_context *context, struct str name,
		     struct str text)
{
	struct str *value = ARENA_NEW(arena, struct str);

	*value = text;
	add_key(arena, context, (struct iam_key){name, 1, value, false});
}

/* AWS: IAM User Guide, "AWS global condition context keys", keys of the principal. */
static void add_own_keys(struct arena *arena, struct iam_principal *principal)
{
	const struct iam_who *who = &principal->who;
	struct str rest = who->arn, name;

	for (size_t i = 0; i < 5; i++)
		(void)str_cut(&rest, ':');
	name = rest;
	(void)str_cut(&name, '/');
	add_text(arena, &principal->context, STR("aws:PrincipalArn"),
		 str_is_set(who->role) ? who->role : who->arn);
	add_text(arena, &principal->context, STR("aws:PrincipalAccount"), who->account);
	add_text(arena, &principal->context, STR("aws:PrincipalType"),
		 who->is_root   ? STR("Account")
		 : who->is_user ? STR("User")
				: STR("AssumedRole"));
	if (who->is_user) {
		while (memchr(name.p, '/', name.n)) /* the path is no part of the name */
			(void)str_cut(&name, '/');
		add_text(arena, &principal->context, STR("aws:username"), name);
	}
}

static enum code read_texts(const struct reader *reader, const struct json *object,
			    const char *prefix, bool takes_lists, struct iam_context *context)
{
	if (!object)
		return OK;
	if (json_type(object) != JSON_OBJECT)
		return wrong(reader, IAM_WANTS_TEXTS);
	for (const struct json *one = json_first(object); one; one = json_next(one)) {
		struct str name = json_name(reader->arena, one);
		bool is_list = json_type(one) == JSON_ARRAY;
		struct str *values =
			ARENA_ARRAY(reader->arena, struct str, is_list ? json_count(one) + 1 : 1);
		size_t n = 0;

		if (is_list && !takes_lists)
			return wrong(reader, IAM_WANTS_TEXTS);
		for (const struct json *value = is_list ? json_first(one) : one; value;
		     value = is_list ? json_next(value) : NULL) {
			if (json_type(value) != JSON_STRING)
				return wrong(reader, IAM_WANTS_TEXTS);
			values[n++] = json_string(reader->arena, value);
		}
		add_key(reader->arena, context,
			(struct iam_key){
				str_printf(reader->arena, "%s" STR_FMT, prefix, STR_ARG(name)), n,
				values, is_list});
	}
	return OK;
}

/* The error of a policy says whose it is. */
static enum code read_policy(const struct reader *reader, const struct json *document,
			     const char *member, struct iam_policy *out)
{
	enum code code = iam_policy_read(reader->arena, document, IAM_OF_IDENTITY,
					 &reader->principals->statement_count, out, reader->err);
	struct str message = reader->err->message;

	if (code != OK)
		return err_set(reader->err, MSG_IAM_OF, STR_ARG(message), reader->number, member);
	out->name = str_of(member);
	return OK;
}

static enum code read_single(const struct reader *reader, const struct json *document,
			     const char *member, const struct iam_policy **out)
{
	struct iam_policy *policy = ARENA_NEW(reader->arena, struct iam_policy);

	if (!document)
		return OK;
	enum code code = json_type(document) == JSON_OBJECT
				 ? read_policy(reader, document, member, policy)
				 : wrong(reader, IAM_WANTS_POLICIES);
	return RESULT(code, out, policy);
}

static enum code read_identity(const struct reader *reader, const struct json *value,
			       struct iam_who *who)
{
	bool is_list = value && json_type(value) == JSON_ARRAY;
	struct iam_policy *policies =
		ARENA_ARRAY(reader->arena, struct iam_policy, is_list ? json_count(value) + 1 : 1);
	enum code code = OK;

	who->identity = policies;
	for (const struct json *one = is_list ? json_first(value) : value; one && code == OK;
	     one = is_list ? json_next(one) : NULL) {
		if (json_type(one) != JSON_OBJECT)
			return wrong(reader, IAM_WANTS_POLICIES);
		code = read_policy(reader, one, "identity", &policies[who->identity_count++]);
	}
	return code;
}

static bool is_known(struct arena *arena, const struct json *object)
{
	static const char *const members[] = {"access_key", "arn",  "identity", "boundary",
					      "session",    "tags", "variables"};

	for (const struct json *one = json_first(object); one; one = json_next(one)) {
		struct str name = json_name(arena, one);
		bool is_there = false;

		for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
			is_there = is_there || str_eq(name, str_of(members[i]));
		if (!is_there)
			return false;
	}
	return true;
}

static enum code read_names(const struct reader *reader, const struct json *object,
			    struct iam_principal *principal)
{
	const struct json *key = json_member(object, "access_key"),
			  *arn = json_member(object, "arn");

	principal->access_key = STR_ABSENT;
	if (!arn || json_type(arn) != JSON_STRING ||
	    !iam_who_read(reader->arena, json_string(reader->arena, arn), &principal->who))
		return wrong(reader, IAM_WANTS_ARN);
	if (!key)
		return OK;
	principal->access_key =
		json_type(key) == JSON_STRING ? json_string(reader->arena, key) : STR("");
	if (principal->access_key.n == 0)
		return wrong(reader, IAM_WANTS_KEY);
	for (size_t i = 0; i < reader->principals->n; i++) {
		if (str_is_set(reader->principals->v[i].access_key) &&
		    str_eq(reader->principals->v[i].access_key, principal->access_key))
			return wrong(reader, IAM_WANTS_KEY);
	}
	return OK;
}

static enum code read_principal(const struct reader *reader, const struct json *object,
				struct iam_principal *principal)
{
	enum code code;

	if (json_type(object) != JSON_OBJECT || !is_known(reader->arena, object))
		return wrong(reader, IAM_WANTS_KNOWN);
	code = read_names(reader, object, principal);
	if (code != OK)
		return code;
	code = read_identity(reader, json_member(object, "identity"), &principal->who);
	if (code != OK)
		return code;
	code = read_single(reader, json_member(object, "boundary"), "boundary",
			   &principal->who.boundary);
	if (code != OK)
		return code;
	code = read_single(reader, json_member(object, "session"), "session",
			   &principal->who.session);
	if (code != OK)
		return code;
	code = read_texts(reader, json_member(object, "variables"), "", true, &principal->context);
	if (code != OK)
		return code;
	code = read_texts(reader, json_member(object, "tags"), "aws:PrincipalTag/", false,
			  &principal->context);
	if (code != OK)
		return code;
	principal->own_identity = principal->who.identity_count;
	principal->own_boundary = principal->who.boundary;
	add_own_keys(reader->arena, principal);
	return OK;
}

/* Sessions have the policies of their roles. */
static void join_roles(struct iam_principals *principals)
{
	for (size_t i = 0; i < principals->n; i++) {
		struct iam_who *who = &principals->v[i].who;

		for (size_t k = 0; k < principals->n && str_is_set(who->role); k++) {
			const struct iam_who *role = &principals->v[k].who;

			if (str_is_set(principals->v[k].access_key) ||
			    !iam_is_role_of(role->arn, who->role))
				continue;
			struct iam_policy *joined =
				ARENA_ARRAY(principals->arena, struct iam_policy,
					    who->identity_count + role->identity_count + 1);
			for (size_t j = 0; j < who->identity_count; j++)
				joined[j] = who->identity[j];
			for (size_t j = 0; j < role->identity_count; j++)
				joined[who->identity_count + j] = role->identity[j];
			who->identity = joined;
			who->identity_count += role->identity_count;
			who->boundary = who->boundary ? who->boundary : role->boundary;
		}
	}
}

static enum code read_all(struct iam_principals *principals, struct str document, struct err *err)
{
	const struct json *root, *list;
	struct reader reader = {principals, principals->arena, 0, err};
	enum code code;

	principals->document = str_copy(principals->arena, document);
	code = json_parse(principals->arena, principals->document, &root, err);
	list = code == OK && json_type(root) == JSON_OBJECT && json_count(root) == 1
		       ? json_member(root, "principals")
		       : NULL;
	if (!list || json_type(list) != JSON_ARRAY)
		return err_set(err, MSG_IAM_BODY);
	principals->v = ARENA_ARRAY(principals->arena, struct iam_principal, json_count(list) + 1);
	code = OK;
	for (const struct json *one = json_first(list); one && code == OK; one = json_next(one)) {
		reader.number++;
		code = read_principal(&reader, one, &principals->v[principals->n]);
		principals->n++;
	}
	if (code == OK)
		join_roles(principals);
	principals->uses =
		ARENA_ARRAY(principals->arena, atomic_uint, principals->statement_count + 1);
	return code;
}

enum code iam_principals_read(struct str document, struct iam_principals **out, struct err *err)
{
	struct iam_principals *principals = arena_checked(calloc(1, sizeof(*principals)));
	enum code code;

	principals->arena = arena_new(KEEP);
	atomic_init(&principals->refs, 1);
	code = read_all(principals, document, err);
	if (code != OK) {
		err_copy(err, code, err->message);
		iam_principals_unref(principals);
	}
	return RESULT(code, out, principals);
}

struct iam_principals *iam_principals_ref(struct iam_principals *principals)
{
	atomic_fetch_add(&principals->refs, 1);
	return principals;
}

void iam_principals_unref(struct iam_principals *principals)
{
	if (!principals || atomic_fetch_sub(&principals->refs, 1) > 1)
		return;
	arena_free(principals->arena);
	free(principals);
}

const struct iam_principal *iam_principals_find(const struct iam_principals *principals,
						struct arena *arena, struct str access_key,
						struct str account)
{
	struct iam_principal *unknown;

	for (size_t i = 0; i < principals->n; i++) {
		if (str_is_set(principals->v[i].access_key) &&
		    str_eq(principals->v[i].access_key, access_key))
			return &principals->v[i];
	}
	unknown = ARENA_NEW(arena, struct iam_principal);
	unknown->access_key = access_key;
	unknown->who = (struct iam_who){
		.arn = str_printf(arena, "arn:aws:iam::" STR_FMT ":user/" STR_FMT, STR_ARG(account),
				  STR_ARG(access_key)),
		.role = STR_ABSENT,
		.account = account,
		.is_user = true,
	};
	add_own_keys(arena, unknown);
	return unknown;
}
