/*
 * no_tls - stands in for GnuTLS where libmicrohttpd is linked from its archive; our own TLS (tls.h) is by OpenSSL. Distributions build libmicrohttpd
 * with TLS, so that its archive names these functions, but it calls none of them in a daemon that was not started with MHD_USE_TLS, and ours never is;
 * only gnutls_global_init() and _deinit() are called, at the start and the end of every process. Not linked otherwise: GnuTLS and
 * the eight libraries behind it cost half of the time to start, and most of the memory of an idle server (scripts/find-libraries).
 */
#include <stdio.h>
#include <stdlib.h>

/* The names that libmicrohttpd 0.9.75 to 1.0.1 knows; one that is missing here makes scripts/find-libraries link the shared library. */
#define NO_TLS_FUNCTIONS(X) \
	X(gnutls_alpn_set_protocols) \
	X(gnutls_bye) \
	X(gnutls_certificate_allocate_credentials) \
	X(gnutls_certificate_free_credentials) \
	X(gnutls_certificate_get_peers) \
	X(gnutls_certificate_server_set_request) \
	X(gnutls_certificate_set_dh_params) \
	X(gnutls_certificate_set_retrieve_function2) \
	X(gnutls_certificate_set_retrieve_function3) \
	X(gnutls_certificate_set_x509_key_mem) \
	X(gnutls_certificate_set_x509_key_mem2) \
	X(gnutls_certificate_set_x509_trust_mem) \
	X(gnutls_cipher_get) \
	X(gnutls_credentials_set) \
	X(gnutls_deinit) \
	X(gnutls_dh_params_deinit) \
	X(gnutls_dh_params_import_pkcs3) \
	X(gnutls_dh_params_init) \
	X(gnutls_handshake) \
	X(gnutls_hash) \
	X(gnutls_hash_deinit) \
	X(gnutls_hash_init) \
	X(gnutls_hash_output) \
	X(gnutls_init) \
	X(gnutls_priority_deinit) \
	X(gnutls_priority_init) \
	X(gnutls_priority_init2) \
	X(gnutls_priority_set) \
	X(gnutls_protocol_get_version) \
	X(gnutls_psk_allocate_server_credentials) \
	X(gnutls_psk_free_server_credentials) \
	X(gnutls_psk_set_server_credentials_function) \
	X(gnutls_record_check_pending) \
	X(gnutls_record_get_direction) \
	X(gnutls_record_recv) \
	X(gnutls_record_send) \
	X(gnutls_session_get_ptr) \
	X(gnutls_session_set_ptr) \
	X(gnutls_set_default_priority) \
	X(gnutls_strerror) \
	X(gnutls_strerror_name) \
	X(gnutls_transport_set_int) \
	X(gnutls_transport_set_int2) \
	X(gnutls_transport_set_ptr) \
	X(gnutls_transport_set_push_function)

#define DEFINE(name) \
	_Noreturn void name(void); \
	void name(void) \
	{ \
		no_tls_end(#name); \
	}

int gnutls_global_init(void);
void gnutls_global_deinit(void);
extern void *(*gnutls_malloc)(size_t);
extern void (*gnutls_free)(void *);

/* Variables of GnuTLS, not functions. */
void *(*gnutls_malloc)(size_t) = malloc;
void (*gnutls_free)(void *) = free;

int gnutls_global_init(void)
{
	return 0;
}

void gnutls_global_deinit(void)
{
}

_Noreturn static void no_tls_end(const char *name)
{
	fprintf(stderr, "dynalith: %s() was called, but this server is linked without TLS\n", name);
	abort();
}

NO_TLS_FUNCTIONS(DEFINE)
