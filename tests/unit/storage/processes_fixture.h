/*
 * Two processes with one table: on one store in memory (SQLite), or each with a store of its own on
 * an optimistic database.
 */
#ifndef DYNALITH_PROCESSES_FIXTURE_H
#define DYNALITH_PROCESSES_FIXTURE_H

#include "tests/unit/storage/data_fixture.h"
#include "tests/unit/storage/optimistic_store.h"

#define PROCESSES 2

struct processes {
	struct optimistic_db *db; /* NULL: the processes share the first one's store */
	struct data of[PROCESSES];
};

static inline struct data process_on(const struct processes *processes,
				     const struct catalog_options *options)
{
	struct data d = {.arena = arena_new(1 << 20), .store = processes->of[0].store};

	d.err = err_in(d.arena);
	if (processes->db)
		d.store = trace_store_new(optimistic_open(processes->db));
	CHECK_INT(catalog_open(d.store, options, &d.catalog, &d.err), OK);
	return d;
}

/* Takes over `table`, named "data"; .table of each process is it. */
static inline struct processes processes_new(const struct catalog_options *options,
					     bool is_optimistic, struct table *table,
					     int64_t now_ms)
{
	struct processes processes = {.db = is_optimistic ? optimistic_db_new() : NULL};

	processes.of[0] = is_optimistic ? process_on(&processes, options) : data_open(options);
	CHECK_INT(catalog_create(processes.of[0].catalog, DATA_NS, table, now_ms,
				 &processes.of[0].table, &processes.of[0].err),
		  OK);
	for (int i = 1; i < PROCESSES; i++) {
		processes.of[i] = process_on(&processes, options);
		CHECK_INT(catalog_get(processes.of[i].catalog, DATA_NS, STR("data"), now_ms,
				      &processes.of[i].table, &processes.of[i].err),
			  OK);
	}
	return processes;
}

static inline void processes_free(struct processes *processes)
{
	for (int i = 1; i < PROCESSES; i++) {
		table_unref(processes->of[i].table);
		catalog_close(processes->of[i].catalog);
		if (processes->db)
			store_close(processes->of[i].store);
		arena_free(processes->of[i].arena);
	}
	data_free(&processes->of[0]);
	if (processes->db)
		optimistic_db_unref(processes->db);
}

#endif
