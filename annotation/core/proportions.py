"""Uncertainty of a share."""

import math

Z95 = 1.959963984540054  # the 0.975 quantile of the standard normal distribution


def wilson_interval(hits: int, total: int, z: float = Z95) -> tuple[float, float]:
    """Return Wilson's score interval of a proportion, within [0, 1].

    Raises
    ------
    ValueError
        If `total` is below 1, or `hits` is not between 0 and `total`.
    """
    if not 0 <= hits <= total or total < 1:
        raise ValueError(f"{hits} of {total} is not a proportion")
    share, spread = hits / total, z * z / total
    centre = (share + spread / 2) / (1 + spread)
    half = z * math.sqrt(share * (1 - share) / total + spread / (4 * total)) / (1 + spread)
    return max(0.0, centre - half), min(1.0, centre + half)
