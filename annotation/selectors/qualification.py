"""Whether people judge as experts expect: results on training and on hidden gold items (AG-09, AG-10)."""

from collections.abc import Iterable
from dataclasses import dataclass

from annotation.core.proportions import wilson_interval
from annotation.core.states import HANDED_IN, State
from annotation.models import Assignment, ItemGold, StudyItem, StudyMember, Submission


@dataclass(frozen=True, slots=True)
class Score:
    """How many expected labels a person met.

    `items` are assigned, `handed_in` of them are in; `judged` segments of those have an expected label, `right` of them
    got it. "Cannot judge" is not right. `share` and `interval` (Wilson, 95 %) are None where nothing was judged.
    """

    items: int = 0
    handed_in: int = 0
    judged: int = 0
    right: int = 0

    @property
    def share(self) -> float | None:
        """Right of judged, 0 to 1."""
        return self.right / self.judged if self.judged else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Wilson's interval of the share."""
        return wilson_interval(self.right, self.judged) if self.judged else None


def scores(members: Iterable[StudyMember], kind: str) -> dict[int, Score]:
    """Member pk -> score on the items of a kind (training or gold) that are assigned to the member.

    Training counts the latest submission, so that it can be repeated; hidden gold the first that was not recalled.
    """
    ids = [member.pk for member in members]
    rows = list(
        Assignment.objects.filter(member__in=ids, item__kind=kind)
        .exclude(state=State.WITHDRAWN)
        .values_list("pk", "member", "item", "state")
    )
    expected: dict[int, dict[int, str]] = {}
    items = {item for _pk, _member, item, _state in rows}
    for item, segment, label in ItemGold.objects.filter(item__in=items).values_list(
        "item", "segment", "label"
    ):
        expected.setdefault(item, {})[segment] = label
    order = "number" if kind == StudyItem.Kind.TRAINING else "-number"
    done = [pk for pk, _member, _item, state in rows if State(state) in HANDED_IN]
    said = {
        row.assignment_id: {entry["segment"]: entry["label"] for entry in row.labels}
        for row in Submission.objects.filter(assignment__in=done, recalled_at=None).order_by(order)
    }
    found = {pk: [0, 0, 0, 0] for pk in ids}
    for pk, member, item, _state in rows:
        counts = found[member]
        counts[0] += 1
        if pk in said:
            counts[1] += 1
            for segment, label in expected.get(item, {}).items():
                counts[2] += segment in said[pk]
                counts[3] += said[pk].get(segment) == label
    return {member: Score(*counts) for member, counts in found.items()}
