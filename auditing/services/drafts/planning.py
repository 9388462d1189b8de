"""What drafts for a set would take, before anything is asked."""

from dataclasses import dataclass

from auditing.drafting.protocol import REASONING
from auditing.selectors.drafts import Connection
from auditing.services.drafts import sources
from auditing.services.drafts.runs import chosen, cues_of
from videos.models import GeneratedDocument, VideoQuestion, VideoSet
from videos.selectors.transcripts import newest_transcript


@dataclass(frozen=True, slots=True)
class DraftPlan:
    """What a run would do.

    Attributes
    ----------
    questions
        Those that would be drafted for.
    there
        Questions that are left out: they have a version by the same model and prompt.
    bare
        Of `questions`: how many have no transcript (reasoning) or no cues (target label).
    """

    connection: Connection
    kind: str
    questions: list[VideoQuestion]
    there: int
    bare: int

    def in_words(self) -> str:
        """Return the plan as a sentence or two."""
        count = len(self.questions)
        calls = f"{count:,} calls, {3 * count:,} at most where replies cannot be used" if count else "no call"
        words = [f"{self.connection.name} would draft for {count:,} questions: {calls}."]
        if self.there:
            words.append(f"{self.there:,} have a version by this model and prompt.")
        if self.bare:
            what = "transcript" if self.kind == REASONING else "cues"
            words.append(f"{self.bare:,} of them have no {what}.")
        if self.kind == REASONING:
            pictures = self.connection.pictures
            words.append(
                f"{pictures} pictures of each clip go along."
                if pictures
                else "No pictures are sent: text only."
            )
        return " ".join(words)


def plan(*, video_set: VideoSet, kind: str, connection: str = "", again: bool = False) -> DraftPlan:
    """Say what drafts for a set would take; asks no model and stores nothing.

    Raises
    ------
    UserError
        422: no such model, or none at all.
    """
    model = chosen(connection)
    drafter = sources.build(model.spec, takes_pictures=model.pictures > 0)
    rows = list(
        VideoQuestion.objects.filter(video_set=video_set)
        .select_related("video")
        .defer("video__picture_index")
    )
    made = set(
        GeneratedDocument.objects.filter(
            question__video_set=video_set,
            kind=kind,
            asked_in=None,
            source__model=model.name,
            source__prompt__sha256=drafter.prompt(kind)["sha256"],
        ).values_list("question_id", flat=True)
    )
    wanted = [row for row in rows if again or row.pk not in made]
    if kind == REASONING:
        videos = {row.video_id: row.video for row in wanted}
        silent = {pk for pk, video in videos.items() if newest_transcript(video) is None}
        bare = sum(row.video_id in silent for row in wanted)
    else:
        bare = sum(not cues_of(row.document) for row in wanted)
    return DraftPlan(model, kind, wanted, len(rows) - len(wanted), bare)
