"""Long form: pairs are read by the reader of CSV, and gathered by id."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.core.errors import DataError
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.suggest import did_you_mean
from ppdm_flow.sdk import registry
from ppdm_flow.sdk.storage import Source
from ppdm_flow.sources import lines
from ppdm_flow.sources.faults import fault
from ppdm_flow.sources.long.spec import LongParams
from ppdm_flow.tables.sets import Baskets, gathered

_ROWS = 1 << 17
_NONE = -1

Codes = npt.NDArray[np.int32]


class LongSource:
    """One CSV file of pairs. ``repeated`` counts the repetitions that the last pass left out."""

    def __init__(self, params: LongParams, path: Path) -> None:
        self.params = params
        self.path = path
        self.repeated = 0

    def names(self) -> tuple[str, ...]:
        """Return the one name. Raises DataError where the file cannot be read, or lacks one of the two columns."""
        known = self._names()
        for what, name in (("id", self.params.id), ("item", self.params.item)):
            if name not in known:
                raise self._absent(what, name, known)
        return (lines.NAME,)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the sets in the order in which their ids come first. Raises DataError with the row."""
        baskets = self._baskets()
        for start in range(0, len(baskets), _ROWS):
            yield lines.listed(baskets.take(slice(start, start + _ROWS)), columns)

    def _baskets(self) -> Baskets:
        ids, items, alphabet = self._pairs()
        self._refuse(ids, items)
        order = _by_first(ids)
        there = items != _NONE
        rows, codes = order[ids[there]], items[there]
        baskets, twice = gathered(rows, codes, int(order.max(initial=-1)) + 1, alphabet)
        if twice.any() and self.params.repeated == "error":
            raise self._twice(rows, codes, there, len(alphabet))
        self.repeated = len(codes) - len(baskets.items)
        return baskets

    def _pairs(self) -> tuple[Codes, Codes, pa.StringArray]:
        """Return the codes of ids and of items, row by row, -1 for none, and the alphabet sorted by text."""
        self.names()
        wanted = [self._place(self.params.id), self._place(self.params.item)]
        pieces: tuple[list[pa.Array], list[pa.Array]] = ([], [])
        for batch in self._csv().batches(wanted):
            for piece, column in zip(pieces, batch.columns, strict=True):
                piece.append(column)
        ids, _ = _united(pieces[0])
        items, names = _united(pieces[1])
        alphabet, rank = lines.ranked(names)
        return ids, np.append(rank, np.int32(_NONE))[items], alphabet

    def _refuse(self, ids: Codes, items: Codes) -> None:
        if (ids == _NONE).any():
            row = int((ids == _NONE).argmax()) + 1
            raise fault("PPF757", f"row {row} has no `{self.params.id}`, so it belongs to no set")
        if self.params.empty == "error" and (items == _NONE).any():
            raise lines.without_items(f"row {int((items == _NONE).argmax()) + 1}")

    def _twice(self, rows: npt.NDArray[np.int64], codes: Codes, there: npt.NDArray[np.bool_], width: int) -> DataError:
        """Name the first row that repeats a pair."""
        keys = rows * max(1, width) + codes
        first = np.zeros(len(keys), dtype=bool)
        first[np.unique(keys, return_index=True)[1]] = True
        row = int(np.flatnonzero(there)[int((~first).argmax())]) + 1
        return fault("PPF751", f"row {row} repeats an item of its set", help="`with: {repeated: merge}` leaves it out")

    def _csv(self) -> Source:
        """Return the reader of the pairs, by its entry point."""
        spec = registry.load("sources", "csv")
        own = self.params.model_dump(include={"delimiter", "quote", "escape", "strip", "skip_rows", "encoding"})
        made: Source = spec.load()(
            spec.params.model_validate({**own, "header": self.params.columns is None}), self.path
        )
        return made

    def _names(self) -> tuple[str, ...]:
        names = self._csv().names()
        given = self.params.columns
        if given is not None and len(given) != len(names):
            text = f"the file has {counted(len(names), 'column')}, and `columns` names {len(given)}"
            other = 'the file was read as one column: if its delimiter is another one, say `with: {delimiter: ";"}`'
            raise fault("PPF710", text, help=other if len(names) == 1 else None)
        return names if given is None else given

    def _place(self, name: str) -> str:
        """Return the reader's own name of a column."""
        return self._csv().names()[self._names().index(name)]

    def _absent(self, what: str, name: str, known: Sequence[str]) -> DataError:
        text = f"the file has no column `{name}`, which `with: {{{what}: …}}` names"
        return fault("PPF758", text, hint=did_you_mean(name, known))


def _united(pieces: list[pa.Array]) -> tuple[Codes, pa.StringArray]:
    """Return one numbering for all blocks, -1 where there is nothing, and its texts."""
    kind = pa.dictionary(pa.int32(), pa.string())
    united: Any = pa.chunked_array(pieces, kind).unify_dictionaries()
    names = united.chunk(0).dictionary if united.num_chunks else pa.array([], pa.string())
    codes = [c.indices.fill_null(_NONE).to_numpy(zero_copy_only=False) for c in united.chunks]
    return np.concatenate([np.zeros(0, dtype=np.int32), *codes]).astype(np.int32, copy=False), names


def _by_first(ids: Codes) -> npt.NDArray[np.int64]:
    """Return the new number of each id: in the order of the rows in which they come first."""
    size = int(ids.max(initial=-1)) + 1
    first = np.zeros(size, dtype=np.int64)
    first[ids[::-1]] = np.arange(len(ids) - 1, -1, -1)
    rank = np.empty(size, dtype=np.int64)
    rank[np.argsort(first)] = np.arange(size)
    return rank
