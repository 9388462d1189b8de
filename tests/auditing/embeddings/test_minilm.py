"""The packaged embedder: its file, its vectors."""

import asyncio
import threading
from pathlib import Path

import numpy as np
import pytest

from auditing.embeddings import minilm
from auditing.embeddings.minilm import MODEL_SHA256, MiniLMEmbedder, check_model, model_path
from auditing.embeddings.protocol import Embedder, identity
from auditing.nli.weights_check import WeightsError

TEXTS = [
    "The patient has a high fever.",
    "The patient's temperature is raised.",
    "Bicycles are sold in the shop next to the station.",
]


@pytest.fixture(scope="module")
def embedder() -> MiniLMEmbedder:
    return MiniLMEmbedder()


async def test_vectors_have_length_one_and_say_what_is_alike(embedder: MiniLMEmbedder) -> None:
    assert isinstance(embedder, Embedder)
    rows = await embedder.encode(TEXTS)
    assert rows.shape == (3, 384)
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1, abs=1e-6)
    alike, other, another = rows[0] @ rows[1], rows[0] @ rows[2], rows[1] @ rows[2]
    assert alike > 0.6 > 0.2 > max(other, another)


async def test_vectors_are_those_of_the_published_model(embedder: MiniLMEmbedder) -> None:
    # Cosines of all-MiniLM-L6-v2 in float32 by sentence-transformers.
    rows = await embedder.encode(TEXTS)
    assert rows[0] @ rows[1] == pytest.approx(0.7321, abs=0.01)
    assert rows[0] @ rows[2] == pytest.approx(-0.0612, abs=0.01)


def test_a_text_has_the_same_vector_in_any_company(embedder: MiniLMEmbedder) -> None:
    together = embedder.encode_now([*TEXTS, "word " * 200])
    for position, text in enumerate(TEXTS):
        assert np.array_equal(embedder.encode_now([text])[0], together[position])


def test_longer_texts_are_cut_and_counted(embedder: MiniLMEmbedder) -> None:
    before = embedder.truncated
    long, longer = embedder.encode_now(["word " * 300, "word " * 400])
    assert embedder.truncated == before + 2
    assert np.array_equal(long, longer)
    embedder.encode_now(["short"])
    assert embedder.truncated == before + 2


async def test_degenerate_texts(embedder: MiniLMEmbedder) -> None:
    assert (await embedder.encode([])).shape == (0, 0)
    rows = await embedder.encode(["", "\u0001", "\U0001f600"])
    assert np.isfinite(rows).all()
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1, abs=1e-6)


def test_another_file_is_refused(tmp_path: Path) -> None:
    check_model(model_path())
    assert identity(MiniLMEmbedder())["revision"] == MODEL_SHA256
    other = tmp_path / "model.onnx"
    with pytest.raises(WeightsError, match="is missing"):
        MiniLMEmbedder(other).encode_now(["a"])
    content = bytearray(model_path().read_bytes())
    content[-1] ^= 1
    other.write_bytes(content)
    with pytest.raises(WeightsError, match="not the file that was tested"):
        MiniLMEmbedder(other).encode_now(["a"])


def test_without_its_package_the_remedy_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "PACKAGE", "no_such_package")
    with pytest.raises(WeightsError, match=r"requirements/core\.txt"):
        MiniLMEmbedder().encode_now(["a"])


async def test_a_cancelled_call_stops_the_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    embedder, started = MiniLMEmbedder(), threading.Event()
    session, tokenizer = embedder._load()
    runs = []

    class Watched:
        def run(self, names: list[str], inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
            runs.append(1)
            started.set()
            return session.run(names, inputs)

    monkeypatch.setattr(embedder, "_engine", (Watched(), tokenizer))
    call = asyncio.ensure_future(embedder.encode(["word " * 100] * 500))
    await asyncio.to_thread(started.wait)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await asyncio.to_thread(embedder._pool.shutdown)
    assert 0 < len(runs) < 500
