/*
 * Jobs: rows that say what is to be done; pieces by steps; what passes is tried again, what does
 * not fails the job; two processes; namespaces.
 */
#include "storage/job/job_run.h"
#include "storage/pace.h"
#include "storage/state/checkpoint.h"
#include "storage/state/reset.h"
#include "storage/state/snapshot.h"
#include "storage/upkeep/lease.h"
#include "tests/unit/storage/data_fixture.h"
#include "tests/unit/storage/optimistic_store.h"

#define OTHER_NS ((struct ns){STR("111111111111"), STR("us-east-1")})

struct counted {
	int64_t rows;
};

static const struct field counted_fields[] = {RECORD_FIELD(counted, rows, "rows", FIELD_INT)};
static const struct record counted_record = RECORD(counted, counted_fields);

/* A job that counts to three, a step each. What a test wants of the next step is in the kind's
 * context. */
struct script {
	enum code code;   /* what the step returns */
	bool breaks_row;  /* someone else puts the row while the step runs */
	int64_t due_ms;   /* of the step after the first */
	unsigned steps, failures;
	unsigned ends_crowd_at; /* the step in which requests end; 0: none */
};

static enum code touch(struct job_txn *txn, void *context, struct err *err)
{
	const struct job *which = context;
	struct job job;
	enum code code = job_get(txn, which->kind, which->id, &job, err);

	return code == OK ? job_put(txn, &job, 1, err) : code;
}

static enum code step_count(struct job_step *step, struct err *err)
{
	struct script *script = step->context;
	struct counted counted;
	struct job_txn txn;

	if (++script->steps == script->ends_crowd_at)
		pace_crowd(catalog_pace(step->catalog), false);
	if (script->code != OK)
		return err_default(err, script->code);
	CHECK(job_unpack(step->arena, &counted_record, step->job->progress, &counted));
	counted.rows++;
	step->job->progress = job_pack(step->arena, &counted_record, &counted);
	step->job->due_ms = script->due_ms;
	if (script->breaks_row) {
		script->breaks_row = false;
		CHECK_INT(job_write(step->catalog, step->job->ns, touch, step->job, err), OK);
	}
	if (counted.rows == 3)
		step->job->state = JOB_DONE;
	if (counted.rows % 2)
		return OK;
	enum code code = job_run_begin(step, &txn, err);
	return code == OK ? job_run_commit(step, &txn, err) : code;
}

static enum code count_failure(struct job_txn *txn, struct job *job, void *context, struct err *err)
{
	struct script *script = context;

	(void)txn;
	(void)job;
	(void)err;
	script->failures++;
	return OK;
}

static enum code add(struct job_txn *txn, void *context, struct err *err)
{
	return job_add(txn, context, err);
}

static enum code get(struct job_txn *txn, void *context, struct err *err)
{
	struct job *job = context;

	return job_get(txn, job->kind, job->id, job, err);
}

static enum code drop(struct job_txn *txn, void *context, struct err *err)
{
	return job_remove(txn, context, err);
}

static struct job job_of(const char *id)
{
	return (struct job){.ns = DATA_NS,
			    .kind = STR("count"),
			    .id = str_of(id),
			    .subject = STR("data"),
			    .created_ms = 1000};
}

static void start(struct data *data, struct job *job)
{
	CHECK_INT(job_write(data->catalog, DATA_NS, add, job, &data->err), OK);
}

static struct job seen(struct data *data, struct ns ns, const char *id)
{
	struct job job = job_of(id);

	CHECK_INT(job_read(data->catalog, ns, get, &job, &data->err), OK);
	return job;
}

static bool is_there(struct data *data, struct ns ns, const char *id)
{
	struct job job = job_of(id);
	enum code code = job_read(data->catalog, ns, get, &job, &data->err);

	CHECK(code == OK || code == ERR_RESOURCE_NOT_FOUND);
	return code == OK;
}

static struct job_run *runner(struct data *data, struct leases *leases, struct script *script)
{
	struct job_run *run = job_run_new(data->catalog, leases);

	job_run_register(run, &(struct job_kind){"count", step_count, script, count_failure});
	return run;
}

static int64_t step(struct data *data, struct job_run *run, int64_t now_ms)
{
	int64_t wait_ms;

	CHECK_INT(job_run_step(run, TIMES_AT(now_ms), &wait_ms, &data->err), OK);
	return wait_ms;
}

TEST(a_job_is_done_piece_by_piece)
{
	struct data data = data_new();
	struct script script = {0};
	struct job_run *run = runner(&data, NULL, &script);
	struct job job = job_of("1");

	CHECK(step(&data, run, 1000) == INT64_MAX);
	start(&data, &job);
	CHECK(step(&data, run, 1000) == 0);
	CHECK_INT(seen(&data, DATA_NS, "1").state, JOB_RUNNING);
	CHECK(step(&data, run, 1001) == 0);
	CHECK(step(&data, run, 1002) == 0);
	job = seen(&data, DATA_NS, "1");
	CHECK_INT(job.state, JOB_DONE);
	CHECK_INT(job.ended_ms, 1002);
	CHECK(step(&data, run, 1003) == INT64_MAX);
	CHECK_INT(script.steps, 3);

	/* at once; and not before it is due */
	job = job_of("2");
	start(&data, &job);
	CHECK_INT(job_run_now(run, DATA_NS, job.kind, job.id, 16, 2000, &data.err), OK);
	CHECK_INT(seen(&data, DATA_NS, "2").state, JOB_DONE);
	job = job_of("3");
	script.due_ms = 5000;
	start(&data, &job);
	CHECK_INT(job_run_now(run, DATA_NS, job.kind, job.id, 16, 2000, &data.err), OK);
	CHECK_INT(seen(&data, DATA_NS, "3").state, JOB_RUNNING);
	CHECK(step(&data, run, 3000) == 2000);
	CHECK(step(&data, run, 5000) == 0);
	CHECK(step(&data, run, 5000) == 0);
	CHECK_INT(seen(&data, DATA_NS, "3").state, JOB_DONE);
	job_run_free(run);
	data_free(&data);
}

/* What an operation does of its job is not less work because requests come. */
TEST(pieces_that_are_smaller_while_requests_come_count_less)
{
	struct data data = data_new();
	struct script script = {0};
	struct job_run *run = runner(&data, NULL, &script);
	struct job job = job_of("1");

	start(&data, &job);
	CHECK_INT(job_run_now(run, DATA_NS, job.kind, job.id, 1, 1000, &data.err), OK);
	CHECK_INT(script.steps, 1);
	pace_crowd(catalog_pace(data.catalog), true);
	CHECK_INT(job_run_now(run, DATA_NS, job.kind, job.id, 1, 1000, &data.err), OK);
	CHECK_INT(script.steps, 3);
	CHECK_INT(seen(&data, DATA_NS, "1").state, JOB_DONE);
	job_run_free(run);
	data_free(&data);
}

/* The last piece may be a large one again: it is the last one nevertheless. */
TEST(no_more_pieces_where_requests_have_ended_meanwhile)
{
	struct data data = data_new();
	struct script script = {.ends_crowd_at = 1};
	struct job_run *run = runner(&data, NULL, &script);
	struct job job = job_of("1");

	start(&data, &job);
	pace_crowd(catalog_pace(data.catalog), true);
	CHECK_INT(job_run_now(run, DATA_NS, job.kind, job.id, 1, 1000, &data.err), OK);
	CHECK_INT(script.steps, 2);
	CHECK_INT(seen(&data, DATA_NS, "1").state, JOB_RUNNING);
	job_run_free(run);
	data_free(&data);
}

TEST(what_passes_is_tried_again_and_the_rest_fails)
{
	struct data data = data_new();
	struct script script = {.code = ERR_STORE_FULL};
	struct job_run *run = runner(&data, NULL, &script);
	struct job job = job_of("1");

	start(&data, &job);
	CHECK(step(&data, run, 1000) > 0); /* passes: tried again */
	CHECK_INT(seen(&data, DATA_NS, "1").state, JOB_RUNNING);
	script.code = ERR_RESOURCE_NOT_FOUND;
	step(&data, run, 1000);
	job = seen(&data, DATA_NS, "1");
	CHECK_INT(job.state, JOB_FAILED);
	CHECK_STR(job.failure, "ResourceNotFoundException");
	CHECK(job.message.n > 0);
	CHECK_INT(script.failures, 1);
	CHECK(step(&data, run, 1000) == INT64_MAX);

	/* what was changed meanwhile is done again from what the row says */
	script = (struct script){.breaks_row = true};
	job = job_of("2");
	start(&data, &job);
	CHECK_INT(job_run_now(run, DATA_NS, job.kind, job.id, 1, 1000, &data.err), OK);
	CHECK(!str_is_set(seen(&data, DATA_NS, "2").progress));
	CHECK_INT(job_run_now(run, DATA_NS, job.kind, job.id, 3, 1000, &data.err), OK);
	CHECK_INT(seen(&data, DATA_NS, "2").state, JOB_DONE);
	CHECK_INT(script.steps, 4);
	job_run_free(run);
	data_free(&data);
}

static enum code list(struct job_txn *txn, void *context, struct err *err)
{
	return job_list(txn, STR("count"), context, err);
}

static enum code find_token(struct job_txn *txn, void *context, struct err *err)
{
	struct job *job = context, found;
	bool is_found;
	enum code code = job_find_token(txn, job->kind, job->token, &found, &is_found, err);

	job->id = code == OK && is_found ? found.id : STR("none");
	return code;
}

TEST(lists_and_tokens)
{
	struct data data = data_new();
	struct job_page page = {.after = STR_ABSENT, .limit = 2};
	const char *const ids[] = {"1", "2", "3"};

	for (size_t i = 0; i < 3; i++) {
		struct job job = job_of(ids[i]);

		job.token = i == 1 ? STR("token") : STR_ABSENT;
		start(&data, &job);
	}
	CHECK_INT(job_read(data.catalog, DATA_NS, list, &page, &data.err), OK);
	CHECK_INT(page.n, 2);
	CHECK(page.is_more);
	CHECK_STR(page.after, "2");
	CHECK_INT(job_read(data.catalog, DATA_NS, list, &page, &data.err), OK);
	CHECK_INT(page.n, 1);
	CHECK(!page.is_more);
	CHECK_STR(page.jobs[0].id, "3");
	page = (struct job_page){.after = STR("3"), .limit = 5, .is_reverse = true};
	CHECK_INT(job_read(data.catalog, DATA_NS, list, &page, &data.err), OK);
	CHECK_INT(page.n, 2);
	CHECK_STR(page.jobs[0].id, "2");
	CHECK_INT(job_read(data.catalog, OTHER_NS, list, &page, &data.err), OK);
	CHECK_INT(page.n, 0);

	struct job job = job_of("");
	job.token = STR("token");
	CHECK_INT(job_read(data.catalog, DATA_NS, find_token, &job, &data.err), OK);
	CHECK_STR(job.id, "2");
	CHECK_INT(job_write(data.catalog, DATA_NS, drop,
			    &(struct job){.kind = job.kind, .id = STR("2"), .token = job.token},
			    &data.err),
		  OK);
	CHECK_INT(job_read(data.catalog, DATA_NS, find_token, &job, &data.err), OK);
	CHECK_STR(job.id, "none");
	CHECK(!is_there(&data, DATA_NS, "2"));
	data_free(&data);
}

/* Two processes: a piece is done once, also where one of them died at work. */
TEST(of_two_processes_one_does_a_piece)
{
	struct optimistic_db *db = optimistic_db_new();
	struct data of[2];
	struct leases *leases[2];
	struct job_run *run[2];
	struct script script = {0};
	int64_t wait_ms, now_ms = 1000;

	for (int i = 0; i < 2; i++) {
		of[i] = (struct data){.arena = arena_new(1 << 20),
				      .store = trace_store_new(optimistic_open(db))};
		of[i].err = err_in(of[i].arena);
		CHECK_INT(catalog_open(of[i].store, &(struct catalog_options){.has_peers = true},
				       &of[i].catalog, &of[i].err),
			  OK);
		leases[i] = lease_open(&(struct lease_options){.store = of[i].store});
		run[i] = runner(&of[i], leases[i], &script);
	}
	struct job job = job_of("1");
	start(&of[0], &job);
	for (int i = 0; i < 2; i++) {
		const struct times times = {times_tell_one, &now_ms, leases[i]};

		CHECK_INT(job_run_step(run[i], &times, &wait_ms, &of[i].err), OK);
		CHECK_INT(wait_ms, i == 0 ? 0 : 500); /* the second finds the lease taken */
	}
	CHECK_INT(script.steps, 1);
	job_run_free(run[0]);
	lease_close(leases[0]); /* it ends: the other goes on from what the row says */
	CHECK_INT(job_run_now(run[1], DATA_NS, job.kind, job.id, 16, 1000, &of[1].err), OK);
	CHECK_INT(script.steps, 3);
	CHECK_INT(seen(&of[1], DATA_NS, "1").state, JOB_DONE);
	job_run_free(run[1]);
	lease_close(leases[1]);
	data_free(&of[0]);
	data_free(&of[1]);
	optimistic_db_unref(db);
}

static enum code add_with_data(struct job_txn *txn, void *context, struct err *err)
{
	struct job *job = context;
	enum code code = catalog_next_number(txn->txn, txn->arena, &job->data, err);

	if (code == OK)
		code = store_create(txn->txn, (struct keyspace){job->data, PART_ITEMS}, err);
	if (code == OK)
		code = store_put(txn->txn, (struct keyspace){job->data, PART_ITEMS}, STR("key"),
				 STR("value"), err);
	return code == OK ? job_add(txn, job, err) : code;
}

static struct str data_of(struct data *data, const struct job *job)
{
	struct store_txn *txn;
	struct str value = STR_ABSENT;

	CHECK_INT(store_begin(data->store, STORE_READ, &txn, &data->err), OK);
	CHECK_INT(store_get(txn, (struct keyspace){job->data, PART_ITEMS}, STR("key"), data->arena,
			    &value, &data->err),
		  OK);
	store_abort(txn);
	return value;
}

/* What a namespace has of jobs comes and goes with it. */
TEST(jobs_come_and_go_with_their_namespace)
{
	struct data data = data_new();
	struct job job = job_of("1");
	struct str extra;

	CHECK_INT(job_write(data.catalog, DATA_NS, add_with_data, &job, &data.err), OK);
	CHECK_INT(snapshot_take(data.catalog, DATA_NS,
				&(struct snapshot){.name = STR("s"), .extra = STR("")}, &data.err),
		  OK);
	CHECK_INT(checkpoint_make(data.catalog, DATA_NS,
				  &(struct checkpoint){.name = STR("c"), .extra = STR("")},
				  &data.err),
		  OK);
	CHECK_INT(job_write(data.catalog, DATA_NS, drop, &job, &data.err), OK);
	struct job later = job_of("2");
	start(&data, &later);
	CHECK(!is_there(&data, DATA_NS, "1"));
	CHECK_INT(checkpoint_rollback(data.catalog, DATA_NS, STR("c"), &extra, &data.err), OK);
	CHECK(is_there(&data, DATA_NS, "1"));
	CHECK(!is_there(&data, DATA_NS, "2"));
	job = seen(&data, DATA_NS, "1");
	CHECK_STR(data_of(&data, &job), "value");

	const struct snapshot_clone clone = {.from = DATA_NS, .n = 1, .to = &OTHER_NS};
	CHECK_INT(snapshot_clone(data.catalog, &clone, &data.err), OK);
	struct job copy = seen(&data, OTHER_NS, "1");
	CHECK(copy.data != job.data);
	CHECK_STR(data_of(&data, &copy), "value");

	CHECK_INT(reset_run(data.catalog, DATA_NS, &(struct reset){.n = 0}, &data.err), OK);
	CHECK(!is_there(&data, DATA_NS, "1"));
	CHECK_STR(data_of(&data, &copy), "value");
	CHECK_INT(snapshot_restore(data.catalog, DATA_NS, STR("s"), &extra, &data.err), OK);
	copy = seen(&data, DATA_NS, "1");
	CHECK(copy.data != job.data);
	CHECK_STR(data_of(&data, &copy), "value");
	CHECK_INT(snapshot_remove(data.catalog, DATA_NS, STR("s"), &data.err), OK);
	CHECK_STR(data_of(&data, &copy), "value");
	data_free(&data);
}

TEST_MAIN(TEST_CASE(a_job_is_done_piece_by_piece),
	  TEST_CASE(pieces_that_are_smaller_while_requests_come_count_less),
	  TEST_CASE(no_more_pieces_where_requests_have_ended_meanwhile),
	  TEST_CASE(what_passes_is_tried_again_and_the_rest_fails),
	  TEST_CASE(lists_and_tokens),
	  TEST_CASE(of_two_processes_one_does_a_piece),
	  TEST_CASE(jobs_come_and_go_with_their_namespace))
