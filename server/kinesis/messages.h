/*
 * messages - lines of the log about Kinesis destinations.
 */
#ifndef DYNALITH_SERVER_KINESIS_MESSAGES_H
#define DYNALITH_SERVER_KINESIS_MESSAGES_H

#define MSG_KINESIS_ANSWER "it answered %d " STR_FMT " " STR_FMT
#define LOG_KINESIS_NOWHERE                                                                        \
	"changes are not sent to Kinesis destinations: start the server with --kinesis URL"
#define LOG_KINESIS_RETRY                                                                          \
	"Kinesis destination " STR_FMT " of " STR_FMT ": " STR_FMT "; trying again"
#define LOG_KINESIS_ENABLE                                                                         \
	"Kinesis destination " STR_FMT " of " STR_FMT " is ENABLE_FAILED: " STR_FMT
#define LOG_KINESIS_LEFT                                                                           \
	"Kinesis destination " STR_FMT " of " STR_FMT ": change %llu is left behind: " STR_FMT
#define LOG_KINESIS_STORE "Kinesis destinations wait for the next try: " STR_FMT

#endif
