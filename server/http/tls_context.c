#include "server/http/tls_context.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/log.h"

#define CIPHERS_1_2                                                                                \
	"ECDHE+AESGCM:ECDHE+CHACHA20" /* forward secrecy and authenticated encryption; TLS 1.3 has \
					 no others */
#define TICKETS 1                     /* for each handshake; a client resumes by the newest */
#define DATE_SIZE 64

struct tls_context {
	const char *certificate, *key;
	pthread_mutex_t mutex; /* of the pair */
	SSL_CTX *pair;
};

void tls_context_prepare(void)
{
	OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_LOAD_SSL_STRINGS |
				 OPENSSL_INIT_LOAD_CRYPTO_STRINGS,
			 NULL);
}

const char *tls_context_problem(void)
{
	unsigned long error = ERR_get_error();
	const char *reason = ERR_SYSTEM_ERROR(error) ? strerror(ERR_GET_REASON(error))
						     : ERR_reason_error_string(error);

	ERR_clear_error();
	return reason ? reason : "no reason is known";
}

/* The one protocol inside. The handshake refuses a client that offers only others. */
static int choose_protocol(SSL *ssl, const unsigned char **out, unsigned char *out_n,
			   const unsigned char *offered, unsigned offered_n, void *context)
{
	static const unsigned char http[] = "\x08http/1.1";
	unsigned char *chosen = NULL;

	(void)ssl, (void)context;
	if (SSL_select_next_proto(&chosen, out_n, http, sizeof(http) - 1, offered, offered_n) !=
	    OPENSSL_NPN_NEGOTIATED)
		return SSL_TLSEXT_ERR_ALERT_FATAL;
	*out = chosen;
	return SSL_TLSEXT_ERR_OK;
}

/* OpenSSL would ask at the terminal. */
static int has_no_passphrase(char *out, int size, int is_writing, void *context)
{
	bool *was_asked = context;

	(void)out, (void)size, (void)is_writing;
	*was_asked = true;
	return -1;
}

static SSL_CTX *new_pair(void)
{
	static const unsigned char name[] = "dynalith";
	SSL_CTX *pair = SSL_CTX_new(TLS_server_method());

	if (!pair)
		return NULL;
	SSL_CTX_set_min_proto_version(pair, TLS1_2_VERSION);
	SSL_CTX_set_cipher_list(pair, CIPHERS_1_2);
	/* a client may close without TLS's close: requests say where they end */
	SSL_CTX_set_options(pair, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
					  SSL_OP_CIPHER_SERVER_PREFERENCE |
					  SSL_OP_IGNORE_UNEXPECTED_EOF);
	SSL_CTX_set_mode(pair, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
				       SSL_MODE_RELEASE_BUFFERS);
	SSL_CTX_set_session_cache_mode(pair, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_session_id_context(pair, name, sizeof(name) - 1);
	SSL_CTX_set_num_tickets(pair, TICKETS);
	SSL_CTX_set_alpn_select_cb(pair, choose_protocol, NULL);
	return pair;
}

static bool use_files(const struct tls_context *context, SSL_CTX *pair, struct arena *arena,
		      struct str *problem)
{
	bool was_asked = false;

	ERR_clear_error();
	SSL_CTX_set_default_passwd_cb(pair, has_no_passphrase);
	SSL_CTX_set_default_passwd_cb_userdata(pair, &was_asked);
	if (SSL_CTX_use_certificate_chain_file(pair, context->certificate) != 1) {
		*problem = str_printf(arena, "tls-cert: wants certificates in PEM, not %s: %s",
				      context->certificate, tls_context_problem());
		return false;
	}
	bool is_key = SSL_CTX_use_PrivateKey_file(pair, context->key, SSL_FILETYPE_PEM) == 1;
	if (is_key && SSL_CTX_check_private_key(pair) == 1)
		return true;
	if (was_asked)
		*problem = str_printf(
			arena, "tls-key: %s wants a passphrase; the server takes a key without one",
			context->key);
	else if (is_key || ERR_GET_LIB(ERR_peek_last_error()) ==
				   ERR_LIB_X509) /* their kinds or their values differ */
		*problem = str_printf(
			arena, "tls-key: the key of %s does not belong to the certificate of %s",
			context->key, context->certificate);
	else
		*problem = str_printf(arena, "tls-key: wants a private key in PEM, not %s: %s",
				      context->key, tls_context_problem());
	ERR_clear_error();
	return false;
}

static const char *date(struct arena *arena, const ASN1_TIME *time)
{
	BIO *out = BIO_new(BIO_s_mem());
	char text[DATE_SIZE] = "";

	if (out && ASN1_TIME_print(out, time))
		BIO_read(out, text, sizeof(text) - 1);
	BIO_free(out);
	return str_copy(arena, str_of(text)).p;
}

/* Whether the certificate's time is not now: then *problem says so. */
static bool is_out_of_time(const struct tls_context *context, const SSL_CTX *pair,
			   struct arena *arena, struct str *problem)
{
	const X509 *certificate = SSL_CTX_get0_certificate(pair);

	if (X509_cmp_current_time(X509_get0_notAfter(certificate)) < 0)
		*problem = str_printf(arena, "tls-cert: the certificate of %s expired on %s",
				      context->certificate,
				      date(arena, X509_get0_notAfter(certificate)));
	else if (X509_cmp_current_time(X509_get0_notBefore(certificate)) > 0)
		*problem = str_printf(
			arena, "tls-cert: the certificate of %s is not good before %s",
			context->certificate, date(arena, X509_get0_notBefore(certificate)));
	else
		return false;
	return true;
}

/* NULL where the files are no pair. */
static SSL_CTX *read_pair(const struct tls_context *context, struct arena *arena,
			  struct str *problem)
{
	SSL_CTX *pair = new_pair();

	*problem = STR("tls-cert: OpenSSL does not start");
	if (pair && use_files(context, pair, arena, problem))
		return pair;
	SSL_CTX_free(pair);
	return NULL;
}

struct tls_context *tls_context_new(struct arena *arena, const char *certificate, const char *key,
				    struct str *problem)
{
	struct tls_context *context = arena_checked(calloc(1, sizeof(*context)));

	tls_context_prepare();
	context->certificate = certificate;
	context->key = key;
	context->pair = read_pair(context, arena, problem);
	if (!context->pair) {
		free(context);
		return NULL;
	}
	pthread_mutex_init(&context->mutex, NULL);
	/* there is no better one, and some clients do not look at it */
	if (is_out_of_time(context, context->pair, arena, problem))
		log_line(LOG_WARN, STR_FMT, STR_ARG(*problem));
	return context;
}

void tls_context_free(struct tls_context *context)
{
	if (!context)
		return;
	SSL_CTX_free(context->pair);
	pthread_mutex_destroy(&context->mutex);
	free(context);
}

bool tls_context_reload(struct tls_context *context, struct arena *arena, struct str *problem)
{
	SSL_CTX *pair = read_pair(context, arena, problem);

	if (!pair)
		return false;
	if (is_out_of_time(context, pair, arena, problem)) {
		SSL_CTX_free(pair);
		return false;
	}
	pthread_mutex_lock(&context->mutex);
	SSL_CTX *old = context->pair;
	context->pair = pair;
	pthread_mutex_unlock(&context->mutex);
	SSL_CTX_free(old);
	return true;
}

SSL *tls_context_accept(struct tls_context *context)
{
	pthread_mutex_lock(&context->mutex);
	SSL *ssl = SSL_new(context->pair);
	pthread_mutex_unlock(&context->mutex);
	if (ssl)
		SSL_set_accept_state(ssl);
	return ssl;
}
