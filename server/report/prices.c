#include "server/report/prices.h"

#include "protocol/wire/json.h"
#include "server/messages.h"
#include "server/report/document.h"
#include "server/seed/json_text.h"

#define CURRENCY "USD"
#define SOURCE "us-east-1, 2026-10"

static const struct {
	const char *name;
	double dollars;
} built_in[PRICES] = {
#define PRICE(name, dollars) {#name, dollars},
#include "server/report/prices.def"
#undef PRICE
};

const char *price_name(enum price price)
{
	return built_in[price].name;
}

enum code prices_read(struct arena *arena, const char *path, struct prices *prices, struct err *err)
{
	struct err own = err_in(arena);
	const struct json *root;
	struct str text;
	size_t known = 0;

	*prices = (struct prices){.currency = STR(CURRENCY), .source = STR(SOURCE)};
	for (enum price i = 0; i < PRICES; i++)
		prices->of[i] = built_in[i].dollars;
	if (!path)
		return OK;
	enum code code = document_read(arena, path, &text, err);
	if (code != OK)
		return code;
	if (json_parse(arena, text, &root, &own) != OK || json_type(root) != JSON_OBJECT)
		return err_set(err, MSG_PRICES, path);
	for (enum price i = 0; i < PRICES; i++) {
		const struct json *member = json_member(root, price_name(i));
		bool is_number = member && json_type(member) == JSON_NUMBER;

		if (member && (!is_number || json_number(member) < 0))
			return err_set(err, MSG_PRICES, path);
		prices->of[i] = is_number ? json_number(member) : PRICE_UNKNOWN;
		known += is_number;
	}
	if (known == 0)
		return err_set(err, MSG_PRICES, path);
	struct str currency = json_text_string(arena, root, "currency"),
		   source = json_text_string(arena, root, "source");
	prices->currency = str_is_set(currency) ? currency : STR(CURRENCY);
	prices->source = str_is_set(source) ? source : str_of(path);
	return OK;
}
