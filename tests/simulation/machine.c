#include "tests/simulation/machine.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "protocol/tables/settings.h"
#include "storage/store/sqlite/log_mark.h"
#include "storage/store/sqlite/sqlite_store.h"
#include "tests/simulation/observed_store.h"
#include "tests/simulation/request.h"
#include "tests/unit/storage/fault_vfs.h"

#define STUCK 10000000 /* switches of fibers without an end of what is waited for */

void machine_fail(const struct machine *machine, const struct client *client, const char *format,
		  ...)
{
	va_list ap;

	if (machine->report >= 0) {
		if (write(machine->report, &machine->step, sizeof(machine->step)) !=
		    (ssize_t)sizeof(machine->step))
			abort();
		_exit(1);
	}
	fflush(stdout);
	fprintf(stderr, "simulation: ");
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fprintf(stderr, "\n");
	if (client) {
		fprintf(stderr, "request: %s " STR_FMT "\n",
			request_name(client->op.kind, client->op.is_on), STR_ARG(client->request));
		fprintf(stderr, "answer: %d " STR_FMT "\n", client->status,
			STR_ARG(client->answer));
		fprintf(stderr, "client %d, transactions %u, commits %u, saw version %" PRIu64 "\n",
			(int)(client - machine->clients), client->begins, client->commits,
			client->seen);
	}
	fprintf(stderr,
		"life %" PRIu64 ", %s, durability %d, head %" PRIu64 ", acknowledged %" PRIu64
		", virtual time %" PRId64 " ms\n",
		machine->lives, machine->is_memory ? "memory" : "disk", machine->durability,
		machine->head, machine->acknowledged, machine_now_ms());
	fprintf(stderr, "run again by: make simulate SEED=%" PRIu64 " STEPS=%" PRIu64,
		machine->seed, machine->step);
	if (machine->left_out)
		fprintf(stderr, " ARGS=\"--without %" PRIu64 "\"", machine->left_out);
	fprintf(stderr, "\n");
	fflush(stderr);
	_exit(1);
}

void machine_trace(const struct machine *machine, const char *format, ...)
{
	va_list ap;

	if (!machine->is_traced)
		return;
	fprintf(stderr, "%" PRIu64 " %" PRId64 " ms: ", machine->step, machine_now_ms());
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fprintf(stderr, "\n");
}

int64_t machine_now_ms(void)
{
	return fiber_now_ns() / 1000000;
}

const struct view *machine_head(const struct machine *machine)
{
	return machine_version(machine, machine->head);
}

static void unlink_files(const struct machine *machine)
{
	static const char *const suffixes[] = {"", "-wal", "-shm", "-journal", "-mark", "-reserve"};
	char name[128];

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		snprintf(name, sizeof(name), "%s%s", machine->path, suffixes[i]);
		unlink(name);
	}
}

void machine_forget(struct machine *machine)
{
	fault_vfs_reset(random_next(&machine->random));
	unlink_files(machine);
	machine->head = machine->acknowledged = 0;
	memset(&machine->versions[0], 0, sizeof(machine->versions[0]));
}

/* SQLite's own sleeping, time and randomness: a virtual disk's are virtual too. */
static int vfs_sleep(sqlite3_vfs *vfs, int us)
{
	(void)vfs;
	usleep((useconds_t)us);
	return us;
}

static int vfs_random(sqlite3_vfs *vfs, int n, char *out)
{
	(void)vfs;
	for (int i = 0; i < n; i++)
		out[i] = (char)(i * 37 + 11);
	return n;
}

static int vfs_time(sqlite3_vfs *vfs, sqlite3_int64 *out)
{
	(void)vfs;
	*out = 210866760000000 + machine_now_ms(); /* the Unix epoch in Julian milliseconds */
	return SQLITE_OK;
}

static void install_disk(void)
{
	static bool is_installed;

	if (!is_installed) {
		fault_vfs_install();
		sqlite3_vfs *vfs = sqlite3_vfs_find("fault");
		vfs->xSleep = vfs_sleep;
		vfs->xRandomness = vfs_random;
		vfs->xCurrentTimeInt64 = vfs_time;
		is_installed = true;
	}
	sqlite3_randomness(0, NULL); /* it is seeded again */
}

void machine_init(struct machine *machine, uint64_t seed, uint64_t left_out)
{
	memset(machine, 0, sizeof(*machine));
	machine->seed = seed;
	machine->left_out = left_out;
	machine->random = (struct random){seed * 3 + 1};
	machine->arena = arena_new(1 << 20);
	machine->versions = arena_checked(calloc(VERSIONS, sizeof(*machine->versions)));
	machine->logs = arena_checked(calloc(TABLES, sizeof(*machine->logs)));
	machine->digest = 14695981039346656037u;
	install_disk();
	snprintf(machine->directory, sizeof(machine->directory), "%s/dynalith-simulation-XXXXXX",
		 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	if (!mkdtemp(machine->directory))
		abort();
	snprintf(machine->path, sizeof(machine->path), "%s/data.db", machine->directory);
	fiber_reset(BEGINNING_NS, seed * 3 + 2);
	machine_forget(machine);
}

void machine_free(struct machine *machine)
{
	fault_vfs_reset(0);
	unlink_files(machine);
	rmdir(machine->directory);
	free(machine->versions);
	free(machine->logs);
	arena_free(machine->arena);
}

/* What was acknowledged since the last sync may be lost: the power went, or a sync failed and the
 * system may have dropped what was not synced. */
static void forget_acknowledged(struct machine *machine)
{
	if ((fault_vfs_is_off() || machine->is_broken) && machine->durability != DURABILITY_FULL)
		machine->acknowledged = 0;
}

/* What is on the disk must be what the acknowledged commits left, or later ones that were under
 * way. */
static void recover(struct machine *machine)
{
	uint64_t found;
	struct err err = err_in(machine->arena);

	if (observed_store_number(machine->inner, machine->arena, &found, &err) != OK)
		machine_fail(machine, NULL, "the store cannot be read after the start: " STR_FMT,
			     STR_ARG(err.message));
	if (found < machine->acknowledged)
		machine_fail(machine, NULL,
			     "commit %" PRIu64 " was acknowledged, %" PRIu64
			     " is the last one left",
			     machine->acknowledged, found);
	if (found > machine->head || machine->head - found >= VERSIONS)
		machine_fail(machine, NULL, "commit %" PRIu64 " is the last one left, of %" PRIu64,
			     found, machine->head);
	machine->lost += machine->head - found;
	machine_trace(machine,
		      "starts with commit %" PRIu64 " of %" PRIu64 ", acknowledged %" PRIu64, found,
		      machine->head, machine->acknowledged);
	machine->head = machine->acknowledged = found;
	machine->is_uncertain = false;
}

static bool open_server(struct machine *machine)
{
	struct sqlite_store_options options = {
		.path = machine->is_memory ? NULL : machine->path,
		.durability = (enum durability)machine->durability,
		.readers = 1 + random_draw(&machine->random, 3),
		.cache_bytes = random_is(&machine->random, 2) ? 1 << 20 : 1 << 17,
	};
	struct err err = err_in(machine->arena);

	log_mark_leave(machine->path, false, machine->arena); /* the virtual disk makes its files again */
	if (sqlite_store_open(&options, &machine->inner, &err) != OK) {
		if (!fault_vfs_is_off())
			machine_fail(machine, NULL, "the store does not open: " STR_FMT,
				     STR_ARG(err.message));
		machine->inner = NULL;
		return false;
	}
	if (fault_vfs_is_off())
		return true;
	recover(machine);
	machine->store = observed_store_new(machine);
	machine->catalog_options = (struct catalog_options){
		.settings = &settings_records,
		.vector_memory_bytes = random_is(&machine->random, 4) ? 0 : 1 << 20,
		.drop_max = 1 + random_draw(&machine->random, 20),
		.fill_max = 1 + random_draw(&machine->random, 12),
		.rotation = {.records = 1 + random_draw(&machine->random, 60)},
	};
	machine->clock = clocks_new(NULL, false);
	machine->service = (struct service){.now_ms = clock_now_ms,
					    .clock_context = machine->clock,
					    .statements = partiql_cache_new()};
	if (catalog_open(machine->store, &machine->catalog_options, &machine->service.catalog,
			 &err) != OK) {
		if (!fault_vfs_is_off())
			machine_fail(machine, NULL, "the catalog does not open: " STR_FMT,
				     STR_ARG(err.message));
		machine->service.catalog = NULL;
		return false;
	}
	struct upkeep_options upkeep = {
		.catalog = machine->service.catalog, .clock = machine->clock, .period_ms = 1000};
	machine->upkeep = upkeep_new(&upkeep);
	if (!machine->upkeep || !upkeep_start(machine->upkeep))
		machine_fail(machine, NULL, "there is no thread for upkeep");
	machine->service.upkeep.wake = upkeep_wake;
	machine->service.upkeep.context = machine->upkeep;
	return true;
}

static void close_server(struct machine *machine)
{
	upkeep_stop(machine->upkeep);
	catalog_close(machine->service.catalog);
	if (machine->store)
		store_close(machine->store);
	else
		store_close(machine->inner);
	partiql_cache_free(machine->service.statements);
	if (machine->clock)
		clocks_free(machine->clock);
	machine->store = machine->inner = NULL;
	machine->upkeep = NULL;
	machine->clock = NULL;
	machine->service = (struct service){.catalog = NULL};
}

struct work {
	struct machine *machine;
	void (*run)(struct machine *machine);
	bool is_done;
};

static void do_work(void *context)
{
	struct work *work = context;

	work->run(work->machine);
	work->is_done = true;
}

void machine_run_in_fiber(struct machine *machine, void (*run)(struct machine *machine))
{
	struct work work = {machine, run, false};

	fiber_start(do_work, &work);
	for (uint64_t i = 0; !work.is_done; i++) {
		if (i > STUCK)
			machine_fail(machine, NULL, "starting or ending does not come to its end");
		if (fiber_run_one())
			continue;
		int64_t due = fiber_next_due();
		if (due == FIBER_NEVER)
			machine_fail(machine, NULL,
				     "all wait for each other while the server starts or ends");
		fiber_advance(due - fiber_now_ns());
	}
}

static void start(struct machine *machine)
{
	machine->is_up = open_server(machine);
	if (!machine->is_up || fault_vfs_is_off()) {
		close_server(machine);
		machine->is_up = false;
	}
}

void machine_start(struct machine *machine)
{
	do {
		machine->is_disk_faulty = machine->is_broken = machine->is_conflict = false;
		machine->store_fails_in = 0;
		/* the power may go while the server starts */
		if (!machine->is_memory && machine_has(machine, PART_POWER_CUT) &&
		    random_is(&machine->random, 8))
			fault_vfs_cut(1 + random_draw(&machine->random, 40));
		machine_run_in_fiber(machine, start);
		if (!machine->is_up) {
			forget_acknowledged(machine); /* a start commits, too */
			machine_power_on(machine, false);
		}
		else
			fault_vfs_cut(0);
	} while (!machine->is_up);
	machine->lives++;
	arena_reset(machine->arena);
}

void machine_stop(struct machine *machine)
{
	machine_trace(machine, "stops%s", fault_vfs_is_off() ? " without power" : "");
	machine_run_in_fiber(machine, close_server);
	machine->is_up = false;
	forget_acknowledged(machine); /* what was closed in peace is on the disk, whatever the
					 durability but "off" */
}

void machine_power_on(struct machine *machine, bool is_kill)
{
	machine_trace(machine, is_kill ? "killed" : "power on");
	if (is_kill)
		fault_vfs_keep_all();
	fault_vfs_power_on();
	fault_vfs_reset(random_next(&machine->random));
}

void machine_begin_op(struct machine *machine, struct client *client)
{
	client->begins = client->commits = 0;
	client->has_applied = client->has_view = false;
	client->new_number = 0;
	client->faults = machine->faults;
	client->first_seen = client->seen = machine->head;
	client->was_uncertain = machine->is_uncertain;
	client->was_quiet = machine->writers == 0 && !machine->is_uncertain;
	client->op.now_ms = machine_now_ms();
	client->request = client->answer = STR_ABSENT;
	client->status = 0;
	if (client->op.kind >= OP_CREATE_TABLE && client->op.kind <= OP_TAG) {
		machine->changing[client->op.table]++;
		machine->changes[client->op.table]++;
	}
	memcpy(client->changes, machine->changes, sizeof(client->changes));
}

void machine_end_op(struct machine *machine, struct client *client)
{
	if (client->op.kind >= OP_CREATE_TABLE && client->op.kind <= OP_TAG) {
		machine->changing[client->op.table]--;
		machine->changes[client->op.table]++;
	}
}

bool machine_may_fail(const struct machine *machine, const struct client *client)
{
	return machine->faults != client->faults || machine->is_disk_faulty || machine->is_broken;
}

bool machine_is_quiet(const struct machine *machine, const struct client *client)
{
	return client->was_quiet && !machine->is_uncertain && machine->writers == 0 &&
	       machine->head == client->first_seen;
}

static enum code let_in(void *context, struct ns *ns, struct err *err)
{
	(void)context, (void)err;
	*ns = (struct ns){STR("000000000000"), STR("us-east-1")};
	return OK;
}

static void digest(struct machine *machine, struct str bytes)
{
	for (size_t i = 0; i < bytes.n; i++)
		machine->digest = (machine->digest ^ (unsigned char)bytes.p[i]) * 1099511628211u;
}

void machine_ask(struct machine *machine, struct client *client, const char *op, struct str body)
{
	bool is_stream = strcmp(op, "DescribeStream") == 0 || strcmp(op, "GetShardIterator") == 0 ||
			 strcmp(op, "GetRecords") == 0 || strcmp(op, "ListStreams") == 0;
	struct op_request request = {
		.arena = client->arena,
		.body = body,
		.authenticate = let_in,
		.target = str_printf(client->arena, "%s.%s",
				     is_stream ? "DynamoDBStreams_20120810" : "DynamoDB_20120810",
				     op),
	};
	struct op_response response;

	client->request = body;
	op_run(&machine->service, &request, &response);
	client->status = response.status;
	machine_trace(machine, "client %d: %s " STR_FMT " -> %d %.200s",
		      (int)(client - machine->clients), op, STR_ARG(body), response.status,
		      str_printf(client->arena, STR_FMT,
				 STR_ARG(response.status >= 500 ? response.problem : response.body))
			      .p);
	client->answer = response.body;
	digest(machine, response.body);
	digest(machine, str_printf(client->arena, "%d %d", response.status,
				   (int)(client - machine->clients)));
}
