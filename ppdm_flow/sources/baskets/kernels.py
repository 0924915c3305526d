"""Lines of names, byte by byte: compiled."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.sdk.compiled import compiled

NOTHING, OPEN_QUOTE, AFTER_QUOTE, NUL, LONE_RETURN, NAMELESS = 0, 1, 2, 3, 4, 5
"""What may be wrong with a byte."""


@compiled
def cells(  # noqa: C901  # one state machine, compiled as a whole
    octets: npt.NDArray[np.uint8],
    delimiter: int,
    quote: int,
    strip: bool,
    out: npt.NDArray[np.uint8],
    ends: npt.NDArray[np.int64],
    offsets: npt.NDArray[np.int64],
) -> tuple[int, int, int]:
    """Copy the names to ``out``, name i to ``out[ends[i]:ends[i + 1]]``; line r has those from ``offsets[r]``.

    ``ends`` needs room for (bytes + 3) / 2 entries. Every line must end with a line feed. Return what is wrong, at
    which byte, and the number of names.
    """
    count = row = at = i = 0
    ends[0] = offsets[0] = 0
    size = len(octets)
    while i < size:
        begin = at
        if strip:
            while octets[i] != delimiter and (octets[i] == 32 or octets[i] == 9):
                i += 1
        quoted = octets[i] == quote
        if quoted:
            opened = i
            i += 1
            while True:
                octet = octets[i]
                if octet == 10:
                    return OPEN_QUOTE, opened, count
                if octet == 0:
                    return NUL, i, count
                if octet == quote:
                    if octets[i + 1] != quote:
                        break
                    i += 1
                out[at] = octet
                at += 1
                i += 1
            i += 1
            if strip:
                while octets[i] != delimiter and (octets[i] == 32 or octets[i] == 9):
                    i += 1
            if at == begin:
                return NAMELESS, opened, count
        else:
            while octets[i] != delimiter and octets[i] != 10 and octets[i] != 13:
                if octets[i] == 0:
                    return NUL, i, count
                out[at] = octets[i]
                at += 1
                i += 1
            if strip:
                while at > begin and (out[at - 1] == 32 or out[at - 1] == 9):
                    at -= 1
        if at > begin:
            count += 1
            ends[count] = at
        octet = octets[i]
        if octet == 13:
            if octets[i + 1] != 10:
                return LONE_RETURN, i, count
            i += 1
            octet = octets[i]
        if octet == 10:
            row += 1
            offsets[row] = count
        elif octet != delimiter:
            return AFTER_QUOTE, i, count
        i += 1
    return NOTHING, at, count
