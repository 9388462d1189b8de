"""SAM 3: the real loading and inference code, on a tiny model with random weights."""

import builtins
import json
import subprocess
import sys

import numpy as np
import pytest

from tests.videos.proposals.conftest import Drawn, needs_sam3, scene
from videos.proposals import sam3
from videos.proposals.protocol import BoxPrompt, Prompt, Proposer, ProposerUnavailable
from videos.proposals.sam3 import Sam3, _extent, _matched

BOX = (20.0, 30.0, 40.0, 30.0)
WAY = [(20.0 + 2 * number, 30.0, 40.0, 30.0) for number in range(11)]


def test_without_weights_it_says_so_and_names_the_way_out():
    with pytest.raises(ProposerUnavailable, match=r"(no weights|needs the package).*'opencv' works without"):
        Sam3(None).propose(Drawn(scene(WAY)), Prompt(boxes=(BoxPrompt(0, "a", BOX),)), start=0, end=5)


def test_without_the_extra_it_says_so(monkeypatch, tmp_path):
    def missing(name):
        raise sam3.importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(sam3.importlib.metadata, "version", missing)
    assert "make setup-models" in Sam3(tmp_path).why_not()


def test_the_module_is_imported_without_torch():
    code = "import sys, videos.proposals.sam3; assert 'torch' not in sys.modules and 'transformers' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_extent_of_a_mask_counts_its_last_pixels():
    mask = np.zeros((10, 12), dtype=bool)
    mask[2:5, 3:9] = True
    assert _extent(mask) == (3, 2, 6, 3)
    assert _extent(np.zeros((4, 4), dtype=bool)) is None


def test_objects_of_two_windows_are_matched_best_first_and_once():
    known = {"1": (0.0, 0.0, 10.0, 10.0), "2": (100.0, 0.0, 10.0, 10.0)}
    found = [
        (7, (1.0, 0.0, 10.0, 10.0), 0.9),
        (8, (0.0, 0.0, 10.0, 10.0), 0.9),
        (9, (50.0, 0.0, 10.0, 10.0), 0.9),
    ]
    assert _matched(found, known) == {8: "1"}


@pytest.fixture(scope="module")
def model(tiny_sam3) -> Sam3:
    return Sam3(tiny_sam3, found=0.0)


@pytest.mark.models
@needs_sam3
def test_drawn_boxes_are_followed_as_one_session_of_transformers_does(model, tiny_sam3):
    """One object from the first picture through one window: the same masks as by hand."""
    import torch
    import transformers as t

    pictures = scene(WAY)
    network = t.Sam3TrackerVideoModel.from_pretrained(tiny_sam3).eval()
    processor = t.Sam3TrackerVideoProcessor.from_pretrained(tiny_sam3)
    session = processor.init_video_session(video=pictures)
    processor.add_inputs_to_inference_session(session, 0, [1], input_boxes=[[[20, 30, 60, 60]]])
    expected = []
    for output in network.propagate_in_video_iterator(session, start_frame_idx=0):
        mask = processor.post_process_masks([output.pred_masks], [[120, 160]])[0][0, 0].numpy()
        score = torch.sigmoid(output.object_score_logits)[0].item()
        rows, columns = np.nonzero(mask)
        low = (columns.min(), rows.min()) if len(rows) else None
        expected.append((output.frame_idx, low, pytest.approx(score, abs=1e-5)))
    found = list(
        model.propose(Drawn(pictures), Prompt(boxes=(BoxPrompt(0, "a", BOX),)), start=0, end=len(pictures))
    )
    assert [(one.frame, one.box and one.box[:2], one.score) for one in found] == expected[1:]


@pytest.mark.models
@needs_sam3
@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_objects_drawn_on_different_pictures_are_all_followed(model, direction):
    """An object that is drawn later (in the way of the run) starts there; the drawn pictures get no proposal."""
    first, second = (0, 6) if direction == "forward" else (10, 4)
    prompt = Prompt(boxes=(BoxPrompt(first, "a", BOX), BoxPrompt(second, "b", (80.0, 60.0, 30.0, 30.0))))
    found = list(model.propose(Drawn(scene(WAY)), prompt, start=0, end=11, direction=direction))
    frames = {name: [one.frame for one in found if one.object_id == name] for name in "ab"}
    if direction == "forward":
        assert frames == {"a": list(range(1, 11)), "b": [7, 8, 9, 10]}
    else:
        assert frames == {"a": list(range(9, -1, -1)), "b": [3, 2, 1, 0]}


@pytest.mark.models
@needs_sam3
@pytest.mark.parametrize("prompt", [Prompt(boxes=(BoxPrompt(0, "a", BOX),)), Prompt(text="ball")])
def test_a_stopped_run_goes_on_as_if_it_was_never_stopped(model, prompt, monkeypatch):
    monkeypatch.setattr(sam3, "WINDOW", 4)
    frames = Drawn(scene(WAY))
    told = []
    whole = list(model.propose(frames, prompt, start=0, end=11, on_progress=told.append))
    assert [(one.done, one.total) for one in told] == [(4, 11), (8, 11), (11, 11)]
    assert frames.read_most <= 4  # memory does not grow with the video
    carry = json.loads(json.dumps(told[0].carry))
    rest = list(model.propose(frames, prompt, start=0, end=11, carry=carry))
    assert rest == [one for one in whole if one.frame >= 4]
    assert rest


@pytest.mark.models
@needs_sam3
def test_a_run_that_is_told_to_stop_ends(model):
    found = model.propose(Drawn(scene(WAY)), Prompt(text="ball"), start=0, end=11, should_stop=lambda: True)
    assert len(list(found)) == 0


@pytest.mark.models
@needs_sam3
def test_objects_of_a_text_in_a_video_and_in_a_picture(model):
    found = list(model.propose(Drawn(scene(WAY)), Prompt(text="red ball"), start=2, end=7))
    assert found
    assert {one.label for one in found} == {"red ball"}
    assert {one.frame for one in found} <= set(range(2, 7))
    for one in found:
        x, y, w, h = one.box
        assert x >= 0
        assert y >= 0
        assert w > 0
        assert h > 0
        assert x + w <= 160
        assert y + h <= 120
    seen = model.detect(scene([BOX])[0], "red ball")
    assert seen
    assert all(0 <= one.score <= 1 for one in seen)


@pytest.mark.models
@needs_sam3
def test_its_version_holds_the_weights_hash(model):
    import hashlib

    version = model.version()
    expected = hashlib.sha256((model._weights / "model.safetensors").read_bytes()).hexdigest()
    assert version["weights"]["model.safetensors"] == expected
    assert isinstance(model, Proposer)


@pytest.mark.models
@needs_sam3
def test_broken_weights_are_refused_with_a_sentence(tmp_path, tiny_sam3):
    (tmp_path / "config.json").write_text((tiny_sam3 / "config.json").read_text())
    (tmp_path / "model.safetensors").write_bytes(b"\x08")
    with pytest.raises(ProposerUnavailable, match="cannot be loaded"):
        list(Sam3(tmp_path).propose(Drawn(scene(WAY)), Prompt(text="ball"), start=0, end=2))


@pytest.mark.models
@needs_sam3
def test_torchvision_is_left_alone_where_it_loads(monkeypatch):
    from videos.proposals import torchvision_ops

    torchvision_ops.ensure()
    monkeypatch.setattr(torchvision_ops, "_declare", lambda: pytest.fail("declared twice"))
    torchvision_ops.ensure()
    assert builtins.__import__("torchvision")
