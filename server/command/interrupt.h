/*
 * interrupt - ends a command on SIGINT or SIGTERM: at once, with status 130 or 143, whatever its
 * threads do, and without what it has not finished.
 *
 * What a command has begun and would leave half done, such as a file, is registered with the
 * function that takes it back. These functions run in a thread of their own while the command goes
 * on, the last one first, and the process ends behind them: each must end soon, and use nothing
 * that the command changes.
 */
#ifndef DYNALITH_SERVER_INTERRUPT_H
#define DYNALITH_SERVER_INTERRUPT_H

/* The caller's, until interrupt_forget. */
struct interrupt_undo {
	void (*run)(void *context);
	void *context;
	struct interrupt_undo *next; /* not the caller's */
};

/* From now on the signals, which all threads block, end the process. Where there is no thread to
 * wait for them they are let through, and end it as usual. */
void interrupt_watch(void);

void interrupt_undo(struct interrupt_undo *undo);
/* It is done, or taken back. */
void interrupt_forget(struct interrupt_undo *undo);

/* Removes the file, with what SQLite keeps beside it, if the command is ended before
 * interrupt_forget. `path` outlives it. */
void interrupt_undo_file(struct interrupt_undo *undo, const char *path);

#endif
