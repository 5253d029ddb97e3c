/*
 * fake - values in place of personal ones: of the same form, and the same for the same value.
 *
 * All follow from a secret, by HMAC-SHA-256 and FF1 (ff1.h). Who does not have the secret cannot
 * compute them, and they cannot be linked to those of another secret.
 */
#ifndef DYNALITH_SERVER_MASK_FAKE_H
#define DYNALITH_SERVER_MASK_FAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/str.h"

struct faker;

/* `secret` is not kept; only keys that follow from it are. Of one thread. */
struct faker *faker_new(struct str secret);
void faker_free(struct faker *faker); /* NULL is allowed */

/*
 * A fake of a text, in the arena. Digits become digits, ASCII letters become letters of the same
 * case, other characters become others of their block of 64. All else stays. A card number (Luhn),
 * an IBAN (mod 97), an e-mail address and a date (fake_shift by at most 365 days) stay one. The
 * top-level domain of an address becomes z's, so that no mail arrives. Apart from that domain, two
 * texts never have the same fake. A number without leading zeros gets none.
 */
struct str fake_text(const struct faker *faker, struct arena *arena, struct str text);

/* What a text is, and its fake is too. */
enum text_kind { TEXT_PLAIN, TEXT_CARD, TEXT_IBAN, TEXT_MAIL, TEXT_DATE };
enum text_kind fake_kind_of(struct str text);

/* The same for bytes of any kind. */
struct str fake_bytes(const struct faker *faker, struct arena *arena, struct str bytes);

/* 32 hexadecimal digits; 15 decimal digits, the first of them not 0. */
struct str fake_hash(const struct faker *faker, struct arena *arena, struct str text);
struct str fake_hash_number(const struct faker *faker, struct arena *arena, struct str text);

/*
 * Moves a moment by 1 to `days` days, by as many for all values, so that their order stays. A
 * moment is YYYY-MM-DD with anything behind it, or a number of seconds, or of milliseconds from
 * 10^11 on. Dates from the year 9000 on stay: they mean "never". False: it is no moment.
 */
bool fake_shift(const struct faker *faker, struct arena *arena, struct str text, int64_t days,
		struct str *out);

/* A text that only the secret's owner can read back: seals with random bytes, opens what was
 * sealed. False: another secret sealed it, or nobody. */
struct str fake_seal(const struct faker *faker, struct arena *arena, struct str text);
bool fake_open(const struct faker *faker, struct arena *arena, struct str sealed, struct str *out);

#endif
