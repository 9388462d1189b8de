"""What the pages that draw evidence over a clip need: boxes, sounds, cited times, and the audit of a rationale."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.models import Trace
from auditing.core.anchor.evidence import (
    ClipFacts,
    Leaf,
    StepText,
    cited_times,
    cue_times,
    evidence,
    rationale_steps,
)
from auditing.models import (
    AuditResult,
    AuditRunTrace,
    BenchmarkItem,
    ModelAnswer,
    RationaleAudit,
    Reference,
)
from auditing.selectors.benchmark_ratings import main
from reasonaudit.lib.canonical import sha256_of
from reasonaudit.lib.models import ACTIVE_STATES
from videos.core.cot import STEPS
from videos.core.document import empty_document
from videos.core.speech import pieces
from videos.core.timebase import PictureIndex
from videos.models import Video
from videos.selectors.playback import playback_payload
from videos.selectors.transcripts import newest_transcript

Json = dict[str, Any]
Piece = tuple[int, int, str]

NO_VIDEO = "The clip of this question is not there as a file that can be played, so no picture can be shown."


def main_reference(item: BenchmarkItem, references: Iterable[Reference] | None = None) -> Reference | None:
    """The reference that counts for an item: of the benchmark's chosen source, None where there is none."""
    source = main(item.benchmark, "reference")
    if references is None:
        return item.references.filter(source=source).first()
    return next((one for one in references if one.source == source), None)


def grounded_video_payload(
    item: BenchmarkItem,
    answers: Iterable[ModelAnswer] = (),
    *,
    reference: Reference | None = None,
    speech: Sequence[Piece] | None = None,
) -> Json:
    """What the island `grounded-video` draws: the clip, a reference's evidence, and that of answers.

    Parameters
    ----------
    item
        With its question and video (``select_related("question__video", "benchmark")`` saves queries).
    answers
        Those without a document (bare answers) are left out.
    reference
        Whose boxes are drawn solid; None means the main one.
    speech
        What is said; by default that of the newest transcript.

    Returns
    -------
    dict
        ``video`` as `videos.selectors.playback.playback_payload` gives it, ``why_not`` ("" where it plays),
        ``reference`` (a side, or null), ``answers`` (sides), ``speech`` as ``[start_us, end_us, text]``. A side is
        ``{"id", "name", "tracks", "events", "times": {"visual", "audio"}}`` with times in microseconds; tracks and
        events as in documents of videos.
    """
    video = item.question.video
    chosen = reference or main_reference(item)
    duration = video.duration_us or 0
    return {
        "video": playback_payload(video),
        "why_not": "" if video.is_ready else NO_VIDEO,
        "reference": None
        if chosen is None
        else _side(f"reference-{chosen.pk}", chosen.source, chosen.document, duration),
        "answers": [
            _side(f"answer-{one.pk}", str(one), one.document, duration) for one in answers if one.document
        ],
        "speech": [list(piece) for piece in (speech_of(video) if speech is None else speech)],
    }


def speech_of(video: Video) -> list[Piece]:
    """What is said in a clip, as pieces that are read at once; [] without a transcript."""
    row = newest_transcript(video)
    return [] if row is None else pieces(row.words)


def clip_facts(video: Video) -> ClipFacts:
    """What of a clip the sentences of evidence need; without an index of its pictures no box has a time."""
    stored = video.picture_index
    index = None if stored is None else PictureIndex.from_bytes(bytes(stored))

    def start_of(frame: int) -> int:
        if index is None:
            return 0
        return index.duration_us if frame >= index.n else index.clip_us(frame)

    return ClipFacts(
        duration_us=video.duration_us or 0,
        width=int(video.facts.get("width") or 0),
        height=int(video.facts.get("height") or 0),
        start_of=start_of,
        frames=0 if index is None else index.n,
    )


def _side(key: str, name: str, document: Mapping[str, Any], duration_us: int) -> Json:
    times = {step: cue_times(document["cot"][step]["timeframe"], duration_us) for step in STEPS}
    return {
        "id": key,
        "name": name,
        "tracks": document["tracks"],
        "events": document["events"],
        "times": {step: [list(span) for span in spans] for step, spans in times.items()},
    }


@dataclass(frozen=True, slots=True)
class Written:
    """A rationale and its evidence as sentences, whether they are stored or not.

    Attributes
    ----------
    leaves, steps
        In the order of the trace.
    left_out : dict of str to int
        What is not there, as in `Evidence`; ``step`` for sentences beyond the bound.
    evidence_sha256, sha256 : str
        Over the leaves, and over leaves and steps.
    """

    leaves: tuple[Leaf, ...]
    steps: tuple[StepText, ...]
    left_out: dict[str, int]
    evidence_sha256: str
    sha256: str


def written(
    item: BenchmarkItem,
    *,
    answer: ModelAnswer | None = None,
    reference: Reference,
) -> Written:
    """Write down a rationale and what a reference gives it.

    Parameters
    ----------
    item
        Of both, with its question and video.
    answer
        Whose rationale; None for the reference's own. A bare answer has no steps.
    reference
        Where boxes, sounds and refined times are taken from.
    """
    question = item.question
    clip = clip_facts(question.video)
    document = reference.document if answer is None else answer.document
    cot = empty_document()["cot"] if document is None else document["cot"]
    steps = rationale_steps(cot, clip.duration_us)
    found = evidence(
        reference.document,
        speech_of(question.video),
        clip,
        question=question.text,
        options=question.options,
        cited=cited_times(cot, clip.duration_us),
    )
    leaves = [leaf.to_dict() for leaf in found.leaves]
    return Written(
        found.leaves,
        steps.steps,
        {**found.left_out, **({"step": steps.left_out} if steps.left_out else {})},
        sha256_of(leaves),
        sha256_of({"leaves": leaves, "steps": [step.to_dict() for step in steps.steps]}),
    )


def audit_of(answer: ModelAnswer | None, reference: Reference) -> RationaleAudit | None:
    """The stored audit of an answer's rationale, or of the reference's own; None where there is none."""
    rows = RationaleAudit.objects.select_related("trace__case__dataset")
    if answer is not None:
        return rows.filter(answer=answer).first()
    return rows.filter(answer=None, reference=reference).first()


def trace_name(answer: ModelAnswer | None, reference: Reference, found: Written) -> str:
    """How the id of a rationale's trace begins. Two answers may say the same: each has a trace of its own."""
    whose = f"answer-{answer.pk}" if answer is not None else f"reference-{reference.pk}"
    return f"{whose}-{found.sha256[:16]}"


def trace_of(
    item: BenchmarkItem, answer: ModelAnswer | None, reference: Reference, found: Written
) -> Trace | None:
    """The trace of just these sentences, not split by hand since; None where there is none.

    An answer has one trace for each reference whose evidence it was audited with, so that one can go back and forth.
    """
    if item.benchmark.rationales_id is None:
        return None
    name = trace_name(answer, reference, found)
    rows = Trace.objects.filter(case__dataset=item.benchmark.rationales_id, segmentation=1)
    return rows.filter(external_id__startswith=name).order_by("-pk").first()


def results_of(trace: Trace) -> list[AuditResult]:
    """Audits of a trace as the rationale made it, newest first; not those of a trace split by hand since."""
    rows = AuditResult.objects.filter(trace=trace, segmentation=1).select_related("run")
    return list(rows.defer("relations", "document").order_by("-run_id"))


def last_run_of(trace: Trace) -> AuditRunTrace | None:
    """The newest run that has the trace, whatever became of it."""
    return AuditRunTrace.objects.filter(trace=trace).select_related("run").order_by("-run_id").first()


def is_open(row: AuditRunTrace) -> bool:
    """Whether the audit of a trace waits or goes on."""
    return row.state in ACTIVE_STATES and row.run.state in ACTIVE_STATES


def rationale_payload(
    item: BenchmarkItem,
    found: Written,
    *,
    answer: ModelAnswer | None,
    reference: Reference,
    audit: Json | None,
) -> Json:
    """What the island `rationale-audit` draws.

    ``film`` is `grounded_video_payload`; ``leaves`` and ``steps`` have the number of their segment as ``index``;
    ``side`` is the id of the film's side that the evidence is from; ``audit`` is `services.results.payload`, or null.
    The film has no speech of its own: what counts of it is among the leaves.
    """
    film = grounded_video_payload(item, [answer] if answer else [], reference=reference, speech=())
    leaves = [{"index": at, **leaf.to_dict()} for at, leaf in enumerate(found.leaves, 1)]
    steps = [{"index": at, **step.to_dict()} for at, step in enumerate(found.steps, 1 + len(leaves))]
    return {
        "film": film,
        "side": f"reference-{reference.pk}",
        "name": str(answer) if answer else reference.source,
        "leaves": leaves,
        "steps": steps,
        "audit": audit,
    }
