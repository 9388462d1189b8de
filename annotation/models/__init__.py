"""What is to be judged, by whom, and what they said."""

from .adjudications import AdjudicationDecision
from .cases import Case, Dataset, Domain
from .labels import Assignment, SegmentLabel, Submission
from .studies import GuidelineVersion, ItemGold, Study, StudyItem, StudyMember
from .traces import Gold, Segment, Trace

__all__ = [
    "AdjudicationDecision",
    "Assignment",
    "Case",
    "Dataset",
    "Domain",
    "Gold",
    "GuidelineVersion",
    "ItemGold",
    "Segment",
    "SegmentLabel",
    "Study",
    "StudyItem",
    "StudyMember",
    "Submission",
    "Trace",
]
