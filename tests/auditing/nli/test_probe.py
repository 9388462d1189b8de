"""The determinism probe, against a labeller with a set flip rate."""

import json

import pytest
from scipy.stats import binomtest

from auditing.core.nli import Label
from auditing.core.statistics import wilson_interval
from auditing.llm.providers.scripted import Scripted
from auditing.nli.llm import LLMLabeller
from auditing.nli.probe import probe_determinism
from auditing.nli.protocol import RelationQuery

LABELLED = [(RelationQuery(("p",), str(n)), Label.NEUTRAL) for n in range(200)]


def labeller(flips: set[int], silent: set[int] = frozenset()) -> LLMLabeller:
    def script(request) -> str:
        number = int(request.inputs["target"][0])
        word = "implied" if number in flips else "neutral"
        check = request.inputs["check"][0]
        return "" if number in silent else json.dumps({"check": check, "label": word})

    return LLMLabeller(Scripted(script), "m")


async def test_rp_03_the_set_flip_rate_is_found():
    found = await probe_determinism(labeller(set(range(20))), LABELLED, sample=200)
    assert (found.asked, found.unanswered, found.flipped, found.rate) == (200, 0, 20, 0.1)
    assert found.low < 0.1 < found.high


async def test_rp_03_unanswered_relations_are_not_flips():
    found = await probe_determinism(labeller({0, 1}, silent=set(range(100, 200))), LABELLED, sample=200)
    assert (found.unanswered, found.flipped, found.rate) == (100, 2, 0.02)
    nothing = await probe_determinism(labeller(set(), silent=set(range(200))), LABELLED, sample=5)
    assert (nothing.asked, nothing.unanswered, nothing.rate, nothing.low) == (5, 5, None, None)
    assert (await probe_determinism(labeller(set()), [], sample=5)).rate is None


async def test_rp_03_the_sample_is_drawn_by_its_seed():
    few = [
        await probe_determinism(labeller(set(range(100))), LABELLED, sample=30, seed=s)
        for s in (1, 1, 2, 3, 4)
    ]
    assert few[0] == few[1]
    assert len({result.flipped for result in few}) > 1


@pytest.mark.parametrize(("hits", "total"), [(0, 10), (3, 20), (10, 10), (1, 1), (57, 1000)])
def test_the_interval_is_that_of_scipy(hits, total):
    expected = binomtest(hits, total).proportion_ci(0.95, method="wilson")
    assert wilson_interval(hits, total) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_no_proportion_no_interval():
    with pytest.raises(ValueError, match="not a proportion"):
        wilson_interval(0, 0)
