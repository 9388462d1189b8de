"""The builders make rows that the database and the services take."""

import pytest

from auditing.services.anchor import ratings
from tests.auditing.services.anchor import builders

pytestmark = pytest.mark.django_db


def test_items_stand_in_the_order_of_their_clips_and_everything_hangs_together():
    made = builders.benchmark(items=3)
    assert [item.question.external_id for item in made.items.all()] == ["q1", "q2", "q3"]
    item = builders.item(made, 2)
    reference, answer = builders.reference(item), builders.answer(item, "model-b")
    rating = builders.rating(answer, "divergence", 4, reference=reference)
    assert answer.final_answer == "It hears a whistle."
    assert answer.warnings == []
    assert ratings.is_current(rating)
    made.refresh_from_db()
    assert made.revision == 2
