"""What a model is asked about a clip: the answer with its reasoning, or the bare answers for the difficulty."""

from collections.abc import Sequence

from django.db.models import Prefetch, prefetch_related_objects

from auditing.elicitation.protocol import Elicitation
from auditing.models import BenchmarkItem, BenchmarkRun, ModelAnswer, Setting
from auditing.services.anchor import answers, difficulty
from auditing.services.anchor.asking import ItemWork, Step, answers_for
from auditing.services.anchor.material import (
    Material,
    material_of,
    options_of,
    parts_of_references,
    shown_name,
    why_not,
)
from auditing.services.request_work import Request
from videos.media.errors import MediaCancelled, MediaError
from videos.selectors.transcripts import newest_transcripts

Role = ModelAnswer.Role


class ClipWork(ItemWork):
    """An item that is asked about with its clip."""

    pictures = True
    role: str

    @classmethod
    def read_ahead(cls, items: Sequence[BenchmarkItem], step: Step) -> None:
        """Read which answers there are; of items that lack some, what is said in the clip and where things are."""
        there = answers_for(role=cls.role, model=shown_name(step.model, step.choices), setting=_setting(step))
        prefetch_related_objects(items, there)
        lacking = [item for item in items if missing_takes(item, step)]
        said = Prefetch("question__video__transcripts", newest_transcripts())
        prefetch_related_objects(lacking, parts_of_references("tracks"), said)

    def clip(self) -> Material | None:
        """Return what the model is given; None with a `problem`, or where the work is stopped."""
        pictures = int(self.choices["pictures"])
        self.problem = why_not(self.item.question.video, pictures)
        if self.problem:
            return None
        try:
            return material_of(
                self.item,
                _setting(self.step),
                pictures,
                self.main_reference,
                is_over=self.step.is_over,
                sketch=self.step.sketch,
            )
        except MediaCancelled:
            self.stopped = True
        except MediaError as error:
            self.problem = f"Its pictures could not be made. {error}"
        return None

    def store(self, run: BenchmarkRun) -> str:
        """Make an answer of each reply, but for takes that came from elsewhere meanwhile."""
        name, setting = shown_name(run.model, self.choices), _setting(self.step)
        rows = ModelAnswer.objects.filter(item=self.item, role=self.role, model=name, setting=setting)
        there = set(rows.values_list("take", flat=True))
        made = [
            answers.put(
                self.item,
                role=self.role,
                model=name,
                setting=setting,
                take=take,
                text=text,
                source=run.model,
                run=run,
            )[0]
            for take, text in sorted(self.replies.items())
            if take not in there
        ]
        if made:
            self.judge(made)
        return ""

    def judge(self, made: Sequence[ModelAnswer]) -> None:
        """Do what follows from new answers without asking anybody."""
        raise NotImplementedError


class AnswerWork(ClipWork):
    """The answer with reasoning that an item lacks of a model in a setting (paper, sections 3.3 and 4.3)."""

    missing = "are no answers; resuming asks for them again"
    role = Role.CHAIN

    def requests(self) -> list[Request]:
        """Return one request, or none where the answer is there."""
        if not missing_takes(self.item, self.step) or (clip := self.clip()) is None:
            return []
        asked = Elicitation.video_answer(
            question=self.item.question.text, options=options_of(self.item), **clip.to_ask
        )
        return [Request(1, asked)]

    def judge(self, made: Sequence[ModelAnswer]) -> None:
        """Compare the option that an answer names with the right one."""
        answers.rule_ratings(made)


class RolloutWork(ClipWork):
    """The bare answers of a model that an item lacks; their numbers are the takes, from 1 (paper, A.1)."""

    missing = "are no answers; resuming asks for them again"
    role = Role.ROLLOUT

    def requests(self) -> list[Request]:
        """Return a request for each take that is missing; all of them show the same pictures."""
        takes = missing_takes(self.item, self.step)
        if not takes or (clip := self.clip()) is None:
            return []
        return [
            Request(
                take,
                Elicitation.brief_answer(
                    question=self.item.question.text, options=options_of(self.item), **clip.to_ask, take=take
                ),
            )
            for take in takes
        ]

    def judge(self, made: Sequence[ModelAnswer]) -> None:
        """Let what judges said of fewer or other bare answers count no more."""
        self.item.refresh_from_db(fields=["difficulty", "verdict"])
        if self.item.verdict is not None:
            difficulty.assess(self.item)


def missing_takes(item: BenchmarkItem, step: Step) -> list[int]:
    """Return the takes that a step is to make of an item and that are there neither sampled nor imported."""
    there = {answer.take for answer in item.answers.all()}
    return [take for take in range(1, int(step.choices.get("takes", 1)) + 1) if take not in there]


def _setting(step: Step) -> str:
    """Return which cues the model is given: all of them for the difficulty."""
    return str(step.choices.get("setting", Setting.FULL))
