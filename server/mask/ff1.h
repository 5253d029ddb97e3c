/*
 * ff1 - format-preserving encryption: a text of n symbols becomes another text of n symbols.
 *
 * Source: NIST SP 800-38G, algorithm 7 (FF1.Encrypt). Two texts never become the same text.
 */
#ifndef DYNALITH_SERVER_MASK_FF1_H
#define DYNALITH_SERVER_MASK_FF1_H

#include <stddef.h>

#include "core/str.h"
#include "server/platform/crypto.h"

#define FF1_TWEAK_MAX 64 /* bytes */

/* The most symbols that a text may have: the number of its longer half stays below 2^56. `radix` is
 * from 2 to 256. */
size_t ff1_most(unsigned radix);

/* Encrypts `n` symbols, each below `radix`, in place. n is from 2 to ff1_most(); a tweak has at
 * most FF1_TWEAK_MAX bytes. */
void ff1_encrypt(const struct crypto_aes *aes, struct str tweak, unsigned radix,
		 unsigned char *symbols, size_t n);

#endif
