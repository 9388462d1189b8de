"""Clips, what is known of them, and the questions that are asked about them."""

from .documents import Document, DocumentOperation, DocumentPart
from .generated import GeneratedDocument
from .proposals import ProposalRun
from .questions import VideoQuestion
from .runs import MediaRun
from .sets import VideoSet
from .transcripts import Transcript
from .uploads import VideoUpload
from .videos import Video

__all__ = [
    "Document",
    "DocumentOperation",
    "DocumentPart",
    "GeneratedDocument",
    "MediaRun",
    "ProposalRun",
    "Transcript",
    "Video",
    "VideoQuestion",
    "VideoSet",
    "VideoUpload",
]
