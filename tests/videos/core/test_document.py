import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.videos.core.tables import cases, close
from tests.videos.core.track_strategies import boxes, tracks
from videos.core.canonical import canonical, same
from videos.core.document import (
    Conflict,
    apply,
    conflicts,
    empty_document,
    inverse,
    keep_mine,
    merge,
    validate,
)
from videos.core.values import InvalidChange, Limits

IDS = [f"00000000-0000-4000-8000-{n:012d}" for n in range(6)]


def run(data: dict[str, Any]) -> dict[str, Any]:
    limits = Limits(**data["limits"]) if "limits" in data else Limits()
    document, operations = data.get("document"), data.get("operations", [])
    for operation in operations:
        for change in operation["changes"]:
            if change.get("after") == "@long":
                change["after"] = "x" * data["long"]
    try:
        match data["function"]:
            case "apply":
                for operation in operations:
                    document = apply(document, operation, limits)
                validate(document, limits)
                return {"document": document}
            case "merge":
                merged = merge(document, operations, limits)
                validate(merged.document, limits)
                return {
                    "document": merged.document,
                    "applied": merged.applied,
                    "already": merged.already,
                    "conflicts": {
                        key: [list(found.path) for found in value] for key, value in merged.conflicts.items()
                    },
                    "refused": {key: list(error.path) for key, error in merged.refused.items()},
                }
            case "inverse":
                return {"operation": inverse(operations[0])}
            case "keep_mine":
                operation = keep_mine(document, operations[0])
                apply(document, operation)
                return {"operation": operation}
            case _:
                return {"text": canonical(data["value"]).decode()}
    except Conflict as error:
        return {"conflict": {"path": list(error.path), "mine": error.mine, "theirs": error.theirs}}
    except InvalidChange as error:
        return {"invalid": list(error.path)} if error.sentence.endswith(".") else {"sentence": error.sentence}


@pytest.mark.parametrize(("data", "expected"), cases("video_document"))
def test_table(data: dict[str, Any], expected: dict[str, Any]) -> None:
    before = copy.deepcopy(data.get("document"))
    assert close(run(data), expected, 0)
    assert data.get("document") == before, "the document that was given was changed"


def _step(draw: st.DrawFn, document: Any) -> list[dict[str, Any]]:
    """Changes of one edit that fits the document."""
    kind = draw(st.sampled_from(["label", "track", "keyframe", "drop", "event", "link", "text", "visible"]))
    key = draw(st.sampled_from(IDS))
    there = document["tracks"].get(key)
    match kind:
        case "track":
            path, after = ["tracks", key], None if there else draw(tracks(id=key)).to_json()
        case "keyframe" if there:
            start, end = draw(st.sampled_from(there["visible"]))
            frame = str(draw(st.integers(start, end - 1)))
            path = ["tracks", key, "keyframes", frame]
            after = {
                "box": list(draw(boxes())),
                "occluded": draw(st.booleans()),
                "source": "human",
                "run": None,
            }
        case "drop" if there:
            path, after = (
                ["tracks", key, "keyframes", draw(st.sampled_from(sorted(there["keyframes"])))],
                None,
            )
        case "visible" if there:
            # Only the ends move, to where a keyframe stays inside.
            frames = sorted(map(int, there["keyframes"]))
            pairs = [list(pair) for pair in there["visible"]]
            pairs[-1][1] = draw(st.integers(frames[-1] + 1, frames[-1] + 40))
            path, after = ["tracks", key, "visible"], pairs
        case "event":
            event = {"id": key, "label": "bark", "note": "", "source": "human", "run": None}
            start = draw(st.integers(0, 1000))
            path, after = ["events", key], {**event, "start_us": start, "end_us": start + 1}
        case "link" if there and key not in document["links"]:
            link = {"id": key, "step": "visual", "kind": "track", "target": key, "frames": None}
            path, after = ["links", key], {**link, "relation": "supports"}
        case "text":
            path = [
                "cot",
                draw(st.sampled_from(["visual", "audio"])),
                draw(st.sampled_from(["description", "analysis"])),
            ]
            after = draw(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8))
        case _:
            path, after = ["target_label"], draw(st.text("abc", max_size=3))
    before: Any = document
    for part in path:
        before = before.get(part) if before is not None else None
    found = [{"path": path, "before": before, "after": after}]
    if path[0] == "tracks" and len(path) == 2 and after is None:
        dangling = [(name, link) for name, link in document["links"].items() if link["target"] == key]
        found = [{"path": ["links", name], "before": link, "after": None} for name, link in dangling] + found
    return found


@st.composite
def journals(draw: st.DrawFn) -> tuple[list[dict[str, Any]], Any]:
    """A journal of edits, each of one to three changes, and the document after them."""
    document: Any = empty_document("dog")
    journal = []
    for number in range(draw(st.integers(1, 12))):
        changes: list[dict[str, Any]] = []
        for _ in range(draw(st.integers(1, 3))):
            so_far = document
            if changes:
                so_far = apply(document, {"id": IDS[0], "words": "", "changes": changes})
            try:
                step = _step(draw, so_far)
                apply(so_far, {"id": IDS[0], "words": "", "changes": step})
            except InvalidChange:
                # The last keyframe of an interval cannot be dropped.
                continue
            changes += step
        if changes:
            journal.append(
                {"id": f"10000000-0000-4000-8000-{number:012d}", "words": "Edit", "changes": changes}
            )
            document = apply(document, journal[-1])
    return journal, document


@given(journals())
def test_c15_undo_all_is_the_beginning_and_redo_all_the_end(drawn: Any) -> None:
    journal, final = drawn
    first, last = canonical(empty_document("dog")), canonical(final)
    validate(final)
    document = final
    for operation in reversed(journal):
        document = apply(document, inverse(operation))
        validate(document)
    assert canonical(document) == first
    for operation in journal:
        assert inverse(inverse(operation)) == operation
        document = apply(document, inverse(inverse(operation)))
    assert canonical(document) == last


@given(journals(), st.integers(0, 11))
def test_c13_a_journal_replayed_on_a_newer_document_conflicts_and_changes_nothing(
    drawn: Any, at: int
) -> None:
    journal, final = drawn
    merged = merge(final, journal)
    assert set(merged.applied) | set(merged.already) | set(merged.conflicts) | set(merged.refused) == {
        operation["id"] for operation in journal
    }
    validate(merged.document)
    operation = journal[at % len(journal)]
    before = canonical(final)
    first: tuple[str, ...] | None = None
    try:
        apply(final, operation)
    except Conflict as error:
        first = error.path
    except InvalidChange:
        pass
    found = [conflict.path for conflict in conflicts(final, operation)]
    assert found[:1] == ([first] if first else [])
    assert canonical(final) == before


def test_apply_copies_only_what_it_touches() -> None:
    track = {"id": IDS[0], "label": "dog", "color": None, "attributes": {}, "source": "human", "run": None}
    track |= {"keyframes": {"0": KEYFRAME}, "visible": [[0, 9]], "external": {}}
    document: Any = empty_document()
    for key in IDS[:2]:
        add = {"path": ["tracks", key], "before": None, "after": {**track, "id": key}}
        document = apply(document, {"id": IDS[0], "words": "Add", "changes": [add]})
    change = {"path": ["tracks", IDS[0], "keyframes", "5"], "before": None, "after": KEYFRAME}
    result: Any = apply(document, {"id": IDS[0], "words": "Set", "changes": [change]})
    assert result["tracks"][IDS[1]] is document["tracks"][IDS[1]]
    assert result["cot"] is document["cot"]
    assert result["tracks"][IDS[0]]["visible"] is document["tracks"][IDS[0]]["visible"]
    assert "5" not in document["tracks"][IDS[0]]["keyframes"]


KEYFRAME = {"box": [1, 2, 3, 4], "occluded": False, "source": "human", "run": None}


@pytest.mark.parametrize(
    ("change", "path"),
    [
        (lambda d: d.pop("links"), ()),
        (lambda d: d["cot"].pop("audio"), ("cot",)),
        (lambda d: d["cot"]["visual"].update(analysis=3), ("cot", "visual", "analysis")),
        (lambda d: d["cot"]["visual"].update(smell=""), ("cot", "visual")),
        (lambda d: d.update(tracks=[]), ("tracks",)),
        (lambda d: d["events"].update({"x": {}}), ("events", "x")),
        (lambda d: d.update(target_label=float("nan")), ("target_label",)),
        (lambda d: d["tracks"].update({IDS[0]: None}), ("tracks", IDS[0])),
    ],
)
def test_documents_that_are_none(change: Any, path: tuple[str, ...]) -> None:
    document = empty_document()
    validate(document)
    change(document)
    with pytest.raises(InvalidChange) as caught:
        validate(document)
    assert caught.value.path == path


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_boxes_are_finite(value: float) -> None:
    change = {
        "path": ["tracks", IDS[0], "keyframes", "0"],
        "before": None,
        "after": {**KEYFRAME, "box": [value, 0, 1, 1]},
    }
    with pytest.raises(InvalidChange, match="four finite numbers"):
        apply(empty_document(), {"id": IDS[0], "words": "", "changes": [change]})


def test_half_a_character_is_refused() -> None:
    change = {"path": ["target_label"], "before": "", "after": "\ud83d"}
    with pytest.raises(InvalidChange, match="cannot be stored"):
        apply(empty_document(), {"id": IDS[0], "words": "", "changes": [change]})


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_canonical_numbers_read_back(value: float) -> None:
    text = canonical([value]).decode()
    # As a float: without an exponent Python reads digits as a whole number, exactly.
    assert float(text[1:-1]) == value
    assert json.loads(text)
    assert ".0]" not in text
    if abs(value) < 2**53 and value.is_integer():
        assert text == f"[{int(value)}]"


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_canonical_refuses_what_json_cannot_say(value: float) -> None:
    with pytest.raises(ValueError, match="no JSON number"):
        canonical({"a": value})


def test_same() -> None:
    assert same({"a": [1, 2.0, None]}, {"a": [1.0, 2, None]})
    assert not same(True, 1)
    assert not same([0], [False])
    assert not same({"a": None}, {})
    assert not same(float("nan"), float("nan"))
