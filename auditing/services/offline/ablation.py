"""What another setting would have said: every setting is audited anew from the same labelled relations.

Labelled traces go in, labels and counts come out; no labeller is at hand here, so no setting can cost a
call. A setting that needs relations which nobody labelled (a larger premise set) has to be prepared by
labelling more first: `widened` says how much.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import inf
from typing import Any

from auditing.core.audit_labels import audit
from auditing.core.hypergraph import Hypergraph
from auditing.core.metrics import binary_gold, binary_metrics, failure_modes
from auditing.core.parameters import AuditParameters
from auditing.services.offline.auditing import AuditSettings
from auditing.services.offline.errors import UsageError
from auditing.services.offline.labelling import LabelledTrace

SCHEMA = "reasonaudit.ablation/1"
MAX_SETTINGS = 10_000

DEFAULT_GRID: Mapping[str, tuple[Any, ...]] = {
    "tau": (1, 2, 4, 5, None),
    "gap_op": (">",),
    "gap_enabled": (False,),
    "span_threshold": (1, 2, 3, 5),
    "d_max_threshold": (2, 3, 5, 8),
    "m_max": (1, 2, 3, 4),
    "degraded_rule": ("both_strong",),
    "weak_cluster": ("cluster",),
    "dominance_basis": ("raw",),
    "contradiction_scope": ("singleton", "none"),
    "contradiction_policy": ("record",),
    "contradicted_blocks": (False,),
    "unstable_policy": ("negative",),
}
"""One change at a time: the thresholds around their defaults, and the other choice of every rule."""

UNLIMITED = ("tau", "d_max_threshold", "span_threshold")
_SIZES = ("m_min", "m_max", "context_premises")

Setting = Mapping[str, Any]


def settings_of(
    grid: Mapping[str, Sequence[Any]], base: AuditParameters, *, cross: bool = False
) -> list[dict[str, Any]]:
    """Return the settings of a grid: one change at a time, or every combination.

    Raises
    ------
    UsageError
        If a name or value is no audit parameter, or there are too many settings.
    """
    if cross:
        count = 1
        for values in grid.values():
            count *= len(values)
        if count > MAX_SETTINGS:
            raise UsageError(
                f"The grid has {count:,} settings; at most {MAX_SETTINGS:,} are run. Give fewer values."
            )
        found = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
    else:
        found = [{name: value} for name, values in grid.items() for value in values]
    for name, values in grid.items():
        for value in values:
            _require_known(name, value)
    for setting in found:
        _changed(base, setting)
    return found


def _require_known(name: str, value: object) -> None:
    known = AuditParameters().to_dict()
    if name not in known:
        raise UsageError(f"Unknown audit parameter {name}; known are {', '.join(sorted(known))}.")
    if value is None and name not in UNLIMITED:
        raise UsageError(f"{name} cannot be without a limit; give a value.")


def default_grid(largest: int) -> dict[str, tuple[Any, ...]]:
    """Return the grid with premise sizes below the largest that was labelled."""
    return {**DEFAULT_GRID, "m_max": tuple(size for size in DEFAULT_GRID["m_max"] if size < largest)}


def _changed(parameters: AuditParameters, setting: Setting) -> AuditParameters:
    """Return the parameters with a setting's changes; None means no limit."""
    changes: dict[str, Any] = {name: inf if value is None else value for name, value in setting.items()}
    try:
        return replace(parameters, **changes)
    except ValueError as error:
        raise UsageError(str(error)) from None


def widened(settings: AuditSettings, grid: Sequence[Setting]) -> AuditSettings:
    """Return settings that label everything which any setting of the grid needs."""
    every = [settings.parameters, *(_changed(settings.parameters, setting) for setting in grid)]
    parameters = replace(
        settings.parameters,
        m_min=min(one.m_min for one in every),
        m_max=max(one.m_max for one in every),
        context_premises=any(one.context_premises for one in every),
    )
    return replace(settings, parameters=parameters, order="eager")


@dataclass(slots=True)
class _Trace:
    """A labelled trace, its default labels, and its hypergraph cut to premise sizes that were used before."""

    labelled: LabelledTrace
    cut: dict[tuple[Any, ...], Hypergraph]
    labels: dict[int, tuple[str, int]]


def require_labelled(traces: Sequence[LabelledTrace], grid: Sequence[Setting]) -> None:
    """Refuse settings that need relations which were never asked for.

    Raises
    ------
    UsageError
        That names the setting. Stored relations are all there is, so there every size is allowed.
    """
    for trace in traces:
        if trace.calls and trace.coverage.skipped:
            raise UsageError(
                f"Trace {trace.record.id} was audited with --order lazy, so other settings lack relations. "
                "Audit it with --order eager."
            )
        for setting in grid if trace.calls else ():
            had, wanted = trace.parameters, _changed(trace.parameters, setting)
            if (
                wanted.m_max > had.m_max
                or wanted.m_min < had.m_min
                or (wanted.context_premises and not had.context_premises)
            ):
                raise UsageError(
                    f"Trace {trace.record.id} was audited with premise sets of {had.m_min} to {had.m_max} "
                    f"segments; {dict(setting)} needs more relations. Audit it with larger sets first."
                )


def ablate(traces: Sequence[LabelledTrace], grid: Sequence[Setting]) -> dict[str, Any]:
    """Audit the traces under every setting and compare with the default.

    Parameters
    ----------
    traces
        With all relations that any setting needs; the default of each is its own parameters.
    grid
        Settings as changes to the default.

    Returns
    -------
    dict
        JSON-able: the default's counts, and for each setting its counts, the labels that change (trace,
        segment, from, to), and metrics where gold labels exist.
    """
    prepared = []
    for labelled in traces:
        item = _Trace(labelled, {}, {})
        item.labels = _labels(item, {})
        prepared.append(item)
    results = []
    for setting in grid:
        labels = [_labels(item, setting) for item in prepared]
        changes = [
            {"trace": item.labelled.record.id, "segment": index, "from": old[0], "to": new[index][0]}
            for item, new in zip(prepared, labels, strict=True)
            for index, old in item.labels.items()
            if old[0] != new[index][0]
        ]
        results.append(
            {
                "setting": dict(setting),
                "changed": len(changes),
                **_counts(prepared, labels),
                "changes": changes,
            }
        )
    default = _counts(prepared, [item.labels for item in prepared])
    for result in results:
        result["changed_share"] = result["changed"] / default["segments"] if default["segments"] else None
    return {"schema": SCHEMA, "traces": len(prepared), "default": default, "settings": results}


def _labels(item: _Trace, setting: Setting) -> dict[int, tuple[str, int]]:
    """Return label and binary label of every segment that is not context."""
    context = item.labelled.record.context_segments
    parameters = _changed(item.labelled.parameters, setting)
    if parameters.early_accept < context:
        parameters = replace(parameters, early_accept=context)
    key = tuple(getattr(parameters, name) for name in _SIZES)
    graph = item.cut.get(key)
    if graph is None:
        graph = item.cut[key] = item.labelled.graph.restricted(parameters)
    found = audit(graph, parameters).segments
    return {
        index: (segment.label.lower(), segment.y_hat) for index, segment in found.items() if index > context
    }


def _counts(items: Sequence[_Trace], labels: Sequence[Mapping[int, tuple[str, int]]]) -> dict[str, Any]:
    modes = failure_modes(label.capitalize() for one in labels for label, _ in one.values())
    pairs = list(_judged(items, labels))
    metrics = (
        binary_metrics([gold for gold, _ in pairs], [predicted for _, predicted in pairs]) if pairs else None
    )
    return {
        "segments": modes.n,
        "labels": {label.lower(): count for label, count in modes.counts.items()},
        "metrics": metrics
        and {
            "n": metrics.n,
            "tpr": metrics.tpr,
            "tnr": metrics.tnr,
            "f1_0": metrics.f1_0,
            "balanced_f1": metrics.balanced_f1,
        },
    }


def _judged(
    items: Sequence[_Trace], labels: Sequence[Mapping[int, tuple[str, int]]]
) -> Iterator[tuple[int, int]]:
    for item, one in zip(items, labels, strict=True):
        for index, (_, y_hat) in one.items():
            gold = item.labelled.record.segments[index - 1].gold
            if gold is not None:
                yield binary_gold(gold), y_hat
