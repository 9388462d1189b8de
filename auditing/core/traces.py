"""The reasoning trace that is audited.

Paper: "Reference-Free Evaluation of Reasoning in Open-Ended Question Answering" (Kohli et al.), section
3.1: T = (S1, ..., Sn), S1 is the context, question or problem statement, the rest are generated segments.
Data sets with several given sentences have more than one context segment.
"""

from dataclasses import dataclass

DOMAINS = ("clinical", "mathematical", "general")


@dataclass(frozen=True, slots=True)
class Trace:
    """A trace: its segments, how many of them are context, and gold annotations where they exist.

    Attributes
    ----------
    id : str
        Name of the trace.
    segments : tuple of str
        Texts, context first; segment j of the paper is ``segments[j - 1]``.
    context_segments : int
        Number of leading segments that are given, not generated.
    domain : str
        One of `DOMAINS`.
    gold : tuple of (str or None), optional
        One raw annotation per segment, or None where there is none.

    Raises
    ------
    ValueError
        If there is no segment, a segment is empty, or the counts do not fit.
    """

    id: str
    segments: tuple[str, ...]
    context_segments: int = 1
    domain: str = "general"
    gold: tuple[str | None, ...] | None = None

    def __post_init__(self) -> None:
        """Refuse a trace that cannot be audited."""
        if not self.segments:
            raise ValueError(f"Trace {self.id!r} has no segments; it needs a context segment at least.")
        for index, text in enumerate(self.segments, start=1):
            if not text.strip():
                raise ValueError(f"Trace {self.id!r}: segment {index} is empty; remove it or give it a text.")
        if not 1 <= self.context_segments <= len(self.segments):
            raise ValueError(
                f"Trace {self.id!r}: context_segments is {self.context_segments}; "
                f"it must be between 1 and the number of segments, {len(self.segments)}."
            )
        if self.domain not in DOMAINS:
            raise ValueError(
                f"Trace {self.id!r}: unknown domain {self.domain!r}; use one of {', '.join(DOMAINS)}."
            )
        if self.gold is not None and len(self.gold) != len(self.segments):
            raise ValueError(
                f"Trace {self.id!r}: {len(self.gold)} gold labels for {len(self.segments)} segments."
            )

    @property
    def n(self) -> int:
        """Number of segments, the context included."""
        return len(self.segments)
