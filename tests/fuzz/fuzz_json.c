/*
 * The quick reader of JSON against cJSON, which reads what it leaves: what it takes must be what
 * cJSON makes of the text. json_parse shows both valid UTF-8 without NULs only. The input has
 * memory of its own size.
 */
#include "core/utf8.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/protocol/json_same.h"

#define DEEP 2000 /* bytes of a text that nests deeper than cJSON's 1,000 levels */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = fuzz_arena();
	char *exact = malloc(size ? size : 1);
	struct str text = {exact, size};

	memcpy(exact, data, size);
	if (size == 0 || !utf8_is_valid(text) || str_has_zero(text)) {
		free(exact);
		return 0;
	}
	const struct json *quick = json_quickly(arena, text), *usual = json_by_library(arena, text);
	MUST(!quick || (usual ? json_is_same(quick, usual) : size > DEEP));
	free(exact);
	return 0;
}
