/*
 * md5 - the MD5 digest. It spreads keys as AWS spreads them, and protects nothing.
 *
 * Source: RFC 1321.
 */
#ifndef DYNALITH_CORE_MD5_H
#define DYNALITH_CORE_MD5_H

#include <stddef.h>
#include <stdint.h>

#define MD5_SIZE 16
#define MD5_BLOCK 64

struct md5 {
	uint32_t state[4];
	uint64_t size; /* bytes added */
	unsigned char block[MD5_BLOCK];
};

void md5_begin(struct md5 *md5);
void md5_add(struct md5 *md5, const void *bytes, size_t n);
void md5_end(struct md5 *md5, unsigned char digest[MD5_SIZE]);

/* All three, of bytes in one piece. */
void md5_of(const void *bytes, size_t n, unsigned char digest[MD5_SIZE]);

#endif
