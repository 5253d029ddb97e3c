#include "protocol/insight/access.h"

#include "core/image.h"

void access_begin(struct call *call)
{
	if (!access_list(call))
		call->hooks[HOOK_INSIGHT] = ARENA_NEW(call->arena, struct accesses);
}

void access_again(struct call *call)
{
	if (access_list(call))
		*access_list(call) = (struct accesses){0};
}

static struct access *room(struct call *call, size_t n)
{
	struct accesses *accesses = access_list(call);
	struct access *v = arena_alloc(
		call->arena, (accesses->n + n) * sizeof(*v)); /* the caller fills the new ones */

	if (accesses->n > 0)
		memcpy(v, accesses->v, accesses->n * sizeof(*v));
	accesses->v = v;
	accesses->n += n;
	return v + accesses->n - n;
}

void access_note_page(struct call *call, const struct read_page *page)
{
	struct access *access = room(call, 1);

	*access = (struct access){
		.kind = page->keys ? ACCESS_QUERY : ACCESS_SCAN,
		.table = page->table,
		.index = page->index,
		.condition = page->filter,
		.keys = page->keys ? page->keys->condition : NULL,
		.projection = page->projection,
		.scanned = page->found.scanned,
		.row_key = page->keys ? page->keys->partition : STR_ABSENT,
		.returned = page->found.count,
		.bytes = page->found.bytes,
		.how = (page->is_consistent ? ACCESS_CONSISTENT : 0u) |
		       (page->is_reverse ? ACCESS_REVERSE : 0u) |
		       (page->select == READ_COUNT ? ACCESS_COUNTS : 0u) |
		       (page->segments > 0 ? ACCESS_PARALLEL : 0u) |
		       (str_is_set(page->start_after) ? ACCESS_CONTINUED : 0u) |
		       (value_is_set(&page->found.last_key) ? ACCESS_MORE : 0u) |
		       (!page->projection && page->select != READ_COUNT ? ACCESS_WHOLE : 0u),
	};
}

void access_note_search(struct call *call, const struct vector_search *search,
			const struct node *partition, const struct projection *projection)
{
	struct access *access = room(call, 1);

	*access = (struct access){
		.kind = ACCESS_SEARCH,
		.table = search->table,
		.index = search->index,
		.keys = partition,
		.condition = search->condition,
		.projection = projection,
		.scanned = search->rows,
		.returned = search->n,
		.bytes = search->bytes,
		.how = projection ? 0 : ACCESS_WHOLE,
	};
}

void access_note_reads(struct call *call, const struct read_item *reads, size_t n)
{
	struct access *v = room(call, n);

	for (size_t i = 0; i < n; i++) {
		bool is_there = str_is_set(reads[i].image);

		v[i] = (struct access){
			.kind = ACCESS_GET,
			.table = reads[i].table,
			.item = reads[i].key,
			.row_key = reads[i].row_key,
			.scanned = is_there,
			.returned = is_there,
			.bytes = is_there ? image_item_size(reads[i].image) : 0,
			.how = (reads[i].mode == READ_CONSISTENT ? ACCESS_CONSISTENT : 0u) |
			       ACCESS_WHOLE,
		};
	}
}

void access_note_projection(struct call *call, size_t i, const struct projection *projection)
{
	struct accesses *accesses = access_list(call);

	if (i >= accesses->n)
		return;
	accesses->v[i].projection = projection;
	accesses->v[i].how &= ~(unsigned)ACCESS_WHOLE;
}

void access_note_writes(struct call *call, const struct write *writes, size_t n)
{
	static const enum access_kind kinds[] = {
		[WRITE_PUT] = ACCESS_PUT,
		[WRITE_UPDATE] = ACCESS_UPDATE,
		[WRITE_DELETE] = ACCESS_DELETE,
		[WRITE_CHECK] = ACCESS_CHECK,
	};
	struct access *v = room(call, n);

	for (size_t i = 0; i < n; i++) {
		const struct write *write = &writes[i];

		v[i] = (struct access){
			.kind = kinds[write->kind],
			.table = write->table,
			.item = write->kind == WRITE_PUT ? write->item : write->key,
			.condition = write->condition,
			.update = write->kind == WRITE_UPDATE ? write->update : NULL,
			.row_key = write->row_key,
			.before = write->old_image,
			.after = write->kind == WRITE_CHECK ? STR_ABSENT : write->new_image,
		};
	}
}

void access_note_throttled(struct call *call, const struct access_throttled *throttled)
{
	struct accesses *accesses = access_list(call);

	accesses->throttled = arena_room(call->arena, accesses->throttled,
					 accesses->throttled_count, sizeof(*accesses->throttled));
	accesses->throttled[accesses->throttled_count++] = *throttled;
}

uint64_t access_row(const struct table *table, struct str row_key)
{
	uint64_t hash = str_hash(row_key, table->identity.number);

	return hash ? hash : 1;
}

void access_note_left(struct call *call, const struct write *write)
{
	struct accesses *accesses = access_list(call);

	accesses->left = arena_room(call->arena, accesses->left, accesses->left_count,
				    sizeof(*accesses->left));
	accesses->left[accesses->left_count++] = access_row(write->table, write->row_key);
}
