#include "server/mask/fake.h"

#include "tests/unit/test.h"

static void has_form(const char *text, struct str fake)
{
	size_t n = strlen(text);

	CHECK_INT((int)fake.n, (int)n);
	for (size_t i = 0; i < n; i++) {
		char c = text[i], f = fake.p[i];

		if (c >= '0' && c <= '9')
			CHECK(f >= '0' && f <= '9');
		else if (c >= 'a' && c <= 'z')
			CHECK(f >= 'a' && f <= 'z');
		else if (c >= 'A' && c <= 'Z')
			CHECK(f >= 'A' && f <= 'Z');
		else if ((c & 0x80) == 0)
			CHECK_INT(f, c);
	}
}

TEST(fakes_keep_form_and_are_the_same_again)
{
	static const char *const texts[] = {
		"Ann",
		"Anna-Maria Miller",
		"+49 (30) 1234567",
		"12 Elm Street, Springfield",
		"M\xc3\xbcller",
		"192.168.17.4",
		"3f9a1c77-22be-4f1e-8d0a-0c1f5b7a9e21",
		"A",
		"7",
		"-12.5",
		"1234567890123456789012345678901234567890 and much more of it than one step",
	};
	struct arena *arena = arena_new(0);
	struct faker *one = faker_new(STR("one")), *again = faker_new(STR("one")),
		     *other = faker_new(STR("two"));

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct str fake = fake_text(one, arena, str_of(texts[i]));

		has_form(texts[i], fake);
		CHECK(str_eq(fake, fake_text(again, arena, str_of(texts[i]))));
		if (fake.n > 5) {
			CHECK(!str_eq(fake, str_of(texts[i])));
			CHECK(!str_eq(fake, fake_text(other, arena, str_of(texts[i]))));
		}
	}
	CHECK_INT((int)fake_text(one, arena, STR("")).n, 0);
	faker_free(one);
	faker_free(again);
	faker_free(other);
	arena_free(arena);
}

TEST(fakes_of_numbers_are_apart_and_have_no_leading_zero)
{
	struct arena *arena = arena_new(0);
	struct faker *faker = faker_new(STR("s"));
	bool is_seen[1000] = {false};

	for (int i = 100; i < 1000; i++) {
		struct str fake = fake_text(faker, arena, str_printf(arena, "%d", i));
		int number = (fake.p[0] - '0') * 100 + (fake.p[1] - '0') * 10 + (fake.p[2] - '0');

		CHECK(fake.n == 3 && fake.p[0] != '0' && !is_seen[number]);
		is_seen[number] = true;
	}
	faker_free(faker);
	arena_free(arena);
}

static int luhn(struct str text)
{
	int sum = 0, n = 0;

	for (size_t i = text.n; i-- > 0;) {
		if (text.p[i] < '0' || text.p[i] > '9')
			continue;
		int digit = text.p[i] - '0';
		sum += n++ % 2 == 0 ? digit : digit * 2 - (digit > 4 ? 9 : 0);
	}
	return sum % 10;
}

static int mod97(struct arena *arena, struct str text)
{
	struct str turned = str_printf(arena, "%.*s%.4s", (int)(text.n - 4), text.p + 4, text.p);
	int sum = 0;

	for (size_t i = 0; i < turned.n; i++) {
		char c = turned.p[i];

		if (c >= 'A')
			sum = (sum * 100 + c - 'A' + 10) % 97;
		else if (c != ' ')
			sum = (sum * 10 + c - '0') % 97;
	}
	return sum;
}

TEST(cards_ibans_and_addresses_stay_ones)
{
	static const char *const cards[] = {"4111111111111111", "5500 0000 0000 0004",
					    "378282246310005"};
	static const char *const ibans[] = {"DE89370400440532013000", "GB82 WEST 1234 5698 7654 32",
					    "FR1420041010050500013M02606"};
	struct arena *arena = arena_new(0);
	struct faker *faker = faker_new(STR("s"));

	for (size_t i = 0; i < 3; i++) {
		struct str card = fake_text(faker, arena, str_of(cards[i]));
		struct str iban = fake_text(faker, arena, str_of(ibans[i]));

		has_form(cards[i], card);
		CHECK_INT(luhn(card), 0);
		CHECK(!str_eq(card, str_of(cards[i])));
		has_form(ibans[i], iban);
		CHECK_INT(mod97(arena, iban), 1);
		CHECK(!str_eq(iban, str_of(ibans[i])));
		CHECK(memcmp(iban.p, ibans[i], 2) == 0);
	}
	struct str mail = fake_text(faker, arena, STR("ann.miller@mail.example.com"));
	has_form("ann.miller@mail.example.zzz", mail);
	CHECK(memcmp(mail.p + mail.n - 4, ".zzz", 4) == 0);
	/* the local part has the same fake as the same text elsewhere */
	CHECK(str_starts_with(mail, fake_text(faker, arena, STR("ann.miller"))));
	faker_free(faker);
	arena_free(arena);
}

TEST(dates_keep_their_order)
{
	static const char *const dates[] = {"1999-12-31", "2000-01-01T00:00:00Z",
					    "2024-02-28", "2024-02-29 12:30",
					    "2024-03-01", "2025-11-30"};
	struct arena *arena = arena_new(0);
	struct faker *faker = faker_new(STR("s"));
	struct str before = STR(""), out;

	for (size_t i = 0; i < sizeof(dates) / sizeof(dates[0]); i++) {
		struct str fake = fake_text(faker, arena, str_of(dates[i]));

		CHECK_INT((int)fake.n, (int)strlen(dates[i]));
		CHECK(str_cmp(before, fake) < 0 && !str_eq(fake, str_of(dates[i])));
		before = fake;
	}
	CHECK_STR(fake_text(faker, arena, STR("9999-12-31")), "9999-12-31");
	CHECK(fake_shift(faker, arena, STR("1700000000"), 1, &out));
	CHECK_STR(out, "1700086400");
	CHECK(fake_shift(faker, arena, STR("1700000000123"), 1, &out));
	CHECK_STR(out, "1700086400123");
	CHECK(fake_shift(faker, arena, STR("2024-02-28"), 1, &out));
	CHECK_STR(out, "2024-02-29");
	CHECK(!fake_shift(faker, arena, STR("yesterday"), 1, &out));
	faker_free(faker);
	arena_free(arena);
}

TEST(what_is_sealed_opens_by_its_secret_only)
{
	struct arena *arena = arena_new(0);
	struct faker *faker = faker_new(STR("s")), *other = faker_new(STR("t"));
	struct str text = STR("a text that is longer than one block of the hash"), out;
	struct str sealed = fake_seal(faker, arena, text);

	CHECK(!str_contains(sealed, STR("longer")));
	CHECK(fake_open(faker, arena, sealed, &out) && str_eq(out, text));
	CHECK(!fake_open(other, arena, sealed, &out));
	CHECK(!str_eq(sealed, fake_seal(faker, arena, text)));
	faker_free(faker);
	faker_free(other);
	arena_free(arena);
}

TEST_MAIN(TEST_CASE(fakes_keep_form_and_are_the_same_again),
	  TEST_CASE(fakes_of_numbers_are_apart_and_have_no_leading_zero),
	  TEST_CASE(cards_ibans_and_addresses_stay_ones), TEST_CASE(dates_keep_their_order),
	  TEST_CASE(what_is_sealed_opens_by_its_secret_only))
