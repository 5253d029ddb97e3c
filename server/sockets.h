/*
 * sockets - three calls of the C library as libmicrohttpd makes them, and what is mended beneath it.
 *
 * libmicrohttpd 0.9.75 answers heads that its memory does not hold by pages of its own (414, 431, 500), or closes without any answer where the
 * answer's head does not fit beside the request's. Here all of these are one answer of status 400. Behind it the socket is read and
 * emptied until the client has heard it: a close that finds bytes unread makes the kernel throw the answer away.
 *
 * Nothing is known of sockets that were not entered: calls on these are the C library's.
 */
#ifndef DYNALITH_SERVER_SOCKETS_H
#define DYNALITH_SERVER_SOCKETS_H

/* The connection waits for a request: what libmicrohttpd sends before sockets_answer() is its own. */
void sockets_await(int fd);

/* Our answer is about to be queued. */
void sockets_answer(int fd);

/* libmicrohttpd gave the request up: refuses it, unless an answer or a part of one was sent. */
void sockets_refuse(int fd);

/* The connection is about to be closed. */
void sockets_forget(int fd);

#endif
