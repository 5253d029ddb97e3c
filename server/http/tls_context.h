/*
 * tls_context - the server's certificate and key, read from PEM files, and read again on request.
 *
 * A new pair replaces the old one only where all of it is right: an unreadable file, a key of
 * another certificate or an expired certificate changes nothing. Connections keep the pair that
 * they began with.
 *
 * TLS 1.2 and 1.3; sessions resume by tickets, for which the server keeps no state; the one
 * protocol inside is HTTP/1.1.
 */
#ifndef DYNALITH_SERVER_HTTP_TLS_CONTEXT_H
#define DYNALITH_SERVER_HTTP_TLS_CONTEXT_H

#include <stdbool.h>

#include "core/arena.h"
#include "core/str.h"

struct ssl_st; /* SSL of OpenSSL */
struct tls_context;

/* NULL, with *problem set to one line (in the arena), where the files are no such pair. The names
 * of the files must stay. An expired certificate is logged. */
struct tls_context *tls_context_new(struct arena *arena, const char *certificate, const char *key,
				    struct str *problem);
/* NULL is nothing. */
void tls_context_free(struct tls_context *context);

/* Reads the files again. False, with *problem set, where the old pair stays. */
bool tls_context_reload(struct tls_context *context, struct arena *arena, struct str *problem);

/* The server's side of a new connection, by the pair of now; NULL where memory is short. From any
 * thread. */
struct ssl_st *tls_context_accept(struct tls_context *context);

/* Call it before OpenSSL is used for TLS: ignores the machine's openssl.cnf, as sigv4.c does. */
void tls_context_prepare(void);

/* In words that end with a NUL, the oldest error that OpenSSL noted in this thread; forgets all of
 * them. */
const char *tls_context_problem(void);

#endif
