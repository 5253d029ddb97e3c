/* crc32 - CRC-32 (IEEE 802.3, as zlib's), for the x-amz-crc32 header: by carry-less multiplication
 * where the processor has it, else slicing-by-8. */
#ifndef DYNALITH_CORE_CRC32_H
#define DYNALITH_CORE_CRC32_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

uint32_t crc32_of(const void *bytes, size_t n);

/*
 * Which one byte of `n`, changed by XOR with *change, explains that their CRC is off by
 * `difference` (the two XORed). False where none does, or where more than one could. Bytes that
 * were damaged in another way look like this with a chance of n / 2^24.
 */
bool crc32_find_byte(uint32_t difference, size_t n, size_t *at, unsigned char *change);

#endif
