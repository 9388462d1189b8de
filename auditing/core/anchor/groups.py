"""Scores by difficulty, by category and by who annotated: group means with how many items they rest on.

Paper: "ANCHOR: Audio-Visually Grounded Chain-of-Thought Reasoning Benchmark", Tables 6 and 7 (per facet on the easy,
medium and hard items, and on items annotated by people, by people with AI, and by AI). Choices where the paper is open,
in words:

- An item is in one group. Items without a group form a line of their own, the last one, and are never spread over the
  others.
- A group that is in the order is shown, also without items; other groups follow in alphabetical order.
- An item without a score is in its group, but not in its mean; both numbers are there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from auditing.core.anchor.panel import mean_and_sd, mean_estimate
from auditing.core.estimates import RESAMPLES, Estimate

SOURCES = ("human", "human_ai", "ai")
"""Who annotated an item: people, people with a model's proposals, a model alone."""

NO_GROUP = ""


@dataclass(frozen=True, slots=True)
class GroupMean:
    """Mean of a group with its interval over items, standard deviation (n - 1), and items with and without a value."""

    mean: Estimate
    sd: float | None
    n: int
    missing: int


@dataclass(frozen=True, slots=True)
class GroupRow:
    """One group: its items, and the mean of each column by name; the name is empty for items without a group."""

    group: str
    items: int
    columns: dict[str, GroupMean]


def group_means(
    columns: Mapping[str, Mapping[str, float | None]],
    groups: Mapping[str, str | None],
    order: Sequence[str] = (),
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> list[GroupRow]:
    """Return the mean of every column in every group (Tables 6 and 7).

    Parameters
    ----------
    columns : mapping of name to mapping of item to value
        A column is one score, such as a facet of a model; None where an item has no value.
    groups : mapping of item to group
        All items that are looked at; None or an empty name for an item without a group. A value of an item that is not
        named here is left out.
    order : sequence of str
        Groups in their order; see above for the others.
    seed, resamples : int
        Of the intervals.
    """
    members: dict[str, list[str]] = {group: [] for group in order}
    for item, group in groups.items():
        members.setdefault(group or NO_GROUP, []).append(item)
    rest = sorted(group for group in members if group not in order and group != NO_GROUP)
    last = [NO_GROUP] if NO_GROUP in members and NO_GROUP not in order else []
    return [
        GroupRow(
            group,
            len(members[group]),
            {
                name: _mean([values.get(item) for item in members[group]], seed, resamples)
                for name, values in columns.items()
            },
        )
        for group in [*order, *rest, *last]
    ]


def _mean(values: Sequence[float | None], seed: int, resamples: int) -> GroupMean:
    known = [value for value in values if value is not None]
    found = mean_estimate(known, seed=seed, resamples=resamples)
    return GroupMean(found, mean_and_sd(known)[1], len(known), len(values) - len(known))
