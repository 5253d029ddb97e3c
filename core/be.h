/*
 * be - big-endian numbers at a place of bytes, aligned or not.
 */
#ifndef DYNALITH_CORE_BE_H
#define DYNALITH_CORE_BE_H

#include <stdint.h>

static inline uint16_t be16(const void *place)
{
	const unsigned char *p = place;

	return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t be32(const void *place)
{
	const unsigned char *p = place;

	return (uint32_t)be16(p) << 16 | be16(p + 2);
}

static inline void put_be16(void *place, uint16_t number)
{
	unsigned char *p = place;

	p[0] = (unsigned char)(number >> 8);
	p[1] = (unsigned char)number;
}

static inline void put_be32(void *place, uint32_t number)
{
	put_be16(place, (uint16_t)(number >> 16));
	put_be16((unsigned char *)place + 2, (uint16_t)number);
}

static inline void put_be64(void *place, uint64_t number)
{
	put_be32(place, (uint32_t)(number >> 32));
	put_be32((unsigned char *)place + 4, (uint32_t)number);
}

#endif
