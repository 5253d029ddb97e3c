/*
 * number - DynamoDB's decimal numbers: up to 38 significant digits, magnitudes
 * from 1E-130 to 9.9999999999999999999999999999999999999E+125, and zero.
 *
 * A number has one representation everywhere: in memory, in keys and on disk.
 * It is a short run of bytes whose memcmp order is numeric order, so equality
 * and comparison never look inside:
 *
 *   sign      1 byte: 01 negative, 02 zero, 03 positive (zero ends here)
 *   exponent  1 byte: e + 129, where the value is 0.d1d2d3... * 10^e, d1 != 0, e in -129..126
 *   digits    pairs of decimal digits, each byte 1 + the pair (1..100), trailing zeros cut,
 *             an odd last digit padded with 0
 *   end       00
 *
 * For negative numbers every byte after the sign is complemented. At most
 * NUMBER_MAX bytes. No encoding is a prefix of another.
 *
 * AWS: Developer Guide, "Supported data types and naming rules", Number.
 */
#ifndef DYNALITH_CORE_NUMBER_H
#define DYNALITH_CORE_NUMBER_H

#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/err.h"
#include "core/str.h"

#define NUMBER_MAX 22      /* bytes of an encoding: sign, exponent, 19 pairs, end */
#define NUMBER_DIGITS 38   /* significant digits */
#define NUMBER_TEXT_MAX                                                                            \
	170 /* bytes of number_format's longest output: sign, "0.", 129 zeros and 38 digits */

/*
 * Reads the wire text ("-12.50", "1e3", ".5", "+7", "007") into `out` (NUMBER_MAX bytes) and sets
 * *length. ERR_VALIDATION with AWS's text: not a number, more than 38 significant digits, magnitude
 * too large or too small. Leading and trailing zeros do not count as digits.
 */
enum code number_parse(struct str text, char *out, size_t *length, struct err *err) WARN_UNUSED;

/* The canonical wire text, as AWS returns it: plain decimal digits, no exponent, no trailing zeros.
 */
void number_format(struct str number, struct buf *out);
/* The same, written to `to`, which has room for NUMBER_TEXT_MAX bytes; gives where the text ends,
 * or NULL where the bytes are no encoding. */
char *number_put(struct str number, char *to);

/* a + b and a - b, exact; a result of more than 38 digits, too large or too small is
 * ERR_VALIDATION. AWS: Developer Guide, "Number". */
enum code number_add(struct str a, struct str b, char *out, size_t *length,
		     struct err *err) WARN_UNUSED;
enum code number_subtract(struct str a, struct str b, char *out, size_t *length,
			  struct err *err) WARN_UNUSED;

/* An integer's encoding. */
size_t number_from_int(int64_t value, char *out);

/* The value as an integer: truncated towards zero; false when it does not fit. */
bool number_to_int(struct str number, int64_t *out);

/* The value as the nearest double. */
double number_to_double(struct str number);

/*
 * The value as the nearest float32, infinite where it is out of its range; fast, for vectors. A
 * number of up to 19 digits is rounded to 64 bits first, which changes one result in 2^40.
 */
float number_to_float(struct str number);

/* Length of the encoding that starts at `bytes`, or 0 when there is no well-formed one within `n`
 * bytes. */
size_t number_length(const char *bytes, size_t n);

/* Whether the bytes are one well-formed encoding: number_length() is their number. */
bool number_is_encoding(struct str bytes);

#define NUMBER_BILLED_MAX 21

/*
 * The size DynamoDB bills for a number: a byte, a byte per pair of digits that are not both 0,
 * where pairs are aligned to the decimal point, a byte when negative, NUMBER_BILLED_MAX at most; 1
 * for zero. The guide says "approximately"; the alignment, the sign and the bound are DynamoDB
 * Local's, measured at the edge of a write unit.
 */
size_t number_billed_size(struct str number);

/*
 * The bytes that AWS hashes a number by: a byte for the exponent to the base 100 (C1 is 100^0),
 * then a byte per pair of digits that are aligned to the decimal point, 1 + the pair; 80 alone is
 * zero. Of a negative number the exponent is complemented, a pair is 101 - itself, and 66 ends
 * fewer than 20 of them. Returns how many bytes of `out`; at most NUMBER_BILLED_MAX. Source:
 * dynalite, tested against AWS.
 */
size_t number_packed(struct str number, unsigned char *out);

#endif
