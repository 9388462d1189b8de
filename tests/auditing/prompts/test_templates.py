"""Prompt files and their loader."""

import hashlib
from pathlib import Path

import pytest

from auditing.prompts.templates import ANSWER_PROMPT, FOLDER, NLI_PROMPT, PromptError, load_prompt


def test_the_nli_prompt_has_its_places_and_defines_the_four_labels():
    prompt = load_prompt(NLI_PROMPT)
    assert prompt.fields == {"premises", "target", "check"}
    assert [role for role, _ in prompt.sections] == ["system", "user"]
    assert prompt.sha256 == hashlib.sha256((FOLDER / "nli-v1.txt").read_bytes()).hexdigest()
    for word in ("entailment", "implied", "neutral", "contradiction"):
        assert f"- {word}: " in prompt.text


def test_the_nli_prompt_names_no_domain():
    text = load_prompt(NLI_PROMPT).text.lower()
    for word in ("patient", "clinic", "medic", "diagnos", "mathemat", "equation", "theorem"):
        assert word not in text


def test_the_answer_prompt_asks_for_the_next_best_step():
    prompt = load_prompt(ANSWER_PROMPT)
    assert prompt.fields == {"case"}
    assert "next best step" in prompt.text


def test_filling_does_not_search_the_values_for_places(tmp_path: Path):
    file = tmp_path / "p.txt"
    file.write_text("[user]\n{{target}} and {{premises}}\n")
    filled = load_prompt(file).fill({"target": "{{premises}}", "premises": r"\1 {{target}}"})
    assert filled == (("user", r"{{premises}} and \1 {{target}}"),)


def test_a_place_without_a_value_is_named():
    with pytest.raises(PromptError, match="no value for premises, target"):
        load_prompt(NLI_PROMPT).fill({"check": ""})


def test_a_file_replaces_the_prompt(tmp_path: Path):
    file = tmp_path / "mine.txt"
    file.write_text("# a note of mine\n[system]\nBe brief.\n[user]\n{{premises}} -> {{target}}\n")
    prompt = load_prompt(file, required=frozenset({"premises", "target"}))
    assert prompt.id == "mine"
    assert prompt.sections == (("system", "Be brief."), ("user", "{{premises}} -> {{target}}"))
    assert load_prompt(str(file)) == prompt


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", r"needs a line \[user\]"),
        (b"{{premises}} {{target}}", r"needs a line \[user\]"),
        (b"[system]\n{{premises}} {{target}}", r"needs a line \[user\]"),
        (b"[user]\n{{premises}}", r"lacks the place \{\{target\}\}"),
        (b"[user]\n\xff", "not UTF-8"),
    ],
)
def test_prompt_files_with_faults_are_named(tmp_path: Path, data, sentence):
    file = tmp_path / "p.txt"
    file.write_bytes(data)
    with pytest.raises(PromptError, match=sentence) as caught:
        load_prompt(file, required=frozenset({"premises", "target"}))
    assert "p.txt" in str(caught.value)


def test_unknown_prompts_list_the_known_ones(tmp_path: Path):
    with pytest.raises(
        PromptError,
        match=r"Known: answer-rating-v1, answer-v1, .*judge-clinical-v1, judge-mathematical-v1, nli-v1",
    ):
        load_prompt("nli-v0")
    with pytest.raises(PromptError, match="cannot be read"):
        load_prompt(tmp_path / "absent.txt")
