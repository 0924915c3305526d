"""Lines of names all together, by NumPy: for files in which nothing is quoted and nothing is wrong."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

_TAB, _FEED, _RETURN, _BLANK = 9, 10, 13, 32

_Octets = npt.NDArray[np.uint8]
_Places = npt.NDArray[np.int64]

STEPS = 0.01
"""What a byte costs, in steps that Python takes by itself."""


def is_simple(octets: _Octets, quote: int) -> bool:
    """Say whether there is no quote, no byte 0, and no carriage return but before a line feed."""
    returns = np.flatnonzero(octets == _RETURN)
    return not ((octets == quote) | (octets == 0)).any() and bool((octets[returns + 1] == _FEED).all())


def cells(
    octets: _Octets, delimiter: int, strip: bool, out: _Octets, ends: _Places, offsets: _Places
) -> tuple[int, int]:
    """Do as ``cells`` of the kernels does with lines that are simple; return the size of ``out`` and how many names."""
    is_end = octets == _FEED
    marks = np.flatnonzero(is_end | (octets == delimiter))
    begins = np.concatenate([np.zeros(min(1, len(marks)), dtype=np.int64), marks[:-1] + 1])
    stops = marks - (is_end[marks] & (marks > begins) & (octets[marks - 1] == _RETURN))
    if strip:
        begins, stops = _stripped(octets, begins, stops)
    named = stops > begins
    sizes = (stops - begins)[named]
    count, size = len(sizes), int(sizes.sum())
    change = np.zeros(len(octets), dtype=np.int8)  # 1 where a name begins, -1 behind it
    change[begins[named]] = 1
    change[stops[named]] = -1
    out[:size] = octets[np.cumsum(change, dtype=np.int8).view(bool)]
    ends[0] = offsets[0] = 0
    np.cumsum(sizes, out=ends[1 : count + 1])
    names = np.cumsum(named)[is_end[marks]]
    offsets[1 : len(names) + 1] = names
    return size, count


def _stripped(octets: _Octets, begins: _Places, stops: _Places) -> tuple[_Places, _Places]:
    """Return where names begin and stop without the blanks around them."""
    kept = np.flatnonzero((octets != _BLANK) & (octets != _TAB))
    first = kept[np.minimum(np.searchsorted(kept, begins), len(kept) - 1)]  # a line feed is no blank: there is one
    last = kept[np.maximum(np.searchsorted(kept, stops) - 1, 0)] + 1
    return np.minimum(first, stops), np.maximum(np.minimum(last, stops), np.minimum(first, stops))
