/*
 * Any text as a policy, of an identity and of a resource, and a decision by it. What
 * PutResourcePolicy takes can be evaluated. The first byte picks the principal and which keys the
 * request has.
 */
#include "protocol/iam/decide.h"
#include "protocol/tables/policy_rules.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct str principals[] = {
		STR_INIT("arn:aws:iam::123456789012:user/x"),
		STR_INIT("arn:aws:sts::123456789012:assumed-role/r/s"),
		STR_INIT("arn:aws:iam::210987654321:role/r"),
		STR_INIT("arn:aws:iam::123456789012:root"),
	};
	static const struct str leading[] = {STR_INIT("TENANT#a#1"), STR_INIT("TENANT#b")},
				tenant = STR_INIT("a*"), date = STR_INIT("2026-01-01T00:00:00Z"),
				address = STR_INIT("10.0.0.1"), number = STR_INIT("-12.5");
	const struct iam_key keys[] = {
		{STR("dynamodb:LeadingKeys"), 2, leading, true},
		{STR("aws:PrincipalTag/tenant"), 1, &tenant, false},
		{STR("aws:CurrentTime"), 1, &date, false},
		{STR("aws:SourceIp"), 1, &address, false},
		{STR("n:n"), 1, &number, false},
		{STR("aws:PrincipalArn"), 1, &principals[0], false},
	};
	struct arena *arena = fuzz_arena();
	struct str source = {(const char *)data, size};
	struct err err = err_in(arena);
	struct iam_policy identity = {0}, resource = {0};
	const struct json *document;
	struct iam_who who;
	unsigned number_of = 0;

	if (size < 1)
		return 0;
	unsigned pick = fuzz_byte(&source);
	MUST(iam_who_read(arena, principals[pick % 4], &who));
	if (json_parse(arena, source, &document, &err) != OK)
		return 0;
	if (iam_policy_read(arena, document, IAM_OF_IDENTITY, &number_of, &identity, &err) == OK) {
		who.identity = &identity;
		who.identity_count = 1;
	} else {
		MUST(err.code == ERR_VALIDATION && err.message.n > 0);
	}
	bool has_policy = iam_policy_read(arena, document, IAM_OF_RESOURCE, &number_of, &resource,
					  &err) == OK;
	const struct policy_terms terms = {.is_stream = pick & 8, .may_lock_out = true};
	struct str canonical, again;
	if (policy_rules_document(arena, source, &terms, &canonical, &err) == OK) {
		MUST(has_policy);
		MUST(policy_rules_document(arena, canonical, &terms, &again, &err) == OK &&
		     str_eq(canonical, again));
	} else {
		MUST(err.message.n > 0);
	}
	struct iam_question question = {
		.action = STR("dynamodb:GetItem"),
		.resource = STR("arn:aws:dynamodb:us-east-1:123456789012:table/T"),
		.account = STR("123456789012"),
		.policy = has_policy ? &resource : NULL,
		.context = {pick & 4 ? 0 : sizeof(keys) / sizeof(keys[0]), keys},
	};
	atomic_uint *uses = ARENA_ARRAY(arena, atomic_uint, number_of + 1);
	struct iam_decision decision = iam_decide(&who, &question, arena, uses);
	MUST(!decision.is_allowed || !decision.is_explicit);
	MUST(decision.is_allowed ||
	     iam_refuse(&who, &question, &decision, &err) == ERR_ACCESS_DENIED);
	return 0;
}
