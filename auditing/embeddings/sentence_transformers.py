"""Any sentence-transformers model as an embedder, such as the paper's Qwen3-Embedding (extra `models`).

Nothing is downloaded: the model is a folder, or a name in the local Hugging Face cache. Texts are embedded one by one,
so that padding beside longer texts cannot change a vector.
"""

import contextlib
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from auditing.embeddings.errors import EmbedderError, ExtraMissing
from auditing.embeddings.in_process import InProcessEmbedder
from auditing.embeddings.protocol import Vectors, no_vectors, unit_rows
from auditing.nli.sequence_model import folder_hash
from videos.proposals import torchvision_ops


class SentenceTransformersEmbedder(InProcessEmbedder):
    """Embeds texts with a sentence-transformers model.

    Parameters
    ----------
    model
        Folder of a saved model, or a name in the local Hugging Face cache.
    device
        torch device, such as ``cpu`` or ``cuda``.

    Raises
    ------
    ExtraMissing
        torch or sentence-transformers are not installed.
    EmbedderError
        The model is not on this machine or cannot be loaded.
    """

    kind = "sentence-transformers"

    def __init__(self, model: str, *, device: str = "cpu") -> None:
        try:
            import torch  # noqa: F401

            # Not needed here, but where it does not fit the installed torch, every model of transformers fails with it.
            with contextlib.suppress(ImportError):
                torchvision_ops.ensure()
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise ExtraMissing(
                f"The embedder sentence-transformers:{model} needs torch and sentence-transformers ({error.name} is "
                "missing). Install them by: make setup-models. The embedder 'minilm' works without them."
            ) from None
        try:
            self._model: Any = SentenceTransformer(model, device=device, local_files_only=True)
        except (OSError, ValueError) as error:
            raise EmbedderError(
                f"The model {model!r} cannot be loaded from this machine ({type(error).__name__}). Give the folder of "
                "a saved sentence-transformers model, or download the model first: nothing is downloaded at run time."
            ) from None
        super().__init__(Path(model).name)
        config = getattr(getattr(self._model[0], "auto_model", None), "config", None)
        self._version = getattr(config, "_commit_hash", None) or folder_hash(Path(model))

    @property
    def version(self) -> str:
        """Commit of the model, or a hash of its folder's files."""
        return self._version

    def encode_now(self, texts: Sequence[str], stop: threading.Event | None = None) -> Vectors:
        """Embed the texts in the calling thread; ends early, with fewer rows, once `stop` is set."""
        rows = []
        for text in texts:
            if stop is not None and stop.is_set():
                break
            rows.append(self._model.encode([text], convert_to_numpy=True, show_progress_bar=False)[0])
        return unit_rows(rows) if rows else no_vectors()
