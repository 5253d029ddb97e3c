/* crc32 - CRC-32 (IEEE 802.3, as zlib's), for the x-amz-crc32 header: by carry-less multiplication where the processor has it, else slicing-by-8. */
#ifndef DYNALITH_CORE_CRC32_H
#define DYNALITH_CORE_CRC32_H

#include <stddef.h>
#include <stdint.h>

uint32_t crc32_of(const void *bytes, size_t n);

#endif
