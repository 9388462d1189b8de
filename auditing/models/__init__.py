"""What the software computes: runs, relation calls and audit results; verdicts of direct judges; GraphEVAL studies."""

from .calls import CallAttempt, CallStatus, RelationCall
from .drafts import DraftCall, DraftCallAttempt, DraftItem, DraftRun
from .judges import JudgeCall, JudgeCallAttempt, JudgeRun, JudgeRunTrace, JudgeVerdict, Verdict
from .reasoning import (
    AnswerKind,
    ChainJudgement,
    QuestionScore,
    ReasoningCall,
    ReasoningCallAttempt,
    ReasoningRun,
    ReasoningRunItem,
    ReasoningStudy,
    StudyChain,
    TextVector,
)
from .results import AuditLabel, AuditResult, SegmentAudit
from .runs import AuditRun, AuditRunTrace
from .studies import StudyAudit

__all__ = [
    "AnswerKind",
    "AuditLabel",
    "AuditResult",
    "AuditRun",
    "AuditRunTrace",
    "CallAttempt",
    "CallStatus",
    "ChainJudgement",
    "DraftCall",
    "DraftCallAttempt",
    "DraftItem",
    "DraftRun",
    "JudgeCall",
    "JudgeCallAttempt",
    "JudgeRun",
    "JudgeRunTrace",
    "JudgeVerdict",
    "QuestionScore",
    "ReasoningCall",
    "ReasoningCallAttempt",
    "ReasoningRun",
    "ReasoningRunItem",
    "ReasoningStudy",
    "RelationCall",
    "SegmentAudit",
    "StudyAudit",
    "StudyChain",
    "TextVector",
    "Verdict",
]
