"""Who labels what, and in which order.

- Training and hidden gold go to everybody, other items to as many people as the study says.
- Whoever has least work gets the next item; draws decide between equals. From nothing, loads differ by at most one.
- Each person has an order of their own: training first, in one order for all, then everything else as drawn.
- Planning again only adds. Work that was begun keeps its place, and so does work that was withdrawn; what was not begun
  moves, so that items added later are not simply the last ones.

Everything follows from the seed and from names inside the study, so the same study gives the same plan (AB-04).
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from annotation.core.draws import draw


@dataclass(frozen=True, slots=True)
class Task:
    """An item: its number, how many people are to label it (None: everybody), and whether it is training."""

    number: int
    wanted: int | None
    training: bool = False


@dataclass(frozen=True, slots=True)
class Held:
    """Work that somebody has already. `begun` work stays where it is; `withdrawn` work no longer counts as load."""

    number: int
    person: str
    position: int
    begun: bool = False
    withdrawn: bool = False


@dataclass(frozen=True, slots=True)
class Placed:
    """Work for a person at a place of the person's order (1-based)."""

    number: int
    person: str
    position: int


@dataclass(frozen=True, slots=True)
class Plan:
    """What planning again changes: new work, work that gets another place, and items with too few people."""

    new: tuple[Placed, ...]
    moved: tuple[Placed, ...]
    short: dict[int, int]


def plan(seed: int, tasks: Sequence[Task], people: Sequence[str], held: Sequence[Held]) -> Plan:
    """Give every item the people it lacks, and every person an order.

    Parameters
    ----------
    seed
        The study's seed.
    tasks
        All items of the study.
    people
        Pseudonyms of those who label now.
    held
        All work that was ever given out, of these and of other people.
    """
    new, short = _shared_out(seed, tasks, people, held)
    training = {task.number for task in tasks if task.training}
    placed, moved = [], []
    for person in people:
        own = [row for row in held if row.person == person]
        fixed = {row.position for row in own if row.begun or row.withdrawn}
        before = {row.number: row.position for row in own if not (row.begun or row.withdrawn)}
        waiting = [*before, *new[person]]
        waiting.sort(
            key=lambda number: (
                (0, number) if number in training else (1, draw(seed, "order", person, number), number)
            )
        )
        position = 0
        for number in waiting:
            position += 1
            while position in fixed:
                position += 1
            row = Placed(number, person, position)
            if number not in before:
                placed.append(row)
            elif before[number] != position:
                moved.append(row)
    return Plan(tuple(placed), tuple(moved), short)


def _shared_out(
    seed: int, tasks: Sequence[Task], people: Sequence[str], held: Sequence[Held]
) -> tuple[dict[str, list[int]], dict[int, int]]:
    """New item numbers by person, and item number -> how many people are missing."""
    known = {task.number: task for task in tasks}
    had: dict[int, set[str]] = defaultdict(set)
    active: dict[int, int] = defaultdict(int)
    load = dict.fromkeys(people, 0)
    for row in held:
        had[row.number].add(row.person)
        if row.withdrawn:
            continue
        active[row.number] += 1
        task = known.get(row.number)
        if row.person in load and task is not None and task.wanted is not None:
            load[row.person] += 1
    new: dict[str, list[int]] = {person: [] for person in people}
    short: dict[int, int] = {}
    for task in sorted(tasks, key=lambda task: (draw(seed, "share", task.number), task.number)):
        free = [person for person in people if person not in had[task.number]]
        if task.wanted is None:
            for person in free:
                new[person].append(task.number)
            continue
        missing = max(0, task.wanted - active[task.number])
        number = task.number
        free.sort(key=lambda person: (load[person], draw(seed, "who", number, person), person))
        for person in free[:missing]:
            new[person].append(number)
            load[person] += 1
        if missing > len(free):
            short[number] = missing - len(free)
    return new, short
