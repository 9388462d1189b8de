"""Windows of sound end where nobody speaks."""

import numpy as np

from videos.speech.protocol import RATE
from videos.speech.windows import BLOCK, window_end


def loud(seconds: float) -> np.ndarray:
    return np.full(round(seconds * RATE), 8000, dtype=np.int16)


def test_a_window_ends_in_the_pause_of_its_last_part() -> None:
    samples = loud(10)
    samples[6 * RATE : 7 * RATE] = 0
    samples[2 * RATE : 3 * RATE] = 0  # quiet too, but far from the end
    end = window_end(samples, 0, longest=8 * RATE, searched=4 * RATE)
    assert 6 * RATE <= end <= 7 * RATE


def test_the_quietest_place_wins_where_it_is_never_still() -> None:
    samples = loud(10)
    samples[round(7.5 * RATE) : round(7.5 * RATE) + BLOCK] = 100
    assert window_end(samples, 0, longest=8 * RATE, searched=4 * RATE) == round(7.5 * RATE) + BLOCK // 2


def test_windows_cover_all_of_the_sound_once() -> None:
    samples = loud(21)
    place, lengths = 0, []
    while place < len(samples):
        end = window_end(samples, place, longest=8 * RATE, searched=4 * RATE)
        assert end > place
        lengths.append(end - place)
        place = end
    assert (place, max(lengths) <= 8 * RATE) == (len(samples), True)


def test_short_sound_is_one_window_and_full_scale_does_not_overflow() -> None:
    assert window_end(loud(8), 0, longest=8 * RATE, searched=4 * RATE) == 8 * RATE
    samples = np.full(10 * RATE, -32768, dtype=np.int16)
    samples[7 * RATE : 7 * RATE + BLOCK] = 0
    assert window_end(samples, 0, longest=8 * RATE, searched=4 * RATE) == 7 * RATE + BLOCK // 2
