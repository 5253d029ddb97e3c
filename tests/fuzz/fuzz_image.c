/* Any bytes as an item image: every reader stays in bounds; what decodes encodes to an image that decodes to the same. */
#include <stdint.h>
#include <stdlib.h>

#include "core/image.h"
#include "protocol/json_out.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct arena *arena;
	struct str image = {(const char *)data, size};
	struct value item, again, attribute;

	if (!arena)
		arena = arena_new(1 << 20);
	arena_reset(arena);
	(void)image_item_size(image);
	struct json_out out = json_out_in(arena);
	json_out_image(&out, image);
	if (!image_get(arena, image, STR("pk"), &attribute))
		return 0;
	if (!image_decode(arena, image, &item))
		return 0;
	struct buf buf = buf_in(arena);
	image_encode(&item, &buf);
	if (!image_decode(arena, buf_str(&buf), &again) || again.n != item.n || item_size(&again) != item_size(&item))
		abort();
	return 0;
}
