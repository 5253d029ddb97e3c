#include "server/control/admission.h"

#include <ctype.h>

#include "protocol/iam/iam.h"
#include "server/messages.h"

/* A capital at each beginning of a word. */
static void add_words(struct buf *buf, struct str text)
{
	bool is_first = true;

	for (size_t i = 0; i < text.n; i++) {
		unsigned char c = (unsigned char)text.p[i];

		if (isalnum(c))
			buf_add_byte(buf, (char)(is_first ? toupper(c) : tolower(c)));
		is_first = !isalnum(c);
	}
}

static struct str control_action_of(struct arena *arena, const struct admission *wanted)
{
	struct str rest = wanted->pattern;
	struct buf buf = buf_in(arena);

	buf_printf(&buf, "dynalith:");
	add_words(&buf, str_eq(wanted->method, STR("HEAD")) ? STR("GET") : wanted->method);
	while (rest.n > 0) {
		struct str word = str_cut(&rest, '/');

		if (!str_eq(word, STR("NAME")))
			add_words(&buf, word);
	}
	return buf_str(&buf);
}

static bool is_look(const struct admission *wanted)
{
	return str_eq(wanted->method, STR("GET")) || str_eq(wanted->method, STR("HEAD"));
}

static enum code check_account(const struct admission *wanted, struct err *err)
{
	bool is_own = wanted->needs != NEEDS_CONTROL && wanted->is_one &&
		      str_eq(wanted->asked.account, wanted->ns.account);

	if (!wanted->may_control && !is_own)
		return err_set(err, MSG_AUTH_ALL, STR_ARG(wanted->access_key),
			       STR_ARG(wanted->ns.account));
	return wanted->may_change || is_look(wanted)
		       ? OK
		       : err_set(err, MSG_AUTH_CONTROL, STR_ARG(wanted->access_key));
}

enum code admission_check(const struct control *control, struct arena *arena,
			  const struct admission *wanted, struct err *err)
{
	enum code code = check_account(wanted, err);

	if (code != OK || !control->service->iam || wanted->access_key.n == 0)
		return code;
	const struct iam_deed deed = {
		.access_key = wanted->access_key,
		.ns = wanted->ns,
		.now_ms = clock_now_ms(control->clock, wanted->ns),
		.action = control_action_of(arena, wanted),
		.resource = str_printf(arena, "arn:aws:dynalith:" STR_FMT ":" STR_FMT ":" STR_FMT,
				       STR_ARG(wanted->ns.region), STR_ARG(wanted->ns.account),
				       STR_ARG(wanted->path)),
		.is_unseen = wanted->is_unseen,
	};

	return iam_admit_deed(control->service->iam, control->service->catalog, arena, &deed, err);
}
