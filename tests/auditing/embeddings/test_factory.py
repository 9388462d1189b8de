import builtins
from typing import Any

import pytest

from auditing.embeddings.errors import EmbedderError, ExtraMissing
from auditing.embeddings.factory import make_embedder
from auditing.embeddings.minilm import MiniLMEmbedder
from auditing.embeddings.openai_compatible import OpenAIEmbedder


def test_names() -> None:
    assert isinstance(make_embedder(), MiniLMEmbedder)
    assert isinstance(make_embedder("minilm", threads=1, base_url=None), MiniLMEmbedder)
    server = make_embedder("openai:org/model:free", base_url="https://a.example/v1")
    assert isinstance(server, OpenAIEmbedder)
    assert server.name == "org/model:free"


@pytest.mark.parametrize(
    ("spec", "options", "message"),
    [
        ("bert", {}, "no embedder 'bert'"),
        ("", {}, "no embedder"),
        ("minilm:large", {}, "no embedder 'minilm:large'"),
        ("sentence-transformers", {}, "no embedder"),
        ("openai:", {"base_url": "https://a.example/v1"}, "no embedder"),
        ("openai:m", {}, "base URL"),
        ("minilm", {"colour": 1}, "no option 'colour'"),
        ("openai:m", {"base_url": "https://a.example/v1", "colour": 1}, "no option 'colour'"),
    ],
)
def test_refusals(spec: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(EmbedderError, match=message):
        make_embedder(spec, **options)


def test_without_the_extra_the_remedy_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without_torch(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_torch)
    with pytest.raises(ExtraMissing, match=r"torch is missing.*make setup-models"):
        make_embedder("sentence-transformers:some/model")
