"""The scripted and replay providers and the folder of replies."""

import gzip
import json
from pathlib import Path

import pytest

from auditing.llm.completion import parse_completion
from auditing.llm.errors import LLMNoReply
from auditing.llm.protocol import ChatReply, ChatRequest, Message
from auditing.llm.providers.replay import Replay
from auditing.llm.providers.scripted import Scripted, ScriptError
from auditing.llm.reply_store import ReplyStore, ReplyStoreError

KEY = "ab" + "0" * 62


def request(premises=("p",), target="t", key=KEY) -> ChatRequest:
    return ChatRequest(
        model="m",
        messages=(Message("user", "u"),),
        key=key,
        inputs={"premises": premises, "target": (target,)},
    )


async def content(provider: Scripted, asked: ChatRequest) -> str:
    return parse_completion((await provider.complete(asked)).body).content


async def test_scripted_exact_relations_come_before_rules_before_default(tmp_path: Path):
    file = tmp_path / "script.json"
    script = {
        "model": "mini",
        "default": "neutral",
        "relations": [{"premises": ["p", "q"], "target": "t", "label": "entailment"}],
        "rules": [
            {"target_has": "t", "premises_have": "q", "label": "implied"},
            {"target_has": "raw", "content": "?"},
        ],
    }
    file.write_text(json.dumps(script))
    provider = Scripted.from_file(file)
    assert provider.name == "mini"
    assert await content(provider, request(("p", "q"))) == '{"label": "entailment"}'
    assert await content(provider, request(("q", "p"))) == '{"label": "implied"}'  # order counts
    assert await content(provider, request(("p",))) == '{"label": "neutral"}'
    assert await content(provider, request(("p",), "raw")) == "?"


async def test_scripted_by_function_may_answer_anything():
    provider = Scripted(lambda asked: asked.inputs["target"][0].upper())
    assert await content(provider, request(target="abc")) == "ABC"


async def test_scripted_hash_uses_all_four_labels_and_repeats(tmp_path: Path):
    file = tmp_path / "script.json"
    file.write_text('{"default": "hash"}')
    provider = Scripted.from_file(file)
    first = [await content(provider, request(target=str(n))) for n in range(60)]
    again = [await content(provider, request(target=str(n))) for n in range(60)]
    assert first == again
    assert len(set(first)) == 4


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "not valid JSON"),
        ("[]", "JSON object"),
        ('{"relations": [{"premises": ["a"]}]}', "relation 1 needs"),
        ('{"rules": [{"target_has": "a"}]}', "rule 1 needs either"),
        ('{"rules": [{"label": "neutral", "content": "x"}]}', "rule 1 needs either"),
    ],
)
def test_scripts_with_faults_are_named(tmp_path: Path, text, sentence):
    file = tmp_path / "script.json"
    file.write_text(text)
    with pytest.raises(ScriptError, match=sentence):
        Scripted.from_file(file)
    with pytest.raises(ScriptError, match="cannot be read"):
        Scripted.from_file(tmp_path / "absent.json")


async def test_rp_04_raw_bytes_survive_the_store_exactly(tmp_path: Path):
    store = ReplyStore(tmp_path / "replies")
    assert store.get(KEY) is None
    reply = ChatReply(b'{"x": "\xff\xfe broken \xc3\xa9"}', "ü".encode(), attempts=3, seconds=1.5)
    store.put(KEY, reply)
    assert store.get(KEY) == reply
    assert await Replay(store).complete(request()) == reply
    document = json.loads(gzip.decompress((tmp_path / "replies" / "ab" / f"{KEY}.json.gz").read_bytes()))
    assert document["schema"] == "reasonaudit.reply/1"
    assert document["parser"] == "completion-1"


async def test_replay_without_the_key_says_so(tmp_path: Path):
    with pytest.raises(LLMNoReply, match="No stored reply for key cd00"):
        await Replay(ReplyStore(tmp_path)).complete(request(key="cd" + "0" * 62))


def test_a_folder_that_is_no_recording_is_named(tmp_path: Path):
    with pytest.raises(ReplyStoreError, match="no recorded replies"):
        ReplyStore(tmp_path).identity()
    (tmp_path / "identity.json").write_text("[")
    with pytest.raises(ReplyStoreError, match="cannot be read"):
        ReplyStore(tmp_path).identity()


@pytest.mark.parametrize(
    "data", [b"", b"no gzip", gzip.compress(b"{}"), gzip.compress(b"[]"), gzip.compress(b"x")[:-4]]
)
def test_a_damaged_reply_is_named_not_used(tmp_path: Path, data):
    path = tmp_path / "ab" / f"{KEY}.json.gz"
    path.parent.mkdir()
    path.write_bytes(data)
    with pytest.raises(ReplyStoreError, match="damaged"):
        ReplyStore(tmp_path).get(KEY)


def test_keys_cannot_leave_the_folder(tmp_path: Path):
    with pytest.raises(ValueError, match="hexadecimal"):
        ReplyStore(tmp_path).get("../../etc/passwd")


def test_no_half_written_file_stays_behind(tmp_path: Path, monkeypatch):
    def broken(source, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", broken)
    with pytest.raises(ReplyStoreError, match="No space left"):
        ReplyStore(tmp_path).put(KEY, ChatReply(b"x", b"y"))
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
