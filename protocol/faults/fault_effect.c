#include "protocol/faults/fault_effect.h"

#include "protocol/faults/messages.h"
#include "protocol/throttle_messages.h"

/* Texts where errors.def has none, or another one for requests on items. */
static struct str fault_text_of(enum code code, struct str reason, const struct fault_about *about)
{
	bool is_index = str_starts_with(reason, STR("Index"));

	switch (code) {
	case ERR_THROUGHPUT_EXCEEDED:
		return is_index ? STR(THROTTLE_TEXT_INDEX) : STR(THROTTLE_TEXT_TABLE);
	case ERR_THROTTLING:
		if (!about->is_of_items)
			return STR(THROTTLE_TEXT_RATE);
		return str_contains(reason, STR("MaxOnDemand")) ? STR(THROTTLE_TEXT_ON_DEMAND)
								: STR(THROTTLE_TEXT_CAPACITY);
	case ERR_REQUEST_LIMIT_EXCEEDED:
		return STR(THROTTLE_TEXT_ACCOUNT);
	case ERR_LIMIT_EXCEEDED:
		return STR(FAULT_TEXT_SUBSCRIBER);
	case ERR_RESOURCE_IN_USE:
		return STR(FAULT_TEXT_IN_USE);
	case ERR_REPLICATED_WRITE_CONFLICT:
		return STR(FAULT_TEXT_REPLICATED);
	case ERR_DUPLICATE_ITEM:
		return STR(FAULT_TEXT_DUPLICATE);
	case ERR_IDEMPOTENT_MISMATCH:
		return STR(FAULT_TEXT_MISMATCH);
	default:
		return str_of(err_info(code)->text);
	}
}

/* AWS: API Reference, ThrottlingReason: what, how, and by which limit. */
static struct str throttle_reason_of(const struct fault_effect *effect,
				     const struct fault_about *about, struct arena *arena)
{
	const char *limit =
		effect->code == ERR_THROUGHPUT_EXCEEDED      ? "ProvisionedThroughputExceeded"
		: effect->code == ERR_REQUEST_LIMIT_EXCEEDED ? "AccountLimitExceeded"
							     : "KeyRangeThroughputExceeded";
	struct str given = str_is_set(effect->reason) ? effect->reason : str_of(limit);

	if (str_starts_with(given, STR("Table")) || str_starts_with(given, STR("Index")))
		return given;
	return str_printf(arena, "%s%s" STR_FMT, str_is_set(about->index) ? "Index" : "Table",
			  about->is_write ? "Write" : "Read", STR_ARG(given));
}

static struct str resource_of(const struct fault_about *about, struct arena *arena)
{
	return str_printf(
		arena, "arn:aws:dynamodb:" STR_FMT ":" STR_FMT ":table/" STR_FMT "%s" STR_FMT,
		STR_ARG(about->ns.region), STR_ARG(about->ns.account), STR_ARG(about->table),
		str_is_set(about->index) ? "/index/" : "", STR_ARG(about->index));
}

enum code fault_effect_error(const struct fault_effect *effect, const struct fault_about *about,
			     struct err *err)
{
	bool is_throttling = effect->code == ERR_THROUGHPUT_EXCEEDED ||
			     effect->code == ERR_THROTTLING ||
			     effect->code == ERR_REQUEST_LIMIT_EXCEEDED;
	struct str reason =
		is_throttling ? throttle_reason_of(effect, about, err->arena) : STR_ABSENT;
	struct str message = str_is_set(effect->message)
				     ? effect->message
				     : fault_text_of(effect->code, reason, about);

	(void)(err_default(err, effect->code) == OK);
	err->message = err_info(effect->code)->status >= 500 ? STR(FAULT_PROBLEM)
							     : str_copy(err->arena, message);
	if (is_throttling && about->is_of_items && str_is_set(about->table)) {
		err->throttle.reason = str_copy(err->arena, reason);
		err->throttle.resource = resource_of(about, err->arena);
	}
	return effect->code;
}
