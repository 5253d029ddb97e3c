#include "server/command/interrupt.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <unistd.h>

#include "core/arena.h"
#include "storage/store/copy_target.h"

#define STATUS_OF_SIGNAL 128 /* as shells count */

static struct {
	pthread_mutex_t mutex;
	struct interrupt_undo *first;
} begun = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static sigset_t ends(void)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	return signals;
}

/* Nothing new begins meanwhile: the mutex stays locked. */
static void *wait_for_signal(void *context)
{
	sigset_t signals = ends();
	int received;

	(void)context;
	if (sigwait(&signals, &received) != 0)
		return NULL;
	pthread_mutex_lock(&begun.mutex);
	for (struct interrupt_undo *undo = begun.first; undo; undo = undo->next)
		undo->run(undo->context);
	_exit(STATUS_OF_SIGNAL + received);
}

void interrupt_watch(void)
{
	sigset_t signals = ends();
	pthread_t thread;

	if (pthread_create(&thread, NULL, wait_for_signal, NULL) == 0)
		pthread_detach(thread);
	else
		pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
}

void interrupt_undo(struct interrupt_undo *undo)
{
	pthread_mutex_lock(&begun.mutex);
	undo->next = begun.first;
	begun.first = undo;
	pthread_mutex_unlock(&begun.mutex);
}

void interrupt_forget(struct interrupt_undo *undo)
{
	pthread_mutex_lock(&begun.mutex);
	for (struct interrupt_undo **at = &begun.first; *at; at = &(*at)->next) {
		if (*at == undo) {
			*at = undo->next;
			break;
		}
	}
	pthread_mutex_unlock(&begun.mutex);
}

static void remove_file(void *context)
{
	copy_target_discard(arena_new(0), context);
}

void interrupt_undo_file(struct interrupt_undo *undo, const char *path)
{
	*undo = (struct interrupt_undo){.run = remove_file, .context = (void *)(uintptr_t)path};
	interrupt_undo(undo);
}
