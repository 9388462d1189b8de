"""How many traces are open at once, and how many are begun in one step."""

from types import SimpleNamespace

from auditing.services.questions import MAX_OPEN_TRACES, Questions


class Work:
    """One question that waits for its answer."""

    known_before = 0

    def __init__(self, row: SimpleNamespace) -> None:
        self.row = row
        self._left, self._open = 1, 0

    def next_items(self, limit: int) -> list[str]:
        found, self._left = ["item"][: self._left], 0
        return found

    def query(self, item: str) -> int:
        return int(self.row.pk)

    def given_out(self, key: str) -> None:
        self._open += 1

    def tell(self, item: str, value: object) -> None:
        self._open -= 1

    @property
    def complete(self) -> bool:
        return not self._left and not self._open


class Empty:
    """A store without any answer."""

    def valid_keys(self, keys: list[str]) -> dict[str, str]:
        return {}


def questions(count: int, **more: int) -> tuple[Questions, list[int]]:
    begun: list[int] = []

    def begin(row: SimpleNamespace) -> Work:
        begun.append(row.pk)
        return Work(row)

    rows = [SimpleNamespace(pk=number) for number in range(count)]
    return Questions(rows, begin, str, Empty(), **more), begun


def answered(found: Questions, key: str) -> None:
    said = found.answered(key, SimpleNamespace(status="valid", value="yes"))
    found.stored([said], {key: "yes"})


def test_many_are_begun_at_once_up_to_the_bound():
    found, begun = questions(100)
    assert len(found.next(512)[0]) == MAX_OPEN_TRACES == len(begun)


def test_large_ones_are_begun_one_at_a_time_and_few_are_open():
    found, begun = questions(5, most_open=2)
    assert [question.key for question in found.next(512)[0]] == ["0"]
    assert begun == [0]
    assert [question.key for question in found.next(512)[0]] == ["1"]
    assert found.next(512)[0] == []
    assert begun == [0, 1], "a third one waits until one of them is complete"
    answered(found, "0")
    assert [question.key for question in found.next(512)[0]] == ["2"]
    assert len(found.open_traces) == 2
    assert not found.exhausted
