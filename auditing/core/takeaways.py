"""Sentences made from the numbers of the results page: what a panel shows, and no more than it shows.

Paper: "Reference-Free Evaluation of Reasoning in Open-Ended Question Answering" (Kohli et al.), section 5, whose
tables the panels repeat. Rules, in words:

- A gain or a loss is called one only where its 95 % interval lies on one side of zero and, if there is a p-value
  adjusted for the number of models, that is below 0.05 too. Everything else is "no clear difference".
- Shares and counts are told as they are, without a claim beyond these data.
- What is undefined is called undefined, with the reason.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from auditing.core.agreement import MEASURES
from auditing.core.estimates import Estimate, Share
from auditing.core.influence import Influence

GAIN, LOSS, NO_CLEAR, UNDEFINED = "gain", "loss", "no_clear", "undefined"
P_LIMIT = 0.05
MOSTLY = 2.0  # orphan and unsupported segments differ when one is at least so many times the other
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True, slots=True)
class Roles:
    """What is known of a model in its two roles; None for a role it does not have."""

    judge_tnr: float | None = None
    labeller_tpr: float | None = None
    verdict: str = ""


def verdict_of(difference: Estimate, p_adjusted: float | None = None) -> str:
    """Return GAIN, LOSS, NO_CLEAR or UNDEFINED for a difference with its interval and adjusted p-value."""
    if difference.value is None:
        return UNDEFINED
    if difference.low is None or difference.high is None:
        return NO_CLEAR
    if p_adjusted is not None and p_adjusted >= P_LIMIT:
        return NO_CLEAR
    if difference.low > 0:
        return GAIN
    return LOSS if difference.high < 0 else NO_CLEAR


def verdict_words(difference: Estimate, p_adjusted: float | None = None) -> str:
    """Return what stands below a difference that shows nothing clear, else an empty string."""
    if verdict_of(difference, p_adjusted) != NO_CLEAR:
        return ""
    if difference.low is None or difference.high is None:
        return f"no clear difference: no interval, because {difference.no_interval_because}"
    if difference.low <= 0 <= difference.high:
        return "no clear difference: the interval includes zero"
    return "no clear difference once corrected for the number of models"


def comparison_takeaway(models: Sequence[Roles]) -> str:
    """Table 1(a): what models do as judges and as relation labellers."""
    judged = [model.judge_tnr for model in models if model.judge_tnr is not None]
    parts = []
    if judged:
        lenient = sum(tnr < 0.5 for tnr in judged)
        who = _of(lenient, len(judged), "model")
        verb = "lets" if lenient == 1 else "let"
        parts.append(
            f"Asked directly, {who} {verb} most problems through"
            if lenient
            else f"Asked directly, {_of(len(judged), len(judged), 'model')} "
            f"{'catches' if len(judged) == 1 else 'catch'} at least half of the problems"
        )
    paired = [model.verdict for model in models if model.verdict]
    doubts = [1 - model.labeller_tpr for model in models if model.labeller_tpr is not None]
    if paired:
        parts.append(_gains(paired))
    elif doubts:
        parts.append(f"Relation labellers doubt {_range(doubts)} of the sound segments")
    if not parts:
        return "Nothing is compared yet: no segment has a reference label and a prediction"
    return ". ".join(parts)


def _gains(verdicts: Sequence[str]) -> str:
    n = len(verdicts)
    gains, losses = verdicts.count(GAIN), verdicts.count(LOSS)
    unclear, undefined = verdicts.count(NO_CLEAR), verdicts.count(UNDEFINED)
    if undefined == n:
        return "The difference between the two roles is undefined"
    who = "As relation labeller" if n == 1 else "As relation labellers"
    if not gains and not losses:
        known = n - undefined
        if known == 1:
            return f"{who}, the model shows no clear difference in balanced F1"
        return f"{who}, none of the {_word(known)} models shows a clear difference in balanced F1"
    told = []
    if gains:
        told.append(f"{_of(gains, n, 'model')} {'gains' if gains == 1 else 'gain'} balanced F1")
    if losses:
        lost = _word(losses) if told else _of(losses, n, "model")
        told.append(f"{lost} {'loses' if losses == 1 else 'lose'}{'' if told else ' balanced F1'}")
    if unclear:
        told.append(f"{_word(unclear)} {'shows' if unclear == 1 else 'show'} no clear difference")
    if undefined:
        told.append(f"for {_word(undefined)} it is undefined")
    return f"{who}, {_list(told)}"


def across_takeaway(
    here: str, there: str, judges: Sequence[tuple[float, float]], labellers: Sequence[tuple[float, float]]
) -> str:
    """Table 1(b): balanced F1 of the same evaluators on two sets, each as `(here, there)`."""
    told = [
        f"{words} reach {_span([a for a, _ in values])} on {here} and {_span([b for _, b in values])} on {there}"
        for words, values in (("direct judges", judges), ("relation labellers", labellers))
        if values
    ]
    if not told:
        return "No evaluator has a balanced F1 on both sets"
    sentence = "; ".join(told)
    return f"Balanced F1: {sentence}"


def failure_takeaway(domains: Mapping[str, Sequence[tuple[int, int]]]) -> str:
    """Table 2: per domain `(orphan, unsupported)` of each relation labeller."""
    told = []
    for domain, counts in domains.items():
        counted = [(orphan, unsupported) for orphan, unsupported in counts if orphan + unsupported]
        if not counted:
            told.append(f"{domain}: no segment fails")
        elif all(orphan >= MOSTLY * unsupported for orphan, unsupported in counted):
            told.append(f"{domain}: segments that fail mostly lack any support")
        elif all(unsupported >= MOSTLY * orphan for orphan, unsupported in counted):
            told.append(f"{domain}: segments that fail mostly rest on broken chains")
        elif all(
            orphan < MOSTLY * unsupported and unsupported < MOSTLY * orphan for orphan, unsupported in counted
        ):
            told.append(f"{domain}: missing support and broken chains are about as common")
        elif len(counted) > 1:
            told.append(f"{domain}: labellers differ in how segments fail")
    return "; ".join(told) or "No audit to show"


def confusion_takeaway(false_trust: int, problematic: int, who: str = "physicians") -> str:
    """How many segments that people did not accept the audit supports."""
    if not problematic:
        return f"There is no audited segment that {who} did not accept"
    if not false_trust:
        return f"The graph supports none of the {problematic:,} segments {who} did not accept"
    return f"The graph supports {false_trust:,} of the {problematic:,} segments {who} did not accept"


def agreement_takeaway(found: Mapping[str, Estimate], raters: int) -> str:
    """Whether people agree, and whether more than by chance, from "raw" and the first kappa that has a value."""
    raw = found["raw"]
    if raw.value is None:
        return f"Agreement is undefined, because {raw.undefined_because}"
    who = f"The {_word(raters)} physicians" if raters > 1 else "Physicians"
    said = f"{who} agree on {_percent(raw.value)} of {raw.n:,} segments"
    if raters > 2:
        said = f"{who} agree in {_percent(raw.value)} of pairs of labels on {raw.n:,} segments"
    keys = ("cohen", "fleiss", "alpha_nominal")
    key = next((key for key in keys if key in found and found[key].value is not None), "")
    if not key:
        because = next((found[key].undefined_because for key in keys if key in found), "it was not computed")
        return f"{said}; whether beyond chance is undefined, because {because}"
    kappa, name = found[key], MEASURES[key].title
    if kappa.low is None or kappa.high is None:
        return f"{said} ({name} {kappa.value:.2f}, no interval, because {kappa.no_interval_because})"
    if kappa.low > 0:
        return f"{said}, more than by chance ({name} {kappa.value:.2f})"
    if kappa.high < 0:
        return f"{said}, less than by chance ({name} {kappa.value:.2f})"
    return f"{said}, not clearly more than by chance: the interval of {name} includes zero"


def influence_takeaway(found: Influence) -> str:
    """How many labels the reveal changed, and whether towards the audit."""
    if not found.changed.n:
        return "Nobody has seen an audit yet, so that its influence is undefined"
    if not found.changed.hits:
        return f"Seeing the audit changed none of {found.changed.n:,} labels"
    said = (
        f"Seeing the audit changed {found.changed.hits:,} of {found.changed.n:,} labels "
        f"({_percent(found.changed.value or 0.0, 1)})"
    )
    return f"{said}, {_direction(found)}"


def _direction(found: Influence) -> str:
    share: Share = found.towards_share
    if share.low is None or share.high is None:
        return "none of them across the line between correct and not correct"
    if share.low > 0.5:
        return f"mostly towards the audit ({found.towards:,} against {found.away:,})"
    if share.high < 0.5:
        return f"mostly away from the audit ({found.away:,} against {found.towards:,})"
    return f"in no clear direction ({found.towards:,} towards the audit, {found.away:,} away)"


def pace_takeaway(drifting: Sequence[str], judged: int, annotators: int) -> str:
    """Who drifts, by pseudonym; `judged` annotators have enough sessions."""
    if not annotators:
        return "No label has a time yet"
    if not judged:
        return "Drift is undefined so far: no physician has enough sessions"
    if not drifting:
        said = f"No drift shows in any of {_word(judged)} physicians" if judged > 1 else "No drift shows"
    else:
        said = f"{_list(list(drifting))} {'stands' if len(drifting) == 1 else 'stand'} out over the sessions"
    missing = annotators - judged
    return said + (
        f"; {_word(missing)} {'has' if missing == 1 else 'have'} too few sessions" if missing else ""
    )


def segments_takeaway(trusted: int, problematic: int, flagged: int | None, judges: int) -> str:
    """What direct judges trust although people did not, and how much of it the audit flags (None: no audit)."""
    if not problematic:
        return "No segment has a problematic reference label"
    if not judges:
        return f"Physicians did not accept {problematic:,} segment{_s(problematic)}; no judge was asked about them"
    said = f"Judges trust {trusted:,} of the {problematic:,} segment{_s(problematic)} physicians did not"
    if not trusted or flagged is None:
        return said
    return f"{said}. The audit flags {flagged:,} of those"


def _word(number: int) -> str:
    return _NUMBERS[number] if 0 <= number < len(_NUMBERS) else f"{number:,}"


def _of(part: int, whole: int, noun: str) -> str:
    if whole == 1:
        return f"the {noun}"
    if part == whole == 2:
        return f"both {noun}s"
    if part == whole:
        return f"all {_word(whole)} {noun}s"
    return f"{_word(part)} of {_word(whole)} {noun}s"


def _s(number: int) -> str:
    return "" if number == 1 else "s"


def _list(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _percent(share: float, places: int = 0) -> str:
    """A share in per cent; 100 and 0 only where they are exact."""
    said = f"{100 * share:.{places}f}"
    if (said == "100" and share < 1) or (said == "0" and share > 0):
        said = f"{100 * share:.1f}"
    if (said == "100.0" and share < 1) or (said == "0.0" and share > 0):
        return "more than 99.9 %" if share > 0.5 else "less than 0.1 %"
    return f"{said} %"


def _range(shares: Sequence[float]) -> str:
    low, high = round(100 * min(shares)), round(100 * max(shares))
    return f"{low} %" if low == high else f"{low} to {high} %"


def _span(values: Sequence[float]) -> str:
    low, high = f"{min(values):.2f}", f"{max(values):.2f}"
    return low if low == high else f"{low} to {high}"
