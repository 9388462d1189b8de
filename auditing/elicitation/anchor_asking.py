"""ANCHOR's questions to models: answers to video questions, ratings of answers, difficulty, correctness, taxonomy.

Paper: "ANCHOR: Audio-Visually Grounded Chain-of-Thought Reasoning Benchmark", sections 3.3 and 4.1, appendix A and
supplement (what each model and judge is asked). The prompts are ours.
"""

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, Self

from auditing.core.anchor.option_answers import options_by_letter
from auditing.elicitation.tasks import CUES, Task
from auditing.llm.pictures import Frame
from videos.core.cot import format_clock

FACETS = ("answer", "hallucination", "divergence")
MAX_ANSWERS = 1_000
NO_ANSWER = "(no answer was given)"

# Between a label and its meaning: a label is one line without a tab, so it can be told apart again.
_MEANING = ":\t"


class Timed(Protocol):
    """Something said in a stretch of a clip; clip times in microseconds."""

    @property
    def start_us(self) -> int:
        """Where it begins."""
        ...

    @property
    def end_us(self) -> int:
        """Where it ends."""
        ...

    @property
    def text(self) -> str:
        """What is said."""
        ...


class AnchorAsking:
    """Constructors of ANCHOR's eight tasks; `Elicitation` has them."""

    __slots__ = ()

    @classmethod
    @abstractmethod
    def _asked(cls, task: Task, take: int, frames: tuple[Frame, ...], values: Mapping[str, str]) -> Self:
        """Return the elicitation."""

    @classmethod
    def video_answer(
        cls,
        question: str,
        options: str | Sequence[str],
        transcript: str | Iterable[Timed] | None,
        boxes: str | None,
        duration: int,
        frames: Sequence[Frame] | None,
    ) -> Self:
        """Ask for the answer to a question about a clip with its reasoning, in ANCHOR's form.

        The reply is read by `videos.core.cot`; after it there may be a block of boxes.

        Parameters
        ----------
        question : str
        options : str or sequence of str
            As text, or one by one: they are lettered then. Empty for an open question.
        transcript : str or iterable of Timed, optional
            What is said. Empty: there is none. None: sound was taken away on purpose; the model is told that it was
            given no sound.
        boxes : str, optional
            Where things are, a line each (see `box_line`). Empty: there are none. None: taken away on purpose.
        duration : int
            Of the clip, in microseconds; 0 where it is not known.
        frames : sequence of Frame, optional
            Pictures in their order. Empty: there are none, or the model takes none. None: taken away on purpose.
        """
        return cls._clip("video_answer", 0, question, options, transcript, boxes, duration, frames)

    @classmethod
    def brief_answer(
        cls,
        question: str,
        options: str | Sequence[str],
        transcript: str | Iterable[Timed] | None,
        boxes: str | None,
        duration: int,
        frames: Sequence[Frame] | None,
        take: int,
    ) -> Self:
        """Ask for the answer in a few words and nothing else, drawn with `take` as the seed; else `video_answer`."""
        return cls._clip("brief_answer", take, question, options, transcript, boxes, duration, frames)

    @classmethod
    def rating(cls, facet: str, question: str, output: str, reference: str) -> Self:
        """Ask a judge for a rating from 1 to 5, 5 = best; see `anchor_reading.rating_of`.

        Parameters
        ----------
        facet : {"answer", "hallucination", "divergence"}
        output : str
            The final answer that is rated; for the other two facets the reasoning, without the final answer.
        reference : str
            The reference's final answer, or its reasoning.

        Raises
        ------
        ValueError
            An unknown facet.
        """
        tasks: dict[str, Task] = {
            "answer": "answer_rating",
            "hallucination": "hallucination_rating",
            "divergence": "divergence_rating",
        }
        if facet not in tasks:
            raise ValueError(f"Unknown facet {facet!r}; use one of {', '.join(FACETS)}.")
        values = {"question": question, "output": output, "reference": reference}
        return cls._asked(tasks[facet], 0, (), values)

    @classmethod
    def difficulty(cls, question: str, reference: str, answers: Sequence[str]) -> Self:
        """Ask which of several bare answers match the reference, and how alike they are; see `judgement_of`.

        Raises
        ------
        ValueError
            No answer, or more than `MAX_ANSWERS`.
        """
        return cls._asked(
            "difficulty",
            0,
            (),
            {
                "question": question,
                "reference": reference,
                "answers": "\n".join(
                    f"{place}. {one_line(text) or NO_ANSWER}" for place, text in enumerate(answers, start=1)
                ),
                "count": str(len(answers)),
            },
        )

    @classmethod
    def correctness(cls, question: str, options: str | Sequence[str], output: str, reference: str) -> Self:
        """Ask whether an answer is right, yes or no (paper, section 4.3); see `anchor_reading.correctness_of`."""
        values = {
            "question": question,
            "options": lettered(options),
            "output": output,
            "reference": reference,
        }
        return cls._asked("correctness", 0, (), values)

    @classmethod
    def taxonomy(
        cls,
        question: str,
        answer: str,
        analysis: str,
        categories: Sequence[str] | Mapping[str, str],
        subcategories: Sequence[str] | Mapping[str, str],
    ) -> Self:
        """Ask for the category and the sub-category of a question; see `anchor_reading.category_of`.

        Parameters
        ----------
        analysis : str
            The reasoning to the answer, "" where there is none: it is an aid only.
        categories, subcategories : sequence of str, or mapping of str to str
            The labels to choose from, with what each means where it is known. Without sub-categories none is chosen.

        Raises
        ------
        ValueError
            No category.
        """
        if not categories:
            raise ValueError("There are no categories to choose from.")
        values = {
            "question": question,
            "answer": answer,
            "analysis": analysis,
            "categories": listed(categories),
            "subcategories": listed(subcategories),
        }
        return cls._asked("taxonomy", 0, (), values)

    @classmethod
    def _clip(
        cls,
        task: Task,
        take: int,
        question: str,
        options: str | Sequence[str],
        transcript: str | Iterable[Timed] | None,
        boxes: str | None,
        duration: int,
        frames: Sequence[Frame] | None,
    ) -> Self:
        cues = {"boxes": boxes, "pictures": frames, "transcript": transcript}
        values = {
            "question": question,
            "options": lettered(options),
            "transcript": written_transcript(transcript or ""),
            "boxes": boxes or "",
            "duration": str(int(duration)),
            "withheld": ",".join(cue for cue in CUES if cues[cue] is None),
        }
        return cls._asked(task, take, tuple(frames or ()), values)


def one_line(text: str) -> str:
    """Return a text with every run of white space as one blank: a line break in a step would look like a new one."""
    return " ".join(text.split())


def lettered(options: str | Sequence[str]) -> str:
    """Return options a line each with the letters by which the rule tells them apart; a text is taken as it is."""
    if isinstance(options, str):
        return options
    listed = [one_line(text) for text in options]
    by_letter = options_by_letter(listed)
    lines = [f"({letter}) {text}".rstrip() for letter, text in by_letter.items()]
    return "\n".join([*lines, *(f"- {text}" for text in listed[len(lines) :])])  # letters end with Z


def written_transcript(transcript: str | Iterable[Timed]) -> str:
    """Return what is said, a line for each piece with its times; a text is taken as it is."""
    if isinstance(transcript, str):
        return transcript
    return "\n".join(
        f"[{format_clock(piece.start_us, 1)} - {format_clock(piece.end_us, 1)}] {one_line(piece.text)}"
        for piece in transcript
    )


def box_line(label: str, time_us: int, x: float, y: float, width: float, height: float) -> str:
    """Return a line that says where a thing is, in the form that the models are asked to write, too.

    Parameters
    ----------
    time_us : int
        Clip time in microseconds.
    x, y, width, height : float
        Left, top, width and height of the box in percent of the picture's width and height.
    """
    numbers = " ".join(f"{value:.1f}" for value in (x, y, width, height))
    return f"- {one_line(label)} @ {format_clock(time_us, 1)}: {numbers}"


def listed(labels: Sequence[str] | Mapping[str, str]) -> str:
    """Return labels a line each, with their meanings where there are some; `labels_of` reads the labels back."""
    meanings = labels if isinstance(labels, Mapping) else dict.fromkeys(labels, "")
    return "\n".join(
        f"- {one_line(label)}" + (f"{_MEANING}{one_line(meaning)}" if meaning.strip() else "")
        for label, meaning in meanings.items()
    )


def labels_of(text: str) -> tuple[str, ...]:
    """Return the labels that `listed` wrote."""
    return tuple(line.removeprefix("- ").split(_MEANING)[0] for line in text.splitlines() if line.strip())
