/*
 * getentropy() for libdynalith with glibc 2.17, which has none: the kernel's random bytes, by
 * /dev/urandom where the kernel lacks the call.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((visibility("hidden"))) int getentropy(void *bytes, size_t n)
{
	ssize_t got = -1;

	do
		got = syscall(SYS_getrandom, bytes, n, 0);
	while (got < 0 && errno == EINTR);
	if (got >= 0 || errno != ENOSYS)
		return got == (ssize_t)n ? 0 : -1;
	int file = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return -1;
	got = read(file, bytes, n);
	close(file);
	return got == (ssize_t)n ? 0 : -1;
}
