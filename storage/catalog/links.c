#include "storage/catalog/links.h"

#include "core/buf.h"
#include "storage/store/row.h"

#define NO_LAG UINT64_MAX
#define REGIONS_MAX 64

static const struct keyspace versions = {0, SYSTEM_VERSIONS};

struct store_key links_key(struct arena *arena, struct str account)
{
	return (struct store_key){versions, str_printf(arena, "links/" STR_FMT, STR_ARG(account))};
}

/* The lag, and the regions of each cut with a NUL behind each. */
static bool decode_links(struct arena *arena, struct str bytes, struct links *links)
{
	struct row_reader row = row_read(bytes);
	uint64_t lag = row_u64(&row);

	links->has_lag = lag != NO_LAG;
	if (links->has_lag)
		links->lag_ms = (int64_t)lag;
	while (!row.is_cut && row.rest.n > 0) {
		struct str a = row_until(&row, '\0'), b = row_until(&row, '\0');

		links->cuts = arena_room(arena, links->cuts, links->n, sizeof(*links->cuts));
		links->cuts[links->n++] = (struct links_cut){a, b};
	}
	return row_is_whole(&row) && (lag == NO_LAG || lag <= ROW_MS_MAX);
}

enum code links_read(struct store_txn *txn, struct arena *arena, struct str account, int64_t lag_ms,
		     struct links *links, struct err *err)
{
	struct str key = links_key(arena, account).key, row;
	enum code code = store_get(txn, versions, key, arena, &row, err);

	*links = (struct links){.lag_ms = lag_ms};
	if (code != OK || !str_is_set(row))
		return code;
	return decode_links(arena, row, links) ? OK : row_malformed(err, versions, key);
}

enum code links_write(struct store_txn *txn, struct arena *arena, struct str account,
		      const struct links *links, struct err *err)
{
	struct str key = links_key(arena, account).key;
	struct buf buf = buf_in(arena);

	if (!links->has_lag && links->n == 0)
		return store_del(txn, versions, key, err);
	buf_add_be64(&buf, links->has_lag ? (uint64_t)links->lag_ms : NO_LAG);
	for (size_t i = 0; i < links->n; i++) {
		buf_add_str(&buf, links->cuts[i].a);
		buf_add_byte(&buf, 0);
		buf_add_str(&buf, links->cuts[i].b);
		buf_add_byte(&buf, 0);
	}
	return store_put(txn, versions, key, buf_str(&buf), err);
}

bool links_reach(const struct links *links, struct str a, struct str b)
{
	for (size_t i = 0; i < links->n; i++) {
		const struct links_cut *cut = &links->cuts[i];

		if ((str_eq(cut->a, a) && str_eq(cut->b, b)) ||
		    (str_eq(cut->a, b) && str_eq(cut->b, a)))
			return false;
	}
	return true;
}

/* Marks the regions that `from` reaches; how many they are. */
static size_t spread(const struct links *links, struct str from, const struct str *regions,
		     size_t n, bool *is_reached)
{
	size_t count = 0;
	bool is_growing = true;

	for (size_t i = 0; i < n; i++) {
		is_reached[i] = str_eq(regions[i], from);
		count += is_reached[i];
	}
	while (is_growing) {
		is_growing = false;
		for (size_t i = 0; i < n; i++) {
			for (size_t k = 0; k < n && !is_reached[i]; k++) {
				if (is_reached[k] && links_reach(links, regions[k], regions[i])) {
					is_reached[i] = is_growing = true;
					count++;
				}
			}
		}
	}
	return count;
}

bool links_majority(const struct links *links, struct str from, const struct str *regions, size_t n)
{
	bool is_reached[REGIONS_MAX];

	return n > REGIONS_MAX || 2 * spread(links, from, regions, n, is_reached) > n;
}

bool links_connect(const struct links *links, struct str a, struct str b, const struct str *regions,
		   size_t n)
{
	bool is_reached[REGIONS_MAX];

	if (n > REGIONS_MAX)
		return links_reach(links, a, b);
	(void)spread(links, a, regions, n, is_reached);
	for (size_t i = 0; i < n; i++) {
		if (is_reached[i] && str_eq(regions[i], b))
			return true;
	}
	return false;
}

bool links_is_sound(struct arena *arena, const struct store_row *row)
{
	struct links links = {0};

	return decode_links(arena, row->value, &links);
}
