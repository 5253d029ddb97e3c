/*
 * request_id - request ids in AWS's form: 52 characters A-Z and 0-9. Unique within a process, and
 * very probably among processes.
 */
#ifndef DYNALITH_SERVER_REQUEST_ID_H
#define DYNALITH_SERVER_REQUEST_ID_H

#define REQUEST_ID_SIZE 52

/* Once, before the first. */
void request_id_seed(void);

/* The next one, with a NUL behind it. From any thread. */
void request_id_make(char *out);

#endif
