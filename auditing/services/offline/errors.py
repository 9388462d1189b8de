"""Why a command of the offline audit stops, as a sentence for the person who typed it."""

from __future__ import annotations


class OfflineError(Exception):
    """A sentence with the remedy, and the exit code of the command.

    Codes: 1 for data that cannot be audited, 2 for wrong use, 3 for a labeller that does not answer.
    """

    exit_code = 1


class UsageError(OfflineError):
    """The arguments do not fit together or a value is not allowed."""

    exit_code = 2


class LabellerError(OfflineError):
    """The relation labeller cannot be made, does not answer, or left relations without a label."""

    exit_code = 3
