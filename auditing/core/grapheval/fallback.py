"""Steps and facts by rule, where no model named dependencies or split a chain into facts.

Paper: "Can We Trust LLM's Logic? Quantifying Uncertainty, Coherence, and Robustness via a Graph-Based
Framework", section 3 asks a second model for atomic facts. The rules here are ours, for stored samples that
came without: each step depends on the one before it, and each sentence of a step is a fact. Results of them
are marked wherever they are shown, because the graphs they give are chains.
"""

from collections.abc import Sequence

from auditing.core import segmentation
from auditing.core.grapheval.chains import Step
from auditing.core.grapheval.facts import Fact


def chained_steps(texts: Sequence[str]) -> tuple[Step, ...]:
    """Return steps numbered from 1, each of which depends on the one before.

    Parameters
    ----------
    texts : sequence of str
        One text for every step, in order.
    """
    return tuple(
        Step(index, text.strip(), (index - 1,) if index > 1 else ()) for index, text in enumerate(texts, 1)
    )


def sentence_facts(steps: Sequence[Step]) -> tuple[Fact, ...]:
    """Return the sentences of every step as facts with the dependencies of their step.

    Parameters
    ----------
    steps : sequence of Step
        In order, indices unique.

    Returns
    -------
    tuple of Fact
        As `facts.parse_facts` gives them: a sentence counts once within its step, and dependencies on steps
        without a sentence, or not on an earlier step, are left out. None for steps that are blank.
    """
    found: dict[int, dict[str, None]] = {}
    for step in steps:
        sentences = (step.text[start:end] for start, end in segmentation.split(step.text))
        if unique := dict.fromkeys(sentences):
            found[step.index] = unique
    return tuple(
        Fact(sentence, step.index, tuple(dep for dep in step.depends_on if dep in found and dep < step.index))
        for step in steps
        for sentence in found.get(step.index, ())
    )
