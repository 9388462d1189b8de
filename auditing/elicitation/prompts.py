"""Which prompt a task uses, ours or the operator's."""

from collections.abc import Mapping
from pathlib import Path

from auditing.elicitation.tasks import FRAMED_TASKS, SETTINGS, VALUES, Task
from auditing.prompts.templates import (
    ANSWER_RATING_PROMPT,
    BRIEF_ANSWER_PROMPT,
    CHAIN_PROMPT,
    CORRECTNESS_PROMPT,
    COUNTERFACTUAL_PROMPT,
    DECOMPOSITION_PROMPT,
    DIFFICULTY_PROMPT,
    DIVERGENCE_RATING_PROMPT,
    EARLY_ANSWER_PROMPT,
    EDITED_ANSWER_PROMPT,
    FACTS_PROMPT,
    FORBIDDEN_CHAIN_PROMPT,
    HALLUCINATION_RATING_PROMPT,
    SOUNDNESS_PROMPT,
    TAXONOMY_PROMPT,
    VIDEO_ANSWER_PROMPT,
    Prompt,
    PromptError,
    load_prompt,
)

OURS: Mapping[Task, str] = {
    "chain": CHAIN_PROMPT,
    "forbidden_chain": FORBIDDEN_CHAIN_PROMPT,
    "facts": FACTS_PROMPT,
    "early_answer": EARLY_ANSWER_PROMPT,
    "counterfactual": COUNTERFACTUAL_PROMPT,
    "edited_answer": EDITED_ANSWER_PROMPT,
    "soundness": SOUNDNESS_PROMPT,
    "decomposition": DECOMPOSITION_PROMPT,
    "video_answer": VIDEO_ANSWER_PROMPT,
    "brief_answer": BRIEF_ANSWER_PROMPT,
    "answer_rating": ANSWER_RATING_PROMPT,
    "hallucination_rating": HALLUCINATION_RATING_PROMPT,
    "divergence_rating": DIVERGENCE_RATING_PROMPT,
    "difficulty": DIFFICULTY_PROMPT,
    "correctness": CORRECTNESS_PROMPT,
    "taxonomy": TAXONOMY_PROMPT,
}
FILES: Mapping[Task, str] = {task: f"{name.removesuffix('-v1')}.txt" for task, name in OURS.items()}

# Without the options or the steps, say, a model would be asked something else than the study records.
_OPTIONAL = frozenset({*SETTINGS, "gold", "analysis"}) - {"index", "count"}
REQUIRED_PLACES: Mapping[Task, frozenset[str]] = {
    task: frozenset(names) - _OPTIONAL | (frozenset({"pictures"}) if task in FRAMED_TASKS else frozenset())
    for task, names in VALUES.items()
}


def elicitation_prompts(folder: str | Path | None = None) -> Mapping[Task, Prompt]:
    """Return the prompt of each task.

    Parameters
    ----------
    folder
        Files named as in `FILES` (``chain.txt``, ``chain-forbidden.txt``, ``facts.txt`` ...) take the place of ours;
        those that are not there leave ours in use. `REQUIRED_PLACES` says which places each needs. Optional are
        ``{{answer_form}}`` (how the answer is to be written), ``{{min_steps}}``, ``{{max_steps}}``, ``{{gold}}``,
        ``{{duration}}`` (of the clip), ``{{boxes_form}}`` (how boxes are to be written, where pictures are shown),
        ``{{analysis}}``, and ``{{check}}``: without that one, a judge's reply needs no check code.

    Raises
    ------
    PromptError
        A file cannot be used, or the folder has none of them.
    """
    own = {} if not folder else {task: Path(folder) / name for task, name in FILES.items()}
    there = {task: path for task, path in own.items() if path.is_file()}
    if folder and not there:
        raise PromptError(
            f"{folder}: none of the files {', '.join(FILES.values())} is in this folder. "
            "Put at least one there, or set no folder."
        )
    return {
        task: load_prompt(there.get(task, name), required=REQUIRED_PLACES[task])
        for task, name in OURS.items()
    }
