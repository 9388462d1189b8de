"""Where several people's documents of one question differ, what they agree on, and whom a decided one matches.

Source: annotation design E4 (IoU of boxes, overlap of spans, difference of texts), paper "ANCHOR: Audio-Visually
Grounded Chain-of-Thought Reasoning Benchmark" (steps and fields of the reasoning). Choices, in words:

- Tracks belong together by their boxes and events by their spans (see `videos.core.pairing`), whatever their labels
  and ids say; everybody's are compared with those of the first letter that has the object.
- Two values agree where texts and labels are equal but for white space at both ends, and boxes, spans and timeframes
  overlap by 0.9 or more; tracks and events need the same label besides.
- With three people or more, a place agrees as much as the two who are farthest apart, and not at all where one of
  them lacks the track or event.
- "Throughout" and a list of intervals cannot be compared without the length of the clip: their agreement is missing.
- Links are evidence for the reasoning and no place of their own: one that all people made is kept.
- A track of a decided document belongs to the place of the track that it overlaps most, from 0.1.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

from videos.core.cot import STEPS
from videos.core.document import Document, Json, empty_document
from videos.core.intervals import tiou
from videos.core.pairing import AGREED, LEAST, Groups, group
from videos.core.values import KINDS
from videos.core.word_overlap import word_overlap
from videos.core.wording import short

TEXTS = ("description", "analysis")


@dataclass(frozen=True, slots=True)
class Place:
    """One thing that everybody has said, or left out.

    Attributes
    ----------
    id : str
        "visual.description", "track:A:<id of the first letter's track>", …; the same for the same documents.
    kind : str
        "target_label", "text", "timeframe", "track" or "event".
    step, field : str or None
        Where it stands: step "visual", "audio" or "final", field of the reasoning.
    title : str
        Words for people.
    agreement : float or None
        0 to 1, of the two who are farthest apart; None where it cannot be computed.
    agrees : bool
        Whether there is nothing to decide.
    sides : dict of str to JSON value
        Letter to text, label, timeframe or id of the track or event; None where somebody lacks it.
    """

    id: str
    kind: str
    step: str | None
    field: str | None
    title: str
    agreement: float | None
    agrees: bool
    sides: Mapping[str, Any]

    def to_json(self) -> Json:
        """Return what the page of a decision shows."""
        rounded = None if self.agreement is None else round(self.agreement, 4)
        return {
            "id": self.id,
            "kind": self.kind,
            "step": self.step,
            "field": self.field,
            "title": self.title,
            "agreement": rounded,
            "sides": dict(self.sides),
        }


@dataclass(frozen=True, slots=True)
class Matches:
    """Whom a document agrees with: letters in order, "" for nobody.

    Attributes
    ----------
    overall : str
        Those whom it agrees with everywhere.
    differences : dict of str to str
        By the id of each difference.
    """

    overall: str
    differences: Mapping[str, str]


class Comparison:
    """Several people's documents of one question, side by side.

    Parameters
    ----------
    sides : mapping of str to document
        Letter to a valid document; at least one.
    """

    def __init__(self, sides: Mapping[str, Document]) -> None:
        self.sides = dict(sorted(sides.items()))
        self.letters = tuple(self.sides)

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """Everything that is compared: target label, steps, answer, tracks, events."""
        found = [self._worded("target_label", "target_label", None, None, "Target label", ("target_label",))]
        for step in STEPS:
            found.append(self._timeframe(step))
            for name in TEXTS:
                title = f"{step.capitalize()} cue, {name}"
                found.append(self._worded(f"{step}.{name}", "text", step, name, title, ("cot", step, name)))
        path = ("cot", "final_answer")
        found.append(self._worded("final_answer", "text", "final", "final_answer", "Final answer", path))
        for kind in KINDS:
            found += self._objects(kind)
        return tuple(found)

    @cached_property
    def differences(self) -> tuple[Place, ...]:
        """The places where not all agree, in the order of the page."""
        return tuple(place for place in self.places if not place.agrees)

    @cached_property
    def agreement(self) -> float | None:
        """Mean over all places that are known, 0 to 1; None where there is none, as in empty documents."""
        return _mean(place.agreement for place in self.places)

    def seed(self) -> Json:
        """Return the document to decide on: the first letter's value where all agree, nothing anywhere else."""
        first = self.sides[self.letters[0]]
        document = empty_document()
        for place in self.places:
            if not place.agrees:
                continue
            value = place.sides[self.letters[0]]
            if place.kind == "target_label":
                document["target_label"] = value
            elif place.kind in KINDS:
                document[KINDS[place.kind]][value] = first[KINDS[place.kind]][value]
            elif place.step == "final":
                document["cot"]["final_answer"] = value
            else:
                document["cot"][place.step][place.field] = value
        document["links"] = self._common_links(document)
        return document

    def measures(self) -> Json:
        """Return how far the documents agree, as means over all pairs of people; None where nothing can be compared.

        ``boxes``: IoU of tracks that belong together; ``events`` and ``timeframes``: overlap in time; ``texts``: share
        of words in common. ``boxes_unmatched`` and ``events_unmatched`` count what somebody lacks.
        """
        pairs = list(combinations(self.sides.values(), 2))
        frames = [
            _timeframe_agreement(one["cot"][step]["timeframe"], other["cot"][step]["timeframe"])
            for one, other in pairs
            for step in STEPS
        ]
        texts = [
            word_overlap(_at(one, path), _at(other, path)) for one, other in pairs for path in _text_paths()
        ]
        found: Json = {"timeframes": _mean(frames), "texts": _mean(texts)}
        for kind, name in (("track", "boxes"), ("event", "events")):
            groups = self._groups[kind]
            overlaps = [
                groups.overlap(*pair)
                for members in groups.members
                for pair in combinations(members.items(), 2)
            ]
            found[name] = _mean(overlaps)
            found[f"{name}_unmatched"] = sum(len(members) < len(self.sides) for members in groups.members)
        return found

    def matches(self, document: Document) -> Matches:
        """Whom a decided document agrees with, at each difference and everywhere."""
        objects = {kind: self._object_matches(kind, document) for kind in KINDS}
        given: dict[str, set[str]] = {}
        for place in self.places:
            if place.kind in KINDS:
                given[place.id] = objects[place.kind].matching[place.id]
            else:
                given[place.id] = {
                    letter
                    for letter, value in place.sides.items()
                    if _agree(place.kind, value, _at(document, _path(place)))
                }
        everywhere = set(self.letters)
        for letters in given.values():
            everywhere &= letters
        if any(found.own for found in objects.values()):
            everywhere = set()
        differences = {place.id: "".join(sorted(given[place.id])) for place in self.differences}
        return Matches("".join(sorted(everywhere)), differences)

    @cached_property
    def _groups(self) -> Mapping[str, Groups]:
        return {
            kind: group(kind, {letter: side[name] for letter, side in self.sides.items()})
            for kind, name in KINDS.items()
        }

    def _worded(
        self, id: str, kind: str, step: str | None, field: str | None, title: str, path: Sequence[str]
    ) -> Place:
        values = {letter: _at(side, path) for letter, side in self.sides.items()}
        same = len({value.strip() for value in values.values()}) == 1
        agreement: float | None = float(same)
        if kind == "text":
            agreement = _least(word_overlap(*pair) for pair in combinations(values.values(), 2))
        return Place(id, kind, step, field, title, agreement, same, values)

    def _timeframe(self, step: str) -> Place:
        values = {letter: side["cot"][step]["timeframe"] for letter, side in self.sides.items()}
        pairs = list(combinations(values.values(), 2))
        agreement = _least(_timeframe_agreement(*pair) for pair in pairs)
        agrees = all(_agree("timeframe", *pair) for pair in pairs)
        title = f"{step.capitalize()} cue, timeframe"
        return Place(f"{step}.timeframe", "timeframe", step, "timeframe", title, agreement, agrees, values)

    def _objects(self, kind: str) -> Iterator[Place]:
        groups, words = self._groups[kind], {"track": "Boxes of", "event": "Audio event"}[kind]
        for members in groups.members:
            first = next(iter(members))
            values = {letter: members.get(letter) for letter in self.letters}
            labels = list(dict.fromkeys(groups.label(*member) for member in members.items()))
            if len(members) < len(self.sides):
                agreement: float = 0.0
            else:
                pairs = combinations(members.items(), 2)
                agreement = min((groups.overlap(*pair) for pair in pairs), default=1.0)
            agrees = agreement >= AGREED and len(labels) == 1
            title = f"{words} {' / '.join(_quoted(label) for label in labels)}"
            place_id = f"{kind}:{first}:{members[first]}"
            yield Place(place_id, kind, None, None, title, agreement, agrees, values)

    def _common_links(self, document: Document) -> Json:
        """The first letter's links to what the document has, where everybody made the same one."""
        made = [self._links(letter) for letter in self.letters]
        return {
            link["id"]: link
            for key, link in made[0].items()
            if all(key in links for links in made[1:]) and link["target"] in document[KINDS[link["kind"]]]
        }

    def _links(self, letter: str) -> dict[tuple[str, str, int, str], Any]:
        """A side's links by what they say: step, kind, which object it is to everybody, relation."""
        found = {}
        for link in self.sides[letter]["links"].values():
            number = self._groups[link["kind"]].number(letter, link["target"])
            found[link["step"], link["kind"], number, link["relation"]] = link
        return found

    def _object_matches(self, kind: str, document: Document) -> "_ObjectMatches":
        groups, parts = self._groups[kind], document[KINDS[kind]]
        ids = [place.id for place in self.places if place.kind == kind]
        touched: set[int] = set()
        alike: list[set[str]] = [set() for _ in groups.members]
        own = False
        for key, row in groups.overlaps_with(parts).items():
            best: tuple[float, int | None] = (0.0, None)
            for number, letter, side_id, overlap in row:
                if overlap >= LEAST and overlap > best[0]:
                    best = (overlap, number)
                if overlap >= AGREED and groups.label(letter, side_id) == parts[key]["label"].strip():
                    alike[number].add(letter)
            if best[1] is None:
                own = True
            else:
                touched.add(best[1])
        matching = {}
        for number, place_id in enumerate(ids):
            lacking = set(self.letters) - set(groups.members[number]) if number not in touched else set()
            matching[place_id] = alike[number] | lacking
        return _ObjectMatches(matching, own)


@dataclass(frozen=True, slots=True)
class _ObjectMatches:
    """Letters by place, and whether the document has something that nobody had."""

    matching: Mapping[str, set[str]]
    own: bool


def _agree(kind: str, a: Any, b: Any) -> bool:
    if kind != "timeframe":
        return bool(a.strip() == b.strip())
    if a["whole"] != b["whole"]:
        return False
    agreement = _timeframe_agreement(a, b)
    if agreement is None:
        return [list(pair) for pair in a["intervals"]] == [list(pair) for pair in b["intervals"]]
    return agreement >= AGREED


def _timeframe_agreement(a: Mapping[str, Any], b: Mapping[str, Any]) -> float | None:
    if a["whole"] or b["whole"]:
        return 1.0 if a["whole"] and b["whole"] else None
    overlap = tiou(a["intervals"], b["intervals"])
    return None if overlap is None else round(overlap, 9)


def _text_paths() -> Iterator[tuple[str, ...]]:
    for step in STEPS:
        for name in TEXTS:
            yield ("cot", step, name)
    yield ("cot", "final_answer")


def _path(place: Place) -> tuple[str, ...]:
    if place.kind == "target_label":
        return ("target_label",)
    return ("cot", "final_answer") if place.step == "final" else ("cot", place.step or "", place.field or "")


def _at(document: Document, path: Sequence[str]) -> Any:
    value: Any = document
    for part in path:
        value = value[part]
    return value


def _quoted(label: str) -> str:
    return f'"{short(label)}"' if label else "something without a label"


def _least(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return min(known, default=None)


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
