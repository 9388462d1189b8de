"""One of each thing that can be asked, and the reply that its prompt asks for."""

from auditing.core.grapheval.facts import Fact
from auditing.elicitation.protocol import Elicitation
from auditing.llm.pictures import Frame

ASKED = {"question": "Is 9 odd?", "context": "Nine apples.", "options": "A) yes\nB) no"}
STEPS = [(1, "Nine is not divisible by two.", ()), (2, "So nine is odd.", (1,))]
FACTS = [Fact("Nine is odd.", 2, (1,)), Fact("Two does not divide nine.", 1, ())]
FRAMES = (Frame(12, 500_000, b"\xff\xd8first"), Frame(37, 1_500_000, b"\xff\xd8second"))
CLIP = {
    "question": "Why does the dog run?",
    "options": ["It is hungry.", "It hears a whistle."],
    "transcript": "[00:01.0 - 00:02.5] come here",
    "boxes": "- dog @ 00:00.5: 10.0 20.0 30.0 40.0",
    "duration": 4_000_000,
    "frames": FRAMES,
}
RATED = ("Why does the dog run?", "It heard something.", "It hears a whistle.")
CATEGORIES = {"Sports": "games and athletics", "Information Query": "a fact is asked for"}
SUBCATEGORIES = ["Cause and effect", "Counting"]

ALL = {
    "chain": Elicitation.chain(**ASKED, answer_kind="boolean", min_steps=3, max_steps=6, take=4),
    "forbidden_chain": Elicitation.forbidden_chain(
        **ASKED, answer_kind="choice", min_steps=2, max_steps=5, take=7, forbidden="Step 1: Count on fingers."
    ),
    "facts": Elicitation.facts("Is 9 odd?", STEPS),
    "early_answer": Elicitation.early_answer(**ASKED, answer_kind="boolean", facts=["Nine is odd.", "B\nC"]),
    "counterfactual": Elicitation.counterfactual("Is 9 odd?", STEPS, 1),
    "edited_answer": Elicitation.edited_answer(**ASKED, answer_kind="number", steps=STEPS),
    "soundness": Elicitation.soundness(**ASKED, gold="yes", chain="Step 1: Nine is odd."),
    "decomposition": Elicitation.decomposition(STEPS, FACTS),
    "video_answer": Elicitation.video_answer(**CLIP),
    "brief_answer": Elicitation.brief_answer(**CLIP, take=3),
    "answer_rating": Elicitation.rating("answer", *RATED),
    "hallucination_rating": Elicitation.rating("hallucination", *RATED),
    "divergence_rating": Elicitation.rating("divergence", *RATED),
    "difficulty": Elicitation.difficulty("Why?", "A whistle.", ["the whistle", "hunger", ""]),
    "correctness": Elicitation.correctness("Why?", "(A) Hunger.\n(B) A whistle.", "B", "A whistle."),
    "taxonomy": Elicitation.taxonomy("Why?", "A whistle.", "It turns.", CATEGORIES, SUBCATEGORIES),
}
CHAIN = (
    "Step 1: Two divides eight. [depends_on: none]\n"
    "Step 2: Nine is eight and one. [depends_on: none]\n"
    "Step 3: Two does not divide nine. [depends_on: 1, 2]\n"
    "The final answer is: yes"
)
VIDEO_ANSWER = """\
Visual Cue:
- Timeframe: 00:00 - 00:01.5
- Description: A dog turns its head.
- Analysis: It turns towards a sound.
Audio Cue:
- Timeframe: 00:01
- Description: A whistle.
- Analysis: The dog runs right after it.
Final Answer: (B) It hears a whistle.
Boxes:
- dog @ 00:00.5: 12 20 30.5 41
"""
REPLIES = {
    "chain": CHAIN,
    "forbidden_chain": CHAIN,
    "facts": "### Two does not divide nine. [step: 1, depends_on: none]\n### Nine is odd. [step: 2, depends_on: 1]",
    "early_answer": "The final answer is: yes",
    "counterfactual": "Edited step: Nine is divisible by two.",
    "edited_answer": "The final answer is: 9",
    "video_answer": VIDEO_ANSWER,
    "brief_answer": "a whistle",
}
JUDGED = {
    "soundness": {"sound": "no", "reason": "Step 1 does not follow."},
    "decomposition": {"atomic": "yes", "grounded": "no", "dependencies": "unsure", "reason": "Fact 1."},
    "difficulty": {"matches": [True, False, False], "similarity_rating": 4, "explanation": "They differ."},
    "correctness": {"correct": True, "reason": "It names the whistle."},
    "taxonomy": {
        "category": "sports",
        "subcategory": "Counting",
        "confidence": 0.75,
        "reason": "A run is counted.",
    },
}
WORDS = "It names the sound, but not which."
