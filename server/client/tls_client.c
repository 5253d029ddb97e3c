#include "server/client/tls_client.h"

#include <errno.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <stdlib.h>

#include "server/http/tls_context.h"

struct tls_client {
	SSL_CTX *context;
	SSL *ssl;
};

/* Checks the server's identity. */
static bool demand(struct tls_client *client, struct arena *arena, struct str host,
		   const char *authorities, struct str *problem)
{
	const char *name = str_copy(arena, host).p;
	X509_VERIFY_PARAM *rules = SSL_get0_param(client->ssl);

	if (SSL_CTX_load_verify_locations(client->context, authorities, NULL) != 1) {
		*problem = str_printf(arena, "tls-ca: wants certificates in PEM, not %s: %s",
				      authorities, tls_context_problem());
		return false;
	}
	if (X509_VERIFY_PARAM_set1_ip_asc(rules, name) != 1 &&
	    X509_VERIFY_PARAM_set1_host(rules, name, host.n) != 1)
		return false;
	ERR_clear_error(); /* a name is no address */
	SSL_set_verify(client->ssl, SSL_VERIFY_PEER, NULL);
	return true;
}

/* Servers of several names choose the certificate by it; an address is none. */
static void name_server(SSL *ssl, struct arena *arena, struct str host)
{
	const char *name = str_copy(arena, host).p;
	ASN1_OCTET_STRING *address = a2i_IPADDRESS(name);

	if (!address)
		SSL_set_tlsext_host_name(ssl, name);
	ASN1_OCTET_STRING_free(address);
	ERR_clear_error();
}

struct tls_client *tls_client_new(struct arena *arena, int fd, struct str host,
				  const char *authorities, struct str *problem)
{
	struct tls_client *client = arena_checked(calloc(1, sizeof(*client)));

	tls_context_prepare();
	*problem = STR("OpenSSL does not start");
	client->context = SSL_CTX_new(TLS_client_method());
	client->ssl = client->context ? SSL_new(client->context) : NULL;
	if (client->ssl && SSL_set_fd(client->ssl, fd) == 1 &&
	    (!authorities || demand(client, arena, host, authorities, problem))) {
		SSL_CTX_set_min_proto_version(client->context, TLS1_2_VERSION);
		SSL_set_mode(client->ssl,
			     SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
		name_server(client->ssl, arena, host);
		SSL_set_connect_state(client->ssl);
		return client;
	}
	tls_client_free(client);
	return NULL;
}

void tls_client_free(struct tls_client *client)
{
	SSL_free(client->ssl);
	SSL_CTX_free(client->context);
	free(client);
}

/* Whether the call only waits; sets the events to wait for. */
static bool is_waiting(const struct tls_client *client, int result, short *events)
{
	int error = SSL_get_error(client->ssl, result);

	*events = error == SSL_ERROR_WANT_WRITE ? POLLOUT : POLLIN;
	return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
}

int tls_client_shake(struct tls_client *client, struct arena *arena, short *events,
		     struct str *problem)
{
	ERR_clear_error();
	int result = SSL_do_handshake(client->ssl);

	if (result == 1)
		return 1;
	if (is_waiting(client, result, events))
		return 0;
	long verdict = SSL_get_verify_result(client->ssl);
	*problem = verdict != X509_V_OK && SSL_get_verify_mode(client->ssl) != SSL_VERIFY_NONE
			   ? str_printf(arena, "its certificate is not taken: %s",
					X509_verify_cert_error_string(verdict))
		   : ERR_peek_error() ? str_printf(arena, "no TLS: %s", tls_context_problem())
				      : STR("no TLS: the connection ended");
	return -1;
}

/* The result of a call as that of recv() or send(). */
static ssize_t as_of_socket(const struct tls_client *client, int result, short *events)
{
	if (result > 0)
		return result;
	if (SSL_get_error(client->ssl, result) == SSL_ERROR_ZERO_RETURN)
		return 0;
	errno = is_waiting(client, result, events) ? EAGAIN : EPROTO;
	return -1;
}

static int at_most(size_t n)
{
	return n < INT_MAX ? (int)n : INT_MAX;
}

ssize_t tls_client_recv(struct tls_client *client, void *bytes, size_t n, short *events)
{
	ERR_clear_error();
	return as_of_socket(client, SSL_read(client->ssl, bytes, at_most(n)), events);
}

ssize_t tls_client_send(struct tls_client *client, const void *bytes, size_t n, short *events)
{
	ERR_clear_error();
	return as_of_socket(client, SSL_write(client->ssl, bytes, at_most(n)), events);
}
