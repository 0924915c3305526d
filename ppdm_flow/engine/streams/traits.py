"""Traits of a column's texts, which prove of most words in a report that they are no value of it."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.core.texts import LONGEST
from ppdm_flow.tables.table import Table

_Starts = npt.NDArray[np.int32]
_Octets = npt.NDArray[np.uint8]
_BYTES = 256
_ASCII = 128
_PADDING = np.array([byte >= _ASCII or chr(byte).isspace() for byte in range(_BYTES)])
"""Bytes at an end of a text that may be a space: of other letters than ASCII's not every byte tells."""


class TextTraits:
    """Bytes that occur, bytes that begin and end a text, and the shortest and longest, of each column.

    Spaces around a text are left out. Partitions that pass are looked at, also by several executors.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._columns = {name: _Traits() for name in names}

    def look(self, table: Table) -> None:
        """Take in a partition."""
        for name, traits in self._columns.items():
            if name in table.columns or name in table.sets:
                traits.take(table.texts(name))

    def add(self, later: TextTraits) -> None:
        """Take in what another one has seen."""
        for name, traits in self._columns.items():
            traits.add(later._columns[name])

    def possible(self, texts: Iterable[str], names: Iterable[str]) -> frozenset[str]:
        """Return those of ``texts`` that may be a value, or the beginning of a long one, of one of these columns.

        Of a column that was not looked at, every text may be.
        """
        wanted = list(names)
        known = [self._columns[name] for name in wanted if name in self._columns]
        if len(known) < len(wanted):
            return frozenset(texts)
        return frozenset(text for text in texts if any(traits.may_have(text) for traits in known))


class _Traits:
    def __init__(self) -> None:
        self.within = np.zeros(_BYTES, dtype=bool)
        self.first = np.zeros(_BYTES, dtype=bool)
        self.last = np.zeros(_BYTES, dtype=bool)
        self.shortest: int | None = None
        self.longest = 0

    def take(self, texts: pa.StringArray) -> None:
        plain = pa.concat_arrays([texts.drop_null()])
        starts, octets = _octets(plain)
        firsts, lasts = _edges(starts, octets)
        if _PADDING[firsts].any() or _PADDING[lasts].any():
            plain = pc.utf8_trim_whitespace(plain)
            starts, octets = _octets(plain)
            firsts, lasts = _edges(starts, octets)
        if not len(firsts):
            return
        known = np.flatnonzero(self.within).astype(np.uint8).tobytes()
        new = octets[starts[0] : starts[-1]].tobytes().translate(None, known)  # mostly none, after the first partition
        self.within[np.frombuffer(new, dtype=np.uint8)] = True
        self.first[firsts] = True
        self.last[lasts] = True
        sizes = np.diff(starts)
        if self.within[_ASCII:].any():
            sizes = pc.utf8_length(plain).to_numpy(zero_copy_only=False)
        shortest = int(sizes[sizes > 0].min())
        self.shortest = shortest if self.shortest is None else min(self.shortest, shortest)
        self.longest = max(self.longest, int(sizes.max()))

    def add(self, later: _Traits) -> None:
        self.within |= later.within
        self.first |= later.first
        self.last |= later.last
        known = [size for size in (self.shortest, later.shortest) if size is not None]
        self.shortest = min(known, default=None)
        self.longest = max(self.longest, later.longest)

    def may_have(self, text: str) -> bool:
        plain = text.strip()
        octets = np.frombuffer(plain.encode(), dtype=np.uint8)
        if self.shortest is None or not len(octets) or not self.within[octets].all() or not self.first[octets[0]]:
            return False
        if len(text) >= LONGEST and self.longest > LONGEST:
            return True
        return self.shortest <= len(plain) <= self.longest and bool(self.last[octets[-1]])


def _octets(texts: pa.StringArray) -> tuple[_Starts, _Octets]:
    """Return where texts begin, and at last where they end, and the bytes that they are in."""
    _, offsets, content = texts.buffers()
    octets = np.frombuffer(content or b"", dtype=np.uint8)
    if offsets is None:
        return np.zeros(1, dtype=np.int32), octets
    return np.frombuffer(offsets, dtype=np.int32)[texts.offset : texts.offset + len(texts) + 1], octets


def _edges(starts: _Starts, octets: _Octets) -> tuple[_Octets, _Octets]:
    """Return the first and the last byte of each text that has one."""
    some = starts[1:] > starts[:-1]
    firsts, lasts = starts[:-1], starts[1:]
    if not some.all():
        firsts, lasts = firsts[some], lasts[some]
    return octets[firsts], octets[lasts - 1]
