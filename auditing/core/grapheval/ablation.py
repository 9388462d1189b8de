"""What is left when a model may not use its medoid: accuracy, faithfulness and distance of the alternatives.

Paper: "Can We Trust LLM's Logic? Quantifying Uncertainty, Coherence, and Robustness via a Graph-Based
Framework", section 5.4 and B.6 (population level), C.10 and C.11 (targeted). Changes are ablated minus original.
Choices where the paper is open, in words:

- An alternative without an answer counts as wrong; without a gold answer no accuracy is defined.
- The faithfulness of the alternatives is the mean of those that have one, and their number is reported.
- At the population level, questions without a change in accuracy or faithfulness are left out; shares are of
  the questions that remain.
- The targeted protocol takes the questions that the medoid answers correctly and the vote does not, so the
  original accuracy is 1.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from auditing.core.statistics import Regression, linear_regression, mean_of

EPSILON = 1e-12


@dataclass(frozen=True, slots=True)
class QuestionAblation:
    """One question with its medoid forbidden; None where undefined.

    Attributes
    ----------
    accuracy, medoid_accuracy, accuracy_change : float or None
        Mean over the alternatives, of the medoid (0 or 1), and the difference.
    faithfulness, medoid_faithfulness, faithfulness_change : float or None
        The same of early answering.
    distance : float or None
        Mean text distance of the alternatives from the medoid, 0 to 1.
    n, n_faithful : int
        Alternatives, and those with a faithfulness.
    """

    accuracy: float | None
    medoid_accuracy: float | None
    accuracy_change: float | None
    faithfulness: float | None
    medoid_faithfulness: float | None
    faithfulness_change: float | None
    distance: float | None
    n: int
    n_faithful: int


@dataclass(frozen=True, slots=True)
class PopulationAblation:
    """All questions of a data set.

    Attributes
    ----------
    n : int
        Questions with both changes.
    mean_accuracy_change, mean_faithfulness_change : float or None
        Means.
    less_faithful, same_accuracy, same_accuracy_less_faithful : float or None
        Shares of the n questions, 0 to 1.
    regression : Regression
        Change in faithfulness on change in accuracy.
    """

    n: int
    mean_accuracy_change: float | None
    mean_faithfulness_change: float | None
    less_faithful: float | None
    same_accuracy: float | None
    same_accuracy_less_faithful: float | None
    regression: Regression


@dataclass(frozen=True, slots=True)
class TargetedQuestion:
    """One question: which rules answer it correctly, and its ablation (see `QuestionAblation`)."""

    gsc_correct: bool
    sc_correct: bool
    accuracy: float | None
    faithfulness: float | None
    medoid_faithfulness: float | None
    distance: float | None


@dataclass(frozen=True, slots=True)
class TargetedAblation:
    """Questions that only the medoid answers correctly: their number, and means of what is defined."""

    n: int
    accuracy: float | None
    faithfulness: float | None
    medoid_faithfulness: float | None
    distance: float | None


def question_ablation(
    answers: Sequence[str | None],
    faithfulness: Sequence[float | None],
    distances: Sequence[float | None],
    *,
    gold: str | None,
    medoid_answer: str | None,
    medoid_faithfulness: float | None,
) -> QuestionAblation:
    """Compare the alternatives of one question with its medoid.

    Parameters
    ----------
    answers, faithfulness, distances : sequences of the same length
        Of every alternative: normal form of its answer, early answering, text distance from the medoid; None where
        undefined.
    gold : str or None
        Normal form of the correct answer.
    medoid_answer, medoid_faithfulness
        The same of the medoid.

    Raises
    ------
    ValueError
        If the lengths differ.
    """
    if not len(answers) == len(faithfulness) == len(distances):
        raise ValueError(
            f"{len(answers)} answers, {len(faithfulness)} faithfulness values and {len(distances)} distances; "
            "give one of each per alternative."
        )
    accuracy = medoid_accuracy = None
    if gold is not None:
        accuracy = mean_of([float(answer == gold) for answer in answers])
        medoid_accuracy = float(medoid_answer == gold)
    mean_faithfulness = mean_of(faithfulness)
    return QuestionAblation(
        accuracy=accuracy,
        medoid_accuracy=medoid_accuracy,
        accuracy_change=_difference(accuracy, medoid_accuracy),
        faithfulness=mean_faithfulness,
        medoid_faithfulness=medoid_faithfulness,
        faithfulness_change=_difference(mean_faithfulness, medoid_faithfulness),
        distance=mean_of(distances),
        n=len(answers),
        n_faithful=sum(value is not None for value in faithfulness),
    )


def population_ablation(changes: Iterable[tuple[float | None, float | None]]) -> PopulationAblation:
    """Summarise the (accuracy change, faithfulness change) of all questions."""
    points = [
        (accuracy, faithfulness)
        for accuracy, faithfulness in changes
        if accuracy is not None and faithfulness is not None
    ]
    accuracies, faithful = [point[0] for point in points], [point[1] for point in points]
    less = [value < -EPSILON for value in faithful]
    same = [abs(value) <= EPSILON for value in accuracies]
    return PopulationAblation(
        n=len(points),
        mean_accuracy_change=mean_of(accuracies),
        mean_faithfulness_change=mean_of(faithful),
        less_faithful=mean_of(less),
        same_accuracy=mean_of(same),
        same_accuracy_less_faithful=mean_of(list(map(all, zip(same, less, strict=True)))),
        regression=linear_regression(accuracies, faithful),
    )


def targeted_ablation(questions: Iterable[TargetedQuestion]) -> TargetedAblation:
    """Summarise the questions that the medoid answers correctly and the vote does not."""
    chosen = [question for question in questions if question.gsc_correct and not question.sc_correct]
    return TargetedAblation(
        n=len(chosen),
        accuracy=mean_of([question.accuracy for question in chosen]),
        faithfulness=mean_of([question.faithfulness for question in chosen]),
        medoid_faithfulness=mean_of([question.medoid_faithfulness for question in chosen]),
        distance=mean_of([question.distance for question in chosen]),
    )


def _difference(ablated: float | None, original: float | None) -> float | None:
    return None if ablated is None or original is None else ablated - original
