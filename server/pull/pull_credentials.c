#include "server/pull/pull_credentials.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/buf.h"
#include "server/messages.h"
#include "server/seed/document.h"
#include "server/seed/json_text.h"

#define PRINTED_MAX 65536 /* bytes of what a process prints */

/* What a profile says, in both files. */
struct profile {
	struct elsewhere_keys keys;
	struct str region, process;
	bool is_known, needs_cli;
};

static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

static const char *aws_file(struct arena *arena, const char *named, const char *usual)
{
	const char *home = variable("HOME");

	if (variable(named))
		return variable(named);
	return home ? str_printf(arena, "%s/.aws/%s", home, usual).p : usual;
}

static void take_setting(struct profile *profile, struct str name, struct str value)
{
	if (str_eq(name, STR("aws_access_key_id")))
		profile->keys.access_key = value;
	else if (str_eq(name, STR("aws_secret_access_key")))
		profile->keys.secret = value;
	else if (str_eq(name, STR("aws_session_token")))
		profile->keys.token = value;
	else if (str_eq(name, STR("region")))
		profile->region = value;
	else if (str_eq(name, STR("credential_process")))
		profile->process = value;
	else if (str_eq(name, STR("role_arn")) || str_eq(name, STR("sso_session")) ||
		 str_eq(name, STR("sso_start_url")))
		profile->needs_cli = true;
}

/* "[name]" and "[profile name]"; the name may stand in quotes. */
static bool is_section(struct str line, struct str name)
{
	const char *end = memchr(line.p, ']', line.n);
	struct str title = str_trim((struct str){line.p + 1, end ? (size_t)(end - line.p) - 1 : 0});

	if (str_starts_with(title, STR("profile ")))
		title = str_trim((struct str){title.p + 8, title.n - 8});
	if (title.n >= 2 && title.p[0] == title.p[title.n - 1] &&
	    (title.p[0] == '"' || title.p[0] == '\''))
		title = (struct str){title.p + 1, title.n - 2};
	return str_eq(title, name);
}

static void read_profile(struct str text, struct str name, struct profile *profile)
{
	bool is_inside = false;

	while (text.n > 0) {
		struct str line = str_cut(&text, '\n');

		if (line.n == 0 || line.p[0] == '#' || line.p[0] == ';')
			continue;
		if (line.p[0] == '[') {
			is_inside = is_section(line, name);
			profile->is_known = profile->is_known || is_inside;
			continue;
		}
		if (!is_inside || line.p[0] == ' ' || line.p[0] == '\t' ||
		    !memchr(line.p, '=', line.n))
			continue; /* indented: a setting of a service */
		struct str setting = str_trim(str_cut(&line, '='));
		take_setting(profile, setting, str_trim(line));
	}
}

static enum code read_profile_file(struct arena *arena, const char *path, struct str name,
				   struct profile *profile, struct err *err)
{
	void *bytes;
	size_t size;

	if (access(path, F_OK) != 0)
		return OK;
	enum code code = document_map(path, &bytes, &size, err);
	if (code != OK)
		return code;
	read_profile(str_copy(arena, (struct str){bytes, size}), name, profile);
	if (size > 0)
		munmap(bytes, size);
	return OK;
}

/* Keys that a process prints: {"Version": 1, "AccessKeyId": ..., ...}. */
static enum code ask_process(struct arena *arena, struct str name, struct str command,
			     struct elsewhere_keys *keys, struct err *err)
{
	char *text = arena_bytes(arena, PRINTED_MAX);
	FILE *process = popen(str_printf(arena, STR_FMT, STR_ARG(command)).p, "r");
	const struct json *root;

	if (!process)
		return err_set(err, MSG_PULL_PROCESS, STR_ARG(name), STR_ARG(command), -1);
	size_t n = fread(text, 1, PRINTED_MAX, process);
	int status = pclose(process);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return err_set(err, MSG_PULL_PROCESS, STR_ARG(name), STR_ARG(command),
			       WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	if (json_parse(arena, (struct str){text, n}, &root, err) != OK)
		root = NULL;
	*keys = (struct elsewhere_keys){json_text_string(arena, root, "AccessKeyId"),
					json_text_string(arena, root, "SecretAccessKey"),
					json_text_string(arena, root, "SessionToken")};
	if (!str_is_set(keys->access_key) || !str_is_set(keys->secret))
		return err_set(err, MSG_PULL_PRINTED, STR_ARG(name), STR_ARG(command));
	return OK;
}

static enum code ask_cli(struct arena *arena, struct str name, struct elsewhere_keys *keys,
			 struct err *err)
{
	if (memchr(name.p, '\'', name.n))
		return err_set(err, MSG_PULL_NO_PROFILE, STR_ARG(name));
	return ask_process(
		arena, name,
		str_printf(arena,
			   "aws configure export-credentials --format process --profile '" STR_FMT
			   "'",
			   STR_ARG(name)),
		keys, err);
}

static enum code profile_keys(struct arena *arena, struct str name, bool is_named,
			      struct elsewhere_keys *keys, struct str *region, struct err *err)
{
	struct profile profile = {.region = STR_ABSENT};
	enum code code = read_profile_file(arena, aws_file(arena, "AWS_CONFIG_FILE", "config"),
					   name, &profile, err);

	if (code != OK)
		return code;
	code = read_profile_file(arena,
				 aws_file(arena, "AWS_SHARED_CREDENTIALS_FILE", "credentials"),
				 name, &profile, err);
	if (code != OK)
		return code;
	*region = profile.region;
	if (!profile.is_known && is_named)
		return err_set(err, MSG_PULL_NO_PROFILE, STR_ARG(name));
	if (profile.needs_cli)
		return ask_cli(arena, name, keys, err);
	*keys = profile.keys;
	if (str_is_set(keys->access_key) && str_is_set(keys->secret))
		return OK;
	if (str_is_set(profile.process))
		return ask_process(arena, name, profile.process, keys, err);
	return err_set(err, MSG_PULL_NO_KEYS, STR_ARG(name));
}

enum code pull_credentials_read(struct arena *arena, const char *profile, bool is_aws,
				struct elsewhere_keys *keys, struct str *region, struct err *err)
{
	const char *name = profile ? profile : variable("AWS_PROFILE");
	bool has_keys = variable("AWS_ACCESS_KEY_ID") && variable("AWS_SECRET_ACCESS_KEY");

	*keys = (struct elsewhere_keys){STR_ABSENT, STR_ABSENT, STR_ABSENT};
	*region = STR_ABSENT;
	if (!profile && (has_keys || (!name && !is_aws)))
		return OK;
	return profile_keys(arena, str_of(name ? name : "default"), name != NULL, keys, region,
			    err);
}
