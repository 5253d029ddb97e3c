/*
 * dropin - DynamoDB Local's place: its command line, also behind "java", and the lines that it
 * prints at start.
 *
 * Scripts, images and test libraries start it as `java -Djava.library.path=./DynamoDBLocal_lib -jar
 * DynamoDBLocal.jar -inMemory`, and wait for its first line. Started under the name of java, or
 * with such arguments, the server understands them. Rows: dropin.def. Source: DynamoDB Local 3.3.1,
 * -help and its output.
 */
#ifndef DYNALITH_SERVER_DROPIN_H
#define DYNALITH_SERVER_DROPIN_H

#include <stdbool.h>
#include <stdio.h>

#include "core/arena.h"
#include "core/str.h"

struct dropin {
	const char *flag, *ours; /* ours NULL: nothing to do */
	bool is_folder;
	const char *help;
};

/* The row of the flag, or NULL. */
const struct dropin *dropin_find(struct str flag);

/*
 * Takes the arguments of the Java machine (what is before -jar FILE, -D..., -X..., -cp PATH and the
 * class's name) out of the list, which is copied into the arena. *is_dropin: whether any part of
 * DynamoDB Local's command line was there. False, with a line on stderr, for flags of it that
 * exclude each other.
 */
bool dropin_strip(struct arena *arena, int *argc, char ***argv, bool *is_dropin);

/* Whether one of its own flags is there. */
bool dropin_is_given(int argc, char **argv);

/* Prints the output of -version and -help; false for anything else. */
bool dropin_inform(const char *flag);

/* The part of --help. */
void dropin_help(void);

/* Logs a warning for each data file of DynamoDB Local beside ours, since its tables do not appear
 * here. */
void dropin_warn_of_its_data(struct arena *arena, const char *db_path);

/* The options that the banner shows. */
struct dropin_banner {
	unsigned port;
	const char *db_path; /* NULL: in memory */
	bool shared_db;
	bool delay_transient_statuses;
	const char *cors;
};

/* The lines that DynamoDB Local prints once it listens. */
void dropin_banner(FILE *out, const struct dropin_banner *banner);

#endif
