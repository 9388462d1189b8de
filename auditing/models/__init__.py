"""What the software computes: runs, relation calls and audit results; verdicts of direct judges; GraphEVAL; ANCHOR."""

from .anchor import (
    Benchmark,
    BenchmarkItem,
    DifficultyJudgement,
    DifficultyReview,
    Facet,
    GroundingScore,
    ModelAnswer,
    Rating,
    RationaleAudit,
    Reference,
    Setting,
    TaxonomyLabel,
)
from .benchmark_runs import BenchmarkRater, BenchmarkResult, BenchmarkRun, BenchmarkRunItem
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
    "Benchmark",
    "BenchmarkItem",
    "BenchmarkRater",
    "BenchmarkResult",
    "BenchmarkRun",
    "BenchmarkRunItem",
    "CallAttempt",
    "CallStatus",
    "ChainJudgement",
    "DifficultyJudgement",
    "DifficultyReview",
    "DraftCall",
    "DraftCallAttempt",
    "DraftItem",
    "DraftRun",
    "Facet",
    "GroundingScore",
    "JudgeCall",
    "JudgeCallAttempt",
    "JudgeRun",
    "JudgeRunTrace",
    "JudgeVerdict",
    "ModelAnswer",
    "QuestionScore",
    "Rating",
    "RationaleAudit",
    "ReasoningCall",
    "ReasoningCallAttempt",
    "ReasoningRun",
    "ReasoningRunItem",
    "ReasoningStudy",
    "Reference",
    "RelationCall",
    "SegmentAudit",
    "Setting",
    "StudyAudit",
    "StudyChain",
    "TaxonomyLabel",
    "TextVector",
    "Verdict",
]
