#include "protocol/iam/decide.h"

#include "protocol/iam/condition.h"
#include "protocol/iam/messages.h"

#define ACCOUNT_N 12

/* How closely a resource's policy names a principal. */
enum naming { NAMES_NOT, NAMES_ACCOUNT, NAMES_ROLE, NAMES_ITSELF };

/* What one kind of policy says. */
struct verdict {
	const struct iam_statement *deny, *allow;
	enum naming naming; /* the closest of the statements that allow */
};

struct inquiry {
	const struct iam_who *who;
	const struct iam_question *question;
	struct arena *arena;
	atomic_uint *uses;
};

static bool is_account(struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] < '0' || text.p[i] > '9')
			return false;
	}
	return text.n == ACCOUNT_N;
}

bool iam_who_read(struct arena *arena, struct str arn, struct iam_who *who)
{
	struct str rest = arn, parts[5], kind, name;

	for (size_t i = 0; i < 5; i++)
		parts[i] = str_cut(&rest, ':');
	*who = (struct iam_who){.arn = arn, .role = STR_ABSENT, .account = parts[4]};
	if (!str_eq(parts[0], STR("arn")) || !str_starts_with(parts[1], STR("aws")) ||
	    parts[3].n > 0 || !is_account(who->account))
		return false;
	who->is_root = str_eq(parts[2], STR("iam")) && str_eq(rest, STR("root"));
	if (who->is_root)
		return true;
	name = rest;
	kind = str_cut(&name, '/');
	if (name.n == 0)
		return false;
	who->is_user = str_eq(parts[2], STR("iam")) && str_eq(kind, STR("user"));
	if (who->is_user || (str_eq(parts[2], STR("iam")) && str_eq(kind, STR("role"))))
		return true;
	if (!str_eq(parts[2], STR("sts")))
		return false;
	who->is_federated = str_eq(kind, STR("federated-user"));
	if (who->is_federated)
		return true;
	struct str session = name, role = str_cut(&session, '/');
	if (!str_eq(kind, STR("assumed-role")) || role.n == 0 || session.n == 0)
		return false;
	who->role = str_printf(arena, "arn:" STR_FMT ":iam::" STR_FMT ":role/" STR_FMT,
			       STR_ARG(parts[1]), STR_ARG(who->account), STR_ARG(role));
	return true;
}

/* The bytes up to the last slash, with it. */
static size_t path_of(struct str arn)
{
	size_t n = arn.n;

	while (n > 0 && arn.p[n - 1] != '/')
		n--;
	return n;
}

static struct str behind(struct str s, size_t n)
{
	return (struct str){s.p + n, s.n - n};
}

bool iam_is_role_of(struct str named, struct str role)
{
	if (!str_is_set(role))
		return false;
	if (str_eq(named, role))
		return true;
	size_t head = path_of(role), slash = path_of(named);
	return slash > 0 && named.n > head && memcmp(named.p, role.p, head) == 0 &&
	       str_eq(behind(named, slash), behind(role, head));
}

static enum naming naming_of(const struct iam_who *who, struct str named)
{
	if (str_eq(named, STR("*")))
		return who->is_user || who->is_root ? NAMES_ITSELF : NAMES_ROLE;
	if (str_eq(named, who->arn))
		return who->is_root ? NAMES_ACCOUNT
		       : str_is_set(who->role) || who->is_user ||
				       !str_contains(named, STR(":role/"))
			       ? NAMES_ITSELF
			       : NAMES_ROLE;
	if (iam_is_role_of(named, who->role))
		return NAMES_ROLE;
	if (is_account(named))
		return str_eq(named, who->account) ? NAMES_ACCOUNT : NAMES_NOT;
	struct str rest = named;
	for (size_t i = 0; i < 4; i++)
		(void)str_cut(&rest, ':');
	struct str account = str_cut(&rest, ':');
	return str_eq(rest, STR("root")) && str_eq(account, who->account) ? NAMES_ACCOUNT
									  : NAMES_NOT;
}

static enum naming principal_of(const struct iam_statement *statement, const struct iam_who *who)
{
	enum naming closest = NAMES_NOT;

	for (size_t i = 0; i < statement->principals.n; i++) {
		enum naming naming = naming_of(who, statement->principals.v[i].source);

		closest = naming > closest ? naming : closest;
	}
	if (!statement->is_not_principal)
		return closest;
	if (statement->is_deny &&
	    who->boundary) /* AWS: IAM User Guide, "Permissions boundaries for IAM entities" */
		return NAMES_ITSELF;
	return closest != NAMES_NOT           ? NAMES_NOT
	       : who->is_user || who->is_root ? NAMES_ITSELF
					      : NAMES_ROLE;
}

static bool has_action(const struct inquiry *inquiry, const struct iam_statement *statement)
{
	for (size_t i = 0; i < statement->actions.n; i++) {
		if (iam_pattern_fits(inquiry->arena, statement->actions.v[i].text,
				     inquiry->question->action, true))
			return !statement->is_not_action;
	}
	return statement->is_not_action;
}

static bool has_resource(const struct inquiry *inquiry, const struct iam_statement *statement)
{
	const struct iam_question *question = inquiry->question;

	for (size_t i = 0; i < statement->resources.n; i++) {
		struct str wanted;

		if (iam_pattern_fill(&statement->resources.v[i], &question->context, inquiry->arena,
				     &wanted) &&
		    iam_pattern_fits_arn(inquiry->arena, wanted, question->resource))
			return !statement->is_not_resource;
	}
	return statement->is_not_resource;
}

/* Whether the statement is about the question. */
static bool applies(const struct inquiry *inquiry, const struct iam_statement *statement)
{
	return has_action(inquiry, statement) && has_resource(inquiry, statement) &&
	       iam_condition_holds(statement->tests, statement->test_count,
				   &inquiry->question->context, inquiry->arena);
}

static void consult(const struct inquiry *inquiry, const struct iam_policy *policy, bool is_counted,
		    struct verdict *verdict)
{
	for (size_t i = 0; i < policy->n && !arena_is_over(inquiry->arena); i++) {
		const struct iam_statement *statement = &policy->statements[i];
		enum naming naming = statement->has_principal
					     ? principal_of(statement, inquiry->who)
					     : NAMES_ITSELF;

		if (naming == NAMES_NOT || !applies(inquiry, statement))
			continue;
		if (is_counted && inquiry->uses)
			atomic_fetch_add_explicit(&inquiry->uses[statement->number], 1,
						  memory_order_relaxed);
		if (statement->is_deny && !verdict->deny)
			verdict->deny = statement;
		if (statement->is_deny || (verdict->allow && naming <= verdict->naming))
			continue;
		verdict->allow = statement;
		verdict->naming = naming;
	}
}

static struct iam_decision denied(enum iam_source source, const struct iam_statement *statement)
{
	return (struct iam_decision){
		.is_explicit = statement != NULL, .source = source, .statement = statement};
}

static struct iam_decision allowed(enum iam_source source, const struct iam_statement *statement)
{
	return (struct iam_decision){.is_allowed = true, .source = source, .statement = statement};
}

struct iam_decision iam_decide(const struct iam_who *who, const struct iam_question *question,
			       struct arena *arena, atomic_uint *uses)
{
	const struct inquiry inquiry = {who, question, arena, uses};
	struct verdict says[IAM_SOURCES] = {0};
	const struct verdict *identity = &says[IAM_IDENTITY], *resource = &says[IAM_RESOURCE];
	bool is_across = !str_eq(who->account, question->account);

	for (size_t i = 0; i < who->identity_count; i++)
		consult(&inquiry, &who->identity[i], true, &says[IAM_IDENTITY]);
	if (question->policy)
		consult(&inquiry, question->policy, false, &says[IAM_RESOURCE]);
	if (who->boundary)
		consult(&inquiry, who->boundary, true, &says[IAM_BOUNDARY]);
	if (who->session)
		consult(&inquiry, who->session, true, &says[IAM_SESSION]);
	if (arena_is_over(arena))
		return denied(IAM_IDENTITY, NULL);
	for (enum iam_source source = 0; source < IAM_SOURCES; source++) {
		if (says[source].deny)
			return denied(source, says[source].deny);
	}
	if (!is_across && resource->allow && resource->naming == NAMES_ITSELF)
		return allowed(IAM_RESOURCE, resource->allow);
	bool is_by_identity = identity->allow || who->is_root;
	if (!is_by_identity && (is_across || !resource->allow || resource->naming == NAMES_ACCOUNT))
		return denied(IAM_IDENTITY, NULL);
	if (who->boundary && !says[IAM_BOUNDARY].allow)
		return denied(IAM_BOUNDARY, NULL);
	/* AWS: IAM User Guide, "Policy evaluation logic": a federated user without a session policy
	 * may do what a resource's policy grants to it, no more */
	if (who->session ? !says[IAM_SESSION].allow : who->is_federated)
		return denied(IAM_SESSION, NULL);
	if (is_across && !resource->allow)
		return denied(IAM_RESOURCE, NULL);
	return is_by_identity ? allowed(IAM_IDENTITY, identity->allow)
			      : allowed(IAM_RESOURCE, resource->allow);
}

enum code iam_refuse(const struct iam_who *who, const struct iam_question *question,
		     const struct iam_decision *decision, struct err *err)
{
	static const struct {
		const char *article, *name;
	} kinds[IAM_SOURCES] = {
		[IAM_IDENTITY] = {"an", "identity-based policy"},
		[IAM_RESOURCE] = {"a", "resource-based policy"},
		[IAM_BOUNDARY] = {"a", "permissions boundary"},
		[IAM_SESSION] = {"a", "session policy"},
	};
	struct str why =
		decision->is_explicit
			? str_printf(err->arena, IAM_BECAUSE_EXPLICIT,
				     kinds[decision->source].article, kinds[decision->source].name)
			: str_printf(err->arena, IAM_BECAUSE_IMPLICIT, kinds[decision->source].name,
				     STR_ARG(question->action));

	return err_set(err, MSG_IAM_DENIED, STR_ARG(who->arn), STR_ARG(question->action),
		       STR_ARG(question->resource), STR_ARG(why));
}
