#include "protocol/conflicts/conflicts.h"

#include <pthread.h>
#include <stdlib.h>

#include "protocol/conflicts/messages.h"

#define BUCKETS 1024

/* What a request is to an item while it is under way. */
enum role { ROLE_SINGLE, ROLE_TRANSACTION, ROLES };

/* An item that is busy, or (table 0) a transaction's token. */
struct busy {
	struct busy *next; /* of its bucket */
	uint64_t table;
	unsigned by[ROLES]; /* how many requests */
	size_t n;
	char key[];
};

struct setting {
	struct setting *next;
	bool is_real;
	size_t n;
	char space[]; /* account and region */
};

struct conflicts {
	bool is_real, is_shared;
	atomic_uint own; /* settings of namespaces */
	pthread_mutex_t lock; /* of all that follows */
	struct setting *settings;
	struct busy *buckets[BUCKETS];
};

struct conflict_ticket {
	struct conflicts *conflicts;
	size_t n, cap;
	struct held {
		struct busy *busy;
		enum role role;
	} *held;
	bool *left_out; /* in the call's arena */
	size_t left_out_n;
};

struct conflicts *conflicts_new(bool is_real, bool is_shared)
{
	struct conflicts *conflicts = arena_checked(calloc(1, sizeof(*conflicts)));

	conflicts->is_real = is_real;
	conflicts->is_shared = is_shared;
	pthread_mutex_init(&conflicts->lock, NULL);
	return conflicts;
}

void conflicts_free(struct conflicts *conflicts)
{
	if (!conflicts)
		return;
	while (conflicts->settings) {
		struct setting *setting = conflicts->settings;

		conflicts->settings = setting->next;
		free(setting);
	}
	pthread_mutex_destroy(&conflicts->lock);
	free(conflicts);
}

bool conflicts_are_on(const struct conflicts *conflicts)
{
	return conflicts && (conflicts->is_real ||
			     atomic_load_explicit(&conflicts->own, memory_order_relaxed) > 0);
}

static bool is_setting_of(const struct conflicts *conflicts, const struct setting *setting,
			  struct ns ns)
{
	struct str space = {setting->space, setting->n};

	if (conflicts->is_shared)
		return true;
	return space.n == ns.account.n + ns.region.n && str_starts_with(space, ns.account) &&
	       str_eq((struct str){space.p + ns.account.n, ns.region.n}, ns.region);
}

/* Where the namespace's setting hangs, or the end. The lock is held. */
static struct setting **place(struct conflicts *conflicts, struct ns ns)
{
	struct setting **at = &conflicts->settings;

	while (*at && !is_setting_of(conflicts, *at, ns))
		at = &(*at)->next;
	return at;
}

static enum code set_locked(struct conflicts *conflicts, struct ns ns, bool is_real,
			    struct err *err)
{
	struct setting **at = place(conflicts, ns);

	if (!*at && atomic_load(&conflicts->own) == CONFLICT_NAMESPACES_MAX)
		return err_set(err, MSG_CONFLICT_NAMESPACES, CONFLICT_NAMESPACES_MAX);
	if (!*at) {
		*at = arena_checked(calloc(1, sizeof(**at) + ns.account.n + ns.region.n + 1));
		(*at)->n = ns.account.n + ns.region.n;
		memcpy((*at)->space, ns.account.p, ns.account.n);
		memcpy((*at)->space + ns.account.n, ns.region.p, ns.region.n);
		atomic_fetch_add(&conflicts->own, 1);
	}
	(*at)->is_real = is_real;
	return OK;
}

enum code conflicts_set(struct conflicts *conflicts, struct ns ns, bool is_real, struct err *err)
{
	pthread_mutex_lock(&conflicts->lock);
	enum code code = set_locked(conflicts, ns, is_real, err);
	pthread_mutex_unlock(&conflicts->lock);
	return code;
}

void conflicts_clear(struct conflicts *conflicts, struct ns ns)
{
	pthread_mutex_lock(&conflicts->lock);
	struct setting **at = place(conflicts, ns), *setting = *at;
	if (setting) {
		*at = setting->next;
		free(setting);
		atomic_fetch_sub(&conflicts->own, 1);
	}
	pthread_mutex_unlock(&conflicts->lock);
}

bool conflicts_are_real(struct conflicts *conflicts, struct ns ns)
{
	pthread_mutex_lock(&conflicts->lock);
	const struct setting *setting = *place(conflicts, ns);
	bool is_real = setting ? setting->is_real : conflicts->is_real;
	pthread_mutex_unlock(&conflicts->lock);
	return is_real;
}

/* Where the item hangs, or the end of its bucket. The lock is held. */
static struct busy **find(struct conflicts *conflicts, uint64_t table, struct str key)
{
	struct busy **at = &conflicts->buckets[str_hash(key, table) % BUCKETS];

	while (*at && !((*at)->table == table && str_eq((struct str){(*at)->key, (*at)->n}, key)))
		at = &(*at)->next;
	return at;
}

/* How many of those that the item is busy by are the ticket's own. */
static unsigned own(const struct conflict_ticket *ticket, const struct busy *busy)
{
	unsigned n = 0;

	for (size_t i = 0; i < ticket->n; i++)
		n += ticket->held[i].busy == busy;
	return n;
}

/* AWS: single writes do not refuse each other. */
static bool refuses(const struct conflict_ticket *ticket, const struct busy *busy, enum role role)
{
	unsigned mine = busy ? own(ticket, busy) : 0;

	if (!busy || mine > 0)
		return false;
	return busy->by[ROLE_TRANSACTION] > 0 ||
	       (role == ROLE_TRANSACTION && busy->by[ROLE_SINGLE] > 0);
}

static void hold_item(struct conflict_ticket *ticket, struct busy **at, uint64_t table,
		      struct str key, enum role role)
{
	if (*at && own(ticket, *at) > 0)
		return;
	if (!*at) {
		*at = arena_checked(calloc(1, sizeof(**at) + key.n));
		(*at)->table = table;
		(*at)->n = key.n;
		memcpy((*at)->key, key.p, key.n);
	}
	(*at)->by[role]++;
	if (ticket->n == ticket->cap) {
		ticket->cap = ticket->cap ? ticket->cap * 2 : 1;
		ticket->held =
			arena_checked(realloc(ticket->held, ticket->cap * sizeof(*ticket->held)));
	}
	ticket->held[ticket->n++] = (struct held){*at, role};
}

/* The lock is held. */
static void release_held(struct conflicts *conflicts, const struct held *held)
{
	struct busy *busy = held->busy;

	if (--busy->by[held->role] > 0 || busy->by[ROLE_SINGLE] + busy->by[ROLE_TRANSACTION] > 0)
		return;
	struct busy **at = find(conflicts, busy->table, (struct str){busy->key, busy->n});
	*at = busy->next;
	free(busy);
}

void conflict_end(struct conflict_ticket *ticket)
{
	if (!ticket)
		return;
	pthread_mutex_lock(&ticket->conflicts->lock);
	for (size_t i = 0; i < ticket->n; i++)
		release_held(ticket->conflicts, &ticket->held[i]);
	pthread_mutex_unlock(&ticket->conflicts->lock);
	free(ticket->held);
	free(ticket);
}

struct conflict_ticket *conflict_ticket(const struct call *call)
{
	return call->hooks[HOOK_CONFLICTS];
}

void conflict_resume(struct call *call, struct conflict_ticket *ticket)
{
	call->hooks[HOOK_CONFLICTS] = ticket;
}

/* The call's ticket; NULL where conflicts are not real in its namespace. */
static struct conflict_ticket *ticket_of(struct call *call)
{
	struct conflicts *conflicts = call->service->conflicts;
	struct conflict_ticket *ticket = conflict_ticket(call);

	if (!ticket && !call_has(call, HOOK_TRIAL) && conflicts_are_real(conflicts, call->ns)) {
		ticket = arena_checked(calloc(1, sizeof(*ticket)));
		ticket->conflicts = conflicts;
		call->hooks[HOOK_CONFLICTS] = ticket;
	}
	return ticket;
}

/* The item of a request. */
struct subject_item {
	uint64_t table;
	struct str key;
};

/* Which of the items are refused; the others are held where `is_held`, all or none of them where it
 * is a transaction. True: some are. */
static bool enter_items(struct conflict_ticket *ticket, const struct subject_item *items, size_t n,
			enum role role, bool is_held, bool *refused)
{
	struct conflicts *conflicts = ticket->conflicts;
	bool is_refused = false;

	pthread_mutex_lock(&conflicts->lock);
	for (size_t i = 0; i < n; i++) {
		refused[i] = refuses(ticket, *find(conflicts, items[i].table, items[i].key), role);
		is_refused = is_refused || refused[i];
	}
	for (size_t i = 0; i < n && is_held; i++) {
		if (!refused[i] && !(is_refused && role == ROLE_TRANSACTION))
			hold_item(ticket, find(conflicts, items[i].table, items[i].key),
				  items[i].table, items[i].key, role);
	}
	pthread_mutex_unlock(&conflicts->lock);
	return is_refused;
}

static enum code cancel_by_conflicts(struct call *call, const bool *refused, size_t n,
				     struct err *err)
{
	struct err *reasons = ARENA_ARRAY(call->arena, struct err, n);

	for (size_t i = 0; i < n; i++) {
		reasons[i] = err_in(call->arena);
		if (refused[i])
			(void)(err_default(&reasons[i], ERR_TRANSACTION_CONFLICT) == OK);
	}
	return write_canceled(reasons, n, err);
}

enum code conflict_at_writes(struct call *call, const struct write *writes, size_t n,
			     enum write_mode mode, struct err *err)
{
	struct conflict_ticket *ticket = ticket_of(call);
	struct subject_item *items = ARENA_ARRAY(call->arena, struct subject_item, n);
	bool *refused = ARENA_ARRAY(call->arena, bool, n);

	if (!ticket)
		return OK;
	for (size_t i = 0; i < n; i++)
		items[i] =
			(struct subject_item){writes[i].table->identity.number, writes[i].row_key};
	bool is_refused = enter_items(ticket, items, n,
				      mode == WRITE_TRANSACTION ? ROLE_TRANSACTION : ROLE_SINGLE,
				      true, refused);
	if (mode == WRITE_BATCH) {
		ticket->left_out = refused;
		ticket->left_out_n = is_refused ? n : 0;
		return OK;
	}
	if (!is_refused)
		return OK;
	return mode == WRITE_TRANSACTION ? cancel_by_conflicts(call, refused, n, err)
					 : err_default(err, ERR_TRANSACTION_CONFLICT);
}

enum code conflict_at_reads(struct call *call, const struct read_item *reads, size_t n,
			    struct err *err)
{
	struct conflict_ticket *ticket = ticket_of(call);
	struct subject_item *items = ARENA_ARRAY(call->arena, struct subject_item, n);
	bool *refused = ARENA_ARRAY(call->arena, bool, n);

	if (!ticket)
		return OK;
	for (size_t i = 0; i < n; i++)
		items[i] = (struct subject_item){reads[i].table->identity.number, reads[i].row_key};
	return enter_items(ticket, items, n, ROLE_TRANSACTION, false, refused)
		       ? cancel_by_conflicts(call, refused, n, err)
		       : OK;
}

enum code conflict_at_token(struct call *call, const struct write_token *token, struct err *err)
{
	struct conflict_ticket *ticket = str_is_set(token->token) ? ticket_of(call) : NULL;
	const struct subject_item item = {0, token->token};
	bool is_refused = false;

	return ticket && enter_items(ticket, &item, 1, ROLE_TRANSACTION, true, &is_refused)
		       ? err_default(err, ERR_TRANSACTION_IN_PROGRESS)
		       : OK;
}

bool conflict_leaves_out(const struct call *call, size_t i)
{
	const struct conflict_ticket *ticket = conflict_ticket(call);

	return ticket && i < ticket->left_out_n && ticket->left_out[i];
}
