/*
 * table_messages - texts of the errors that the table operations' rules give.
 * Source: recorded answers of AWS; those the record lacks, DynamoDB Local. For tags, which both
 * lack, texts that users of AWS report.
 */
#ifndef DYNALITH_PROTOCOL_TABLE_MESSAGES_H
#define DYNALITH_PROTOCOL_TABLE_MESSAGES_H

#include "core/err.h"

#define INVALID "One or more parameter values were invalid: "

#define MSG_TABLE_EXISTS ERR_RESOURCE_IN_USE, "Table already exists: " STR_FMT
#define IN_USE "Attempt to change a resource which is still in use: "
#define MSG_TABLE_IN_USE ERR_RESOURCE_IN_USE, IN_USE "Table is being %s: " STR_FMT
#define MSG_TABLE_IN_USE_UPDATED                                                                   \
	ERR_RESOURCE_IN_USE, IN_USE "Table: " STR_FMT " is in the process of being updated."
#define MSG_TABLE_INDEXES_IN_USE                                                                   \
	ERR_RESOURCE_IN_USE,                                                                       \
		IN_USE "Cannot delete table while indexes are being created, updated, or deleted."
#define MSG_INDEX_IN_USE                                                                           \
	ERR_RESOURCE_IN_USE, IN_USE "Index is being %s. Table: " STR_FMT " Index: " STR_FMT
/* two spaces, as the service writes it */
#define MSG_INDEX_BEING_CREATED                                                                    \
	ERR_RESOURCE_IN_USE, IN_USE "Index is being created.  Table: " STR_FMT " Index: " STR_FMT
#define MSG_INDEX_NOT_FILLING                                                                      \
	ERR_RESOURCE_IN_USE,                                                                       \
		IN_USE "Index is being created but is not backfilling yet.  Table: " STR_FMT       \
		       " Index: " STR_FMT
#define MSG_INDEX_ALLOCATING                                                                       \
	ERR_RESOURCE_IN_USE, IN_USE "Index creation is in resource allocation phase. Retry "       \
				    "deletion during backfilling phase or "                        \
				    "when the index is active. Table: " STR_FMT " Index: " STR_FMT
#define MSG_TABLE_PROTECTED                                                                        \
	ERR_VALIDATION, "Resource cannot be deleted as it is currently protected against "         \
			"deletion. Disable deletion protection "                                   \
			"first."
#define MSG_KEYS_MANY                                                                              \
	ERR_VALIDATION, "1 validation error detected: Value '[" STR_FMT                            \
			"]' at 'keySchema' failed to satisfy constraint: "                         \
			"Member must have length less than or equal to %u"
#define MSG_KEYS_FIRST                                                                             \
	ERR_VALIDATION, "%s", "Invalid KeySchema: The first KeySchemaElement is not a HASH key type"
#define MSG_KEYS_SECOND                                                                            \
	ERR_VALIDATION, "%s",                                                                      \
		"Invalid KeySchema: The second KeySchemaElement is not a RANGE key type"
#define MSG_KEYS_UNDEFINED                                                                         \
	ERR_VALIDATION, "%s", "Invalid KeySchema: Some index key attribute have no definition"
#define MSG_KEYS_SAME                                                                              \
	ERR_VALIDATION, "%s",                                                                      \
		"Both the Hash Key and the Range Key element in the KeySchema have the same name"
#define MSG_KEYS_TWICE                                                                             \
	ERR_VALIDATION, "%s", "The KeySchema contains multiple key attributes with the same name"
#define MSG_KEYS_ORDER                                                                             \
	ERR_VALIDATION, "%s",                                                                      \
		INVALID                                                                            \
		"All HASH key attributes must precede RANGE key attributes in the KeySchema"
#define MSG_KEYS_COUNT                                                                             \
	ERR_VALIDATION,                                                                            \
		INVALID "The KeySchema exceeds the maximum allowed number of %s key attributes"
#define MSG_KEYS_MISSING                                                                           \
	ERR_VALIDATION,                                                                            \
		INVALID "Some index key attributes are not defined in AttributeDefinitions. "      \
			"Keys: [" STR_FMT "], AttributeDefinitions: [" STR_FMT "]"
#define MSG_KEYS_REDEFINED                                                                         \
	ERR_VALIDATION, INVALID "Attributes cannot be redefined. Please check that your "          \
				"attribute has the same type as previously "                       \
				"defined. Existing schema: Schema:[SchemaElement: key{" STR_FMT    \
				":%s:%s}] New schema: "                                            \
				"Schema:[SchemaElement: key{" STR_FMT ":%s:%s}]"
#define MSG_DEFINITIONS_COUNT                                                                      \
	ERR_VALIDATION, "%s",                                                                      \
		INVALID "Number of attributes in KeySchema does not exactly match number of "      \
			"attributes defined in AttributeDefinitions"
#define MSG_DEFINITIONS_UNUSED                                                                     \
	ERR_VALIDATION,                                                                            \
		INVALID "Some AttributeDefinitions are not used. AttributeDefinitions: [" STR_FMT  \
			"], keys used: [" STR_FMT "]"
#define MSG_DEFINITIONS_TWICE ERR_VALIDATION, "Attribute Name is duplicated: " STR_FMT
#define MSG_UNITS_REQUIRED                                                                         \
	ERR_VALIDATION, "%s",                                                                      \
		INVALID "ReadCapacityUnits and WriteCapacityUnits must both be specified when "    \
			"BillingMode is PROVISIONED"
#define MSG_UNITS_REFUSED                                                                          \
	ERR_VALIDATION, "%s",                                                                      \
		INVALID "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when "  \
			"BillingMode is PAY_PER_REQUEST"
#define MSG_UNITS_INDEX_REQUIRED                                                                   \
	ERR_VALIDATION, INVALID "ProvisionedThroughput must be specified for index: " STR_FMT
#define MSG_UNITS_INDEX_ABSENT                                                                     \
	ERR_VALIDATION, INVALID "ProvisionedThroughput is not specified for index: " STR_FMT
#define MSG_UNITS_INDEX_REFUSED                                                                    \
	ERR_VALIDATION,                                                                            \
		INVALID "ProvisionedThroughput should not be specified for index: " STR_FMT        \
			" when BillingMode is PAY_PER_REQUEST"
#define MSG_ON_DEMAND_REFUSED                                                                      \
	ERR_VALIDATION, INVALID "%s for OnDemandThroughput cannot be specified when table "        \
				"BillingMode is PROVISIONED."
#define MSG_ON_DEMAND_REFUSED_UPDATE                                                               \
	ERR_VALIDATION, INVALID "%s for OnDemandThroughput cannot be specified when the table "    \
				"BillingMode is PROVISIONED"
#define MSG_ON_DEMAND_RANGE                                                                        \
	ERR_VALIDATION, INVALID "Requested %s for OnDemandThroughput for " STR_FMT                 \
				" is outside of valid range"
#define MSG_ON_DEMAND_INDEX_REFUSED                                                                \
	ERR_VALIDATION, INVALID "%s for OnDemandThroughput for index: " STR_FMT                    \
				" cannot be specified when table BillingMode is PROVISIONED."
#define MSG_ON_DEMAND_INDEX_REFUSED_UPDATE                                                         \
	ERR_VALIDATION, INVALID "%s for OnDemandThroughput for index : " STR_FMT                   \
				" cannot be specified when "                                       \
				"the table BillingMode is PROVISIONED"
#define MSG_WARM_EMPTY                                                                             \
	ERR_VALIDATION, INVALID "WarmThroughput must have at least one of ReadUnitsPerSecond or "  \
				"WriteUnitsPerSecond specified for index: " STR_FMT
#define WARM_REQUESTED INVALID "Requested %s for WarmThroughput for " STR_FMT " is lower than "
#define MSG_WARM_LESS                                                                              \
	ERR_VALIDATION, WARM_REQUESTED                                                             \
		"current WarmThroughput, decreasing WarmThroughput is not supported"
#define MSG_WARM_LOW                                                                               \
	ERR_VALIDATION, WARM_REQUESTED                                                             \
		"initial throughput for OnDemand. See: "                                           \
		"https://docs.aws.amazon.com/amazondynamodb/latest/"                               \
		"developerguide/on-demand-capacity-mode.html#on-demand-capacity-mode-initial"
#define MSG_WARM_LOW_UNITS ERR_VALIDATION, WARM_REQUESTED "%s of ProvisionedThroughput"
#define MORE_UNITS                                                                                 \
	"Refer to the Amazon DynamoDB Developer Guide for current limits and how to request "      \
	"higher limits."
#define MSG_UNITS_LIMIT                                                                            \
	ERR_LIMIT_EXCEEDED, "The requested %s, %lld, is above the per table maximum for the "      \
			    "account in " STR_FMT ". Per table "                                   \
			    "maximum: %d. " MORE_UNITS
#define MSG_UNITS_INDEX_LIMIT                                                                      \
	ERR_LIMIT_EXCEEDED, "The requested %s for index " STR_FMT                                  \
			    ", %lld, is above the per index maximum for the account "              \
			    "in " STR_FMT ". Per index maximum: %d. " MORE_UNITS
#define MSG_UNITS_BOUND ERR_VALIDATION, "Given value %lld for %s is out of bounds"
#define MSG_UNITS_INDEX_BOUND                                                                      \
	ERR_VALIDATION, "Given value %lld for %s is out of bounds for index " STR_FMT
#define MSG_THROUGHPUT_LIMIT                                                                       \
	ERR_LIMIT_EXCEEDED, "Subscriber limit exceeded: Requested %s for " STR_FMT                 \
			    " exceeds TableMax%sCapacityUnits of "                                 \
			    "the account in region " STR_FMT
#define MSG_SSE_OFF ERR_VALIDATION, INVALID "%s can not be specified if Enabled is false"
#define MSG_SSE_AES ERR_VALIDATION, "%s", INVALID "SSEType AES256 is not supported"
#define MSG_SSE_TYPE                                                                               \
	ERR_VALIDATION, "%s", INVALID "SSEType KMS is required if KMSMasterKeyId is specified"
#define MSG_SSE_DEFAULT ERR_VALIDATION, "%s", INVALID "Table is already encrypted by default"
#define MSG_SSE_SAME                                                                               \
	ERR_VALIDATION, "%s",                                                                      \
		INVALID "Table is already encrypted with given KMSMasterKeyId. Use "               \
			"KMSMasterKeyId parameter "                                                \
			"if you want to change Master Key"
#define MSG_KMS_REGION                                                                             \
	ERR_VALIDATION,                                                                            \
		"KMS validation error: com.amazonaws.services.kms.model.NotFoundException: "       \
		"Invalid arn " STR_FMT " (Service: AWSKMS; Status Code: 400; Error Code: "         \
				       "NotFoundException; Request ID: " STR_FMT "; Proxy: null)"
#define MSG_TABLE_CLASS                                                                            \
	ERR_VALIDATION, "%s",                                                                      \
		"Invalid table-class parameter provided. Please try again with a valid "           \
		"table-class value: "                                                              \
		"[STANDARD, STANDARD_INFREQUENT_ACCESS]."
#define MSG_INDEX_LIST_EMPTY ERR_VALIDATION, INVALID "List of %s is empty"
#define MSG_INDEX_LIMIT_LOCAL                                                                      \
	ERR_VALIDATION, INVALID "Number of LocalSecondaryIndexes exceeds per-table limit of %d"
#define MSG_INDEX_LIMIT_GLOBAL                                                                     \
	ERR_VALIDATION, INVALID "GlobalSecondaryIndex count exceeds the per-table limit of %d"
#define MSG_INDEX_TWICE ERR_VALIDATION, INVALID "Duplicate index name: " STR_FMT
#define MSG_INDEX_EXISTS ERR_VALIDATION, "Attempting to create an index which already exists"
#define MSG_INDEX_RANGE_TABLE                                                                      \
	ERR_VALIDATION, "%s",                                                                      \
		INVALID "Table KeySchema does not have a range key, which is required when "       \
			"specifying a LocalSecondaryIndex"
#define MSG_INDEX_RANGE                                                                            \
	ERR_VALIDATION, INVALID "Index KeySchema does not have a range key for index: " STR_FMT
#define MSG_INDEX_HASH                                                                             \
	ERR_VALIDATION, INVALID "Index KeySchema does not have the same leading hash key as "      \
				"table KeySchema for index: " STR_FMT ". index hash key: " STR_FMT \
				", table hash key: " STR_FMT
#define MSG_PROJECTION_UNKNOWN ERR_VALIDATION, "%s", INVALID "Unknown ProjectionType: null"
#define MSG_PROJECTION_EXTRA                                                                       \
	ERR_VALIDATION, INVALID "ProjectionType is %s, but NonKeyAttributes is specified"
#define MSG_PROJECTION_LACKS                                                                       \
	ERR_VALIDATION, "%s",                                                                      \
		INVALID "ProjectionType is INCLUDE, but NonKeyAttributes is not specified"
#define MSG_PROJECTION_TWICE                                                                       \
	ERR_VALIDATION, INVALID "Duplicate element in NonKeyAttributes: " STR_FMT
#define MSG_PROJECTION_LIMIT                                                                       \
	ERR_VALIDATION,                                                                            \
		INVALID "Number of attributes projected to all indexes exceeds the limit of %d"
#define MSG_STREAM_VIEW_REQUIRED                                                                   \
	ERR_VALIDATION, "%s", INVALID "If stream is being enabled then UpdateViewType is required"
#define MSG_STREAM_VIEW_REQUIRED_NEW                                                               \
	ERR_VALIDATION, "%s",                                                                      \
		INVALID "Table is being created with a stream enabled, UpdateViewType is required"
#define MSG_STREAM_VIEW_REFUSED                                                                    \
	ERR_VALIDATION, "%s",                                                                      \
		INVALID "If stream is being disabled, then UpdateViewType must not be specified"
#define MSG_STREAM_VIEW_REFUSED_NEW                                                                \
	ERR_VALIDATION, "%s",                                                                      \
		INVALID "Table is being created with a stream disabled, UpdateViewType should "    \
			"not be specified"
#define MSG_STREAM_ON ERR_VALIDATION, "Table already has an enabled stream: TableName: " STR_FMT
#define MSG_STREAM_OFF ERR_VALIDATION, "Table has no stream to disable: TableName: " STR_FMT
#define MSG_FEATURE_ABSENT ERR_VALIDATION, "%s is not supported by this server"
#define MSG_REPLICA_NO_ACTION                                                                      \
	ERR_VALIDATION, "%s",                                                                      \
		"There are no actions specified in the Replica Update Action of the request."
#define MSG_REPLICA_KINDS                                                                          \
	ERR_VALIDATION, "%s",                                                                      \
		"Update table operation with more than one type of replica actions not allowed."
#define MSG_REPLICA_MANY                                                                           \
	ERR_VALIDATION, "%s",                                                                      \
		"Update table operation with more than one create or delete replica actions not "  \
		"allowed"
#define MSG_REPLICA_REGION_ABSENT ERR_VALIDATION, "%s", "One or more parameter values were invalid"
#define MSG_REPLICA_LOCAL                                                                          \
	ERR_VALIDATION, "%s",                                                                      \
		"Cannot add or delete the local region through ReplicaUpdates. Use CreateTable, "  \
		"DeleteTable, "                                                                    \
		"or UpdateTable as required."
#define MSG_REPLICA_REGION                                                                         \
	ERR_VALIDATION, "Region " STR_FMT " is not supported. The latest version of global "       \
					  "tables are only supported in the "                      \
			"following regions: %s"
#define MSG_REPLICA_ABSENT                                                                         \
	ERR_VALIDATION, "Update global table operation failed because one or more replicas were "  \
			"not part of the global table. Please "                                    \
			"retry the request without these replicas: [" STR_FMT "]."
#define MSG_REPLICA_WITNESS                                                                        \
	ERR_VALIDATION, "%s",                                                                      \
		"MultiRegionConsistency must be set as STRONG when GlobalTableWitnessUpdates "     \
		"parameter is present."
#define MSG_REPLICA_CONSISTENCY                                                                    \
	ERR_VALIDATION, "%s",                                                                      \
		"Only Replica Create actions are supported when MultiRegionConsistency parameter " \
		"is provided."
#define MSG_REPLICA_MODE                                                                           \
	ERR_VALIDATION, "%s",                                                                      \
		"Value 'ENABLED_WITH_OVERRIDES' at 'GlobalTableSettingsReplicationMode' failed "   \
		"to satisfy constraint: "                                                          \
		"Only ENABLED and DISABLED settings replication are supported for a Regional "     \
		"Table."
#define MSG_REPLICA_ALONE                                                                          \
	ERR_VALIDATION, "%s",                                                                      \
		INVALID                                                                            \
		"Requests that modify replicas or witnesses must not also modify other fields"
#define MSG_REPLICA_COUNT                                                                          \
	ERR_VALIDATION, "%s",                                                                      \
		"Unsupported replica count for global tables with MultiRegionConsistency set to "  \
		"STRONG."
#define MSG_REPLICA_STRONG_REGION                                                                  \
	ERR_VALIDATION, "Unsupported Region(s) specified for global tables with "                  \
			"MultiRegionConsistency set to STRONG: [" STR_FMT "]."
#define MSG_REPLICA_SAME_REGION                                                                    \
	ERR_VALIDATION, "%s", "Cannot target multiple regions with the same action"
#define MSG_REPLICA_WITNESS_LOCAL                                                                  \
	ERR_VALIDATION, "%s",                                                                      \
		"Cannot add a witness in the same region as an existing replica when creating a "  \
		"global table with "                                                               \
		"MultiRegionConsistency set to STRONG."
#define MSG_REPLICA_STRONG_FROZEN                                                                  \
	ERR_VALIDATION, "%s",                                                                      \
		"Cannot add replicas to a global table with strong MultiRegionConsistency"
#define MSG_REPLICA_STRONG_EXISTING                                                                \
	ERR_VALIDATION, "%s",                                                                      \
		"MultiRegionConsistency parameter is unsupported on existing global table"
#define MSG_REPLICA_STRONG_ONE                                                                     \
	ERR_VALIDATION, "%s",                                                                      \
		"Deletion of only one table replica is not supported for global tables with "      \
		"MultiRegionConsistency "                                                          \
		"set to STRONG."
#define MSG_REPLICA_WITNESSES                                                                      \
	ERR_VALIDATION, "%s", "Update table delete operation does not include all witnesses."
#define MSG_REPLICA_WITNESS_ABSENT                                                                 \
	ERR_VALIDATION, "Update global table operation failed because one or more witnesses were " \
			"not part of the global table. Please "                                    \
			"retry the request without these witnesses: [" STR_FMT "]."
/* AWS: Developer Guide, "How DynamoDB global tables work", considerations for strong consistency;
 * the words are ours */
#define MSG_REPLICA_STRONG_ITEMS                                                                   \
	ERR_VALIDATION, "%s", "The table must be empty for MultiRegionConsistency set to STRONG."
#define MSG_REPLICA_STRONG_LOCAL_INDEX                                                             \
	ERR_VALIDATION, "%s",                                                                      \
		"Local secondary indexes are not supported for MultiRegionConsistency set to "     \
		"STRONG."
#define MSG_REPLICA_STRONG_TTL                                                                     \
	ERR_VALIDATION, "%s",                                                                      \
		"Time to live is not supported for MultiRegionConsistency set to STRONG."
#define MSG_REPLICA_EXISTS                                                                         \
	ERR_VALIDATION, "Failed to create a the new replica of table with name: ‘" STR_FMT         \
			"’ because one or more replicas "                                        \
			"already existed as tables."
#define MSG_REPLICA_ADDED                                                                          \
	ERR_VALIDATION, "Create/Update/Delete of replica is not allowed while the replica is "     \
			"being added to table with name: ‘" STR_FMT "’ in region: ‘" STR_FMT "’."
#define MSG_REPLICA_SOURCE                                                                         \
	ERR_VALIDATION, "%s",                                                                      \
		"Replica cannot be deleted because it has acted as a source region for new "       \
		"replica(s) being added to "                                                       \
		"the table in the last 24 hours."
#define MSG_REPLICA_PROTECTED                                                                      \
	ERR_VALIDATION, "Cannot delete table " STR_FMT " in region " STR_FMT                       \
			" because it has deletion protection enabled. "                            \
			"Disable deletion protection first."
/* Worded by us: the API Reference names the rules, not the texts. */
#define MSG_DISASSOCIATE_ALONE                                                                     \
	ERR_VALIDATION, "%s",                                                                      \
		INVALID "A Disassociate action must be the only replica update in the request."
#define MSG_DISASSOCIATE_REGION                                                                    \
	ERR_VALIDATION, INVALID "Only the replica in the region of the request can be "            \
				"disassociated, which is " STR_FMT "."
#define MSG_DISASSOCIATE_NOT_GLOBAL                                                                \
	ERR_VALIDATION,                                                                            \
		INVALID "Table " STR_FMT                                                           \
			" is not a replica of a global table with eventual consistency, so it "    \
			"cannot be disassociated."
#define MSG_DISASSOCIATE_PROTECTED                                                                 \
	ERR_VALIDATION, "Cannot disassociate table " STR_FMT " in region " STR_FMT                 \
			" because it has disassociation protection "                               \
			"enabled. Disable disassociation protection first."
#define MSG_REPLICA_IN_USE                                                                         \
	ERR_RESOURCE_IN_USE, "%s", "The resource which you are attempting to change is in use."
#define MSG_REPLICA_STREAM                                                                         \
	ERR_VALIDATION, "%s", INVALID "Disabling Stream is not allowed for a Global Table replica."
#define MSG_REPLICA_KEY                                                                            \
	ERR_VALIDATION, "%s", INVALID "KMSMasterKeyId must be specified for each replica."
#define MSG_REPLICA_KEYS                                                                           \
	ERR_VALIDATION, "%s",                                                                      \
		INVALID "All replica keys must either be Customer Managed CMK or AWS Managed CMK."
#define MSG_REPLICA_KEY_REGION                                                                     \
	ERR_VALIDATION,                                                                            \
		"KMS validation error for region " STR_FMT                                         \
		": com.amazonaws.services.kms.model.NotFoundException: Invalid arn " STR_FMT       \
		" (Service: AWSKMS; Status Code: 400; Error Code: NotFoundException; Request "     \
		"ID: " STR_FMT "; Proxy: null)"
#define MSG_REPLICA_SCALED                                                                         \
	ERR_VALIDATION, "%s write capacity should either be Pay-Per-Request or AutoScaled."
#define MSG_REPLICA_UNITS                                                                          \
	ERR_VALIDATION, "%s",                                                                      \
		"Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when "          \
		"BillingMode is PAY_PER_REQUEST"
#define MSG_REPLICA_READ_UNITS                                                                     \
	ERR_VALIDATION, "%s",                                                                      \
		"MaxReadRequestUnits for OnDemandThroughput cannot be specified when the table "   \
		"BillingMode is PROVISIONED"
#define MSG_UPDATE_NOTHING                                                                         \
	ERR_VALIDATION,                                                                            \
		"At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, "        \
		"GlobalSecondaryIndexUpdates, SSESpecification, ReplicaUpdates, "                  \
		"MultiAccountReplicaReady, "                                                       \
		"ReplicaTransitRoleArn, %sDeletionProtectionEnabled, OnDemandThroughput, "         \
		"WarmThroughput or TableClass is required"
#define MSG_UPDATE_UNITS_REQUIRED                                                                  \
	ERR_VALIDATION, "%s",                                                                      \
		INVALID "ProvisionedThroughput must be specified when BillingMode is PROVISIONED"
#define MSG_UPDATE_CONFLICT ERR_VALIDATION, INVALID "%s"
/* for the log: AWS answers without a message */
#define MSG_UPDATE_FAILURE                                                                         \
	ERR_INTERNAL_FAILURE, "%s",                                                                \
		"AWS fails at a throughput without members, and at WarmThroughput of an index "    \
		"that is not there"
#define MSG_UPDATE_SAME                                                                            \
	ERR_VALIDATION, "The provisioned throughput for %s" STR_FMT                                \
			" will not change. The requested value equals the current value. "         \
			"Current ReadCapacityUnits provisioned for " STR_FMT                       \
			": %lld. Requested ReadCapacityUnits: %lld. "                              \
			"Current WriteCapacityUnits provisioned for " STR_FMT                      \
			": %lld. Requested WriteCapacityUnits: %lld. "                             \
			"Refer to the Amazon DynamoDB Developer Guide for current limits and how " \
			"to request higher limits."
#define MSG_UNITS_INDEX_IN_USE                                                                     \
	ERR_RESOURCE_IN_USE,                                                                       \
		IN_USE "Can't change table IOPS when an index is being %s. Table: " STR_FMT        \
		       " Indexes: [" STR_FMT "]"
#define MSG_STREAM_INDEX_IN_USE                                                                    \
	ERR_RESOURCE_IN_USE, IN_USE "Can't change stream status when an index is being %s"
#define MSG_ON_DEMAND_INDEX_IN_USE                                                                 \
	ERR_RESOURCE_IN_USE, IN_USE "OnDemandThroughput cannot be updated while index %s is in "   \
				    "progress for indexes: [" STR_FMT "]"
#define MSG_UPDATE_INDEX_NO_ACTION                                                                 \
	ERR_VALIDATION, "%s",                                                                      \
		INVALID                                                                            \
		"One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, "    \
		"GlobalSecondaryIndexUpdate.Delete must not be null"
#define MSG_UPDATE_INDEX_ACTIONS                                                                   \
	ERR_VALIDATION, "%s",                                                                      \
		INVALID "Only one global secondary index action is allowed per "                   \
			"GlobalSecondaryIndexUpdate object"
#define MSG_UPDATE_INDEX_TWICE                                                                     \
	ERR_VALIDATION, INVALID "Only one global secondary index update per index is allowed "     \
				"simultaneously. Index: " STR_FMT
#define MSG_UPDATE_INDEX_MANY                                                                      \
	ERR_LIMIT_EXCEEDED, "%s",                                                                  \
		"Subscriber limit exceeded: Only 1 online index can be created or deleted "        \
		"simultaneously per table"
#define MSG_UPDATE_INDEX_LIMIT                                                                     \
	ERR_LIMIT_EXCEEDED, "Subscriber limit exceeded: Number of global secondary indexes "       \
			    "exceeds per-table limit of %d"
#define MSG_UPDATE_INDEX_UNDEFINED                                                                 \
	ERR_VALIDATION, INVALID "AttributeDefinitions is not specified for index: " STR_FMT
#define MSG_UPDATE_INDEX_UNITS_REQUIRED                                                            \
	ERR_VALIDATION, INVALID "Both ReadCapacityUnits and WriteCapacityUnits must be specified " \
				"for index: " STR_FMT
#define MSG_UPDATE_INDEX_UNITS_REFUSED                                                             \
	ERR_VALIDATION,                                                                            \
		INVALID "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified for "   \
			"index: " STR_FMT " when BillingMode is PAY_PER_REQUEST"
#define MSG_UPDATE_INDEX_ON_DEMAND                                                                 \
	ERR_VALIDATION, INVALID "The only Updates for index: " STR_FMT                             \
				" when TableThroughputMode is PAY_PER_REQUEST can be "             \
				"to OnDemandThroughput, WarmThroughput"
#define MSG_UPDATE_INDEX_LOCAL                                                                     \
	ERR_VALIDATION, "Cannot %s an index that is not a GlobalSecondaryIndex: " STR_FMT
#define MSG_UPDATE_INDEX_ABSENT                                                                    \
	ERR_RESOURCE_NOT_FOUND, "Requested resource not found: Index " STR_FMT " for "             \
									       "table " STR_FMT
#define MSG_TTL_STATE                                                                              \
	ERR_VALIDATION, "Cannot describe time to live while table is in %s state: Current table "  \
			"state is %s"
/* AWS: not the text of other operations */
#define MSG_TTL_CREATING ERR_RESOURCE_IN_USE, IN_USE "Table " STR_FMT " is being created"
#define MSG_TTL_SAME ERR_VALIDATION, "TimeToLive is already %s"
#define MSG_TTL_OTHER                                                                              \
	ERR_VALIDATION, "TimeToLive is active on a different AttributeName: current "              \
			"AttributeName is " STR_FMT
#define MSG_TTL_SOON                                                                               \
	ERR_VALIDATION, "%s",                                                                      \
		"Time to live has been modified multiple times within a fixed interval"
#define MSG_TAGS_NULL                                                                              \
	ERR_VALIDATION, "1 validation error detected: Value null at '%s' failed to satisfy "       \
			"constraint: Member must not be null"
#define MSG_TAGS_NONE ERR_VALIDATION, "Atleast one %s needs to be provided as Input."
#define MSG_TAG_KEY ERR_VALIDATION, "The Tag Key provided is invalid, Key: " STR_FMT
#define MSG_TAG_VALUE ERR_VALIDATION, "The Tag Value provided is invalid, Value: " STR_FMT
#define MSG_TAG_RESERVED ERR_VALIDATION, "Tag Key cannot be prefixed with aws:, Key: " STR_FMT
#define MSG_TAG_TWICE                                                                              \
	ERR_VALIDATION, "Duplicate Tag Keys provided as input: Duplicate Tag Key found " STR_FMT
#define MSG_TAG_MANY                                                                               \
	ERR_VALIDATION, "%s", "Number of Tags exceed the current limit for the provided ResourceArn"
#define MSG_TAG_SIZE ERR_VALIDATION, "Tag set size %zu bytes is above max size limit of %zu bytes"
#define MSG_TAG_ARN_MISSING ERR_VALIDATION, "%s", "Invalid TableArn"
#define MSG_TAG_ARN_PREFIX ERR_VALIDATION, INVALID "ARNs must start with 'arn:': " STR_FMT
#define MSG_TAG_ARN_KIND                                                                           \
	ERR_VALIDATION, INVALID "Provided Arn is not a DynamoDB resource arn: " STR_FMT
#define MSG_TAG_ARN_PART                                                                           \
	ERR_VALIDATION, INVALID "Invalid resource arn provided, only table or stream is "          \
				"accepted. Provided resource arn: " STR_FMT
#define MSG_TAG_ARN                                                                                \
	ERR_VALIDATION, "Invalid TableArn: Invalid ResourceArn provided as input " STR_FMT
#define MSG_TAG_ARN_ABSENT                                                                         \
	ERR_RESOURCE_NOT_FOUND, "Requested resource not found: ResourceArn: " STR_FMT " not found"

#endif
