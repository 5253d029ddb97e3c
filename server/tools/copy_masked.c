#include "server/tools/copy_masked.h"

#include <stdio.h>

#include "server/mask/proof.h"
#include "server/messages.h"
#include "server/pull/carry.h"
#include "server/seed/json_text.h"
#include "server/tools/dump.h"
#include "server/tools/part_file.h"
#include "storage/store/copy_target.h"

#define SPACES_MAX 65536

struct copy_masked {
	struct mask *mask;
	struct proof *proof;
	struct seed_target from, to;
	struct ns_page spaces;
};

static struct carry carry_of(const struct copy_masked *copy, size_t i)
{
	struct carry carry = {copy->mask, copy->from, copy->to};

	carry.from.account = carry.to.account = copy->spaces.v[i].account;
	carry.from.region = carry.to.region = copy->spaces.v[i].region;
	return carry;
}

static enum code check_spaces(const struct copy_masked *copy, struct err *err)
{
	for (size_t i = 0; i < copy->spaces.n; i++) {
		struct carry carry = carry_of(copy, i);
		enum code code = carry_check(&carry, err);

		if (code != OK)
			return code;
	}
	return OK;
}

static enum code write_spaces(const struct copy_masked *copy, struct err *err)
{
	for (size_t i = 0; i < copy->spaces.n; i++) {
		const struct ns *ns = &copy->spaces.v[i];
		struct carry carry = carry_of(copy, i);
		struct carry_counts counts = {0};
		enum code code = carry_write(&carry, &counts, err);

		if (code != OK)
			return code;
		printf(STR_FMT "/" STR_FMT ": %llu tables, %llu items\n", STR_ARG(ns->account),
		       STR_ARG(ns->region), (unsigned long long)counts.tables,
		       (unsigned long long)counts.items);
	}
	return OK;
}

static enum code fill_part(struct copy_masked *copy, const char *part, struct err *err)
{
	struct rehearsal *to;
	enum code code = local_rehearsal_in(part, &to, err);

	if (code != OK)
		return code;
	copy->to = local_rehearsal_target(to);
	code = write_spaces(copy, err);
	local_rehearsal_free(to);
	return code;
}

static enum code write_part(struct copy_masked *copy, const char *part, const char *file,
			    struct err *err)
{
	enum code code = fill_part(copy, part, err);

	if (code != OK)
		return code;
	code = proof_file(copy->proof, part, err);
	if (code != OK)
		return code;
	return copy_target_publish(err->arena, part, file, err);
}

static enum code write_and_publish(struct copy_masked *copy, const char *file, struct err *err)
{
	struct part_file part;
	enum code code = part_file_begin(&part, file, err);

	if (code != OK)
		return code;
	code = write_part(copy, part.path, file, err);
	part_file_end(&part, err->arena);
	return code;
}

static enum code copy_opened(struct copy_masked *copy, struct rehearsal *from, const char *file,
			     struct err *err)
{
	struct catalog *catalog = local_rehearsal_service(from)->catalog;
	enum code code = catalog_namespaces(catalog, SPACES_MAX, err->arena, &copy->spaces, err);

	if (code != OK)
		return code;
	if (copy->spaces.is_more)
		return err_set(err, MSG_COPY_SPACES, SPACES_MAX);
	copy->from = local_rehearsal_target(from);
	code = check_spaces(copy, err);
	if (code != OK)
		return code;
	return write_and_publish(copy, file, err);
}

/* The accounts and regions of a server. */
static enum code remote_spaces(struct remote *remote, struct arena *arena, struct ns_page *spaces,
			       struct err *err)
{
	const struct json *root;
	enum code code = remote_call(remote, "GET", STR("/_dynalith/namespaces"), STR(""), STR(""),
				     &root, err);

	if (code != OK)
		return code;
	const struct json *all = json_text_get(root, "namespaces", JSON_ARRAY);
	const struct json *more = json_member(root, "more");
	*spaces = (struct ns_page){.n = 0};
	for (const struct json *at = all ? json_first(all) : NULL; at; at = json_next(at)) {
		spaces->v = arena_room(arena, spaces->v, spaces->n, sizeof(*spaces->v));
		spaces->v[spaces->n++] =
			(struct ns){str_copy(arena, json_text_string(arena, at, "account")),
				    str_copy(arena, json_text_string(arena, at, "region"))};
	}
	return more && json_boolean(more) ? err_set(err, MSG_COPY_SPACES, (int)spaces->n) : OK;
}

static enum code take_spaces(struct remote *remote, struct rehearsal *source, struct err *err)
{
	struct catalog *catalog = local_rehearsal_service(source)->catalog;
	struct ns_page spaces;
	enum code code = remote_spaces(remote, err->arena, &spaces, err);

	if (code != OK)
		return code;
	for (size_t i = 0; i < spaces.n; i++) {
		code = dump_take(remote, spaces.v[i], catalog, err);
		if (code != OK)
			return code;
	}
	return OK;
}

static enum code take_server(const struct copy_masked_source *from, struct rehearsal *source,
			     struct err *err)
{
	struct remote *remote = remote_new(from->url, from->reach);

	if (!remote)
		return err_set(err, MSG_REMOTE, STR_ARG(str_of(from->url)),
			       STR_ARG(STR("it is no URL of a server")));
	enum code code = take_spaces(remote, source, err);
	remote_free(remote);
	return code;
}

static enum code take_and_copy(struct copy_masked *copy, const struct copy_masked_source *from,
			       struct rehearsal *source, const char *file, struct err *err)
{
	enum code code = from->store ? OK : take_server(from, source, err);

	if (code != OK)
		return code;
	return copy_opened(copy, source, file, err);
}

static enum code copy_by_mask(struct copy_masked *copy, const struct copy_masked_source *from,
			      const char *file, struct err *err)
{
	struct rehearsal *source;
	enum code code = from->store ? local_rehearsal_over(from->store, &source, err)
				     : local_rehearsal_new(&source, err);

	if (code != OK)
		return code;
	code = take_and_copy(copy, from, source, file, err);
	local_rehearsal_free(source);
	return code;
}

static enum code read_mask_and_copy(struct copy_masked *copy, const struct mask_option *option,
				    const struct faker *faker,
				    const struct copy_masked_source *from, const char *file,
				    struct err *err)
{
	enum code code = mask_option_open(option, faker, proof_saw, copy->proof, &copy->mask, err);

	if (code != OK)
		return code;
	code = copy_by_mask(copy, from, file, err);
	if (code == OK)
		mask_option_warn_unused(copy->mask);
	mask_free(copy->mask);
	return code;
}

enum code copy_masked_run(const struct mask_option *option, const struct copy_masked_source *from,
			  const char *file, struct err *err)
{
	struct copy_masked copy = {.proof = proof_new()};
	struct faker *faker = faker_new(mask_option_secret(err->arena));
	enum code code = read_mask_and_copy(&copy, option, faker, from, file, err);

	faker_free(faker);
	proof_free(copy.proof);
	return code;
}
