"""What judges are asked: ratings of answers, whether they are right, how hard an item is, and where it belongs."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import prefetch_related_objects

from auditing.core.anchor.taxonomy import SUBCATEGORIES, TOP_CATEGORIES
from auditing.elicitation import anchor_reading
from auditing.elicitation.protocol import Elicitation
from auditing.models import BenchmarkItem, BenchmarkRun, Facet, ModelAnswer, Rating, Reference, Setting
from auditing.services.anchor import answers, difficulty, ratings, taxonomy
from auditing.services.anchor.asking import ItemWork, Step, answers_for, ratings_of
from auditing.services.anchor.changes import changed
from auditing.services.anchor.material import (
    options_of,
    parts_of_references,
    question_of,
    right_answer,
    right_reasoning,
)
from auditing.services.request_work import Request

Status = Rating.Status
Tag = tuple[int, str, int | None]
"""Answer, facet, reference."""


class RatedWork(ItemWork):
    """An item whose answers this judge has not rated yet, or rated in another version."""

    missing = "are missing ratings; resuming asks for them again"

    @classmethod
    def read_ahead(cls, items: Sequence[BenchmarkItem], step: Step) -> None:
        """Read the answers that the step is about, and how this judge rated them."""
        which: dict[str, Any] = {"role": ModelAnswer.Role.CHAIN, "take": 1}
        for choice, name in (("models", "model__in"), ("settings", "setting__in")):
            if step.choices[choice] is not None:
                which[name] = step.choices[choice]
        said = answers_for("text", "final_answer", **which)
        prefetch_related_objects(items, parts_of_references("cot"), said, ratings_of(step.model))

    @property
    def is_about(self) -> bool:
        """Whether the item has any such answer."""
        return bool(self._answers)

    def requests(self) -> list[Request]:
        """Return a request for each answer, facet and reference without a current rating by this judge."""
        self._answers = {answer.pk: answer for answer in self.item.answers.all()}
        self._against = {reference.pk: reference for reference in self.references.values()}
        if not self._answers:
            return []
        measures = list(self.measures())
        if not measures:
            self.problem = self.left_out_words
        found = []
        for answer in self._answers.values():
            there = {
                (rating.facet, rating.reference_id)
                for rating in answer.ratings.all()
                if self._counts(rating, answer)
            }
            for facet, reference, measure in measures:
                of = None if reference is None else reference.pk
                if (facet, of) not in there:
                    found.append(Request((answer.pk, facet, of), self.question(facet, answer, measure)))
        return found

    def _counts(self, rating: Rating, answer: ModelAnswer) -> bool:
        reference = None if rating.reference_id is None else self._against.get(rating.reference_id)
        sha256 = "" if reference is None else reference.sha256
        same = (rating.answer_sha256, rating.reference_sha256) == (answer.sha256, sha256)
        return rating.value is not None and same

    def measures(self) -> Iterable[tuple[str, Reference | None, str]]:
        """Give facet, reference and what the answers are measured by; what cannot be asked is said in `left_out`."""
        raise NotImplementedError

    def question(self, facet: str, answer: ModelAnswer, measure: str) -> Elicitation:
        """Return what is asked about an answer."""
        raise NotImplementedError

    def read(self, text: str) -> tuple[int | None, str, str, str]:
        """Return value, status, why and words of a stored reply."""
        raise NotImplementedError

    def store(self, run: BenchmarkRun) -> str:
        """Store the ratings, and a row without a value for each request that was answered without one.

        A rating is of the versions that were asked about: where an answer changed meanwhile it is known as stale.
        """
        told = {tag: self.read(text) for tag, text in self.replies.items()}
        for tag, (status, why) in self.faults().items():
            told[tag] = (None, Status.ERROR if status == "error" else Status.INVALID, why, "")
        there = self.still_there(pk for pk, _, _ in told) if told else set()
        against = set(Reference.objects.filter(item=self.item).values_list("pk", flat=True)) | {None}
        rows = [
            ratings.NewRating(
                answer=self._answers[pk],
                facet=facet,
                reference=None if of is None else self._against[of],
                source=run.model,
                value=value,
                status=status,
                why=why,
                words=words,
                run=run,
            )
            for (pk, facet, of), (value, status, why, words) in told.items()
            if pk in there and of in against
        ]
        ratings.put_many(rows)
        return self.left_out_words


class RateWork(RatedWork):
    """The answers of an item, rated on the facets against references (paper, section 4.1)."""

    _read = (0, "")

    def measures(self) -> Iterable[tuple[str, Reference | None, str]]:
        """Give each facet and reference: the right answer for the answer, the reasoning for the other two.

        The answer is compared with the one that came with the question where the main reference is not there.
        """
        for source in self.choices["references"]:
            reference = self.references.get(source)
            reasoning = right_reasoning(reference)
            for facet in self.choices["facets"]:
                if facet == Facet.ANSWER:
                    if reference is None and source != self.step.parameters.reference:
                        self.left_out.append(f"It has no reference {source!r}.")
                    elif measure := right_answer(self.item, reference):
                        yield facet, reference, measure
                    else:
                        self.left_out.append(
                            "Nobody says what the right answer is, so the answer is not rated."
                        )
                elif reference is None:
                    self.left_out.append(
                        f"It has no reference {source!r}, so the reasoning is not rated against it."
                    )
                elif reasoning:
                    yield facet, reference, reasoning
                else:
                    self.left_out.append(f"The reference {source!r} holds no reasoning to rate against.")

    def question(self, facet: str, answer: ModelAnswer, measure: str) -> Elicitation:
        """Ask for one rating."""
        said = answers.answer_text(answer) if facet == Facet.ANSWER else self._reasoning(answer)
        return Elicitation.rating(facet, question_of(self.item), said, measure)

    def _reasoning(self, answer: ModelAnswer) -> str:
        """Return the chain of an answer; the same for two facets and every reference, so read once."""
        if self._read[0] != answer.pk:
            self._read = answer.pk, answers.reasoning_text(answer)
        return self._read[1]

    def read(self, text: str) -> tuple[int | None, str, str, str]:
        """Read a rating by the core's rules."""
        found = anchor_reading.rating_of(text)
        return found.rating, found.status, found.why, found.justification


class CorrectWork(RatedWork):
    """The answers of an item, judged right or wrong (paper, section 4.3); what a rule says stays beside it."""

    def measures(self) -> Iterable[tuple[str, Reference | None, str]]:
        """Give the right answer."""
        reference = self.main_reference
        if measure := right_answer(self.item, reference):
            yield Facet.CORRECT, reference, measure
        else:
            self.left_out.append("Nobody says what the right answer is, so no answer is judged.")

    def question(self, facet: str, answer: ModelAnswer, measure: str) -> Elicitation:
        """Ask whether an answer is right."""
        return Elicitation.correctness(
            self.item.question.text, options_of(self.item), answers.answer_text(answer), measure
        )

    def read(self, text: str) -> tuple[int | None, str, str, str]:
        """Read yes or no."""
        value, words = anchor_reading.correctness_of(text)
        if value is None:
            return None, Status.INVALID, "no_verdict", words
        return int(value), Status.STRICT, "", words


class DifficultyWork(ItemWork):
    """The bare answers of an item, all judged in one request (paper, section 3.3 and A.1)."""

    missing = "are no judgements; resuming asks for them again"

    @classmethod
    def read_ahead(cls, items: Sequence[BenchmarkItem], step: Step) -> None:
        """Read the bare answers, and what was judged of them."""
        said = answers_for("text", "final_answer", role=ModelAnswer.Role.ROLLOUT, setting=Setting.FULL)
        prefetch_related_objects(items, parts_of_references("cot"), "difficulty_judgements", said)

    def requests(self) -> list[Request]:
        """Return one request, or none where this judge has judged just these answers."""
        wanted = self.step.parameters.rule.rollouts
        found = difficulty.in_order(self.item.answers.all())
        measure = right_answer(self.item, self.main_reference)
        if len(found) != wanted:
            self.problem = (
                f"It has {len(found)} bare answers, and the rule of difficulty is about {wanted}. Draw those that "
                "are missing first, or change the rule."
            )
        elif not measure:
            self.problem = "Nobody says what the right answer is, so its difficulty cannot be judged."
        if self.problem:
            return []
        self._sha256 = difficulty.answers_sha256(self.item, found)
        for judged in self.item.difficulty_judgements.all():
            is_this = (judged.source, judged.answers_sha256) == (self.step.model, self._sha256)
            if is_this and judged.matches is not None:
                return []
        texts = [answer.final_answer for answer in found]
        return [Request("all", Elicitation.difficulty(question_of(self.item), measure, texts))]

    def store(self, run: BenchmarkRun) -> str:
        """Store what the judge says, or why it says nothing, and set the item's level."""
        if not self.replies and not self.failed:
            return ""
        if difficulty.answers_sha256(self.item) != self._sha256:
            return "Its bare answers changed while the judge was asked, so nothing is stored. Run the step again."
        judgement, problem = None, ""
        if text := self.replies.get("all"):
            found = anchor_reading.judgement_of(text, self.step.parameters.rule.rollouts)
            judgement, problem = found.judgement, found.why_not
        else:
            status, why = self.faults()["all"]
            problem = "No reply came." if status == "error" else f"The reply cannot be read ({why})."
        difficulty.judge(self.item, run.model, judgement, problem, run)
        self.item.refresh_from_db(fields=["difficulty", "verdict"])
        difficulty.assess(self.item)
        changed(run.benchmark)
        return problem


class TaxonomyWork(ItemWork):
    """The place of an item in the taxonomy, in this model's view (paper, section 3.2)."""

    missing = "are no labels; resuming asks for them again"

    @classmethod
    def read_ahead(cls, items: Sequence[BenchmarkItem], step: Step) -> None:
        """Read what the question rests on, and who labelled it."""
        prefetch_related_objects(items, parts_of_references("cot"), "taxonomy_labels")

    def requests(self) -> list[Request]:
        """Return one request, or none where this model has labelled the item."""
        if any(label.source == self.step.model for label in self.item.taxonomy_labels.all()):
            return []
        reference = self.main_reference
        asked = Elicitation.taxonomy(
            question=question_of(self.item),
            answer=right_answer(self.item, reference),
            analysis=right_reasoning(reference),
            categories=TOP_CATEGORIES,
            subcategories=SUBCATEGORIES,
        )
        return [Request("label", asked)]

    def store(self, run: BenchmarkRun) -> str:
        """Store the label."""
        text = self.replies.get("label")
        if text is None:
            return ""
        found = anchor_reading.category_of(text, TOP_CATEGORIES, SUBCATEGORIES)
        if found.problem:
            return found.problem
        taxonomy.label_by_model(
            self.item, run.model, found.category, found.subcategory, found.confidence, run
        )
        return ""
