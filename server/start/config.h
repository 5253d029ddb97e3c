/*
 * config - the options, from the command line, the environment and a configuration file, in that
 * order of precedence.
 *
 * All come from options.def. The configuration file is JSON, named by --config or DYNALITH_CONFIG;
 * besides the options it may hold "credentials": [{"access_key_id": ..., "secret_access_key": ...,
 * "session_token": optional, "account": optional, "control": optional}] for
 * --auth verify. "account" and "control" in an entry say what the key may below /_dynalith/: see
 * sigv4_rights.
 */
#ifndef DYNALITH_SERVER_CONFIG_H
#define DYNALITH_SERVER_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "core/arena.h"
#include "core/str.h"

#define CONFIG_TYPE_TEXT const char *
#define CONFIG_TYPE_CHOICE const char *
#define CONFIG_TYPE_NUMBER long
#define CONFIG_TYPE_SWITCH bool

struct credential {
	struct str access_key;
	struct str secret;
	struct str token; /* or absent */
	struct str account; /* of 12 digits, whose tables the key uses; absent: see sigv4.h */
	bool has_control, may_control; /* whether the entry has "control", and its value: may the
					  key see and change what is other accounts' */
};

struct config {
#define OPTION(field, kind, flag, environment, key, otherwise, low, high, help)                    \
	CONFIG_TYPE_##kind field;
#include "server/start/options.def"
#undef OPTION
	const char **sources; /* of each option, in the order of options.def: what set it; NULL: its
				 default */
	bool is_dropin; /* DynamoDB Local's command line was used: its lines are printed at start */
	bool is_health; /* "dynalith health": ask a server that runs, and end */
	int health_wait_ms; /* its --timeout; 0: not given */
	size_t credential_count;
	const struct credential *credentials;
};

enum config_result {
	CONFIG_RUN,    /* go on */
	CONFIG_DONE,   /* --help, --version or the like was printed: end with status 0 */
	CONFIG_FAILED, /* one line says why on stderr: end with EXIT_MISUSE */
};

/*
 * Reads all sources; DynamoDB Local's command line (dropin.h) and "health" before the flags are
 * understood too. A data path that is a folder becomes the file in it. Strings live in the arena.
 */
enum config_result config_read(struct arena *arena, int argc, char **argv, struct config *config);

/* For a server that starts. False, with a line on standard error: an option such as --policies is
 * set, and the one that it serves is nowhere given. `--iam off` gives it. */
bool config_is_used(const struct config *config);

/*
 * Reads the options of a configuration file's text alone, for a program that has the server in it:
 * by their keys or their flags. Without a place for the data it is in memory, and "auth" is "off".
 * False: *problem says why, in the arena; nothing is printed.
 */
bool config_read_text(struct arena *arena, struct str text, struct config *config,
		      struct str *problem);

/*
 * `dynalith config check FILE`: whether a server takes that configuration file. `dynalith config
 * show [OPTION]...`: each option's value, and what set it, for a server that gets these options.
 */
int config_run(struct arena *arena, int argc, char **argv);

/* Whether a TEXT option whose default is "none" names something. */
bool config_names(const char *text);

/* Logs a warning for each variable DYNALITH_... that is no option, since its owner expects an
 * effect. */
void config_warn_of_environment(char *const *environment);

/* Where the data is, for people: the whole path of the file, which must be there, "memory", or the
 * URL of a database. */
struct str config_data(struct arena *arena, const struct config *config);

#endif
