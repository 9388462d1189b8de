"""Who labels what, and in which order.

- Training and hidden gold go to everybody, other items to as many people as the study says.
- Items of one group (the questions about one clip) go to the same people and stay together in their orders. An item
  without a group is one of its own.
- The largest groups are shared out first, each to whoever has least work; draws decide between equals. From nothing,
  loads differ by at most the largest group: by at most one where nothing is grouped.
- A person who has a part of a group gets the rest of it, whatever the load. An item that is taken off somebody goes
  alone; the others of its group stay where they are.
- Each person has an order of their own: training first, in one order for all, then what belongs to groups that were
  begun, then everything else as drawn.
- Planning again only adds. Work that was begun keeps its place, and so does work that was withdrawn; what was not begun
  moves, so that items added later are not simply the last ones.

Everything follows from the seed and from names inside the study, so the same study gives the same plan (AB-04).
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from annotation.core.draws import draw


@dataclass(frozen=True, slots=True)
class Task:
    """An item: its number, how many people are to label it (None: everybody), whether it is training, and its group.

    `group` is a name inside the study, "" for an item on its own.
    """

    number: int
    wanted: int | None
    training: bool = False
    group: str = ""

    @property
    def together(self) -> int | str:
        """What it is shared out with: its group, or its own number."""
        return self.group or self.number


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
    groups = {task.number: task.together for task in tasks}
    owned: dict[str, list[Held]] = defaultdict(list)
    for given in held:
        owned[given.person].append(given)
    placed, moved = [], []
    for person in people:
        own = owned[person]
        fixed = {row.position for row in own if row.begun or row.withdrawn}
        before = {row.number: row.position for row in own if not (row.begun or row.withdrawn)}
        begun = {groups.get(row.number) for row in own if row.begun and not row.withdrawn}
        waiting = _in_order(seed, person, [*before, *new[person]], training, groups, begun)
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


def _in_order(
    seed: int,
    person: str,
    numbers: Sequence[int],
    training: Collection[int],
    groups: Mapping[int, int | str],
    begun: Collection[int | str | None],
) -> list[int]:
    """What waits for a person, as drawn for the person; groups stay together."""
    first = {group: draw(seed, "order", person, group) for group in {groups.get(n, n) for n in numbers}}

    def key(number: int) -> tuple[int, int, str, int, int]:
        if number in training:
            return (0, 0, "", 0, number)
        group = groups.get(number, number)
        inside = draw(seed, "order", person, number)
        return (1 if group in begun else 2, first[group], str(group), inside, number)

    return sorted(numbers, key=key)


def _shared_out(
    seed: int, tasks: Sequence[Task], people: Sequence[str], held: Sequence[Held]
) -> tuple[dict[str, list[int]], dict[int, int]]:
    """New item numbers by person, and item number -> how many people are missing."""
    known = {task.number: task for task in tasks}
    had: dict[int, set[str]] = defaultdict(set)
    now: dict[int, set[str]] = defaultdict(set)
    load = dict.fromkeys(people, 0)
    for row in held:
        had[row.number].add(row.person)
        if row.withdrawn:
            continue
        now[row.number].add(row.person)
        task = known.get(row.number)
        if row.person in load and task is not None and task.wanted is not None:
            load[row.person] += 1
    new: dict[str, list[int]] = {person: [] for person in people}
    short: dict[int, int] = {}
    groups: dict[int | str, list[Task]] = defaultdict(list)
    for task in tasks:
        if task.wanted is not None:
            groups[task.together].append(task)
            continue
        for person in people:
            if person not in had[task.number]:
                new[person].append(task.number)
    for group, members in sorted(
        groups.items(), key=lambda one: (-len(one[1]), draw(seed, "share", one[0]), str(one[0]))
    ):
        parts = Counter(person for task in members for person in now[task.number])
        ranked = sorted(people, key=lambda one: (-parts[one], load[one], draw(seed, "who", group, one), one))
        for task in sorted(members, key=lambda task: task.number):
            missing = max(0, (task.wanted or 0) - len(now[task.number]))
            free = [person for person in ranked if person not in had[task.number]][:missing]
            for person in free:
                new[person].append(task.number)
                load[person] += 1
            if missing > len(free):
                short[task.number] = missing - len(free)
    return new, short
