"""Small pictures made on the spot, a reader of real clips, and a tiny SAM 3 with random weights."""

import importlib.util
import json
import os
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import pytest

cv2.setNumThreads(1)  # small pictures on a busy machine: more threads only wait for each other


class Drawn:
    """A frame source of pictures in memory that counts what is read."""

    def __init__(self, pictures: list[np.ndarray]) -> None:
        self.pictures = pictures
        self.height, self.width = pictures[0].shape[:2]
        self.n = len(pictures)
        self.read_most = 0

    def read(self, start: int, stop: int) -> Iterator[tuple[int, np.ndarray]]:
        self.read_most = max(self.read_most, stop - start)
        for number in range(start, min(stop, self.n)):
            yield number, self.pictures[number]


def scene(
    boxes: list[tuple[float, float, float, float] | None], width: int = 160, height: int = 120
) -> list[np.ndarray]:
    """Pictures of a red box with a yellow middle on a noisy grey ground, one picture per box (None: no box)."""
    rng = np.random.default_rng(0)
    ground = np.repeat(rng.integers(70, 130, (height, width, 1), dtype=np.uint8), 3, axis=2)
    pictures = []
    for box in boxes:
        picture = ground.copy()
        if box is not None:
            x, y, w, h = (round(value) for value in box)
            picture[max(y, 0) : y + h, max(x, 0) : x + w] = (200, 30, 30)
            inner = (slice(max(y + h // 4, 0), y + 3 * h // 4), slice(max(x + w // 4, 0), x + 3 * w // 4))
            picture[inner] = (220, 200, 40)
        pictures.append(picture)
    return pictures


needs_sam3 = pytest.mark.skipif(
    not all(importlib.util.find_spec(name) for name in ("torch", "transformers", "torchvision")),
    reason="torch, transformers and torchvision are not installed (extra `models`)",
)


@pytest.fixture(scope="session")
def tiny_sam3(tmp_path_factory) -> Path:
    """A SAM 3 of 4 million random weights in one folder, laid out as the published one is."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    import torch

    from videos.proposals import torchvision_ops

    torchvision_ops.ensure()
    import transformers as t
    from transformers.models.sam3 import configuration_sam3 as s
    from transformers.models.sam3_tracker_video import configuration_sam3_tracker_video as v

    folder = tmp_path_factory.mktemp("models") / "tiny-sam3"
    folder.mkdir()
    torch.set_num_threads(1)  # small layers on a busy machine: more threads only wait for each other
    torch.manual_seed(0)
    wide = 128  # smaller ones fail inside the tracker, whose memory has 64 channels

    def vision():
        backbone = s.Sam3ViTConfig(
            hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2, window_size=4,
            global_attn_indexes=[1], image_size=112, pretrain_image_size=112,
        )  # fmt: skip
        return s.Sam3VisionConfig(
            backbone_config=backbone,
            fpn_hidden_size=wide,
            backbone_feature_sizes=[[32, 32], [16, 16], [8, 8]],
        )

    small = {"hidden_size": wide, "num_attention_heads": 2, "intermediate_size": 64}
    text = t.CLIPTextConfig(
        vocab_size=100, hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=2,
        max_position_embeddings=32, projection_dim=32, bos_token_id=0, eos_token_id=1, pad_token_id=1,
    )  # fmt: skip
    detector = s.Sam3Config(
        vision_config=vision(),
        text_config=text,
        geometry_encoder_config=s.Sam3GeometryEncoderConfig(num_layers=1, **small),
        detr_encoder_config=s.Sam3DETREncoderConfig(num_layers=1, **small),
        detr_decoder_config=s.Sam3DETRDecoderConfig(num_layers=1, num_queries=5, **small),
        mask_decoder_config=s.Sam3MaskDecoderConfig(hidden_size=wide, num_attention_heads=2),
    )
    tracker = v.Sam3TrackerVideoConfig(
        vision_config=vision(),
        prompt_encoder_config=v.Sam3TrackerVideoPromptEncoderConfig(hidden_size=wide, image_size=112),
        mask_decoder_config=v.Sam3TrackerVideoMaskDecoderConfig(
            hidden_size=wide, mlp_dim=64, num_attention_heads=2, iou_head_hidden_dim=32
        ),
        memory_attention_hidden_size=wide, memory_attention_num_layers=1,
        memory_attention_feed_forward_hidden_size=64, memory_attention_rope_feat_sizes=[8, 8],
        memory_encoder_hidden_size=wide, memory_encoder_output_channels=64, mask_downsampler_embed_dim=wide,
        memory_fuser_embed_dim=wide, memory_fuser_intermediate_dim=64, memory_fuser_num_layers=1,
    )  # fmt: skip
    # Random weights are sure of nothing: every object is kept, and at once.
    config = t.Sam3VideoConfig(
        detector_config=detector, tracker_config=tracker, low_res_mask_size=32, score_threshold_detection=0.0,
        new_det_thresh=0.0, hotstart_delay=0, hotstart_unmatch_thresh=0, hotstart_dup_thresh=0, fill_hole_area=0,
        max_num_objects=3,
    )  # fmt: skip
    config.image_size = 112
    network = t.Sam3VideoModel(config)
    with torch.no_grad():  # with random weights every object would be gone from the second picture on
        network.tracker_model.mask_decoder.pred_obj_score_head.proj_out.bias += 10.0
    network.save_pretrained(folder)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["<|startoftext|>", "<|endoftext|>", *letters, *(letter + "</w>" for letter in letters)]
    (folder / "vocab.json").write_text(json.dumps({word: number for number, word in enumerate(words)}))
    (folder / "merges.txt").write_text("#version: 0.2\n")
    tokenizer = t.CLIPTokenizerFast(
        str(folder / "vocab.json"), str(folder / "merges.txt"), model_max_length=32
    )
    size = {"height": 112, "width": 112}
    images = t.Sam3ImageProcessor(size=size, mask_size={"height": 32, "width": 32})
    t.Sam3VideoProcessor(images, t.Sam2VideoVideoProcessor(size=size), tokenizer).save_pretrained(folder)
    return folder
