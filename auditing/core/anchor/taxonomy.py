"""Categories of items: the seven of the paper, and a list of sub-categories of our own.

Paper: "ANCHOR: Audio-Visually Grounded Chain-of-Thought Reasoning Benchmark", section 3.1 and appendix A (the names of
the top categories, and one guiding line for each). The paper does not print its sub-categories: those below are ours,
made so that each fits under several top categories and says what a question asks for. What each label means is in our
words. A benchmark may hold other categories, such as those that came with its questions; they are kept as they are.
"""

from collections.abc import Iterable, Mapping

TOP_CATEGORIES: Mapping[str, str] = {
    "Information Query": "A fact is asked for: what or who something is, where it is, or what is heard.",
    "Sports": "Athletes, exercise, matches, or adventures outdoors.",
    "Gaming": "Video games, what happens in them, or people who play them.",
    "Shopping": "Goods, brands, prices, shops, or what somebody wants to buy.",
    "Social Interaction": "What people do with or to each other, and how one reacts to another.",
    "Sentiment": "Feelings, opinions, likes and dislikes, or the tone in which something is said.",
    "Egocentric Agent": "A task seen through the eyes of whoever does it: steps, hands, and what comes next.",
}
"""Name of each top category in the paper -> what belongs there."""

SUBCATEGORIES: Mapping[str, str] = {
    "Identifying an object": "Which thing, tool, product or vehicle it is.",
    "Identifying a person": "Who somebody is, or which of several people.",
    "Identifying an animal or plant": "Which living being it is.",
    "Identifying a place": "Where it happens, or what kind of place it is.",
    "Identifying a sound": "What makes a sound, or what kind of sound it is.",
    "Speech content": "What somebody says, asks or names.",
    "Music": "An instrument, a song, or how music is played.",
    "Text on screen": "What can be read in the picture.",
    "Colour and appearance": "How something or somebody looks.",
    "Counting": "How many there are, or how often it happens.",
    "Action": "What somebody or something does.",
    "Order of events": "What comes before or after, first or last.",
    "Time of an event": "When something happens, or for how long.",
    "Position and direction": "Where something is in the scene, or which way it moves.",
    "Cause": "Why something happens.",
    "Purpose": "What something is for, or what somebody means to do.",
    "Result and score": "How something ends, who wins, or by how much.",
    "Next step": "What is to be done, or will happen, next.",
    "Rule or technique": "How something is done properly, or which rule applies.",
    "Relation between people": "What people are to each other, or how they treat each other.",
    "Emotion": "What somebody feels.",
    "Opinion": "What somebody thinks of something.",
    "Comparison": "How two or more differ, or which is more.",
    "Sound and picture together": "Whether, or how, what is heard belongs to what is seen.",
}
"""Sub-category (ours) -> what a question asks for."""

HAND, IMPORTED = "hand", "imported"
"""Whose a category in force is where no model named it: somebody's by hand, or the one that came with the question."""


def known_label(text: str, labels: Iterable[str]) -> str | None:
    """Return the label that a text means, spelled as in the list; upper and lower case and spaces do not count."""
    wanted = _plain(text)
    return next((label for label in labels if _plain(label) == wanted), None)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
