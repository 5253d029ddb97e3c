#include "core/err.h"

#include <stdarg.h>

#include "core/arena.h"

static const struct err_info infos[ERR_COUNT] = {
	[OK] = {"", SPACE_DYNAMODB, 200, ""},
#define ERROR(id, name, space, status, text) [id] = {name, space, status, text},
#include "core/errors.def"
#undef ERROR
};

const struct err_info *err_info(enum code code)
{
	return &infos[code];
}

const char *err_space_prefix(enum err_space space)
{
	static const char *const prefixes[] = {
		[SPACE_DYNAMODB] = "com.amazonaws.dynamodb.v20120810#",
		[SPACE_CORAL_SERVICE] = "com.amazon.coral.service#",
		[SPACE_CORAL_VALIDATE] = "com.amazon.coral.validate#",
		[SPACE_CORAL_AVAILABILITY] = "com.amazon.coral.availability#",
	};

	return prefixes[space];
}

enum code (err_set)(struct err *err, enum code code, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	struct str message = str_vprintf(err->arena, format, ap);
	va_end(ap);
	*err = (struct err){.arena = err->arena, .code = code, .message = message};
	return code;
}

enum code (err_default)(struct err *err, enum code code)
{
	*err = (struct err){.arena = err->arena, .code = code, .message = str_of(infos[code].text)};
	return code;
}

void err_copy(struct err *err, enum code code, struct str message)
{
	*err = (struct err){
		.arena = err->arena, .code = code, .message = str_copy(err->arena, message)};
}

enum code err_if_over(const struct arena *arena, struct err *err)
{
	return arena_is_over(arena) ? (err_default)(err, ERR_SERVICE_UNAVAILABLE) : OK;
}
