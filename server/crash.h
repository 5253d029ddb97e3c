/*
 * crash - prints a crash to stderr: the signal, the request that the thread was working on, and the
 * stack.
 *
 * For SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT. All that is done in the handler is safe there,
 * on a stack of its own; then the signal takes the effect that it had before, so core dumps and the
 * sanitizers' reports are as they were. Addresses within the executable are for addr2line -e
 * dynalith.
 */
#ifndef DYNALITH_SERVER_CRASH_H
#define DYNALITH_SERVER_CRASH_H

/* Installs the handlers, for the whole process; call it once, early. */
void crash_install(void);

/* Makes the unwinder load and allocate what it needs, so that a handler does not have to. Takes 45
 * us: call it once clients can connect. */
void crash_prepare(void);

/*
 * The request that this thread works on from now on; NULL: none. The text must stay until the next
 * call. A thread's first call gives it the handler's stack, without which an overflow of its own
 * stack ends the process silently.
 */
void crash_request(const char *id);

#endif
