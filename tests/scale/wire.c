#include "tests/scale/wire.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/scale/database.h"
#include "tests/simulation/fiber.h"

struct wire_counts wire_counts;

struct pg_result {
	ExecStatusType status;
	struct pg_result *next;
	struct reply reply;
	struct arena *arena; /* of the pipeline; counts its results */
	size_t *left;
	char tag[16];
};

/* A statement under way. */
struct asked {
	enum statement statement;
	size_t n;
	struct str v[LINK_VALUES_MAX];
};

struct pipeline {
	struct pipeline *next;
	struct arena *arena;
	size_t n;
	struct asked *asked;
	int64_t at_ns; /* when it reaches the database; then, when its answers reach the client */
	bool is_done;
	PGresult **results;
	size_t taken;                /* of them and of the NULL behind each */
};

struct pg_conn {
	struct session *session;
	bool is_ending;
	struct pipeline *growing;
	struct pipeline *first, *last; /* those that the client has not read */
	struct pipeline *next_run;
};

static enum statement statement_of(const char *name)
{
	static const char *const names[STATEMENT_COUNT] = {
#define STATEMENT(id, sql) [STATEMENT_##id] = #id,
#include "storage/store/postgresql/statements.def"
#undef STATEMENT
	};

	for (unsigned i = 0; i < STATEMENT_COUNT; i++) {
		if (strcmp(names[i], name) == 0)
			return (enum statement)i;
	}
	abort();
}

static PGresult *new_result(struct arena *arena, ExecStatusType status)
{
	PGresult *result = ARENA_NEW(arena, struct pg_result);

	*result = (struct pg_result){.status = status, .arena = arena};
	return result;
}

static void run_pipeline(struct pg_conn *conn, struct pipeline *pipeline)
{
	bool has_failed = false;

	pipeline->results = ARENA_ARRAY(pipeline->arena, PGresult *, pipeline->n + 1);
	session_begin_pipeline(conn->session);
	for (size_t i = 0; i < pipeline->n; i++) {
		const struct asked *asked = &pipeline->asked[i];
		PGresult *result = pipeline->results[i] = new_result(
			pipeline->arena, has_failed ? PGRES_PIPELINE_ABORTED : PGRES_TUPLES_OK);

		if (has_failed)
			continue;
		wire_counts.statements[asked->statement]++;
		session_run(conn->session, asked->statement, asked->v, asked->n, pipeline->arena,
			    &result->reply);
		has_failed = result->reply.state != NULL;
		result->status = has_failed ? PGRES_FATAL_ERROR : PGRES_TUPLES_OK;
		if (has_failed && strcmp(result->reply.state, "0A000") == 0)
			fprintf(stderr,
				"scale: the simulated database does not know statement %d\n",
				(int)asked->statement);
	}
	session_end_pipeline(conn->session, has_failed);
	pipeline->results[pipeline->n] = new_result(pipeline->arena, PGRES_PIPELINE_SYNC);
	pipeline->at_ns =
		fiber_now_ns() + (database.is_timed ? database.profile.round_trip_ns / 2 : 0);
	pipeline->is_done = true;
	fiber_wake(pipeline);
}

/* The database's process of a connection. */
static void serve(void *context)
{
	struct pg_conn *conn = context;

	while (!conn->is_ending || conn->next_run) {
		struct pipeline *pipeline = conn->next_run;

		if (!pipeline) {
			fiber_wait(conn, FIBER_NEVER);
			continue;
		}
		resources_sleep(pipeline->at_ns - fiber_now_ns());
		run_pipeline(conn, pipeline);
		conn->next_run = pipeline->next;
	}
	session_free(conn->session);
	for (struct pipeline *pipeline = conn->first, *next; pipeline; pipeline = next) {
		next = pipeline->next;
		arena_free(pipeline->arena);
	}
	if (conn->growing)
		arena_free(conn->growing->arena);
	free(conn);
}

static PGconn *sim_PQconnectdbParams(const char *const *keywords, const char *const *values,
				     int expand)
{
	(void)keywords, (void)values, (void)expand;
	PGconn *conn = arena_checked(calloc(1, sizeof(*conn)));
	conn->session = session_new();
	fiber_start(serve, conn);
	return conn;
}

static void sim_PQfinish(PGconn *conn)
{
	if (!conn)
		return;
	conn->is_ending = true;
	fiber_wake(conn);
}

static ConnStatusType sim_PQstatus(const PGconn *conn)
{
	(void)conn;
	return CONNECTION_OK;
}

/* Of the commands: the settings of a session, the table, its format. */
static PGresult *sim_PQexec(PGconn *conn, const char *sql)
{
	struct arena *arena = arena_new(0);
	PGresult *result = new_result(arena, PGRES_COMMAND_OK);

	(void)conn;
	result->left = ARENA_NEW(arena, size_t);
	*result->left = 1;
	if (strncmp(sql, "SELECT", 6) == 0) {
		result->status = PGRES_TUPLES_OK;
		result->reply =
			(struct reply){.rows = 1, .columns = 1, .v = ARENA_NEW(arena, struct str)};
		result->reply.v[0] = STR("1");
	}
	return result;
}

static int sim_PQenterPipelineMode(PGconn *conn)
{
	(void)conn;
	return 1;
}

static struct pipeline *growing(PGconn *conn)
{
	if (conn->growing)
		return conn->growing;
	struct arena *arena = arena_new(0);
	conn->growing = ARENA_NEW(arena, struct pipeline);
	*conn->growing = (struct pipeline){.arena = arena};
	return conn->growing;
}

static int sim_PQsendQueryPrepared(PGconn *conn, const char *name, int n, const char *const *values,
				   const int *lengths, const int *formats, int format)
{
	struct pipeline *pipeline = growing(conn);

	(void)formats, (void)format;
	pipeline->asked =
		arena_room(pipeline->arena, pipeline->asked, pipeline->n, sizeof(*pipeline->asked));
	struct asked *asked = &pipeline->asked[pipeline->n++];
	*asked = (struct asked){statement_of(name), (size_t)n, {STR_ABSENT}};
	for (int i = 0; i < n; i++)
		asked->v[i] = values[i] ? str_copy(pipeline->arena,
						   (struct str){values[i], (size_t)lengths[i]})
					: STR_ABSENT;
	return 1;
}

/* Of profiles that this database is not. */
static int sim_PQsendQueryParams(PGconn *conn, const char *sql, int n, const Oid *types,
				 const char *const *values, const int *lengths, const int *formats,
				 int format)
{
	(void)conn, (void)sql, (void)n, (void)types, (void)values, (void)lengths, (void)formats,
		(void)format;
	return 0;
}

/* Nothing to prepare: it is answered as nothing that is done. */
static int sim_PQsendPrepare(PGconn *conn, const char *name, const char *sql, int n,
			     const Oid *types)
{
	(void)conn, (void)name, (void)sql, (void)n, (void)types;
	return 0;
}

static int sim_PQpipelineSync(PGconn *conn)
{
	struct pipeline *pipeline = growing(conn);

	conn->growing = NULL;
	pipeline->at_ns =
		fiber_now_ns() + (database.is_timed ? database.profile.round_trip_ns / 2 : 0);
	if (conn->last)
		conn->last->next = pipeline;
	else
		conn->first = pipeline;
	conn->last = pipeline;
	if (!conn->next_run)
		conn->next_run = pipeline;
	wire_counts.pipelines++;
	fiber_wake(conn);
	return 1;
}

static int sim_PQisBusy(PGconn *conn)
{
	(void)conn;
	return 0;
}

static PGresult *sim_PQgetResult(PGconn *conn)
{
	struct pipeline *pipeline = conn->first;

	if (!pipeline)
		return NULL;
	while (!pipeline->is_done)
		fiber_wait(pipeline, FIBER_NEVER);
	resources_sleep(pipeline->at_ns - fiber_now_ns());
	size_t at = pipeline->taken++;
	if (at % 2 == 1)
		return NULL;
	PGresult *result = pipeline->results[at / 2];
	if (at / 2 == 0) {
		result->left = ARENA_NEW(pipeline->arena, size_t);
		*result->left = pipeline->n + 1;
	}
	result->left = pipeline->results[0]->left;
	if (at / 2 == pipeline->n) {
		conn->first = pipeline->next;
		conn->last = conn->first ? conn->last : NULL;
	}
	return result;
}

/* The memory of a pipeline goes with its last result. */
static void sim_PQclear(PGresult *result)
{
	if (result && --*result->left == 0)
		arena_free(result->arena);
}

static ExecStatusType sim_PQresultStatus(const PGresult *result)
{
	return result->status;
}

static char *sim_PQresultErrorField(const PGresult *result, int field)
{
	static char error[] = "ERROR", refused[] = "refused by the simulated database";
	const void *state = result->reply.state;

	return !state                                   ? NULL
	       : field == PG_DIAG_SQLSTATE              ? (char *)(uintptr_t)state
	       : field == PG_DIAG_SEVERITY_NONLOCALIZED ? error
							: refused;
}

static char *sim_PQcmdStatus(PGresult *result)
{
	snprintf(result->tag, sizeof(result->tag), "%s",
		 result->reply.tag ? result->reply.tag : "");
	return result->tag;
}

static char *sim_PQerrorMessage(const PGconn *conn)
{
	static char none[] = "";

	(void)conn;
	return none;
}

static const struct str *cell(const PGresult *result, int row, int column)
{
	return &result->reply.v[(unsigned)row * result->reply.columns + (unsigned)column];
}

static int sim_PQntuples(const PGresult *result)
{
	return (int)result->reply.rows;
}

static int sim_PQgetisnull(const PGresult *result, int row, int column)
{
	return !str_is_set(*cell(result, row, column));
}

static int sim_PQgetlength(const PGresult *result, int row, int column)
{
	return (int)cell(result, row, column)->n;
}

static char *sim_PQgetvalue(const PGresult *result, int row, int column)
{
	return (char *)(uintptr_t)cell(result, row, column)->p;
}

static int sim_PQsocket(const PGconn *conn)
{
	(void)conn;
	return -1; /* poll() has nothing to say of it */
}

static int sim_PQconsumeInput(PGconn *conn)
{
	(void)conn;
	return 1;
}

static int sim_PQserverVersion(const PGconn *conn)
{
	(void)conn;
	return 150000;
}

static PQnoticeProcessor sim_PQsetNoticeProcessor(PGconn *conn, PQnoticeProcessor processor,
						  void *context)
{
	(void)conn, (void)processor, (void)context;
	return NULL;
}

static PQconninfoOption *sim_PQconninfo(PGconn *conn)
{
	(void)conn;
	return NULL;
}

static void sim_PQconninfoFree(PQconninfoOption *options)
{
	(void)options;
}

enum code __wrap_libpq_load(struct libpq *pq, struct err *err);
enum code __wrap_libpq_load(struct libpq *pq, struct err *err)
{
	(void)err;
	*pq = (struct libpq){
#define CALL(name) .name = sim_##name,
#include "storage/store/postgresql/libpq.def"
#undef CALL
	};
	return OK;
}
