#include "server/mask/fake.h"

#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "core/calendar.h"
#include "server/mask/ff1.h"

#define FAKE_TWEAK 16
#define FAKE_DAYS 365
#define FAKE_SAMPLE 400 /* bytes of a long text's form that a step looks at */
#define DAY_SECONDS 86400
#define NONCE CRYPTO_HASH_SIZE
#define NEVER 9000 /* a year */
#define MILLISECONDS 100000000000ll

struct faker {
	struct crypto *crypto;
	struct crypto_aes *aes;
	char key[CRYPTO_HASH_SIZE];
};

/* One kind of symbols. */
struct alphabet {
	unsigned radix;
	unsigned char first; /* the symbol 0 */
};

static const struct alphabet alphabets[] = {{10, '0'}, {26, 'a'}, {26, 'A'}, {64, 0x80}, {256, 0}};
enum { ALPHABETS_OF_TEXT = 4, ALPHABET_OF_BYTES = 4 };

static struct str faker_key(const struct faker *faker)
{
	return (struct str){faker->key, sizeof(faker->key)};
}

struct faker *faker_new(struct str secret)
{
	struct faker *faker = arena_checked(calloc(1, sizeof(*faker)));
	unsigned char aes[CRYPTO_HASH_SIZE];

	faker->crypto = crypto_new();
	crypto_hmac(faker->crypto, secret, STR("dynalith mask: FF1"), aes);
	crypto_hmac(faker->crypto, secret, STR("dynalith mask: HMAC"), (unsigned char *)faker->key);
	faker->aes = crypto_aes_new((struct str){(const char *)aes, sizeof(aes)});
	crypto_cleanse(aes, sizeof(aes));
	return faker;
}

void faker_free(struct faker *faker)
{
	if (!faker)
		return;
	crypto_aes_free(faker->aes);
	crypto_free(faker->crypto);
	crypto_cleanse(faker->key, sizeof(faker->key));
	free(faker);
}

static bool is_symbol(const struct alphabet *alphabet, struct str text, size_t at)
{
	unsigned char c = (unsigned char)text.p[at];

	if (alphabet->radix == 64) /* the last byte of a character in UTF-8 */
		return (c & 0xC0) == 0x80 &&
		       (at + 1 == text.n || ((unsigned char)text.p[at + 1] & 0xC0) != 0x80);
	return c >= alphabet->first && c - alphabet->first < (int)alphabet->radix;
}

/* Encrypts the symbols at these places; all that stands elsewhere is the tweak. */
static void fake_step(const struct faker *faker, struct arena *arena,
		      const struct alphabet *alphabet, char *text, size_t n, const size_t *places,
		      size_t count)
{
	unsigned char symbols[64], tweak[CRYPTO_HASH_SIZE];
	char *rest = arena_bytes(arena, n + 2);

	memcpy(rest, text, n);
	for (size_t i = 0; i < count; i++) {
		symbols[i] = (unsigned char)((unsigned char)text[places[i]] - alphabet->first);
		rest[places[i]] = (char)alphabet->first;
	}
	rest[n] = (char)alphabet->first;
	rest[n + 1] = (char)(alphabet->radix - 1);
	crypto_hmac(faker->crypto, faker_key(faker), (struct str){rest, n + 2}, tweak);
	if (count == 1)
		symbols[0] = (unsigned char)((symbols[0] + str_be((const char *)tweak, 4)) %
					     alphabet->radix);
	else
		ff1_encrypt(faker->aes, (struct str){(const char *)tweak, FAKE_TWEAK},
			    alphabet->radix, symbols, count);
	for (size_t i = 0; i < count; i++)
		text[places[i]] = (char)(symbols[i] + alphabet->first);
}

/* All symbols of one alphabet, in steps of equal size. `frozen` places stay. How many steps. */
static size_t fake_alphabet(const struct faker *faker, struct arena *arena,
			    const struct alphabet *alphabet, char *text, size_t n,
			    const char *frozen)
{
	size_t *places = arena_alloc(arena, (n + 1) * sizeof(*places)), count = 0, done = 0;
	size_t most = ff1_most(alphabet->radix);

	for (size_t i = 0; i < n; i++) {
		if (!(frozen && frozen[i]) && is_symbol(alphabet, (struct str){text, n}, i))
			places[count++] = i;
	}
	size_t steps = (count + most - 1) / most;
	for (size_t step = 0; step < steps; step++) {
		size_t end = count * (step + 1) / steps, first = places[done];
		/* a step of a long text looks at its neighbourhood only */
		size_t from = first > FAKE_SAMPLE ? first - FAKE_SAMPLE : 0;
		size_t to = places[end - 1] + FAKE_SAMPLE < n ? places[end - 1] + FAKE_SAMPLE : n;

		for (size_t i = done; i < end; i++)
			places[i] -= from;
		fake_step(faker, arena, alphabet, text + from, to - from, places + done,
			  end - done);
		done = end;
	}
	return steps;
}

static void fake_once(const struct faker *faker, struct arena *arena, char *text, size_t n,
		      const char *frozen)
{
	size_t steps = 0;

	for (size_t i = 0; i < ALPHABETS_OF_TEXT; i++)
		steps += fake_alphabet(faker, arena, &alphabets[i], text, n, frozen);
	/* the first step knew nothing of what the later ones made */
	for (size_t i = 0; i < ALPHABETS_OF_TEXT && steps > 1; i++)
		fake_alphabet(faker, arena, &alphabets[i], text, n, frozen);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The digit that a number's last place must have; -1: it is no card's number. */
static int luhn_digit(struct str text, size_t *last)
{
	size_t digits = 0;
	int sum = 0;

	*last = text.n;
	for (size_t i = text.n; i-- > 0;) {
		if (!is_digit(text.p[i])) {
			if ((text.p[i] != ' ' && text.p[i] != '-') || i == 0 || i + 1 == text.n)
				return -1;
			continue;
		}
		int digit = text.p[i] - '0';
		if (digits++ == 0)
			*last = i;
		else
			sum += digits % 2 == 0 ? digit * 2 - (digit > 4 ? 9 : 0) : digit;
	}
	return digits >= 13 && digits <= 19 ? (10 - sum % 10) % 10 : -1;
}

/* The two digits that an IBAN must have behind its country; -1: it is none. */
static int iban_digits(struct str text)
{
	unsigned sum = 0;
	size_t n = 0;

	if (text.n < 15 || text.n > 42 || !is_digit(text.p[2]) || !is_digit(text.p[3]))
		return -1;
	for (size_t i = 4; i < text.n + 4; i++) {
		char c = i < text.n ? text.p[i] : text.p[i - text.n];

		if (i >= text.n + 2)
			c = '0';
		if (c == ' ' && i < text.n)
			continue;
		if (is_digit(c) && !(i >= text.n && i < text.n + 2))
			sum = (sum * 10 + (unsigned)(c - '0')) % 97;
		else if (c >= 'A' && c <= 'Z')
			sum = (sum * 100 + (unsigned)(c - 'A' + 10)) % 97;
		else
			return -1;
		n++;
	}
	return n >= 15 && n <= 34 ? (int)(98 - sum) : -1;
}

/* Where the domain begins; 0: it is no address. */
static size_t mail_domain(struct str text)
{
	const char *at = memchr(text.p, '@', text.n);
	size_t start = at ? (size_t)(at - text.p) + 1 : 0;
	bool has_dot = false;

	if (start < 2 || start >= text.n)
		return 0;
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] <= ' ' || (i >= start && text.p[i] == '@'))
			return 0;
		if (i >= start && text.p[i] == '.') {
			if (text.p[i - 1] == '.' || i == start || i + 1 == text.n)
				return 0;
			has_dot = true;
		}
	}
	return has_dot ? start : 0;
}

static bool read_date(struct str text, int *year, int *month, int *day)
{
	static const char form[] = "0000-00-00";

	if (text.n < 10)
		return false;
	for (size_t i = 0; i < 10; i++) {
		if (form[i] == '0' ? !is_digit(text.p[i]) : text.p[i] != form[i])
			return false;
	}
	const char *p = text.p;
	*year = (p[0] - '0') * 1000 + (p[1] - '0') * 100 + (p[2] - '0') * 10 + (p[3] - '0');
	*month = (p[5] - '0') * 10 + (p[6] - '0');
	*day = (p[8] - '0') * 10 + (p[9] - '0');
	return *year > 1 && *month >= 1 && *month <= 12 && *day >= 1 && *day <= 31 &&
	       (text.n == 10 || p[10] == 'T' || p[10] == ' ');
}

enum text_kind fake_kind_of(struct str text)
{
	int year, month, day, wanted;
	size_t last;

	if (mail_domain(text) > 0)
		return TEXT_MAIL;
	if (read_date(text, &year, &month, &day))
		return TEXT_DATE;
	wanted = luhn_digit(text, &last);
	if (wanted >= 0 && text.p[last] - '0' == wanted)
		return TEXT_CARD;
	wanted = iban_digits(text);
	if (wanted >= 0 && (text.p[2] - '0') * 10 + (text.p[3] - '0') == wanted)
		return TEXT_IBAN;
	return TEXT_PLAIN;
}

/* What a fake has in common with its original beside the classes of its characters. */
static unsigned fake_form_of(struct str text)
{
	size_t start = text.n > 0 && text.p[0] == '-' ? 1 : 0;
	bool is_number = text.n > start, has_point = false;

	for (size_t i = start; i < text.n; i++) {
		is_number = is_number && (is_digit(text.p[i]) || (text.p[i] == '.' && !has_point));
		has_point = has_point || text.p[i] == '.';
	}
	if (!is_number || text.n == start + 1)
		return (unsigned)fake_kind_of(text);
	return (unsigned)fake_kind_of(text) | (text.p[start] == '0' ? 8u : 0u) |
	       (has_point && text.p[text.n - 1] == '0' ? 16u : 0u);
}

static void fix_digits(enum text_kind kind, char *text, size_t n)
{
	struct str whole = {text, n};
	size_t last;
	int digits;

	if (kind == TEXT_CARD) {
		digits = luhn_digit(whole, &last);
		text[last] = (char)('0' + digits);
	} else if (kind == TEXT_IBAN) {
		digits = iban_digits(whole);
		text[2] = (char)('0' + digits / 10);
		text[3] = (char)('0' + digits % 10);
	}
}

/* Digits that follow from the others stay out of it, and are computed then. */
static void fake_checked(const struct faker *faker, struct arena *arena, enum text_kind kind,
			 char *text, size_t n)
{
	char *frozen = arena_calloc(arena, n, 1);
	size_t last;

	if (kind == TEXT_CARD) {
		(void)luhn_digit((struct str){text, n}, &last);
		frozen[last] = 1;
		text[last] = '0';
	} else {
		memset(frozen, 1, 4);
		memset(text + 2, '0', 2);
	}
	fake_once(faker, arena, text, n, frozen);
	fix_digits(kind, text, n);
}

static void fake_mail(const struct faker *faker, struct arena *arena, char *text, size_t n)
{
	size_t start = mail_domain((struct str){text, n}), top = n;
	char *frozen = arena_calloc(arena, n, 1);

	while (text[top - 1] != '.')
		top--;
	memset(frozen + (top - start), 1, n - top);
	fake_once(faker, arena, text, start - 1, NULL);
	fake_once(faker, arena, text + start, n - start, frozen);
	for (size_t i = top; i < n; i++)
		text[i] = 'z';
}

struct str fake_text(const struct faker *faker, struct arena *arena, struct str text)
{
	struct str out = str_copy(arena, text);
	char *bytes = (char *)(uintptr_t)out.p;
	enum text_kind kind = text.n > 0 ? fake_kind_of(text) : TEXT_PLAIN;
	unsigned form = text.n > 0 ? fake_form_of(text) : 0;

	if (text.n == 0)
		return out;
	if (kind == TEXT_DATE && fake_shift(faker, arena, text, FAKE_DAYS, &out))
		return out;
	if (kind == TEXT_MAIL) {
		fake_mail(faker, arena, bytes, text.n);
		return out;
	}
	do { /* cycle walking: still no two texts become one */
		if (kind == TEXT_CARD || kind == TEXT_IBAN)
			fake_checked(faker, arena, kind, bytes, text.n);
		else
			fake_once(faker, arena, bytes, text.n, NULL);
	} while (fake_form_of(out) != form);
	return out;
}

struct str fake_bytes(const struct faker *faker, struct arena *arena, struct str bytes)
{
	struct str out = str_copy(arena, bytes);
	char *to = (char *)(uintptr_t)out.p;

	if (fake_alphabet(faker, arena, &alphabets[ALPHABET_OF_BYTES], to, out.n, NULL) > 1)
		fake_alphabet(faker, arena, &alphabets[ALPHABET_OF_BYTES], to, out.n, NULL);
	return out;
}

static void hash_for(const struct faker *faker, struct arena *arena, const char *use,
		     struct str text, unsigned char out[CRYPTO_HASH_SIZE])
{
	struct str whole = str_printf(arena, "%s%c", use, 0);
	struct buf buf = buf_in(arena);

	buf_add_str(&buf, whole);
	buf_add_str(&buf, text);
	crypto_hmac(faker->crypto, faker_key(faker), buf_str(&buf), out);
}

struct str fake_hash(const struct faker *faker, struct arena *arena, struct str text)
{
	unsigned char hash[CRYPTO_HASH_SIZE];
	struct buf buf = buf_in(arena);

	hash_for(faker, arena, "hash", text, hash);
	buf_add_hex(&buf, hash, 16);
	return buf_str(&buf);
}

struct str fake_hash_number(const struct faker *faker, struct arena *arena, struct str text)
{
	unsigned char hash[CRYPTO_HASH_SIZE];
	const uint64_t least = 100000000000000ull;

	hash_for(faker, arena, "hash", text, hash);
	return str_printf(
		arena, "%llu",
		(unsigned long long)(least + str_be((const char *)hash, 8) % (9 * least)));
}

/* The inverse of calendar_days(). */
static struct str fake_date_of(struct arena *arena, int64_t days)
{
	days += 719468;
	int64_t era = days / 146097, of_era = days - era * 146097;
	int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
	int64_t month = (5 * of_year + 2) / 153, day = of_year - (153 * month + 2) / 5 + 1;

	month += month < 10 ? 3 : -9;
	return str_printf(arena, "%04d-%02d-%02d", (int)(year + era * 400 + (month <= 2)),
			  (int)month, (int)day);
}

/* Decimal digits, at most 17, with a sign. */
static bool read_moment(struct str text, int64_t *moment, size_t *n)
{
	size_t start = text.n > 0 && text.p[0] == '-' ? 1 : 0, i = start;

	for (*moment = 0; i < text.n && is_digit(text.p[i]); i++) {
		if (i - start >= 17)
			return false;
		*moment = *moment * 10 + (text.p[i] - '0');
	}
	*n = i;
	*moment = start ? -*moment : *moment;
	return i > start && (i == text.n || text.p[i] == '.');
}

bool fake_shift(const struct faker *faker, struct arena *arena, struct str text, int64_t days,
		struct str *out)
{
	unsigned char hash[CRYPTO_HASH_SIZE];
	int year, month, day;
	int64_t moment;
	size_t n;

	hash_for(faker, arena, "shift", STR(""), hash);
	int64_t by = 1 + (int64_t)(str_be((const char *)hash, 4) % (uint64_t)days);
	if (read_date(text, &year, &month, &day)) {
		struct str rest = {text.p + 10, text.n - 10};

		*out = str_printf(arena, STR_FMT STR_FMT,
				  STR_ARG(fake_date_of(arena, calendar_days(year, month, day) +
								      (year < NEVER ? by : 0))),
				  STR_ARG(rest));
		return true;
	}
	if (!read_moment(text, &moment, &n))
		return false;
	moment += by * DAY_SECONDS * (moment >= MILLISECONDS ? 1000 : 1);
	*out = str_printf(arena, "%lld" STR_FMT, (long long)moment,
			  STR_ARG(((struct str){text.p + n, text.n - n})));
	return true;
}

/* Counter mode of HMAC-SHA-256. */
static void seal_bytes(const struct faker *faker, struct arena *arena, struct str nonce,
		       char *bytes, size_t n)
{
	unsigned char stream[CRYPTO_HASH_SIZE];

	for (size_t i = 0; i < n; i++) {
		if (i % sizeof(stream) == 0) {
			struct buf block = buf_in(arena);

			buf_add_str(&block, nonce);
			buf_add_be64(&block, i);
			hash_for(faker, arena, "seal", buf_str(&block), stream);
		}
		bytes[i] = (char)((unsigned char)bytes[i] ^ stream[i % sizeof(stream)]);
	}
}

static void seal_check(const struct faker *faker, struct arena *arena, struct str sealed,
		       unsigned char out[CRYPTO_HASH_SIZE])
{
	hash_for(faker, arena, "check", sealed, out);
}

struct str fake_seal(const struct faker *faker, struct arena *arena, struct str text)
{
	char *bytes = arena_bytes(arena, NONCE + text.n + CRYPTO_HASH_SIZE);

	crypto_random(bytes, NONCE);
	if (text.n > 0)
		memcpy(bytes + NONCE, text.p, text.n);
	seal_bytes(faker, arena, (struct str){bytes, NONCE}, bytes + NONCE, text.n);
	seal_check(faker, arena, (struct str){bytes, NONCE + text.n},
		   (unsigned char *)bytes + NONCE + text.n);
	return (struct str){bytes, NONCE + text.n + CRYPTO_HASH_SIZE};
}

bool fake_open(const struct faker *faker, struct arena *arena, struct str sealed, struct str *out)
{
	unsigned char check[CRYPTO_HASH_SIZE];

	if (sealed.n < NONCE + CRYPTO_HASH_SIZE)
		return false;
	size_t n = sealed.n - NONCE - CRYPTO_HASH_SIZE;
	seal_check(faker, arena, (struct str){sealed.p, NONCE + n}, check);
	if (!crypto_is_same(check, sealed.p + NONCE + n, sizeof(check)))
		return false;
	struct str text = str_copy(arena, (struct str){sealed.p + NONCE, n});
	seal_bytes(faker, arena, (struct str){sealed.p, NONCE}, (char *)(uintptr_t)text.p, n);
	*out = text;
	return true;
}
