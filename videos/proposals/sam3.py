"""Propose boxes with SAM 3 through transformers (extra `models`): objects of a text, or drawn boxes followed.

The weights are a folder on this machine (``facebook/sam3`` as saved from the hub); nothing is downloaded. They are
loaded at the first use. Without weights or without the extra, `ProposerUnavailable` says what is missing.

How it is kept from the faults that users of such trackers report:

- *Memory grows with the video.* A session of transformers holds every picture and every output. Here a session
  lives for one window; the next begins with the boxes found last, on the picture on which they were found.
- *Objects drawn on a later picture are lost, or end the run.* A session wants every object on its first picture. So
  a window is cut where somebody drew a box, and every session begins with the boxes of all its objects.
- *Ids change.* Object ids are ours. Objects of a text are matched between windows on the one picture that both see.
- *The whole picture becomes the mask when the object is lost.* Boxes over nine tenths of the picture are flagged,
  and a score below one half or an empty mask is a loss.
"""

import hashlib
import importlib.metadata
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from videos.core.geometry import Box, iou
from videos.proposals import torchvision_ops
from videos.proposals.flags import flags_of
from videos.proposals.protocol import (
    LOST,
    Capabilities,
    Direction,
    FrameSource,
    Picture,
    Progress,
    Prompt,
    Proposed,
    ProposerUnavailable,
    check_request,
    never,
    read_window,
    silent,
    windows,
)

WINDOW = 32
"""Pictures of a session: about 12 MB each as the model's input."""
FOUND = 0.5
"""Score from which an object counts as seen."""
SAME = 0.5
"""Overlap from which an object of two windows is the same."""


@dataclass(frozen=True, slots=True)
class Detected:
    """One object that was found in a single picture."""

    box: Box
    score: float


class Sam3:
    """SAM 3 from a local folder.

    Parameters
    ----------
    weights
        Folder with ``config.json`` and ``model.safetensors``, as `save_pretrained` or the hub lays it out.
    device
        torch device, such as ``cpu`` or ``cuda``.
    found
        Score in [0, 1] from which an object counts as seen.
    """

    name = "sam3"
    capabilities = Capabilities(text=True, box=True, forward=True, backward=True)

    def __init__(self, weights: Path | None, *, device: str = "cpu", found: float = FOUND) -> None:
        self._weights, self._device, self._found = weights, device, found
        self._loaded: dict[str, tuple[Any, Any]] = {}
        self._sums: dict[str, str] | None = None

    def why_not(self) -> str:
        """Return a sentence that says why it cannot work here, empty if it can as far as can be seen quickly."""
        for package in ("torch", "transformers", "torchvision"):
            try:
                importlib.metadata.version(package)
            except importlib.metadata.PackageNotFoundError:
                return (
                    f"SAM 3 needs the package {package}. Whoever runs the program installs it by: make setup-models. "
                    "The tracker 'opencv' works without it."
                )
        if self._weights is None:
            return (
                "SAM 3 has no weights here. Ask for access to facebook/sam3 on the Hugging Face hub, download it to "
                "a folder, and name the folder in the settings. The tracker 'opencv' works without weights."
            )
        if not (self._weights / "config.json").is_file():
            return f"The folder of the SAM 3 weights, {self._weights.name!r}, holds no config.json."
        return ""

    def version(self) -> Mapping[str, Any]:
        """Return everything that decides the boxes; hashes the weights once, which takes some seconds."""
        self._check()
        return {
            "name": self.name,
            "transformers": importlib.metadata.version("transformers"),
            "torch": importlib.metadata.version("torch"),
            "weights": self._hashes(),
            "method": 1,
            "params": {"window": WINDOW, "found": self._found, "same": SAME, "device": self._device},
        }

    def detect(self, picture: Picture, text: str) -> list[Detected]:
        """Return the objects of a text in one picture, best first."""
        torch, model, processor = self._load("Sam3Model", "Sam3Processor")
        inputs = processor(images=picture, text=text, return_tensors="pt").to(self._device)
        with torch.inference_mode():
            outputs = model(**inputs)
        (result,) = processor.post_process_instance_segmentation(
            outputs, threshold=self._found, target_sizes=[picture.shape[:2]]
        )
        found = [
            Detected(_box(*corners), float(score))
            for corners, score in zip(result["boxes"].tolist(), result["scores"].tolist(), strict=True)
        ]
        return sorted(found, key=lambda one: -one.score)

    def propose(
        self,
        frames: FrameSource,
        prompt: Prompt,
        *,
        start: int,
        end: int,
        direction: Direction = "forward",
        should_stop: Callable[[], bool] = never,
        on_progress: Callable[[Progress], None] = silent,
        carry: Mapping[str, Any] | None = None,
    ) -> Iterator[Proposed]:
        """Find the objects of a text, or follow drawn boxes, through [start, end); see `Proposer.propose`."""
        check_request(self.capabilities, self.name, prompt, frames, start, end, direction)
        self._check()
        work = self._follow_text if prompt.text else self._follow_boxes
        return self._run(
            work, frames, prompt, start, end, direction, should_stop, on_progress, dict(carry or {})
        )

    def _run(
        self, work: Callable[..., Iterator[Proposed]], frames: FrameSource, prompt: Prompt, start: int, end: int,
        direction: Direction, should_stop: Callable[[], bool], on_progress: Callable[[Progress], None],
        carry: dict[str, Any],
    ) -> Iterator[Proposed]:  # fmt: skip
        done, objects = int(carry.get("done", 0)), dict(carry.get("objects", {}))
        for number, window in enumerate(windows(start, end, direction, frames.width, frames.height, WINDOW)):
            covered = abs(window[1] - start) if direction == "forward" else end - window[0]
            if covered <= done:
                continue
            pictures: dict[int, Picture] = {}
            for frame, picture in read_window(frames, window, direction):
                if should_stop():
                    return
                pictures[frame] = picture
            previous = None if number == 0 else window[0] - 1 if direction == "forward" else window[1]
            for proposed in work(frames, prompt, pictures, objects, previous):
                yield proposed
                if should_stop():
                    return
            done = covered
            on_progress(Progress(done, end - start, {"done": done, "objects": _copied(objects)}))

    def _follow_boxes(
        self, frames: FrameSource, prompt: Prompt, pictures: Mapping[int, Picture], objects: dict[str, Any],
        previous: int | None,
    ) -> Iterator[Proposed]:  # fmt: skip
        """Follow drawn boxes through one window; `objects` holds, per id, where it was found last."""
        drawn: dict[int, dict[str, Box]] = {}
        for box in prompt.boxes:
            drawn.setdefault(box.frame, {})[box.object_id] = box.box
        order = list(pictures)
        cuts = [place for place, frame in enumerate(order) if frame in drawn]
        for low, high in zip(sorted({0, *cuts}), [*sorted({0, *cuts})[1:], len(order)], strict=True):
            part = order[low:high]
            for name, corners in drawn.get(part[0], {}).items():
                objects[name] = {"frame": part[0], "box": list(corners)}
            # One session for all objects that were last found on the same picture.
            anchors: dict[int, list[str]] = {}
            for name, state in objects.items():
                anchors.setdefault(int(state["frame"]), []).append(name)
            for anchor, names in anchors.items():
                here = pictures.get(anchor)
                if here is None:
                    here = next((picture for _, picture in frames.read(anchor, anchor + 1)), None)
                if here is None:
                    raise ValueError(f"the video gave no picture {anchor}, on which objects were found")
                following = [frame for frame in part if frame != anchor]
                if following:
                    starts = [tuple(objects[name]["box"]) for name in names]
                    yield from self._session(here, names, starts, following, pictures, objects)

    def _session(
        self, anchor: Picture, names: Sequence[str], starts: Sequence[Box], following: Sequence[int],
        pictures: Mapping[int, Picture], objects: dict[str, Any],
    ) -> Iterator[Proposed]:  # fmt: skip
        """Follow the objects of one picture through the pictures `following`, in that order."""
        torch, model, processor = self._load("Sam3TrackerVideoModel", "Sam3TrackerVideoProcessor")
        height, width = anchor.shape[:2]
        video = [anchor, *(pictures[frame] for frame in following)]
        session = processor.init_video_session(
            video=video,
            inference_device=self._device,
            video_storage_device="cpu",
            max_vision_features_cache_size=1,
        )
        processor.add_inputs_to_inference_session(
            inference_session=session,
            frame_idx=0,
            obj_ids=list(range(1, len(names) + 1)),
            input_boxes=[[[x, y, x + w, y + h] for x, y, w, h in starts]],
        )
        before: dict[str, Box] = dict(zip(names, starts, strict=True))
        for output in model.propagate_in_video_iterator(session, start_frame_idx=0):
            if output.frame_idx == 0:  # the boxes that were given
                continue
            frame = following[output.frame_idx - 1]
            (masks,) = processor.post_process_masks([output.pred_masks], [[height, width]])
            scores = torch.sigmoid(output.object_score_logits.float()).reshape(-1).tolist()
            for number, score in zip(output.object_ids, scores, strict=True):
                name = names[number - 1]
                box = _extent(np.asarray(masks[number - 1, 0].cpu()))
                if box is None or score < self._found:
                    yield Proposed(frame, name, None, score, (LOST,))
                    continue
                yield Proposed(frame, name, box, score, tuple(flags_of(box, before.get(name), width, height)))
                before[name] = box
                objects[name] = {"frame": frame, "box": list(box)}

    def _follow_text(
        self, frames: FrameSource, prompt: Prompt, pictures: Mapping[int, Picture], objects: dict[str, Any],
        previous: int | None,
    ) -> Iterator[Proposed]:  # fmt: skip
        """Find and follow the objects of a text in one window. Its ids meet the last window's on one shared picture."""
        torch, model, processor = self._load("Sam3VideoModel", "Sam3VideoProcessor")
        order = list(pictures)
        if not order:
            return
        shared = [] if previous is None else [picture for _, picture in frames.read(previous, previous + 1)]
        session = processor.init_video_session(
            video=[*shared, *pictures.values()],
            inference_device=self._device,
            video_storage_device="cpu",
            max_vision_features_cache_size=1,
        )
        processor.add_text_prompt(session, prompt.text)
        names: dict[int, str] = {}
        before: dict[str, Box] = {}
        taken = len(objects)
        with torch.inference_mode():
            for output in model.propagate_in_video_iterator(session):
                result = processor.postprocess_outputs(session, output)
                # Their boxes end at the middle of the last pixel; ours are taken from the masks.
                extents = [_extent(np.asarray(mask.cpu())) for mask in result["masks"]]
                found = [
                    (int(number), box, float(score))
                    for number, box, score in zip(
                        result["object_ids"].tolist(), extents, result["scores"].tolist(), strict=True
                    )
                    if box is not None
                ]
                if shared and output.frame_idx == 0:
                    names = _matched(found, {name: tuple(state["box"]) for name, state in objects.items()})
                    continue
                frame = order[output.frame_idx - len(shared)]
                for number, box, score in found:
                    if number not in names:
                        taken += 1
                        names[number] = f"{taken}"
                    name = names[number]
                    flags = flags_of(box, before.get(name), frames.width, frames.height)
                    yield Proposed(frame, name, box, min(max(score, 0.0), 1.0), tuple(flags), prompt.text)
                    before[name] = box
                    objects[name] = {"frame": frame, "box": list(box)}

    def _check(self) -> None:
        why = self.why_not()
        if why:
            raise ProposerUnavailable(why)

    def _load(self, model_class: str, processor_class: str) -> tuple[Any, Any, Any]:
        """Return torch, the model and its processor, loaded at the first use."""
        self._check()
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        import torch

        torchvision_ops.ensure()
        import transformers

        if model_class not in self._loaded:
            try:
                model = getattr(transformers, model_class).from_pretrained(
                    self._weights, local_files_only=True
                )
                processor = getattr(transformers, processor_class).from_pretrained(
                    self._weights, local_files_only=True
                )
            except Exception as error:  # a damaged file raises whatever its reader happens to raise
                raise ProposerUnavailable(
                    f"The SAM 3 weights cannot be loaded ({type(error).__name__}: {error}). Download the folder again."
                ) from None
            self._loaded[model_class] = (model.to(self._device).eval(), processor)
        return torch, *self._loaded[model_class]

    def _hashes(self) -> dict[str, str]:
        if self._sums is None:
            folder = self._weights or Path()
            self._sums = {}
            for path in sorted(folder.glob("*")):
                if path.suffix in {".json", ".safetensors", ".txt"}:
                    with path.open("rb") as file:
                        self._sums[path.name] = hashlib.file_digest(file, "sha256").hexdigest()
        return self._sums


def _copied(objects: Mapping[str, Any]) -> dict[str, Any]:
    return {name: {"frame": state["frame"], "box": list(state["box"])} for name, state in objects.items()}


def _box(x0: float, y0: float, x1: float, y1: float) -> Box:
    return float(x0), float(y0), float(x1) - float(x0), float(y1) - float(y0)


def _extent(mask: "np.ndarray[Any, Any]") -> Box | None:
    """Return the box around a mask's pixels, None for an empty one."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not len(rows):
        return None
    return _box(columns[0], rows[0], columns[-1] + 1, rows[-1] + 1)


def _matched(found: Sequence[tuple[int, Box, float]], known: Mapping[str, Box]) -> dict[int, str]:
    """Return the ids of the last window for objects of this one, best overlap first, each used once."""
    pairs = sorted(
        ((iou(box, other), number, name) for number, box, _ in found for name, other in known.items()),
        reverse=True,
    )
    names: dict[int, str] = {}
    for overlap, number, name in pairs:
        if overlap >= SAME and number not in names and name not in names.values():
            names[number] = name
    return names
