#include "protocol/handler.h"
#include "protocol/tables/control_messages.h"

/* AWS: there is no table of the legacy version any more, and those of the current version are none.
 * DDB-GLOBALTABLE-001, 004. */
enum code
op_describe_global_table_settings(struct call *call,
				  const struct describe_global_table_settings_input *input,
				  struct err *err)
{
	(void)call;
	return err_set(err, MSG_GLOBAL_SETTINGS_ABSENT, STR_ARG(input->global_table_name));
}
