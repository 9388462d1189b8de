"""What is to be judged, by whom, and what they said."""

from .adjudications import AdjudicationDecision, DocumentDecision
from .cases import Case, Dataset, Domain
from .labels import Assignment, Problem, SegmentLabel, Submission
from .studies import GuidelineVersion, ItemGold, Study, StudyItem, StudyMember
from .traces import Gold, Segment, Trace
from .vidat import VidatAddress

__all__ = [
    "AdjudicationDecision",
    "Assignment",
    "Case",
    "Dataset",
    "DocumentDecision",
    "Domain",
    "Gold",
    "GuidelineVersion",
    "ItemGold",
    "Problem",
    "Segment",
    "SegmentLabel",
    "Study",
    "StudyItem",
    "StudyMember",
    "Submission",
    "Trace",
    "VidatAddress",
]
