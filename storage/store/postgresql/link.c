#include "storage/store/postgresql/link.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "storage/monotonic.h"
#include "storage/store/row.h"
#include "storage/store/store_messages.h"

/* What the first letters of the database's codes mean here; the longest that fits comes first.
 * Source: PostgreSQL, Appendix A. */
static const struct meaning {
	const char *state;
	enum code code;
	enum store_failure failure;
} meanings[] = {
	{"40003", ERR_STORE_UNKNOWN, STORE_FAILURE_UNKNOWN}, /* statement completion unknown */
	{"40", ERR_CONFLICT, STORE_FAILURE_CONFLICT},        /* serialization failure, deadlock */
	{"23505", ERR_CONFLICT,
	 STORE_FAILURE_CONFLICT}, /* a row that was read as absent is there */
	{"22012", ERR_CONFLICT, STORE_FAILURE_CONFLICT}, /* RANGE_CHECK of statements.def */
	{"53100", ERR_STORE_FULL, STORE_FAILURE_FULL},
	{"53", ERR_STORE_UNAVAILABLE,
	 STORE_FAILURE_RESOURCES}, /* too many connections, no memory */
	{"08", ERR_STORE_UNAVAILABLE, STORE_FAILURE_CONNECTION},
	{"57014", ERR_STORE_UNAVAILABLE, STORE_FAILURE_TIMEOUT}, /* cancelled */
	{"57", ERR_STORE_UNAVAILABLE, STORE_FAILURE_CONNECTION}, /* shut down, starting up */
	{"55P03", ERR_STORE_UNAVAILABLE, STORE_FAILURE_LOCK},    /* waited too long for a lock */
	{"55", ERR_STORE_UNAVAILABLE,
	 STORE_FAILURE_OTHER}, /* not in the state that it needs: in use, being changed */
	{"72", ERR_STORE_UNAVAILABLE, STORE_FAILURE_OTHER},      /* the snapshot is too old */
	{"25P04", ERR_STORE_UNAVAILABLE, STORE_FAILURE_TIMEOUT}, /* the transaction took too long */
	{"25P03", ERR_STORE_UNAVAILABLE,
	 STORE_FAILURE_TIMEOUT}, /* idle for too long in a transaction */
	{"25P02", ERR_STORE_UNAVAILABLE, STORE_FAILURE_OTHER},
	{"25006", ERR_STORE_UNAVAILABLE,
	 STORE_FAILURE_READ_ONLY}, /* a standby, or one that was the primary */
	{"42501", ERR_STORE_UNAVAILABLE,
	 STORE_FAILURE_RIGHTS}, /* whoever took the rights, or the table, can give them back */
	{"42P01", ERR_STORE_UNAVAILABLE, STORE_FAILURE_RIGHTS},
	{"3D000", ERR_STORE_UNAVAILABLE, STORE_FAILURE_RIGHTS},
	{"3F000", ERR_STORE_UNAVAILABLE, STORE_FAILURE_RIGHTS},
	{"28", ERR_STORE_UNAVAILABLE, STORE_FAILURE_RIGHTS}, /* the role may not log in */
	{"26000", ERR_STORE_UNAVAILABLE,
	 STORE_FAILURE_OTHER},                              /* its prepared statements are gone */
	{"58", ERR_STORE_UNAVAILABLE, STORE_FAILURE_OTHER}, /* the database's own disk fails */
	{"", ERR_INTERNAL, STORE_FAILURE_OTHER},
};

static const struct meaning *meaning_of(const char *state)
{
	const struct meaning *meaning = meanings;

	while (strncmp(state, meaning->state, strlen(meaning->state)) != 0)
		meaning++;
	return meaning;
}

/* Errors after which another connection may do better. */
static bool is_fatal_to_link(const struct link *link, enum code code)
{
	static const char *const states[] = {"25006", "26000", "08"};

	for (size_t i = 0; code != OK && i < sizeof(states) / sizeof(states[0]); i++) {
		if (strncmp(link->state, states[i], strlen(states[i])) == 0)
			return true;
	}
	return false;
}

/* Keeps the words for the operator, in one line. */
static void note_words(struct link *link, const char *words)
{
	size_t n = 0;

	for (const char *p = words ? words : ""; *p && n < sizeof(link->problem) - 1; p++) {
		char c = *p == '\n' || *p == '\t' ? ' ' : *p;

		if (c != ' ' || (n > 0 && link->problem[n - 1] != ' '))
			link->problem[n++] = c;
	}
	while (n > 0 && link->problem[n - 1] == ' ')
		n--;
	link->problem[n] = '\0';
}

void link_count(struct link *link, enum store_failure failure)
{
	atomic_fetch_add_explicit(&link->counts->failures[failure], 1, memory_order_relaxed);
}

/* Clients get the words only where the store itself is at fault. */
static enum code fail(struct link *link, enum code code, const char *words, struct err *err)
{
	note_words(link, words);
	return code == ERR_INTERNAL ? err_set(err, MSG_STORE_FAILED, link->problem)
				    : err_default(err, code);
}

/* By the database's words, or by libpq's where it has none: the link broke then. */
static enum code fail_as(struct link *link, const PGresult *result, struct err *err)
{
	const char *state = link->pq->PQresultErrorField(result, PG_DIAG_SQLSTATE);

	snprintf(link->state, sizeof(link->state), "%s", state ? state : "");
	link_count(link, state ? meaning_of(state)->failure : STORE_FAILURE_CONNECTION);
	if (!state)
		return fail(link, ERR_STORE_UNAVAILABLE, link->pq->PQerrorMessage(link->conn), err);
	return fail(link, meaning_of(state)->code,
		    link->pq->PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY), err);
}

static void forget_results(struct link *link)
{
	for (size_t i = 0; i < link->result_count; i++)
		link->pq->PQclear(link->results[i]);
	link->result_count = 0;
	link->is_refused = link->is_fatal = false;
}

void link_close(struct link *link)
{
	forget_results(link);
	if (link->conn)
		link->pq->PQfinish(link->conn);
	link->conn = NULL;
	link->sent = link->unread = link->marked = 0;
}

void link_free(struct link *link)
{
	link_close(link);
	free(link->results);
	link->results = NULL;
}

static void be_silent(void *context, const char *message)
{
	(void)context, (void)message;
}

/* An element of a list with commas, or the only one. False: there are no more. */
static bool list_element(const char *list, size_t i, char *word)
{
	const char *p = list;

	for (size_t passed = 0; passed < i; passed++) {
		p = strchr(p, ',');
		if (!p)
			break;
		p++;
	}
	bool is_there = p != NULL;
	p = is_there ? p : list;
	snprintf(word, LINK_WORD_SIZE, "%.*s", (int)strcspn(p, ","), p);
	return is_there;
}

/* The i-th host of what a connection was made by. */
static bool host_at(const struct libpq *pq, PGconn *conn, size_t i, struct link_host *host)
{
	PQconninfoOption *options = pq->PQconninfo(conn);
	bool is_there = false;

	*host = (struct link_host){.host = ""};
	for (const PQconninfoOption *option = options; option && option->keyword; option++) {
		if (!option->val || !*option->val)
			continue;
		if (strcmp(option->keyword, "host") == 0)
			is_there = list_element(option->val, i, host->host) || is_there;
		else if (strcmp(option->keyword, "hostaddr") == 0)
			is_there = list_element(option->val, i, host->address) || is_there;
		else if (strcmp(option->keyword, "port") == 0)
			(void)list_element(option->val, i, host->port);
	}
	pq->PQconninfoFree(options);
	return is_there;
}

/* `host` NULL: all that the URL names, in turn. */
static PGconn *connect_to(const struct link *link, const struct link_options *options,
			  const struct link_host *host)
{
	/* what stands before "dbname", the URL, may be set otherwise in it; what stands behind it
	 * counts */
	const char *keywords[13] = {"fallback_application_name", "connect_timeout",
				    "keepalives_idle",           "keepalives_interval",
				    "keepalives_count",          "tcp_user_timeout",
				    "target_session_attrs",      "dbname"};
	const char *values[13] = {
		"dynalith",  options->standby ? "2" : "5", "10", "5", "3", "15000", "read-write",
		options->url};
	size_t n = 8;

	if (host) {
		const struct {
			const char *keyword, *value;
		} own[] = {{"host", host->host},
			   {"hostaddr", host->address},
			   {"port", host->port},
			   {"target_session_attrs", "standby"}};

		for (size_t i = 0; i < sizeof(own) / sizeof(own[0]) - !options->standby; i++) {
			keywords[n] = own[i].keyword;
			values[n++] = own[i].value;
		}
	}
	PGconn *conn = link->pq->PQconnectdbParams(keywords, values, 1);
	if (conn)
		link->pq->PQsetNoticeProcessor(conn, be_silent, NULL);
	atomic_fetch_add(&link->counts->waits, 1);
	return conn;
}

/*
 * libpq goes on to the next host where one refuses the connection, but not where one takes it and
 * closes it, as a proxy does before a database that is gone. So the hosts behind the first are
 * tried once more, one by one.
 */
static void try_others(struct link *link, const struct link_options *options)
{
	struct link_host host;

	for (size_t i = 1;
	     i < LINK_HOSTS_MAX && link->conn && link->pq->PQstatus(link->conn) != CONNECTION_OK &&
	     host_at(link->pq, link->conn, i, &host);
	     i++) {
		PGconn *other = connect_to(link, options, &host);

		if (other && link->pq->PQstatus(other) == CONNECTION_OK) {
			link->pq->PQfinish(link->conn);
			link->conn = other;
		} else {
			link->pq->PQfinish(
				other); /* of the first, the reason is kept, and the list */
		}
	}
}

size_t link_hosts(const struct link *link, struct link_host hosts[LINK_HOSTS_MAX])
{
	size_t n = 0;

	while (n < LINK_HOSTS_MAX && host_at(link->pq, link->conn, n, &hosts[n]))
		n++;
	return n;
}

/* Of a connection just made. */
static enum code begin_session(struct link *link, const struct link_options *options,
			       struct err *err)
{
	if (link->pq->PQstatus(link->conn) != CONNECTION_OK) {
		link_count(link, STORE_FAILURE_CONNECTION);
		link->state[0] = '\0';
		return fail(link, ERR_STORE_UNAVAILABLE, link->pq->PQerrorMessage(link->conn), err);
	}
	if (!options->profile || !options->profile->session)
		return OK;
	enum code code = link_command(link, options->profile->session, NULL, err);
	if (code != OK || !options->is_asynchronous)
		return code;
	return link_command(link, "SET synchronous_commit = off", NULL, err);
}

enum code link_connect(struct link *link, const struct link_options *options, struct err *err)
{
	link_close(link);
	link->options = options;
	link->conn = connect_to(link, options, options->standby);
	if (!options->standby)
		try_others(link, options);
	if (!link->conn)
		return err_set(err, MSG_STORE_FAILED, "out of memory");
	enum code code = begin_session(link, options, err);
	if (code != OK)
		link_close(link);
	return code;
}

enum code link_command(struct link *link, const char *sql, struct str *text, struct err *err)
{
	PGresult *result = link->pq->PQexec(link->conn, sql);
	ExecStatusType status = link->pq->PQresultStatus(result);
	enum code code = OK;

	atomic_fetch_add(&link->counts->waits, 1);
	if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
		code = fail_as(link, result, err);
	else if (text)
		*text = status == PGRES_TUPLES_OK && link->pq->PQntuples(result) > 0
				? str_copy(err->arena, str_of(link->pq->PQgetvalue(result, 0, 0)))
				: STR_ABSENT;
	link->pq->PQclear(result);
	return code;
}

enum code link_open(struct link *link, const struct link_options *options, struct err *err)
{
	enum code code = link_connect(link, options, err);

	if (code != OK)
		return code;
	link->pq->PQenterPipelineMode(link->conn);
	if (!options->profile->session)
		return OK;
	for (unsigned i = 0; i < STATEMENT_COUNT; i++)
		link->sent += (size_t)link->pq->PQsendPrepare(
			link->conn, profile_name(i), profile_sql(options->profile, i), 0, NULL);
	code = link_wait(link, err);
	if (code != OK)
		link_close(link);
	return code;
}

void link_send_settings(struct link *link)
{
	if (!link->options->profile->session)
		link_send(link,
			  link->options->is_asynchronous ? STATEMENT_SETTINGS_ASYNCHRONOUS
							 : STATEMENT_SETTINGS,
			  NULL, 0);
}

void link_send(struct link *link, enum statement statement, const struct str *values, size_t n)
{
	const char *bytes[LINK_VALUES_MAX];
	int lengths[LINK_VALUES_MAX], formats[LINK_VALUES_MAX];

	if (link->sent == 0)
		forget_results(link);
	if (!link->conn)
		return;
	for (size_t i = 0; i < n; i++) {
		bytes[i] = values[i].p;
		lengths[i] = (int)values[i].n;
		formats[i] = 1;
	}
	link->sent++;
	const struct profile *profile = link->options->profile;
	int is_sent =
		profile->session
			? link->pq->PQsendQueryPrepared(link->conn, profile_name(statement), (int)n,
							bytes, lengths, formats, 1)
			: link->pq->PQsendQueryParams(link->conn, profile_sql(profile, statement),
						      (int)n, NULL, bytes, lengths, formats, 1);
	if (!is_sent) {
		note_words(link, link->pq->PQerrorMessage(link->conn));
		link->pq->PQfinish(
			link->conn); /* there will be no answer to it: link_wait() says so */
		link->conn = NULL;
	}
	atomic_fetch_add_explicit(&link->counts->statements, 1, memory_order_relaxed);
}

/*
 * Lets others run before it sleeps: where the database is near and the machine busy, the answer is
 * there then, and to sleep and be woken costs more than all else of a short read. False: the link
 * broke.
 */
static bool look_once(const struct link *link)
{
	sched_yield();
	return link->pq->PQconsumeInput(link->conn);
}

/* The next answer; NULL where libpq has none, or the time is over: *is_lost. */
static PGresult *next_result(struct link *link, int64_t until_ms, bool *is_lost)
{
	if (link->pq->PQisBusy(link->conn))
		*is_lost = !look_once(link);
	while (!*is_lost && link->pq->PQisBusy(link->conn)) {
		struct pollfd wait = {.fd = link->pq->PQsocket(link->conn), .events = POLLIN};
		int64_t left = until_ms - monotonic_ms();
		int n = left > 0 ? poll(&wait, 1, (int)left) : 0;

		if ((n < 0 && errno == EINTR))
			continue;
		if (n <= 0 || !link->pq->PQconsumeInput(link->conn)) {
			*is_lost = true;
			break;
		}
	}
	if (*is_lost && link->pq->PQisBusy(link->conn))
		return NULL;
	return link->pq->PQgetResult(link->conn);
}

static void keep(struct link *link, PGresult *result)
{
	if (link->result_count == link->result_capacity) {
		link->result_capacity = link->result_capacity ? link->result_capacity * 2 : 16;
		link->results = arena_checked(
			realloc(link->results, link->result_capacity * sizeof(*link->results)));
	}
	link->results[link->result_count++] = result;
}

static bool is_fine(const struct link *link, const PGresult *result)
{
	ExecStatusType status = link->pq->PQresultStatus(result);

	return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

/* The answers of a pipeline of `n` statements, to the sync behind it; false where the link broke.
 * The first that failed is the last kept. */
static bool read_pipeline(struct link *link, size_t n, bool is_kept)
{
	int64_t until_ms = monotonic_ms() + link->options->answer_ms;
	bool is_lost = false, has_failed = false;

	for (size_t i = 0; i <= n && !is_lost; i++) {
		PGresult *result = next_result(link, until_ms, &is_lost);

		bool is_sync = result && link->pq->PQresultStatus(result) == PGRES_PIPELINE_SYNC;
		if (!result || is_sync != (i == n)) {
			link->pq->PQclear(result);
			return false;
		}
		if (i == n) {
			link->pq->PQclear(result);
			break;
		}
		if (is_kept && !has_failed)
			keep(link, result);
		has_failed = has_failed || !is_fine(link, result);
		if (!is_kept || link->results[link->result_count - 1] != result)
			link->pq->PQclear(result);
		is_lost = is_lost || link->pq->PQstatus(link->conn) != CONNECTION_OK;
		result =
			is_lost ? NULL
				: next_result(link, until_ms, &is_lost); /* what ends the answer to
									    one statement is NULL */
		link->pq->PQclear(result);
	}
	return !is_lost;
}

static bool read_left(struct link *link)
{
	bool is_open = true;

	for (size_t i = 0; i < link->unread && is_open; i++)
		is_open = read_pipeline(link, link->left[i], false);
	link->unread = 0;
	return is_open;
}

/* What the last answer that was kept says, which failed. */
static enum code refused_by_server(struct link *link, struct err *err)
{
	const PGresult *result = link->results[link->result_count - 1];
	const char *severity = link->pq->PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
	enum code code = fail_as(link, result, err);

	/* class 08 are words of a proxy: its connection to the database broke, after whatever was
	 * sent */
	link->is_refused = link->state[0] != '\0' && strncmp(link->state, "08", 2) != 0;
	link->is_fatal = severity && strcmp(severity, "ERROR") != 0;
	return code;
}

void link_send_mark(struct link *link, struct str key)
{
	struct link_number ks;
	const struct str values[] = {link_number(&ks, LINK_MARKS), key};

	link_send(link, STATEMENT_GET, values, 2);
	link->marked = link->sent;
}

/* The number in the first row of a statement's answer. */
static void take_mark_number(struct link *link)
{
	size_t at = link->marked - 1;
	struct str mark = at < link->result_count && link_rows(link, at) > 0
				  ? link_column(link, at, 0, 0)
				  : STR_ABSENT;

	struct row_reader row = row_read(
		mark); /* the number; behind it stands the time, which only the clean-up reads */

	link->mark = row_u64(&row);
	link->marked = 0;
}

enum code link_wait(struct link *link, struct err *err)
{
	size_t n = link->sent;
	enum code code = OK;

	if (!link->conn)
		return err_default(err, ERR_STORE_UNAVAILABLE);
	atomic_fetch_add_explicit(&link->counts->waits, 1, memory_order_relaxed);
	link->waits++;
	link->sent = 0;
	link->pq->PQpipelineSync(link->conn); /* sends it all */
	bool is_open = read_left(link) && read_pipeline(link, n, true);
	if (link->result_count > 0 && !is_fine(link, link->results[link->result_count - 1]))
		code = refused_by_server(link, err);
	if (link->marked > 0)
		take_mark_number(link);
	if (!is_open && code == OK) {
		link_count(link, STORE_FAILURE_CONNECTION);
		link->state[0] = '\0';
		code = fail(link, ERR_STORE_UNAVAILABLE, link->pq->PQerrorMessage(link->conn), err);
	}
	if (!is_open || link->is_fatal || is_fatal_to_link(link, code)) {
		link->pq->PQfinish(link->conn); /* results stay, for is_refused */
		link->conn = NULL;
	}
	return code;
}

void link_leave(struct link *link)
{
	if (!link->conn)
		return;
	if (link->unread == sizeof(link->left) / sizeof(link->left[0]) && !read_left(link)) {
		link_close(link);
		return;
	}
	link->pq->PQpipelineSync(link->conn);
	link->left[link->unread++] = link->sent;
	link->sent = link->marked = 0;
}

bool link_is_broken(const struct link *link)
{
	return !link->conn || link->pq->PQstatus(link->conn) != CONNECTION_OK;
}

bool link_is_alive(struct link *link)
{
	if (!link->conn)
		return false;
	struct pollfd look = {.fd = link->pq->PQsocket(link->conn), .events = POLLIN};
	/* what there is to read may be what was left, or the end */
	bool is_alive =
		poll(&look, 1, 0) == 0 || (read_left(link) && link->pq->PQconsumeInput(link->conn));
	return is_alive && link->pq->PQstatus(link->conn) == CONNECTION_OK;
}

int link_rows(const struct link *link, size_t result)
{
	return link->pq->PQntuples(link->results[result]);
}

struct str link_column(const struct link *link, size_t result, int row, int column)
{
	const PGresult *from = link->results[result];

	if (link->pq->PQgetisnull(from, row, column))
		return STR_ABSENT;
	return (struct str){link->pq->PQgetvalue(from, row, column),
			    (size_t)link->pq->PQgetlength(from, row, column)};
}

uint64_t link_bigint(const struct link *link, size_t result, int row, int column)
{
	uint64_t number;

	return row_is_number(link_column(link, result, row, column), &number) ? number : 0;
}
