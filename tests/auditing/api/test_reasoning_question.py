"""The document of a question over the API."""

import pytest

from tests.auditing import question_documents as questions

pytestmark = pytest.mark.django_db


def test_the_document_of_a_question(client):
    score = questions.scored(questions.study())
    path = f"/api/v1/reasoning-studies/{score.study.slug}/questions/{score.case_id}/"
    found = client.get(path).json()
    assert found["schema"] == "reasonaudit.grapheval-question-page/1"
    assert found["document"] == questions.document()
    assert found["matrix"]["nged"] == [0.0, 1.0, 1.0]
    assert found["stale"] is False


def test_who_may_not_audit_may_not_read_it_and_what_is_not_there_is_not_found(client, as_role):
    score = questions.scored(questions.study())
    path = f"/api/v1/reasoning-studies/{score.study.slug}/questions/"
    assert as_role("physician").get(f"{path}{score.case_id}/").status_code == 403
    assert client.get(f"{path}999999/").status_code == 404
    assert client.get(f"/api/v1/reasoning-studies/none/questions/{score.case_id}/").status_code == 404
