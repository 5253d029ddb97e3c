/*
 * reach - how a command reaches a server: what --tls-ca FILE and --timeout SECONDS say, the same
 * for every command that speaks to one.
 */
#ifndef DYNALITH_SERVER_REACH_H
#define DYNALITH_SERVER_REACH_H

#include <stdbool.h>

struct reach {
	const char *authorities; /* as in struct client_target */
	int wait_ms;             /* without progress, as in struct client_request */
	bool is_given;           /* one of the options was */
};

/* As without these options: any certificate, 10 seconds. */
struct reach reach_usual(void);

/* Takes argv[*i] and its value, and leaves *i at the latter. False where it is none of these
 * options, or has no value of its kind. */
bool reach_take(struct reach *reach, int argc, char **argv, int *i);

#endif
