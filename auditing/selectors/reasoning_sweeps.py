"""Reading a sweep over alpha, beta and gamma: the values that are asked for, and its rows as tables."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from auditing.selectors.reasoning_charts import FAITHFULNESS
from auditing.selectors.reasoning_tables import value_at
from reasonaudit.lib.errors import UserError

MOST_OF_EACH = 12
HIGHEST = {"alphas": 1.0, "betas": 1.0, "gammas": math.inf}
PLACES = {"gsc_acc": 3, "medoids_unchanged": 2}


def read_values(query: Mapping[str, Any], name: str, usual: Sequence[float]) -> list[float]:
    """Numbers of a sweep as an address writes them, parted by commas or spaces; the usual ones where none are given.

    Raises
    ------
    UserError
        A number cannot be read or is out of range, or there are too many.
    """
    words = str(query.get(name) or "").replace(",", " ").split()
    if not words:
        return list(usual)
    values = []
    for word in words:
        try:
            value = float(word)
        except ValueError:
            value = math.nan
        if not 0 <= value <= HIGHEST[name] or not math.isfinite(value):
            span = "from 0 to 1" if HIGHEST[name] == 1 else "of at least 0"
            raise UserError(
                "bad_sweep",
                f"{name.capitalize()} cannot be used: {word[:40]!r} is no number {span}.",
                "Give numbers parted by commas.",
                fields={name: f"Use numbers {span}."},
            )
        values.append(value)
    values = list(dict.fromkeys(values))
    if len(values) > MOST_OF_EACH:
        raise UserError(
            "bad_sweep",
            f"{len(values)} values of {name} are too many.",
            f"Give at most {MOST_OF_EACH}.",
            fields={name: f"At most {MOST_OF_EACH}."},
        )
    return values


def measures(rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, str, tuple[str, ...]]]:
    """Title, sentence and place of each value that is there for some combination."""
    found: list[tuple[str, str, tuple[str, ...]]] = [
        ("Mean GRCS", "0.33 to 1; high: the chains agree.", ("grcs",)),
    ]
    for kind, words in FAITHFULNESS.items():
        path = ("correlations", kind, "pearson")
        if any(value_at(row, path) is not None for row in rows):
            found.append((f"GRCS with {words[0].lower()}{words[1:]}", "Pearson; negative is better.", path))
    if any(row.get("gsc_acc") is not None for row in rows):
        found.append(
            (
                "Accuracy of the medoid",
                "Share of questions with a gold answer; higher is better.",
                ("gsc_acc",),
            )
        )
    found.append(
        ("Medoids that stay", "Share of questions that keep the medoid of the study.", ("medoids_unchanged",))
    )
    return found


def grid(
    rows: Sequence[Mapping[str, Any]],
    betas: Sequence[float],
    gammas: Sequence[float],
    path: Sequence[str],
    own: tuple[float, float],
) -> list[dict[str, Any]]:
    """One value by beta and gamma, each cell with its place between the lowest and the highest (0 to 1)."""
    values = {(row["beta"], row["gamma"]): value_at(row, path) for row in rows}
    defined = [value for value in values.values() if value is not None]
    low, high = (min(defined), max(defined)) if defined else (0.0, 0.0)
    spread = high - low
    return [
        {
            "beta": beta,
            "cells": [
                {
                    "value": (value := values.get((beta, gamma))),
                    "heat": None if value is None else (value - low) / spread if spread > 0 else 0.0,
                    "own": (beta, gamma) == own,
                }
                for gamma in gammas
            ],
        }
        for beta in betas
    ]


def joined(values: Sequence[float]) -> str:
    """Numbers as an address writes them."""
    return ", ".join(f"{value:g}" for value in values)
