"""The results page: what it shows, whom it lets in, and what it refuses."""

import re

import pytest
from django.test import Client

from annotation.models import Segment, Study, StudyMember
from reasonaudit.accounts.models import User
from tests.auditing.study_rows import Answers, invented, make_study
from tests.auditing.views.rows import make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def study(researcher: User) -> Study:
    found = make_study(invented(8), name="Ward round")
    StudyMember.objects.create(study=found, user=researcher, part="lead", pseudonym="L1")
    return found


def page(visitor: Client, study: Study, query: str = "", **headers: str) -> str:
    response = visitor.get(f"/studies/{study.slug}/results/{query}", headers=headers)
    assert response.status_code == 200, response.content[:600]
    return response.content.decode()


def test_the_page_reads_without_scripts(visitor: Client, study: Study) -> None:
    html = page(visitor, study)
    for words in (
        "Direct judge",
        "Relation labeller",
        "false trust",
        "Cohen&#x27;s kappa",
        "Drift is undefined so far",
        "Breakpoint",
    ):
        assert words in html or words.replace("&#x27;", "'") in html, words
    # Every table stands in the page; charts only come beside them.
    assert html.count("data-table") == html.count("data-figure")
    assert 'href="?cell=confusion%7Cfalse-trust#segments"' in html


def test_speed_and_drift_begin_with_the_table_where_no_chart_has_limits(
    visitor: Client, study: Study
) -> None:
    html = page(visitor, study)
    assert "Limits need 5 sessions of one person; the most that anybody has is" in html
    assert 'data-figure="pace" data-payload="results-charts" data-first="table"' in html
    assert "No limits: a chart needs 5 sessions" in html


def test_a_number_opens_as_many_segments_as_it_says(visitor: Client, study: Study) -> None:
    document = visitor.get(f"/api/v1/studies/{study.slug}/results/").json()
    trust = document["confusion"]["false_trust"]
    opened = visitor.get(f"/api/v1/studies/{study.slug}/results/", {"cell": trust["cell"]}).json()
    assert opened["segments"]["table"]["count"] == trust["count"] > 0
    for row in opened["segments"]["table"]["rows"]:
        assert row["audit"] == "supported"
        assert row["gold"]["label"] in {"uncertain", "incorrect"}


def test_a_cell_of_one_model_shows_what_that_model_said(visitor: Client, study: Study) -> None:
    document = visitor.get(f"/api/v1/studies/{study.slug}/results/").json()
    row = document["comparison"]["rows"][0]
    cell = row["roles"][0]["rates"]["tnr"]["cell"]
    table = visitor.get(f"/api/v1/studies/{study.slug}/results/", {"cell": cell}).json()["segments"]["table"]
    assert table["role"] == f"{row['model']} as judge"
    assert {one["role"] for one in table["rows"]} <= {0, 1}


def test_a_filter_answers_with_the_table_alone(visitor: Client, study: Study) -> None:
    html = page(visitor, study, "?cell=differ", **{"HX-Request": "true", "HX-Target": "section#segments"})
    assert html.lstrip().startswith("<section")
    assert "Physicians disagreed" in html
    assert "Table 1" not in html


def test_pages_sorting_and_search(visitor: Client, study: Study) -> None:
    address = f"/api/v1/studies/{study.slug}/results/"
    first = visitor.get(address, {"sort": "-judges"}).json()["segments"]["table"]
    shares = [row["judges"]["trust"] / row["judges"]["asked"] for row in first["rows"]]
    assert shares == sorted(shares, reverse=True)
    assert len(first["rows"]) == 10
    assert first["pages"] > 1
    second = visitor.get(address, {"page": "2"}).json()["segments"]["table"]
    assert second["first"] == 11
    segment = Segment.objects.filter(index=3).last()
    assert segment is not None
    found = visitor.get(address, {"q": segment.text.upper()}).json()["segments"]["table"]
    assert [row["text"] for row in found["rows"]] == [segment.text]
    titled = visitor.get(address, {"q": "case title 3"}).json()["segments"]["table"]
    assert {row["case"] for row in titled["rows"]} == {"Case title 3"}


@pytest.mark.parametrize(
    "query",
    [
        "cell=case__dataset",
        "cell=gold|1 OR 1",
        "sort=member__user",
        "gold=password",
        "audit=1e3",
        "audit=999999999",
        "judges=x",
        "intervals=segment",
        "compare=user:1",
        "compare=study:no-such",
        "page=0",
        "page=x",
    ],
)
def test_ab_03_what_the_page_does_not_know_is_refused(visitor: Client, study: Study, query: str) -> None:
    for address in (f"/studies/{study.slug}/results/", f"/api/v1/studies/{study.slug}/results/"):
        assert visitor.get(f"{address}?{query}").status_code == 400, query


def test_a_page_past_the_last_is_not_found(visitor: Client, study: Study) -> None:
    assert visitor.get(f"/studies/{study.slug}/results/?page=999").status_code == 404


@pytest.mark.parametrize(
    "address", ["/studies/{}/results/", "/studies/{}/results/method/", "/api/v1/studies/{}/results/"]
)
def test_ab_11_only_who_leads_the_study_sees_its_results(address: str) -> None:
    study = make_study(invented(2), name="Closed book")
    for role, expected in (("researcher", 404), ("manager", 200), ("physician", 403), ("adjudicator", 403)):
        client = Client()
        client.force_login(make_user(role, f"the-{role}"))
        assert client.get(address.format(study.slug)).status_code == expected, role


def test_pr_04_people_are_named_by_pseudonym_only(visitor: Client, study: Study) -> None:
    person = make_user("physician", "canary-surname")
    person.first_name, person.last_name, person.email = "Canarygiven", "Canaryfamily", "canary@example.org"
    person.save()
    StudyMember.objects.filter(study=study, pseudonym="P1").update(user=person)
    html = page(visitor, study)
    document = visitor.get(f"/api/v1/studies/{study.slug}/results/").content.decode()
    for text in (html, document):
        assert "canary" not in text.lower()
    assert "P1" in document


def test_ih_12_text_of_people_and_data_is_text(visitor: Client, researcher: User) -> None:
    case = Answers(
        people={"P<b>1": "cu", "P2": "cc"},
        title="<script>alert(1)</script>",
        texts=["<img src=x onerror=1>", "b"],
    )
    study = make_study([case], name="Hostile", members={"P<b>1": "", "P2": ""})
    StudyMember.objects.create(study=study, user=researcher, part="lead", pseudonym="L1")
    html = page(visitor, study)
    assert "<script>alert" not in html
    assert "<img src=x" not in html
    assert "<b>1" not in html


@pytest.mark.parametrize(
    "cases",
    [
        [],
        [Answers(people={"P1": "---"})],
        [Answers(people={"P1": "cc?"}, judges={"openai:m": "11x"})],
        [Answers(people={"P1": "--", "P2": "cc"}, audits={"openai:m": "S-"})],
        [Answers(people={"P1": "cu", "P2": "cc", "P3": "ci"}, audits={"openai:m": "SO"})],
    ],
)
def test_a_study_with_little_in_it_says_what_to_do(
    visitor: Client, researcher: User, cases: list[Answers]
) -> None:
    study = make_study(cases, name="Bare")
    StudyMember.objects.create(study=study, user=researcher, part="lead", pseudonym="L1")
    html = page(visitor, study)
    if not cases:
        assert "Add cases to the study" in html
    assert not re.search(r">\s*(nan|None|inf)\b", html)
    assert visitor.get(f"/studies/{study.slug}/results/method/").status_code == 200


def test_choices_stay_when_a_number_is_opened(visitor: Client, study: Study) -> None:
    html = page(visitor, study, "?gold=senior&intervals=none")
    assert "gold=senior&amp;intervals=none&amp;cell=" in html
    assert "no interval" in html


def test_how_it_is_computed_names_what_was_left_out(visitor: Client, study: Study) -> None:
    html = visitor.get(f"/studies/{study.slug}/results/method/").content.decode()
    for words in ("uroreason-binary/1", "Holm", "2 · TPR · TNR / (TPR + TNR)", "seed", "Cannot judge"):
        assert words in html
