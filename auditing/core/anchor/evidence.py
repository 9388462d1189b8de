"""A rationale and what is really in the clip, as sentences that an audit can relate to each other.

Paper: "ANCHOR: Audio-Visually Grounded Chain-of-Thought Reasoning Benchmark", sections 3.1 and 3.2 (reasoning as cues
with times, boxes of the objects it speaks of), joined with the audit of "Reference-Free Evaluation of Reasoning in
Open-Ended Question Answering" (Kohli et al.), section 3: what people saw and heard becomes context, the rationale's
sentences become segments. Neither paper has this page; the choices are ours, in words:

- The first leaf is the question with its options. Then objects with boxes, sounds, and what is said, each by time.
- Of the objects, those linked to the reasoning; where none is linked, all. Of the speech, the pieces within a second
  of a time that the rationale or the reference cites; where neither cites one, all.
- Where more is there than is taken, the kinds take turns, what is linked or near a cited time first. What is not taken
  is counted: beyond the bound, not linked, or on no picture of the clip.
- A place in the picture is that of the centre of a box, by thirds of the picture.
- The final answer is asked as a sentence ("The answer is: ..."), as a labeller of sentences needs one.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, zip_longest
from typing import Any

from auditing.core.segmentation import split
from videos.core.cot import STEPS, format_clock
from videos.core.geometry import Box
from videos.core.intervals import Interval, intersect, union
from videos.core.tracks import Track, box_at

QUESTION, TRACK, SOUND, SPEECH = "question", "track", "sound", "speech"
UNLINKED, UNSEEN = "unlinked", "unseen"
MOST_LEAVES = 24
MOST_STEPS = 60
MARGIN_US = 1_000_000
MOST_SPANS = 3
LONGEST_SENTENCE = 1_500

_TEXTS = ("description", "analysis")
_ANSWER = "final_answer"
_SEVERAL = ("two", "three", "four", "five", "some", "several", "many")
_ARTICLES = ("a", "an", "the", "one", *_SEVERAL, "his", "her", "their")


@dataclass(frozen=True, slots=True)
class ClipFacts:
    """What of a clip the sentences need.

    Attributes
    ----------
    duration_us : int
        Length in microseconds; 0 where it is not known, and then no time is cut.
    width, height : int
        Of the picture as shown, in pixels; 0 where it is not known, and then no place is said.
    start_of : callable
        Clip time in microseconds at which a picture starts; the number of pictures gives the end of the clip.
    frames : int
        Number of pictures.
    """

    duration_us: int
    width: int
    height: int
    start_of: Callable[[int], int]
    frames: int


@dataclass(frozen=True, slots=True)
class Leaf:
    """One thing that is given.

    Attributes
    ----------
    kind : str
        ``question``, ``track``, ``sound`` or ``speech``.
    id : str
        Of the track or the sound event in the document; "" for the others.
    text : str
        A sentence: what the labeller reads.
    label : str
        For people: what the object or sound is called, the words that are said; "" for the question.
    spans_us : tuple of (int, int)
        When, in microseconds of clip time; () for the question.
    """

    kind: str
    id: str
    text: str
    label: str = ""
    spans_us: tuple[Interval, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the leaf as JSON."""
        return {**asdict(self), "spans_us": [list(span) for span in self.spans_us]}


@dataclass(frozen=True, slots=True)
class Evidence:
    """Leaves in the order of the trace, and what is left out.

    Attributes
    ----------
    leaves : tuple of Leaf
        The question first.
    left_out : dict of str to int
        Beyond the bound by kind; objects that no link names as ``unlinked``; objects on no picture of the clip as
        ``unseen``. A count of 0 is left away.
    """

    leaves: tuple[Leaf, ...]
    left_out: dict[str, int]


@dataclass(frozen=True, slots=True)
class StepText:
    """One sentence of a rationale.

    Attributes
    ----------
    field : str
        Where it is from: ``visual.description``, ``audio.analysis``, ``final_answer``, ...
    text : str
        As written.
    asked : str
        As the audit takes it.
    times_us : tuple of (int, int)
        What its cue cites, in microseconds, cut to the clip; a point is as long as nothing.
    """

    field: str
    text: str
    asked: str
    times_us: tuple[Interval, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the step as JSON."""
        return {**asdict(self), "times_us": [list(span) for span in self.times_us]}


@dataclass(frozen=True, slots=True)
class Steps:
    """Sentences in reading order; `left_out` counts those beyond the bound."""

    steps: tuple[StepText, ...]
    left_out: int = 0


def evidence(
    document: Mapping[str, Any],
    speech: Iterable[Sequence[Any]],
    clip: ClipFacts,
    *,
    question: str,
    options: Sequence[str] | None = None,
    cited: Iterable[Interval] = (),
    most: int = MOST_LEAVES,
) -> Evidence:
    """Write down what is given to a rationale: the question, and what a reference holds of picture and sound.

    Parameters
    ----------
    document : mapping
        Of the reference, valid (`videos.core.document`).
    speech : iterable of (start, end, text)
        What is said, in microseconds of clip time (`videos.core.speech.pieces`).
    clip : ClipFacts
        The clip.
    question, options
        As the models were asked.
    cited : iterable of (start, end)
        Times that the rationale cites, in microseconds; those of the reference are taken from the document.
    most : int
        Leaves beside the question, at least 0.
    """
    near = _widened([*cited_times(document["cot"], clip.duration_us), *cited])
    tracks, lost = _tracks(document, clip, near)
    sounds = _sounds(document, near)
    said = _speech(speech, near)
    kinds = (tracks, sounds, said)
    turns = (leaf for turn in zip_longest(*kinds) for leaf in turn if leaf is not None)
    kept = {id(leaf) for leaf, _ in zip(turns, range(max(0, most)), strict=False)}
    leaves = [Leaf(QUESTION, "", _question(question, options))]
    left_out = {}
    for found in kinds:
        here = [leaf for leaf in found if id(leaf) in kept]
        leaves += sorted(here, key=lambda leaf: (leaf.spans_us[:1], leaf.text))
        if len(here) < len(found):
            left_out[found[0].kind] = len(found) - len(here)
    return Evidence(tuple(leaves), left_out | {why: count for why, count in lost.items() if count})


def rationale_steps(cot: Mapping[str, Any], duration_us: int, most: int = MOST_STEPS) -> Steps:
    """Split a rationale into sentences: both cues with description and analysis, then the final answer.

    Parameters
    ----------
    cot : mapping
        Of a document.
    duration_us : int
        Length of the clip; times beyond it are cut. 0 where it is not known: then none is.
    most : int
        Sentences; the final answer always counts among them where there is one.
    """
    found = [
        StepText(f"{step}.{name}", sentence, sentence, cue_times(cot[step]["timeframe"], duration_us))
        for step in STEPS
        for name in _TEXTS
        for sentence in _sentences(cot[step][name])
    ]
    answer = _line(cot[_ANSWER])
    last = [StepText(_ANSWER, answer, _ended(f"The answer is: {answer}"))] if answer else []
    kept = found[: max(0, most - len(last))]
    return Steps((*kept, *last), len(found) - len(kept))


def cue_times(timeframe: Mapping[str, Any], duration_us: int) -> tuple[Interval, ...]:
    """Return what a timeframe cites inside the clip, in the order of the text; the whole clip as one interval.

    Where the length of the clip is not known (0), the whole clip is no interval and nothing is cut.
    """
    if timeframe["whole"]:
        return ((0, duration_us),) if duration_us else ()
    pairs = (
        (max(0, start), min(end, duration_us) if duration_us else end)
        for start, end in timeframe["intervals"]
    )
    return tuple((start, end) for start, end in pairs if start <= end)


def cited_times(cot: Mapping[str, Any], duration_us: int) -> list[Interval]:
    """Return all that both cues cite, joined; points become intervals of a microsecond."""
    pairs = chain.from_iterable(cue_times(cot[step]["timeframe"], duration_us) for step in STEPS)
    return union((start, max(end, start + 1)) for start, end in pairs)


def clock(us: int) -> str:
    """Write a time as M:SS.t, rounded to tenths of a second."""
    return format_clock(us, 1).removeprefix("0")


def _widened(spans: Iterable[Interval]) -> list[Interval]:
    return union((max(0, start - MARGIN_US), max(start, end) + MARGIN_US) for start, end in spans)


def _near(spans: Iterable[Interval], near: Sequence[Interval]) -> bool:
    return bool(intersect(spans, near))


def _question(text: str, options: Sequence[str] | None) -> str:
    asked = f"Question: {_line(text)}"
    return f"{asked} Options: {_line('; '.join(options))}" if options else asked


def _linked(document: Mapping[str, Any], kind: str) -> set[str]:
    return {link["target"] for link in document["links"].values() if link["kind"] == kind}


def _tracks(
    document: Mapping[str, Any], clip: ClipFacts, near: Sequence[Interval]
) -> tuple[list[Leaf], dict[str, int]]:
    """Objects, those near a cited time first, and how many are none of the evidence."""
    linked = _linked(document, "track") & set(document["tracks"])
    tracks = [Track.from_json(row) for key, row in document["tracks"].items() if not linked or key in linked]
    fallback = _line(document["target_label"]) or "object"
    found = [leaf for track in tracks if (leaf := _track(track, clip, fallback)) is not None]
    lost = {UNLINKED: len(document["tracks"]) - len(tracks), UNSEEN: len(tracks) - len(found)}
    return sorted(found, key=lambda leaf: (not _near(leaf.spans_us, near), leaf.spans_us, leaf.id)), lost


def _track(track: Track, clip: ClipFacts, fallback: str) -> Leaf | None:
    shown = [(max(0, start), min(end, clip.frames)) for start, end in track.visible]
    shown = [(start, end) for start, end in shown if start < end]
    if not shown:
        return None
    spans = tuple((clip.start_of(start), clip.start_of(end)) for start, end in shown)
    first, last = box_at(track, shown[0][0]), box_at(track, shown[-1][1] - 1)
    place = _places(first, last, clip)
    label = _line(track.label) or fallback
    name = _named(label)
    return Leaf(TRACK, track.id, _ended(f"{name} {_is(name)} seen {_when(spans)}{place}"), label, spans)


def _sounds(document: Mapping[str, Any], near: Sequence[Interval]) -> list[Leaf]:
    """Sound events: linked ones first, then those near a cited time."""
    linked = _linked(document, "event")
    found = []
    for key, row in document["events"].items():
        spans = ((row["start_us"], row["end_us"]),)
        label = _line(row["label"]) or "sound"
        name = _named(label)
        text = _ended(f"{name} {_is(name)} heard {_when(spans)}")
        found.append(Leaf(SOUND, key, text, label, spans))
    return sorted(
        found,
        key=lambda leaf: (leaf.id not in linked, not _near(leaf.spans_us, near), leaf.spans_us, leaf.id),
    )


def _speech(speech: Iterable[Sequence[Any]], near: Sequence[Interval]) -> list[Leaf]:
    found = []
    for start, end, said, *_ in speech:
        words = _line(str(said))
        span = (start, max(end, start + 1))
        if words and (not near or _near([span], near)):
            text = f'At {clock(start)} to {clock(end)} it is said: "{words}"'
            found.append(Leaf(SPEECH, "", text, words, (span,)))
    return found


def _when(spans: Sequence[Interval]) -> str:
    said = [f"from {clock(start)} to {clock(end)}" for start, end in spans[:MOST_SPANS]]
    more = len(spans) - len(said)
    if more:
        said.append(f"{more} more time{'' if more == 1 else 's'}")
    return said[0] if len(said) == 1 else f"{', '.join(said[:-1])} and {said[-1]}"


def _places(first: Box | None, last: Box | None, clip: ClipFacts) -> str:
    """Where in the picture, and where to where if that differs."""
    if first is None or last is None or not clip.width or not clip.height:
        return ""
    start, end = _place(first, clip), _place(last, clip)
    if start == end:
        return f", {start} of the picture"
    return f", and moves from {start.split(' ', 1)[1]} to {end.split(' ', 1)[1]} of the picture"


def _place(box: Box, clip: ClipFacts) -> str:
    across = ("left", "", "right")[_third(box[0] + box[2] / 2, clip.width)]
    down = ("top", "", "bottom")[_third(box[1] + box[3] / 2, clip.height)]
    if not across and not down:
        return "in the middle"
    return f"at the {' '.join(part for part in (down, across) if part)}"


def _third(value: float, size: int) -> int:
    return min(2, max(0, int(3 * value / size)))


def _named(label: str) -> str:
    """A label as the beginning of a sentence, with an article where it has none."""
    first = label.split(" ", 1)[0].lower()
    if first in _ARTICLES or first.isdigit():
        return label[0].upper() + label[1:]
    return f"{'An' if first[:1] in 'aeiou' else 'A'} {label}"


def _is(name: str) -> str:
    return "are" if name.split(" ", 1)[0].lower() in _SEVERAL else "is"


def _ended(text: str) -> str:
    return text if text.endswith((".", "!", "?", '"', "…")) else f"{text}."


def _sentences(text: str) -> list[str]:
    return [_line(text[start:end]) for start, end in split(text)]


def _line(text: str) -> str:
    """A text on one line; where it is longer than a labeller reads, its end is cut and the cut is seen."""
    words = " ".join(text.split())
    return words if len(words) <= LONGEST_SENTENCE else f"{words[: LONGEST_SENTENCE - 1]}…"
