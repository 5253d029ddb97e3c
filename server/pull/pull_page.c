#include "server/pull/pull_page.h"

#include "server/messages.h"

#define BATCH 25 /* items of a BatchWriteItem */

/* Writes the items that `body` holds. */
static enum code pull_write_batch(const struct pull *pull, struct arena *arena, struct str table,
				  struct buf *body, struct err *err)
{
	struct str answer;

	buf_add_lit(body, "]}}");
	return pull_ask_file(pull, arena, table, "BatchWriteItem", buf_str(body), &answer, err);
}

/* Another request of the batch: before, TEXT, "}}". */
static enum code page_add_request(struct pull_page *page, const char *before, struct str text,
				  struct err *err)
{
	if (page->in_batch == BATCH) {
		enum code code = pull_write_batch(page->pull, page->arena, page->table->name,
						  &page->body, err);

		if (code != OK)
			return code;
		page->in_batch = 0;
	}
	if (page->in_batch == 0) {
		page->body = buf_in(page->arena);
		buf_printf(&page->body, "{\"RequestItems\":{\"" STR_FMT "\":[",
			   STR_ARG(page->table->name));
	}
	buf_printf(&page->body, "%s%s", page->in_batch > 0 ? "," : "", before);
	buf_add_str(&page->body, text);
	buf_add_lit(&page->body, "}}");
	page->in_batch++;
	return OK;
}

enum code pull_page_put(struct pull_page *page, struct str masked, struct err *err)
{
	size_t unknown;
	enum code code = page_add_request(page, "{\"PutRequest\":{\"Item\":", masked, err);

	if (code != OK)
		return code;
	page->n++;
	(void)mask_unknowns(page->pull->mask, &unknown);
	if (unknown > 0)
		page->in_batch = 0; /* only counted from here on */
	return OK;
}

enum code pull_page_remove(struct pull_page *page, struct str key, struct err *err)
{
	enum code code = page_add_request(page, "{\"DeleteRequest\":{\"Key\":", key, err);

	if (code != OK)
		return code;
	page->removed++;
	return OK;
}

enum code pull_page_add(struct pull_page *page, struct str item, struct err *err)
{
	return pull_page_put(
		page, mask_item(page->pull->mask, page->arena, page->table->name, item), err);
}

enum code pull_page_end(struct pull_page *page, struct err *err)
{
	size_t unknown;

	(void)mask_unknowns(page->pull->mask, &unknown);
	if (unknown > 0)
		return err_set(err, MSG_PULL_UNKNOWN);
	return page->in_batch > 0 ? pull_write_batch(page->pull, page->arena, page->table->name,
						     &page->body, err)
				  : OK;
}
