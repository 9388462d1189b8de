"""The categories of the paper, and a list of our own below them."""

from auditing.core.anchor.taxonomy import SUBCATEGORIES, TOP_CATEGORIES, known_label


def test_the_seven_categories_of_the_paper():
    assert set(TOP_CATEGORIES) == {
        "Shopping",
        "Sentiment",
        "Egocentric Agent",
        "Information Query",
        "Social Interaction",
        "Sports",
        "Gaming",
    }


def test_every_label_says_what_it_means_and_none_is_in_both_lists():
    for meaning in (*TOP_CATEGORIES.values(), *SUBCATEGORIES.values()):
        assert meaning.endswith(".")
    assert not set(TOP_CATEGORIES) & set(SUBCATEGORIES)
    assert 15 <= len(SUBCATEGORIES) <= 30


def test_labels_are_known_whatever_their_letter_case_and_spaces():
    assert known_label(" social  INTERACTION ", TOP_CATEGORIES) == "Social Interaction"
    assert known_label("Cooking", TOP_CATEGORIES) is None
