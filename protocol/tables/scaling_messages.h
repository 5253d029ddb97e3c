/*
 * scaling_messages - texts of Application Auto Scaling's errors.
 */
#ifndef DYNALITH_PROTOCOL_SCALING_MESSAGES_H
#define DYNALITH_PROTOCOL_SCALING_MESSAGES_H

#include "protocol/tables/control_messages.h"

#define SCALING_PLACE                                                                              \
	"service namespace: dynamodb, resource ID: " STR_FMT ", scalable dimension: " STR_FMT

#define MSG_TARGET_UNSUPPORTED                                                                     \
	ERR_VALIDATION, "%s", "Unsupported service namespace, resource type or scalable dimension"
#define MSG_TARGET_TABLE ERR_VALIDATION, "DynamoDB table does not exist: " STR_FMT
#define MSG_TARGET_INDEX ERR_VALIDATION, "DynamoDB index does not exist: " STR_FMT
#define MSG_TARGET_UNREGISTERED                                                                    \
	ERR_OBJECT_NOT_FOUND, "No scalable target registered for " SCALING_PLACE
#define MSG_TARGET_ABSENT ERR_OBJECT_NOT_FOUND, "No scalable target found for " SCALING_PLACE
#define MSG_TARGET_POLICY_ABSENT                                                                   \
	ERR_OBJECT_NOT_FOUND, "No scaling policy found for " SCALING_PLACE ", policy "             \
									   "name: " STR_FMT
#define MSG_TARGET_MAXIMUM ERR_VALIDATION, "%s", SCALING_MAXIMUM
#define MSG_TARGET_POLICIES                                                                        \
	ERR_VALIDATION, "%s",                                                                      \
		"Only one TargetTrackingScaling policy for a given metric specification is "       \
		"allowed."
#define MSG_TARGET_UTILIZATION ERR_VALIDATION, SCALING_TARGET
#define MSG_TARGET_VALUE ERR_VALIDATION, SCALING_VALUE

/* The words of these are ours. */
#define MSG_TARGET_CAPACITY                                                                        \
	ERR_VALIDATION, "%s",                                                                      \
		"MinCapacity and MaxCapacity are required when registering a new scalable target"
#define MSG_TARGET_MINIMUM ERR_VALIDATION, "%s", "Minimum capacity cannot be less than 1"
#define MSG_TARGET_TAGS ERR_VALIDATION, "%s", "A scalable target has 50 tags at most"
#define MSG_TARGET_KIND                                                                            \
	ERR_VALIDATION, "%s",                                                                      \
		"The policy type for service namespace dynamodb is TargetTrackingScaling, with "   \
		"TargetTrackingScalingPolicyConfiguration"
#define MSG_TARGET_METRIC                                                                          \
	ERR_VALIDATION, "The metric for scalable dimension " STR_FMT                               \
			" is PredefinedMetricType DynamoDB%sCapacityUtilization"
#define MSG_TARGET_PAGE ERR_VALIDATION, "%s", "MaxResults must be between 1 and 50"
#define MSG_TARGET_TOKEN ERR_NEXT_TOKEN, "%s", "The next token supplied is invalid"
#define MSG_TARGET_ARN ERR_RESOURCE_NOT_FOUND, "The resource " STR_FMT " does not exist"

#endif
