"""What an item gives to models and judges: its clip in a setting, its references, and the answer that is right.

Paper: "ANCHOR: Audio-Visually Grounded Chain-of-Thought Reasoning Benchmark", section 4.3. A setting takes one cue
away: the boxes, the pictures, or the sound with its transcript. Sound itself is never sent: servers that take words
and pictures hear through the transcript.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import F, Prefetch

from auditing.core.anchor.answer_reading import reasoning_of
from auditing.drafting.protocol import Piece
from auditing.elicitation.anchor_asking import lettered
from auditing.llm.pictures import Frame
from auditing.models import BenchmarkItem, Reference, Setting
from auditing.services import clip_material
from videos.core.cot import format_cot
from videos.models import Video
from videos.selectors.documents import limits_of
from videos.services import files

_PART = "part_"


@dataclass(frozen=True, slots=True)
class Material:
    """What a model is given of a clip; None stands for a cue that the setting takes away.

    Attributes
    ----------
    transcript
        What is said, in pieces.
    boxes
        Where things are, a line each; "" where the item's reference has no boxes.
    duration_us
        Of the clip; 0 where it is not known.
    frames
        Pictures; () for a model that takes none.
    """

    transcript: tuple[Piece, ...] | None
    boxes: str | None
    duration_us: int
    frames: tuple[Frame, ...] | None

    @property
    def to_ask(self) -> dict[str, Any]:
        """The arguments of every elicitation that asks about a clip."""
        return {
            "transcript": self.transcript,
            "boxes": self.boxes,
            "duration": self.duration_us,
            "frames": self.frames,
        }


def why_not(video: Video, pictures: int) -> str:
    """Return why nothing can be asked about a clip, as a sentence; "" where something can."""
    if not video.is_ready:
        return f"Its clip {video.title} is not ready ({video.get_state_display().lower()}). Wait until it is prepared."
    if pictures and not files.path_of(video.sha256).is_file():
        return f"The file of its clip {video.title} is gone. Upload the clip again."
    return ""


def material_of(
    item: BenchmarkItem,
    setting: str,
    pictures: int,
    reference: Reference | None,
    *,
    is_over: Callable[[], bool],
    sketch: bool,
) -> Material:
    """Return what a model is given of an item's clip.

    Parameters
    ----------
    setting
        Which cue is taken away (`Setting`).
    pictures
        How many pictures the model takes, 0 for a model of words only.
    reference
        Whose boxes are given; None gives none, and the model is told that none were drawn.
    is_over
        Asked while pictures are made; once true, `MediaCancelled` is raised.
    sketch
        Whether pictures are left without their bytes, for estimates.

    Raises
    ------
    MediaError
        The pictures cannot be made.
    """
    video = item.question.video
    index = clip_material.index_of(video)
    frames: tuple[Frame, ...] | None = None
    if setting != Setting.NO_VIDEO:
        if not pictures:
            frames = ()
        elif sketch:
            frames = clip_material.sketched_frames(index, pictures)
        else:
            frames = clip_material.frames_of(video, pictures, is_over)
    limits = limits_of(video)
    boxes: str | None = None
    if setting != Setting.NO_BOXES:
        boxes = ""
        if reference is not None and index is not None and limits.width and limits.height:
            shown = [frame.ordinal for frame in frames or ()]
            tracks = part_of(reference, "tracks")
            boxes = clip_material.box_lines(tracks, index, (limits.width, limits.height), shown)
    return Material(
        transcript=None if setting == Setting.NO_AUDIO else clip_material.said_in(video),
        boxes=boxes,
        duration_us=limits.duration_us or 0,
        frames=frames,
    )


def options_of(item: BenchmarkItem) -> list[str]:
    """Return the options of an item's question, [] for an open one."""
    return [str(option) for option in item.question.options or ()]


def question_of(item: BenchmarkItem) -> str:
    """Return a question as judges read it, with its options: an answer may be no more than a letter."""
    return "\n".join(filter(None, (item.question.text, lettered(options_of(item)))))


def parts_of_references(*names: str) -> "Prefetch[Any]":
    """Read of references only these parts of the document: the boxes of a long clip are many."""
    parts = {f"{_PART}{name}": F(f"document__{name}") for name in names}
    return Prefetch("references", Reference.objects.defer("document", "origin").annotate(**parts))


def part_of(reference: Reference, name: str) -> Any:
    """Return a part of a reference's document, read with it or before it."""
    return (
        getattr(reference, f"{_PART}{name}")
        if hasattr(reference, f"{_PART}{name}")
        else reference.document[name]
    )


def references_of(item: BenchmarkItem) -> Mapping[str, Reference]:
    """Return an item's references by source; no query where they were read before."""
    return {reference.source: reference for reference in item.references.all()}


def right_answer(item: BenchmarkItem, reference: Reference | None) -> str:
    """Return the answer that counts: the reference's, else the one that came with the question; "" without either."""
    said = "" if reference is None else str(part_of(reference, "cot")["final_answer"]).strip()
    return said or item.question.answer.strip()


def right_reasoning(reference: Reference | None) -> str:
    """Return the reasoning of a reference as judges read it, without its final answer; "" where it says nothing."""
    if reference is None:
        return ""
    cot = part_of(reference, "cot")
    said = [cot[step][name] for step in ("visual", "audio") for name in ("description", "analysis")]
    return reasoning_of(format_cot(cot)) if any(map(_says, said)) else ""


def _says(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def shown_name(spec: str, choices: Mapping[str, Any]) -> str:
    """Return the name under which answers of a model are kept."""
    return str(choices.get("name") or spec.partition(":")[2])[:200]
