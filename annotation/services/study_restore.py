"""Making a study from the files of an export: the same study, in a data set of its own."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.contrib.auth import get_user_model
from django.db import transaction

from annotation.formats.study_bundle import StudyBundle
from annotation.models import (
    AdjudicationDecision,
    Assignment,
    Dataset,
    GuidelineVersion,
    ItemGold,
    Segment,
    SegmentLabel,
    Study,
    StudyItem,
    StudyMember,
    Submission,
    Trace,
)
from annotation.services.datasets import dataset_create
from annotation.services.studies import study_slug
from annotation.services.traces import traces_create
from reasonaudit.lib.canonical import sha256_of
from reasonaudit.lib.chain import record_event
from reasonaudit.lib.errors import UserError

BATCH = 1000


@dataclass(frozen=True, slots=True)
class Restored:
    """The study that was made, and how much came with it."""

    study: Study
    labels: int
    decisions: int


def study_restore(
    bundle: StudyBundle,
    *,
    by: Any,
    people: Mapping[str, str] | None = None,
    name: str = "",
    dataset: str = "",
    source_sha256: str = "",
) -> Restored:
    """Store a study that was read from an export, all of it or nothing.

    Parameters
    ----------
    bundle
        From `annotation.formats.study_bundle.read`.
    by
        Who imports it.
    people
        Pseudonym -> user name, for people who have an account here. The others keep their pseudonym and have no
        account: their work is there, and nobody can log in as them.
    name, dataset
        Names of the study and its new data set; those of the export by default.
    source_sha256
        Of the export's manifest, for the record.

    Raises
    ------
    UserError
        An account that does not exist, a person the export does not know, or a name that is taken.
    """
    users = _users(bundle, people or {})
    with transaction.atomic():
        study = _study(bundle, by, name, dataset)
        guidelines = _guidelines(bundle, study)
        members = _members(bundle, study, users)
        items, segments = _items(bundle, study, by)
        assignments = _assignments(bundle, items, members)
        labels = _labels(bundle, assignments, segments, guidelines)
        _submissions(bundle, assignments, segments)
        decisions = _decisions(bundle, items, segments, guidelines, users)
        record_event(
            stream=f"study:{study.pk}",
            actor=by,
            action="study.import",
            subject_type="study",
            subject_id=study.pk,
            data={"source_sha256": source_sha256, "labels": labels, "decisions": decisions},
        )
    return Restored(study, labels, decisions)


def _users(bundle: StudyBundle, people: Mapping[str, str]) -> dict[str, Any]:
    """User by pseudonym, for those who are named."""
    known = {row["pseudonym"] for row in bundle.rows["members.jsonl"]}
    if strangers := sorted(set(people) - known):
        raise UserError(
            "unknown_person",
            f"The export knows nobody called {strangers[0]!r}.",
            f"Its people are {', '.join(sorted(known)) or 'none'}.",
            fields={"people": f"Unknown: {', '.join(strangers)}."},
        )
    users = {
        user.get_username(): user for user in get_user_model().objects.filter(username__in=people.values())
    }
    if missing := sorted({username for username in people.values() if username not in users}):
        raise UserError(
            "unknown_account",
            f"There is no account {missing[0]!r} here.",
            "Make the account first, or leave this person without one. Nothing was imported.",
            fields={"people": f"No account: {', '.join(missing)}."},
        )
    if len(set(people.values())) != len(people):
        raise UserError(
            "account_twice",
            "One account is named for two people.",
            "Give each person an account of their own.",
        )
    return {pseudonym: users[username] for pseudonym, username in people.items()}


def _study(bundle: StudyBundle, by: Any, name: str, dataset: str) -> Study:
    row = bundle.study
    wanted = name.strip() or row["name"]
    if Study.objects.filter(name=wanted).exists():
        raise UserError(
            "study_name_taken",
            f"There is a study called {wanted!r} already.",
            "Give the imported study another name. Nothing was imported.",
            status=409,
            fields={"name": "This name is taken."},
        )
    source = row["dataset"]
    made = dataset_create(
        name=dataset.strip() or source["name"],
        by=by,
        **{
            key: source[key] for key in ("description", "licence", "attribution", "invented") if key in source
        },
    )
    settings = (
        "description",
        "stage",
        "blinding",
        "overlap",
        "in_order",
        "training_pass",
        "recheck_percent",
        "seed",
    )
    return Study.objects.create(
        name=wanted,
        slug=study_slug(wanted),
        dataset=made,
        created_by=by,
        **{key: row[key] for key in settings if key in row},
    )


def _guidelines(bundle: StudyBundle, study: Study) -> dict[int, GuidelineVersion]:
    rows = [
        GuidelineVersion(study=study, **{**row, "published_at": _moment(row["published_at"])})
        for row in bundle.rows["guidelines.jsonl"]
    ]
    return {row.number: row for row in GuidelineVersion.objects.bulk_create(rows)}


def _members(bundle: StudyBundle, study: Study, users: Mapping[str, Any]) -> dict[str, StudyMember]:
    rows = [
        StudyMember(
            study=study,
            user=users.get(row["pseudonym"]),
            **{**row, "qualified_at": _moment(row.get("qualified_at"))},
        )
        for row in bundle.rows["members.jsonl"]
    ]
    return {row.pseudonym: row for row in StudyMember.objects.bulk_create(rows)}


Places = dict[tuple[int, int], Segment]


def _items(bundle: StudyBundle, study: Study, by: Any) -> tuple[dict[int, StudyItem], Places]:
    """Traces, items and expected labels; items by number, segments by item number and index."""
    rows = bundle.rows["items.jsonl"]
    # Ids made unique for the file get the case in front; the data set wants the trace's own.
    records = [bundle.traces[row["trace"]] for row in rows]
    own = [replace(record, id=record.id.removeprefix(f"{record.case_id}/")) for record in records]
    try:
        traces = traces_create(dataset=study.dataset, records=own, segmenter="", by=by)
    except ValueError as error:
        raise UserError("import_conflict", f"Nothing was imported: {error}", status=409) from error
    _pin(study.dataset, traces, [row["segmentation"] for row in rows])
    items = StudyItem.objects.bulk_create(
        StudyItem(
            study=study,
            trace=trace,
            segmentation=row["segmentation"],
            kind=row["kind"],
            number=row["number"],
            overlap=row.get("overlap"),
        )
        for row, trace in zip(rows, traces, strict=True)
    )
    numbers = {item.trace_id: item.number for item in items}
    segments = {
        (numbers[segment.trace_id], segment.index): segment
        for segment in Segment.objects.filter(trace__in=traces)
    }
    by_number = {item.number: item for item in items}
    ItemGold.objects.bulk_create(
        ItemGold(
            item=by_number[row["number"]],
            segment=segments[row["number"], gold["index"]],
            label=gold["label"],
            note=gold.get("note", ""),
        )
        for row in rows
        for gold in row.get("gold", ())
    )
    return by_number, segments


def _pin(dataset: Dataset, traces: list[Trace], segmentations: list[int]) -> None:
    """Number the segmentations as in the export."""
    for number in sorted(set(segmentations) - {1}):
        wanted = [trace.pk for trace, given in zip(traces, segmentations, strict=True) if given == number]
        Trace.objects.filter(pk__in=wanted).update(segmentation=number)
        Segment.objects.filter(trace__in=wanted).update(segmentation=number)


def _assignments(
    bundle: StudyBundle, items: Mapping[int, StudyItem], members: Mapping[str, StudyMember]
) -> dict[tuple[int, str], Assignment]:
    times = ("opened_at", "submitted_at", "revealed_at")
    rows = bundle.rows["assignments.jsonl"]
    made = Assignment.objects.bulk_create(
        [
            Assignment(
                **{
                    **row,
                    "item": items[row["item"]],
                    "member": members[row["member"]],
                    **{name: _moment(row.get(name)) for name in times},
                }
            )
            for row in rows
        ],
        batch_size=BATCH,
    )
    return {(row["item"], row["member"]): one for row, one in zip(rows, made, strict=True)}


def _labels(
    bundle: StudyBundle,
    assignments: Mapping[tuple[int, str], Assignment],
    segments: Places,
    guidelines: Mapping[int, GuidelineVersion],
) -> int:
    rows = bundle.rows["labels.jsonl"]
    plain = (
        "round",
        "version",
        "cannot_judge",
        "reasons",
        "comment",
        "spans",
        "flagged",
        "active_ms",
        "unblinded",
    )
    made = SegmentLabel.objects.bulk_create(
        [
            SegmentLabel(
                assignment=assignments[row["item"], row["member"]],
                segment=segments[row["item"], row["index"]],
                label=row["label"] or "",
                guideline=guidelines[row["guideline"]],
                first_label_at=_moment(row.get("first_label_at")),
                reason=row.get("reason", ""),
                **{name: row[name] for name in plain if name in row},
            )
            for row in rows
        ],
        batch_size=BATCH,
    )
    # The time of the last save is the source's, not that of this import.
    dated = [one for one, row in zip(made, rows, strict=True) if row.get("saved_at")]
    for one, row in zip(made, rows, strict=True):
        one.updated_at = _moment(row.get("saved_at")) or one.updated_at
    SegmentLabel.objects.bulk_update(dated, ["updated_at"], batch_size=BATCH)
    return len(made)


def _submissions(
    bundle: StudyBundle, assignments: Mapping[tuple[int, str], Assignment], segments: Places
) -> None:
    made = []
    for row in bundle.rows["submissions.jsonl"]:
        labels = [{"segment": segments[row["item"], one["index"]].pk, **one} for one in row["labels"]]
        made.append(
            Submission(
                assignment=assignments[row["item"], row["member"]],
                number=row["number"],
                labels=labels,
                labels_sha256=sha256_of(labels),
                submitted_at=_time(row["submitted_at"]),
                recalled_at=_moment(row.get("recalled_at")),
            )
        )
    Submission.objects.bulk_create(made, batch_size=BATCH)


def _decisions(
    bundle: StudyBundle,
    items: Mapping[int, StudyItem],
    segments: Places,
    guidelines: Mapping[int, GuidelineVersion],
    users: Mapping[str, Any],
) -> int:
    plain = ("number", "version", "label", "reasons", "note", "matches", "after_audit", "reason")
    made = AdjudicationDecision.objects.bulk_create(
        [
            AdjudicationDecision(
                item=items[row["item"]],
                segment=segments[row["item"], row["index"]],
                adjudicator=users.get(row["adjudicator"]),
                pseudonym=row["adjudicator"],
                guideline=guidelines[row["guideline"]],
                decided_at=_moment(row.get("decided_at")),
                **{name: row[name] for name in plain if name in row},
            )
            for row in bundle.rows["decisions.jsonl"]
        ],
        batch_size=BATCH,
    )
    return len(made)


def _moment(text: str | None) -> datetime | None:
    return _time(text) if text else None


def _time(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise UserError(
            "bad_time", f"{text[:40]!r} is no time.", "Times are written as in 2026-01-31T12:00:00+00:00."
        ) from None
