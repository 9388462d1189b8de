"""What a submit from VidAT changes: each object and sound once, however often it is sent."""

from typing import Any

from annotation.core.vidat import Taken, entries_of, merge
from videos.core.document import empty_document
from videos.formats.scene import empty_cot

DOG, CAT = "00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"
BARK, LINK = "00000000-0000-4000-8000-000000000003", "00000000-0000-4000-8000-000000000004"


def track(key: str, left: int, identity: str = "from the file") -> dict[str, Any]:
    """An object as read from a file: VidAT's name for it, and where it is."""
    return {"id": identity, "label": key.split("/")[0], "external": {"vidat": key}, "left": left}


def event(start: int, identity: str = "from the file", label: str = "bark", note: str = "") -> dict[str, Any]:
    return {"id": identity, "label": label, "start_us": start, "end_us": start + 10, "note": note}


def found(*tracks: dict[str, Any], events: Any = (), cot: Any = None) -> dict[str, Any]:
    events = [{**row, "id": f"file {place}"} for place, row in enumerate(events)]
    return {"tracks": list(tracks), "events": events, "cot": cot}


def new_id(place: str, key: str, attempt: int) -> str:
    return f"{place} {key} {attempt}"


def applied(content: dict[str, Any], taken: Taken) -> dict[str, Any]:
    """The document afterwards; every change says truly what was there before."""
    after = {name: dict(value) if isinstance(value, dict) else value for name, value in content.items()}
    for change in taken.changes:
        *way, last = change["path"]
        place = after
        for name in way:
            place[name] = dict(place[name])
            place = place[name]
        assert place.get(last) == change["before"], change
        if change["after"] is None:
            del place[last]
        else:
            place[last] = change["after"]
    return after


def given() -> tuple[dict[str, Any], dict[str, Any]]:
    """A document with a dog, a cat and a bark that is linked to, and what VidAT has of its file."""
    content = empty_document("dog")
    content["tracks"] = {DOG: track("?", 5, DOG), CAT: track("?", 7, CAT)}
    content["events"] = {BARK: event(100, BARK)}
    content["links"] = {LINK: {"id": LINK, "kind": "event", "target": BARK}}
    file = found(track("dog/1", 5), track("cat/1", 7), events=[event(100)], cot=empty_cot())
    return content, entries_of(file, content, {DOG: "dog/1", CAT: "cat/1"})


def test_what_is_sent_twice_is_taken_once() -> None:
    content, sent = empty_document(), found(track("dog/1", 5), events=[event(0), event(0)])
    first = merge(content, sent, {}, new_id)
    assert (first.added, first.changed, first.removed, first.kept) == (3, 0, 0, 0)
    content = applied(content, first)
    second = merge(content, sent, first.entries, new_id)
    assert (second.changes, second.kept) == ([], 0)
    moved = merge(content, found(track("dog/1", 6), events=[event(0)]), second.entries, new_id)
    assert (moved.added, moved.changed, moved.removed) == (0, 1, 1)
    (row,) = applied(content, moved)["tracks"].values()
    assert (row["id"], row["left"]) == ("tracks dog/1 0", 6)


def test_a_file_that_was_begun_here_changes_what_was_changed_in_it() -> None:
    content, entries = given()
    sent = found(track("dog/1", 50), track("cat/1", 7), track("dog/2", 9), events=[event(100)])
    taken = merge(content, sent, entries, new_id)
    assert (taken.added, taken.changed, taken.removed, taken.kept) == (1, 1, 0, 0)
    after = applied(content, taken)
    assert (after["tracks"][DOG]["left"], after["tracks"][DOG]["id"]) == (50, DOG)
    assert after["tracks"][CAT] is content["tracks"][CAT]
    assert after["tracks"]["tracks dog/2 0"]["left"] == 9
    again = merge(after, sent, taken.entries, new_id)
    assert again.changes == []


def test_what_was_deleted_in_vidat_goes_with_its_links() -> None:
    content, entries = given()
    after = applied(content, merge(content, found(track("dog/1", 5)), entries, new_id))
    assert (list(after["tracks"]), after["events"], after["links"]) == ([DOG], {}, {})


def test_a_sound_that_was_moved_keeps_its_id_and_its_link() -> None:
    content, entries = given()
    sent = found(track("dog/1", 5), track("cat/1", 7), events=[event(130)])
    taken = merge(content, sent, entries, new_id)
    after = applied(content, taken)
    assert (taken.changed, taken.removed) == (1, 0)
    assert (list(after["events"]), after["events"][BARK]["start_us"]) == ([BARK], 130)
    assert list(after["links"]) == [LINK]


def test_a_file_that_was_not_begun_here_takes_nothing_away() -> None:
    content, entries = given()
    taken = merge(content, found(track("dog/1", 900)), entries, new_id)
    assert (taken.added, taken.changed, taken.removed, taken.kept) == (1, 0, 0, 3)
    after = applied(content, taken)
    assert set(after["tracks"]) == {DOG, CAT, "tracks dog/1 0"}
    # Its own object goes when the next submit has it no more.
    gone = merge(after, found(), taken.entries, new_id)
    assert (gone.removed, set(applied(after, gone)["tracks"])) == (1, {DOG, CAT})


def test_what_was_changed_or_deleted_here_meanwhile_stays_so() -> None:
    content, entries = given()
    content["tracks"] = {DOG: track("?", 77, DOG)}
    sent = found(track("dog/1", 5), track("cat/1", 7), events=[event(100)])
    assert merge(content, sent, entries, new_id).changes == []


def test_texts_change_where_vidat_changed_them_and_are_never_emptied() -> None:
    content, entries = given()
    content["cot"] = {**empty_cot(), "final_answer": "It runs."}
    cot = empty_cot()
    cot["visual"]["description"] = "It turns."
    taken = merge(
        content, found(track("dog/1", 5), track("cat/1", 7), events=[event(100)], cot=cot), entries, new_id
    )
    assert [change["path"] for change in taken.changes] == [["cot", "visual", "description"]]
    after = applied(content, taken)
    after["cot"]["visual"]["description"] = "It turns, said here."
    sent = found(track("dog/1", 5), track("cat/1", 7), events=[event(100)], cot=cot)
    assert merge(after, sent, taken.entries, new_id).changes == [], "VidAT still says what it said"


def test_two_objects_of_one_name_are_both_kept() -> None:
    sent = found({**track("dog/1/2", 1), "id": "a"}, {**track("dog/1/2", 2), "id": "b"})
    assert merge(empty_document(), sent, {}, new_id).added == 2


def test_an_id_that_is_in_use_is_not_given_again() -> None:
    content = empty_document()
    content["tracks"] = {"tracks dog/1 0": track("?", 1, "tracks dog/1 0")}
    taken = merge(content, found(track("dog/1", 5)), {}, new_id)
    assert [change["path"] for change in taken.changes] == [["tracks", "tracks dog/1 1"]]
