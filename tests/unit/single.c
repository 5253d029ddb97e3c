/* single.c - linked into the unit tests that the Makefile calls single: they are not run under
 * ThreadSanitizer, so none may start a thread. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			  void *(*start)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			  void *(*start)(void *), void *argument)
{
	(void)thread, (void)attributes, (void)start, (void)argument;
	fputs("a thread is started: take this test out of unit.single in the Makefile\n", stderr);
	abort();
}
