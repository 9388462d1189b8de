"""What is known of a model's answer to a case while it is being made."""

from procrastinate.contrib.django.models import ProcrastinateJob

from annotation.models import Case

TASK = "auditing.answer"


def is_being_answered(case: Case) -> bool:
    """Whether a worker has or will take a question to a model about this case."""
    waiting = ProcrastinateJob.objects.filter(
        task_name=TASK, args__case_id=case.pk, status__in=("todo", "doing")
    )
    return waiting.exists()
