#include "storage/store/sqlite/btree_page.h"

#include "core/be.h"

#define FILE_HEAD 100
#define LEAF_HEAD 8
#define INNER_HEAD 12
#define VARINT_MAX 9

static bool is_inner(const struct btree_page *page)
{
	return page->kind == BTREE_INDEX_INNER || page->kind == BTREE_TABLE_INNER;
}

static bool is_table(const struct btree_page *page)
{
	return page->kind == BTREE_TABLE_INNER || page->kind == BTREE_TABLE_LEAF;
}

bool btree_page_open(const unsigned char *bytes, uint32_t number, size_t usable, struct btree_page *page)
{
	const unsigned char *head = bytes + (number == 1 ? FILE_HEAD : 0);

	*page = (struct btree_page){.bytes = bytes, .usable = usable, .kind = (enum btree_kind)head[0], .count = be16(head + 3)};
	if (head[0] != BTREE_INDEX_INNER && head[0] != BTREE_TABLE_INNER && head[0] != BTREE_INDEX_LEAF && head[0] != BTREE_TABLE_LEAF)
		return false;
	if (is_inner(page))
		page->right = be32(head + 8);
	page->head = (size_t)(head - bytes) + (is_inner(page) ? INNER_HEAD : LEAF_HEAD);
	return page->head + page->count * 2 <= usable;
}

/* Reads a number of up to 9 bytes; what lies beyond the end is an error. */
static bool read_varint(const unsigned char **p, const unsigned char *end, uint64_t *value)
{
	*value = 0;
	for (int i = 0; i < VARINT_MAX && *p < end; i++) {
		unsigned char byte = *(*p)++;

		if (i == VARINT_MAX - 1) {
			*value = *value << 8 | byte;
			return true;
		}
		*value = *value << 7 | (byte & 0x7F);
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

/* SQLite: File Format, "Cell Payload Overflow Pages". */
static size_t local_size(const struct btree_page *page, uint64_t size)
{
	size_t usable = page->usable, most = is_table(page) ? usable - 35 : (usable - 12) * 64 / 255 - 23, least = (usable - 12) * 32 / 255 - 23;

	if (size <= most)
		return (size_t)size;
	size_t local = least + (size_t)((size - least) % (usable - 4));
	return local <= most ? local : least;
}

static bool read_payload(const struct btree_page *page, const unsigned char *p, const unsigned char *end, struct btree_cell *cell)
{
	size_t local = local_size(page, cell->size);

	if ((size_t)(end - p) < local)
		return false;
	cell->local = (struct str){(const char *)p, local};
	if (local == cell->size)
		return true;
	if ((size_t)(end - p) < local + 4)
		return false;
	cell->overflow = be32(p + local);
	return cell->overflow > 1;
}

bool btree_page_cell(const struct btree_page *page, unsigned i, struct btree_cell *cell)
{
	const unsigned char *end = page->bytes + page->usable;

	*cell = (struct btree_cell){.child = 0};
	if (i >= page->count)
		return false;
	size_t place = be16(page->bytes + page->head + 2 * (size_t)i);
	if (place < page->head || place >= page->usable)
		return false;
	const unsigned char *p = page->bytes + place;
	if (is_inner(page)) {
		if (end - p < 4)
			return false;
		cell->child = be32(p);
		p += 4;
	}
	if (page->kind == BTREE_TABLE_INNER)
		return read_varint(&p, end, &cell->rowid);
	if (!read_varint(&p, end, &cell->size) || (is_table(page) && !read_varint(&p, end, &cell->rowid)))
		return false;
	return read_payload(page, p, end, cell);
}

static size_t integer_size(uint64_t type)
{
	static const unsigned char sizes[] = {0, 1, 2, 3, 4, 6, 8};

	return type < sizeof(sizes) ? sizes[type] : 0;
}

/* Types 8 and 9 are the numbers 0 and 1; 7 is a fraction, which no row of ours has. */
static int64_t read_integer(uint64_t type, const unsigned char *p)
{
	size_t n = integer_size(type);
	uint64_t value = n && p[0] & 0x80 ? ~UINT64_C(0) : 0;

	for (size_t i = 0; i < n; i++)
		value = value << 8 | p[i];
	return type == 9 ? 1 : (int64_t)value;
}

bool btree_page_record(struct str payload, struct btree_column *columns, size_t n)
{
	const unsigned char *start = (const unsigned char *)payload.p, *end = start + payload.n, *head = start;
	uint64_t head_size, type;

	if (!read_varint(&head, end, &head_size) || head_size > payload.n)
		return false;
	const unsigned char *head_end = start + head_size, *body = head_end;
	for (size_t i = 0; i < n; i++) {
		if (!read_varint(&head, head_end, &type) || type == 7 || type == 10 || type == 11)
			return false;
		uint64_t size = type >= 12 ? (type - 12) / 2 : integer_size(type);
		if (size > (uint64_t)(end - body))
			return false;
		columns[i] = (struct btree_column){.bytes = type >= 12 ? (struct str){(const char *)body, (size_t)size} : STR_ABSENT,
						   .integer = type < 12 ? read_integer(type, body) : 0};
		body += size;
	}
	return head == head_end && body == end;
}

struct str btree_page_first(struct str beginning, int64_t *before)
{
	const unsigned char *start = (const unsigned char *)beginning.p, *end = start + beginning.n, *head = start;
	uint64_t head_size, type;

	*before = 0;
	if (!read_varint(&head, end, &head_size) || head_size > beginning.n || !read_varint(&head, start + head_size, &type))
		return STR_ABSENT;
	const unsigned char *body = start + head_size;
	if (type < 10 && type != 7) {
		if (integer_size(type) > (size_t)(end - body))
			return STR_ABSENT;
		*before = read_integer(type, body);
		body += integer_size(type);
		if (!read_varint(&head, start + head_size, &type))
			return STR_ABSENT;
	}
	if (type < 12 || (type - 12) / 2 > (uint64_t)(end - body))
		return STR_ABSENT;
	return (struct str){(const char *)body, (size_t)((type - 12) / 2)};
}
