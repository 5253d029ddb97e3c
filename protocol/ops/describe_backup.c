#include "protocol/tables/backup_rules.h"

/* AWS: DDB-BACKUP-012: the region in the ARN is not looked at, and the ARN is echoed. */
enum code op_describe_backup(struct call *call, const struct describe_backup_input *input,
			     struct err *err)
{
	struct backup_found found;
	struct backup_arn arn;
	enum code code = backup_rules_arn(call, input->backup_arn, &arn, err);

	if (code != OK)
		return code;
	code = backup_rules_find(call, call->ns, &arn, &found, err);
	if (code != OK)
		return code;
	backup_rules_description(call, &found, input->backup_arn, BACKUP_AS_IT_IS);
	return OK;
}
