"""What a study still lacks before people can begin."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Count, F, Q

from annotation.core.states import State
from annotation.models import GuidelineVersion, Study, StudyItem, StudyMember
from videos.models import Video


@dataclass(frozen=True, slots=True)
class Check:
    """One line: what, whether it is there, whether the study can do without, and the page (a route) that has it."""

    words: str
    done: bool
    route: str
    needed: bool = True
    note: str = ""


def checklist(study: Study) -> list[Check]:
    """Everything that a study needs, in the order in which it is set up; four queries."""
    kinds = dict(StudyItem.objects.filter(study=study).order_by().values_list("kind").annotate(Count("pk")))
    parts = dict(
        StudyMember.objects.filter(study=study, active=True)
        .order_by()
        .values_list("part")
        .annotate(Count("pk"))
    )
    physicians = parts.get(StudyMember.Part.PHYSICIAN, 0)
    items = StudyItem.objects.filter(study=study)
    counted = items.aggregate(
        without_gold=Count("pk", filter=~Q(kind=StudyItem.Kind.MAIN) & Q(gold=None), distinct=True),
        largest=Count("pk", filter=Q(overlap__gt=physicians), distinct=True),
    )
    published = GuidelineVersion.objects.filter(study=study).exclude(published_at=None).exists()
    if study.is_video:
        questions = kinds.get(StudyItem.Kind.MAIN, 0)
        lines = _of_videos(study, questions, physicians, counted["largest"], published)
        return [*lines, _adjudicator(parts)] if study.overlap > 1 else lines
    main, trainings = kinds.get(StudyItem.Kind.MAIN, 0), kinds.get(StudyItem.Kind.TRAINING, 0)
    wanted = study.overlap
    short = short_items(study, physicians)
    lines = [
        Check("traces to label", main > 0, "annotation:study_items", note=f"{main:,} main items"),
        Check("a published guideline", published, "annotation:guideline_edit"),
        Check(
            f"at least {wanted} {'person' if wanted == 1 else 'people'} who label{'s' if wanted == 1 else ''}",
            physicians >= wanted and not counted["largest"],
            "annotation:study_members",
            note=f"{physicians} so far",
        ),
        Check(
            "work given out to everybody",
            main > 0 and physicians > 0 and not short,
            "annotation:study_assignments",
            note=f"{short:,} items lack people" if short and physicians else "",
        ),
    ]
    if kinds.keys() - {StudyItem.Kind.MAIN}:
        lines.insert(
            1,
            Check(
                "expected labels of training and hidden gold items",
                not counted["without_gold"],
                "annotation:study_items",
                note=f"{counted['without_gold']} without" if counted["without_gold"] else "",
            ),
        )
    if wanted > 1:
        lines.append(_adjudicator(parts))
    if study.training_pass and not trainings:
        lines.append(
            Check(
                "training items for the pass mark",
                False,
                "annotation:study_items",
                needed=False,
                note="without them the pass mark asks for nothing",
            )
        )
    return lines


def _adjudicator(parts: Mapping[str, int]) -> Check:
    return Check(
        "an adjudicator for disagreements",
        bool(parts.get(StudyMember.Part.ADJUDICATOR)),
        "annotation:study_members",
        needed=False,
        note="can be added later",
    )


def _of_videos(study: Study, questions: int, people: int, asks_for_more: int, published: bool) -> list[Check]:
    wanted, short = study.overlap, short_items(study, people)
    unready = (
        StudyItem.objects.filter(study=study)
        .exclude(question__video__state=Video.State.READY)
        .aggregate(clips=Count("question__video", distinct=True))["clips"]
    )
    return [
        Check(
            "questions to refine",
            questions > 0,
            "annotation:study_items",
            note=f"{questions:,} question{'' if questions == 1 else 's'}",
        ),
        Check("a published guideline", published, "annotation:guideline_edit"),
        Check(
            f"at least {wanted} annotator{'' if wanted == 1 else 's'}",
            people >= wanted and not asks_for_more,
            "annotation:study_members",
            note=f"{people} so far",
        ),
        Check(
            "work given out to everybody",
            questions > 0 and people > 0 and not short,
            "annotation:study_assignments",
            note=f"{short:,} questions lack people" if short and people else "",
        ),
        Check(
            "clips prepared",
            questions > 0 and not unready,
            "annotation:study_items",
            needed=False,
            note=f"{unready:,} not ready yet" if unready else "",
        ),
    ]


def short_items(study: Study, physicians: int) -> int:
    """How many items have fewer active people than they are to have; training and gold want everybody."""
    rows = StudyItem.objects.filter(study=study).annotate(
        people=Count(
            "assignments", filter=~Q(assignments__state=State.WITHDRAWN) & Q(assignments__member__active=True)
        ),
        done=Count("assignments", filter=~Q(assignments__state=State.WITHDRAWN)),
    )
    everybody = ~Q(kind=StudyItem.Kind.MAIN) & Q(overlap=None, people__lt=physicians)
    by_study = Q(kind=StudyItem.Kind.MAIN, overlap=None, done__lt=study.overlap)
    return rows.filter(everybody | by_study | Q(done__lt=F("overlap"))).count()
