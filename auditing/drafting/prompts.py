"""Which prompt a draft uses, ours or the operator's."""

from collections.abc import Mapping
from pathlib import Path

from auditing.drafting.protocol import REASONING, TARGET_LABEL
from auditing.prompts.templates import (
    TARGET_LABEL_PROMPT,
    VIDEO_REASONING_PROMPT,
    Prompt,
    PromptError,
    load_prompt,
)

OURS = {TARGET_LABEL: TARGET_LABEL_PROMPT, REASONING: VIDEO_REASONING_PROMPT}
FILES = {TARGET_LABEL: "target-label.txt", REASONING: "video-reasoning.txt"}
REQUIRED_PLACES = {
    TARGET_LABEL: frozenset({"question", "answer", "cues"}),
    REASONING: frozenset({"question", "options", "answer", "transcript", "pictures"}),
}


def draft_prompts(folder: str | Path | None = None) -> Mapping[str, Prompt]:
    """Return the prompt of each kind of draft.

    Parameters
    ----------
    folder
        Files ``target-label.txt`` and ``video-reasoning.txt`` in it take the place of ours; one that is not there
        leaves ours in use. `REQUIRED_PLACES` says which places each needs; ``{{duration}}`` is optional.

    Raises
    ------
    PromptError
        A file cannot be used, or the folder has neither file.
    """
    own = {} if not folder else {kind: Path(folder) / name for kind, name in FILES.items()}
    there = {kind: path for kind, path in own.items() if path.is_file()}
    if folder and not there:
        raise PromptError(f"{folder}: neither {' nor '.join(FILES.values())} is in this folder.")
    return {
        kind: load_prompt(there.get(kind, name), required=REQUIRED_PLACES[kind])
        for kind, name in OURS.items()
    }
