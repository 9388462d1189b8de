"""Let transformers import torchvision where its compiled part does not fit the installed torch.

The image processors of SAM 3 need torchvision. The wheel of the package index is built for a torch with CUDA; beside
the CPU build of torch its import fails ("operator torchvision::nms does not exist"), and then every transformers
model fails with it. The operators are only *declared* here: what SAM 3 uses of torchvision has a Python version,
and the automatic mask generation, which would need `nms`, is not used.
"""

import sys
from typing import Any

_kept: list[Any] = []  # a library's declarations end with the object


def ensure() -> None:
    """Make `import torchvision` work; call it before anything is imported from transformers.

    Does nothing where a plain import works. Raises ImportError where torch or torchvision are not installed.
    """
    try:
        import torchvision  # noqa: F401
    except RuntimeError as error:
        if "torchvision::" not in str(error):
            raise
        _declare()


def _declare() -> None:
    import torch

    for name in [name for name in sys.modules if name == "torchvision" or name.startswith("torchvision.")]:
        del sys.modules[name]  # half imported
    library = torch.library.Library("torchvision", "FRAGMENT")
    _kept.append(library)
    for operator in ("nms", "qnms"):
        library.define(f"{operator}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    import torchvision  # noqa: F401
