/* TLS of the client: there are no sockets, so nothing comes this far. */
#include <errno.h>

#include "server/client/tls_client.h"
#include "server/wasi/messages.h"

struct tls_client *tls_client_new(struct arena *arena, int fd, struct str host,
				  const char *authorities, struct str *problem)
{
	(void)arena, (void)fd, (void)host, (void)authorities;
	*problem = STR(MSG_WASI_SOCKETS);
	return NULL;
}

void tls_client_free(struct tls_client *client)
{
	(void)client;
}

int tls_client_shake(struct tls_client *client, struct arena *arena, short *events,
		     struct str *problem)
{
	(void)client, (void)arena, (void)events;
	*problem = STR(MSG_WASI_SOCKETS);
	return -1;
}

ssize_t tls_client_recv(struct tls_client *client, void *bytes, size_t n, short *events)
{
	(void)client, (void)bytes, (void)n, (void)events;
	errno = ENOSYS;
	return -1;
}

ssize_t tls_client_send(struct tls_client *client, const void *bytes, size_t n, short *events)
{
	(void)client, (void)bytes, (void)n, (void)events;
	errno = ENOSYS;
	return -1;
}
