/*
 * Any bytes as a file of items, in each form: whatever the pieces in which they come, the same
 * records come out, and a reader ends. An item that was read comes back from its Ion text.
 */
#include "core/image.h"
#include "protocol/transfer/ion_out.h"
#include "protocol/transfer/records.h"
#include "tests/fuzz/fuzz.h"

#define RECORDS_MAX 200

/* What was read, as bytes that can be compared. */
static struct str read_by(struct arena *arena, const struct records_form *form, struct str bytes,
			  size_t piece)
{
	struct records *records = records_new(arena, form);
	struct buf seen = buf_in(arena);
	size_t given = 0;

	records_give(records, STR(""), false);
	for (unsigned n = 0; n < RECORDS_MAX;) {
		struct err err = err_in(arena);
		struct record_put record;
		enum record_kind kind = records_next(records, arena, &record, &err);

		if (kind == RECORD_MORE) {
			size_t more = bytes.n - given < piece ? bytes.n - given : piece;
			struct str rest = records_rest(records);
			struct buf next = buf_in(arena);

			MUST(given < bytes.n || more == 0);
			buf_add_str(&next, rest);
			buf_add(&next, bytes.p + given, more);
			given += more;
			bool is_last = given == bytes.n;
			if (is_last)
				buf_add_byte(&next, '\n');
			records_give(records, buf_str(&next), is_last);
			continue;
		}
		n++;
		buf_add_byte(&seen, 'A' + (int)kind);
		if (kind == RECORD_ITEM)
			image_encode(&record.item, &seen);
		if (kind == RECORD_END || kind == RECORD_BROKEN)
			break;
	}
	return buf_str(&seen);
}

/* An item's Ion text is the item. */
static void check_text(struct arena *arena, struct str bytes)
{
	const struct records_form ion = {.form = RECORD_ION};
	struct records *records = records_new(arena, &ion);
	struct err err = err_in(arena), again_err = err_in(arena);
	struct record_put item, again;
	struct buf text = buf_in(arena);

	records_give(records, str_printf(arena, STR_FMT "\n", STR_ARG(bytes)), true);
	if (records_next(records, arena, &item, &err) != RECORD_ITEM)
		return;
	buf_add_lit(&text, "$ion_1_0 {Item:");
	ion_out_value(&text, &item.item);
	buf_add_lit(&text, "}\n");
	records = records_new(arena, &ion);
	records_give(records, buf_str(&text), true);
	MUST(records_next(records, arena, &again, &again_err) == RECORD_ITEM &&
	     value_equal(&item.item, &again.item));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct records_key keys[] = {
		{STR_INIT("pk"), TYPE_S}, {STR_INIT("n"), TYPE_N}, {STR_INIT("b"), TYPE_B}};
	struct str input = {(const char *)data, size};
	struct arena *arena = fuzz_arena();
	unsigned way = fuzz_byte(&input);
	const struct records_form form = {.form = (enum record_form)(way % 3),
					  .keys = keys,
					  .key_n = 3,
					  .delimiter = way & 4 ? ';' : ','};
	size_t piece = 4 + way / 8;
	struct str whole = read_by(arena, &form, input, input.n + 1);

	MUST(str_eq(whole, read_by(arena, &form, input, piece)));
	if (form.form == RECORD_ION)
		check_text(arena, input);
	return 0;
}
