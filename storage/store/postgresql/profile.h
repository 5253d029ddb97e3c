/*
 * profile - what differs between the databases that speak PostgreSQL's protocol: a row of
 * profiles.def each, and of variants.def the statements that one takes in another form. The
 * server's version() says which one it is; a proxy that lends connections to each transaction is
 * named by the URL.
 */
#ifndef DYNALITH_STORAGE_PROFILE_H
#define DYNALITH_STORAGE_PROFILE_H

#include "core/err.h"

enum statement {
#define STATEMENT(id, sql) STATEMENT_##id,
#include "storage/store/postgresql/statements.def"
#undef STATEMENT
	STATEMENT_COUNT
};

struct profile {
	const char *name;    /* in the URL: profile=NAME */
	const char *product; /* what version() has in it; NULL: it cannot be seen there */
	/* settings of a connection, as one command; NULL: connections keep none, so each
	 * transaction begins with SETTINGS, and no statement has a name */
	const char *session;
	bool is_pipeline_one; /* statements up to a sync are one transaction, of one snapshot with
				 the session's settings */
	const char *make;    /* of the table, where it is missing */
};

/* The one that is meant where nothing says otherwise. */
const struct profile *profile_default(void);

/* By what the server says of itself. */
const struct profile *profile_of_version(struct str version);

/* i from 0 on; NULL behind the last. */
const struct profile *profile_at(size_t i);

/* Takes `profile=NAME` out of a URL, which libpq would refuse; *profile is NULL where it has none.
 * ERR_INTERNAL: nothing has that name. */
enum code profile_of_url(char *url, const struct profile **profile, struct err *err) WARN_UNUSED;

/* The name of a statement, by which it is prepared, and its text. */
const char *profile_name(enum statement statement);
const char *profile_sql(const struct profile *profile, enum statement statement);

#endif
