/*
 * Rows that are other than the server writes them: a file with all that it can have, one row
 * changed at a time, and everything called that reads it. Each call must answer, with an error or
 * without one, and `dynalith check` must find rows that were cut.
 *
 * A case is a process of its own, so that one that crashes or hangs is named. DYNALITH_ROWS=SEED:N
 * tries N cases from SEED on; 0:0 tries each cut and each kind of change of each row.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/buf.h"
#include "protocol/tables/settings.h"
#include "server/library/dynalith.h"
#include "storage/check.h"
#include "storage/store/row.h"
#include "storage/store/sqlite/sqlite_store.h"
#include "tests/unit/test.h"

#define CASES (120 / TEST_SLOWNESS)
#define HANG_S 120      /* a case takes some hundred milliseconds */
#define ROWS_MAX 4096
#define FILE_MAX (8 << 20)
#define NS "account=000000000000&region=us-east-1"
#define OPTIONS                                                                                    \
	"{\"db_path\":\"%s\",\"durability\":\"off\",\"insight\":\"on\",\"stream.shards\":3,\"iam." \
	"mode\":\"%s\",\"memory_limit_mb\":128,\"vector_cache_mb\":8}"

/* A call: an operation of the API, or a method and a path of test control. ' stands for ", and ARN
 * for what the call before has shown under `arn`. */
struct call {
	const char *what, *body;
	const char *arn;
};

#define KEYS                                                                                       \
	"'AttributeDefinitions':[{'AttributeName':'k','AttributeType':'S'}],'KeySchema':[{'"       \
	"AttributeName':'k','KeyType':'HASH'}],'BillingMode':'PAY_PER_REQUEST'"

static const struct call making[] = {
	{"CreateTable",
	 "{'TableName':'tab','BillingMode':'PAY_PER_REQUEST','AttributeDefinitions':[{'"
	 "AttributeName':'pk','AttributeType':'S'},{'AttributeName':'sk',"
	 "'AttributeType':'N'},{'AttributeName':'g','AttributeType':'S'},{'AttributeName':'l','"
	 "AttributeType':'N'}],'KeySchema':[{'AttributeName':'pk',"
	 "'KeyType':'HASH'},{'AttributeName':'sk','KeyType':'RANGE'}],'GlobalSecondaryIndexes':[{'"
	 "IndexName':'gsi','KeySchema':[{'AttributeName':'g',"
	 "'KeyType':'HASH'}],'Projection':{'ProjectionType':'ALL'}},{'IndexName':'some','KeySchema'"
	 ":[{'AttributeName':'g','KeyType':'HASH'}],'Projection':{"
	 "'ProjectionType':'INCLUDE','NonKeyAttributes':['n']}}],'LocalSecondaryIndexes':[{'"
	 "IndexName':'lsi','KeySchema':[{'AttributeName':'pk',"
	 "'KeyType':'HASH'},{'AttributeName':'l','KeyType':'RANGE'}],'Projection':{'ProjectionType'"
	 ":'KEYS_ONLY'}}],'StreamSpecification':{"
	 "'StreamEnabled':true,'StreamViewType':'NEW_AND_OLD_IMAGES'},'Tags':[{'Key':'a','Value':'"
	 "b'}]}",
	 NULL},
	{"UpdateTimeToLive",
	 "{'TableName':'tab','TimeToLiveSpecification':{'Enabled':true,'AttributeName':'ttl'}}",
	 NULL},
	{"UpdateContinuousBackups",
	 "{'TableName':'tab','PointInTimeRecoverySpecification':{'PointInTimeRecoveryEnabled':true}"
	 "}",
	 NULL},
	{"PutItem",
	 "{'TableName':'tab','Item':{'pk':{'S':'a'},'sk':{'N':'1'},'g':{'S':'x'},'l':{'N':'5'},'n':"
	 "{'N':'1'},'ttl':{'N':'4000000000'}}}",
	 NULL},
	{"PutItem",
	 "{'TableName':'tab','Item':{'pk':{'S':'a'},'sk':{'N':'-2.5'},'g':{'S':'x'},'m':{'M':{'x':{"
	 "'L':[{'NS':['1','2']},{'BOOL':true},{'NULL':true},"
	 "{'BS':['YQ==','YmI=']}]},'y':{'B':'AAEC'}}}}}",
	 NULL},
	{"PutItem",
	 "{'TableName':'tab','Item':{'pk':{'S':'b'},'sk':{'N':'1'},'l':{'N':'7'},'ss':{'SS':['p','"
	 "q']},'ttl':{'N':'4000000001'}}}",
	 NULL},
	{"CreateTable",
	 "{'TableName':'vec'," KEYS ",'VectorIndexes':[{'IndexName':'near','VectorAttribute':{'"
				    "AttributeName':'v'},'Dimensions':2,"
	 "'DistanceFunction':'COSINE','Projection':{'ProjectionType':'ALL'}}]}",
	 NULL},
	{"PutItem", "{'TableName':'vec','Item':{'k':{'S':'one'},'v':{'L':[{'N':'1'},{'N':'0'}]}}}",
	 NULL},
	{"PutItem", "{'TableName':'vec','Item':{'k':{'S':'two'},'v':{'L':[{'N':'0'},{'N':'1'}]}}}",
	 NULL},
	{"CreateTable",
	 "{'TableName':'glob'," KEYS
	 ",'StreamSpecification':{'StreamEnabled':true,'StreamViewType':'NEW_AND_OLD_IMAGES'}}",
	 NULL},
	{"UpdateTable",
	 "{'TableName':'glob','ReplicaUpdates':[{'Create':{'RegionName':'eu-west-1'}}]}", NULL},
	{"POST clock?" NS, "{'advance':1}", NULL},
	{"PutItem", "{'TableName':'glob','Item':{'k':{'S':'1'}}}", NULL},
	{"PutItem", "{'TableName':'glob','Item':{'k':{'S':'2'}}}", NULL},
	{"DeleteItem", "{'TableName':'glob','Key':{'k':{'S':'1'}}}", NULL},
	{"PUT replication?" NS, "{'lag_ms':3600000}", NULL},
	{"PutItem", "{'TableName':'glob','Item':{'k':{'S':'3'}}}", NULL},
	{"DeleteItem", "{'TableName':'glob','Key':{'k':{'S':'2'}}}", NULL},
	{"TransactWriteItems",
	 "{'ClientRequestToken':'token-1','TransactItems':[{'Put':{'TableName':'vec','Item':{'k':{'"
	 "S':'three'}}}}]}",
	 NULL},
	{"CreateBackup", "{'TableName':'tab','BackupName':'backup'}", NULL},
	{"PUT snapshots/one?" NS, NULL, NULL},
	{"POST checkpoints?" NS, "{'name':'first'}", NULL},
	{"PutItem",
	 "{'TableName':'tab','Item':{'pk':{'S':'c'},'sk':{'N':'1'},'g':{'S':'y'},'ttl':{'N':'"
	 "4000000002'}}}",
	 NULL},
	{"DeleteItem", "{'TableName':'tab','Key':{'pk':{'S':'b'},'sk':{'N':'1'}}}", NULL},
	{"DeleteTable", "{'TableName':'vec'}", NULL},
	{"CreateTable", "{'TableName':'new'," KEYS "}", NULL},
	{"POST checkpoints?" NS, "{'name':'second'}", NULL},
	{"PutItem", "{'TableName':'new','Item':{'k':{'S':'1'}}}", NULL},
	{"PUT policies",
	 "{'principals':[{'arn':'arn:aws:iam::000000000000:user/"
	 "p','access_key':'AKIA','identity':{'Version':'2012-10-17','Statement':[{'Effect':'Allow',"
	 "'Action':'dynamodb:*','Resource':'*'}]}}]}",
	 NULL},
	{"PUT lag?" NS, "{'lag':600000,'index_lag':600000,'tables':{'new':{'lag':1}}}", NULL},
	{"PutItem",
	 "{'TableName':'tab','Item':{'pk':{'S':'a'},'sk':{'N':'1'},'g':{'S':'z'},'n':{'N':'2'}}}",
	 NULL},
	{"CreateTable",
	 "{'TableName':'gone'," KEYS
	 ",'StreamSpecification':{'StreamEnabled':true,'StreamViewType':'KEYS_ONLY'}}",
	 NULL},
	{"PutItem", "{'TableName':'gone','Item':{'k':{'S':'1'}}}", NULL},
	{"DeleteTable", "{'TableName':'gone'}", NULL},
};

/* In the order in which they leave most to the calls behind them. */
static const struct call reading[] = {
	{"ListTables", "{}", NULL},
	{"DescribeTable", "{'TableName':'tab'}", "LatestStreamArn"},
	{"DescribeStream", "{'StreamArn':'ARN'}", NULL},
	{"ListStreams", "{}", NULL},
	{"DescribeTable", "{'TableName':'glob'}", NULL},
	{"Scan", "{'TableName':'tab','ConsistentRead':true}", NULL},
	{"Scan", "{'TableName':'tab'}", NULL},
	{"Scan",
	 "{'TableName':'tab','FilterExpression':'n > :n','ProjectionExpression':'pk, "
	 "m.x[0]','ExpressionAttributeValues':{':n':{'N':'0'}}}",
	 NULL},
	{"Scan", "{'TableName':'glob','ConsistentRead':true}", NULL},
	{"Scan", "{'TableName':'tab','IndexName':'gsi'}", NULL},
	{"Scan", "{'TableName':'tab','IndexName':'some'}", NULL},
	{"Query",
	 "{'TableName':'tab','IndexName':'lsi','KeyConditionExpression':'pk = "
	 ":p','ExpressionAttributeValues':{':p':{'S':'a'}}}",
	 NULL},
	{"Query",
	 "{'TableName':'tab','IndexName':'lsi','Select':'ALL_ATTRIBUTES','ConsistentRead':true,'"
	 "KeyConditionExpression':'pk = :p','ExpressionAttributeValues':"
	 "{':p':{'S':'a'}}}",
	 NULL},
	{"GetItem", "{'TableName':'tab','Key':{'pk':{'S':'a'},'sk':{'N':'1'}}}", NULL},
	{"GetItem", "{'TableName':'tab','Key':{'pk':{'S':'b'},'sk':{'N':'1'}}}", NULL},
	{"TransactGetItems",
	 "{'TransactItems':[{'Get':{'TableName':'tab','Key':{'pk':{'S':'a'},'sk':{'N':'-2.5'}}}}]}",
	 NULL},
	{"ExecuteStatement", "{'Statement':'SELECT * FROM tab.gsi'}", NULL},
	{"DescribeTimeToLive", "{'TableName':'tab'}", NULL},
	{"DescribeContinuousBackups", "{'TableName':'tab'}", NULL},
	{"ListBackups", "{}", "BackupArn"},
	{"DescribeBackup", "{'BackupArn':'ARN'}", "BackupArn"},
	{"RestoreTableFromBackup", "{'BackupArn':'ARN','TargetTableName':'restored'}", NULL},
	{"Scan", "{'TableName':'restored'}", NULL},
	{"GET namespaces", NULL, NULL},
	{"GET checkpoints?" NS, NULL, NULL},
	{"GET snapshots?" NS, NULL, NULL},
	{"GET lag?" NS, NULL, NULL},
	{"GET replication?" NS, NULL, NULL},
	{"GET policies", NULL, NULL},
	{"GET insight", NULL, NULL},
	{"POST explain?" NS, "{'operation':'Scan','request':{'TableName':'tab'}}", NULL},
	{"POST snapshots/one/dump?" NS, NULL, NULL},
	{"POST clone", "{'from':'000000000000','to':['000000000001']}", NULL},
	{"TransactWriteItems",
	 "{'ClientRequestToken':'token-1','TransactItems':[{'Put':{'TableName':'tab','Item':{'pk':{"
	 "'S':'t'},'sk':{'N':'1'}}}}]}",
	 NULL},
	{"UpdateItem",
	 "{'TableName':'tab','Key':{'pk':{'S':'a'},'sk':{'N':'-2.5'}},'UpdateExpression':'SET g = "
	 ":g, #t = :t ADD n :n','ExpressionAttributeNames':{'#t':'ttl'},'ReturnValues':'ALL_OLD',"
	 "'ExpressionAttributeValues':{':g':{'S':'q'},':t':{'N':'4000000005'},':n':{'N':'1'}}}",
	 NULL},
	{"PutItem",
	 "{'TableName':'glob','Item':{'k':{'S':'3'},'n':{'N':'1'}},'ReturnValues':'ALL_OLD'}",
	 NULL},
	{"DeleteItem",
	 "{'TableName':'tab','Key':{'pk':{'S':'a'},'sk':{'N':'1'}},'ConditionExpression':'"
	 "attribute_exists(g)'}",
	 NULL},
	{"DELETE replication?" NS, NULL, NULL},
	{"POST clock?" NS, "{'advance':1}", NULL},
	{"POST clock?" NS, "{'advance':90000}", NULL},
	{"POST clock?" NS, "{'set':'2099-01-01T00:00:00Z'}", NULL},
	{"UpdateTable",
	 "{'TableName':'tab','GlobalSecondaryIndexUpdates':[{'Delete':{'IndexName':'some'}}]}",
	 NULL},
	{"POST checkpoints/second/rollback?" NS, NULL, NULL},
	{"DELETE checkpoints/second?" NS, NULL, NULL},
	{"POST checkpoints/first/rollback?" NS, NULL, NULL},
	{"SearchVectors",
	 "{'TableName':'vec','IndexName':'near','SearchVector':[{'N':'1'},{'N':'0'}],'TopK':2}",
	 NULL},
	{"POST snapshots/one/restore?" NS, NULL, NULL},
	{"DeleteTable", "{'TableName':'glob'}", NULL},
	{"DELETE snapshots/one?" NS, NULL, NULL},
	{"POST reset?" NS, "{'keep':'tables'}", NULL},
	{"POST reset?" NS, NULL, NULL},
};

/* The file as it was made, and where a changed one goes. */
static struct {
	char directory[32], made[64], changed[64];
	char *bytes;
	size_t size;
	struct arena *arena;
	size_t n;
	struct base_row {
		struct keyspace keyspace;
		struct str key, value;
	} rows[ROWS_MAX];
} base;

static char arn[512];

/* Keeps what the answer says of `name`. */
static void take_arn(const struct dynalith_answer *answer, const char *name)
{
	char wanted[64];
	const struct str body = {answer->body, answer->body_size};

	snprintf(wanted, sizeof(wanted), "\"%s\":\"", name);
	for (size_t i = 0; i + strlen(wanted) < body.n; i++) {
		if (memcmp(body.p + i, wanted, strlen(wanted)) == 0) {
			size_t from = i + strlen(wanted), n = 0;

			while (from + n < body.n && body.p[from + n] != '"' && n < sizeof(arn) - 1)
				n++;
			snprintf(arn, sizeof(arn), "%.*s", (int)n, body.p + from);
			return;
		}
	}
}

/* The status; 0: no answer. */
static int make(struct dynalith *db, const struct call *call)
{
	char body[4096] = "", method[16];
	const char *path = strchr(call->what, ' ');
	size_t n = 0;
	struct dynalith_answer *answer;

	for (const char *p = call->body ? call->body : ""; *p && n < sizeof(body) - sizeof(arn);
	     p++) {
		if (strncmp(p, "ARN'", 4) == 0 && p[-1] == '\'') {
			n += (size_t)snprintf(body + n, sizeof(body) - n, "%s", arn);
			p += 2;
		} else {
			body[n++] = *p == '\'' ? '"' : *p;
		}
	}
	snprintf(method, sizeof(method), "%.*s", path ? (int)(path - call->what) : 0, call->what);
	if (path)
		answer = dynalith_control(db, method, path + 1, call->body ? body : NULL);
	else
		answer = dynalith_call(db, call->what, body, n);
	int status = answer ? answer->status : 0;
	if (answer && call->arn)
		take_arn(answer, call->arn);
	if (getenv("DYNALITH_ROWS_SHOWN"))
		fprintf(stderr, "%s %s: %d %.*s\n", call->what, call->body ? call->body : "",
			status, answer ? (int)answer->body_size : 0, answer ? answer->body : "");
	dynalith_free(answer);
	return status;
}

static struct dynalith *open_file(const char *path, const char *iam)
{
	char options[512];

	snprintf(options, sizeof(options), OPTIONS, path, iam);
	return dynalith_open(options, NULL, NULL);
}

static void remove_files(const char *path)
{
	static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
	char name[96];

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		snprintf(name, sizeof(name), "%s%s", path, suffixes[i]);
		unlink(name);
	}
}

static struct store *open_store(const char *path)
{
	const struct sqlite_store_options options = {
		.path = path, .durability = DURABILITY_OFF, .readers = 1, .cache_bytes = 1 << 20};
	struct arena *arena = arena_new(0);
	struct err err = err_in(arena);
	struct store *store = NULL;

	if (sqlite_store_open(&options, &store, &err) != OK) {
		fprintf(stderr, STR_FMT "\n", STR_ARG(err.message));
		abort();
	}
	arena_free(arena);
	return store;
}

static void take_rows(struct store_txn *txn, struct keyspace keyspace, struct err *err)
{
	const struct store_range all = {STR_ABSENT, STR_ABSENT, false};
	struct store_page page = {.n = 0};

	if (store_page(txn, keyspace, &all, (struct store_bounds){0, 0}, base.arena, &page, err) !=
	    OK)
		return;
	for (size_t i = 0; i < page.n && base.n < ROWS_MAX; i++)
		base.rows[base.n++] = (struct base_row){keyspace, page.v[i].key, page.v[i].value};
}

static void read_base(void)
{
	struct store *store = open_store(base.made);
	struct err err = err_in(base.arena);
	struct store_keyspaces keyspaces;
	struct store_txn *txn;
	FILE *file;

	if (store_keyspaces_now(store, base.arena, &keyspaces, &err) != OK ||
	    store_begin(store, STORE_READ, &txn, &err) != OK)
		abort();
	for (size_t i = 0; i < keyspaces.n; i++)
		take_rows(txn, keyspaces.v[i], &err);
	store_abort(txn);
	store_close(store);
	base.bytes = malloc(FILE_MAX);
	file = fopen(base.made, "rb");
	if (!file || !base.bytes)
		abort();
	base.size = fread(base.bytes, 1, FILE_MAX, file);
	fclose(file);
}

static void make_base(void)
{
	snprintf(base.directory, sizeof(base.directory), "%s", "/tmp/dynalith-rows-XXXXXX");
	if (!mkdtemp(base.directory))
		abort();
	snprintf(base.made, sizeof(base.made), "%s/made.db", base.directory);
	snprintf(base.changed, sizeof(base.changed), "%s/changed.db", base.directory);
	base.arena = arena_new(0);
	base.n = 0;
	struct dynalith *db = open_file(base.made, "report");
	if (!db)
		abort();
	for (size_t i = 0; i < sizeof(making) / sizeof(making[0]); i++) {
		int status = make(db, &making[i]);

		if (status != 200)
			fprintf(stderr, "%s %s\n", making[i].what,
				making[i].body ? making[i].body : "");
		CHECK_INT(status, 200);
	}
	dynalith_close(db);
	read_base();
}

enum change { CUT, LONGER, FULL, FLIPPED, KEY_CUT, KEY_LONGER, KEY_FULL, KEY_FLIPPED, CHANGES };

/* One case. */
struct trial {
	const struct base_row *row;
	enum change change;
	size_t at;          /* where the row is cut or changed */
	uint64_t random;
};

static uint64_t next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static struct str changed(struct arena *arena, struct str bytes, const struct trial *trial)
{
	size_t at = bytes.n ? trial->at % bytes.n : 0, n = 1 + trial->random % 8;
	struct buf buf = buf_in(arena);

	buf_add_str(&buf, bytes);
	switch (trial->change % KEY_CUT) {
	case CUT:
		buf.n = at;
		break;
	case LONGER:
		for (size_t i = 0; i < n; i++)
			buf_add_byte(&buf, (int)(trial->random >> (8 * i % 64) & 0xFF));
		break;
	case FULL:
		for (size_t i = at; i < bytes.n && i < at + n; i++)
			buf.p[i] = (char)0xFF;
		break;
	default:
		if (bytes.n)
			buf.p[at] ^= (char)(1 << trial->random % 8);
	}
	return buf_str(&buf);
}

/* The file as it was made, where one is changed. */
static struct store *copy_made(void)
{
	FILE *file;

	remove_files(base.changed);
	file = fopen(base.changed, "wb");
	if (!file || fwrite(base.bytes, 1, base.size, file) != base.size)
		abort();
	fclose(file);
	return open_store(base.changed);
}

/* False: the row stays as it is, or the store itself takes no such row. */
static bool write_changed(const struct trial *trial)
{
	struct store *store = copy_made();
	struct arena *arena = arena_new(0);
	struct err err = err_in(arena);
	const struct base_row *row = trial->row;
	struct str key = trial->change >= KEY_CUT ? changed(arena, row->key, trial) : row->key;
	struct str value =
		trial->change >= KEY_CUT ? row->value : changed(arena, row->value, trial);
	struct store_txn *txn;
	enum code code = store_begin(store, STORE_WRITE, &txn, &err);
	bool is_other = !str_eq(key, row->key) || !str_eq(value, row->value);

	if (code != OK)
		abort();
	if (trial->change >= KEY_CUT)
		code = store_del(txn, row->keyspace, row->key, &err);
	if (code == OK)
		code = store_put(txn, row->keyspace, key, value, &err);
	if (code == OK)
		code = store_commit(txn, &err);
	else
		store_abort(txn);
	store_close(store);
	arena_free(arena);
	return code == OK && is_other;
}

static void count_line(void *context, struct str line)
{
	if (getenv("DYNALITH_ROWS_SHOWN"))
		fprintf(stderr, "check: " STR_FMT "\n", STR_ARG(line));
	++*(size_t *)context;
}

static size_t check_file(void)
{
	struct store *store = open_store(base.changed);
	struct arena *arena = arena_new(0);
	struct err err = err_in(arena);
	size_t lines = 0;
	struct check_report report = {.tell = count_line, .context = &lines};

	if (store_keyspaces_now(store, arena, &report.keyspaces, &err) != OK ||
	    check_store(store, &settings_records, 1700000000000, &report, &err) != OK)
		report.findings++;
	store_close(store);
	arena_free(arena);
	return (size_t)report.findings;
}

#define UNFOUND 3

/* Everything that reads the changed file. */
static int read_changed(bool is_to_be_found)
{
	size_t findings = check_file();
	struct dynalith *db = open_file(base.changed, "report");

	if (!db && getenv("DYNALITH_ROWS_SHOWN"))
		fprintf(stderr, "open: %s\n", dynalith_error());
	for (size_t i = 0; i < sizeof(reading) / sizeof(reading[0]) && db; i++) {
		if (make(db, &reading[i]) == 0)
			return 1;
	}
	dynalith_close(db);
	return findings == 0 && is_to_be_found ? UNFOUND : 0;
}

static int run(const void *of)
{
	const struct trial *trial = of;

	return write_changed(trial) ? read_changed(trial->change == CUT) : 0;
}

static const char *const change_names[] = {"cut",     "longer",     "full",     "flipped",
					   "key cut", "key longer", "key full", "key flipped"};

/* Whether the table has a record of its own: the rows of copies in snapshots are compared with
 * nothing. */
static bool is_live(uint64_t number)
{
	for (size_t i = 0; i < base.n; i++) {
		uint64_t of, version;

		if (base.rows[i].keyspace.table == 0 &&
		    base.rows[i].keyspace.part == SYSTEM_TABLES &&
		    table_record_version(base.rows[i].value, &of, &version) && of == number)
			return true;
	}
	return false;
}

/* Rows that end with bytes of any length that mean nothing to the store, or with something that
 * only their table knows. */
static bool is_open(const struct base_row *row)
{
	static const char *const keys[] = {"policies/document", "jobtoken/", "backfill/", "mark/",
					   "jobopen/",          "lag",       "table rows"};

	if (row->keyspace.table != 0)
		return row->keyspace.part == PART_STACK || row->keyspace.part == PART_SNAPSHOT ||
		       row->keyspace.part == PART_EXPIRY ||
		       row->keyspace.part == PART_REPLICATION ||
		       row->keyspace.part == PART_JOURNAL ||
		       (row->keyspace.part >= PART_INDEX && !is_live(row->keyspace.table));
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (str_starts_with(row->key, str_of(keys[i])))
			return true;
	}
	return row->keyspace.part == SYSTEM_TOKENS || row->keyspace.part == SYSTEM_HISTORY;
}

/* How a case ended. */
static int try(int (*in_child)(const void *of), const void *of)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		alarm(HANG_S);
		_exit(in_child(of));
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		abort();
	return status;
}

static bool try_one(const struct trial *trial)
{
	int status = try(run, trial);

	if (WIFEXITED(status) &&
	    (WEXITSTATUS(status) == 0 || (WEXITSTATUS(status) == UNFOUND && is_open(trial->row))))
		return true;
	const char *what = WIFEXITED(status) ? WEXITSTATUS(status) == UNFOUND
						       ? "is not found by a check"
						       : "got no answer"
					     : "crashed or hung";
	struct str name = row_name(base.arena, trial->row->keyspace, trial->row->key);
	fprintf(stderr, STR_FMT ", %zu bytes, %s at %zu, random %llx: %s (%d)\n", STR_ARG(name),
		trial->row->value.n, change_names[trial->change], trial->at,
		(unsigned long long)trial->random, what,
		WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	return false;
}

/* Each keyspace as often as each other one, whatever rows it has; and the system's as often as all
 * others together. */
static const struct base_row *choose(uint64_t *seed)
{
	bool is_system = next(seed) % 2;

	for (;;) {
		size_t i = next(seed) % base.n, first = i, last = i;

		if ((base.rows[i].keyspace.table == 0) != is_system)
			continue;
		while (first > 0 &&
		       keyspace_is_same(base.rows[first - 1].keyspace, base.rows[i].keyspace))
			first--;
		while (last + 1 < base.n &&
		       keyspace_is_same(base.rows[last + 1].keyspace, base.rows[i].keyspace))
			last++;
		if (next(seed) % (last - first + 1) < 4)
			return &base.rows[first + next(seed) % (last - first + 1)];
	}
}

static size_t try_random(uint64_t seed, size_t n)
{
	size_t failed = 0;

	seed = seed * 0x9E3779B97F4A7C15u + 1;
	for (size_t i = 0; i < n; i++) {
		struct trial trial = {.row = choose(&seed),
				      .change = (enum change)(next(&seed) % CHANGES),
				      .at = next(&seed) % 4096,
				      .random = next(&seed)};

		failed += !try_one(&trial);
	}
	return failed;
}

static size_t try_all(void)
{
	size_t failed = 0;

	for (size_t i = 0; i < base.n; i++) {
		for (int change = 0; change < CHANGES; change++) {
			size_t places =
				change >= KEY_CUT ? base.rows[i].key.n : base.rows[i].value.n;

			places = places > 64 ? 64 : places;
			for (size_t at = 0; at < (places ? places : 1); at++) {
				struct trial trial = {.row = &base.rows[i],
						      .change = (enum change)change,
						      .at = at,
						      .random = 0x0102030405060708u * (at + 1)};

				failed += !try_one(&trial);
			}
		}
	}
	return failed;
}

/* Rows that did harm once, put into the file. */
#define FULL_NUMBER "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"
#define BYTES(literal) {literal, sizeof(literal) - 1}
static const struct example {
	const char *what;
	uint32_t part;
	bool is_system;
	struct str key,
		value; /* an absent value: that of another row of the keyspace with as long a key */
} examples[] = {
	{"an expiry row of 3 bytes", PART_EXPIRY, false, BYTES("\0\0\1"), BYTES("-")},
	{"a checkpoint whose name has 255 bytes", PART_STACK, false, BYTES("\0\0\0\0\0\0\0\x0F"),
	 BYTES("\0\0\1\0\0\0\0\0\xFFname")},
	{"a record of lane 255", PART_STREAM, false, BYTES("\x02\xFF\0\0\0\0\0\0\1"), {NULL, 0}},
	{"a record of lane 0 that has no next one",
	 PART_STREAM,
	 false,
	 BYTES("\x02\0\xFF\xFF\xFF\xFF\xFF\xFF\xFF"),
	 {NULL, 0}},
	{"a shard that has no next one", PART_STREAM, false, BYTES("\x01" FULL_NUMBER), {NULL, 0}},
	{"a count of a table that has no next one", SYSTEM_COUNTERS, true,
	 BYTES("count/" FULL_NUMBER), BYTES("\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\0")},
	{"numbers of a table that has no next one", SYSTEM_COUNTERS, true,
	 BYTES("unflushed/\0\0\0\0\0\0\0\1" FULL_NUMBER),
	 BYTES("\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\0key")},
	{"a counter that gives numbers of tables again", SYSTEM_COUNTERS, true, BYTES("table"),
	 BYTES("1")},
	{"a token of no namespace", SYSTEM_TOKEN_EXPIRY, true, BYTES("token"), BYTES("-")},
	{"a token that expires at no time", SYSTEM_TOKEN_EXPIRY, true,
	 BYTES("000000000000/eu-west-3/\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFFt"), BYTES("-")},
	{"a past until no time", SYSTEM_HISTORY, true,
	 BYTES("d000000000000/eu-west-3/" FULL_NUMBER), BYTES("-")},
};

static bool put_example(const struct example *example)
{
	struct store *store = copy_made();
	struct err err = err_in(base.arena);
	struct store_row row = {example->key, example->value};
	struct keyspace keyspace = {0, example->part};
	struct store_txn *txn;

	for (size_t i = 0; i < base.n; i++) {
		const struct base_row *other = &base.rows[i];

		if (example->is_system != (other->keyspace.table == 0) ||
		    other->keyspace.part != example->part ||
		    (keyspace.table && keyspace.table != other->keyspace.table) ||
		    (!example->is_system && example->part != PART_STACK &&
		     !is_live(other->keyspace.table)))
			continue;
		keyspace = other->keyspace;
		if (!str_is_set(row.value) && other->key.n == row.key.n &&
		    other->key.p[0] == row.key.p[0])
			row.value = other->value;
	}
	bool is_put = str_is_set(row.value) && store_begin(store, STORE_WRITE, &txn, &err) == OK &&
		      store_put(txn, keyspace, row.key, row.value, &err) == OK &&
		      store_commit(txn, &err) == OK;
	store_close(store);
	return is_put;
}

static void free_base(void)
{
	remove_files(base.made);
	remove_files(base.changed);
	rmdir(base.directory);
	free(base.bytes);
	arena_free(base.arena);
}

static int run_example(const void *of)
{
	return put_example(of) ? read_changed(true) : 1;
}

TEST(rows_that_did_harm_are_found_and_harmless)
{
	make_base();
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		int status = try(run_example, &examples[i]);

		if (status != 0)
			fprintf(stderr, "%s: %s\n", examples[i].what,
				WIFEXITED(status) && WEXITSTATUS(status) == UNFOUND
					? "not found by a check"
					: "crashed, hung or got no answer");
		CHECK_INT(status, 0);
	}
	free_base();
}

TEST(a_row_that_nobody_wrote_is_an_error_or_nothing)
{
	const char *wanted = getenv("DYNALITH_ROWS");
	unsigned long long seed = 1, n = CASES;

	if (wanted)
		sscanf(wanted, "%llu:%llu", &seed, &n);
	make_base();
	CHECK(base.n > 100);
	CHECK_INT(n ? try_random(seed, n) : try_all(), 0);
	free_base();
}

TEST_MAIN(TEST_CASE(rows_that_did_harm_are_found_and_harmless),
	  TEST_CASE(a_row_that_nobody_wrote_is_an_error_or_nothing))
