#include "storage/store/sqlite/readers.h"

#include <stdlib.h>
#include <string.h>

#include "storage/store/sqlite/data_file.h"
#include "storage/store/store_messages.h"

/* Who notes and ends turns sees a connection once it is whole. */
static enum code open_reader(struct readers *readers, struct connection **out, struct err *err)
{
	unsigned n = atomic_load(&readers->n);
	struct connection *reader = &readers->v[n];
	enum code code =
		connection_open(reader, readers->name, readers->options.flags, readers->setup, err);

	if (code != OK) {
		connection_close(reader);
		return code;
	}
	reader->store = readers->options.store;
	atomic_store(&readers->n, n + 1);
	*out = reader;
	return OK;
}

/* With the mutex held; NULL where there are enough, or it fails. */
static struct connection *open_another(struct readers *readers)
{
	struct connection *reader = NULL;
	int fd = readers->options.lock_fd;

	if (atomic_load(&readers->n) == readers->options.most ||
	    (fd >= 0 && (data_file_is_moved_away(fd, readers->name) || data_file_is_empty(fd))))
		return NULL;
	struct arena *arena = arena_new(0);
	struct err err = err_in(arena);
	bool is_open = open_reader(readers, &reader, &err) == OK;
	arena_free(arena);
	return is_open ? reader : NULL;
}

void readers_init(struct readers *readers)
{
	pthread_mutex_init(&readers->mutex, NULL);
	pthread_cond_init(&readers->is_given, NULL);
}

enum code readers_open(struct readers *readers, const struct readers_options *options,
		       struct err *err)
{
	struct connection *first;

	readers->options = *options;
	readers->options.most += options->most == 0;
	readers->name = strdup(options->name);
	readers->setup = strdup(options->setup);
	readers->v = calloc(readers->options.most, sizeof(*readers->v));
	if (!readers->v || !readers->name || !readers->setup)
		return err_set(err, MSG_STORE_FAILED, "out of memory");
	enum code code = open_reader(readers, &first, err);
	if (code == OK)
		readers_give(readers, first);
	return code;
}

void readers_close(struct readers *readers)
{
	for (unsigned i = 0; i < atomic_load(&readers->n); i++)
		connection_close(&readers->v[i]);
	pthread_mutex_destroy(&readers->mutex);
	pthread_cond_destroy(&readers->is_given);
	free(readers->v);
	free(readers->name);
	free(readers->setup);
}

/* With the mutex held. */
static struct connection *take_free(struct readers *readers)
{
	struct connection *connection = readers->free;

	if (connection)
		readers->free = connection->next_free;
	return connection;
}

struct connection *readers_take(struct readers *readers)
{
	struct connection *connection;

	pthread_mutex_lock(&readers->mutex);
	while (!(connection = take_free(readers)) && !(connection = open_another(readers)))
		pthread_cond_wait(&readers->is_given, &readers->mutex);
	pthread_mutex_unlock(&readers->mutex);
	return connection;
}

struct connection *readers_try(struct readers *readers)
{
	pthread_mutex_lock(&readers->mutex);
	struct connection *connection = take_free(readers);
	pthread_mutex_unlock(&readers->mutex);
	return connection;
}

void readers_give(struct readers *readers, struct connection *connection)
{
	pthread_mutex_lock(&readers->mutex);
	connection->next_free = readers->free;
	readers->free = connection;
	pthread_cond_signal(&readers->is_given);
	pthread_mutex_unlock(&readers->mutex);
}

void readers_note(struct readers *readers)
{
	for (unsigned i = 0; i < atomic_load(&readers->n); i++)
		readers->v[i].noted_turn = atomic_load(&readers->v[i].turn);
}

void readers_end(struct readers *readers)
{
	for (unsigned i = 0; i < atomic_load(&readers->n); i++) {
		struct connection *reader = &readers->v[i];

		if (reader->noted_turn % 2 == 0 || atomic_load(&reader->turn) != reader->noted_turn)
			continue;
		atomic_store(&reader->ended_turn, reader->noted_turn);
		sqlite3_interrupt(reader->db);
	}
}
