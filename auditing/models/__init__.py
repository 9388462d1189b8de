"""What the software computes: runs, relation calls and audit results."""

from .calls import CallAttempt, CallStatus, RelationCall
from .results import AuditLabel, AuditResult, SegmentAudit
from .runs import AuditRun, AuditRunTrace

__all__ = [
    "AuditLabel",
    "AuditResult",
    "AuditRun",
    "AuditRunTrace",
    "CallAttempt",
    "CallStatus",
    "RelationCall",
    "SegmentAudit",
]
