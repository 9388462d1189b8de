"""What a rationale says in words, and where it holds that there is nothing usable to see or to hear.

Paper: "ANCHOR: Audio-Visually Grounded Chain-of-Thought Reasoning Benchmark", section 4 (models that get frames and a
transcript claim on 20.9 to 25.3 % of their responses that no usable audio is available) and appendix A (conciseness
from token counts). Choices where the paper is open, in words:

- The text of a rationale is timeframe, description and analysis of both cues, without the names of the fields: these
  are the same everywhere and would make short rationales as long as long ones. A text without any readable cue counts
  as it was written.
- A cue is missing where it has neither description nor analysis.
- A cue claims that nothing is usable where its description (its analysis, if there is none) says so in one of a short
  list of English phrases. That is a count, not a judgement: other words are not found, and a denial of one thing ("no
  sound of an engine") is no such claim.
"""

import re
from collections.abc import Mapping
from typing import Any, Literal

CUES = ("visual", "audio")

CueState = Literal["there", "missing", "none_claimed"]

_QUALITY = (
    r"(?:(?:usable|useful|relevant|discernible|audible|visible|meaningful|significant|clear|specific|available|"
    r"informative|distinct|identifiable|direct|explicit)(?:\s+or\s+|,?\s+))*"
)
_MATTER = r"(?:\s+(?:cues?|information|evidence|track|content|data|signal|stream|input|frames?))?"
_NOUNS = {
    "visual": r"(?:visuals?|pictures?|images?|frames?|videos?|footage)",
    "audio": r"(?:audio|sounds?|soundtrack|acoustics?|auditory)",
}
_NOTHING = re.compile(
    r"^\W*(?:none|nothing|n/?a|silen(?:t|ce)|not\s+(?:available|applicable|provided|given))\W*$"
)
_CLAIMS = {
    cue: re.compile(
        rf"\bno\s+{_QUALITY}{noun}{_MATTER}\s*"
        r"(?:$|[.;,!)]|\b(?:is|are|was|were|has|have|available|provided|present|detected|given|can|could)\b)"
        rf"|\b{noun}{_MATTER}\s+(?:is|are|was|were)\s+(?:not\s+(?:available|usable|provided|accessible|present)|"
        r"unavailable|unusable|missing|absent|inaccessible)\b"
        rf"|\b(?:cannot|can't|could\s+not|couldn't|unable\s+to)\s+(?:hear|see|access|process)\s+(?:\w+\s+){{0,3}}{noun}\b"
    )
    for cue, noun in _NOUNS.items()
}


def rationale_text(cot: Mapping[str, Any] | None, written: str = "") -> str:
    """Return the words of a rationale, without its final answer.

    Parameters
    ----------
    cot : mapping or None
        The reasoning of a document (`videos.core.document`); None where nothing could be read.
    written : str
        The whole text, which counts where no cue has words.
    """
    parts = [
        text
        for cue in CUES
        for text in (
            _text(cot, cue, "timeframe"),
            _text(cot, cue, "description"),
            _text(cot, cue, "analysis"),
        )
        if text
    ]
    return "\n".join(parts) if parts else written.strip()


def cue_state(cot: Mapping[str, Any] | None, cue: str) -> CueState:
    """Return whether a cue is there, is missing, or claims that nothing is usable.

    Parameters
    ----------
    cot : mapping or None
        The reasoning of a document.
    cue : {"visual", "audio"}
        Which.
    """
    said = _text(cot, cue, "description") or _text(cot, cue, "analysis")
    if not said:
        return "missing"
    text = " ".join(said.lower().replace("\u2019", "'").split())
    return "none_claimed" if _NOTHING.match(text) or _CLAIMS[cue].search(text) else "there"


def _text(cot: Mapping[str, Any] | None, cue: str, name: str) -> str:
    found: Any = (cot or {}).get(cue, {}).get(name, "")
    if isinstance(found, Mapping):
        found = found.get("raw", "")
    return str(found).strip()
