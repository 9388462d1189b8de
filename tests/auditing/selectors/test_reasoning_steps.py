"""The steps of stored chains: numbers and dependencies of the file where they fit, and the first segmentation."""

import pytest

from annotation.models import Segment
from annotation.services.traces import text_hash
from auditing.core.grapheval.chains import Step
from auditing.selectors.reasoning_steps import step_texts, steps_by_trace
from tests.auditing import grapheval_factories as rows

pytestmark = pytest.mark.django_db


def test_steps_keep_their_printed_numbers_and_a_trace_that_says_none_is_a_row(django_assert_num_queries):
    case = rows.case(rows.study())
    said = rows.trace(case, "said", steps=["One.", "Two."])
    said.meta["chain"]["steps"] = [{"index": 0, "depends_on": []}, {"index": 4, "depends_on": [0]}]
    said.save()
    bare = rows.trace(case, "bare", steps=["One.", "Two."])
    bare.meta = {}
    bare.save()
    with django_assert_num_queries(1):
        found = steps_by_trace([said, bare])
    assert found == {
        said.pk: (Step(0, "One.", ()), Step(4, "Two.", (0,))),
        bare.pk: (Step(1, "One.", ()), Step(2, "Two.", (1,))),
    }


def test_a_trace_that_people_split_anew_keeps_the_steps_that_its_numbers_belong_to():
    trace = rows.trace(rows.case(rows.study()), "split", steps=["One. And more.", "Two."])
    for index, text in enumerate(["What?", "One.", "And more.", "Two."], 1):
        Segment.objects.create(
            trace=trace, segmentation=2, index=index, text=text, text_sha256=text_hash(text)
        )
    trace.segmentation = 2
    trace.save()
    assert step_texts([trace]) == {trace.pk: ["One. And more.", "Two."]}
