#include "server/mcp/intake.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "server/mcp/rpc.h"

#define PIECE 65536
#define QUEUE_MAX (2 * RPC_LINE_MAX) /* bytes that wait; the reader waits beyond */

/* In its own arena. */
struct line {
	struct line *next;
	struct arena *arena;
	struct str text;
	struct str id; /* absent: no request */
};

struct intake {
	pthread_mutex_t mutex;
	pthread_cond_t has_changed;
	struct line *first, **last; /* that wait */
	size_t bytes;
	bool is_over;
	struct line *current;   /* under way, and the caller's; NULL: none */
	atomic_bool is_cancelled;
};

static void drop_canceled(struct intake *intake, struct str id)
{
	for (struct line **at = &intake->first; *at; at = &(*at)->next) {
		struct line *line = *at;

		if (!str_is_set(line->id) || !str_eq(line->id, id))
			continue;
		*at = line->next;
		if (intake->last == &line->next)
			intake->last = at;
		intake->bytes -= line->text.n;
		arena_free(line->arena);
		return;
	}
}

static void add_message(struct intake *intake, struct arena *arena, struct str text)
{
	struct line *line = arena_alloc(arena, sizeof(*line));
	struct rpc_sight sight = rpc_look(arena, text);

	*line = (struct line){.arena = arena, .text = text, .id = sight.id};
	pthread_mutex_lock(&intake->mutex);
	if (str_is_set(sight.cancels)) {
		if (intake->current && str_is_set(intake->current->id) &&
		    str_eq(intake->current->id, sight.cancels))
			atomic_store(&intake->is_cancelled, true);
		else
			drop_canceled(intake, sight.cancels);
	}
	while (intake->bytes > QUEUE_MAX)
		pthread_cond_wait(&intake->has_changed, &intake->mutex);
	*intake->last = line;
	intake->last = &line->next;
	intake->bytes += text.n;
	pthread_cond_broadcast(&intake->has_changed);
	pthread_mutex_unlock(&intake->mutex);
}

/* No stdio: the process may end while this waits for input. */
static void *read_all_input(void *context)
{
	struct intake *intake = context;
	struct arena *arena = arena_new(0);
	struct buf line = buf_in(arena);
	char piece[PIECE];
	ssize_t n;

	while ((n = read(STDIN_FILENO, piece, sizeof(piece))) > 0 || (n < 0 && errno == EINTR)) {
		struct str rest = {piece, n > 0 ? (size_t)n : 0};

		while (rest.n > 0) {
			const char *end = memchr(rest.p, '\n', rest.n);
			size_t size = end ? (size_t)(end - rest.p) : rest.n,
			       room = RPC_LINE_MAX + 1 - line.n;

			buf_add(&line, rest.p, size < room ? size : room);
			rest = (struct str){rest.p + size + (end ? 1 : 0),
					    rest.n - size - (end ? 1 : 0)};
			if (!end)
				continue;
			add_message(intake, arena, buf_str(&line));
			arena = arena_new(0);
			line = buf_in(arena);
		}
	}
	if (line.n > 0)
		add_message(intake, arena, buf_str(&line));
	else
		arena_free(arena);
	pthread_mutex_lock(&intake->mutex);
	intake->is_over = true;
	pthread_cond_broadcast(&intake->has_changed);
	pthread_mutex_unlock(&intake->mutex);
	return NULL;
}

struct intake *intake_start(void)
{
	static struct intake intake = {.mutex = PTHREAD_MUTEX_INITIALIZER,
				       .has_changed = PTHREAD_COND_INITIALIZER};
	pthread_t thread;

	intake.last = &intake.first;
	if (pthread_create(&thread, NULL, read_all_input, &intake) != 0)
		return NULL;
	pthread_detach(thread);
	return &intake;
}

bool intake_next(struct intake *intake, struct arena **arena, struct str *text)
{
	pthread_mutex_lock(&intake->mutex);
	while (!intake->first && !intake->is_over)
		pthread_cond_wait(&intake->has_changed, &intake->mutex);
	struct line *line = intake->first;

	if (line) {
		intake->first = line->next;
		if (!intake->first)
			intake->last = &intake->first;
		intake->bytes -= line->text.n;
		*arena = line->arena;
		*text = line->text;
		atomic_store(&intake->is_cancelled, false);
	}
	intake->current = line;
	pthread_cond_broadcast(&intake->has_changed);
	pthread_mutex_unlock(&intake->mutex);
	return line != NULL;
}

const atomic_bool *intake_cancelled(const struct intake *intake)
{
	return &intake->is_cancelled;
}

bool intake_was_cancelled(struct intake *intake)
{
	pthread_mutex_lock(&intake->mutex);
	intake->current = NULL;
	bool was = atomic_load(&intake->is_cancelled);

	pthread_mutex_unlock(&intake->mutex);
	return was;
}
