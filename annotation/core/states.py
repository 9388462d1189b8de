"""The states of one person's work on one item, and who may move it from one to the other.

This table is the only place that says so. Services lock the row, ask `check`, write the new state and an event.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """Where an assignment stands. `withdrawn` is a tombstone: nothing is deleted."""

    ASSIGNED = "assigned"
    DRAFT = "draft"
    SUBMITTED = "submitted"
    RETURNED = "returned"
    IN_ADJUDICATION = "in_adjudication"
    ADJUDICATED = "adjudicated"
    RELEASED = "released"
    WITHDRAWN = "withdrawn"


class Part(StrEnum):
    """Who moves an assignment: its owner, the adjudicator, the study's lead, or the software itself."""

    OWNER = "owner"
    ADJUDICATOR = "adjudicator"
    LEAD = "lead"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True)
class Rule:
    """Who may make a move, and whether they must say why."""

    parts: frozenset[Part]
    needs_reason: bool = False


class IllegalMove(Exception):
    """The table has no such move for this person."""


def _rule(*parts: Part, reason: bool = False) -> Rule:
    return Rule(frozenset(parts), reason)


TRANSITIONS: Mapping[tuple[State, State], Rule] = {
    (State.ASSIGNED, State.DRAFT): _rule(Part.OWNER),
    (State.DRAFT, State.SUBMITTED): _rule(Part.OWNER),
    # Taking back what was submitted by mistake, while nobody has picked it up and nothing was revealed.
    (State.SUBMITTED, State.DRAFT): _rule(Part.OWNER),
    (State.SUBMITTED, State.RETURNED): _rule(Part.ADJUDICATOR, Part.LEAD, Part.SYSTEM, reason=True),
    (State.RETURNED, State.DRAFT): _rule(Part.OWNER),
    (State.SUBMITTED, State.IN_ADJUDICATION): _rule(Part.SYSTEM),
    # Everybody agrees, so there is nothing to decide.
    (State.SUBMITTED, State.ADJUDICATED): _rule(Part.SYSTEM),
    (State.IN_ADJUDICATION, State.ADJUDICATED): _rule(Part.ADJUDICATOR, Part.SYSTEM),
    (State.IN_ADJUDICATION, State.RETURNED): _rule(Part.ADJUDICATOR, Part.LEAD, reason=True),
    # The other one's work, when one of two is returned.
    (State.IN_ADJUDICATION, State.SUBMITTED): _rule(Part.SYSTEM),
    # By the software where one more label came in for an item that was settled.
    (State.ADJUDICATED, State.IN_ADJUDICATION): _rule(Part.ADJUDICATOR, Part.LEAD, Part.SYSTEM, reason=True),
    (State.ADJUDICATED, State.RELEASED): _rule(Part.LEAD),
    (State.ASSIGNED, State.WITHDRAWN): _rule(Part.LEAD, reason=True),
    (State.DRAFT, State.WITHDRAWN): _rule(Part.LEAD, reason=True),
    (State.RETURNED, State.WITHDRAWN): _rule(Part.LEAD, reason=True),
    (State.SUBMITTED, State.WITHDRAWN): _rule(Part.LEAD, reason=True),
    (State.WITHDRAWN, State.ASSIGNED): _rule(Part.LEAD, reason=True),
}

# Owners write only in these.
EDITABLE = frozenset({State.ASSIGNED, State.DRAFT, State.RETURNED})
# The owner has handed the work in, whatever became of it afterwards.
HANDED_IN = frozenset({State.SUBMITTED, State.IN_ADJUDICATION, State.ADJUDICATED, State.RELEASED})


def check(current: str, wanted: str, part: Part, reason: str = "") -> None:
    """Raise `IllegalMove`, with a sentence for people, unless `part` may move an assignment so."""
    rule = TRANSITIONS.get((State(current), State(wanted)))
    if rule is None:
        raise IllegalMove(f"Work that is {words(current)} cannot become {words(wanted)}.")
    if part not in rule.parts:
        raise IllegalMove(f"You may not make work that is {words(current)} {words(wanted)}.")
    if rule.needs_reason and not reason.strip():
        raise IllegalMove(f"Say why the work becomes {words(wanted)}.")


def words(state: str) -> str:
    """A state as people read it: "in adjudication"."""
    return State(state).value.replace("_", " ")
