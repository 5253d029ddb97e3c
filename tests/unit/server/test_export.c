/* Exports of AWS: data files as records, in pieces, and which exports can follow one another. */
#include "core/buf.h"
#include "server/export/export_manifest.h"
#include "server/export/export_reader.h"
#include "server/gzip.h"
#include "tests/unit/test.h"

#define LINES 60000 /* some pieces of a reader */

static struct arena *arena;

static struct str lines(size_t n)
{
	struct buf out = buf_in(arena);

	for (size_t i = 0; i < n; i++)
		buf_printf(&out, "{\"Item\":{\"pk\":{\"S\":\"%06zu\"},\"n\":{\"N\":\"%zu\"}}}\n", i,
			   i);
	return buf_str(&out);
}

static struct str packed(struct str text)
{
	return gzip_encode(arena, GZIP_GZIP, text);
}

/* "N records, line L", or "line L: the error". */
static struct str read_export(struct str raw, const struct records_form *form)
{
	struct export_reader *reader = export_reader_open(raw, form);
	struct arena *own = arena_new(0);
	struct err err = err_in(arena);
	struct record_put record;
	bool is_end = false;
	size_t n = 0;
	enum code code = OK;

	while (code == OK && !is_end) {
		arena_reset(own);
		code = export_reader_next(reader, own, &record, &is_end, &err);
		n += code == OK && !is_end;
	}
	unsigned long long line = export_reader_line(reader);
	struct str out =
		code == OK ? str_printf(arena, "%zu records, line %llu", n, line)
			   : str_printf(arena, "line %llu: " STR_FMT, line, STR_ARG(err.message));
	arena_free(own);
	export_reader_close(reader);
	return out;
}

static struct str read_json(struct str raw)
{
	const struct records_form form = {.form = RECORD_JSON};

	return read_export(raw, &form);
}

/* AWS: Developer Guide, "DynamoDB table export output format": gzip; a partition without items has
 * an empty file. */
TEST(data_files_are_read_in_pieces)
{
	struct str text = lines(LINES);

	CHECK_STR(read_json(text), "60000 records, line 60000");
	CHECK_STR(read_json(packed(text)), "60000 records, line 60000");
	text.n--; /* no line feed at the end */
	CHECK_STR(read_json(packed(text)), "60000 records, line 60000");
	CHECK_STR(read_json(STR("")), "0 records, line 1");
	CHECK_STR(read_json(packed(STR(""))), "0 records, line 1");
}

TEST(errors_name_the_line)
{
	struct str good = lines(LINES / 2), whole = packed(good);
	struct buf text = buf_in(arena);

	buf_add_str(&text, good);
	buf_add_lit(&text, "\r\n\n{\"Itm\":{}}\n");
	buf_add_str(&text, good);
	CHECK_STR(read_json(packed(buf_str(&text))), "line 30003: The record has no Item");
	CHECK_STR(read_json(STR("{\"Item\":{}}\n{\"Item\":")),
		  "line 2: The line is no JSON; the rest of the object was not read");
	/* cut off: what came before is not all, so it is an error and no end */
	CHECK(str_contains(read_json((struct str){whole.p, whole.n - 9}), STR("ends within it")));
	CHECK(str_contains(read_json((struct str){whole.p, whole.n / 2}), STR("ends within it")));
	CHECK_STR(read_json(STR("\x1f\x8bxx")), "line 1: it is no gzip, or ends within it");
}

static struct export_manifest export_of(const char *table, int64_t from_ms, int64_t until_ms)
{
	return (struct export_manifest){.where = from_ms >= 0 ? "changes" : "full",
					.table = str_of(table),
					.table_id = STR("id"),
					.is_incremental = from_ms >= 0,
					.from_ms = from_ms,
					.until_ms = until_ms};
}

static struct str chained(const struct export_manifest *manifests, size_t n)
{
	struct err err = err_in(arena);

	return export_manifest_chain(manifests, n, STR("app"), &err) == OK ? STR("fine")
									   : err.message;
}

TEST(exports_follow_one_another)
{
	const struct export_manifest full = export_of("app", -1, 2000),
				     one = export_of("app", 1500, 3250),
				     two = export_of("app", 3250, 4000),
				     far = export_of("app", 3251, 4000);

	CHECK_STR(chained((struct export_manifest[]){full, one, two}, 3), "fine");
	CHECK_STR(chained((struct export_manifest[]){one, one, two, two}, 4), "fine");
	CHECK_STR(chained((struct export_manifest[]){full, one, far}, 3),
		  "changes begins at 1970-01-01T00:00:03.251Z, behind 1970-01-01T00:00:03.250Z, "
		  "where the data ends: an export between them is missing");
	CHECK(str_contains(chained((struct export_manifest[]){full, two}, 2), STR("is missing")));
	CHECK(str_contains(chained((struct export_manifest[]){one, two, one}, 3),
			   STR("in their order")));
	CHECK(str_contains(chained((struct export_manifest[]){one, full}, 2),
			   STR("it must come first")));
	const struct export_manifest other = export_of("other", -1, 2000);
	CHECK_STR(chained(&other, 1), "full is an export of the table other, not of app");
}

int main(void)
{
	static const struct test_case cases[] = {
		TEST_CASE(data_files_are_read_in_pieces),
		TEST_CASE(errors_name_the_line),
		TEST_CASE(exports_follow_one_another),
	};

	arena = arena_new(0);
	int status = test_run(__FILE__, cases, sizeof(cases) / sizeof(cases[0]));
	arena_free(arena);
	return status;
}
