"""Speed and drift of each physician over sessions, by pseudonym, and how hidden gold items went.

A session is a run of first labels with no gap of more than half an hour. Charts and limits are those of
`auditing.core.drift`; an alarm is a reason to look, never to refuse work (trust list, AG-12).
"""

from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from auditing.core.drift import MINIMUM_MS, MINIMUM_SESSIONS, Session, annotator_drift
from auditing.core.estimates import wilson_share
from auditing.core.takeaways import pace_takeaway

from .cells import Cells
from .material import Material, Person

SESSION_GAP = timedelta(minutes=30)


def pace_panel(found: Material, cells: Cells) -> dict[str, Any]:
    """Charts per person who has labels. Where nobody has enough sessions for limits, `missing` says so."""
    everybody = (_person(found, person, cells) for person in found.people)
    people = [one for one in everybody if one is not None]
    judged = [one for one in people if one["judged"]]
    timed = [one for one in people if one["sessions"]]
    return {
        "title": pace_takeaway([one["person"] for one in judged if one["drifting"]], len(judged), len(timed)),
        "empty": "" if people else "no_labels",
        "missing": "" if judged else _missing(people),
        "minimum_ms": MINIMUM_MS,
        "people": people,
    }


def _missing(people: list[dict[str, Any]]) -> str:
    most = max((len(one["sessions"]) for one in people), default=0)
    needs = f"Limits need {MINIMUM_SESSIONS} sessions of one person"
    if not most:
        return f"{needs}, and no label has a time: times come from labels that are made in the app."
    return f"{needs}; the most that anybody has is {most}. Until then the figures stand without limits."


def sessions_of(found: Material, person: Person) -> list[list[int]]:
    """Places of the person's labels, cut where the person paused."""
    timed: list[tuple[datetime, int]] = [
        (moment, place)
        for place, moment in enumerate(found.first_at[person.pk])
        if moment is not None and found.labels[person.pk][place] is not None
    ]
    sessions: list[list[int]] = []
    last: datetime | None = None
    for moment, place in sorted(timed):
        if last is None or moment - last > SESSION_GAP:
            sessions.append([])
        sessions[-1].append(place)
        last = moment
    return sessions


def _person(found: Material, person: Person, cells: Cells) -> dict[str, Any] | None:
    labels = found.labels[person.pk]
    if all(label is None for label in labels):
        return None
    groups = sessions_of(found, person)
    sessions = []
    for number, places in enumerate(groups, start=1):
        own = [label for place in places if (label := labels[place]) is not None]
        agreed, compared = _with_others(found, person, places)
        sessions.append(
            Session(
                label=str(number),
                active_ms=[one.active_ms for one in own],
                labels=[one.label for one in own if one.label is not None],
                agreed=agreed,
                compared=compared,
            )
        )
    drift = annotator_drift(sessions)
    times = [time for session in sessions for time in session.active_ms]
    fast = [
        place
        for places in groups
        for place in places
        if (label := labels[place]) is not None and label.active_ms < MINIMUM_MS
    ]
    right, checked = found.gold_checks.get(person.pk, (0, 0))
    moments = [found.first_at[person.pk][places[0]] for places in groups]
    return {
        "person": person.words,
        "pseudonym": person.pseudonym,
        "labels": sum(label is not None for label in labels),
        "median_ms": _median(times),
        "sessions": [moment.date().isoformat() for moment in moments if moment is not None],
        "charts": [asdict(chart) for chart in drift.charts],
        "judged": any(not chart.undefined_because for chart in drift.charts),
        "drifting": any(chart.drifting for chart in drift.charts),
        "fast": asdict(drift.fast),
        "fast_cell": cells.add(
            f"fast|{person.pseudonym}",
            f"{person.words}: less than {MINIMUM_MS / 1000:g} s of active time",
            fast,
        ),
        "sentences": list(drift.sentences),
        "hidden_gold": asdict(wilson_share(right, checked, "no hidden gold item was labelled")),
    }


def _with_others(found: Material, person: Person, places: list[int]) -> tuple[int, int]:
    """Labels equal to those of other people on the same segments, of how many compared."""
    agreed = compared = 0
    for place in places:
        own = found.labels[person.pk][place]
        for other, labels in found.labels.items():
            theirs = labels[place]
            if (
                other == person.pk
                or own is None
                or own.label is None
                or theirs is None
                or theirs.label is None
            ):
                continue
            compared += 1
            agreed += own.label == theirs.label
    return agreed, compared


def _median(values: list[int]) -> float | None:
    if not values:
        return None
    ordered = sorted(values)
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2
