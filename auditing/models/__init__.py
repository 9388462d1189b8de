"""What the software computes: runs, relation calls and audit results; verdicts of direct judges."""

from .calls import CallAttempt, CallStatus, RelationCall
from .drafts import DraftCall, DraftCallAttempt, DraftItem, DraftRun
from .judges import JudgeCall, JudgeCallAttempt, JudgeRun, JudgeRunTrace, JudgeVerdict, Verdict
from .results import AuditLabel, AuditResult, SegmentAudit
from .runs import AuditRun, AuditRunTrace
from .studies import StudyAudit

__all__ = [
    "AuditLabel",
    "AuditResult",
    "AuditRun",
    "AuditRunTrace",
    "CallAttempt",
    "CallStatus",
    "DraftCall",
    "DraftCallAttempt",
    "DraftItem",
    "DraftRun",
    "JudgeCall",
    "JudgeCallAttempt",
    "JudgeRun",
    "JudgeRunTrace",
    "JudgeVerdict",
    "RelationCall",
    "SegmentAudit",
    "StudyAudit",
    "Verdict",
]
