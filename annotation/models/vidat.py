"""Addresses to which VidAT sends what somebody marked in it."""

from django.db import models

from reasonaudit.lib.models import TimestampedModel

from .labels import Assignment


class VidatAddress(TimestampedModel):
    """The right to send VidAT's work on one question to one person's assignment; shown once, stored as a hash.

    At most one address of an assignment is active. One that was withdrawn stays as a row, without any use.
    `entries` says what VidAT had last, at the making of the address or by the last submit, so that the next submit
    changes only what was changed in VidAT (see `annotation.core.vidat`).
    """

    assignment = models.ForeignKey(Assignment, on_delete=models.CASCADE, related_name="vidat_addresses")
    token_sha256 = models.CharField(max_length=64, unique=True)
    expires_at = models.DateTimeField()
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    used_at = models.DateTimeField(null=True, blank=True)
    submits = models.PositiveIntegerField(default=0)
    entries = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["assignment"],
                condition=models.Q(withdrawn_at=None),
                name="one_vidat_address_at_a_time",
            )
        ]
