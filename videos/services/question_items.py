"""Reading a file of questions about videos: our own shape and those of public sets (`formats.question_sets`)."""

from videos.formats.question_sets.registry import OWN, SHAPES, read
from videos.formats.question_sets.values import MAX_FILE_BYTES, MAX_ITEMS, Item, Items, Problem

__all__ = ["MAX_FILE_BYTES", "MAX_ITEMS", "OWN", "SHAPES", "Item", "Items", "Problem", "read"]
