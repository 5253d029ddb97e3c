/*
 * The profiles of databases that speak PostgreSQL's protocol: how one is chosen, and that none has
 * statements which its database is not known to take.
 */
#include "core/arena.h"
#include "storage/store/postgresql/profile.h"
#include "tests/unit/test.h"

static const struct profile *named(const char *name)
{
	for (size_t i = 0; profile_at(i); i++) {
		if (strcmp(profile_at(i)->name, name) == 0)
			return profile_at(i);
	}
	return NULL;
}

TEST(a_server_is_known_by_its_version)
{
	static const struct {
		const char *version, *name;
	} rows[] = {
		{"PostgreSQL 15.14 (Debian 15.14-0+deb12u1) on x86_64-pc-linux-gnu, compiled by "
		 "gcc (Debian 12.2.0-14+deb12u1) 12.2.0, 64-bit",
		 "postgresql"},
		{"PostgreSQL 11.2-YB-2.14.4.0-b0 on x86_64-pc-linux-gnu, compiled by clang version "
		 "12.0.1, 64-bit",
		 "yugabytedb"},
		{"PostgreSQL 15.12-YB-2025.1.0.0-b0 on x86_64-pc-linux-gnu, compiled by clang "
		 "version 17.0.6, 64-bit",
		 "yugabytedb"},
		{"CockroachDB CCL v23.1.11 (x86_64-pc-linux-gnu, built 2023/09/27 01:53:43, "
		 "go1.19.10)",
		 "cockroachdb"},
		{"EnterpriseDB something", "postgresql"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		CHECK_STR(str_of(profile_of_version(str_of(rows[i].version))->name), rows[i].name);
	CHECK(profile_of_version(STR_ABSENT) == profile_default());
}

TEST(a_url_may_name_one)
{
	static const struct {
		const char *url, *rest, *name;
	} rows[] = {
		{"postgresql://u@h/d", "postgresql://u@h/d", NULL},
		{"postgresql://u@h/d?profile=pooled", "postgresql://u@h/d", "pooled"},
		{"postgresql://u@h/d?profile=pooled&sslmode=disable",
		 "postgresql://u@h/d?sslmode=disable", "pooled"},
		{"postgresql://u@h/d?sslmode=disable&profile=cockroachdb&port=1",
		 "postgresql://u@h/d?sslmode=disable&port=1", "cockroachdb"},
		{"postgresql://u@h/d?sslmode=disable&profile=yugabytedb",
		 "postgresql://u@h/d?sslmode=disable", "yugabytedb"},
		{"postgresql://u@h/profile=x?application_name=profile=y",
		 "postgresql://u@h/profile=x?application_name=profile=y", NULL},
		{"", "", NULL},
	};
	struct arena *arena = arena_new(0);
	struct err err = err_in(arena);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct profile *profile = profile_default();
		char url[200];

		snprintf(url, sizeof(url), "%s", rows[i].url);
		CHECK_INT(profile_of_url(url, &profile, &err), OK);
		CHECK_STR(str_of(url), rows[i].rest);
		CHECK(profile == (rows[i].name ? named(rows[i].name) : NULL));
	}
	const struct profile *profile;
	char url[] = "postgresql://h/d?profile=oracle&port=1";
	CHECK_INT(profile_of_url(url, &profile, &err), ERR_INTERNAL);
	CHECK(str_contains(err.message, STR("oracle")));
	arena_free(arena);
}

/* What a profile's database does not take, or takes in another sense. `profile` NULL: none may have
 * it. */
static const struct {
	const char *profile, *text;
} forbidden[] = {
	{NULL, "LISTEN"},
	{NULL, "NOTIFY"},
	{NULL, "advisory"},
	{NULL, "nextval"},
	{NULL, "COPY "},
	{NULL, "TRUNCATE"},
	{NULL, "SAVEPOINT"},
	{NULL, "PREPARE"},
	{NULL, "TEMP"},
	{NULL, "CURSOR"},
	{NULL, "xmin"},
	{NULL, "ctid"},
	{NULL, "COLLATE"},
	{NULL, "now()"},
	/* a setting that outlives the transaction goes to a connection that the next one need not
	   meet */
	{"pooled", "false)"},
	/* READ COMMITTED is so in name only unless the cluster is set up for it; rows that are
	   locked are skipped at lower levels only */
	{"yugabytedb", "READ COMMITTED"},
	{"yugabytedb", "SKIP LOCKED"},
	{"yugabytedb", "plan_cache_mode"},
	{"yugabytedb", "enable_"},
	{"yugabytedb", "PRIMARY KEY (ks, k)"},
	{"cockroachdb", "READ COMMITTED"},
	{"cockroachdb", "REPEATABLE READ"},
	{"cockroachdb", "SKIP LOCKED"},
	{"cockroachdb", "int8send"},
	{"cockroachdb", "overlay"},
	{"cockroachdb", "bit(64)"},
	{"cockroachdb", "plan_cache_mode"},
	{"cockroachdb", "enable_seqscan"},
	{"cockroachdb", "jit"},
	{"cockroachdb", "bytea_output"},
};

/* Statements that a profile prepares or sends: not the settings of those that keep theirs. */
static bool is_used(const struct profile *profile, enum statement statement)
{
	return !profile->session ||
	       (statement != STATEMENT_SETTINGS && statement != STATEMENT_SETTINGS_ASYNCHRONOUS);
}

static void check_text(const struct profile *profile, const char *name, const char *text)
{
	for (size_t i = 0; i < sizeof(forbidden) / sizeof(forbidden[0]); i++) {
		if (forbidden[i].profile && strcmp(forbidden[i].profile, profile->name) != 0)
			continue;
		if (str_contains(str_of(text), str_of(forbidden[i].text)))
			fprintf(stderr, "%s: %s has %s\n", profile->name, name, forbidden[i].text);
		CHECK(!str_contains(str_of(text), str_of(forbidden[i].text)));
	}
}

/* Quotes and parentheses are in pairs, so that no text was cut in two where macros put it together.
 */
static bool is_whole(const char *text)
{
	int depth = 0, quotes = 0;

	for (; *text && depth >= 0; text++) {
		quotes += *text == '\'';
		if (quotes % 2 == 0)
			depth += (*text == '(') - (*text == ')');
	}
	return depth == 0 && quotes % 2 == 0;
}

TEST(no_profile_has_what_its_database_lacks)
{
	for (size_t i = 0; profile_at(i); i++) {
		const struct profile *profile = profile_at(i);

		for (unsigned s = 0; s < STATEMENT_COUNT; s++) {
			if (is_used(profile, s))
				check_text(profile, profile_name(s), profile_sql(profile, s));
			CHECK(is_whole(profile_sql(profile, s)));
		}
		check_text(profile, "make", profile->make);
		check_text(profile, "session", profile->session ? profile->session : "");
	}
}

/* The values of a statement are the same in each profile: the code that sends them knows of none.
 */
TEST(variants_take_the_same_values)
{
	for (size_t i = 0; profile_at(i); i++) {
		for (unsigned s = 0; s < STATEMENT_COUNT; s++) {
			for (char digit = '1'; digit <= '9'; digit++) {
				const char value[] = {'$', digit, '\0'};

				CHECK(str_contains(str_of(profile_sql(profile_default(), s)),
						   str_of(value)) ==
				      str_contains(str_of(profile_sql(profile_at(i), s)),
						   str_of(value)));
			}
		}
	}
}

TEST_MAIN(TEST_CASE(a_server_is_known_by_its_version), TEST_CASE(a_url_may_name_one),
	  TEST_CASE(no_profile_has_what_its_database_lacks),
	  TEST_CASE(variants_take_the_same_values))
