"""Baskets of names: lines are taken apart by a compiled kernel, names coded by Arrow."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ppdm_flow.sources import item_sets
from ppdm_flow.sources.baskets import kernels
from ppdm_flow.sources.baskets.spec import BasketsSourceParams
from ppdm_flow.sources.faults import fault, line_fault
from ppdm_flow.sources.item_sets import SetLines
from ppdm_flow.sources.lines import LineBlock, line_of, undecodable_place
from ppdm_flow.tables.sets import Baskets


class BasketsSource(SetLines[BasketsSourceParams]):
    """One file of baskets. ``repeated`` counts the repetitions that the last pass left out."""

    def baskets(self, block: LineBlock) -> Baskets:
        """Return the sets of a block. Raises DataError with the line."""
        size = len(block.octets)
        out = np.empty(size, dtype=np.uint8)
        ends = np.empty(size // 2 + 2, dtype=np.int64)
        offsets = np.empty(block.lines + 1, dtype=np.int64)
        marks = ord(self.params.delimiter), ord(self.params.quote)
        wrong, place, count = kernels.cells(block.octets, *marks, self.params.strip, out, ends, offsets)
        if wrong:
            raise line_fault(line_of(block, place), _WORDS.get(wrong))
        if self.params.empty == "error":
            item_sets.refuse_empty(offsets, block.first, "line")
        buffers = [None, pa.py_buffer(ends[: count + 1]), pa.py_buffer(out[:place])]
        baskets = self._coded(block, offsets, pa.Array.from_buffers(pa.large_string(), count, buffers))
        if self.params.repeated == "merge":
            baskets, left_out = item_sets.merged(baskets)
            self.repeated += left_out
        return baskets

    def _coded(self, block: LineBlock, offsets: np.ndarray[tuple[int], np.dtype[np.int64]], names: pa.Array) -> Baskets:
        coded = names.dictionary_encode()
        try:
            coded.dictionary.validate(full=True)
        except pa.ArrowInvalid:
            line = line_of(block, undecodable_place(block.octets))
            raise fault("PPF704", f"line {line} is not UTF-8 text", help="`iconv -t utf-8` converts the file") from None
        alphabet, rank = item_sets.ranked(coded.dictionary.cast(pa.string()))
        return Baskets(offsets, rank[coded.indices.to_numpy()], alphabet)


_WORDS = {
    kernels.OPEN_QUOTE: ("has a quote that is not closed in it", "a quote inside quotes is doubled"),
    kernels.AFTER_QUOTE: ("has text after a closed quote", "a quote inside quotes is doubled"),
    kernels.LONE_RETURN: ("has a carriage return within it", "save the file with line ends LF or CR LF"),
    kernels.NAMELESS: ("has an item whose name is the empty text", "give it a name, or leave it out"),
}
