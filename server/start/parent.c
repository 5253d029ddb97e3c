#include "server/start/parent.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static void *watch_parent(void *context)
{
	char bytes[64];
	ssize_t n;

	do
		n = read(STDIN_FILENO, bytes, sizeof(bytes));
	while (n > 0 || (n < 0 && errno == EINTR));
	kill(getpid(), SIGTERM);
	return context;
}

bool parent_watch(struct str url)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, watch_parent, NULL) != 0)
		return false;
	pthread_detach(thread);
	printf(STR_FMT "\n", STR_ARG(url));
	fflush(stdout);
	return true;
}
