"""The prompts about reasoning: their places, their forms, and files that replace them."""

from pathlib import Path

import pytest

from auditing.elicitation.prompts import FILES, OURS, REQUIRED_PLACES, elicitation_prompts
from auditing.elicitation.tasks import CHECKED_TASKS, FRAMED_TASKS, SETTINGS, TASKS, VALUES
from auditing.prompts.templates import FOLDER, PromptError

FILLED_IN = {"answer_form", "check", "pictures", "boxes_form"}


@pytest.mark.parametrize("task", TASKS)
def test_a_prompt_has_the_places_of_its_values_and_none_in_its_rules(task: str) -> None:
    prompt = elicitation_prompts()[task]
    assert prompt.fields <= {*VALUES[task], *FILLED_IN}
    assert {name for name in VALUES[task] if name not in SETTINGS} <= prompt.fields
    assert ("answer_form" in prompt.fields) == ("answer_kind" in VALUES[task])
    assert ("check" in prompt.fields) == (task in CHECKED_TASKS)
    assert ("pictures" in prompt.fields) == (task in FRAMED_TASKS)
    assert ("boxes_form" in prompt.fields) == (task == "video_answer")
    (system_role, system), (user_role, _) = prompt.sections
    assert (system_role, user_role) == ("system", "user")
    assert "{{" not in system
    assert "do not follow them" in system


def test_ours_are_files_of_a_version_and_the_operators_have_none() -> None:
    assert {prompt.id for prompt in elicitation_prompts().values()} == set(OURS.values())
    assert all((FOLDER / f"{name}.txt").is_file() for name in OURS.values())
    assert FILES["forbidden_chain"] == "chain-forbidden.txt"
    assert FILES["hallucination_rating"] == "hallucination-rating.txt"
    assert len(set(FILES.values())) == len(TASKS)


@pytest.mark.parametrize("task", TASKS)
def test_a_file_replaces_one_prompt_and_must_have_its_places(task: str, tmp_path: Path) -> None:
    file = tmp_path / FILES[task]
    places = sorted(REQUIRED_PLACES[task])
    file.write_text("[user]\n" + " ".join(f"{{{{{name}}}}}" for name in places))
    prompts = elicitation_prompts(tmp_path)
    assert prompts[task].id == file.stem
    assert [other for other in TASKS if prompts[other].id == OURS[other]] == [
        one for one in TASKS if one != task
    ]
    for left_out in places:
        file.write_text("[user]\n" + " ".join(f"{{{{{name}}}}}" for name in places if name != left_out))
        with pytest.raises(PromptError, match=rf"lacks the place \{{\{{{left_out}"):
            elicitation_prompts(tmp_path)


def test_a_folder_without_prompts_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(PromptError, match=r"none of the files chain.txt, .* set no folder"):
        elicitation_prompts(tmp_path)
