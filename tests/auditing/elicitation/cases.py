"""One of each thing that can be asked, and the reply that its prompt asks for."""

from auditing.core.grapheval.facts import Fact
from auditing.elicitation.protocol import Elicitation

ASKED = {"question": "Is 9 odd?", "context": "Nine apples.", "options": "A) yes\nB) no"}
STEPS = [(1, "Nine is not divisible by two.", ()), (2, "So nine is odd.", (1,))]
FACTS = [Fact("Nine is odd.", 2, (1,)), Fact("Two does not divide nine.", 1, ())]

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
}
CHAIN = (
    "Step 1: Two divides eight. [depends_on: none]\n"
    "Step 2: Nine is eight and one. [depends_on: none]\n"
    "Step 3: Two does not divide nine. [depends_on: 1, 2]\n"
    "The final answer is: yes"
)
REPLIES = {
    "chain": CHAIN,
    "forbidden_chain": CHAIN,
    "facts": "### Two does not divide nine. [step: 1, depends_on: none]\n### Nine is odd. [step: 2, depends_on: 1]",
    "early_answer": "The final answer is: yes",
    "counterfactual": "Edited step: Nine is divisible by two.",
    "edited_answer": "The final answer is: 9",
}
JUDGED = {
    "soundness": {"sound": "no", "reason": "Step 1 does not follow."},
    "decomposition": {"atomic": "yes", "grounded": "no", "dependencies": "unsure", "reason": "Fact 1."},
}
