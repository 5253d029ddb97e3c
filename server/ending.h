/*
 * ending - bounds the end of the server: what has not ended when the time is over is named, and the
 * process ends all the same.
 *
 * The parts of the server end one after the other, each by its own means, and wait for their
 * threads. A thread that does not come back, because it waits for somebody else or for itself,
 * would make the process one that only SIGKILL ends. What was acknowledged is in the store by then,
 * and stays: an end by force is to the data what a crash of the process is. Its status is
 * EXIT_FORCED.
 */
#ifndef DYNALITH_SERVER_ENDING_H
#define DYNALITH_SERVER_ENDING_H

/* The end has begun, and may take so long. Call it once, before anything is ended. */
void ending_begin(unsigned limit_ms);

/* What is being ended from now on; a literal. Nothing where no end has begun. */
void ending_part(const char *part);

/* What a background thread does from now on, so that it can be named; a literal, NULL: nothing. */
void ending_doing(const char *what);

#endif
