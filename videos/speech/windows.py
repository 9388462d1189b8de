"""Cutting sound into windows where nobody speaks, so that a cut goes through no word.

Choice, in words: a window is as long as allowed, less what brings its end to the quietest 50 ms of its last part.
"""

import numpy as np
from numpy.typing import NDArray

from videos.speech.protocol import RATE

LONGEST = 120 * RATE
"""Samples of a window: what a stopped run loses at most."""
SEARCHED = 15 * RATE
BLOCK = RATE // 20


def window_end(
    samples: NDArray[np.int16], start: int, longest: int = LONGEST, searched: int = SEARCHED
) -> int:
    """Return the sample before which the window that begins at `start` ends.

    Parameters
    ----------
    samples
        All of the sound, shape (n,).
    longest, searched
        Most samples of a window, and how many at its end are searched for a quiet place; at least `BLOCK` each.
    """
    if len(samples) - start <= longest:
        return len(samples)
    first = start + longest - searched
    blocks = searched // BLOCK
    part = samples[first : first + blocks * BLOCK].astype(np.float64).reshape(blocks, BLOCK)
    quietest = int(np.argmin((part**2).sum(axis=1)))
    return first + quietest * BLOCK + BLOCK // 2
