"""What a model still answers when boxes, pictures or sound are taken away.

Paper: "ANCHOR: Audio-Visually Grounded Chain-of-Thought Reasoning Benchmark", section 4 and Table 4 (accuracy in each
setting and its drop against all cues). Choices where the paper is open (spec D6), in words:

- Settings are compared on the items that every setting has a result for; the others are counted for each setting.
- A drop is accuracy with all cues minus accuracy in the setting, in percentage points: positive is worse.
- McNemar's test takes the items that were lost and those that were gained. Its p-values are adjusted for the number of
  settings (Holm) beside the plain ones.
- A cue is needed for an item that is answered with all cues and lost without that one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from auditing.core.anchor.panel import mean_estimate
from auditing.core.comparison import holm
from auditing.core.estimates import RESAMPLES, Estimate, Share, wilson_share
from auditing.core.statistics import McNemarResult, mcnemar

FULL = "full"


@dataclass(frozen=True, slots=True)
class CueSetting:
    """One setting against all cues.

    Attributes
    ----------
    accuracy : float or None
        Percent, 0 to 100; `share` is the same as a proportion with Wilson's interval.
    drop_pp : float or None
        Percentage points below all cues; `drop` is the same with an interval over items.
    lost, gained : int
        Items that only all cues, or only this setting, answer.
    lost_items, gained_items : tuple of str
        Which.
    test : McNemarResult or None
        Of these two counts; None for all cues.
    p_holm : float or None
        Its p-value adjusted for the number of settings.
    missing : int
        Items of any setting that have no result in this one.
    """

    accuracy: float | None
    share: Share
    drop_pp: float | None
    drop: Estimate
    lost: int
    gained: int
    lost_items: tuple[str, ...]
    gained_items: tuple[str, ...]
    test: McNemarResult | None
    p_holm: float | None
    missing: int


@dataclass(frozen=True, slots=True)
class CueAblation:
    """All settings on their common items.

    Attributes
    ----------
    n : int
        Items with a result in every setting.
    excluded : int
        The others.
    settings : dict of str to CueSetting
        In the order given.
    items : tuple of str
        The common items, in the order in which all cues name them.
    """

    n: int
    excluded: int
    settings: dict[str, CueSetting]
    items: tuple[str, ...]


def cue_ablation(
    correct: Mapping[str, Mapping[str, bool | int | None]],
    *,
    full: str = FULL,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> CueAblation:
    """Compare settings item by item (Table 4).

    Parameters
    ----------
    correct : mapping of setting to mapping of item to result
        True or 1 for a correct answer, False or 0 for a wrong one, None where there is none.
    full : str
        The setting with all cues.
    seed, resamples : int
        Of the interval of a drop.

    Raises
    ------
    ValueError
        If the setting with all cues is missing, or a result is neither of the two.
    """
    if full not in correct:
        raise ValueError(f"There is no setting {full!r} to compare with.")
    results = {name: _results(name, items) for name, items in correct.items()}
    every = list(dict.fromkeys(item for items in (correct[full], *correct.values()) for item in items))
    common = [item for item in every if all(item in items for items in results.values())]
    whole = results[full]
    tests: dict[str, McNemarResult] = {}
    changed: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}
    for name, items in results.items():
        lost = tuple(item for item in common if whole[item] and not items[item])
        gained = tuple(item for item in common if items[item] and not whole[item])
        changed[name] = lost, gained
        if name != full:
            tests[name] = mcnemar(len(lost), len(gained))
    adjusted = dict(zip(tests, holm([test.p if common else None for test in tests.values()]), strict=True))
    settings = {}
    for name, items in results.items():
        lost, gained = changed[name]
        hits, n = sum(items[item] for item in common), len(common)
        drops = [100.0 * (whole[item] - items[item]) for item in common]
        settings[name] = CueSetting(
            accuracy=100 * hits / n if n else None,
            share=wilson_share(hits, n, "there is no item with a result in every setting"),
            drop_pp=100 * (sum(whole[item] for item in common) - hits) / n if n else None,
            drop=mean_estimate(drops, seed=seed, resamples=resamples),
            lost=len(lost),
            gained=len(gained),
            lost_items=lost,
            gained_items=gained,
            test=tests.get(name),
            p_holm=adjusted.get(name),
            missing=len(every) - len(items),
        )
    return CueAblation(len(common), len(every) - len(common), settings, tuple(common))


def needed_cues(found: CueAblation, without: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Return, for each common item, the cues that were needed to answer it.

    Parameters
    ----------
    found : CueAblation
        The comparison.
    without : mapping of setting to cue
        The cue that a setting takes away; settings that are not named here are left out.
    """
    lost = {cue: set(found.settings[setting].lost_items) for setting, cue in _known(found, without)}
    return {item: tuple(cue for cue, items in lost.items() if item in items) for item in found.items}


def _known(found: CueAblation, without: Mapping[str, str]) -> Sequence[tuple[str, str]]:
    return [(setting, cue) for setting, cue in without.items() if setting in found.settings]


def _results(name: str, items: Mapping[str, bool | int | None]) -> dict[str, bool]:
    for item, value in items.items():
        if value is not None and value not in (0, 1):
            raise ValueError(f"{name}: the result of {item} is {value!r}; it must be true, false or missing.")
    return {item: bool(value) for item, value in items.items() if value is not None}
