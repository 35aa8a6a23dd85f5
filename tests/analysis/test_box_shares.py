"""A pixel holds of each part as many cycles as the boxes have there."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rcv_py.analysis.timeline.pixels import Pixels
from rcv_py.analysis.timeline.stack import Parts, box_shares
from rcv_py.model.window import TimeWindow

BOXES = st.lists(st.tuples(st.integers(0, 30), st.integers(1, 40), st.integers(0, 2)), max_size=20)


@given(
    st.lists(BOXES, min_size=1, max_size=3), st.integers(-50, 300), st.integers(1, 400), st.integers(1, 50)
)
def test_shares_are_the_cycles_of_the_boxes(
    drawn: list[list[tuple[int, int, int]]], begin: int, cycles: int, width: int
) -> None:
    pixels = Pixels(TimeWindow(begin, begin + cycles), width)
    boxes, wanted = [], np.zeros((len(drawn), width, 3))
    for row, line in enumerate(drawn):
        time = 0
        for gap, length, part in line:
            boxes.append((row, time + gap, time + gap + length, part))
            time += gap + length
    for row, start, stop, part in boxes:
        for px in range(width):
            low, high = begin + px * cycles / width, begin + (px + 1) * cycles / width
            wanted[row, px, part] += max(0.0, min(high, stop) - max(low, start)) / (high - low)
    columns = np.array(boxes, np.int64).reshape(-1, 4).T
    shares = box_shares(Parts(*columns), (len(drawn), 3), pixels)
    assert shares.shape == wanted.shape
    assert np.abs(shares - 255 * np.cumsum(wanted, axis=2)).max() <= 0.5 + 1e-6
