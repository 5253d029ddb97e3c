#include "server/ending.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "server/command/exit_status.h"
#include "server/log.h"

#define LOG_S 1 /* how long the last line may take: whoever reads the log may be stuck too */

static _Atomic(const char *) part, doing;
static unsigned limit; /* ms; set before the thread is there */

static void *watch_ending(void *context)
{
	const struct timespec time = {limit / 1000, (long)(limit % 1000) * 1000000};
	struct timespec left = time;
	sigset_t alarms;

	while (nanosleep(&left, &left) != 0)
		;
	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
	signal(SIGALRM, SIG_DFL);
	alarm(LOG_S);
	const char *what = atomic_load(&doing);
	log_line(LOG_ERROR,
		 "has not ended within %u s and ends by force, with status %d; what did not end: "
		 "%s%s%s",
		 limit / 1000, EXIT_FORCED, atomic_load(&part), what ? "; in the background: " : "",
		 what ? what : "");
	alarm(0);
	_exit(EXIT_FORCED);
	return context;
}

void ending_begin(unsigned limit_ms)
{
	pthread_t thread;

	limit = limit_ms;
	atomic_store(&part, "the server");
	if (pthread_create(&thread, NULL, watch_ending, NULL) == 0)
		pthread_detach(thread);
}

void ending_part(const char *name)
{
	atomic_store(&part, name);
}

void ending_doing(const char *what)
{
	atomic_store(&doing, what);
}
