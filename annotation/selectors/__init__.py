"""Reading what is to be judged."""

from .traces import current_segments, reasoning_segments, segment_texts

__all__ = ["current_segments", "reasoning_segments", "segment_texts"]
