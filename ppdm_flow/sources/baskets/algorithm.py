"""Baskets of names: lines are taken apart by a compiled kernel, names coded by Arrow."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.sdk.compiled import compiled
from ppdm_flow.sources.baskets.spec import BasketsSourceParams
from ppdm_flow.sources.faults import fault, line_fault
from ppdm_flow.sources.lines import LineBlock, SetLines, line_of, merged, ranked, refuse_empty, undecodable_place
from ppdm_flow.tables.sets import Baskets

_Octets = npt.NDArray[np.uint8]
_Places = npt.NDArray[np.int64]


class BasketsSource(SetLines[BasketsSourceParams]):
    """One file of baskets. ``repeated`` counts the repetitions that the last pass left out."""

    def baskets(self, block: LineBlock) -> Baskets:
        """Return the sets of a block. Raises DataError with the line."""
        size = len(block.octets)
        out = np.empty(size, dtype=np.uint8)
        ends = np.empty(size // 2 + 2, dtype=np.int64)
        offsets = np.empty(block.lines + 1, dtype=np.int64)
        marks = ord(self.params.delimiter), ord(self.params.quote)
        wrong, place, count = cells(block.octets, *marks, self.params.strip, out, ends, offsets)
        if wrong:
            raise line_fault(line_of(block, place), _WORDS.get(wrong))
        if self.params.empty == "error":
            refuse_empty(offsets, block.first, "line")
        buffers = [None, pa.py_buffer(ends[: count + 1]), pa.py_buffer(out[:place])]
        baskets = self._coded(block, offsets, pa.Array.from_buffers(pa.large_string(), count, buffers))
        if self.params.repeated == "merge":
            baskets, left_out = merged(baskets)
            self.repeated += left_out
        return baskets

    def _coded(self, block: LineBlock, offsets: np.ndarray[tuple[int], np.dtype[np.int64]], names: pa.Array) -> Baskets:
        coded = names.dictionary_encode()
        try:
            coded.dictionary.validate(full=True)
        except pa.ArrowInvalid:
            line = line_of(block, undecodable_place(block.octets))
            raise fault("PPF704", f"line {line} is not UTF-8 text", help="`iconv -t utf-8` converts the file") from None
        alphabet, rank = ranked(coded.dictionary.cast(pa.string()))
        return Baskets(offsets, rank[coded.indices.to_numpy()], alphabet)


# Lines of names, byte by byte: compiled.


NOTHING, OPEN_QUOTE, AFTER_QUOTE, NUL, LONE_RETURN, NAMELESS = 0, 1, 2, 3, 4, 5
"""What may be wrong with a byte."""

_WORDS = {
    OPEN_QUOTE: ("has a quote that is not closed in it", "a quote inside quotes is doubled"),
    AFTER_QUOTE: ("has text after a closed quote", "a quote inside quotes is doubled"),
    LONE_RETURN: ("has a carriage return within it", "save the file with line ends LF or CR LF"),
    NAMELESS: ("has an item whose name is the empty text", "give it a name, or leave it out"),
}

_TAB, _FEED, _RETURN, _BLANK = 9, 10, 13, 32


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
