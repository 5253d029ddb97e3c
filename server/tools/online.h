/*
 * online - check and backup of a running server, by POST /_dynalith/check and POST
 * /_dynalith/backup.
 *
 * Each request does a piece of some milliseconds and says how to go on, so neither a worker, nor
 * the writer, nor a state of the store is held for long. The client keeps the cursor of a check.
 * The server keeps one copy at a time, and drops it when nobody asks for it for a while.
 *
 * No request names a file: the bytes of a copy go to the client, which writes them.
 */
#ifndef DYNALITH_SERVER_ONLINE_H
#define DYNALITH_SERVER_ONLINE_H

#include "core/err.h"
#include "storage/store/store.h"

struct online;

/* For a store, which must outlive it. One without store_maintenance is checked by its rows alone,
 * and a backup of it is refused. */
struct online *online_new(struct store *store);
void online_free(struct online *online);

/* Drops a copy that nobody asks for any more; called about once a second. `online` is a struct
 * online. */
void online_tick(void *online);

/*
 * The next piece of a check. The body: {} or {"cursor": TEXT} of the answer before. The answer,
 * JSON: "findings", an array of lines, 1,000 at most; "count" of them; "tables", "items",
 * "index_rows", "expiry_rows", "records" that were checked; "cursor", unless that was all. `now_ms`
 * as for check_store. ERR_VALIDATION: another body.
 */
enum code online_check(struct online *online, struct arena *arena, struct str body, int64_t now_ms,
		       struct str *answer, struct err *err) WARN_UNUSED;

/*
 * Without `id`: begins a copy. With it: copies on; with `at` too: the bytes of the whole copy from
 * there on, 512 KB at most, none at its end, *is_bytes set; with at=end: drops it. The answer is
 * JSON otherwise: "backup", the id; "pages" that were copied, "total"; "bytes" once the copy is
 * whole. ERR_RESOURCE_IN_USE: another copy is under way. ERR_VALIDATION: no such copy, or the data
 * is in a database. ERR_STORE_FULL: there is too little room for it.
 */
enum code online_backup(struct online *online, struct arena *arena, struct str id, struct str at,
			bool *is_bytes, struct str *answer, struct err *err) WARN_UNUSED;

#endif
