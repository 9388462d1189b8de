"""Changing what is to be judged."""

from .datasets import dataset_create
from .segmentation import SegmentationLocked, segment_merge, segment_split, segmentation_lock
from .traces import traces_create

__all__ = [
    "SegmentationLocked",
    "dataset_create",
    "segment_merge",
    "segment_split",
    "segmentation_lock",
    "traces_create",
]
