/*
 * pull_credentials - keys for requests to AWS: of the environment, or of a profile.
 *
 * AWS: CLI User Guide, "Configuration and credential file settings". The files are
 * AWS_CONFIG_FILE and AWS_SHARED_CREDENTIALS_FILE, or config and credentials in ~/.aws. A profile
 * has keys, or credential_process; for one that signs in by SSO or takes a role, the AWS CLI is
 * run, which prints keys and keeps the cache of sign-ins. Those of containers and instances are
 * not read.
 */
#ifndef DYNALITH_SERVER_PULL_CREDENTIALS_H
#define DYNALITH_SERVER_PULL_CREDENTIALS_H

#include "core/err.h"
#include "server/client/elsewhere.h"

/*
 * `profile`: --profile, or NULL: the environment's keys, else AWS_PROFILE, else "default" where
 * `is_aws`. An absent *region: the profile has none. ERR_INTERNAL: there are no keys, in one line.
 * Where none are needed, keys->access_key is absent.
 */
enum code pull_credentials_read(struct arena *arena, const char *profile, bool is_aws,
				struct elsewhere_keys *keys, struct str *region,
				struct err *err) WARN_UNUSED;

#endif
