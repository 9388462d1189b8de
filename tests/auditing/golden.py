"""A hand-made trace with labels worked out by hand.

    S1 context
    S2  {S1} entailment                 -> Supported, tree [2,[1],entailment,[[1]]]
    S3  nothing                         -> Orphan
    S4  {S3} implied, d_min 1           -> Unsupported: S3 has no tree; breakpoint S3
    S5  {S2} implied, d_min 3 >= tau 3  -> Orphan: the gap filter removes it
    S6  {S1,S2} entailment, no singles  -> Supported (conjunctive): S1 and S2 ground
    S7  {S6} entailment, {S1} contradicts -> Contradicted; the search alone says Supported
    S8  {S7} implied, d_min 1           -> Unsupported: S7 is contradicted and blocks; breakpoint S7

Gold: S2, S5, S6 correct; S3, S7 incorrect; S4 uncertain; S8 not judged.
y_hat is 1 for S2 and S6. Positive gold S2, S5, S6: tp 2, fn 1. Negative gold S3, S4, S7: tn 3, fp 0.
TPR 2/3, TNR 1, F1 of class 0 = 2*3/(2*3+1+0) = 6/7, balanced F1 = 2*(2/3)*1/(2/3+1) = 4/5.
"""

import json
from pathlib import Path
from typing import Any

SEGMENTS = (
    ("A boy of six has a deep wound in his foot.", None),
    ("The wound is deep.", "correct"),
    ("He stepped on a rusty nail.", "incorrect"),
    ("Rust means tetanus.", "uncertain"),
    ("The wound needs cleaning.", "correct"),
    ("A boy of six with a deep wound needs a look at his vaccinations.", "correct"),
    ("His foot is fine.", "incorrect"),
    ("He can go home.", None),
)
RELATIONS = (
    ((1,), 2, "entailment"),
    ((3,), 4, "implied"),
    ((2,), 5, "implied"),
    ((1, 2), 6, "entailment"),
    ((6,), 7, "entailment"),
    ((1,), 7, "contradiction"),
    ((7,), 8, "implied"),
)
LABELS = {
    2: "supported",
    3: "orphan",
    4: "unsupported",
    5: "orphan",
    6: "supported",
    7: "contradicted",
    8: "unsupported",
}


def trace(name: str = "wound", domain: str = "clinical") -> dict[str, Any]:
    """Return the trace as a record of the project's own format."""
    return {
        "schema": "reasonaudit.trace/1",
        "id": name,
        "domain": domain,
        "context_segments": 1,
        "segments": [{"text": text, **({"gold": gold} if gold else {})} for text, gold in SEGMENTS],
        "relations": [{"premises": list(p), "target": t, "label": label} for p, t, label in RELATIONS],
    }


def write(path: Path, *traces: dict[str, Any]) -> Path:
    """Write traces as JSON lines."""
    path.write_text("".join(json.dumps(one) + "\n" for one in traces or [trace()]), encoding="utf-8")
    return path
