"""Does an annotator change over sessions: control charts of speed, label shares and agreement.

Sources: Shewhart's individuals chart with moving ranges (Montgomery, "Introduction to Statistical Quality
Control", chapters 6 and 7); Cryer and Ryan, J. Qual. Technol. 22 (1990), for the precision of the moving range;
Champ and Jones, Qual. Reliab. Eng. Int. 20 (2004), for limits from the same few points that they judge; Laney,
Qual. Eng. 14 (2002), for shares that vary more than the binomial; Page, Biometrika 41 (1954), and Pettitt, Appl.
Stat. 28 (1979), for a lasting change seen in cumulative sums. Choices, in words:

- A chart raises an alarm by a point outside its limits or by a lasting change: the largest cumulative sum of
  deviations from the mean, against random orders of the same sessions. Each gets half of the chart's chance of
  a false alarm, and the charts of an annotator share `alpha` equally; usual three-sigma limits would alarm on
  nearly everyone in time.
- The moving range estimates the spread from neighbours, so that a slow drift does not widen its own limits.
- Speed is the logarithm of the median active time. Shares are standardised by their binomial spread; their
  limits are never narrower than the binomial ones.
- An alarm is a reason to look, never to refuse work (trust list, AG-12).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from auditing.core.agreement import SCALE
from auditing.core.estimates import Share, wilson_share
from auditing.core.statistics import Floats

MINIMUM_SESSIONS = 5
MINIMUM_MS = 2000
ORDERS = 1999
D2 = 2 / math.sqrt(math.pi)  # mean range of two standard normal values


@dataclass(frozen=True, slots=True)
class Session:
    """One sitting of one annotator.

    Attributes
    ----------
    label : str
        Name on the page, such as a date.
    active_ms : sequence of int
        Active time of each label, in milliseconds.
    labels : sequence of str
        The labels given.
    agreed, compared : int
        Labels equal to those of another rater (or gold), of how many compared.
    """

    label: str
    active_ms: Sequence[int]
    labels: Sequence[str]
    agreed: int = 0
    compared: int = 0


@dataclass(frozen=True, slots=True)
class ChartPoint:
    """A session's value and limits in the unit of the chart; None where the session has no data."""

    session: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    outside: bool


@dataclass(frozen=True, slots=True)
class ControlChart:
    """A series with its centre, its limits, and the p-value of a lasting change.

    `drifting` is True if a point is outside or the change is beyond its limit. Without enough sessions the
    centre, limits and p-value are None and `undefined_because` says why.
    """

    key: str
    title: str
    centre: float | None
    points: tuple[ChartPoint, ...]
    change_p: float | None
    drifting: bool
    undefined_because: str


@dataclass(frozen=True, slots=True)
class Drift:
    """All charts of an annotator, the share of very fast labels, and what stands out, in sentences."""

    charts: tuple[ControlChart, ...]
    fast: Share
    sentences: tuple[str, ...]


def annotator_drift(
    sessions: Sequence[Session],
    *,
    categories: Sequence[str] = SCALE,
    minimum_ms: int = MINIMUM_MS,
    alpha: float = 0.05,
) -> Drift:
    """Chart one annotator's sessions in order of time.

    Parameters
    ----------
    sessions : sequence of Session
        From the first to the last.
    categories : sequence of str
        The full scale.
    minimum_ms : int
        Labels with less active time are counted as fast.
    alpha : float
        Chance of any alarm for an annotator who does not change, 0 to 1.

    Raises
    ------
    ValueError
        If a label is not on the scale or a count is impossible.
    """
    for session in sessions:
        if unknown := set(session.labels) - set(categories):
            raise ValueError(f"Not on the scale {', '.join(categories)}: {', '.join(sorted(unknown))}.")
        if not 0 <= session.agreed <= session.compared or any(time < 0 for time in session.active_ms):
            raise ValueError(f"Session {session.label} has an impossible count or a negative time.")
    each = alpha / (len(categories) + 2)
    totals = [len(session.labels) for session in sessions]
    charts = [_speed_chart(sessions, each)]
    for category in categories:
        hits = [sum(label == category for label in session.labels) for session in sessions]
        charts.append(_share_chart(f"share:{category}", f"Share of {category}", sessions, hits, totals, each))
    agreed, compared = [s.agreed for s in sessions], [s.compared for s in sessions]
    charts.append(_share_chart("agreement", "Agreement with others", sessions, agreed, compared, each))
    times = [time for session in sessions for time in session.active_ms]
    fast = wilson_share(sum(time < minimum_ms for time in times), len(times), "no active time is known")
    return Drift(tuple(charts), fast, tuple(_sentences(charts, fast, minimum_ms)))


def individuals_limits(values: Floats, alpha: float, least_spread: float = 0.0) -> tuple[float, float, float]:
    """Return centre, lower and upper limit of an individuals chart whose points judge themselves.

    Parameters
    ----------
    values : array
        One value per session, at least two.
    alpha : float
        Chance that any of the points of a steady normal series is outside.
    least_spread : float
        The spread is taken to be at least this.
    """
    m = len(values)
    spread = max(float(np.abs(np.diff(values)).mean()) / D2, least_spread)
    # The mean moving range of m values is as precise as a standard deviation with this many degrees of freedom.
    freedom = (m - 1) ** 2 / (2 * (0.8264 * m - 1.082))
    factor = float(stats.t.isf(alpha / (2 * m), freedom)) * math.sqrt((m - 1) / m)
    centre = float(values.mean())
    return centre, centre - factor * spread, centre + factor * spread


def _speed_chart(sessions: Sequence[Session], alpha: float) -> ControlChart:
    medians = [float(np.median(s.active_ms)) if len(s.active_ms) else None for s in sessions]
    counts = [len(session.active_ms) for session in sessions]
    present = [place for place, value in enumerate(medians) if value is not None]
    # A time of 0 ms has no logarithm; it counts as 1 ms.
    logs = np.log([max(value, 1.0) for value in medians if value is not None])
    lows: list[float | None] = [None] * len(sessions)
    highs, centre, change = list(lows), None, None
    because = _too_few(len(present))
    if not because:
        middle, low, high = individuals_limits(logs, alpha / 2)
        centre, change = math.exp(middle), _change(logs)
        for place in present:
            lows[place], highs[place] = math.exp(low), math.exp(high)
    return _chart(
        "speed",
        "Median active time",
        sessions,
        (medians, lows, highs, counts),
        centre,
        change,
        alpha,
        because,
    )


def _share_chart(
    key: str,
    title: str,
    sessions: Sequence[Session],
    hits: Sequence[int],
    totals: Sequence[int],
    alpha: float,
) -> ControlChart:
    present = [place for place, total in enumerate(totals) if total]
    values = [hit / total if total else None for hit, total in zip(hits, totals, strict=True)]
    lows: list[float | None] = [None] * len(sessions)
    highs, centre, change = list(lows), None, None
    because = _too_few(len(present))
    if not because:
        n = np.array([totals[place] for place in present], dtype=np.float64)
        shares = np.array([hits[place] for place in present]) / n
        centre, wide = float(sum(hits) / sum(totals)), 0.0
        binomial = np.sqrt(centre * (1 - centre) / n)
        if 0 < centre < 1:
            deviations = (shares - centre) / binomial
            _, low, high = individuals_limits(deviations, alpha / 2, least_spread=1.0)
            wide, change = (high - low) / 2, _change(deviations)
        for place, half in zip(present, (wide * binomial).tolist(), strict=True):
            lows[place], highs[place] = max(0.0, centre - half), min(1.0, centre + half)
    return _chart(key, title, sessions, (values, lows, highs, list(totals)), centre, change, alpha, because)


Series = tuple[list[float | None], list[float | None], list[float | None], list[int]]


def _chart(
    key: str,
    title: str,
    sessions: Sequence[Session],
    series: Series,
    centre: float | None,
    change: float | None,
    alpha: float,
    because: str,
) -> ControlChart:
    points = []
    for session, value, low, high, n in zip(sessions, *series, strict=True):
        outside = value is not None and low is not None and high is not None and not _within(value, low, high)
        points.append(ChartPoint(session.label, value, low, high, n, outside))
    drifting = any(point.outside for point in points) or (change is not None and change <= alpha / 2)
    return ControlChart(key, title, centre, tuple(points), change, drifting, because)


def _within(value: float, low: float, high: float) -> bool:
    """Tell whether a value is between its limits, which may be rounded in their last digits."""
    slack = 1e-9 * max(abs(low), abs(high), 1e-9)
    return low - slack <= value <= high + slack


def _change(values: Floats) -> float | None:
    """Return the permutation p-value of a lasting change; None for a constant series."""
    if float(np.ptp(values)) == 0:
        return None
    # A fixed seed: the same sessions give the same p-value.
    orders = np.random.default_rng(0).permuted(np.tile(values, (ORDERS, 1)), axis=1)
    largest = np.abs(np.cumsum(orders - values.mean(), axis=1)).max(axis=1)
    seen = float(np.abs(np.cumsum(values - values.mean())).max())
    return float((1 + (largest >= seen - 1e-9).sum()) / (ORDERS + 1))


def _too_few(sessions: int) -> str:
    if sessions >= MINIMUM_SESSIONS:
        return ""
    return f"a chart needs {MINIMUM_SESSIONS} sessions; there are {sessions}"


def _sentences(charts: Sequence[ControlChart], fast: Share, minimum_ms: int) -> list[str]:
    told = []
    for chart in charts:
        outside = [point.session for point in chart.points if point.outside]
        if outside:
            told.append(f"{chart.title} is outside its limits in {', '.join(outside)}.")
        elif chart.drifting:
            told.append(f"{chart.title} {_direction(chart)} from the first sessions to the last.")
    if fast.hits:
        told.append(f"{fast.hits} of {fast.n} labels took less than {minimum_ms / 1000:g} s of active time.")
    return told


def _direction(chart: ControlChart) -> str:
    known = [point.value for point in chart.points if point.value is not None]
    half = len(known) // 2
    return "rises" if sum(known[-half:]) > sum(known[:half]) else "falls"
