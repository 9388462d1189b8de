"""Pages of GraphEVAL studies: the list, a new one, one study, several compared, export and removal."""

import io
import json
import zipfile

import pytest
from django.urls import reverse

from annotation.models import Trace
from auditing.models import QuestionScore, ReasoningStudy, StudyChain
from auditing.services.grapheval import results, scoring
from reasonaudit.lib.models import Event
from tests.auditing import factories
from tests.auditing import grapheval_factories as rows
from tests.auditing.services.grapheval.fakes import FakeEmbedder
from tests.auditing.views import reasoning_rows as made
from tests.auditing.views.rows import make_user

pytestmark = pytest.mark.django_db

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def study(db) -> ReasoningStudy:
    return made.scored_study()


def page(visitor, study, **query) -> str:
    reply = visitor.get(reverse("auditing:reasoning_study", args=[study.slug]), query)
    assert reply.status_code == 200
    return reply.content.decode()


def new(visitor, **values):
    return visitor.post(
        reverse("auditing:reasoning_new"),
        {
            "name": "Ways",
            "source": "stored",
            "decomposer": "stored",
            "embedder": "minilm",
            "answer_kind": "choice",
            **values,
        },
    )


@pytest.fixture
def stored(db):
    """A data set with two stored chains of one question."""
    study = rows.study(slug="other")
    case = rows.case(study, "q")
    for number in (1, 2):
        rows.trace(case, f"t{number}", steps=["One. Two.", "Hence A."], answer="A")
    dataset = study.dataset
    study.delete()
    return dataset


def test_the_list_says_what_to_do_and_then_shows_every_study(visitor):
    url = reverse("auditing:reasoning_list")
    assert "No study yet" in visitor.get(url).content.decode()
    study = made.scored_study(name=HOSTILE)
    rows.study(name="Another", slug="another")
    html = visitor.get(url).content.decode()
    assert reverse("auditing:reasoning_study", args=[study.slug]) in html
    assert HOSTILE not in html
    assert "Another" in html
    only = visitor.get(url, {"dataset": study.dataset.slug}).content.decode()
    assert "Another" not in only
    assert '<td class="r">9</td><td class="r">3</td>' in only


def test_the_navigation_and_the_data_set_lead_here(visitor, study):
    html = visitor.get(reverse("auditing:dataset_detail", args=[study.dataset.slug])).content.decode()
    assert f'href="{reverse("auditing:reasoning_list")}"' in html
    assert f"{reverse('auditing:reasoning_new')}?dataset={study.dataset.slug}" in html


def test_those_who_only_label_see_no_study(client, study):
    client.force_login(make_user("physician"))
    for name in ("reasoning_list", "reasoning_study", "reasoning_start", "reasoning_delete"):
        args = [] if name == "reasoning_list" else [study.slug]
        assert client.get(reverse(f"auditing:{name}", args=args)).status_code in {403, 405}
        assert client.post(reverse(f"auditing:{name}", args=args)).status_code in {403, 405}
    assert ReasoningStudy.objects.count() == 1


def test_a_new_study_over_stored_samples_takes_them_at_once(visitor, stored):
    url = reverse("auditing:reasoning_new")
    assert (
        f'<option value="{stored.pk}" selected>'
        in visitor.get(url, {"dataset": stored.slug}).content.decode()
    )
    reply = new(visitor, dataset=stored.pk, p_consensus_alpha="0.5", p_uncertainty_log_base="10")
    study = ReasoningStudy.objects.get()
    assert reply.url == reverse("auditing:reasoning_study", args=[study.slug])
    assert study.parameters["consensus"]["alpha"] == 0.5
    assert study.parameters["uncertainty"]["log_base"] == 10
    assert study.parameters["distance"]["beta"] == 0.4
    assert study.chains.count() == 2
    assert "Taken: 2 new chains of 1 question." in page(visitor, study)
    assert Event.objects.filter(subject_type="reasoning_study").count() == 2


@pytest.mark.parametrize(
    ("values", "field", "said"),
    [
        ({"name": " "}, "name", "This field is required"),
        ({"source": "model"}, "generator", "Name the model that answers"),
        ({"source": "model", "generator": "m"}, "decomposer", "bring no facts"),
        ({"decomposer": "openai"}, "decomposer_model", "Name the model that decomposes"),
        ({"embedder": "openai"}, "embedder_model", "Name the model of the embedder"),
        ({"p_consensus_alpha": "1.5"}, "p_consensus_alpha", "alpha must be from 0 to 1"),
        ({"p_distance_beta": "2"}, "p_distance_beta", "beta must be from 0 to 1"),
        ({"p_sampling_chains": "0"}, "p_sampling_chains", "The number of chains"),
        ({"p_consensus_tau": "x"}, "p_consensus_tau", "Enter a number"),
        ({"answer_kind": "smell"}, "answer_kind", "Select a valid choice"),
    ],
)
def test_a_form_that_cannot_be_used_comes_back_with_the_error_beside_its_field(
    visitor, stored, values, field, said
):
    reply = new(visitor, dataset=stored.pk, **values)
    assert reply.status_code == 422
    assert said in str(reply.context["form"].errors[field])
    html = reply.content.decode()
    assert f'id="id_{field}-errors"' in html
    assert ('<details class="mt-3" open>' in html) is field.startswith("p_")
    assert not ReasoningStudy.objects.exists()


def test_a_data_set_without_chains_is_refused_beside_its_field(visitor):
    empty = factories.dataset("Empty")
    reply = new(visitor, dataset=empty.pk)
    assert reply.status_code == 422
    assert "no question" in str(reply.context["form"].errors["dataset"])


def test_a_study_without_anything_says_what_to_do_everywhere(visitor):
    html = page(visitor, rows.study(generator="openai:m", decomposer="openai:d"))
    for said in (
        "The data set has no question",
        "There is no chain yet. Sample or take chains first.",
        "No chain has facts yet. Decompose the chains first.",
        "No question has a score with a medoid yet",
        "There is no chain in the pool yet",
        "Score the questions first. A question also needs a gold answer.",
        "No early answers yet",
        "No counterfactual answers yet",
        "No map yet",
        "Not asked yet",
        "No question is scored yet",
        "There is nothing to compute again",
        "no scored chains with facts yet",
    ):
        assert said in html, said


def test_the_page_sets_the_vote_against_the_medoid(visitor, study):
    html = page(visitor, study)
    assert "The medoid is right more often, by 33.3 points." in html
    assert "s test of 1 disagreement: p 1.00" in html
    assert "Audit the 1 disagreement" in html
    assert reverse("auditing:reasoning_audit", args=[study.slug]) in html


def test_both_forms_of_early_answering_stand_side_by_side_with_the_warning(visitor, study):
    made.answer_early(study)
    html = page(visitor, study)
    first, second = (
        html.index("<h3>Early answering against gold"),
        html.index("<h3>Early answering against its own"),
    )
    assert (
        html.index("mostly measures accuracy: a chain that never reaches the gold answer scores 1")
        < first
        < second
    )
    assert "a resample draws 3, not 20" in html
    # Both are a half everywhere, so nothing can be correlated, and the page says so.
    assert html.count("One of the two is the same for all questions.") > 10


def test_a_correlation_stands_with_its_interval_and_its_direction(visitor, study, monkeypatch):
    document = results.study_document(study)
    found = {"value": -0.416, "mean": -0.4, "low": -0.61, "high": 0.02, "n_valid": 998}
    row = {"faithfulness": "early_own", "metric": "grcs", "n": 212, "recomputed": True, "why": ""}
    changed = {**document, "correlations": [{**row, "pearson": found, "spearman": found, "kendall": found}]}
    monkeypatch.setattr(results, "study_document", lambda study: changed)
    html = page(visitor, study)
    assert html.count('<span class="v num">\u22120.416</span>') == 3
    assert "\u22120.61 to 0.02" in html
    assert "998 of them defined" in html
    assert '<td class="r">212</td>' in html
    assert html.count("negative is better</small>") == 3


def test_questions_are_filtered_and_sorted_by_the_server(visitor, study):
    def shown(**query) -> list[str]:
        reply = visitor.get(reverse("auditing:reasoning_study", args=[study.slug]), query)
        return [row["external_id"] for row in reply.context["page"]]

    assert shown() == ["q1", "q2", "q3"]
    study.dataset.cases.filter(external_id="q1").update(title="Zebra")
    assert shown() == ["q1", "q2", "q3"], "the order of the data set, as on the questions' own pages"
    assert shown(sort="title") == ["q2", "q3", "q1"]
    assert shown(cell="gsc_only") == ["q2"]
    assert shown(q="Q3") == ["q3"]
    assert shown(flag="answers_unreadable") == ["q3"]
    assert shown(sort="-n") == ["q2", "q1", "q3"]
    assert shown(cell="nonsense") == []
    assert "No question fits" in page(visitor, study, cell="nonsense")
    assert reverse("auditing:reasoning_question", args=[study.slug, study.scores.first().case_id]) in page(
        visitor, study
    )


def test_many_questions_come_in_pages(visitor, study, monkeypatch):
    document = results.study_document(study)
    (first, *_) = document["questions"]
    many = [{**first, "case": 1000 + n, "external_id": f"n{n}", "title": f"Q {n:03d}"} for n in range(120)]
    monkeypatch.setattr(results, "study_document", lambda study: {**document, "questions": many})
    html = page(visitor, study, page="3")
    assert "101 to 120 of 120" in html
    assert "Q 119" in html
    table = html[html.index('id="questions"') :]
    assert "Q 001" not in table


def test_collapse_and_scores_out_of_date_are_said_plainly(visitor):
    study = made.chains_of(
        rows.study(name="Same", slug="same"),
        {"q": [("Always this", "A")] * 5, "p": [("Always this", "A")] * 5},
    )
    for case in study.dataset.cases.all():
        scoring.score_case(study, case, FakeEmbedder())
    html = page(visitor, study)
    assert "Mode collapse at 2 of 2 questions" in html
    assert "2 of 2 questions share the text of a chain with another one" in html
    StudyChain.objects.filter(study=study, case__external_id="q").update(normal_answer="B")
    html = page(visitor, study)
    assert "The scores of 1 question are out of date" in html
    assert '<span class="state stale">' in html


def test_a_study_whose_questions_share_their_texts_says_what_the_document_says(visitor, study, monkeypatch):
    document = results.study_document(study)
    why = "5 of 5 questions have a chain whose text answers another question too: mode collapse <here>."
    collapse = {**document["collapse"], "questions": 5, "repeated": 5, "why": why}
    monkeypatch.setattr(results, "study_document", lambda study: {**document, "collapse": collapse})
    html = page(visitor, study)
    assert why.replace("<here>", "&lt;here&gt;") in html
    assert "share the text of a chain" not in html


def test_a_weak_embedder_is_called_weak(visitor, study):
    assert "It is weaker than the embedder of the paper" in page(visitor, study)
    study.embedder = "sentence-transformers:Qwen/Qwen3-Embedding-0.6B"
    study.save()
    html = page(visitor, study)
    assert "weaker than" not in html
    assert "Qwen/Qwen3-Embedding-0.6B" in html


def test_the_correlations_say_whose_faithfulness_they_take_and_whose_the_chart(visitor, study):
    made.answer_early(study)
    html = page(visitor, study)
    assert (
        "is here the mean of its chains where every chain in the pool was asked, else that of its medoid"
        in html
    )
    assert html.index("One metric against the medoid") < html.index("Fitted lines as a table: the medoid")


def test_faithful_wins_differ_in_points(visitor, study, monkeypatch):
    document = results.study_document(study)
    side = {"wins": 4, "faithful": 1, "share": 0.25, "path_share": 0.5}
    wins = {"sc_only": side, "gsc_only": {**side, "share": 0.75}, "difference": 0.5}
    wins |= {"unjudged_wins": 0, "unjudged_paths": 0, "unsure_paths": 0}
    faithful = {
        **document["faithful"],
        "judges": {"openai:critic": wins},
        "imported": {"imported:file": wins},
    }
    monkeypatch.setattr(results, "study_document", lambda study: {**document, "faithful": faithful})
    html = page(visitor, study)
    assert html.count('<td class="r">+50</td>') == 2
    assert 'critic <span class="chip plain">Judge</span>' in html
    assert "file (imported)" in html


def test_a_judge_of_one_kind_of_win_has_a_row_with_dashes_for_the_other(visitor, study, monkeypatch):
    document = results.study_document(study)
    side = {"wins": 1, "faithful": 1, "share": 1.0, "path_share": 1.0}
    wins = {"sc_only": None, "gsc_only": side, "difference": None}
    wins |= {"unjudged_wins": 0, "unjudged_paths": 0, "unsure_paths": 0}
    faithful = {**document["faithful"], "judges": {"openai:critic": wins}}
    monkeypatch.setattr(results, "study_document", lambda study: {**document, "faithful": faithful})
    html = page(visitor, study)
    row = html[html.index('critic <span class="chip plain">Judge</span>') :].partition("</tr>")[0]
    assert row.count("\N{EN DASH}") == 3
    assert row.count("100\N{NO-BREAK SPACE}%") == 2


def test_excluded_chains_are_counted_with_the_reason(visitor, study):
    case = study.dataset.cases.first()
    rows.chain(study, case, 9, steps=[], facts=[], excluded="no_steps", answer=None)
    html = page(visitor, study)
    assert 'no steps <span class="num">1</span>' in html


def test_what_was_asked_of_the_medoid_forbidden_is_shown(visitor, study):
    made.answer_early(study)
    for score in study.scores.select_related("medoid", "case"):
        chain = rows.chain(study, score.case, 1, role="alternative", forbidden=score.medoid, answer="B")
        chain.early = [{"answer": "B", "normal": "B"}, {"answer": "B", "normal": "B"}]
        chain.save()
    html = page(visitor, study)
    # Gold is A: the alternatives never reach it, so they are wrong (change -1) and "faithful" (1 for 1/2).
    assert "0\u00a0% of the questions are reasoned less faithfully" in html
    assert '<td class="r">\u22121.000</td>' in html
    assert '<td class="r">+0.500</td>' in html
    assert "Targeted: the 1 question that the medoid alone answers correctly" in html


def test_the_charts_get_their_numbers_with_the_page(visitor, study):
    made.answer_early(study)
    html = page(visitor, study)
    start = html.index('id="reasoning-charts"')
    text = html[html.index(">", start) + 1 : html.index("</script>", start)]
    charts = json.loads(text)
    assert charts["questions"]["title"] == ["Question q1", "Question q2", "Question q3"]
    assert charts["questions"]["early_gold"] == [0.5, 0.5, 0.5]
    for figure in ("scatter", "topology"):
        assert f'data-figure="{figure}"' in html


def test_the_sweep_is_tables_on_demand(visitor, study):
    url = reverse("auditing:reasoning_study", args=[study.slug])
    assert "Compute the tables" in page(visitor, study)
    reply = visitor.get(
        url, {"part": "sweep", "betas": "0, 1", "gammas": "5"}, headers={"HX-Request": "true"}
    )
    html = reply.content.decode()
    assert "<html" not in html
    assert "no model was asked" in html
    # Beta 0 and 1 and the study's own 0.4, each with one gamma.
    assert html.count("s own setting</span>") == len(reply.context["heat_maps"])
    assert [row["beta"] for row in reply.context["heat_maps"][0]["rows"]] == [0, 0.4, 1]
    whole = visitor.get(url, {"part": "sweep"}).content.decode()
    assert "<html" in whole
    assert "Medoids that stay" in whole


@pytest.mark.parametrize("values", ["2", "x", "nan", "1e999", ",".join(str(n / 20) for n in range(20))])
def test_a_sweep_over_nonsense_says_so(visitor, study, values):
    url = reverse("auditing:reasoning_study", args=[study.slug])
    reply = visitor.get(url, {"part": "sweep", "betas": values}, headers={"HX-Request": "true"})
    assert reply.status_code == 422
    assert 'role="alert"' in reply.content.decode()


def test_studies_are_compared_on_one_map(visitor, study):
    url = reverse("auditing:reasoning_compare")
    assert "Tick two to 12" in visitor.get(url).content.decode()
    assert "Tick at least one more study" in visitor.get(url, {"study": study.slug}).content.decode()
    other = ReasoningStudy.objects.create(
        name=HOSTILE,
        slug="sentences",
        dataset=study.dataset,
        decomposer="sentences",
        answer_kind="choice",
        parameters=study.parameters,
    )
    for chain in list(study.chains.all()):
        chain.pk, chain.study = None, other
        chain.save()
    for case in study.dataset.cases.all():
        scoring.score_case(other, case, FakeEmbedder())
    reply = visitor.get(url, {"study": [study.slug, other.slug], "reference": other.slug})
    html = reply.content.decode()
    assert reply.context["reference"] == other.slug
    assert HOSTILE not in html
    assert 'data-figure="compare"' in html
    # The same chains and other decomposers: one pair of three questions with the same scores.
    (pair,) = reply.context["comparison"]["decomposers"][0]["pairs"]
    assert (pair["n"], pair["pearson"]) == (3, pytest.approx(1))
    assert "These studies have different embedders" not in html
    assert "Nobody has checked its facts yet" in html
    assert "No study has wins of both kinds" in html


def test_too_many_studies_are_refused_in_words_and_other_embedders_are_named(visitor, study):
    url = reverse("auditing:reasoning_compare")
    others = [rows.study(slug=f"more-{number}", embedder=f"openai:e{number}") for number in range(12)]
    reply = visitor.get(url, {"study": [study.slug, *(one.slug for one in others)]})
    assert "13 studies are too many. Tick at most 12." in reply.content.decode()
    assert reply.context["comparison"] is None
    html = visitor.get(url, {"study": [study.slug, others[0].slug]}).content.decode()
    assert "These studies have different embedders" in html
    assert "<td>e0</td>" in html


def test_the_export_is_a_zip_and_an_empty_study_says_why_there_is_none(visitor, study):
    reply = visitor.get(reverse("auditing:reasoning_export", args=[study.slug]))
    assert 'filename="ways-grapheval.zip"' in reply["Content-Disposition"]
    assert "chains.jsonl" in zipfile.ZipFile(io.BytesIO(reply.content)).namelist()
    event = Event.objects.get(action="export")
    assert (event.stream.name, event.subject_type, event.actor_role) == (
        "exports",
        "reasoning_study",
        "researcher",
    )
    empty = rows.study(slug="empty")
    reply = visitor.get(reverse("auditing:reasoning_export", args=["empty"]), follow=True)
    assert reply.redirect_chain[0][0] == reverse("auditing:reasoning_study", args=[empty.slug])
    assert "no chain yet" in reply.content.decode()


def test_a_study_is_removed_after_its_name_was_typed_and_the_traces_stay(visitor, study):
    url = reverse("auditing:reasoning_delete", args=[study.slug])
    assert "9 chains" in visitor.get(url).content.decode()
    traces = Trace.objects.count()
    reply = visitor.post(url, {"name": "way"})
    assert reply.status_code == 422
    assert "Type the name of the study" in reply.content.decode()
    assert visitor.post(url, {"name": "Ways"}).url == reverse("auditing:reasoning_list")
    assert not ReasoningStudy.objects.exists()
    assert not QuestionScore.objects.exists()
    assert Trace.objects.count() == traces
    assert Event.objects.filter(action="reasoning_study.delete").count() == 1


def test_ih_13_questions_and_answers_are_shown_as_text(visitor):
    study = rows.study(slug="hostile", answer_kind="text")
    case = rows.case(study, "q", title=HOSTILE, reference=HOSTILE)
    for number in (1, 2):
        rows.chain(study, case, number, steps=[f"{HOSTILE} {number}"], answer=f"{HOSTILE}")
    scoring.score_case(study, case, FakeEmbedder())
    html = page(visitor, study)
    assert HOSTILE not in html
    assert "&lt;script&gt;alert(1)" in html
