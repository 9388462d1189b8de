"""Any sequence-classification model as a labeller. The model's tests need the extra `models`."""

import builtins
import contextlib
import importlib.util
from pathlib import Path

import pytest

from auditing.core.nli import Label
from auditing.nli.errors import ExtraMissing, ModelError
from auditing.nli.factory import make_labeller
from auditing.nli.protocol import RelationQuery
from auditing.nli.sequence_model import map_labels, missing_labels_note
from videos.proposals import torchvision_ops

C, N, M, E = Label.CONTRADICTION, Label.NEUTRAL, Label.IMPLIED, Label.ENTAILMENT


@pytest.mark.parametrize(
    ("names", "labels"),
    [
        (["contradiction", "neutral", "entailment"], [C, N, E]),
        (["ENTAILMENT", "NEUTRAL", "CONTRADICTION"], [E, N, C]),
        (["entailment", "not_entailment"], [E, N]),
        (["contradiction", "neutral", "implied_entailment", "explicit_entailment"], [C, N, M, E]),
        (["SUPPORTS", "REFUTES", "NOT ENOUGH INFO"], [E, C, N]),
    ],
)
def test_label_names_of_known_kinds_of_models(names, labels):
    assert map_labels(dict(enumerate(names))) == labels


def test_names_that_say_nothing_need_a_map():
    names = {0: "LABEL_0", 1: "LABEL_1", 2: "LABEL_2"}
    with pytest.raises(ModelError, match=r"output 0 'LABEL_0'.*label_map"):
        map_labels(names)
    given = {"LABEL_0": "contradiction", "label_1": "neutral", "LABEL_2": "entailment"}
    assert map_labels(names, given) == [C, N, E]


@pytest.mark.parametrize("names", [["contradiction", "neutral"], ["entailment", "supports"]])
def test_models_that_cannot_tell_entailment_are_refused(names):
    with pytest.raises(ModelError, match="do not tell entailment"):
        map_labels(dict(enumerate(names)))


def test_labels_that_a_model_never_gives_are_said():
    assert "never gives: implied." in missing_labels_note([C, N, E])
    assert "never" not in missing_labels_note([C, N, M, E])


def test_without_the_extra_the_remedy_is_said(monkeypatch):
    real = builtins.__import__

    def without_torch(name, *args, **kwargs):
        if name == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_torch)
    with pytest.raises(ExtraMissing, match=r"torch is missing.*make setup-models"):
        make_labeller("local:some-model")


needs_models = pytest.mark.skipif(
    not all(importlib.util.find_spec(name) for name in ("torch", "transformers")),
    reason="torch and transformers are not installed (extra `models`)",
)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory) -> Path:
    """A tiny random BERT with three labels and a word tokenizer, saved to disk."""
    import torch

    with contextlib.suppress(ImportError):  # as the product does before it touches transformers
        torchvision_ops.ensure()
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    folder = tmp_path_factory.mktemp("models") / "tiny-nli"
    words = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        "the",
        "lamp",
        "is",
        "off",
        "room",
        "dark",
        "nobody",
        "reads",
        "in",
        ".",
    ]
    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(words))
    tokenizer = BertTokenizerFast(str(folder / "vocab.txt"), model_max_length=64)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        id2label={0: "ENTAILMENT", 1: "NEUTRAL", 2: "CONTRADICTION"},
        label2id={"ENTAILMENT": 0, "NEUTRAL": 1, "CONTRADICTION": 2},
        initializer_range=1.0,
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.mark.models
@needs_models
async def test_a_saved_model_labels_relations_as_transformers_itself_does(checkpoint: Path):
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    queries = [
        RelationQuery(("the lamp is off .", "the room is dark ."), "nobody reads in the room ."),
        RelationQuery(("nobody reads .",), "the lamp is off ."),
        RelationQuery(("the " * 200,), "dark ."),
    ]
    labeller = make_labeller(f"local:{checkpoint}")
    answers = await labeller.label_batch(queries)
    tokenizer = AutoTokenizer.from_pretrained(checkpoint)
    network = AutoModelForSequenceClassification.from_pretrained(checkpoint).eval()
    for query, answer in zip(queries, answers, strict=True):
        inputs = tokenizer(
            " ".join(query.premises), query.target, truncation=True, max_length=64, return_tensors="pt"
        )
        with torch.inference_mode():
            entailment, neutral, contradiction = network(**inputs).logits.softmax(-1)[0].tolist()
        expected = {
            "contradiction": contradiction, "neutral": neutral, "implied": 0.0, "entailment": entailment,
        }  # fmt: skip
        assert answer.probabilities == pytest.approx(expected, abs=1e-5)
        assert answer.label.word == max(expected, key=expected.get)
    assert labeller.truncated == 1
    assert "never gives: implied" in labeller.quality_note
    assert len(labeller.identity()["revision"]) == 64
    await labeller.aclose()


@pytest.mark.models
@needs_models
def test_a_model_that_is_not_on_this_machine_is_named(tmp_path: Path):
    with pytest.raises(ModelError, match="nothing is downloaded at run time"):
        make_labeller(f"local:{tmp_path}/absent")
