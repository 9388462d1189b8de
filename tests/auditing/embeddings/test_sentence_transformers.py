"""Any sentence-transformers model as an embedder. Needs the extra `models`."""

import importlib.util
import shutil
from pathlib import Path

import numpy as np
import pytest

from auditing.embeddings.errors import EmbedderError
from auditing.embeddings.factory import make_embedder
from auditing.embeddings.protocol import Embedder
from videos.proposals import torchvision_ops

pytestmark = [
    pytest.mark.models,
    pytest.mark.skipif(
        importlib.util.find_spec("sentence_transformers") is None, reason="needs the extra: make test-models"
    ),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Save a BERT of two layers with random weights, mean pooling, and a vocabulary of letters."""
    torchvision_ops.ensure()  # before anything of transformers, as the embedder does

    import torch
    import transformers
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer import modules

    folder = tmp_path_factory.mktemp("tiny")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghijklmnopqrstuvwxyz"]
    words += [f"##{letter}" for letter in words[5:]]
    (folder / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    torch.manual_seed(1)
    config = transformers.BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
    )
    transformers.BertModel(config).save_pretrained(folder / "bert")
    transformers.BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder / "bert")
    word = modules.Transformer(str(folder / "bert"), max_seq_length=64)
    whole = SentenceTransformer(modules=[word, modules.Pooling(16)], device="cpu")
    whole.save(str(folder / "whole"))
    return folder / "whole"


async def test_vectors_have_length_one_and_do_not_depend_on_their_company(folder: Path) -> None:
    embedder = make_embedder(f"sentence-transformers:{folder}")
    assert isinstance(embedder, Embedder)
    rows = await embedder.encode(["a cat", "a much longer text about dogs", "a cat"])
    assert rows.shape == (3, 16)
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1, abs=1e-6)
    assert np.array_equal(rows[0], rows[2])
    assert np.array_equal((await embedder.encode(["a cat"]))[0], rows[0])
    assert (await embedder.encode([])).shape == (0, 0)
    await embedder.aclose()


def test_other_files_are_another_version(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    first = make_embedder(f"sentence-transformers:{folder}")
    assert make_embedder(f"sentence-transformers:{copy}").version == first.version
    (copy / "note.txt").write_text("changed", encoding="utf-8")
    assert make_embedder(f"sentence-transformers:{copy}").version != first.version


def test_a_model_that_is_not_here_is_not_fetched() -> None:
    with pytest.raises(EmbedderError, match="cannot be loaded from this machine"):
        make_embedder("sentence-transformers:nobody/no-such-model")
