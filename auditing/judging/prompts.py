"""Which prompt a judge uses for which domain, ours or the operator's."""

from collections.abc import Mapping
from pathlib import Path

from auditing.prompts.templates import (
    JUDGE_CLINICAL_PROMPT,
    JUDGE_MATHEMATICAL_PROMPT,
    Prompt,
    PromptError,
    load_prompt,
)

REQUIRED_PLACES = frozenset({"case", "previous", "segment"})

# The mathematical wording asks whether a step is correct given a problem and the earlier steps; it names no
# subject, so it serves every problem that is not a clinical case.
KIND_OF_DOMAIN = {"clinical": "clinical", "mathematical": "mathematical", "general": "mathematical"}
OURS = {"clinical": JUDGE_CLINICAL_PROMPT, "mathematical": JUDGE_MATHEMATICAL_PROMPT}


def judge_prompts(folder: str | Path | None = None) -> Mapping[str, Prompt]:
    """Return the prompt of each kind (``clinical``, ``mathematical``).

    Parameters
    ----------
    folder
        Files ``judge-clinical.txt`` and ``judge-mathematical.txt`` in it take the place of ours; one that is
        not there leaves ours in use. They need the places ``{{case}}``, ``{{previous}}`` and ``{{segment}}``;
        ``{{check}}`` is optional: a prompt without it works without check codes.

    Raises
    ------
    PromptError
        A file cannot be used, or the folder has neither file.
    """
    found = {}
    own = {} if not folder else {kind: Path(folder) / f"judge-{kind}.txt" for kind in OURS}
    there = {kind: path for kind, path in own.items() if path.is_file()}
    if folder and not there:
        raise PromptError(
            f"{folder}: neither judge-clinical.txt nor judge-mathematical.txt is in this folder."
        )
    for kind, name in OURS.items():
        found[kind] = load_prompt(there.get(kind, name), required=REQUIRED_PLACES)
    return found
