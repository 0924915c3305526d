"""Lines of names, byte by byte: compiled."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.sdk.compiled import compiled

NOTHING, OPEN_QUOTE, AFTER_QUOTE, NUL, LONE_RETURN, NAMELESS = 0, 1, 2, 3, 4, 5
"""What may be wrong with a byte."""


_TAB, _FEED, _RETURN, _BLANK = 9, 10, 13, 32

_Octets = npt.NDArray[np.uint8]
_Places = npt.NDArray[np.int64]


@compiled
def _past_blanks(octets: _Octets, i: int, delimiter: int) -> int:
    while octets[i] != delimiter and (octets[i] == _BLANK or octets[i] == _TAB):
        i += 1
    return i


@compiled
def _quoted(octets: _Octets, i: int, quote: int, out: _Octets, at: int) -> tuple[int, int, int]:
    """Copy the name that begins after the quote at ``i``; return what is wrong, the next byte, the end of ``out``."""
    begin, opened = at, i
    i += 1
    while True:
        octet = octets[i]
        if octet == _FEED:
            return OPEN_QUOTE, opened, at
        if octet == 0:
            return NUL, i, at
        if octet == quote:
            i += 1
            if octets[i] != quote:
                return (NAMELESS if at == begin else NOTHING), i, at
        out[at] = octet
        at += 1
        i += 1


@compiled
def _plain(octets: _Octets, i: int, delimiter: int, strip: bool, out: _Octets, at: int) -> tuple[int, int, int]:
    """Copy the name that begins at ``i``; return as for one in quotes."""
    begin = at
    while octets[i] != delimiter and octets[i] != _FEED and octets[i] != _RETURN:
        if octets[i] == 0:
            return NUL, i, at
        out[at] = octets[i]
        at += 1
        i += 1
    if strip:
        while at > begin and (out[at - 1] == _BLANK or out[at - 1] == _TAB):
            at -= 1
    return NOTHING, i, at


@compiled
def cells(
    octets: _Octets, delimiter: int, quote: int, strip: bool, out: _Octets, ends: _Places, offsets: _Places
) -> tuple[int, int, int]:
    """Copy the names to ``out``, name i to ``out[ends[i]:ends[i + 1]]``; line r has those from ``offsets[r]``.

    ``ends`` needs room for (bytes + 3) / 2 entries. Every line must end with a line feed. Return what is wrong, at
    which byte (the size of ``out`` where nothing is), and the number of names.
    """
    count = row = 0
    i: int = np.int64(0)  # type: ignore[assignment]  # no literal: what is called would be compiled for it, too
    at = i
    ends[0] = offsets[0] = 0
    while i < len(octets):
        begin = at
        if strip:
            i = _past_blanks(octets, i, delimiter)
        if octets[i] == quote:
            wrong, i, at = _quoted(octets, i, quote, out, at)
            if strip and not wrong:
                i = _past_blanks(octets, i, delimiter)
        else:
            wrong, i, at = _plain(octets, i, delimiter, strip, out, at)
        if wrong:
            return wrong, i, count
        if at > begin:
            count += 1
            ends[count] = at
        if octets[i] == _RETURN:
            if octets[i + 1] != _FEED:
                return LONE_RETURN, i, count
            i += 1
        if octets[i] == _FEED:
            row += 1
            offsets[row] = count
        elif octets[i] != delimiter:
            return AFTER_QUOTE, i, count
        i += 1
    return NOTHING, at, count
