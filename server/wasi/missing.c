/* Calls that the headers of wasi-libc declare and WASI preview 1 cannot do. */
#include <errno.h>
#include <netdb.h>
#include <sys/file.h>

int getaddrinfo(const char *restrict host, const char *restrict port,
		const struct addrinfo *restrict hints, struct addrinfo **restrict out)
{
	(void)host, (void)port, (void)hints, (void)out;
	return EAI_FAIL;
}

void freeaddrinfo(struct addrinfo *list)
{
	(void)list;
}

int flock(int fd, int operation)
{
	(void)fd, (void)operation;
	errno = ENOSYS;
	return -1;
}
