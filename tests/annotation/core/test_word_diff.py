"""What changed between two versions of a text."""

from hypothesis import given
from hypothesis import strategies as st

from annotation.core import word_diff
from annotation.core.word_diff import Change, changes


def test_a_changed_word_stands_in_its_passage_under_its_heading():
    old = "# Labels\n\n## Uncertain\n\nNot plainly false.\n\n## Incorrect\n\nPlainly wrong."
    new = "# Labels\n\n## Uncertain\n\nNot plainly false, but vague.\n\n## Incorrect\n\nPlainly wrong."
    assert changes(old, new) == [
        Change("Uncertain", (("same", "Not plainly false"), ("new", ", but vague"), ("same", ".")))
    ]


def test_removed_and_added_passages():
    (gone,) = changes("a\n\nb", "a")
    assert gone.pieces == (("old", "b"),)
    (added,) = changes("# H\n\na", "# H\n\na\n\nb c")
    assert (added.heading, added.pieces) == ("H", (("new", "b c"),))


def test_blank_lines_and_equal_texts_change_nothing():
    assert changes("a\n\n\nb\n", "a\nb") == []


texts = st.lists(st.text("ab .#", max_size=8), max_size=8).map("\n".join)


@given(old=texts, new=texts)
def test_pieces_give_both_versions_back(old, new):
    """The old words of all changes are gone from the old lines, the new ones come from the new lines."""
    found = changes(old, new)
    lines = {line.strip() for line in old.splitlines()}, {line.strip() for line in new.splitlines()}
    for change in found:
        before = "".join(text for kind, text in change.pieces if kind != "new")
        after = "".join(text for kind, text in change.pieces if kind != "old")
        assert {line for line in before.splitlines() if line} <= lines[0]
        assert {line for line in after.splitlines() if line} <= lines[1]
    assert bool(found) == (
        [x.strip() for x in old.splitlines() if x.strip()]
        != [x.strip() for x in new.splitlines() if x.strip()]
    )


def test_very_long_passages_are_not_compared_word_by_word(monkeypatch):
    monkeypatch.setattr(word_diff, "MOST_WORDS", 3)
    (change,) = changes("one two three", "one two four")
    assert change.pieces == (("old", "one two three"), ("new", "one two four"))
