#include "tests/scale/database.h"

#include <stdlib.h>

#include "storage/store/postgresql/transaction_internal.h"
#include "tests/simulation/fiber.h"

#define DEADLOCK_NS INT64_C(1000000000)     /* deadlock_timeout */
#define LOCK_TIMEOUT_NS INT64_C(5000000000) /* lock_timeout, of SESSION in link.c */
#define PRUNE_EVERY 64

static const int64_t costs[COST_COUNT] = {
#define COST(id, ns, what) [COST_##id] = (ns),
#include "tests/scale/costs.def"
#undef COST
};

struct held {
	struct row *row;
	bool is_alone;
};

enum state {
	STATE_IDLE,
	STATE_IMPLICIT, /* of a pipeline without BEGIN */
	STATE_READING,
	STATE_WRITING,
	STATE_FAILED,
};

struct session {
	struct session *next;
	unsigned node;
	enum state state;
	uint64_t snapshot;
	size_t held_count, held_capacity;
	struct held *held;
	struct row *waits_for;
	bool has_core;
};

struct database database;

static const char deadlock[] = "40P01", is_there_already[] = "23505", division[] = "22012",
		  lock_timeout[] = "55P03", in_failed[] = "25P02", unsupported[] = "0A000";

static uint64_t hash(int64_t ks, struct str key)
{
	uint64_t sum = 14695981039346656037u ^ (uint64_t)ks;

	for (size_t i = 0; i < key.n; i++)
		sum = (sum ^ (unsigned char)key.p[i]) * 1099511628211u;
	return sum ^ sum >> 29;
}

static struct row *mark(const char *key, size_t n, struct str value)
{
	struct row *row = rows_place(&database.rows, -1, (struct str){key, n});

	row_change(row, true, value);
	row_commit(row, 0, 0);
	return row;
}

void database_init(const struct database_profile *profile)
{
	database = (struct database){.profile = *profile};
	for (unsigned i = 0; i < profile->nodes; i++) {
		database.cores[i] = (struct cores){.n = profile->cores};
		database.disks[i] = (struct disk){.flush_ns = profile->flush_ns};
	}
	rows_init(&database.rows);
	mark("\0", 1, STR("1"));
	mark("\1", 1, STR(""));
}

struct session *session_new(void)
{
	struct session *session = arena_checked(calloc(1, sizeof(*session)));

	session->node = database.session_count++ % database.profile.nodes;
	session->next = database.sessions;
	database.sessions = session;
	return session;
}

void session_free(struct session *session)
{
	struct session **at = &database.sessions;

	while (*at != session)
		at = &(*at)->next;
	*at = session->next;
	free(session->held);
	free(session);
}

static struct cores *cores_of(unsigned node)
{
	return database.shared ? database.shared : &database.cores[node];
}

static void take_core(struct session *session)
{
	if (database.is_timed)
		cores_take(cores_of(session->node));
	session->has_core = true;
}

static void give_core(struct session *session)
{
	if (database.is_timed)
		cores_give(cores_of(session->node));
	session->has_core = false;
}

static void work(struct session *session, int64_t ns)
{
	if (database.is_timed)
		cores_work(cores_of(session->node), ns);
}

/* On the machine that has the row. */
static void work_on(struct session *session, int64_t ks, struct str key, int64_t ns)
{
	unsigned node = (unsigned)(hash(ks, key) % database.profile.nodes);

	if (!database.is_timed)
		return;
	if (node == session->node) {
		work(session, ns);
		return;
	}
	give_core(session);
	resources_sleep(database.profile.hop_ns / 2);
	cores_take(&database.cores[node]);
	cores_work(&database.cores[node], ns);
	cores_give(&database.cores[node]);
	resources_sleep(database.profile.hop_ns / 2);
	take_core(session);
}

static struct held *held_of(const struct session *session, const struct row *row)
{
	for (size_t i = 0; i < session->held_count; i++) {
		if (session->held[i].row == row)
			return &session->held[i];
	}
	return NULL;
}

static bool may_have(const struct session *session, const struct row *row, bool is_alone)
{
	const struct held *held = held_of(session, row);
	unsigned others = row->sharers - (held && !held->is_alone);

	return (!row->owner || row->owner == session) && (!is_alone || others == 0);
}

static void have(struct session *session, struct row *row, bool is_alone)
{
	struct held *held = held_of(session, row);

	if (!held) {
		if (session->held_count == session->held_capacity) {
			session->held_capacity =
				session->held_capacity ? session->held_capacity * 2 : 16;
			session->held = arena_checked(
				realloc(session->held, session->held_capacity * sizeof(*held)));
		}
		held = &session->held[session->held_count++];
		*held = (struct held){.row = row};
		row->sharers += !is_alone;
		row->locks++;
	} else if (!held->is_alone && is_alone) {
		row->sharers--;
	}
	held->is_alone = held->is_alone || is_alone;
	if (is_alone)
		row->owner = session;
}

/* Whether the session, through those it waits for, waits for `target`. */
static bool reaches(const struct session *session, const struct session *target, unsigned depth)
{
	if (!session->waits_for || depth > 64)
		return false;
	for (const struct session *other = database.sessions; other; other = other->next) {
		if (other == session || !held_of(other, session->waits_for))
			continue;
		if (other == target || reaches(other, target, depth + 1))
			return true;
	}
	return false;
}

static void leave_queue(struct row *row, const struct waiter *waiter)
{
	struct waiter **at = &row->first;

	while (*at && *at != waiter)
		at = &(*at)->next;
	if (*at)
		*at = waiter->next;
}

/* Waits for the row, without a core. NULL, or the state of the error. */
static const char *wait_for(struct session *session, struct row *row, bool is_alone)
{
	struct waiter waiter = {.session = session, .is_alone = is_alone}, **last = &row->first;
	int64_t start_ns = fiber_now_ns();
	const char *state = NULL;

	while (*last)
		last = &(*last)->next;
	*last = &waiter;
	session->waits_for = row;
	row->waits++;
	give_core(session);
	while (!waiter.is_given && !state) {
		int64_t due_ns =
			start_ns +
			(fiber_now_ns() < start_ns + DEADLOCK_NS ? DEADLOCK_NS : LOCK_TIMEOUT_NS);

		if (fiber_wait(&waiter, due_ns) || waiter.is_given)
			continue;
		if (reaches(session, session, 0)) {
			database.deadlocks++;
			state = deadlock;
		} else if (fiber_now_ns() >= start_ns + LOCK_TIMEOUT_NS) {
			database.timeouts++;
			state = lock_timeout;
		}
	}
	if (state)
		leave_queue(row, &waiter);
	session->waits_for = NULL;
	row->waited_ns += fiber_now_ns() - start_ns;
	database.lock_wait_ns += fiber_now_ns() - start_ns;
	take_core(session);
	return state;
}

static const char *lock(struct session *session, struct row *row, bool is_alone)
{
	const struct held *held = held_of(session, row);

	if (held && (held->is_alone || !is_alone))
		return NULL;
	/* who wants it alone waits behind others that do */
	if (may_have(session, row, is_alone) && (!is_alone || !row->first || held)) {
		have(session, row, is_alone);
		return NULL;
	}
	return wait_for(session, row, is_alone);
}

static void let_in(struct row *row)
{
	for (struct waiter *waiter = row->first;
	     waiter && may_have(waiter->session, row, waiter->is_alone); waiter = row->first) {
		row->first = waiter->next;
		have(waiter->session, row, waiter->is_alone);
		waiter->is_given = true;
		fiber_wake(waiter);
	}
}

static uint64_t oldest_snapshot(void)
{
	uint64_t oldest = database.commits;

	for (const struct session *session = database.sessions; session; session = session->next) {
		if ((session->state == STATE_IMPLICIT || session->state == STATE_READING) &&
		    session->snapshot < oldest)
			oldest = session->snapshot;
	}
	return oldest;
}

/* The end of a transaction: its changes are seen, or gone; its locks go to those that wait. */
static void finish(struct session *session, bool is_committed)
{
	static uint64_t oldest, counted;
	bool has_changes = false;

	if (is_committed && (counted++ % PRUNE_EVERY == 0 || oldest > database.commits))
		oldest = oldest_snapshot();
	for (size_t i = 0; i < session->held_count; i++)
		has_changes =
			has_changes || (session->held[i].is_alone && session->held[i].row->pending);
	database.commits += is_committed && has_changes;
	for (size_t i = 0; i < session->held_count; i++) {
		struct held *held = &session->held[i];
		struct row *row = held->row;

		if (held->is_alone && row->pending && is_committed)
			row_commit(row, database.commits, oldest);
		else if (held->is_alone)
			row_forget(row);
		if (held->is_alone)
			row->owner = NULL;
		else
			row->sharers--;
	}
	size_t n = session->held_count;
	session->held_count = 0;
	for (size_t i = 0; i < n; i++)
		let_in(session->held[i].row);
	session->state = STATE_IDLE;
}

static bool has_changed(const struct session *session, bool nodes[NODES_MAX])
{
	bool has = false;

	for (size_t i = 0; i < session->held_count; i++) {
		const struct row *row = session->held[i].row;

		if (!session->held[i].is_alone || !row->pending)
			continue;
		has = nodes[hash(row->ks, row->key) % database.profile.nodes] = true;
	}
	return has;
}

static void commit(struct session *session)
{
	bool nodes[NODES_MAX] = {false};

	if (database.is_timed && has_changed(session, nodes)) {
		give_core(session);
		for (unsigned i = 0; i < database.profile.nodes; i++) {
			if (nodes[i]) { /* those of several nodes flush at the same time */
				disk_flush(&database.disks[i]);
				break;
			}
		}
		resources_sleep(database.profile.commit_ns);
		take_core(session);
	}
	finish(session, true);
}

/* Fails the transaction: its locks go at once. */
static void fail(struct session *session, struct reply *reply, const char *state)
{
	bool is_explicit = session->state == STATE_WRITING || session->state == STATE_READING;

	reply->state = state;
	database.conflicts +=
		strncmp(state, "40", 2) == 0 || state == is_there_already || state == division;
	finish(session, false);
	session->state = is_explicit ? STATE_FAILED : STATE_IDLE;
}

static bool is_writing(const struct session *session)
{
	return session->state == STATE_WRITING;
}

static const struct version *see(const struct session *session, const struct row *row)
{
	return is_writing(session) ? row_now(row, session) : row_version_at(row, session->snapshot);
}

static int64_t number(struct str value)
{
	return (int64_t)str_be(value.p, 8);
}


/* Another row of the reply. */
static void add_row(struct arena *arena, struct reply *reply, unsigned columns,
		    const struct str *cells)
{
	struct str *v = ARENA_ARRAY(arena, struct str, (size_t)(reply->rows + 1) * columns);

	if (reply->rows > 0)
		memcpy(v, reply->v, (size_t)reply->rows * columns * sizeof(*v));
	for (unsigned i = 0; i < columns; i++)
		v[reply->rows * columns + i] =
			str_is_set(cells[i]) ? str_copy(arena, cells[i]) : STR_ABSENT;
	reply->v = v;
	reply->columns = columns;
	reply->rows++;
}

static struct str look_up(struct session *session, int64_t ks, struct str key)
{
	work_on(session, ks, key, costs[COST_READ]);
	const struct row *row = rows_find(&database.rows, ks, key);
	const struct version *version = row ? see(session, row) : NULL;
	return version ? version->value : STR_ABSENT;
}

struct call {
	struct session *session;
	enum statement statement;
	const struct str *v;
	size_t n;
	struct arena *arena;
	struct reply *reply;
};

static void do_begin(const struct call *call)
{
	work(call->session, costs[COST_LIGHT]);
	call->session->state =
		call->statement == STATEMENT_BEGIN_WRITE ? STATE_WRITING : STATE_READING;
	call->session->snapshot = database.commits;
}

static void do_end(const struct call *call)
{
	struct session *session = call->session;

	work(session, costs[COST_LIGHT]);
	call->reply->tag = call->statement == STATEMENT_COMMIT && session->state != STATE_FAILED
				   ? "COMMIT"
				   : "ROLLBACK";
	if (call->statement == STATEMENT_COMMIT && is_writing(session))
		commit(session);
	else
		finish(session, false);
	database.aborts += call->statement == STATEMENT_ROLLBACK;
}

static void do_get(const struct call *call)
{
	struct str value = look_up(call->session, number(call->v[0]), call->v[1]);

	if (str_is_set(value))
		add_row(call->arena, call->reply, 1, &value);
}

static void do_get_two(const struct call *call)
{
	const struct str values[] = {look_up(call->session, number(call->v[0]), call->v[1]),
				     look_up(call->session, number(call->v[2]), call->v[3])};

	add_row(call->arena, call->reply, 2, values);
}

/* The elements of a bytea[]: array_of() of transaction_read.c. */
static void do_get_any(const struct call *call)
{
	const char *p = call->v[1].p + 20, *end = call->v[1].p + call->v[1].n;

	while (p < end) {
		struct str key = {p + 4, (size_t)str_be(p, 4)};
		const struct str cells[] = {key, look_up(call->session, number(call->v[0]), key)};

		p = key.p + key.n;
		if (str_is_set(cells[1]))
			add_row(call->arena, call->reply, 2, cells);
	}
}

/* False: the statement failed. *row is NULL where there is none. */
static bool lock_there(const struct call *call, int64_t ks, struct str key, bool is_alone,
		       struct row **row)
{
	*row = rows_find(&database.rows, ks, key);
	if (!*row || !row_now(*row, call->session)) {
		*row = NULL;
		return true;
	}
	const char *state = lock(call->session, *row, is_alone);
	if (state) {
		fail(call->session, call->reply, state);
		return false;
	}
	if (!row_now(*row, call->session))
		*row = NULL;
	return true;
}

static void do_get_locked(const struct call *call)
{
	int64_t ks = call->statement == STATEMENT_GUARD ? -1 : number(call->v[0]);
	struct str key = call->statement == STATEMENT_GUARD ? STR("\1") : call->v[1];
	bool is_alone = call->statement != STATEMENT_GET_SHARED;
	struct row *row;

	work_on(call->session, ks, key, costs[COST_READ]);
	if (lock_there(call, ks, key, is_alone, &row) && row)
		add_row(call->arena, call->reply, 1, &row_now(row, call->session)->value);
}

/* Changes a row that need not be there; only: 1 where it must be, -1 where it must not. */
static bool change(const struct call *call, int64_t ks, struct str key, bool is_there,
		   struct str value, int only)
{
	work_on(call->session, ks, key, costs[COST_WRITE]);
	struct row *row =
		only > 0 ? rows_find(&database.rows, ks, key) : rows_place(&database.rows, ks, key);
	if (only > 0 && (!row || !row_now(row, call->session)))
		return true;
	const char *state = lock(call->session, row, true);
	if (!state && only < 0 && row_now(row, call->session))
		state = is_there_already;
	if (state) {
		fail(call->session, call->reply, state);
		return false;
	}
	if (only <= 0 || row_now(row, call->session))
		row_change(row, is_there, value);
	return true;
}

static void do_change(const struct call *call)
{
	int64_t ks = number(call->v[0]);

	if (call->statement == STATEMENT_INSERT)
		change(call, ks, call->v[1], true, call->v[3], -1);
	else if (call->statement == STATEMENT_UPSERT)
		change(call, ks, call->v[1], true, call->v[3], 0);
	else if (call->statement == STATEMENT_UPDATE)
		change(call, ks, call->v[1], true, call->v[2], 1);
	else
		change(call, ks, call->v[1], false, STR(""), 1);
}

static void do_add(const struct call *call)
{
	int64_t ks = number(call->v[0]);
	char bytes[STORE_NUMBER_BYTES];

	work_on(call->session, ks, call->v[1], costs[COST_WRITE]);
	struct row *row = rows_place(&database.rows, ks, call->v[1]);
	const char *state = lock(call->session, row, true);
	if (state) {
		fail(call->session, call->reply, state);
		return;
	}
	const struct version *version = row_now(row, call->session);
	int64_t sum = (version ? store_number(version->value) : 0) + number(call->v[3]);
	row_change(row, true, store_number_value(sum, bytes));
}

/* The counter's next number and largest stamp; the row under that number. See APPEND in
 * statements.def. */
static void do_append(const struct call *call)
{
	int64_t ks = number(call->v[0]);
	size_t at = (size_t)number(call->v[4]) - 1;
	struct row *row;
	char *value = arena_bytes(call->arena, call->v[3].n + 1),
	     *key = arena_bytes(call->arena, call->v[2].n + 9);

	work_on(call->session, ks, call->v[1], costs[COST_WRITE]);
	if (!lock_there(call, ks, call->v[1], true, &row))
		return;
	if (!row) {
		fail(call->session, call->reply, division);
		return;
	}
	struct str counter = str_copy(call->arena, row_now(row, call->session)->value);
	char *head = arena_bytes(call->arena, counter.n);
	memcpy(head, counter.p, counter.n);
	store_number_value(number(counter) + 1, head);
	if (number((struct str){counter.p + 8, 8}) < number(call->v[5]))
		memcpy(head + 8, call->v[5].p, 8);
	row_change(row, true, (struct str){head, counter.n});
	memcpy(key, call->v[2].p, call->v[2].n);
	memcpy(key + call->v[2].n, counter.p, 8);
	memcpy(value, call->v[3].p, call->v[3].n);
	memcpy(value + at, head + 8, 8);
	change(call, ks, (struct str){key, call->v[2].n + 8}, true,
	       (struct str){value, call->v[3].n}, -1);
}

static void do_absent_check(const struct call *call)
{
	if (str_is_set(look_up(call->session, number(call->v[0]), call->v[1])))
		fail(call->session, call->reply, division);
}

static bool is_within(const struct row *row, int64_t ks, struct str high)
{
	return row && row->ks == ks && (!str_is_set(high) || str_cmp(row->key, high) < 0);
}

/* The rows from $2 to $3, up to $4 of them; locked where the statement says so. */
static void do_range(const struct call *call)
{
	bool is_reverse =
		call->statement == STATEMENT_REVERSE || call->statement == STATEMENT_REVERSE_LOCKED;
	bool is_locked = call->statement == STATEMENT_FORWARD_LOCKED ||
			 call->statement == STATEMENT_REVERSE_LOCKED;
	int64_t ks = number(call->v[0]), limit = number(call->v[3]);
	struct row *row = rows_from(&database.rows, ks, is_reverse ? call->v[2] : call->v[1]);

	if (is_reverse) {
		struct row *last = database.rows.head;

		for (struct row *each = rows_from(&database.rows, ks, call->v[1]); each != row;
		     each = each->next[0])
			last = each;
		row = last;
	}
	work_on(call->session, ks, call->v[1], costs[COST_READ]);
	while (call->reply->rows < limit &&
	       (is_reverse ? row && row->ks == ks && str_cmp(row->key, call->v[1]) >= 0
			   : is_within(row, ks, call->v[2]))) {
		struct row *found = row;

		if (is_locked && !lock_there(call, ks, row->key, true, &found))
			return;
		const struct version *version = found ? see(call->session, found) : NULL;
		const struct str cells[] = {row->key, STR_ABSENT,
					    version ? version->value : STR_ABSENT};
		if (version)
			add_row(call->arena, call->reply, 3, cells);
		row = is_reverse ? row->before : row->next[0];
	}
	work(call->session, call->reply->rows * costs[COST_ROW]);
}

static void do_range_check(const struct call *call)
{
	int64_t ks = number(call->v[0]), n = 0;

	for (const struct row *row = rows_from(&database.rows, ks, call->v[1]);
	     is_within(row, ks, call->v[2]); row = row->next[0])
		n += see(call->session, row) != NULL;
	work_on(call->session, ks, call->v[1], costs[COST_READ] + n * costs[COST_ROW]);
	if (n != number(call->v[7]))
		fail(call->session, call->reply, division);
}

static void do_range_delete(const struct call *call)
{
	int64_t ks = number(call->v[0]);
	bool is_all = call->statement != STATEMENT_RANGE_DELETE;

	for (struct row *row = rows_from(&database.rows, ks, is_all ? STR("") : call->v[1]);
	     is_within(row, ks, is_all ? STR_ABSENT : call->v[2]); row = row->next[0]) {
		if (row_now(row, call->session) && !change(call, ks, row->key, false, STR(""), 1))
			return;
	}
}

static void do_cleared(const struct call *call)
{
	change(call, -3, call->v[0], false, STR(""), 1);
}

static void do_stat(const struct call *call)
{
	int64_t ks = number(call->v[0]), rows = 0, bytes = 0;
	char cells[2][STORE_NUMBER_BYTES];

	for (const struct row *row = rows_from(&database.rows, ks, STR(""));
	     is_within(row, ks, STR_ABSENT); row = row->next[0]) {
		const struct version *version = see(call->session, row);

		rows += version != NULL;
		bytes += version ? (int64_t)(row->key.n + version->value.n) : 0;
	}
	add_row(call->arena, call->reply, 2,
		(struct str[]){store_number_value(rows, cells[0]),
			       store_number_value(bytes, cells[1])});
}

/* Dropped keyspaces have no rows left. */
static void do_tidy(const struct call *call)
{
	char cell[STORE_NUMBER_BYTES];

	add_row(call->arena, call->reply, 1, (struct str[]){store_number_value(0, cell)});
}

/* A statement of long keys finds none: there are none. */
static void do_nothing(const struct call *call)
{
	work(call->session, costs[COST_READ]);
}

static void (*const statements[STATEMENT_COUNT])(const struct call *call) = {
	[STATEMENT_BEGIN_READ] = do_begin,
	[STATEMENT_BEGIN_WRITE] = do_begin,
	[STATEMENT_COMMIT] = do_end,
	[STATEMENT_ROLLBACK] = do_end,
	[STATEMENT_GET] = do_get,
	[STATEMENT_GET_TWO] = do_get_two,
	[STATEMENT_GET_ANY] = do_get_any,
	[STATEMENT_GET_LOCKED] = do_get_locked,
	[STATEMENT_GET_SHARED] = do_get_locked,
	[STATEMENT_GUARD] = do_get_locked,
	[STATEMENT_INSERT] = do_change,
	[STATEMENT_UPSERT] = do_change,
	[STATEMENT_UPDATE] = do_change,
	[STATEMENT_DELETE] = do_change,
	[STATEMENT_ADD] = do_add,
	[STATEMENT_APPEND] = do_append,
	[STATEMENT_ABSENT_CHECK] = do_absent_check,
	[STATEMENT_STAT] = do_stat,
	[STATEMENT_DROP] = do_range_delete,
	[STATEMENT_CLEAR] = do_range_delete,
	[STATEMENT_CLEARED] = do_cleared,
	[STATEMENT_TIDY] = do_tidy,
	[STATEMENT_FORWARD] = do_range,
	[STATEMENT_REVERSE] = do_range,
	[STATEMENT_FORWARD_LOCKED] = do_range,
	[STATEMENT_REVERSE_LOCKED] = do_range,
	[STATEMENT_LONG_FORWARD] = do_nothing,
	[STATEMENT_PROBE] = do_nothing,
	[STATEMENT_LONG_REVERSE] = do_nothing,
	[STATEMENT_LONG_FORWARD_LOCKED] = do_nothing,
	[STATEMENT_LONG_REVERSE_LOCKED] = do_nothing,
	[STATEMENT_RANGE_CHECK] = do_range_check,
	[STATEMENT_RANGE_DELETE] = do_range_delete,
};

void session_begin_pipeline(struct session *session)
{
	take_core(session);
	work(session, costs[COST_PIPELINE]);
}

void session_run(struct session *session, enum statement statement, const struct str *values,
		 size_t n, struct arena *arena, struct reply *reply)
{
	const struct call call = {session, statement, values, n, arena, reply};

	*reply = (struct reply){.tag = ""};
	database.statements++;
	if (session->state == STATE_FAILED && statement != STATEMENT_ROLLBACK &&
	    statement != STATEMENT_COMMIT) {
		reply->state = in_failed;
	} else if (!statements[statement]) {
		reply->state = unsupported;
	} else {
		if (session->state == STATE_IDLE) {
			session->state = STATE_IMPLICIT;
			session->snapshot = database.commits;
		}
		statements[statement](&call);
	}
}

/* Statements without a BEGIN end here. */
void session_end_pipeline(struct session *session, bool has_failed)
{
	if (session->state == STATE_IMPLICIT)
		finish(session, !has_failed);
	give_core(session);
}

void database_spread(void)
{
	database.session_count = 0;
	for (struct session *session = database.sessions; session; session = session->next)
		session->node = database.session_count++ % database.profile.nodes;
}

void database_forget_counts(void)
{
	for (struct row *row = database.rows.head; row; row = row->next[0]) {
		row->locks = row->waits = 0;
		row->waited_ns = 0;
	}
	database.statements = database.conflicts = database.deadlocks = database.timeouts =
		database.aborts = 0;
	database.lock_wait_ns = 0;
}
