#include "server/control/admission.h"

#include <ctype.h>

#include "protocol/iam/iam.h"

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

static struct str action_of(struct arena *arena, const struct admission *wanted)
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

enum code admission_check(const struct control *control, struct arena *arena, const struct admission *wanted, struct err *err)
{
	const struct iam_deed deed = {
		.access_key = wanted->access_key, .ns = wanted->ns, .now_ms = clock_now_ms(control->clock, wanted->ns), .action = action_of(arena, wanted),
		.resource = str_printf(arena, "arn:aws:dynalith:" STR_FMT ":" STR_FMT ":" STR_FMT, STR_ARG(wanted->ns.region), STR_ARG(wanted->ns.account),
				       STR_ARG(wanted->path)),
	};

	return iam_admit_deed(control->service->iam, control->service->catalog, arena, &deed, err);
}
