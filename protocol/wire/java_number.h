/*
 * java_number - how AWS's older layer and PartiQL read the text of a number: as Java's BigDecimal,
 * whose exponent and scale have 32 bits.
 */
#ifndef DYNALITH_PROTOCOL_JAVA_NUMBER_H
#define DYNALITH_PROTOCOL_JAVA_NUMBER_H

#include <stdbool.h>

#include "core/err.h"

struct java_number {
	long long precision; /* digits from the first that is no zero; 1 of zero */
	long long scale;     /* digits behind the point, less the exponent */
	bool fits;           /* exponent and scale have 32 bits: else the text is no number */
};

/* Of a text that has the form of a number; what else it holds counts as nothing. */
struct java_number java_number_read(struct str text);

/*
 * The error of a text of which number_parse() said `err`, or OK. A text that does not fit is no
 * number, zero neither. AWS: where precision less scale reaches 2147483647 it overflows, and is
 * reported as too small (captured 2026-10-09: 1e2147483645 is too large, 1e2147483646 too small).
 * In all other cases the plain rule's error stays.
 */
enum code java_number_error(struct str text, struct err *err) WARN_UNUSED;

#endif
