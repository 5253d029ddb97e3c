#include "server/transfer/outcome.h"

#include <string.h>

#include "server/log.h"
#include "server/transfer/messages.h"

void outcome_failed(struct job_step *step, struct str code, struct str message)
{
	struct job *job = step->job;

	job->state = JOB_FAILED;
	job->failure = str_copy(step->arena, code);
	job->message = str_copy(step->arena, message);
	log_line(LOG_WARN, STR_FMT " " STR_FMT " of table " STR_FMT " failed: " STR_FMT,
		 STR_ARG(job->kind), STR_ARG(job->id), STR_ARG(job->subject), STR_ARG(code));
}

void outcome_s3(struct job_step *step, struct s3 *s3, const struct s3_problem *problem)
{
	bool is_kms = str_starts_with(problem->code, STR("KMS."));
	struct str code = is_kms ? str_printf(step->arena, "Kms" STR_FMT, (int)problem->code.n - 4,
					      problem->code.p + 4)
				 : str_printf(step->arena, "S3" STR_FMT, STR_ARG(problem->code));

	if (!s3_has_place(s3))
		log_line(LOG_WARN, MSG_NO_S3, (int)step->job->kind.n, step->job->kind.p);
	outcome_failed(step, code, s3_failure_message(step->arena, problem));
}

bool outcome_passes(enum code code)
{
	return code == ERR_CONFLICT || code == ERR_TABLE_MOVED || code == ERR_STORE_UNAVAILABLE ||
	       code == ERR_STORE_UNKNOWN || code == ERR_STORE_FULL || code == ERR_DATA_LIMIT ||
	       code == ERR_SERVICE_UNAVAILABLE;
}
