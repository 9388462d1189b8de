"""Making and removing studies."""

from typing import Any

import pytest

from annotation.models import Trace
from auditing.models import ReasoningRun, ReasoningStudy, StudyChain, TextVector
from auditing.services.grapheval import chains, scoring, studies
from reasonaudit.lib.chain import verify_all
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import Event, RunState
from tests.auditing import factories, grapheval_factories
from tests.auditing.services.grapheval.fakes import FakeEmbedder, score_run

pytestmark = pytest.mark.django_db


def made(**fields: Any) -> ReasoningStudy:
    dataset = fields.pop("dataset", None) or factories.trace(3).case.dataset
    return studies.create(**{"name": "Grade school", "dataset": dataset, "answer_kind": "number", **fields})


def test_a_study_keeps_every_choice_and_leaves_an_event() -> None:
    study = made(
        generator="openai:writer",
        decomposer="openai:splitter",
        embedder="sentence-transformers:owner/name",
        labeller="local",
        parameters={"distance": {"beta": 0.25}},
    )
    study.refresh_from_db()
    assert (study.slug, study.generator, study.decomposer) == (
        "grade-school",
        "openai:writer",
        "openai:splitter",
    )
    assert study.parameters["distance"]["beta"] == 0.25
    assert study.parameters["consensus"]["alpha"] == 0.8  # the paper's
    event = Event.objects.get(action="reasoning_study.create")
    assert (event.stream.name, event.subject_id) == (f"reasoning:{study.pk}", "grade-school")
    assert event.data is not None
    assert event.data["parameters"]["distance"]["beta"] == "0.25"
    assert [broken for _, broken in verify_all()] == [None]


def test_two_studies_of_one_name_have_two_addresses() -> None:
    dataset = factories.trace(3).case.dataset
    assert [made(dataset=dataset).slug, made(dataset=dataset).slug] == ["grade-school", "grade-school-2"]
    # Pages have these addresses.
    assert made(dataset=dataset, name="Compare").slug == "compare-2"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", " "),
        ("name", "x" * 201),
        ("name", "nul\x00"),
        ("answer_kind", "colour"),
        ("generator", "scripted:/etc/passwd"),
        ("generator", "openai:"),
        ("decomposer", "local"),
        ("decomposer", "openai: "),
        ("embedder", "maxilm"),
        ("embedder", "minilm:large"),
        ("embedder", "sentence-transformers:/srv/models/x"),
        ("embedder", "sentence-transformers:../x"),
        ("embedder", "sentence-transformers:a/b/c"),
        ("embedder", "openai:" + "x" * 200),
        ("labeller", "openai:judge"),
        ("parameters", {"distance": {"beta": 2}}),
        ("parameters", {"distance": {"beta": "much"}}),
        ("parameters", {"colour": 1}),
        ("parameters", {"distance": 5}),
    ],
)
def test_what_cannot_be_used_is_named_and_nothing_is_stored(field: str, value: object) -> None:
    with pytest.raises(UserError) as caught:
        made(**{field: value})
    assert (caught.value.code, list(caught.value.fields)) == ("bad_study", [field])
    assert not ReasoningStudy.objects.exists()
    assert not Event.objects.exists()


def test_stored_chains_are_needed_unless_a_model_samples_them() -> None:
    with pytest.raises(UserError) as caught:
        made(dataset=factories.dataset())
    assert caught.value.code == "no_questions"
    other = grapheval_factories.study()
    grapheval_factories.case(other)
    with pytest.raises(UserError) as caught:
        made(dataset=other.dataset)
    assert caught.value.code == "no_chains"
    assert "Import samples" in caught.value.remedy
    assert made(dataset=other.dataset, generator="openai:writer").generator == "openai:writer"


def full() -> ReasoningStudy:
    study = made()
    chains.take_stored(study)
    case = study.dataset.cases.get()
    scoring.score_case(study, case, FakeEmbedder())
    medoid = study.chains.get()
    grapheval_factories.chain(study, case, 1, role=StudyChain.Role.ALTERNATIVE, forbidden=medoid)
    run = score_run(study)
    ReasoningRun.objects.filter(pk=run.pk).update(state=RunState.DONE)
    return study


def test_a_study_goes_with_all_it_has_and_leaves_traces_and_vectors() -> None:
    study = full()
    traces, vectors = Trace.objects.count(), TextVector.objects.count()
    studies.delete(study, None)
    assert not ReasoningStudy.objects.exists()
    assert not StudyChain.objects.exists()
    assert (Trace.objects.count(), TextVector.objects.count()) == (traces, vectors)
    event = Event.objects.get(action="reasoning_study.delete")
    assert event.data is not None
    assert (event.data["chains"], event.data["scores"], event.data["runs"]) == (2, 1, 1)
    assert [broken for _, broken in verify_all()] == [None]


@pytest.mark.parametrize("state", [RunState.QUEUED, RunState.RUNNING])
def test_a_study_at_work_stays(state: str) -> None:
    study = full()
    study.runs.update(state=state)
    with pytest.raises(UserError) as caught:
        studies.delete(study, None)
    assert (caught.value.code, caught.value.status) == ("study_busy", 409)
    assert study.chains.count() == 2
