"""The progress line: a bar on a terminal, little elsewhere, nothing beside JSON."""

import io

import pytest

from auditing.management import progress
from auditing.services.offline.labelling import Tally


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch):
    """A clock that the test sets."""

    class Clock:
        now = 0.0

        def monotonic(self):
            return self.now

    made = Clock()
    monkeypatch.setattr(progress, "time", made)
    return made


def test_a_bar_with_counts_and_time_left(clock):
    stream = Terminal()
    bar = progress.Progress(stream)
    clock.now = 5.0
    bar(Tally(50, 200, 10, 2))
    # 50 of 200 in 5 seconds: 150 more take 15. A quarter of 24 places is 6.
    expected = "[######                  ] 50 of 200 relations, 10 cached, 2 without a label, about 15 s left"
    assert stream.getvalue() == f"\r\x1b[K{expected}"
    bar.close()
    assert stream.getvalue().endswith("\r\x1b[K")


def test_not_more_often_than_a_person_can_read(clock):
    stream = Terminal()
    bar = progress.Progress(stream)
    for done in range(1, 1000):
        clock.now = done / 1000
        bar(Tally(done, 1000, 0, 0))
    assert stream.getvalue().count("\r") <= 10


def test_plain_lines_where_there_is_no_terminal(clock):
    stream = io.StringIO()
    bar = progress.Progress(stream)
    clock.now = 9.0
    bar(Tally(1, 4, 0, 0))
    assert stream.getvalue() == ""
    clock.now = 20.0
    bar(Tally(2, 4, 0, 0))
    bar.close()
    assert stream.getvalue() == "2 of 4 relations, 0 cached, about 20 s left\n"


def test_nothing_beside_json_without_a_terminal(clock):
    stream = io.StringIO()
    bar = progress.Progress(stream, quiet=True)
    clock.now = 100.0
    bar(Tally(2, 4, 0, 0))
    assert stream.getvalue() == ""


def test_nothing_to_do_is_no_division_by_zero(clock):
    stream = Terminal()
    bar = progress.Progress(stream)
    clock.now = 1.0
    bar(Tally(0, 0, 0, 0))
    assert "0 of 0 relations" in stream.getvalue()
