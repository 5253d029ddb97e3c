#include "protocol/wire/json_image.h"

#include "core/base64.h"
#include "core/image.h"
#include "core/number.h"
#include "protocol/wire/json_text.h"
#include "protocol/wire/number_order.h"

/*
 * Answers have many items, so the walk keeps its places in registers: functions take them and give
 * them back. read_near() reads most entries: those with a usual name and a payload of a piece at
 * most, behind which JSON_TEXT_STEP bytes of the image follow. read_any() reads all others. It
 * copies the end of the image into `tail`, with bytes behind it, so that the last entries are near,
 * too.
 *
 * The walk reads nothing back that it has written, such as the last comma: a load that the
 * processor runs before that store makes it start over.
 */
#define TAIL 64       /* bytes of an image */
#define NAME_USUAL 31 /* bytes of a name */
#define PIECE 1024    /* bytes of a text that are written at once */
#define FRAMES                                                                                     \
	2048 /* bytes that a text has at most beside those of a usual image: names, types and      \
		brackets */
#define DEPTH_MAX (VALUE_DEPTH_MAX + 2)
/* Room for a usual name and a piece with escapes, or a number, what is around them, and the
 * brackets that close all levels. */
#define ROOM                                                                                       \
	(JSON_TEXT_MAX(NAME_USUAL + PIECE) + NUMBER_TEXT_MAX + JSON_TEXT_STEP + 64 + 2 * DEPTH_MAX)
#define ALWAYS_INLINE inline __attribute__((always_inline))
#define PUT(to, literal) put((to), (literal), sizeof(literal) - 1)

struct walk {
	struct buf *buf;
	const char *end;   /* of what is read: the image, or the tail */
	const char *near;  /* from places up to here JSON_TEXT_STEP bytes can be read; NULL:
			      something was malformed */
	const char *limit; /* what is written up to here leaves ROOM */
	bool is_in_tail, is_hashed;
	char tail[TAIL + JSON_TEXT_STEP];
};

struct place {
	const char *from;
	char *to;
};

/* A member, or an element without a name. */
struct entry {
	struct str name;
	enum type type;
	struct str payload;
	bool is_near; /* name and payload, to read JSON_TEXT_STEP bytes from */
};

static ALWAYS_INLINE char *put(char *to, const char *bytes, size_t n)
{
	memcpy(to, bytes, n);
	return to + n;
}

static char *make_room(struct walk *walk, char *to, size_t n)
{
	walk->buf->n = (size_t)(to - walk->buf->p);
	to = buf_reserve(walk->buf, n + ROOM);
	walk->limit = walk->buf->p + walk->buf->cap - ROOM;
	return to;
}

/* Ends the walk: all brackets are closed, and no more is read. */
static void give_up(struct walk *walk)
{
	walk->near = NULL;
}

static void move_to_tail(struct walk *walk, struct place *at)
{
	size_t n = (size_t)(walk->end - at->from);

	memcpy(walk->tail, at->from, n);
	memset(walk->tail + n, 0, JSON_TEXT_STEP);
	at->from = walk->tail;
	walk->end = walk->near = walk->tail + n;
	walk->is_in_tail = true;
}

/* Any entry, with room for its text; false where it is malformed. */
static __attribute__((noinline)) bool read_any(struct walk *walk, struct place *at, bool is_member,
					       struct entry *entry)
{
	struct image_value value;

	if (!walk->near)
		return false;
	if (!walk->is_in_tail && walk->end - at->from <= TAIL)
		move_to_tail(walk, at);
	struct image_cursor cursor = {at->from, walk->end, 1};
	*entry = (struct entry){.name = {at->from, 0}, .is_near = walk->is_in_tail};
	if ((is_member && !image_read_bytes(&cursor, &entry->name)) ||
	    !image_read_value(&cursor, &value)) {
		give_up(walk);
		return false;
	}
	entry->type = value.type;
	entry->payload = value.payload;
	at->to = make_room(walk, at->to,
			   JSON_TEXT_MAX(entry->name.n) +
				   (value.type == TYPE_B ? 2 * value.payload.n : 0));
	return true;
}

/* An entry with a usual name and a payload of a piece at most, all of which is near. */
static ALWAYS_INLINE bool read_near(const struct walk *walk, const char *from, bool is_member,
				    struct entry *entry)
{
	if (from >= walk->near)
		return false;
	struct str name = {from + is_member, is_member ? (unsigned char)*from : 0};
	const char *payload = name.p + name.n + 2;
	if (name.n > NAME_USUAL || payload >= walk->near)
		return false;
	enum type type = (enum type)(unsigned char)payload[-2];
	size_t n = (unsigned char)payload[-1];
	if (n >= 0x80) /* a length of two bytes */
		n = (n & 0x7F) | (size_t)(unsigned char)*payload++ << 7;
	*entry = (struct entry){name, type, {payload, n}, true};
	return n <= PIECE && payload + n <= walk->near;
}

static ALWAYS_INLINE bool read_entry(struct walk *walk, struct place *at, bool is_member,
				     struct entry *entry)
{
	if (at->to <= walk->limit && read_near(walk, at->from, is_member, entry))
		return true;
	struct entry any; /* of its own, and a place: their addresses must not keep the others from
			     being registers */
	struct place place = *at;
	bool is_there = read_any(walk, &place, is_member, &any);

	*at = place;
	*entry = any;
	return is_there;
}

/* Whether an element is of the set's type: each type has a room of its own. */
static ALWAYS_INLINE bool is_element(struct walk *walk, enum type set, enum type type)
{
	bool is_right = type == (set == TYPE_SS ? TYPE_S : set == TYPE_NS ? TYPE_N : TYPE_B);

	if (!is_right)
		give_up(walk);
	return is_right;
}

/* A text of any length, piece by piece: few need the room that it would take if each byte had an
 * escape. */
static __attribute__((noinline)) char *put_image_pieces(struct walk *walk, char *to,
							struct str text)
{
	while (text.n > 0) {
		struct str piece = {text.p, text.n < PIECE ? text.n : PIECE};

		to = json_text_put(make_room(walk, to, text.n), piece);
		text = (struct str){text.p + piece.n, text.n - piece.n};
	}
	return to;
}

static ALWAYS_INLINE char *put_text(struct walk *walk, char *to, const struct entry *entry)
{
	return entry->is_near ? json_text_put_near(to, entry->payload)
			      : put_image_pieces(walk, to, entry->payload);
}

static ALWAYS_INLINE char *put_name(char *to, const struct entry *entry)
{
	return entry->is_near ? json_text_put_near(to, entry->name)
			      : json_text_put(to, entry->name);
}

static ALWAYS_INLINE char *put_number(struct walk *walk, char *to, struct str number)
{
	char *end = number_put(number, to);

	if (end)
		return end;
	give_up(walk);
	return to;
}

static struct place put_other(struct walk *walk, struct place at, enum type type, size_t n,
			      unsigned depth);

/* What stands before a value goes into one piece with its bracket: the end of a name, or a comma.
 */
static ALWAYS_INLINE struct place put_image_value(struct walk *walk, struct place at,
						  bool is_member, const struct entry *entry,
						  unsigned depth)
{
	struct str payload = entry->payload;
	char *to = at.to;

	if (entry->type == TYPE_S) {
		to = is_member ? PUT(to, "\":{\"S\":\"") : PUT(to, ",{\"S\":\"");
		to = PUT(put_text(walk, to, entry), "\"}");
	} else if (entry->type == TYPE_N) {
		to = is_member ? PUT(to, "\":{\"N\":\"") : PUT(to, ",{\"N\":\"");
		to = PUT(put_number(walk, to, payload), "\"}");
	} else {
		return put_other(
			walk, (struct place){payload.p, is_member ? PUT(to, "\":") : PUT(to, ",")},
			entry->type, payload.n, depth);
	}
	return (struct place){payload.p + payload.n, to};
}

/* Puts the brackets of what begins at `first` in place of its first comma and at its end. */
static ALWAYS_INLINE struct place put_brackets(const struct walk *walk, struct place at,
					       size_t first, const char brackets[2])
{
	char *open = walk->buf->p + first;

	at.to += at.to == open;
	*open = brackets[0];
	*at.to++ = brackets[1];
	return at;
}

/* Whether the request may go on: a value can have 200,000 elements. Where it may not, the walk ends
 * too early, so that it fails. */
static ALWAYS_INLINE bool has_time(const struct walk *walk, uint64_t left)
{
	return left % ARENA_LOOK != 0 || arena_works(walk->buf->arena, ARENA_LOOK);
}

static ALWAYS_INLINE struct place put_image_members(struct walk *walk, struct place at,
						    uint64_t left, unsigned depth)
{
	size_t first = (size_t)(at.to - walk->buf->p); /* what is written may move */
	struct entry entry;

	for (; left > 0 && has_time(walk, left) && read_entry(walk, &at, true, &entry); left--) {
		at.to = put_name(PUT(at.to, ",\""), &entry);
		at = put_image_value(walk, at, true, &entry, depth);
	}
	return put_brackets(walk, at, first, "{}");
}

static ALWAYS_INLINE struct place put_list(struct walk *walk, struct place at, uint64_t left,
					   unsigned depth)
{
	size_t first = (size_t)(at.to - walk->buf->p); /* what is written may move */
	struct entry entry;

	for (; left > 0 && has_time(walk, left) && read_entry(walk, &at, false, &entry); left--)
		at = put_image_value(walk, at, false, &entry, depth);
	return put_brackets(walk, at, first, "[]");
}

/* Those that were written from `first` on, each behind a comma. */
static __attribute__((noinline)) void order_numbers(struct walk *walk, struct place at,
						    size_t first)
{
	char *from = walk->buf->p + first + 1;

	if (at.to > from)
		number_order(walk->buf->arena, from, (size_t)(at.to - from));
}

static ALWAYS_INLINE struct place put_set(struct walk *walk, struct place at, enum type type,
					  uint64_t left)
{
	size_t first = (size_t)(at.to - walk->buf->p); /* what is written may move */
	struct entry entry;

	for (; left > 0 && has_time(walk, left) && read_entry(walk, &at, false, &entry) &&
	       is_element(walk, type, entry.type);
	     left--) {
		char *to = PUT(at.to, ",\"");

		if (entry.type == TYPE_S)
			to = put_text(walk, to, &entry);
		else
			to = entry.type == TYPE_N ? put_number(walk, to, entry.payload)
						  : base64_put(entry.payload, to);
		at = (struct place){entry.payload.p + entry.payload.n, PUT(to, "\"")};
	}
	if (type == TYPE_NS && walk->is_hashed && walk->near)
		order_numbers(walk, at, first);
	return put_brackets(walk, at, first, "[]");
}

/* A map, list or set; as deep as the value, DEPTH_MAX. */
static struct place put_nested(struct walk *walk, struct place at, enum type type, size_t n,
			       unsigned depth)
{
	size_t rest = (size_t)(walk->end - at.from) -
		      n; /* of the image, behind the value: places may move to the tail */
	struct image_cursor cursor = {at.from, at.from + n, 0};
	uint64_t count = 0;

	if (depth == 0 || !image_read_varint(&cursor, &count)) {
		give_up(walk);
		count = 0;
	}
	at.from = cursor.p;
	if (type == TYPE_M) {
		at.to = PUT(at.to, "{\"M\":");
		at = put_image_members(walk, at, count, depth - 1);
	} else if (type == TYPE_L) {
		at.to = PUT(at.to, "{\"L\":");
		at = put_list(walk, at, count, depth - 1);
	} else {
		at.to = PUT(at.to, "{\"SS\":");
		at.to[-4] = type == TYPE_SS ? 'S' : type == TYPE_NS ? 'N' : 'B';
		at = put_set(walk, at, type, count);
	}
	if ((size_t)(walk->end - at.from) != rest)
		give_up(walk);
	*at.to++ = '}';
	return at;
}

/* What is no S or N. */
static __attribute__((noinline)) struct place put_other(struct walk *walk, struct place at,
							enum type type, size_t n, unsigned depth)
{
	char *to = at.to;

	switch (type) {
	case TYPE_B:
		to = PUT(to, "{\"B\":\"");
		to = base64_put((struct str){at.from, n}, to);
		to = PUT(to, "\"}");
		break;
	case TYPE_BOOL:
		to = n > 0 && at.from[0] ? PUT(to, "{\"BOOL\":true}") : PUT(to, "{\"BOOL\":false}");
		break;
	case TYPE_NULL:
		to = PUT(to, "{\"NULL\":true}");
		break;
	case TYPE_M:
	case TYPE_L:
	case TYPE_SS:
	case TYPE_NS:
	case TYPE_BS:
		return put_nested(walk, at, type, n, depth);
	default:
		give_up(walk);
		to = PUT(to, "{}");
	}
	return (struct place){at.from + n, to};
}

/* What the text of `n` images mostly takes: that of a short image twice its bytes. A long one holds
 * long texts. */
static size_t guess(size_t n, size_t bytes)
{
	return bytes + (bytes < n * FRAMES ? bytes : n * FRAMES);
}

void json_image_expect(struct buf *buf, size_t n, size_t bytes)
{
	buf_reserve(buf, guess(n, bytes) + ROOM);
}

bool json_image_add(struct buf *buf, struct str image, bool is_hashed)
{
	struct walk walk = {.buf = buf, .is_hashed = is_hashed};
	struct place at = {NULL, make_room(&walk, buf->p + buf->n, guess(1, image.n))};
	struct image_cursor cursor;
	bool is_image = image_open(image, &cursor);

	if (is_image) {
		at.from = cursor.p;
		walk.end = cursor.end;
		walk.near = cursor.end - JSON_TEXT_STEP;
		at = put_image_members(&walk, at, cursor.left, DEPTH_MAX);
	} else {
		at.to = PUT(at.to, "{}");
	}
	buf->n = (size_t)(at.to - buf->p);
	return is_image && walk.near && at.from == walk.end;
}
