/*
 * messages - what dynalith.wasm says of what its host has not.
 */
#ifndef DYNALITH_SERVER_WASI_MESSAGES_H
#define DYNALITH_SERVER_WASI_MESSAGES_H

#define MSG_WASI_SOCKETS "WASI preview 1 has no sockets"

#endif
