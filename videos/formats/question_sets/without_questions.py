"""Sets of labelled segments, which hold no question: COIN, THUMOS-14, and files in the shape of ActivityNet.

ANCHOR takes videos of COIN and THUMOS-14 and asks questions of its own about them (section 3.1), so their files are
recognised and refused with what to do.
"""

import re
from collections.abc import Mapping

from videos.formats.question_sets.content import Content
from videos.formats.question_sets.public import LOOKED_AT
from videos.formats.question_sets.values import Problem

REMEDY = (
    "Bring in its videos and write questions of your own about them, as ANCHOR does: a list of objects with id, video, "
    "question and answer."
)
_THUMOS_LINE = re.compile(r"^(?:\S+\s+)?video_(?:validation|test)_[0-9]{7}\s+[0-9.]+\s+[0-9.]+$")
_THUMOS_NAME = re.compile(r"^video_(?:validation|test)_[0-9]{7}$")


def problem(content: Content) -> Problem | None:
    """Return why a file of segments cannot be imported; None for any other file."""
    if found := _lines(content) or _database(content):
        return Problem(None, "", found, REMEDY)
    return None


def _lines(content: Content) -> str:
    if content.top:
        return ""
    lines = [line.strip() for line in content.text.splitlines() if line.strip()]
    if not all(_THUMOS_LINE.match(line) for line in lines[:LOOKED_AT]):
        return ""
    videos = {name for line in lines for name in line.split() if _THUMOS_NAME.match(name)}
    return _words("this is a label file of THUMOS-14", len(videos), len(lines))


def _database(content: Content) -> str:
    if len(content.top) != 1 or not isinstance(content.top[0], Mapping):
        return ""
    database = content.top[0].get("database")
    if not isinstance(database, Mapping):
        return ""
    videos = {name: each for name, each in database.items() if isinstance(each, Mapping)}
    for name in ("annotation", "annotations"):
        lists = [each[name] for each in videos.values() if isinstance(each.get(name), list)]
        if not lists:
            continue
        if name == "annotation":
            what = "this is the annotation file of COIN"
        elif any(_THUMOS_NAME.match(video) for video in videos):
            what = "these are the labels of THUMOS-14"
        else:
            what = "this is a file of labelled segments in the shape of ActivityNet"
        return _words(what, len(videos), sum(len(each) for each in lists))
    return ""


def _words(what: str, videos: int, segments: int) -> str:
    return (
        f"{what}: {segments:,} labelled segment{'' if segments == 1 else 's'} of {videos:,} "
        f"video{'' if videos == 1 else 's'}, and no question"
    )
