"""A label by hand is in force over a model's, and a model's over the category that came with the question."""

import pytest

from auditing.models import BenchmarkItem, TaxonomyLabel
from auditing.services.anchor import taxonomy
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import Event
from tests.auditing.services.anchor import builders
from tests.videos.app_fixtures import user

pytestmark = pytest.mark.django_db


def in_force(of: BenchmarkItem) -> tuple[str, str, str]:
    of.refresh_from_db()
    return of.category, of.subcategory, of.category_by


def test_hand_over_model_over_imported():
    made = builders.benchmark(items=1, question={"category": "Cooking"})
    item = builders.item(made)
    assert in_force(item) == ("Cooking", "", "imported")
    taxonomy.label_by_model(item, "openai:a", "Sports", "Action", 0.9, None)
    assert in_force(item) == ("Sports", "Action", "openai:a")
    taxonomy.label(item, "gaming", "counting", by=user(), note=" Sure. ")
    assert in_force(item) == ("Gaming", "Counting", "hand")
    taxonomy.label_by_model(item, "openai:b", "Shopping", "", None, None)
    assert in_force(item) == ("Gaming", "Counting", "hand")
    assert TaxonomyLabel.objects.get(user__isnull=False).note == "Sure."
    TaxonomyLabel.objects.filter(user__isnull=False).delete()
    taxonomy.put_in_force([item])
    assert in_force(item) == ("Shopping", "", "openai:b"), "the newest of two models"
    TaxonomyLabel.objects.all().delete()
    taxonomy.put_in_force([item])
    assert in_force(item) == ("Cooking", "", "imported")


def test_people_of_a_file_rank_between_hand_and_model():
    item = builders.item(builders.benchmark(items=1))
    TaxonomyLabel.objects.create(item=item, source="imported:Kim", category="Sentiment")
    taxonomy.label_by_model(item, "openai:a", "Sports", "", 1.0, None)
    assert in_force(item) == ("Sentiment", "", "imported:Kim")


def test_each_change_is_a_revision_and_a_label_by_hand_an_event():
    made = builders.benchmark(items=1)
    item, person = builders.item(made), user()
    taxonomy.label(item, "Sports", "", by=person)
    taxonomy.label(item, "Gaming", "Action", by=person)
    taxonomy.label_by_model(item, "openai:a", "Sports", "", 0.5, None)
    made.refresh_from_db()
    assert made.revision == 4
    assert TaxonomyLabel.objects.filter(user=person).count() == 1
    event = Event.objects.filter(action="benchmark.label").last()
    assert event.data == {"item": 1, "category": "Gaming", "subcategory": "Action"}
    assert event.actor_id == person.pk


@pytest.mark.parametrize(
    ("category", "subcategory", "note", "field"),
    [
        ("Cooking", "", "", "category"),
        ("", "", "", "category"),
        ("Sports", "Anything", "", "subcategory"),
        ("Sports", "", "x" * 4001, "note"),
        ("Sports", "", "a\0", "note"),
    ],
)
def test_other_labels_are_refused_beside_their_field(category, subcategory, note, field):
    item = builders.item(builders.benchmark(items=1))
    with pytest.raises(UserError) as refused:
        taxonomy.label(item, category, subcategory, by=user(), note=note)
    assert list(refused.value.fields) == [field]
    assert not TaxonomyLabel.objects.exists()


def test_categories_that_items_have_can_be_chosen():
    made = builders.benchmark(items=2, question={"category": "Cooking"})
    assert list(taxonomy.categories(made))[-1] == "Cooking"
    assert taxonomy.label(builders.item(made), "cooking", "", by=user()).category == "Cooking"


def test_a_model_gives_a_category_and_a_share_or_nothing():
    item = builders.item(builders.benchmark(items=1))
    with pytest.raises(ValueError, match="from 0 to 1"):
        taxonomy.label_by_model(item, "openai:a", "Sports", "", 1.5, None)
    with pytest.raises(ValueError, match="needs a category"):
        taxonomy.label_by_model(item, "openai:a", "", "", 0.5, None)
