"""The parts of a question's distances as bytes: exact, and about half the size where arrays are symmetric."""

import struct
import zlib

import numpy as np
from numpy.typing import NDArray

from auditing.core.grapheval.distance import DistanceParts

MAGIC = b"GEP1"
NAMES = ("node_cost", "edge_cost", "nged", "terminal")
_HEADER = struct.Struct("<4sIB")  # mark, N, whether only the upper triangle is kept
MOST_CHAINS = 10_000
LEVEL = 6


def pack(parts: DistanceParts | None) -> bytes:
    """Return the arrays of N chains as bytes; none for None.

    A header of 9 bytes, then zlib of little-endian float64: the four arrays one after the other, of each the upper
    triangle with its diagonal, row by row, or all of it should one of them not be symmetric.
    """
    if parts is None:
        return b""
    arrays = [np.asarray(getattr(parts, name), dtype="<f8") for name in NAMES]
    n = len(arrays[0])
    triangle = all(np.array_equal(array, array.T) for array in arrays)
    kept = [array[np.triu_indices(n)] if triangle else array.ravel() for array in arrays]
    return _HEADER.pack(MAGIC, n, triangle) + zlib.compress(np.concatenate(kept).tobytes(), LEVEL)


def unpack(content: bytes | memoryview) -> DistanceParts | None:
    """Return what `pack` was given.

    Raises
    ------
    ValueError
        If the bytes were not made by `pack`, or are damaged.
    """
    data = bytes(content)
    if not data:
        return None
    try:
        mark, n, triangle = _HEADER.unpack_from(data)
        if mark != MAGIC or n > MOST_CHAINS:
            raise ValueError("another mark or size")
        each = n * (n + 1) // 2 if triangle else n * n
        reader = zlib.decompressobj()
        raw = reader.decompress(data[_HEADER.size :], len(NAMES) * each * 8 + 1)
        if len(raw) != len(NAMES) * each * 8 or not reader.eof:
            raise ValueError("another length")
    except (struct.error, zlib.error, ValueError) as error:
        raise ValueError(
            "The stored parts of the distances are damaged; score the question again."
        ) from error
    rows = np.frombuffer(raw, dtype="<f8").reshape(len(NAMES), each)
    arrays: dict[str, NDArray[np.float64]] = {}
    for name, row in zip(NAMES, rows, strict=True):
        array = np.zeros((n, n))
        if triangle:
            above = np.triu_indices(n)
            array[above] = row
            array.T[above] = row
        else:
            array[:] = row.reshape(n, n)
        arrays[name] = array
    return DistanceParts(**arrays)
