#include "protocol/tables/encryption_rules.h"

#include "protocol/tables/arn.h"
#include "protocol/tables/table_messages.h"

#define MANAGED_ALIAS "alias/aws/dynamodb" /* AWS's own key, which every account has */

static bool is_enabled(const struct sse_specification *input)
{
	return input->enabled.is_set ? input->enabled.value : input->sse_type == SSE_TYPE_KMS;
}

enum code encryption_rules_check(const struct sse_specification *input, struct err *err)
{
	bool is_off = input->enabled.is_set && !input->enabled.value;

	if (is_off && input->sse_type)
		return err_set(err, MSG_SSE_OFF, "SSEType");
	if (is_off && str_is_set(input->kms_master_key_id))
		return err_set(err, MSG_SSE_OFF, "KMSMasterKeyId");
	if (input->sse_type == SSE_TYPE_AES256)
		return err_set(err, MSG_SSE_AES);
	if (str_is_set(input->kms_master_key_id) && input->sse_type != SSE_TYPE_KMS)
		return err_set(err, MSG_SSE_TYPE);
	return OK;
}

static struct str key_arn(const struct table *table, struct str id)
{
	return str_printf(table->arena, "arn:aws:kms:" STR_FMT ":" STR_FMT ":key/" STR_FMT,
			  STR_ARG(table->identity.region), STR_ARG(table->identity.account),
			  STR_ARG(id));
}

static struct str uuid_of(const struct table *table, struct str text)
{
	struct str seed = str_printf(table->arena, STR_FMT "/" STR_FMT "/" STR_FMT,
				     STR_ARG(table->identity.account),
				     STR_ARG(table->identity.region), STR_ARG(text));
	unsigned long long high = str_hash(seed, 1), low = str_hash(seed, 2);

	return str_printf(table->arena, "%08llx-%04llx-4%03llx-%04llx-%012llx", high >> 32,
			  high >> 16 & 0xFFFF, high & 0xFFF, (low >> 48 & 0x3FFF) | 0x8000,
			  low & 0xFFFFFFFFFFFF);
}

/* A key's id, its ARN, an alias or an alias's ARN: the ARN of the key. */
static enum code resolve_key_arn(struct table *table, struct str key, struct str *out,
				 struct err *err)
{
	struct arn parts = {.region = table->identity.region, .resource = key};

	if (str_starts_with(key, STR("arn:")))
		parts = arn_split(key);
	if (!str_eq(parts.region, table->identity.region))
		return err_set(err, MSG_KMS_REGION, STR_ARG(parts.region),
			       STR_ARG(uuid_of(table, key)));
	/* There is no key service here: an alias means the key whose id follows from its name, the
	 * same one in an account and region always */
	if (str_starts_with(parts.resource, STR("alias/")))
		*out = key_arn(table, uuid_of(table, parts.resource));
	else
		*out = str_starts_with(key, STR("arn:")) ? str_copy(table->arena, key)
							 : key_arn(table, key);
	return OK;
}

enum code encryption_rules_news(const struct table *table, const struct sse_specification *input,
				struct err *err)
{
	struct str asked = str_is_set(input->kms_master_key_id) ? input->kms_master_key_id
								: STR(MANAGED_ALIAS);

	if (!is_enabled(input))
		return table->settings->sse_enabled ? OK : err_set(err, MSG_SSE_DEFAULT);
	/* AWS: recognises the table's key by its ARN only; an alias or an id of the same key
	 * encrypts again */
	return table->settings->sse_enabled && str_eq(asked, table->settings->sse_key)
		       ? err_set(err, MSG_SSE_SAME)
		       : OK;
}

enum code encryption_rules_apply(struct table *table, const struct sse_specification *input,
				 bool is_new, struct err *err)
{
	struct str asked = str_is_set(input->kms_master_key_id) ? input->kms_master_key_id
								: STR(MANAGED_ALIAS),
		   key = STR_ABSENT;
	enum code code = is_new ? OK : encryption_rules_news(table, input, err);

	if (code != OK)
		return code;
	if (!is_enabled(input)) {
		table->settings->sse_enabled = false;
		table->settings->sse_key = STR_ABSENT;
		return OK;
	}
	code = resolve_key_arn(table, asked, &key, err);
	table->settings->sse_enabled = true;
	table->settings->sse_key = key;
	return code;
}

bool encryption_rules_is_managed_name(struct str key)
{
	return str_eq(key, STR(MANAGED_ALIAS)) ||
	       (str_starts_with(key, STR("arn:")) &&
		str_eq(arn_split(key).resource, STR(MANAGED_ALIAS)));
}

bool encryption_rules_is_managed(const struct table *table)
{
	struct str id = uuid_of(table, STR(MANAGED_ALIAS));

	return table->settings->sse_key.n >= id.n &&
	       str_eq((struct str){table->settings->sse_key.p + table->settings->sse_key.n - id.n,
				   id.n},
		      id);
}

enum code encryption_rules_region(const struct table *table, struct str key, struct str region,
				  struct err *err)
{
	if (!str_starts_with(key, STR("arn:")) || str_eq(arn_split(key).region, region))
		return OK;
	return err_set(err, MSG_REPLICA_KEY_REGION, STR_ARG(region), STR_ARG(arn_split(key).region),
		       STR_ARG(uuid_of(table, key)));
}

void encryption_rules_replica(struct table *replica, struct str key)
{
	struct err ignored = err_in(replica->arena);
	struct str asked = str_is_set(key) ? key : STR(MANAGED_ALIAS), own = STR_ABSENT;

	if (replica->settings->sse_enabled &&
	    resolve_key_arn(replica, asked, &own, &ignored) == OK) /* the region was checked */
		replica->settings->sse_key = own;
}
