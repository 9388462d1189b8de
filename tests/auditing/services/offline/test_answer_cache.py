"""Labels in a file, whatever happens to the process."""

import pytest

from auditing.core.nli import Label
from auditing.nli.protocol import RelationAnswer
from auditing.services.offline.answer_cache import AnswerCache
from auditing.services.offline.errors import OfflineError

IDENTITY = {"model": "m", "revision": "1"}


def filled(folder, **answers):
    cache = AnswerCache(folder, IDENTITY)
    for key, label in answers.items():
        cache.put(key, RelationAnswer("valid", label, {"neutral": 0.25}))
    cache.close()
    return cache.path


def test_labels_survive(tmp_path):
    filled(tmp_path, a=Label.IMPLIED, b=Label.CONTRADICTION)
    again = AnswerCache(tmp_path, IDENTITY)
    assert again.get("a").label is Label.IMPLIED
    assert again.get("b").probabilities == {"neutral": 0.25}
    assert again.get("c") is None


def test_another_identity_finds_nothing(tmp_path):
    filled(tmp_path, a=Label.IMPLIED)
    assert AnswerCache(tmp_path, {**IDENTITY, "revision": "2"}).get("a") is None


@pytest.mark.parametrize("cut", range(1, 40, 3))
def test_a_line_cut_short_by_a_crash_is_skipped_and_the_next_is_whole(tmp_path, cut):
    path = filled(tmp_path, a=Label.IMPLIED, b=Label.NEUTRAL)
    path.write_bytes(path.read_bytes()[:-cut])
    filled(tmp_path, c=Label.ENTAILMENT)
    again = AnswerCache(tmp_path, IDENTITY)
    assert again.get("a").label is Label.IMPLIED
    assert again.get("b") is None or cut == 1
    assert again.get("c").label is Label.ENTAILMENT


def test_only_valid_answers_are_kept(tmp_path):
    cache = AnswerCache(tmp_path, IDENTITY)
    cache.put("a", RelationAnswer("invalid:not_json", None))
    assert cache.get("a") is None
    assert not cache.path.exists()  # nothing to keep, nothing written


def test_the_first_answer_stays(tmp_path):
    filled(tmp_path, a=Label.IMPLIED)
    filled(tmp_path, a=Label.NEUTRAL)
    assert AnswerCache(tmp_path, IDENTITY).get("a").label is Label.IMPLIED


def test_a_folder_that_is_a_file_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OfflineError, match=r"cache folder .* cannot be used"):
        AnswerCache(tmp_path / "file", IDENTITY).put("a", RelationAnswer("valid", Label.NEUTRAL))
