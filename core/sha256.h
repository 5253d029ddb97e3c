/*
 * sha256 - the SHA-256 digest of a text: it stands for texts that are too long for a key.
 *
 * Source: FIPS 180-4. Signatures are checked by OpenSSL in server/; this room knows no library.
 */
#ifndef DYNALITH_CORE_SHA256_H
#define DYNALITH_CORE_SHA256_H

#include "core/str.h"

#define SHA256_SIZE 32

void sha256_of(struct str text, unsigned char digest[SHA256_SIZE]);

#endif
