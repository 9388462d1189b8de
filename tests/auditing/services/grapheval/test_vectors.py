"""The cache of embeddings in the database."""

from collections.abc import Sequence

import numpy as np
import pytest
from asgiref.sync import async_to_sync

from auditing.embeddings.cache import embed
from auditing.models import TextVector
from auditing.services.grapheval import vectors
from auditing.services.grapheval.vectors import DatabaseVectors
from tests.auditing.services.grapheval.fakes import FakeEmbedder

pytestmark = pytest.mark.django_db


def rows(texts: Sequence[str], embedder: FakeEmbedder, cache: DatabaseVectors) -> np.ndarray:
    return async_to_sync(embed)(texts, embedder, cache)


def test_a_text_is_encoded_once_whoever_asks() -> None:
    embedder = FakeEmbedder()
    first = rows(["a", "b", "a"], embedder, DatabaseVectors())
    cache = DatabaseVectors()
    again = rows(["b", "c"], embedder, cache)
    assert embedder.asked == ["a", "b", "c"]
    assert (cache.found, cache.added) == (1, 1)
    assert np.array_equal(first[1], again[0])
    assert np.array_equal(first[0], first[2])


def test_vectors_of_another_model_are_others() -> None:
    rows(["a"], FakeEmbedder(), DatabaseVectors())
    other = FakeEmbedder(name="other")
    rows(["a"], other, DatabaseVectors())
    assert other.asked == ["a"]
    assert TextVector.objects.count() == 2


def test_what_is_there_stays() -> None:
    DatabaseVectors().put_now({"k": np.array([1, 0], dtype=np.float32)})
    DatabaseVectors().put_now({"k": np.array([0, 1], dtype=np.float32)})
    assert DatabaseVectors().get_now(["k", "unknown"])["k"].tolist() == [1, 0]


def test_many_keys_are_looked_up_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "LOOKUP_CHUNK", 2)
    DatabaseVectors().put_now({str(n): np.array([n], dtype=np.float32) for n in range(5)})
    found = DatabaseVectors().get_now([str(n) for n in range(5)])
    assert {key: float(vector[0]) for key, vector in found.items()} == {str(n): n for n in range(5)}


def test_what_was_kept_before_a_stop_stays() -> None:
    def stop(_: int) -> None:
        raise RuntimeError("stop")

    embedder = FakeEmbedder(batch_size=2)
    with pytest.raises(RuntimeError, match="stop"):
        rows(["a", "b", "c", "d"], embedder, DatabaseVectors(after_batch=stop))
    assert embedder.asked == ["a", "b"]
    assert TextVector.objects.count() == 2
