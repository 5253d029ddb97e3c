#include "protocol/iam/ask.h"

#include "protocol/iam/ask_control.h"
#include "protocol/iam/ask_items.h"
#include "protocol/iam/ask_statements.h"

static const struct {
	void (*ask)(struct iam_asking *asking); /* NULL: it does not exist here */
	const char *own;
} rows[OP_COUNT] = {
#define OPERATION(service, name, prefix, input, surface, work, subjects, asks, own) \
	[OP_##name] = {iam_ask_##asks, own},
#define ABSENT(service, name)
#include "protocol/ops.def"
};

struct iam_asked iam_ask(const struct iam_request *request)
{
	struct iam_asking asking = {
		.request = request, .arena = request->call->arena,
			.own = rows[request->operation].own,
	};

	rows[request->operation].ask(&asking);
	return asking.asked;
}

void iam_asked_release(struct iam_asked *asked)
{
	for (size_t i = 0; i < asked->held_count; i++)
		table_unref(asked->held[i]);
	asked->held_count = 0;
}
