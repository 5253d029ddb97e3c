#include "protocol/transfer/ion_binary.h"

#include <math.h>
#include <string.h>

#include "core/buf.h"
#include "core/utf8.h"
#include "protocol/transfer/messages.h"

#define SYSTEM_SYMBOLS 9
#define SYMBOL_TABLE 3 /* $ion_symbol_table */
#define SYMBOL_IMPORTS 6
#define SYMBOL_SYMBOLS 7
#define MAGNITUDE_MAX 64 /* bytes of an integer; DynamoDB's largest takes 53 */

enum {
	ION_NULL,
	ION_BOOL,
	ION_POSITIVE,
	ION_NEGATIVE,
	ION_FLOAT,
	ION_DECIMAL,
	ION_TIMESTAMP,
	ION_SYMBOL,
	ION_STRING,
	ION_CLOB,
	ION_BLOB,
	ION_LIST,
	ION_SEXP,
	ION_STRUCT,
	ION_ANNOTATED,
	ION_RESERVED
};

static const unsigned char marker[] = {0xe0, 0x01, 0x00, 0xea};

struct reader {
	struct arena *arena;
	struct ion_symbols *symbols;
	bool is_short;
	struct err *err, *value_err;
};

/* A value's head and content. */
struct piece {
	int type, low;
	bool is_null;
	struct str content;
};

static bool fail(struct reader *r, const char *what)
{
	(void)(err_set(r->err, MSG_ION_BINARY, what) == OK);
	return false;
}

static bool run_out(struct reader *r)
{
	r->is_short = true;
	return fail(r, "it ends within a value");
}

static void refuse(struct reader *r, const char *type, struct value *out)
{
	if (r->value_err->code == OK)
		(void)(err_set(r->value_err, MSG_ION_TYPE, type) == OK);
	*out = (struct value){.type = TYPE_NULL};
}

/* Bytes of seven bits each, the last one with its high bit set. */
static bool take_varuint(struct reader *r, struct str *in, uint64_t *out)
{
	*out = 0;
	for (size_t i = 0; i < in->n; i++) {
		unsigned char byte = (unsigned char)in->p[i];

		if (*out >> 56)
			return fail(r, "a length is too large");
		*out = *out << 7 | (byte & 0x7f);
		if (byte & 0x80) {
			*in = (struct str){in->p + i + 1, in->n - i - 1};
			return true;
		}
	}
	return run_out(r);
}

static bool take_binary_piece(struct reader *r, struct str *in, struct piece *out)
{
	uint64_t length;

	if (in->n == 0)
		return run_out(r);
	unsigned char head = (unsigned char)in->p[0];
	*out = (struct piece){.type = head >> 4, .low = head & 15, .is_null = (head & 15) == 15};
	*in = (struct str){in->p + 1, in->n - 1};
	length = (uint64_t)out->low;
	if (out->type == ION_RESERVED)
		return fail(r, "a reserved type");
	if (out->is_null || out->type == ION_BOOL)
		length = 0;
	else if ((out->low == 14 || (out->type == ION_STRUCT && out->low == 1)) &&
		 !take_varuint(r, in, &length))
		return false;
	if (length > in->n)
		return run_out(r);
	out->content = (struct str){in->p, (size_t)length};
	*in = (struct str){in->p + length, in->n - (size_t)length};
	return true;
}

static bool symbol_text(struct reader *r, uint64_t id, struct str *out)
{
	static const struct str system[] = {
		STR_INIT("$ion"),    STR_INIT("$ion_1_0"), STR_INIT("$ion_symbol_table"),
		STR_INIT("name"),    STR_INIT("version"),  STR_INIT("imports"),
		STR_INIT("symbols"), STR_INIT("max_id"),   STR_INIT("$ion_shared_symbol_table")};

	if (id == 0 || id > SYSTEM_SYMBOLS + r->symbols->n)
		return fail(r, "a symbol that is not in the symbol table");
	*out = id <= SYSTEM_SYMBOLS ? system[id - 1] : r->symbols->v[id - SYSTEM_SYMBOLS - 1];
	return true;
}

/* The decimal digits of a big-endian magnitude. */
static bool add_magnitude(struct reader *r, struct str bytes, struct buf *out)
{
	unsigned char rest[MAGNITUDE_MAX];
	char digits[MAGNITUDE_MAX * 3];
	size_t n = 0;

	if (bytes.n > MAGNITUDE_MAX)
		return fail(r, "a number is too large");
	memcpy(rest, bytes.n ? bytes.p : "", bytes.n);
	for (size_t from = 0; from < bytes.n;) {
		unsigned carry = 0;

		for (size_t i = from; i < bytes.n; i++) {
			carry = carry << 8 | rest[i];
			rest[i] = (unsigned char)(carry / 10);
			carry %= 10;
		}
		digits[n++] = (char)('0' + carry);
		while (from < bytes.n && rest[from] == 0)
			from++;
	}
	if (n == 0)
		digits[n++] = '0';
	while (n > 0)
		buf_add_byte(out, digits[--n]);
	return true;
}

static bool read_decimal(struct reader *r, struct str content, struct value *out)
{
	struct buf text = buf_in(r->arena);
	long long exponent = 0;
	char coefficient[MAGNITUDE_MAX];
	bool is_first = true, is_negative = false, ends = content.n == 0;

	while (!ends) { /* VarInt: the first byte's second bit is the sign */
		if (content.n == 0)
			return fail(r, "a decimal ends within its exponent");
		unsigned char byte = (unsigned char)content.p[0];

		if (exponent > 1000000)
			return fail(r, "an exponent is too large");
		exponent = exponent << 7 | (byte & (is_first ? 0x3f : 0x7f));
		is_negative = is_first ? byte & 0x40 : is_negative;
		is_first = false;
		ends = byte & 0x80;
		content = (struct str){content.p + 1, content.n - 1};
	}
	if (content.n > sizeof(coefficient))
		return fail(r, "a number is too large");
	memcpy(coefficient, content.n ? content.p : "", content.n);
	if (content.n > 0 && (unsigned char)coefficient[0] & 0x80) {
		coefficient[0] = (char)(coefficient[0] & 0x7f);
		buf_add_byte(&text, '-');
	}
	if (!add_magnitude(r, (struct str){coefficient, content.n}, &text))
		return false;
	buf_printf(&text, "e%s%lld", is_negative ? "-" : "", exponent);
	(void)ion_text_number(r->arena, buf_str(&text), out, r->value_err);
	return true;
}

static bool read_integer(struct reader *r, const struct piece *piece, struct value *out)
{
	struct buf text = buf_in(r->arena);

	if (piece->type == ION_NEGATIVE)
		buf_add_byte(&text, '-');
	if (!add_magnitude(r, piece->content, &text))
		return false;
	(void)ion_text_number(r->arena, buf_str(&text), out, r->value_err);
	return true;
}

static bool read_float(struct reader *r, struct str content, struct value *out)
{
	uint64_t bits = str_be(content.p, content.n < 8 ? content.n : 8);
	double number = 0;

	if (content.n == 4) {
		uint32_t half = (uint32_t)bits;
		float narrow;

		memcpy(&narrow, &half, sizeof(narrow));
		number = (double)narrow;
	} else if (content.n == 8) {
		memcpy(&number, &bits, sizeof(number));
	} else if (content.n != 0) {
		return fail(r, "a float has 0, 4 or 8 bytes");
	}
	if (!isfinite(number))
		refuse(r, "float (not finite)", out);
	else
		(void)ion_text_number(r->arena, str_printf(r->arena, "%.17g", number), out,
				      r->value_err);
	return true;
}

static bool read_binary_piece(struct reader *r, const struct piece *piece, unsigned depth,
			      struct value *out);

static bool read_binary_list(struct reader *r, struct str content, unsigned depth,
			     struct value *out)
{
	struct value *elements = NULL;
	struct piece piece;
	uint32_t n = 0;

	while (content.n > 0) {
		if (!take_binary_piece(r, &content, &piece))
			return false;
		if (piece.type == ION_NULL && !piece.is_null)
			continue; /* padding */
		if (arena_is_over(r->arena))
			return fail(r, ION_TOO_LARGE);
		elements = arena_room(r->arena, elements, n, sizeof(*elements));
		if (!read_binary_piece(r, &piece, depth + 1, &elements[n]))
			return false;
		n++;
	}
	*out = (struct value){.type = TYPE_L, .n = n, .elements = elements};
	return true;
}

static bool read_binary_struct(struct reader *r, struct str content, unsigned depth,
			       struct value *out)
{
	struct member *members = NULL;
	struct piece piece;
	size_t n = 0;
	uint64_t id;

	while (content.n > 0) {
		if (!take_varuint(r, &content, &id) || !take_binary_piece(r, &content, &piece))
			return false;
		if (piece.type == ION_NULL && !piece.is_null)
			continue;
		if (arena_is_over(r->arena))
			return fail(r, ION_TOO_LARGE);
		members = arena_room(r->arena, members, n, sizeof(*members));
		if (!symbol_text(r, id, &members[n].name) ||
		    !read_binary_piece(r, &piece, depth + 1, &members[n].value))
			return false;
		n++;
	}
	ion_text_struct(members, n, out, r->value_err);
	return true;
}

/* The annotations' symbols; *in is left with the value. */
static bool take_annotations(struct reader *r, struct str *in, struct str *ids)
{
	uint64_t length;

	if (!take_varuint(r, in, &length))
		return false;
	if (length > in->n)
		return fail(r, "annotations that are too long");
	*ids = (struct str){in->p, (size_t)length};
	*in = (struct str){in->p + length, in->n - (size_t)length};
	return true;
}

static bool read_annotated(struct reader *r, struct str content, unsigned depth, struct value *out)
{
	struct piece piece;
	struct str ids, name;
	uint64_t id;

	if (!take_annotations(r, &content, &ids) || !take_binary_piece(r, &content, &piece) ||
	    !read_binary_piece(r, &piece, depth + 1, out))
		return false;
	while (ids.n > 0) {
		if (!take_varuint(r, &ids, &id) || !symbol_text(r, id, &name))
			return false;
		(void)ion_text_set(name, out, r->value_err);
	}
	return true;
}

static bool read_binary_piece(struct reader *r, const struct piece *piece, unsigned depth,
			      struct value *out)
{
	if (depth > ION_DEPTH_MAX)
		return fail(r, "it is nested too deeply");
	*out = (struct value){.type = TYPE_NULL};
	if (piece->is_null)
		return true;
	switch (piece->type) {
	case ION_BOOL:
		*out = (struct value){.type = TYPE_BOOL, .boolean = piece->low == 1};
		return true;
	case ION_POSITIVE:
	case ION_NEGATIVE:
		return read_integer(r, piece, out);
	case ION_FLOAT:
		return read_float(r, piece->content, out);
	case ION_DECIMAL:
		return read_decimal(r, piece->content, out);
	case ION_STRING:
		if (!utf8_is_valid(piece->content))
			return fail(r, "a string is no UTF-8");
		*out = value_of_str(
			TYPE_S, str_copy(r->arena,
					 piece->content)); /* the bytes go before the value does */
		return true;
	case ION_BLOB:
		*out = value_of_str(TYPE_B, str_copy(r->arena, piece->content));
		return true;
	case ION_LIST:
		return read_binary_list(r, piece->content, depth, out);
	case ION_STRUCT:
		return read_binary_struct(r, piece->content, depth, out);
	case ION_ANNOTATED:
		return read_annotated(r, piece->content, depth, out);
	default:
		refuse(r,
		       piece->type == ION_TIMESTAMP ? "timestamp"
		       : piece->type == ION_SYMBOL  ? "symbol"
		       : piece->type == ION_CLOB    ? "clob"
						    : "sexp",
		       out);
		return true;
	}
}

bool ion_binary_is(struct str bytes)
{
	return bytes.n >= sizeof(marker) && memcmp(bytes.p, marker, sizeof(marker)) == 0;
}

/* The symbols that a table's list names go behind those that are there. */
static bool add_symbols(struct reader *r, struct str list)
{
	struct ion_symbols *symbols = r->symbols;
	struct piece piece;

	while (list.n > 0) {
		if (!take_binary_piece(r, &list, &piece))
			return false;
		bool is_text =
			piece.type == ION_STRING && !piece.is_null && utf8_is_valid(piece.content);

		if (arena_used(symbols->arena) > ION_SYMBOLS_BYTES_MAX)
			return fail(r, "symbol tables that are too large");
		symbols->v =
			arena_room(symbols->arena, symbols->v, symbols->n, sizeof(*symbols->v));
		symbols->v[symbols->n++] =
			str_copy(symbols->arena, is_text ? piece.content : STR(""));
	}
	return true;
}

/* A local symbol table takes the place of the one before, but where it imports that. */
static bool read_symbols(struct reader *r, struct str content)
{
	struct str list = STR("");
	struct piece piece;
	bool appends = false;
	uint64_t id;

	while (content.n > 0) {
		if (!take_varuint(r, &content, &id) || !take_binary_piece(r, &content, &piece))
			return false;
		if (id == SYMBOL_SYMBOLS && piece.type == ION_LIST)
			list = piece.content;
		else if (id == SYMBOL_IMPORTS && piece.type == ION_SYMBOL &&
			 str_be(piece.content.p, piece.content.n < 8 ? piece.content.n : 8) ==
				 SYMBOL_TABLE)
			appends = true;
		else if (id == SYMBOL_IMPORTS && piece.content.n > 0)
			return fail(r, "a shared symbol table is not at hand");
	}
	if (!appends) {
		r->symbols->v = NULL;
		r->symbols->n = 0;
	}
	return add_symbols(r, list);
}

/* Whether the value is a symbol table; its struct. */
static bool is_symbol_table(struct reader *r, const struct piece *piece, struct str *content)
{
	struct str in = piece->content, ids;
	struct piece inner;
	uint64_t id;

	if (piece->type != ION_ANNOTATED || piece->is_null || !take_annotations(r, &in, &ids) ||
	    !take_varuint(r, &ids, &id) || id != SYMBOL_TABLE ||
	    !take_binary_piece(r, &in, &inner) || inner.type != ION_STRUCT)
		return false;
	*content = inner.content;
	return true;
}

/* The next value that is no symbol table, which `in` has whole. False: *result says why. */
static bool next_binary_piece(struct reader *r, struct str *in, struct piece *piece,
			      enum ion_result *result)
{
	struct str table;

	*result = ION_BROKEN;
	for (;;) {
		if (in->n == 0) {
			*result = ION_END;
			return false;
		}
		if (ion_binary_is(*in)) {
			*in = (struct str){in->p + sizeof(marker), in->n - sizeof(marker)};
			r->symbols->v = NULL;
			r->symbols->n = 0;
			continue;
		}
		if ((unsigned char)in->p[0] == marker[0])
			return in->n < sizeof(marker) ? run_out(r) : fail(r, "an unknown version");
		if (!take_binary_piece(r, in, piece))
			return false;
		if (piece->type == ION_NULL && !piece->is_null)
			continue;
		if (!is_symbol_table(r, piece, &table))
			return r->err->code == OK;
		if (!read_symbols(r, table)) {
			r->is_short = false; /* the table's own bytes are all there */
			return false;
		}
	}
}

enum ion_result ion_binary_next(struct arena *arena, struct ion_symbols *symbols, struct str *rest,
				bool is_last, struct value *out, struct err *value_err,
				struct err *err)
{
	struct reader r = {.arena = arena, .symbols = symbols, .err = err, .value_err = value_err};
	struct ion_symbols before = *symbols;
	enum ion_result result;
	struct str in = *rest;
	struct piece piece;

	if (next_binary_piece(&r, &in, &piece, &result)) {
		if (!read_binary_piece(&r, &piece, 1, out))
			return ION_BROKEN;
		*rest = in;
		return ION_VALUE;
	}
	if (result == ION_END && is_last) {
		*rest = in;
		return ION_END;
	}
	if (is_last || (result == ION_BROKEN && !r.is_short))
		return ION_BROKEN;
	*symbols = before; /* tables are read again, with the value behind them */
	err->code = OK;
	return ION_MORE;
}
