"""Each distinct text is embedded once."""

from collections.abc import Sequence

import numpy as np
import pytest

from auditing.embeddings.cache import MemoryCache, embed
from auditing.embeddings.protocol import Embedder, Vectors, unit_rows, vector_key


class Counting:
    """Embeds a text as [its length, 1] and remembers what it was asked."""

    kind, name, remote, batch_size = "counting", "counting", False, 8

    def __init__(self, version: str = "1", fail_at: int | None = None) -> None:
        self.version = version
        self.calls: list[list[str]] = []
        self.fail_at = fail_at

    async def encode(self, texts: Sequence[str]) -> Vectors:
        if len(self.calls) == self.fail_at:
            raise ConnectionError
        self.calls.append(list(texts))
        return unit_rows([[len(text), 1] for text in texts])

    async def aclose(self) -> None:
        """Hold nothing."""

    @property
    def asked(self) -> list[str]:
        return [text for call in self.calls for text in call]


def _facts() -> list[str]:
    """Return 100 facts, 61 of them distinct: the first 39 stand twice."""
    distinct = ["x" * (index + 1) for index in range(61)]
    return distinct + distinct[:39]


async def test_61_distinct_of_100_texts_are_61_texts_to_encode() -> None:
    embedder, cache = Counting(), MemoryCache()
    assert isinstance(embedder, Embedder)
    facts = _facts()
    assert (len(facts), len(set(facts))) == (100, 61)
    rows = await embed(facts, embedder, cache)
    assert len(embedder.asked) == 61
    assert set(embedder.asked) == set(facts)
    assert [len(call) for call in embedder.calls] == [8] * 7 + [5]
    # Row by row what the text alone gives: [length, 1] at length 1.
    for text, row in zip(facts, rows, strict=True):
        assert row == pytest.approx(np.array([len(text), 1]) / np.hypot(len(text), 1))
    assert rows.dtype == np.float32

    again = await embed(facts[::-1], embedder, cache)
    assert len(embedder.asked) == 61
    assert np.array_equal(again, rows[::-1])


async def test_another_version_of_the_model_is_another_vector() -> None:
    cache = MemoryCache()
    await embed(["a"], Counting("1"), cache)
    second = Counting("2")
    await embed(["a"], second, cache)
    assert second.asked == ["a"]


async def test_texts_that_differ_in_form_only_are_one() -> None:
    embedder = Counting()
    rows = await embed(["caf\u00e9", " cafe\u0301\n", "cafe"], embedder, MemoryCache())
    assert embedder.asked == ["caf\u00e9", "cafe"]
    assert np.array_equal(rows[0], rows[1])


async def test_what_was_embedded_before_a_fault_is_kept() -> None:
    cache, texts = MemoryCache(), ["x" * (index + 1) for index in range(20)]
    with pytest.raises(ConnectionError):
        await embed(texts, Counting(fail_at=2), cache)
    assert len(cache.vectors) == 16
    second = Counting()
    await embed(texts, second, cache)
    assert second.asked == texts[16:]


async def test_no_texts() -> None:
    assert (await embed([], Counting(), MemoryCache())).shape == (0, 0)


def test_key_by_hand() -> None:
    # printf '{"kind":"emb","model":"m","revision":"r","text":"é"}' | sha256sum
    expected = "8083a223b712689ee4661831bf425d2acba3b40db1e15285fa20293cb9ed45bd"
    assert vector_key(model="m", revision="r", text=" e\u0301 ") == expected


@pytest.mark.parametrize("rows", [[[1.0, float("nan")]], [1.0, 2.0], [[1.0], [1.0, 2.0]], [["a"]]])
def test_what_are_no_vectors_is_refused(rows: object) -> None:
    with pytest.raises(ValueError, match=r".+"):
        unit_rows(rows)  # type: ignore[arg-type]


def test_unit_rows_by_hand() -> None:
    assert unit_rows([[3, 4], [0, 0]]).tolist() == [[pytest.approx(0.6), pytest.approx(0.8)], [0, 0]]
