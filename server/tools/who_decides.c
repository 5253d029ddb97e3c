#include "server/tools/who_decides.h"

#include <stdio.h>
#include <string.h>

#include "core/buf.h"
#include "protocol/iam/iam.h"
#include "server/client/elsewhere.h"
#include "server/client/remote.h"
#include "server/command/exit_status.h"
#include "server/command/help.h"
#include "server/control/endpoints.h"
#include "server/messages.h"
#include "server/report/document.h"
#include "server/seed/json_text.h"
#include "server/seed/local.h"

/* What a command line says. */
struct words {
	const char *operation, *request, *access_key, *policies, *endpoint, *account, *region;
	struct reach reach;
	bool is_json;
};

static bool explain_take_word(struct words *words, int argc, char **argv, int *i)
{
	const struct {
		const char *name, **value;
	} options[] = {
		{"--access-key", &words->access_key}, {"--policies", &words->policies},
		{"--endpoint", &words->endpoint},     {"--account", &words->account},
		{"--region", &words->region},
	};

	for (size_t k = 0; k < sizeof(options) / sizeof(options[0]); k++) {
		if (strcmp(argv[*i], options[k].name) == 0 && *i + 1 < argc) {
			*options[k].value = argv[++*i];
			return true;
		}
	}
	if (strcmp(argv[*i], "--json") == 0)
		return words->is_json = true;
	if (argv[*i][0] == '-' && argv[*i][1] != '\0')
		return reach_take(&words->reach, argc, argv, i);
	if (words->request)
		return false;
	*(words->operation ? &words->request : &words->operation) = argv[*i];
	return true;
}

static bool explain_read_words(struct words *words, int argc, char **argv)
{
	for (int i = 2; i < argc; i++) {
		if (!explain_take_word(words, argc, argv, &i))
			return false;
	}
	return words->request && words->access_key &&
	       !(words->policies && (words->endpoint || words->reach.is_given));
}

/* The body of POST /_dynalith/explain. The request is JSON itself, or a file of it; - is standard
 * input. */
static enum code explain_body(struct arena *arena, const struct words *words, struct str *body,
			      struct err *err)
{
	struct str text = str_of(words->request);
	struct json_out out = json_out_in(arena);
	const struct json *root;
	enum code code = OK;

	if (text.n == 0 || text.p[0] != '{')
		code = document_read(
			arena, strcmp(words->request, "-") == 0 ? "/dev/stdin" : words->request,
			&text, err);
	if (code != OK)
		return code;
	if (json_parse(arena, text, &root, err) != OK || json_type(root) != JSON_OBJECT)
		return err_set(err, MSG_EXPLAIN_INPUT, words->request);
	json_out_open(&out, '{');
	json_out_field_string(&out, "operation", str_of(words->operation));
	json_out_field_string(&out, "access_key", str_of(words->access_key));
	json_out_name(&out, STR("request"));
	buf_add_str(&out.buf, str_trim(text));
	json_out_close(&out, '}');
	return RESULT(OK, body, json_out_str(&out));
}

static struct str word_or(const char *word, const char *usual)
{
	return str_of(word ? word : usual);
}

static enum code judge_by_file(struct arena *arena, const struct words *words,
			       struct service *service, struct str body, const struct json **root,
			       struct err *err)
{
	const struct control control = {.service = service};
	const struct control_call call = {.control = &control,
					  .arena = arena,
					  .ns = {word_or(words->account, "000000000000"),
						 word_or(words->region, "us-east-1")},
					  .may_control = true,
					  .body = body};
	struct str document, answer;
	enum code code = document_read(arena, words->policies, &document, err);

	if (code != OK)
		return code;
	if (iam_use(service->iam, document, err) != OK)
		return err_set(err, MSG_EXPLAIN_POLICIES, words->policies, STR_ARG(err->message));
	code = explain_request(&call, &answer, err);
	return code != OK ? code : json_parse(arena, str_copy(arena, answer), root, err);
}

/* In a service without tables. */
static enum code ask_file(struct arena *arena, const struct words *words, struct str body,
			  const struct json **root, struct err *err)
{
	struct rehearsal *rehearsal;
	enum code code = local_rehearsal_new(&rehearsal, err);

	if (code != OK)
		return code;
	struct service *service = local_rehearsal_service(rehearsal);
	service->iam = iam_new(true);
	code = judge_by_file(arena, words, service, body, root, err);
	iam_free(service->iam);
	service->iam = NULL;
	local_rehearsal_free(rehearsal);
	return code;
}

/* The answer lies in the remote's memory. */
static enum code ask_server(struct arena *arena, struct remote *remote, const struct words *words,
			    struct str body, const struct json **root, struct err *err)
{
	struct buf query = buf_in(arena);

	if (words->account)
		buf_printf(&query, "account=%s", words->account);
	if (words->region)
		buf_printf(&query, "%sregion=%s", words->account ? "&" : "", words->region);
	return remote_call(remote, "POST", STR("/_dynalith/explain"), buf_str(&query), body, root,
			   err);
}

static int64_t number_of(const struct json *decision, const char *name)
{
	const struct json *found = json_text_get(decision, name, JSON_NUMBER);
	int64_t number = -1;

	return found && json_integer(found, &number) ? number : -1;
}

/* "  Deny by the identity policy: Sid "NoScans", policies.json:7 (principals[1].identity)" */
static void print_reason(struct arena *arena, const struct words *words,
			 const struct json *decision)
{
	struct str effect = json_text_string(arena, decision, "effect"),
		   policy = json_text_string(arena, decision, "policy"),
		   sid = json_text_string(arena, decision, "sid"),
		   why = json_text_string(arena, decision, "why"),
		   place = json_text_string(arena, decision, "document");
	int64_t line = number_of(decision, "line"), statement = number_of(decision, "statement");
	struct buf buf = buf_in(arena);

	if (str_is_set(effect))
		buf_printf(&buf, STR_FMT " by the " STR_FMT " policy, ", STR_ARG(effect),
			   STR_ARG(policy));
	else if (str_is_set(policy))
		buf_printf(&buf, STR_FMT " policy: ", STR_ARG(policy));
	if (str_is_set(sid))
		buf_printf(&buf, "Sid \"" STR_FMT "\"", STR_ARG(sid));
	else if (statement >= 0)
		buf_printf(&buf, "statement %lld", (long long)statement);
	if (str_is_set(why))
		buf_add_str(&buf, why);
	if (line > 0)
		buf_printf(&buf, ", %s%s%lld", words->policies ? words->policies : "line ",
			   words->policies ? ":" : "", (long long)line);
	if (str_is_set(place))
		buf_printf(&buf, " (" STR_FMT ")", STR_ARG(place));
	struct str text = buf_str(&buf);
	printf("  " STR_FMT "\n", STR_ARG(text));
}

/* EXIT_FAILED where the request came to no decision. */
static int print_decisions(struct arena *arena, const struct words *words, const struct json *root)
{
	const struct json *decisions = json_text_get(root, "iam", JSON_ARRAY),
			  *error = json_text_get(root, "error", JSON_OBJECT);
	bool is_allowed = true;

	if (!decisions || !json_first(decisions)) {
		struct str message = json_text_string(arena, error, "message");

		fprintf(stderr, "dynalith: " STR_FMT "\n",
			STR_ARG(str_is_set(message) ? message : STR("no policy was asked")));
		return EXIT_FAILED;
	}
	for (const struct json *at = json_first(decisions); at; at = json_next(at)) {
		const struct json *allowed = json_text_get(at, "is_allowed", JSON_BOOLEAN);
		bool is_this = allowed && json_boolean(allowed);
		struct str action = json_text_string(arena, at, "action"),
			   resource = json_text_string(arena, at, "resource");

		is_allowed = is_allowed && is_this;
		if (words->is_json)
			continue;
		printf("%s: " STR_FMT " on " STR_FMT "\n", is_this ? "allowed" : "denied",
		       STR_ARG(action), STR_ARG(resource));
		print_reason(arena, words, at);
	}
	if (words->is_json) {
		struct json_out out = json_out_in(arena);

		json_text_write(&out, arena, decisions);
		struct str text = json_out_str(&out);
		printf(STR_FMT "\n", STR_ARG(text));
	}
	return is_allowed ? EXIT_DONE : EXIT_FOUND;
}

int who_decides_run(struct arena *arena, int argc, char **argv)
{
	struct words words = {.reach = reach_usual()};
	struct err err = err_in(arena);
	const struct json *root;
	struct remote *remote = NULL;
	struct str body;

	if (!explain_read_words(&words, argc, argv))
		return help_misuse("explain");
	enum code code = explain_body(arena, &words, &body, &err);
	if (code != OK) {
		fprintf(stderr, "dynalith: " STR_FMT "\n", STR_ARG(err.message));
		return EXIT_FAILED;
	}
	if (words.policies) {
		code = ask_file(arena, &words, body, &root, &err);
	} else {
		const char *url = words.endpoint ? words.endpoint : elsewhere_default();

		remote = remote_new(url, &words.reach);
		if (!remote) {
			fprintf(stderr, "dynalith: %s is no URL of a server\n", url);
			return EXIT_MISUSE;
		}
		code = ask_server(arena, remote, &words, body, &root, &err);
	}
	if (code != OK)
		fprintf(stderr, "dynalith: " STR_FMT "\n", STR_ARG(err.message));
	int status = code == OK ? print_decisions(arena, &words, root) : EXIT_FAILED;
	if (remote)
		remote_free(remote);
	return status;
}
