#include "storage/store/sqlite/raw_file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/be.h"
#include "core/buf.h"
#include "core/crc32.h"
#include "storage/store/sqlite/sqlite_store.h"
#include "storage/store/store_messages.h"

#define FORMAT_AT 60 /* in the file's head: PRAGMA user_version */
#define CHECKED (STORE_PAGE - PAGE_CHECK_BYTES)
#define FILE_HEAD 100
#define COUNT_AT 3 /* in the head of a page of a b-tree: its number of cells */
#define RIGHT_AT 8 /* of an inner page */
#define LEAF_HEAD 8
#define INNER_HEAD 12
#define VARINT_MAX 9
#define FIRST_BYTES 12 /* the first type of columns of bytes */

enum code raw_file_open(int fd, const char *path, struct raw_file *file, struct err *err)
{
	unsigned char page[STORE_PAGE];
	struct stat status;

	*file = (struct raw_file){.fd = fd};
	if (fstat(fd, &status) != 0)
		return err_set(err, MSG_STORE_OPEN, path, strerror(errno));
	file->page_count = (uint32_t)((status.st_size + STORE_PAGE - 1) / STORE_PAGE);
	/* either shows it, so that damage to one of the two does no harm */
	(void)raw_file_read(file, 1, page);
	uint32_t format = be32(page + FORMAT_AT);
	file->has_checksums = page_file_has_checksums(page) ||
			      (format >= PAGE_CHECK_FORMAT && format <= SQLITE_STORE_FORMAT);
	file->usable = file->has_checksums ? CHECKED : STORE_PAGE;
	return OK;
}

static bool mend(unsigned char *page, uint32_t number)
{
	uint32_t stored, difference;
	unsigned char change;
	size_t at;

	memcpy(&stored, page + CHECKED, PAGE_CHECK_BYTES);
	difference = stored ^ page_file_checksum(page, number);
	for (int shift = 0; shift < 32; shift += 8) {
		if ((difference & ~(0xFFu << shift)) == 0) /* a byte of the checksum itself */
			return true;
	}
	if (!crc32_find_byte(difference, CHECKED, &at, &change))
		return false;
	page[at] ^= change;
	return true;
}

enum raw_state raw_file_read(const struct raw_file *file, uint32_t number, unsigned char *page)
{
	off_t at = (off_t)(number - 1) * STORE_PAGE;
	ssize_t n = number == 0 || number > file->page_count
			    ? 0
			    : pread(file->fd, page, STORE_PAGE, at);

	if (n != STORE_PAGE) {
		memset(page + (n > 0 ? n : 0), 0, STORE_PAGE - (size_t)(n > 0 ? n : 0));
		return RAW_DAMAGED;
	}
	if (!file->has_checksums || page_file_is_whole(page, number))
		return RAW_SOUND;
	return mend(page, number) ? RAW_MENDED : RAW_DAMAGED;
}

static bool is_inner(const struct raw_page *page)
{
	return page->kind == RAW_INDEX_INNER || page->kind == RAW_TABLE_INNER;
}

void raw_file_page(const struct raw_file *file, uint32_t number, struct arena *row,
		   struct raw_page *page)
{
	*page = (struct raw_page){.file = file, .row = row};
	page->state = raw_file_read(file, number, page->bytes);
	const unsigned char *head = page->bytes + (number == 1 ? FILE_HEAD : 0);
	page->kind = head[0];
	if (!is_inner(page) && page->kind != RAW_TABLE_LEAF && page->kind != RAW_INDEX_LEAF)
		return;
	page->cells = (size_t)(head - page->bytes) + (is_inner(page) ? INNER_HEAD : LEAF_HEAD);
	page->right = is_inner(page) ? be32(head + RIGHT_AT) : 0;
	size_t count = be16(head + COUNT_AT), most = (file->usable - page->cells) / 2;
	page->count = count < most ? count : most;
}

/* A number of up to 9 bytes. False where it goes on beyond the end. */
static bool read_varint(const unsigned char **p, const unsigned char *end, uint64_t *value)
{
	*value = 0;
	for (int i = 1; i <= VARINT_MAX && *p < end; i++) {
		unsigned char byte = *(*p)++;

		if (i == VARINT_MAX) {
			*value = *value << 8 | byte;
			return true;
		}
		*value = *value << 7 | (byte & 0x7F);
		if (byte < 0x80)
			return true;
	}
	return false;
}

/* How many bytes of a record lie in its cell. */
static size_t local_size(const struct raw_page *page, uint64_t size)
{
	size_t room = page->file->usable, least = (room - 12) * 32 / 255 - 23,
	       most = page->kind == RAW_TABLE_LEAF ? room - 35 : (room - 12) * 64 / 255 - 23;

	if (size <= most)
		return (size_t)size;
	size_t local = least + (size_t)((size - least) % (room - 4));
	return local <= most ? local : least;
}

/* As much of a record as can be read; nothing where its size cannot be right. */
static struct str read_payload(const struct raw_page *page, const unsigned char *p,
			       const unsigned char *end, uint64_t size, enum raw_state *state)
{
	unsigned char bytes[STORE_PAGE];
	size_t local = local_size(page, size), rest = (size_t)(end - p);
	struct buf out = buf_in(page->row);

	if (rest < local || (local < size && rest < local + 4) ||
	    size > (uint64_t)page->file->page_count * STORE_PAGE)
		return STR("");
	if (local == size)
		return (struct str){(const char *)p, local};
	buf_reserve(&out, (size_t)size);
	buf_add(&out, p, local);
	/* a damaged page may name any page as the one where the record goes on */
	for (uint32_t next = be32(p + local); out.n < size && *state != RAW_DAMAGED;) {
		enum raw_state read = raw_file_read(page->file, next, bytes);
		size_t wanted = (size_t)size - out.n, n = page->file->usable - 4;

		*state = read > *state ? read : *state;
		if (read != RAW_DAMAGED)
			buf_add(&out, bytes + 4, n < wanted ? n : wanted);
		next = be32(bytes);
	}
	return buf_str(&out);
}

static size_t column_size(uint64_t type)
{
	static const unsigned char sizes[FIRST_BYTES] = {0, 1, 2, 3, 4, 6, 8, 8};

	return type < FIRST_BYTES ? sizes[type] : (size_t)((type - FIRST_BYTES) / 2);
}

/* Type 7 is a fraction, 8 and 9 are the numbers 0 and 1. */
static struct raw_column read_column(uint64_t type, const unsigned char *p)
{
	size_t n = column_size(type);
	uint64_t value = type == 9 ? 1 : n && p[0] & 0x80 ? UINT64_MAX : 0;

	if (type >= FIRST_BYTES)
		return (struct raw_column){.bytes = {(const char *)p, n}};
	for (size_t i = 0; i < n; i++)
		value = value << 8 | p[i];
	return (struct raw_column){.is_integer = type > 0 && type != 7 && type < 10,
				   .integer = (int64_t)value};
}

/* The types of all columns, then their bytes. */
static void read_record(struct str payload, struct raw_column *columns)
{
	const unsigned char *p = (const unsigned char *)payload.p, *end = p + payload.n;
	uint64_t head, type;

	if (!read_varint(&p, end, &head) || head > payload.n)
		return;
	const unsigned char *body = end - payload.n + head, *types_end = body;
	for (size_t i = 0; i < RAW_COLUMNS && read_varint(&p, types_end, &type); i++) {
		size_t n = column_size(type);

		if (n > (size_t)(end - body))
			return;
		columns[i] = read_column(type, body);
		body += n;
	}
}

static void read_cell(const struct raw_page *page, const unsigned char *p, struct raw_cell *cell)
{
	const unsigned char *end = page->bytes + page->file->usable;
	uint64_t size, rowid = 0;

	if (is_inner(page)) {
		if (end - p < 4)
			return;
		cell->child = be32(p);
		p += 4;
	}
	if (page->kind == RAW_TABLE_INNER || !read_varint(&p, end, &size) ||
	    (page->kind == RAW_TABLE_LEAF && !read_varint(&p, end, &rowid)))
		return;
	cell->rowid = (int64_t)rowid;
	read_record(read_payload(page, p, end, size, &cell->state), cell->columns);
}

bool raw_file_next(struct raw_page *page, struct raw_cell *cell)
{
	*cell = (struct raw_cell){.state = page->state};
	if (page->at == page->count) {
		cell->child = page->right;
		page->right = 0;
		return cell->child != 0;
	}
	size_t place = be16(page->bytes + page->cells + 2 * page->at++);
	arena_reset(page->row);
	if (place >= page->cells && place < page->file->usable)
		read_cell(page, page->bytes + place, cell);
	return true;
}
