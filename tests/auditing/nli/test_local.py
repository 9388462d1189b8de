"""The embedded labeller: its files, its decisions, its answers."""

import asyncio
import csv
import shutil
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from auditing.core.nli import Label
from auditing.nli.errors import LabellerError
from auditing.nli.factory import make_labeller
from auditing.nli.local import CONTRADICTION_BAR, MAX_TOKENS, WEIGHTS, LocalLabeller, decide, softmax
from auditing.nli.protocol import RelationLabeller, RelationQuery
from auditing.nli.weights_check import WeightsError

QUERIES = [
    RelationQuery(
        ("All the apples in the basket are red.", "This apple is from the basket."), "This apple is red."
    ),
    RelationQuery(("The man is asleep on the sofa.",), "The man is running a marathon."),
    RelationQuery(("The shop opens at nine.",), "Penguins live in the south."),
    RelationQuery(("A woman is playing a violin on stage.",), "A woman is playing an instrument."),
]


@pytest.fixture(scope="module")
def local() -> LocalLabeller:
    return LocalLabeller()


@pytest.mark.parametrize(
    ("probabilities", "label"),
    [
        ([0.95, 0.02, 0.02, 0.01], Label.CONTRADICTION),
        ([0.90, 0.05, 0.03, 0.02], Label.NEUTRAL),  # not above the bar
        ([0.89, 0.01, 0.02, 0.08], Label.ENTAILMENT),  # the best of the other three
        ([0.10, 0.30, 0.35, 0.25], Label.IMPLIED),
        ([0.00, 0.50, 0.50, 0.00], Label.NEUTRAL),  # a tie goes to the weaker label
    ],
)
def test_contradiction_needs_more_than_the_bar(probabilities, label):
    assert decide(np.array(probabilities), CONTRADICTION_BAR) is label


def test_softmax_by_hand():
    assert softmax(np.log([1.0, 2.0, 5.0, 2.0])) == pytest.approx([0.1, 0.2, 0.5, 0.2])
    assert softmax(np.array([1000.0, 1000.0])) == pytest.approx([0.5, 0.5])


async def test_answers_are_valid_and_sensible(local: LocalLabeller):
    answers = await local.label_batch(QUERIES)
    for answer in answers:
        assert answer.status == "valid"
        assert sum(answer.probabilities.values()) == pytest.approx(1.0)
        assert list(answer.probabilities) == ["contradiction", "neutral", "implied", "entailment"]
    assert answers[0].label >= Label.IMPLIED
    assert answers[1].label <= Label.NEUTRAL
    assert answers[2].label is Label.NEUTRAL


async def test_accuracy_on_inli_is_that_of_the_card(local: LocalLabeller, shared_data: Path):
    """The card says 0.764 on all 4,000 pairs (most probable label); 800 pairs are within 0.05 of it."""
    names = ["contradiction", "neutral", "implied_entailment", "explicit_entailment"]
    with (shared_data / "reasoning" / "inli" / "test.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))[::5][:200]
    pairs = [
        (RelationQuery((row["premise"],), row[name]), rank) for row in rows for rank, name in enumerate(names)
    ]
    answers = await local.label_batch([query for query, _ in pairs])
    best = [int(np.argmax(list(answer.probabilities.values()))) for answer in answers]
    assert len(pairs) == 800
    assert np.mean([guess == rank for guess, (_, rank) in zip(best, pairs, strict=True)]) == pytest.approx(
        0.764, abs=0.05
    )


async def test_an_answer_does_not_depend_on_its_neighbours_or_order(local: LocalLabeller):
    # The weights are dynamically quantised: in one shared tensor, neighbours would change the numbers.
    long = RelationQuery(("word " * 200,), "Something else entirely.")
    alone = [(await local.label_batch([query]))[0].probabilities for query in QUERIES]
    together = await local.label_batch([long, *QUERIES[::-1], long])
    assert [answer.probabilities for answer in together[-2:0:-1]] == alone


async def test_threads_do_not_change_the_answers(local: LocalLabeller):
    single = LocalLabeller(threads=1)
    first, second = await local.label_batch(QUERIES), await single.label_batch(QUERIES)
    assert [a.label for a in first] == [b.label for b in second]
    for one, other in zip(first, second, strict=True):
        assert one.probabilities == pytest.approx(other.probabilities, abs=1e-5)
    await single.aclose()


async def test_long_inputs_are_cut_and_counted():
    labeller = LocalLabeller()
    answers = await labeller.label_batch([QUERIES[0], RelationQuery(("pain " * 5000,), "x " * 10_000)])
    assert labeller.truncated == 1
    assert answers[1].prompt_tokens == MAX_TOKENS
    await labeller.aclose()


async def test_odd_texts_are_labelled_too(local: LocalLabeller):
    texts = ["", " ", "\x00", "🫀", "ἀρχή", "\ud83d"[:0] or "x"]
    answers = await local.label_batch([RelationQuery((text,), text) for text in texts])
    assert all(answer.status == "valid" for answer in answers)
    assert await local.label_batch([]) == []


async def test_the_event_loop_stays_free_during_inference(local: LocalLabeller):
    longest, last = 0.0, time.perf_counter()
    task = asyncio.create_task(local.label_batch([RelationQuery(("word " * 150,), "A target.")] * 40))
    while not task.done():
        await asyncio.sleep(0.001)
        now = time.perf_counter()
        longest, last = max(longest, now - last), now
    assert longest < sum(answer.seconds for answer in task.result()) / 2


async def test_cancelling_stops_the_thread_after_the_pair_at_hand(local: LocalLabeller):
    done = []
    stop = threading.Event()
    worker = threading.Thread(
        target=lambda: done.extend(local.label_now([RelationQuery(("word " * 200,), "x")] * 2000, stop))
    )
    worker.start()
    time.sleep(0.2)
    stop.set()
    worker.join(10)
    assert not worker.is_alive()
    assert len(done) < 2000


def test_identity_and_key(local: LocalLabeller):
    assert isinstance(local, RelationLabeller)
    identity = local.identity()
    assert identity["model"] == "nli-minilm"
    assert len(identity["revision"]) == 64
    assert local.key(QUERIES[0]) == local.key(RelationQuery(QUERIES[0].premises, QUERIES[0].target))
    other = LocalLabeller(contradiction_bar=0.5)
    assert other.key(QUERIES[0]) != local.key(QUERIES[0])
    assert "mathematics" in local.quality_note
    assert "clinical" in local.quality_note


def test_the_card_of_the_weights_is_shipped_and_agrees_with_the_note(local: LocalLabeller):
    card = (WEIGHTS / "CARD.md").read_text(encoding="utf-8")
    assert "CC BY-SA 4.0" in card
    assert "0.764" in card  # 76 %
    assert "275 gold-labelled steps | TPR 0.246, TNR 0.641, balanced F1 0.355" in card


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    folder = tmp_path / "nli-minilm"
    shutil.copytree(WEIGHTS, folder)
    return folder


@pytest.mark.parametrize("name", ["model.int8.onnx", "tokenizer.json"])
def test_changed_and_missing_files_are_named(copy: Path, name):
    with (copy / name).open("r+b") as stream:
        stream.seek(1000)
        stream.write(b"XYZ")
    with pytest.raises(WeightsError, match=rf"{name} is not the one that was published"):
        LocalLabeller(copy)
    (copy / name).unlink()
    with pytest.raises(WeightsError, match=rf"{name} is missing"):
        LocalLabeller(copy)


def test_missing_and_odd_sums_are_named(copy: Path):
    (copy / "SHA256SUMS").write_text("only-one-word\n")
    with pytest.raises(WeightsError, match="line 1"):
        LocalLabeller(copy)
    (copy / "SHA256SUMS").write_text("")
    with pytest.raises(WeightsError, match=r"no sum for model\.int8\.onnx"):
        LocalLabeller(copy)
    (copy / "SHA256SUMS").unlink()
    with pytest.raises(WeightsError, match="SHA256SUMS is missing"):
        LocalLabeller(copy)


def test_the_factory_names_what_is_wrong(tmp_path: Path):
    assert make_labeller("local").name == "nli-minilm"
    for spec, sentence in [
        ("", "no labeller ''"),
        ("magic", "no labeller 'magic'"),
        ("local:", "lacks its name"),
        ("openai", "lacks its name"),
        ("openai:", "lacks its name"),
        ("scripted", "lacks its name"),
        (f"scripted:{tmp_path}/absent.json", "cannot be read"),
    ]:
        with pytest.raises(LabellerError, match=sentence):
            make_labeller(spec)
    with pytest.raises(LabellerError, match="no option 'tempo'"):
        make_labeller("local", tempo=3)
    with pytest.raises(ValueError, match="from 0 to 1"):
        make_labeller("local", contradiction_bar=1.5)
