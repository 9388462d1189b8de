"""AB-01, the flagship: before handing in, a person can obtain no bit of what must be hidden.

Two worlds are built that differ in hidden values only: the other person's labels, comments, progress and decisions,
expected labels and which items have them, imported gold, the reference impression, audits, judges, the author of the
trace, the study's seed. Everything that the person can ask for is asked for in both, over every route of the
project; the answers must be the same to the byte (status, headers, body), but for tokens and clocks. A second test
plants canary strings in every hidden field.
"""

import re
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from django.test import Client

from annotation.models import (
    Assignment,
    Case,
    Segment,
    Study,
    StudyItem,
    StudyMember,
    Trace,
)
from auditing.models import AuditResult, AuditRun, SegmentAudit
from tests.annotation import factories
from tests.trust.worlds import crawl, first_difference, seen

HIDDEN_KINDS = ("main", "gold")


@dataclass(frozen=True)
class World:
    """Hidden values of one world."""

    label: str
    comment: str
    handed_in: bool
    gold_item: int
    expected: str
    imported: str
    reference: str
    generator: str
    audit: str
    seed: int
    flagged: bool


LEFT = World(
    label="correct",
    comment="",
    handed_in=False,
    gold_item=0,
    expected="correct",
    imported="correct",
    reference="Short.",
    generator="model-a",
    audit="supported",
    seed=11,
    flagged=False,
)
RIGHT = World(
    label="incorrect",
    comment="A much longer comment, because lengths must not show either. " * 9,
    handed_in=True,
    gold_item=1,
    expected="incorrect",
    imported="uncertain",
    reference="A reference impression of quite another length, with a diagnosis in it.",
    generator="another-model-with-a-long-name",
    audit="orphan",
    seed=987654321,
    flagged=True,
)


def build(world: World, *, blinding: str = "reveal") -> dict[str, Any]:
    """A study with two physicians; the first has begun, the second is as the world says."""
    data = factories.dataset("Data")
    study = factories.study(data, name="Study", seed=world.seed, blinding=blinding)
    factories.member(study, part="lead", pseudonym="L1")
    adjudicator = factories.member(study, part="adjudicator", pseudonym="J1")
    mine = factories.member(study, factories.user(username="first"), pseudonym="P1")
    other = factories.member(study, factories.user(username="second"), pseudonym="P2")
    items = []
    for number in range(3):
        trace = factories.trace(into=data, segments=4, generator=world.generator)
        Case.objects.filter(pk=trace.case_id).update(
            external_id=f"case-{number}",
            title=f"Case {number}",
            reference=world.reference,
            context=f"Context {number}",
        )
        Trace.objects.filter(pk=trace.pk).update(external_id=f"trace-{number}")
        for segment in Segment.objects.filter(trace=trace):
            is_context = segment.index == 1
            Segment.objects.filter(pk=segment.pk).update(
                text=f"Text {number} {segment.index}",
                gold="" if is_context else world.imported,
                gold_note="" if is_context else world.comment,
            )
        kind = "gold" if number == world.gold_item else "main"
        expected = {2: world.expected, 3: world.expected} if kind == "gold" else {}
        items.append(factories.item(study, trace, kind=kind, expected=expected))
    for item in items:
        first, second = factories.assignment(item, mine), factories.assignment(item, other)
        if item.number == 1:
            factories.label(first, 2, "correct")
            Assignment.objects.filter(pk=first.pk).update(state="draft")
        if world.handed_in:
            for index in (2, 3, 4):
                factories.label(
                    second, index, world.label, comment=world.comment, flagged=world.flagged, active_ms=777
                )
            factories.submission(second)
            if item.number == 2:
                factories.decision(item, 2, "incorrect", by=adjudicator, note=world.comment)
    _audit(data, items, world)
    _fixed_ids()
    return {"study": study, "mine": mine, "other": other, "items": items}


def _audit(data: Any, items: list[StudyItem], world: World) -> None:
    """A finished run over all traces with the world's labels."""
    run = AuditRun.objects.create(dataset=data, labeller="stored", state="done", name=f"Run {world.audit}")
    for item in items:
        result = AuditResult.objects.create(
            run=run,
            trace=item.trace,
            segmentation=1,
            parameters={},
            relations=[],
            document={"label": world.audit},
            document_sha256="0" * 64,
            labelled=1,
            total=1,
        )
        SegmentAudit.objects.bulk_create(
            SegmentAudit(
                result=result,
                segment=segment,
                index=segment.index,
                label=world.audit,
                search_label=world.audit,
                y_hat=int(world.audit == "supported"),
            )
            for segment in factories.judged_segments(item)
        )


def _fixed_ids() -> None:
    """Random addresses are the same in both worlds: they are drawn independently of anything hidden."""
    for model in (StudyItem, Assignment):
        for row in model.objects.order_by("pk"):
            model.objects.filter(pk=row.pk).update(public_id=uuid.UUID(int=row.pk + (1 << 64)))


def observe(world: World, empty: Callable[[], None], *, blinding: str = "reveal") -> dict[str, Any]:
    """What the first physician can see of a world."""
    empty()
    scene = build(world, blinding=blinding)
    client = Client(raise_request_exception=False)
    client.force_login(scene["mine"].user, backend="django.contrib.auth.backends.ModelBackend")
    return crawl(client, [scene["study"].slug, scene["study"].dataset.slug])


@pytest.mark.parametrize("blinding", ["blind", "reveal"])
def test_ab_01_hidden_values_change_no_byte_of_any_answer(
    same_keys: Callable[[], None], blinding: str
) -> None:
    left, right = (observe(world, same_keys, blinding=blinding) for world in (LEFT, RIGHT))
    assert list(left) == list(right)
    assert any(status == 200 for status, _, _ in left.values())
    different = [address for address in left if left[address] != right[address]]
    assert different == [], "\n".join(
        first_difference(name, left[name], right[name]) for name in different[:5]
    )


CANARY = "zqxcanary"


def test_ab_02_no_hidden_text_stands_in_any_answer(same_keys: Callable[[], None]) -> None:
    world = World(
        label="incorrect",
        comment=f"{CANARY}-comment",
        handed_in=True,
        gold_item=0,
        expected="incorrect",
        imported="incorrect",
        reference=f"{CANARY}-reference",
        generator=f"{CANARY}-model",
        audit="orphan",
        seed=424242424242,
        flagged=True,
    )
    found = observe(world, same_keys)
    leaks = [
        address
        for address, answer in found.items()
        if CANARY in repr(answer) or "424242424242" in repr(answer)
    ]
    assert leaks == []
    other = [address for address, answer in found.items() if re.search(r"\bP2\b|\bsecond\b", answer[2])]
    # The word may stand in a sentence ("a second"); a name of another person may not.
    assert [address for address in other if re.search(r"\bP2\b", found[address][2])] == []


def test_ab_01_the_test_itself_sees_a_difference(same_keys: Callable[[], None]) -> None:
    """A lead sees other bytes in the two worlds, so the comparison is not blind itself."""

    def as_lead(world: World) -> dict[str, Any]:
        same_keys()
        scene = build(world)
        lead = StudyMember.objects.get(study=scene["study"], part="lead")
        client = Client(raise_request_exception=False)
        client.force_login(lead.user, backend="django.contrib.auth.backends.ModelBackend")
        return seen(client.get(f"/studies/{Study.objects.get().slug}/"))

    assert as_lead(LEFT) != as_lead(RIGHT)
