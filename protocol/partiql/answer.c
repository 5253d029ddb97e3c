#include "core/image.h"
#include "protocol/partiql/messages.h"
#include "protocol/partiql/partiql.h"

void partiql_respond_item(struct call *call, const struct partiql_columns *columns,
			  struct str image)
{
	struct subject subject = {.arena = call->arena, .image = image};

	if (!columns) {
		json_out_image(&call->out, image);
		return;
	}
	if (columns->paths.n > SUBJECT_PATHS_FEW)
		subject = subject_whole(&subject);
	json_out_open(&call->out, '{');
	for (size_t i = 0; i < columns->paths.n; i++) {
		const struct value *value = subject_path(&subject, columns->paths.paths[i]);

		if (!value)
			continue;
		json_out_name(&call->out, columns->names[i]);
		json_out_value(&call->out, value);
	}
	json_out_close(&call->out, '}');
}

static bool respond_modified(struct call *call, const struct write *write, struct str image,
			     const struct value *decoded, struct str name)
{
	struct value item = *decoded;

	if (!str_is_set(image) ||
	    (!value_is_set(&item) && !image_decode(call->arena, image, &item)))
		return false;
	struct value updated = expr_updated(write->update, call->arena, &item);
	if (updated.n == 0)
		return false;
	if (str_is_set(name))
		json_out_name(&call->out, name);
	json_out_item(&call->out, &updated);
	return true;
}

bool partiql_respond_returning(struct call *call, const struct partiql_statement *statement,
			       const struct write *write, struct str name)
{
	struct str image = write->old_image;

	switch (statement->returning) {
	case PARTIQL_RETURN_MODIFIED_OLD:
		return respond_modified(call, write, write->old_image, &write->old_item, name);
	case PARTIQL_RETURN_MODIFIED_NEW:
		return respond_modified(call, write, write->new_image, &write->new_item, name);
	case PARTIQL_RETURN_NONE:
		return false;
	case PARTIQL_RETURN_ALL_NEW:
		image = write->new_image;
		break;
	case PARTIQL_RETURN_ALL_OLD:
		break;
	}
	if (!str_is_set(image))
		return false;
	if (str_is_set(name))
		json_out_name(&call->out, name);
	json_out_image(&call->out, image);
	return true;
}

enum code partiql_write_error(const struct partiql_statement *statement, struct err *err)
{
	if (err->code == ERR_CONDITIONAL_CHECK_FAILED && statement->kind == PARTIQL_INSERT) {
		err->item = STR_ABSENT; /* AWS: only an UPDATE or DELETE gives it back */
		return err_set(err, MSG_PARTIQL_DUPLICATE_ITEM);
	}
	return err->code;
}
