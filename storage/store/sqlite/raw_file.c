#include "storage/store/sqlite/raw_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/arena.h"
#include "core/be.h"
#include "core/crc32.h"
#include "storage/store/durable.h"
#include "storage/store/sqlite/sqlite_store.h"
#include "storage/store/store_messages.h"

#define LOG_MAGIC 0x377F0682u /* its last bit: the words of checksums are big-endian */
#define LOG_SALTS_AT 16
#define FRAME_SALTS_AT 8
#define FRAME_SUM_AT 16
#define FRAME_SUMMED 8 /* bytes of a frame's head that its checksum covers, before the page */
#define FORMAT_AT 60          /* in the file's head: PRAGMA user_version */
#define FORMAT_CHECKED 2      /* the first format with checksums */
#define CHECKED (STORE_PAGE - PAGE_CHECK_BYTES)

/* The log's running checksum. */
struct sum {
	bool is_big_endian;
	uint32_t a, b;
};

static uint32_t word(const struct sum *sum, const unsigned char *p)
{
	return sum->is_big_endian
		       ? be32(p)
		       : (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

static void add(struct sum *sum, const unsigned char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i += 8) {
		sum->a += word(sum, bytes + i) + sum->b;
		sum->b += word(sum, bytes + i + 4) + sum->a;
	}
}

static bool is_sum(const struct sum *sum, const unsigned char *stored)
{
	return sum->a == be32(stored) && sum->b == be32(stored + 4);
}

/* Where a frame, counted from 1, begins. */
static off_t frame_at(uint32_t frame)
{
	return LOG_HEAD + (off_t)(frame - 1) * (LOG_FRAME_HEAD + STORE_PAGE);
}

static bool read_log_head(const struct raw_file *file, unsigned char *head, struct sum *sum)
{
	if (file->log_fd < 0 || pread(file->log_fd, head, LOG_HEAD, 0) != LOG_HEAD ||
	    (be32(head) & ~1u) != LOG_MAGIC || be32(head + 8) != STORE_PAGE)
		return false;
	*sum = (struct sum){.is_big_endian = be32(head) & 1};
	add(sum, head, LOG_HEAD - 8);
	return is_sum(sum, head + LOG_HEAD - 8);
}

/* The next frame, where it is a whole one of this log. */
static bool read_frame(const struct raw_file *file, const unsigned char *log_head, uint32_t number,
		       struct sum *sum, unsigned char *frame)
{
	if (pread(file->log_fd, frame, LOG_FRAME_HEAD + STORE_PAGE, frame_at(number)) !=
		    LOG_FRAME_HEAD + STORE_PAGE ||
	    memcmp(frame + FRAME_SALTS_AT, log_head + LOG_SALTS_AT, 8) != 0 || be32(frame) == 0)
		return false;
	add(sum, frame, FRAME_SUMMED);
	add(sum, frame + LOG_FRAME_HEAD, STORE_PAGE);
	return is_sum(sum, frame + FRAME_SUM_AT);
}

/* How many frames there are up to the last whole transaction, and how many pages the file has
 * behind it. */
static uint32_t measure_log(const struct raw_file *file, uint32_t *pages)
{
	unsigned char head[LOG_HEAD], frame[LOG_FRAME_HEAD + STORE_PAGE];
	uint32_t whole = 0;
	struct sum sum;

	if (!read_log_head(file, head, &sum))
		return 0;
	for (uint32_t number = 1; read_frame(file, head, number, &sum, frame); number++) {
		if (be32(frame + 4) != 0) {
			whole = number;
			*pages = be32(frame + 4);
		}
	}
	return whole;
}

static bool index_log(struct raw_file *file, struct arena *arena)
{
	uint32_t pages = 0, whole = measure_log(file, &pages);
	unsigned char number[4];

	if (whole == 0)
		return true;
	file->page_count = pages;
	file->frames = arena_calloc(arena, (size_t)pages + 1, sizeof(*file->frames));
	for (uint32_t frame = 1; frame <= whole; frame++) {
		if (pread(file->log_fd, number, sizeof(number), frame_at(frame)) != sizeof(number))
			return false;
		if (be32(number) <= pages)
			file->frames[be32(number)] = frame;
	}
	return true;
}

enum code raw_file_open(int fd, const char *path, struct arena *arena, struct raw_file *file,
			struct err *err)
{
	unsigned char page[STORE_PAGE];
	struct stat status;

	*file = (struct raw_file){.path = path, .fd = fd, .log_fd = -1};
	if (fstat(fd, &status) != 0)
		return err_set(err, MSG_STORE_OPEN, path, strerror(errno));
	file->page_count = (uint32_t)((status.st_size + STORE_PAGE - 1) / STORE_PAGE);
	file->log_fd = open(str_printf(arena, "%s-wal", path).p, O_RDWR | O_CLOEXEC);
	if (file->log_fd < 0 && errno != ENOENT)
		return err_set(err, MSG_STORE_OPEN, path, strerror(errno));
	if (!index_log(file, arena))
		return err_set(err, MSG_STORE_OPEN, path, strerror(errno));
	/* either shows it, so that damage to one of the two does no harm */
	(void)raw_file_read(file, 1, page);
	uint32_t format = be32(page + FORMAT_AT);
	file->has_checksums = page_file_has_checksums(page) ||
			      (format >= FORMAT_CHECKED && format <= SQLITE_STORE_FORMAT);
	return OK;
}

void raw_file_close(struct raw_file *file)
{
	if (file->log_fd >= 0)
		close(file->log_fd);
	file->log_fd = -1;
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
	bool is_logged = file->frames && number <= file->page_count && file->frames[number];
	off_t at = is_logged ? frame_at(file->frames[number]) + LOG_FRAME_HEAD
			     : (off_t)(number - 1) * STORE_PAGE;
	ssize_t n = number == 0 || number > file->page_count
			    ? 0
			    : pread(is_logged ? file->log_fd : file->fd, page, STORE_PAGE, at);

	if (n != STORE_PAGE) {
		memset(page + (n > 0 ? n : 0), 0, STORE_PAGE - (size_t)(n > 0 ? n : 0));
		return RAW_DAMAGED;
	}
	if (is_logged || !file->has_checksums || page_file_is_whole(page, number))
		return RAW_SOUND;
	return mend(page, number) ? RAW_MENDED : RAW_DAMAGED;
}

static bool move_page(const struct raw_file *file, uint32_t number)
{
	unsigned char page[STORE_PAGE];

	if (raw_file_read(file, number, page) != RAW_SOUND)
		return false;
	if (file->has_checksums)
		page_file_seal(page, number);
	return pwrite(file->fd, page, STORE_PAGE, (off_t)(number - 1) * STORE_PAGE) == STORE_PAGE;
}

enum code raw_file_move_log(const struct raw_file *file, struct err *err)
{
	bool is_moved = true;

	if (file->log_fd < 0)
		return OK;
	for (uint32_t number = 1; number <= file->page_count && file->frames && is_moved; number++)
		is_moved = !file->frames[number] || move_page(file, number);
	if (file->frames)
		is_moved = is_moved &&
			   ftruncate(file->fd, (off_t)file->page_count * STORE_PAGE) == 0 &&
			   durable_sync(file->fd) == 0;
	is_moved = is_moved && ftruncate(file->log_fd, 0) == 0 && durable_sync(file->log_fd) == 0;
	return is_moved ? OK : err_set(err, MSG_STORE_UNMOVED, file->path);
}
