/*
 * seed - fills tables from files: "dynalith apply FILE..." and --init DIR.
 *
 * A file is read twice. First its tables are made and each of its items is tried in a write whose
 * condition does not hold; what is wrong is then known while nothing but new tables has changed,
 * and these are deleted again. Then its items are written, in batches. So nothing of a file with a
 * bad line is kept, unless bad lines are to be passed over. A table that is there already stays as
 * it is.
 *
 * All goes by operations of the API, to this process or to another server.
 */
#ifndef DYNALITH_SERVER_SEED_H
#define DYNALITH_SERVER_SEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/err.h"
#include "core/str.h"
#include "protocol/wire/json.h"
#include "server/seed/source.h"

struct seed_request {
	const char *operation; /* "PutItem" */
	struct str body;
	struct str region, account; /* absent: the target's own */
};

struct seed_reply {
	int status;      /* of HTTP */
	struct str body; /* in the arena of the call */
};

/* Where operations are carried out. */
struct seed_target {
	/* Another code than OK where no reply came, with its reason. */
	enum code (*send)(void *context, struct arena *arena, const struct seed_request *request,
			  struct seed_reply *reply, struct err *err);
	void *context;
	struct str region, account; /* where tables are made; absent: us-east-1, 000000000000 */
};

/* --parameter NAME=VALUE: of a template. */
struct seed_parameter {
	struct str name, value;
	bool *is_used; /* set where a template has it or asks for it, or it is told that none does;
			  or NULL */
};

struct seed_options {
	struct seed_target write; /* where tables and items go */
	struct seed_target check; /* where items are tried: the same, or one that keeps nothing */
	bool is_check_apart;      /* these two are not the same: tables are made in both */
	bool is_keep_going; /* bad lines and what cannot be carried out are reported and passed over
			     */
	bool is_strict;     /* warnings are errors */
	bool is_trial;      /* items are tried and not written */
	struct str table;   /* of files of items; absent: each file's name says it */
	/* What an item becomes, before it is tried and before it is written; or NULL. `keys`: the
	 * table's KeySchema. An error is one of its line. */
	enum code (*change)(void *context, struct arena *arena, struct str table,
			    const struct json *keys, struct str item, struct str *out,
			    struct err *err);
	void *change_context;
	const struct seed_parameter *parameters;
	size_t parameter_count;
	bool is_of_one_file; /* the parameters are: those that it does not use are its warnings */
	void (*say)(void *context, struct str line);  /* progress */
	void (*warn)(void *context, struct str line); /* warnings, and lines passed over */
	void *context;
};

struct seed_counts {
	uint64_t tables, tables_there, items, bad, warnings;
};

struct seed;

/* The account whose tables requests by that key reach: AWS has 12 digits. */
struct str seed_account(struct str access_key);

struct seed *seed_new(const struct seed_options *options);
void seed_free(struct seed *seed);

struct seed_file {
	const char *path; /* for messages */
	struct str table; /* of its items, unless the options name one */
	struct str text;
	size_t first_line; /* of the text, where it is a part of the file; else 0 */
	/* Hands everything in it to seed_table and seed_item. */
	enum code (*read)(struct seed *seed, const struct seed_file *file, struct err *err);
};

/* One file; ERR_VALIDATION with where and why. */
enum code seed_load(struct seed *seed, const struct seed_file *file, struct err *err) WARN_UNUSED;
struct seed_counts seed_counts(const struct seed *seed);

/* Another file that the one which is read names, of items of file->table: a part of it. */
enum code seed_read_within(struct seed *seed, const struct seed_file *file,
			   struct err *err) WARN_UNUSED;

/* What readers of files call; they may be run twice and must come to the same. */

/* Lives as long as the file is read. */
struct arena *seed_arena(const struct seed *seed);
const char *seed_path(const struct seed *seed);
const struct seed_options *seed_options(const struct seed *seed);
/* The table of a file of items. */
struct str seed_table_name(const struct seed *seed);

/* Where values of the file that is read stand, and which of them were used. */
struct source *seed_source(const struct seed *seed);

/*
 * A part of the file that is not carried out, at "Resources.Orders.Properties.Tags", for that
 * reason: the file is refused when it has been read, unless what is bad is passed over. `path` may
 * be empty.
 */
void seed_refuse(struct seed *seed, struct origin origin, struct str path, struct str reason);
/* The same for a part that has no effect here. */
void seed_warn(struct seed *seed, struct origin origin, struct str path, struct str reason);
/* Whether something was refused in this file. */
bool seed_has_problems(const struct seed *seed);
/* Refuses each part below `root` that source_use() did not mark. */
void seed_refuse_unused(struct seed *seed, const struct json *root, struct str path);

/* A table by CreateTable's body, and the requests that follow where it is made. `origin`: for
 * errors. */
enum code seed_table(struct seed *seed, struct origin origin, struct str name, struct str body,
		     const struct seed_request *follow_ups, size_t n, struct err *err) WARN_UNUSED;
/* The same by ImportTable's body: waits for the import, whose items count as put. */
enum code seed_import(struct seed *seed, struct origin origin, struct str name, struct str body,
		      const struct seed_request *follow_ups, size_t n, struct err *err) WARN_UNUSED;
/* An item in DynamoDB's JSON. `line` 0: of the file as a whole. */
enum code seed_item(struct seed *seed, struct str table, struct str item, size_t line,
		    struct err *err) WARN_UNUSED;
/* A line that is no item, for the reason in *err: OK where it is passed over. */
enum code seed_bad_line(struct seed *seed, size_t line, struct err *err) WARN_UNUSED;
/* Puts where it is in front of the reason in *err, and gives its code. Where a server gave no
 * answer no line is to blame: the reason stays as it is. */
enum code seed_at(const struct seed *seed, size_t line, struct err *err);
/* The same for a place that may be in another file; without one, in the file that is read. */
enum code seed_at_origin(const struct seed *seed, struct origin origin, struct err *err);
/* "S", "N" or "B" of a key attribute of the table or its indexes; absent where it is none. */
enum code seed_key_type(struct seed *seed, struct str table, struct str attribute, struct str *type,
			struct err *err) WARN_UNUSED;

#endif
