"""What is known of a model's answer to a case while it is being made."""

from procrastinate.contrib.django.models import ProcrastinateJob

from annotation.models import Case

TASK = "auditing.answer"


def answer_state(case: Case) -> str | None:
    """`waiting` while a worker has or will take the newest answer of the case, `failed` if it failed, else None."""
    job = ProcrastinateJob.objects.filter(task_name=TASK, args__case_id=case.pk).order_by("-pk").first()
    if job is None:
        return None
    return {"todo": "waiting", "doing": "waiting", "failed": "failed"}.get(job.status)
