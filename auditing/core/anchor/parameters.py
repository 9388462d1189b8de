"""Every choice of a benchmark in one value: which cues and which reference count first, and how things are joined.

Paper: "ANCHOR: Audio-Visually Grounded Chain-of-Thought Reasoning Benchmark", sections 3.3 and 4.1 and appendix A. The
defaults are the paper's; where it is open they are the choices that `difficulty`, `panel` and `grounding` explain.
"""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from auditing.core.anchor.difficulty import DifficultyRule
from auditing.core.estimates import RESAMPLES
from auditing.core.grounding import MATCH_FROM

SETTINGS = ("full", "no_boxes", "no_video", "no_audio")
MOST_ROLLOUTS = 1_000
MOST_RESAMPLES = 10_000
"""A table of 1,000 items holds 8 bytes for each item and resample: 80 MB."""

LARGEST_SEED = 2**31 - 1

_SOURCE = re.compile(r"[a-z0-9][a-z0-9_-]{0,79}")


@dataclass(frozen=True, slots=True)
class BenchmarkParameters:
    """Choices of a benchmark.

    A value of another type is refused, too: parameters come from pages, files and the command line.

    Attributes
    ----------
    setting : str
        Of the answers that panel, references and grounding are about; one of `SETTINGS`.
    reference : str
        Source of the references that count where one is needed; items without it have none. See `is_source`.
    match_from : float
        IoU from which a pair of boxes counts, above 0 to 1.
    pictures : int
        That are sampled from a clip for a model, 0 to 64.
    rollouts_each : int
        Bare answers of each model for the difficulty; with the models they make up `rule.rollouts`.
    rule : DifficultyRule
        The difficulty.
    seed, resamples : int
        Of every bootstrap; 0 to 2**31 - 1, and 10 to 10,000.
    """

    setting: str = "full"
    reference: str = "human"
    match_from: float = MATCH_FROM
    pictures: int = 16
    rollouts_each: int = 4
    rule: DifficultyRule = field(default_factory=DifficultyRule)
    seed: int = 0
    resamples: int = RESAMPLES

    def __post_init__(self) -> None:
        if not isinstance(self.rule, DifficultyRule):
            raise ValueError(f"The rule of the difficulty cannot be {self.rule!r:.80}.")
        _check_types(self, {entry.name: getattr(self, entry.name) for entry in fields(self)})
        _check_types(self.rule, asdict(self.rule))
        if self.setting not in SETTINGS:
            raise ValueError(f"The cues must be one of {', '.join(SETTINGS)}, not {self.setting!r}.")
        if not is_source(self.reference):
            raise ValueError(
                f"{self.reference[:80]!r} cannot name a source of references. Use up to 80 small letters, digits, "
                "hyphens and underscores."
            )
        if not 0 < self.match_from <= 1:
            raise ValueError(
                f"The IoU from which boxes match must be above 0 and at most 1, not {self.match_from!r}."
            )
        if not 0 <= self.pictures <= 64:
            raise ValueError(f"The number of pictures must be from 0 to 64, not {self.pictures!r}.")
        if self.rule.rollouts > MOST_ROLLOUTS:
            raise ValueError(f"There can be at most {MOST_ROLLOUTS:,} rollouts, not {self.rule.rollouts:,}.")
        if not 1 <= self.rollouts_each <= self.rule.rollouts or self.rule.rollouts % self.rollouts_each:
            raise ValueError(
                f"{self.rollouts_each!r} answers of each model do not make up {self.rule.rollouts} rollouts."
            )
        if not 10 <= self.resamples <= MOST_RESAMPLES:
            raise ValueError(f"The resamples must be from 10 to {MOST_RESAMPLES:,}, not {self.resamples!r}.")
        if not 0 <= self.seed <= LARGEST_SEED:
            raise ValueError(f"The seed must be from 0 to {LARGEST_SEED:,}, not {self.seed!r}.")

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters as JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "BenchmarkParameters":
        """Read what `to_dict` wrote; what is missing has its default.

        Raises
        ------
        ValueError
            An unknown name or a value that is not possible.
        """
        _check_types(cls, values)
        given = dict(values)
        if "rule" in given:
            if not isinstance(given["rule"], Mapping):
                raise ValueError(f"The rule of the difficulty must be an object, not {given['rule']!r:.80}.")
            _check_types(DifficultyRule, given["rule"])
            given["rule"] = DifficultyRule(**given["rule"])
        return cls(**given)


def is_source(text: str) -> bool:
    """Whether a text can name a source of references: up to 80 small letters, digits, hyphens and underscores."""
    return _SOURCE.fullmatch(text) is not None


def _check_types(of: Any, values: Mapping[str, Any]) -> None:
    """Refuse names that a class has not, and values of another type than its default; true and false are no numbers."""
    usual_of = {entry.name: entry.default for entry in fields(of)}
    for name, value in values.items():
        if name not in usual_of:
            raise ValueError(
                f"There is no parameter {str(name)[:80]!r}; known are {', '.join(sorted(usual_of))}."
            )
        usual = usual_of[name]
        if isinstance(usual, str) and not isinstance(value, str):
            raise ValueError(f"{name} must be a text, not {value!r:.80}.")
        if isinstance(usual, int | float) and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise ValueError(f"{name} must be a number, not {value!r:.80}.")
        if isinstance(usual, int) and not isinstance(value, int):
            raise ValueError(f"{name} must be a whole number, not {value!r:.80}.")
