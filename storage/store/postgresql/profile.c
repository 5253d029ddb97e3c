#include "storage/store/postgresql/profile.h"

#include <string.h>

#include "storage/store/postgresql/long_key.h"
#include "storage/store/store_messages.h"

#define PARAMETER "profile="

static const struct statement_text {
	const char *name, *sql;
} statements[STATEMENT_COUNT] = {
#define STATEMENT(id, sql) [STATEMENT_##id] = {#id, sql},
#include "storage/store/postgresql/statements.def"
#undef STATEMENT
};

enum profile_id {
#define PROFILE(id, name, product, session, is_pipeline_one, key) PROFILE_##id,
#include "storage/store/postgresql/profiles.def"
#undef PROFILE
	PROFILE_COUNT
};

/* The marks of the store go with the table: its format, and the row that transactions lock which
 * read ranges and write. */
static const struct profile profiles[PROFILE_COUNT] = {
#define PROFILE(id, name, product, session, is_pipeline_one, key)                                  \
	[PROFILE_##id] = {name, product, session, is_pipeline_one,                                 \
			  "CREATE TABLE IF NOT EXISTS dynalith_kv (ks bigint NOT NULL, k bytea "   \
			  "NOT NULL, t bytea, v bytea NOT NULL, PRIMARY KEY (" key ")); "          \
			  "INSERT INTO dynalith_kv (ks, k, v) VALUES (-1, '\\x00', '1'), (-1, "    \
			  "'\\x01', '') ON CONFLICT (ks, k) DO NOTHING"},
#include "storage/store/postgresql/profiles.def"
#undef PROFILE
};

static const char *const variants[PROFILE_COUNT][STATEMENT_COUNT] = {
#define VARIANT(profile, statement, sql) [PROFILE_##profile][STATEMENT_##statement] = sql,
#include "storage/store/postgresql/variants.def"
#undef VARIANT
};

const struct profile *profile_default(void)
{
	return &profiles[PROFILE_POSTGRESQL];
}

const struct profile *profile_at(size_t i)
{
	return i < PROFILE_COUNT ? &profiles[i] : NULL;
}

/* The last that fits: an engine's own name comes behind PostgreSQL's. */
const struct profile *profile_of_version(struct str version)
{
	const struct profile *found = profile_default();

	for (size_t i = 0; i < PROFILE_COUNT; i++) {
		if (profiles[i].product && str_contains(version, str_of(profiles[i].product)))
			found = &profiles[i];
	}
	return found;
}

static const struct profile *find(struct str name)
{
	for (size_t i = 0; i < PROFILE_COUNT; i++) {
		if (str_eq(name, str_of(profiles[i].name)))
			return &profiles[i];
	}
	return NULL;
}

enum code profile_of_url(char *url, const struct profile **profile, struct err *err)
{
	char *at = strchr(url, '?');

	*profile = NULL;
	while (at && strncmp(at + 1, PARAMETER, strlen(PARAMETER)) != 0)
		at = strchr(at + 1, '&');
	if (!at)
		return OK;
	struct str name = {at + 1 + strlen(PARAMETER), strcspn(at + 1 + strlen(PARAMETER), "&")};
	*profile = find(name);
	if (!*profile)
		return err_set(err, MSG_STORE_PROFILE, STR_ARG(name));
	const char *behind = at + 1 + strlen(PARAMETER) + name.n;
	if (*at == '?' && *behind == '&') { /* the next is the first now */
		at++;
		behind++;
	}
	memmove(at, behind, strlen(behind) + 1);
	return OK;
}

const char *profile_name(enum statement statement)
{
	return statements[statement].name;
}

const char *profile_sql(const struct profile *profile, enum statement statement)
{
	const char *own = variants[profile - profiles][statement];

	return own ? own : statements[statement].sql;
}
