"""Which audit run people of a study are shown, once they may see one."""

from django.conf import settings
from django.db import models

from annotation.models import Study
from reasonaudit.lib.models import TimestampedModel

from .runs import AuditRun


class StudyAudit(TimestampedModel):
    """The run whose results are shown after the reveal, and to the adjudicator after a final decision."""

    study = models.OneToOneField(Study, on_delete=models.CASCADE, related_name="shown_audit")
    run = models.ForeignKey(AuditRun, on_delete=models.PROTECT, related_name="+")
    chosen_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
