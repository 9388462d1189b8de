"""Prompt files: one text file per prompt and version, and the loader that gives their text and hash.

A file has sections that begin with a line ``[system]`` or ``[user]``; ``{{name}}`` marks the places to fill.
A changed text is a new version with a new file name; the hash goes into the manifest and into every cache
key, so even an unversioned edit cannot meet old answers.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
NLI_PROMPT = "nli-v1"
ANSWER_PROMPT = "answer-v1"
JUDGE_CLINICAL_PROMPT = "judge-clinical-v1"
JUDGE_MATHEMATICAL_PROMPT = "judge-mathematical-v1"
TARGET_LABEL_PROMPT = "target-label-v1"
VIDEO_REASONING_PROMPT = "video-reasoning-v1"
CHAIN_PROMPT = "chain-v1"
FORBIDDEN_CHAIN_PROMPT = "chain-forbidden-v1"
FACTS_PROMPT = "facts-v1"
EARLY_ANSWER_PROMPT = "early-answer-v1"
COUNTERFACTUAL_PROMPT = "counterfactual-v1"
EDITED_ANSWER_PROMPT = "edited-answer-v1"
SOUNDNESS_PROMPT = "soundness-v1"
DECOMPOSITION_PROMPT = "decomposition-v1"
VIDEO_ANSWER_PROMPT = "video-answer-v1"
BRIEF_ANSWER_PROMPT = "brief-answer-v1"
ANSWER_RATING_PROMPT = "answer-rating-v1"
HALLUCINATION_RATING_PROMPT = "hallucination-rating-v1"
DIVERGENCE_RATING_PROMPT = "divergence-rating-v1"
DIFFICULTY_PROMPT = "difficulty-v1"
CORRECTNESS_PROMPT = "correctness-v1"
TAXONOMY_PROMPT = "taxonomy-v1"

_SECTION = re.compile(r"^\[(system|user)\][ \t]*$", re.MULTILINE)
_FIELD = re.compile(r"\{\{([a-z_]+)\}\}")


class PromptError(ValueError):
    """A prompt file cannot be used; the message names the file, the fault and the remedy."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt template.

    Attributes
    ----------
    id
        File name without its ending, such as ``nli-v1``.
    text
        The whole file.
    sha256
        Hexadecimal SHA-256 of the file's bytes.
    sections
        Role (``system``, ``user``) and text, in file order.
    """

    id: str
    text: str
    sha256: str
    sections: tuple[tuple[str, str], ...]

    @property
    def fields(self) -> frozenset[str]:
        """Names of the places to fill."""
        return frozenset(name for _, text in self.sections for name in _FIELD.findall(text))

    def fill(self, values: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
        """Return (role, text) with every place filled, in one pass: a value is never searched for places.

        Raises `PromptError` when a place has no value.
        """
        missing = self.fields - values.keys()
        if missing:
            raise PromptError(f"prompt {self.id}: no value for {', '.join(sorted(missing))}")
        return tuple(
            (role, _FIELD.sub(lambda found: values[found.group(1)], text)) for role, text in self.sections
        )


def load_prompt(name_or_path: str | Path, *, required: frozenset[str] = frozenset()) -> Prompt:
    """Return a prompt by its name (``nli-v1``) or by the path of a file that replaces it.

    Parameters
    ----------
    required
        Places that the prompt must have; a prompt without the target, say, would compare nothing.

    Raises
    ------
    PromptError
        The file is missing, not UTF-8, has no [user] section, or lacks a required place.
    """
    path = Path(name_or_path)
    if path.suffix == "" and path.name == str(name_or_path):
        path = FOLDER / f"{name_or_path}.txt"
        if not path.is_file():
            known = ", ".join(sorted(file.stem for file in FOLDER.glob("*.txt")))
            raise PromptError(
                f"There is no prompt {name_or_path!r}. Known: {known}. Or give the path of a .txt file."
            )
    try:
        data = path.read_bytes()
        text = data.decode("utf-8")
    except OSError as error:
        raise PromptError(f"{path}: the prompt file cannot be read ({error.strerror}).") from None
    except UnicodeDecodeError as error:
        raise PromptError(f"{path}: the prompt file is not UTF-8 (byte {error.start}).") from None
    pieces = _SECTION.split(text)
    sections = tuple(
        (role, body.strip("\n"))
        for role, body in zip(pieces[1::2], pieces[2::2], strict=True)
        if body.strip()
    )
    if not any(role == "user" for role, _ in sections):
        raise PromptError(f"{path}: the prompt needs a line [user] followed by the text of the user message.")
    prompt = Prompt(path.stem, text, hashlib.sha256(data).hexdigest(), sections)
    missing = required - prompt.fields
    if missing:
        places = ", ".join("{{" + name + "}}" for name in sorted(missing))
        raise PromptError(f"{path}: the prompt lacks the place {places}.")
    return prompt
